"""Standard streams that are closed or full, and errors that nobody expected, have a status."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from calbench.cli.main import answer, status_of
from calbench.cli.words import at_home
from calbench.errors import ConfigError
from tests.cli.runs import REPO, SMALL, environment
from tests.effort import GUARD_S


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "run"
    assert answer(["-q", *SMALL, "teams=[imap]", f"out={out}"]) == 0
    return out


def ended(words: str, redirection: str = "", before: str = "") -> tuple[int, str, str]:
    """Run a command in a shell, with a redirection; return its status, output and errors."""
    line = f"{before} exec {shlex.quote(sys.executable)} -m calbench {words} {redirection}"
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=REPO, env=environment(), capture_output=True, text=True, timeout=GUARD_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.heavy
@pytest.mark.parametrize("words", ["--help", "-q verify {run}", "traces cat --all {run}"])
def test_closed_streams_are_no_difference(played: Path, words: str) -> None:
    words = words.format(run=shlex.quote(str(played)))
    for redirection in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        status, _, errors = ended(words, redirection)
        assert (status, errors) == (0, ""), redirection


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize("words", ["--help", "-q verify {run}", "traces cat --all {run}"])
def test_full_output_is_one_line(played: Path, words: str) -> None:
    status, _, errors = ended(words.format(run=shlex.quote(str(played))), ">/dev/full")
    assert status == 2
    assert errors.startswith("error: standard output: No space left on device; ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError(), 2),
        (OSError(24, "Too many open files"), 2),
        (ValueError("odd"), 70),
        (OSError(2, "No such file", "x"), 70),
    ],
)
def test_what_the_machine_lacks_is_one_line_and_an_error_of_our_own_is_told_whole(
    error: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> int:
        raise error

    assert status_of(command) == status
    said = capsys.readouterr().err
    assert (said.count("\n") == 1, "Traceback" in said) == (status == 2, status == 70)


RUN = f"-q {' '.join(SMALL)} teams=[imap] out={{out}}"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "limit"),
    [
        *((words, "-n 16") for words in (
            "-q verify {run}", "-q rescore {run} out={out}", "-q judge {run} out={out}", RUN,
            f"{RUN} jobs=2", "-q traces pack {run} out={out}",
            "-q compare {run} {run} a=imap b=imap", "-q view {run} serve=false out={out}",
        )),
        ("-q verify {run}", "-v 200000"),
        (RUN, "-v 700000"),
    ],
)  # fmt: skip
def test_few_descriptors_and_little_memory_are_one_line(
    played: Path, tmp_path: Path, words: str, limit: str
) -> None:
    places = {"run": shlex.quote(str(played)), "out": shlex.quote(str(tmp_path / "out"))}
    # Compiled libraries end the process as they like if there is no memory for their threads.
    before = f"ulimit {limit}; export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1;"
    status, _, errors = ended(words.format(**places), before=before)
    assert (status, errors.count("\n")) in {(0, 0), (2, 1)}, errors
    assert errors.startswith("error: ") or status == 0
    assert status == 2 or "-n" in limit


def test_home_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = str(tmp_path)
    expected = {
        "out=~/x": f"out={home}/x",
        "~/x": f"{home}/x",
        "prompts.path=~": f"prompts.path={home}",
        "~teams": "~teams",
        "out=x~": "out=x~",
        "out=~": f"out={home}",
    }
    assert {word: at_home(word) for word in expected} == expected
    with pytest.raises(ConfigError, match="there is no such user"):
        at_home("out=~nobody-of-this-name/x")


@pytest.mark.slow
def test_tables_say_the_same_without_docstrings(played: Path, tmp_path: Path) -> None:
    for name, option in (("plain", "-O"), ("bare", "-OO")):
        command = [sys.executable, option, "-m", "calbench", "-q", "rescore", str(played)]
        subprocess.run(
            [*command, f"out={tmp_path / name}"], cwd=REPO, env=environment(), check=True
        )
    plain, bare = (
        {each.relative_to(tmp_path / name): each.read_bytes()
         for each in (tmp_path / name).rglob("*") if each.is_file()}
        for name in ("plain", "bare")
    )  # fmt: skip
    assert plain == bare
