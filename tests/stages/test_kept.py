"""What a stage need not make again, and what it must."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.config.spec import RunSpec, write_params
from calbench.traces.models import Team
from stages.inputs import Inputs
from stages.kept import Kept, contents
from stages.players import Players
from tests.cli.runs import REPO, SMALL, python

TEAMS = ("imap", "sd-map", "dsm-welfare", "mediator", "secure-sum", "silent", "candid")
EVERY = frozenset({*TEAMS, "mixed"})
USES_IMAP = {"imap", "mediator", "secure-sum", "silent"}
"""By import: the baselines, and those that agree on a slot as IMAP does."""

PLAYED_BY = {
    "calbench/protocols/sd_map/notes.py": {"sd-map", "mixed"},
    "calbench/protocols/sd_map/__init__.py": {"sd-map", "mixed"},
    "calbench/protocols/dsm/plans.py": {"dsm-welfare", "mixed"},
    "calbench/protocols/imap.py": USES_IMAP,
    "calbench/protocols/secure_sum.py": {"secure-sum"},
    "calbench/protocols/mediator.py": {"mediator"},
    "calbench/protocols/degenerate.py": {"silent"},
    "calbench/protocols/base.py": EVERY,
    "calbench/protocols/costs.py": EVERY,
    "calbench/protocols/registry.py": EVERY,
    "calbench/engine/game.py": EVERY,
    "calbench/agents/scripted/view.py": EVERY,
    "calbench/agents/prompts/rendering.py": EVERY,
    "calbench/agents/prompts/v1/system.md": {"candid", "mixed"},
    "stages/play.py": EVERY,
    "calbench/metrics/game.py": set(),
    "CHANGELOG.md": set(),
}
"""Teams whose games an edit of a file may change."""


def spec(*overrides: str) -> RunSpec:
    """Return an experiment of these teams, and of one that seats protocols and a speaker."""
    teams = f"teams=[{','.join(TEAMS)}]"
    found = compose([*SMALL, "name=tiny", "suite.setting=tiny", teams, *overrides])
    by_id = {team.team_id: team for team in found.teams}
    seats = tuple(by_id[name].seats[0] for name in ("sd-map", "dsm-welfare", "candid"))
    return found.model_copy(update={"teams": (*found.teams, Team(team_id="mixed", seats=seats))})


@pytest.fixture(scope="module")
def players() -> Players:
    return Players()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the code."""
    for part in ("calbench", "stages"):
        ignored = shutil.ignore_patterns("__pycache__", "bundled")
        shutil.copytree(REPO / part, tmp_path / part, ignore=ignored)
    for name in ("dvc.yaml", "CHANGELOG.md"):
        shutil.copyfile(REPO / name, tmp_path / name)
    return tmp_path


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.heavy
def test_an_edit_concerns_the_teams_that_it_may_change(tree: Path, players: Players) -> None:
    tiny = spec()

    def made_from() -> dict[str, dict[str, str]]:
        files = Inputs("play", tree).of(tiny)
        return {team.team_id: players.inputs(team, files) for team in tiny.teams}

    before = made_from()
    assert set(before) == EVERY
    for name, concerned in PLAYED_BY.items():
        kept = (tree / name).read_bytes()
        append(tree / name, "\n")
        after = made_from()
        assert {team for team in EVERY if after[team] != before[team]} == concerned, name
        (tree / name).write_bytes(kept)
    assert made_from() == before


def test_team_of_a_player_that_we_do_not_know_is_made_from_everything(players: Players) -> None:
    tiny = spec()
    files = Inputs("play").of(tiny)
    (known,) = [team for team in tiny.teams if team.team_id == "imap"]
    (seat,) = known.seats
    other = known.model_copy(update={"seats": (seat.model_copy(update={"player": "hope"}),)})
    assert players.inputs(other, files) == files
    assert players.inputs(known, files).items() < files.items()


