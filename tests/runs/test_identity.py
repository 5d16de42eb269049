"""A game of another scenario, or by other rules than its team's, is no published one."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.errors import ReplayError
from calbench.runs.identity import is_other, suite_of
from calbench.runs.play import execute
from calbench.scenarios.storage import published_suite, write_suite
from calbench.traces.storage import read_trace

VARIED = ("+experiment=varied", "subset=2", "teams=[imap]", "analysis.permutations=99")


def played(out: Path, *overrides: str) -> Path:
    execute(compose([*VARIED, *overrides, f"out={out}"]))
    return out


def verified(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    status = answer(["verify", *words])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_games_of_a_suite_hold_and_missing_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = played(tmp_path / "run")
    assert verified(capsys, str(run))[0] == 0
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert "imap: games are missing: varied-000, varied-001" in said
    scenarios = [read_trace(each).scenario for each in sorted(run.glob("traces/imap/*.json"))]
    write_suite(tmp_path / "two.jsonl", scenarios)
    assert verified(capsys, "--suite", str(tmp_path / "two.jsonl"), str(run))[0] == 0
    write_suite(tmp_path / "one.jsonl", scenarios[:1])
    status, said = verified(capsys, "--suite", str(tmp_path / "one.jsonl"), str(run))
    assert (status, "has none" in said) == (1, True)


def test_another_draw_under_published_names_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = played(tmp_path / "run", "suite.seed=1")
    status, said = verified(capsys, str(run))
    assert status == 0
    assert "2 games on other scenarios than the published ones of their names" in said
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert "is another than that of varied" in said


@pytest.mark.parametrize(
    ("override", "place"),
    [("limits.max_turns_per_round=4", "limits: "), ("channels=dm", "channels: ")],
)
def test_other_rules_than_the_teams_are_told(
    override: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = played(tmp_path / "run", override)
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert f": {place}recorded" in said


def test_another_player_under_a_teams_name_is_told(tmp_path: Path) -> None:
    trace = next(played(tmp_path / "run", "subset=1", "teams=[silent]").glob("traces/*/*.json"))
    game = read_trace(trace)
    team = game.config.team.model_copy(update={"team_id": "imap"})
    posing = game.model_copy(update={"config": game.config.model_copy(update={"team": team})})
    suite_of("varied").check(game)
    with pytest.raises(ReplayError, match="imap plays with"):
        suite_of("varied").check(posing)


def test_published_scenarios_are_none_of_others() -> None:
    scenario, another, *_ = published_suite("varied")
    assert not is_other(scenario)
    changed = another.model_copy(update={"scenario_id": scenario.scenario_id})
    assert is_other(changed)
    assert not is_other(changed.model_copy(update={"setting": "mine"}))


def test_seats_of_a_team_may_rotate_and_not_change_places(tmp_path: Path) -> None:
    run = tmp_path / "run"
    execute(compose(["+experiment=slices", "subset=1", "teams=[slice-careless]", f"out={run}"]))
    game = read_trace(next(run.glob("traces/*/*.json")))
    first, second, *rest = game.config.team.seats
    assert first != second
    for seats, holds in (((second, *rest, first), True), ((second, first, *rest), False)):
        team = game.config.team.model_copy(update={"seats": seats})
        other = game.model_copy(update={"config": game.config.model_copy(update={"team": team})})
        with nullcontext() if holds else pytest.raises(ReplayError, match="seats: recorded"):
            suite_of("slices").check(other)
