"""What the README's two lines run once all is installed asks for nothing outside this machine."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.runs import REPO
from tests.packaging.offline import is_possible, offline
from tests.stages.edits import bare

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not is_possible(), reason="asks Linux for a network of its own"),
]

WITH_SERVERS = ("tests/llm/test_litellm_transport.py", "tests/cli/test_view.py")
"""Tests that open sockets of this machine, and load the libraries that might open others."""


@pytest.mark.parametrize(
    ("code", "is_outside"),
    [
        ("socket.create_connection(('192.0.2.1', 80), 1)", True),
        ("socket.create_connection(('2001:db8::1', 80), 1)", True),
        ("socket.getaddrinfo('example.org', 80)", True),
        ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'?', ('127.0.0.53', 53))", True),
        ("socket.create_connection(socket.create_server(('localhost', 0)).getsockname())", False),
        ("socket.create_connection(('localhost', 9), 1)", False),
    ],
)
def test_what_leaves_this_machine_is_counted(code: str, *, is_outside: bool) -> None:
    _, attempts = offline(sys.executable, "-c", f"import socket; {code}")
    assert (attempts > 0) == is_outside


@pytest.mark.slow
def test_pipeline_and_proof_ask_for_nothing_outside(tmp_path: Path) -> None:
    tree = bare(tmp_path / "small")
    shutil.copytree(REPO / "data/release", tree / "data/release")
    for words, expected in ((("dvc", "repro"), 0), (("calbench", "prove"), 1)):
        ended, attempts = offline(sys.executable, "-m", *words, cwd=tree)
        assert ended.status == expected, ended.err
        assert attempts == 0, words
    assert (tree / "build/site/index.html").is_file()


def test_tests_ask_for_nothing_outside() -> None:
    command = (sys.executable, "-m", "pytest", "-q", "-n2", "-p", "no:cacheprovider")
    ended, attempts = offline(*command, *WITH_SERVERS)
    assert ended.status == 0, ended.out
    assert attempts == 0
