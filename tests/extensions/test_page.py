"""The commands of the page, as its reader runs them beside an installed distribution."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.runs import REPO, environment, python
from tests.extensions.distributions import commands_on_page, files_on_page, install_page

pytestmark = pytest.mark.heavy


def test_every_command_of_the_page_plays(tmp_path: Path) -> None:
    installed = install_page(tmp_path / "installed")
    here = tmp_path / "here"
    here.mkdir()
    env = environment(PYTHONPATH=f"{REPO}:{installed}", PYTHONDONTWRITEBYTECODE="1")
    commands = [shlex.split(command) for command in commands_on_page()]
    assert len(commands) == 4
    for program, *words in commands:
        arguments = words if program == "python" else ["-m", "calbench", *words]
        ended = python(*arguments, cwd=here, env=env)
        assert ended.status == 0, ended.err
    played = {
        (seat["player"], seat["settings"]["distribution"])
        for path in here.glob("build/*/traces/*/*.json")
        for seat in json.loads(path.read_text())["config"]["team"]["seats"]
        if "distribution" in seat["settings"]
    }
    assert played == {("bid", "calbench-bid 1.0"), ("polite", "calbench-bid 1.0")}
    without = environment(PYTHONPATH=str(REPO))
    verified = python("-m", "calbench", "verify", "build/bid", cwd=here, env=without)
    assert verified.out == (
        "3 of 3 traces hold; 192 turns of players from elsewhere not checked; "
        "3 games of unknown code\n"
    )
    refused = python("-m", "calbench", "rescore", "build/bid", "out=x", cwd=here, env=without)
    assert refused.status == 2
    assert refused.err.splitlines()[-1].startswith("error: a message is a bid, and no installed")


def test_files_of_the_page_are_a_distribution(tmp_path: Path) -> None:
    """Import what its entry points name from a folder that has nothing else."""
    install_page(tmp_path)
    assert set(files_on_page()) >= {"pyproject.toml", "calbench_bid/protocol.py"}
    said = python(
        "-c",
        "from importlib.metadata import distribution as d\n"
        "print(sorted(type(p.load()).__name__ for p in d('calbench-bid').entry_points))",
        env=environment(PYTHONPATH=f"{REPO}:{tmp_path}"),
    )
    assert said.out == "['function', 'module', 'type', 'type']\n", said.err
