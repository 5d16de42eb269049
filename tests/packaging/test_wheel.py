"""The wheel: what is in it, that it is always the same, and that it needs nothing else."""

import hashlib
import io
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from calbench.scenarios.storage import suite_names
from tests.cli.runs import REPO, Ended, environment, files, python
from tests.packaging.offline import is_possible, offline

pytestmark = pytest.mark.heavy

MOST_BYTES = 2_050_000
"""1.62 MB with the detectors' weights (50 kB packed) and the packed results [C]."""

LARGE = {"reproduction", "reproduction-cap4", "scale", "sensitivity"}
"""Suites that are in a checkout alone."""

TEAMS = "teams=[imap,secure-sum,candid]"


def build(out: Path) -> Path:
    """Build the wheel with the backend of this environment: nothing is downloaded."""
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(out)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)  # noqa: S202 - our own archive
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not is_possible(), reason="asks Linux for a network of its own")
def test_what_the_locks_have_installed_suffices_to_install_the_package(here: Path) -> None:
    """As the README's lines do it, in a new environment that sees the libraries of this one."""
    venv.create(here, with_pip=True)
    fresh, libraries = here / "bin/python", sysconfig.get_path("purelib")
    (site,) = here.glob("lib/*/site-packages")
    (site / "ours.pth").write_text(f"import sys; sys.path.append({libraries!r})\n")
    plain = ("env", "-i", f"PIP_CONFIG_FILE={os.devnull}", "PIP_DISABLE_PIP_VERSION_CHECK=1")
    pip = (*plain, fresh, "-m", "pip", "install", "--no-deps", "--no-cache-dir", "--retries=0")
    ended, attempts = offline(*pip, "--no-build-isolation", "-e", REPO)
    assert (ended.status, attempts) == (0, 0), ended.err
    assert (here / "bin/calbench").is_file()
    ended, attempts = offline(*pip, "-e", REPO)  # pip chooses what builds it
    assert ended.status != 0
    assert attempts > 0


def archived(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        packed = [
            name for name in archive.namelist() if name.endswith(("conf.tar.xz", "more.tar.xz"))
        ]
        found = []
        for name in packed:
            with tarfile.open(fileobj=io.BytesIO(archive.read(name))) as inner:
                found += inner.getnames()
    return found


def installed(unpacked: Path, here: Path, *arguments: str) -> Ended:
    """Run Python in a folder, with the package as an installer leaves it and without the tree."""
    env = environment(PYTHONPATH=str(unpacked), PYTHONDONTWRITEBYTECODE="1")
    return python(*arguments, cwd=here, env=env)


def test_wheel_is_small_and_every_build_gives_its_bytes(wheel: Path, tmp_path: Path) -> None:
    assert wheel.stat().st_size <= MOST_BYTES
    again = build(tmp_path)
    first, second = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, again))
    assert first == second


