"""A pilot that grows in one folder: the games of the whole suite, and nothing is asked twice."""

from pathlib import Path

import pytest

from calbench.cli.estimate import estimate
from calbench.config.composition import compose
from calbench.errors import CalbenchError, ConfigError
from calbench.runs.measured import compare_runs
from calbench.runs.play import execute
from calbench.runs.verification import verify_file
from tests.cli.recording import noting, recording
from tests.cli.runs import SMALL, files, rows

pytestmark = pytest.mark.heavy

TURNING = (
    "+teams.turning={rotation: true, players: {dsm: {protocol: dsm, lmax: 2, theta: 10}, "
    "imap: {protocol: imap}, candid: {scripted: candid}}, seats: [dsm, imap, candid]}"
)
"""A mixed team whose seats move on by one from scenario to scenario."""

SCRIPTED = (*SMALL, "suite.num_scenarios=9", "suite.num_candidates=12", "teams=[imap]", TURNING)


def games(out: Path) -> dict[str, bytes]:
    return files(out / "traces")


def scenarios_in(out: Path) -> set[str]:
    return {row["scenarios"] for row in rows(out / "tables" / "leaderboard.csv")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    execute(compose([*SCRIPTED, f"out={out}"]))
    return out


def test_pilot_grows_to_the_games_and_tables_of_the_whole_suite(
    whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    played = []
    for subset in ("1", "4", "null"):
        summary = execute(compose([*SCRIPTED, f"out={out}", f"subset={subset}"]))
        played.append((summary.played, summary.kept))
        own = games(out)
        assert own.items() <= games(whole).items()
        assert scenarios_in(out) == {str(len(own) // 2)}
    assert played == [(2, 0), (6, 2), (10, 8)]
    assert files(out) == files(whole)
    for path in sorted((out / "traces" / "turning").iterdir()):
        verify_file(path)


def test_smaller_subset_leaves_the_games_and_makes_the_tables_of_what_is_named(
    whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    execute(compose([*SCRIPTED, f"out={out}"]))
    chosen = ["taste-varied-004", "taste-varied-001"]
    summary = execute(compose([*SCRIPTED, f"out={out}", f"subset=[{','.join(chosen)}]"]))
    assert (summary.played, summary.kept) == (0, 4)
    assert games(out) == games(whole)
    assert {row["scenario_id"] for row in rows(out / "tables" / "games.csv")} == set(chosen)


def test_number_is_of_each_suite_and_ids_are_over_all_of_them(tmp_path: Path) -> None:
    two = (*SMALL, "suite_seeds=[3,4]", "teams=[silent]")
    execute(compose([*two, f"out={tmp_path / 'two'}", "subset=2"]))
    assert sorted(Path(name).stem[:-4] for name in games(tmp_path / "two")) == [
        *["taste-varied-seed3"] * 2,
        *["taste-varied-seed4"] * 2,
    ]
    ids = ["taste-varied-seed4-000", "taste-varied-seed3-002"]
    execute(compose([*two, f"out={tmp_path / 'ids'}", f"subset=[{','.join(ids)}]"]))
    assert sorted(Path(name).stem for name in games(tmp_path / "ids")) == sorted(ids)


def test_pilot_with_a_model_asks_nothing_twice(tmp_path: Path) -> None:
    out, notes = tmp_path / "run", tmp_path / "requests"
    for subset in (1, 3, 6):
        execute(recording(str(out), f"subset={subset}"), noting(str(notes), 0))
    execute(recording(str(tmp_path / "whole")), noting(str(tmp_path / "undisturbed"), 0))
    asked = notes.read_text().split()
    assert len(asked) == len(set(asked))
    assert sorted(asked) == sorted((tmp_path / "undisturbed").read_text().split())
    assert games(out) == games(tmp_path / "whole")


def test_estimate_counts_the_games_of_the_subset(tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(recording(str(out), "subset=1"), noting(str(tmp_path / "requests"), 0))
    _, missing, finished = estimate(recording(str(out), "subset=3"))
    assert (missing, finished) == (2, 1)
    _, missing, finished = estimate(recording(str(out), "subset=3", "replicates=4"))
    assert (missing, finished) == (11, 1)


def test_subset_compares_with_a_run_of_the_whole_suite(whole: Path, tmp_path: Path) -> None:
    spec = compose([*SCRIPTED, f"out={tmp_path / 'run'}", "subset=3"])
    execute(spec)
    compared = compare_runs(tmp_path / "run", whole, spec, team_a="turning", team_b="imap")
    numbers = compared.differences.set_index("measure")["scenarios"]
    assert numbers["coordination"] == numbers.max() == 3
    assert set(compared.contributions["scenario_id"]) == {
        row["scenario_id"] for row in rows(tmp_path / "run" / "tables" / "games.csv")
    }


FORM = r"subset: give a number of scenarios from 1 up, or their ids, e.g. subset=\[varied-003\]"

REFUSED = {
    "none": ("subset=0", f"{FORM}, got 0"),
    "negative": ("subset=-3", f"{FORM}, got -3"),
    "part of one": ("subset=2.5", f"{FORM}, got 2.5"),
    "truth": ("subset=true", f"{FORM}, got True"),
    "empty list": ("subset=[]", FORM),
    "keys": ("subset={a: 1}", FORM),
    "twice": (
        "subset=[taste-varied-001,taste-varied-001]",
        "subset: taste-varied-001 is named twice",
    ),
    "too many": ("subset=4", "^subset=4: setting taste-varied has 3 scenarios; choose at most 3"),
    "near": (
        "subset=[taste-varied-000,taste-varied-01]",
        "^subset: there is no scenario 'taste-varied-01'; the nearest are taste-varied-001, taste",
    ),
    "another suite's": ("subset=[varied-001]", "no scenario 'varied-001'; the nearest are taste-"),
    "no replicate": ("replicates=0", "replicates: .* greater than or equal to 1, got 0"),
    "part of a replicate": ("replicates=1.5", "replicates: .*got 1.5"),
}


@pytest.mark.parametrize(("override", "line"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_part_of_the_suite_is_refused_before_anything_is_written(
    tmp_path: Path, override: str, line: str
) -> None:
    with pytest.raises(CalbenchError, match=line) as refusal:
        execute(compose([*SMALL, f"out={tmp_path / 'a' / 'run'}", override]))
    assert isinstance(refusal.value, ConfigError)
    assert str(refusal.value).isprintable()
    assert list(tmp_path.iterdir()) == []