@pytest.mark.parametrize("stage", ["play", "calibrate", "analyze"])
def test_experiment_is_made_from_its_own_files_and_parameters(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny = spec()
    other = tiny.model_copy(update={"name": "other"})
    folders = ("build/params", "data/suites", "data/traces", "data/facts")
    for folder in folders:
        for name in ("tiny", "other"):
            (tmp_path / folder / name).mkdir(parents=True)
            append(tmp_path / folder / name / "made.json", name)
    before = {each.name: Inputs(stage).recipe(each) for each in (tiny, other)}
    for folder in folders:
        append(tmp_path / folder / "other" / "made.json", "more")
    assert Inputs(stage).recipe(tiny) == before["tiny"]
    assert Inputs(stage).recipe(other) != before["other"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("stage", "override", "concerned"),
    [
        ("play", "limits.dm_cap=3", True),
        ("play", "measure.vps_floor=4", False),
        ("calibrate", "measure.vps_floor=4", True),
        ("calibrate", "limits.dm_cap=3", False),
        ("calibrate", "games_at_once=3", False),
        ("calibrate", f"teams=[{','.join(reversed(TEAMS))}]", True),
    ],
)
def test_parameters_that_a_stage_uses_count(stage: str, override: str, concerned: bool) -> None:
    inputs = Inputs(stage)
    assert (inputs.recipe(spec()) != inputs.recipe(spec(override))) is concerned


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda made: append(made / "a.json", " "),
        lambda made: append(made / "b" / "more.json", "{}"),
        lambda made: (made / "b" / "b.json").unlink(),
        shutil.rmtree,
    ],
)
def test_what_was_altered_is_not_kept(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Path("data/made")
    (made / "b").mkdir(parents=True)
    for name in ("a.json", "b/b.json"):
        append(made / name, name)
    kept = Kept("play", contents)
    assert not kept.holds(made, "recipe")
    kept.note(made, "recipe")
    kept.write()
    assert Kept("play", contents).holds(made, "recipe")
    assert not Kept("play", contents).holds(made, "another recipe")
    assert not Kept("calibrate", contents).holds(made, "recipe")
    change(made)
    assert not Kept("play", contents).holds(made, "recipe")


@pytest.mark.parametrize("record", ["", "[]", '{"data/made": "', '{"data/made": 3}', "\0"])
def test_record_that_cannot_be_read_keeps_nothing(
    record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data/made").mkdir(parents=True)
    append(Path("data/made/a.json"), "{}")
    Path("build/kept").mkdir(parents=True)
    Path("build/kept/play.json").write_text(record)
    kept = Kept("play", contents)
    assert not kept.holds(Path("data/made"), "recipe")
    kept.note(Path("data/made"), "recipe")
    kept.write()
    assert Kept("play", contents).holds(Path("data/made"), "recipe")


def played(tree: Path) -> tuple[str, Mapping[str, str]]:
    """Play in a copy of the tree; return what was said last, and the digests of the shards."""
    ended = python("-m", "stages.play", cwd=tree)
    assert ended.status == 0, ended.err
    return ended.err.splitlines()[-1], contents(tree / "data/traces/tiny")


@pytest.mark.heavy
def test_an_edit_replays_the_games_that_it_may_change(tree: Path) -> None:
    write_params(tree / "build/params/tiny.yaml", spec("limits.sd_model=null"))
    (tree / "data").mkdir()
    shutil.copytree(REPO / "conf", tree / "conf")
    shutil.copytree(REPO / "data/label_banks", tree / "data/label_banks")
    assert python("-m", "stages.generate", cwd=tree).status == 0
    said, first = played(tree)
    games, teams = 3 * len(EVERY), len(EVERY)
    assert said == f"{games} games played, those of 0 teams kept"
    assert played(tree) == (f"0 games played, those of {teams} teams kept", first)

    append(tree / "calbench/protocols/sd_map/repair.py", "# The same as before.\n")
    assert played(tree) == (f"6 games played, those of {teams - 2} teams kept", first)

    append(tree / "calbench/engine/rounds.py", "# The same as before.\n")
    assert played(tree) == (f"{games} games played, those of 0 teams kept", first)

    shard = next((tree / "data/traces/tiny").glob("*.zst"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    assert played(tree)[1] == first

    shutil.rmtree(tree / "build/kept")
    assert played(tree)[0] == f"{games} games played, those of 0 teams kept"