def test_wheel_has_the_package_and_its_part_of_the_tree(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(
        ["git", "ls-files", "calbench", "conf", "data/label_banks", "data/published", "site"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert names == {
        "calbench/bundled/conf.tar.xz",
        "calbench/bundled/more.tar.xz",
        "calbench/bundled/data/release/board.tar.xz",
        *(name for name in listed if name.startswith("calbench/")),
    }
    suites = {f"data/release/suites/{name}.jsonl" for name in {*suite_names()} - LARGE}
    left = ("calbench/", "site/notebooks/", "site/assets/card.", "site/assets/vendor/plotly.min")
    beside = {name for name in listed if not name.startswith(left)}
    assert sorted(beside | suites | {"CHANGELOG.md", "CONTRIBUTING.md"}) == sorted(archived(wheel))


def test_experiment_plays_from_an_empty_folder_as_in_the_checkout(
    unpacked: Path, here: Path
) -> None:
    for words in ((), ("+experiment=varied", TEAMS, "out=here"), ("verify", "here/traces")):
        ended = installed(unpacked, here, "-m", "calbench", *words)
        assert ended.status == 0, ended.err
    assert ended.out == "135 of 135 traces hold\n"
    theirs = here.parent / "checkout"
    ended = python("-m", "calbench", "+experiment=varied", TEAMS, f"out={theirs}")
    assert ended.status == 0, ended.err
    assert files(here / "here") == files(theirs)


@pytest.mark.slow
def test_every_other_command_works_from_an_empty_folder(unpacked: Path, here: Path) -> None:
    before = files(unpacked)
    (here / "mine.py").write_text("from calbench.agents.example import Announcer as Mine\n")
    team = "+teams.mine={players: {mine: {agent: 'mine:Mine'}}, seats: [mine]}"
    for words in (
        ("--help",),
        ("+experiment=language", "teams=[candid]", "out=language"),
        (team, "out=mine"),
        ("rescore", "mine", "out=tables"),
        ("compare", "mine", "mine"),
        ("judge", "language", "out=judged"),
        ("estimate", "+experiment=uniform", "teams=[my-model]", "model=gpt-5.4-mini"),
    ):
        ended = installed(unpacked, here, "-m", "calbench", *words)
        assert ended.status == 0, (words, ended.err)
    assert files(unpacked) == before
    assert {path.name for path in here.iterdir()} - {"mine.py", "__pycache__"} == {
        "language",
        "mine",
        "tables",
        "judged",
    }


def test_python_plays_a_published_suite(unpacked: Path, here: Path) -> None:
    code = (
        "from calbench import load_suite, play_game, score_game, __file__\n"
        "import json, tempfile, pathlib\n"
        "trace = play_game(load_suite('varied')[0], 'imap')\n"
        "print(json.dumps([__file__, [a.excess_cost for a in score_game(trace).agents]]))\n"
    )
    ended = installed(unpacked, here, "-c", code)
    file, costs = json.loads(ended.out)
    assert Path(file).is_relative_to(unpacked)
    assert json.loads(python("-c", code).out)[1] == costs


CHECKS = """
assert list(sweep.to_frame()["theta"]) == [0.05, 0.2]
assert [agent.player.name for agent in score.agents][1:4] == ["imap", "silent", "first-free"]
assert {"mine", "own_trace"} <= set(globals())
assert {"uniform", "varied"} <= set(leaderboard["experiment"])
assert leaderboard.attrs["unit"]["excess_cost"] == "accounting cost"
assert 0 < len(run.games()) < len(messages) < len(events)
"""
"""What holds after the last cell of the notebook."""


def test_every_cell_of_the_notebook_runs_in_an_empty_folder(unpacked: Path, here: Path) -> None:
    notebook = json.loads((REPO / "site" / "notebooks" / "results.ipynb").read_text())
    code = ["".join(each["source"]) for each in notebook["cells"] if each["cell_type"] == "code"]
    assert len(code) > 10
    ended = installed(unpacked, here, "-c", "\n\n".join([*code, CHECKS]))
    assert ended.status == 0, ended.err
    assert "there is no 'imapp'; did you mean imap?" in ended.out
    assert {path.name for path in here.iterdir()} == {"again", "game.json", "sweep"}


def test_types_are_true_for_a_users_file(unpacked: Path, here: Path) -> None:
    assert (unpacked / "calbench" / "py.typed").is_file()
    theirs = (REPO / "tests" / "api" / "user_file.py").read_text()
    (here / "mine.py").write_text(f"{theirs}\ncalbench.play_game('varied', ['imap', 3])\n")
    ended = installed(unpacked, here, "-m", "mypy", "--strict", "--config-file=", "mine.py")
    scenario, player = [line for line in ended.out.splitlines() if ": error: " in line]
    assert 'incompatible type "str"; expected "Scenario"' in scenario  # both of the last line
    assert 'incompatible type "int"' in player


def test_unpacked_part_of_the_tree_is_gone_when_the_process_ends(
    unpacked: Path, here: Path
) -> None:
    code = "from calbench.tree import SITE; print(SITE); assert (SITE / 'mkdocs.yml').is_file()"
    ended = installed(unpacked, here, "-c", code)
    assert ended.status == 0, ended.err
    assert not Path(ended.out.strip()).parent.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "calbench", "prove"), "data/release: there is no such folder; start in a checkout"),
        (
            ("-m", "calbench", "+experiment=smollm2"),
            "data/cohorts/smollm2/private/replies: only a checkout of CalBench has it",
        ),
        (("-c", "import calbench; calbench.load_suite('scale')"), "in a checkout"),
    ],
)
def test_what_only_a_checkout_has_is_told_in_one_line(
    unpacked: Path, here: Path, words: tuple[str, ...], said: str
) -> None:
    ended = installed(unpacked, here, *words)
    assert ended.status != 0
    assert said in ended.err.splitlines()[-1]
    assert list(here.iterdir()) == []
