"""A game of another scenario, or by other rules than its team's, is no published one."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose_team
from calbench.domain.messages import CHANNELS
from calbench.engine.batch import played
from calbench.errors import ReplayError
from calbench.runs.identity import is_other, suite_of
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import published_suite, write_suite
from calbench.traces.models import PUBLISHED, GameConfig, Trace
from calbench.traces.storage import write_trace


def game(scenario: Scenario, team: str = "imap", **changes: Any) -> Trace:
    """Play by the published rules, but for what changes."""
    rules = {"team": compose_team(team), "channels": CHANNELS, "limits": PUBLISHED}
    return played(scenario, GameConfig.model_validate({**rules, **changes}))


def written(out: Path, games: Iterable[Trace]) -> Path:
    for each in games:
        write_trace(out / each.config.team.team_id / f"{each.scenario.scenario_id}.json", each)
    return out


def verified(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    status = answer(["verify", *words])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_games_of_a_suite_hold_and_missing_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, *scenarios = published_suite("varied")[:4]
    run = written(tmp_path / "run", map(game, scenarios))
    assert verified(capsys, str(run))[0] == 0
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert "imap: games are missing: varied-000, varied-001" in said
    write_suite(tmp_path / "two.jsonl", scenarios)
    assert verified(capsys, "--suite", str(tmp_path / "two.jsonl"), str(run))[0] == 0
    write_suite(tmp_path / "one.jsonl", scenarios[:1])
    status, said = verified(capsys, "--suite", str(tmp_path / "one.jsonl"), str(run))
    assert (status, "has none" in said) == (1, True)


def test_another_draw_under_published_names_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, other, another = published_suite("varied")[:4]
    names = (first.scenario_id, second.scenario_id)
    posing = [
        scenario.updated(scenario_id=name)
        for scenario, name in zip((other, another), names, strict=True)
    ]
    run = written(tmp_path / "run", map(game, posing))
    status, said = verified(capsys, str(run))
    assert status == 0
    assert "2 games on other scenarios than the published ones of their names" in said
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert "is another than that of varied" in said


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"limits": PUBLISHED.model_copy(update={"max_turns_per_round": 4})}, "limits: "),
        ({"channels": ("dm",)}, "channels: "),
    ],
)
def test_other_rules_than_the_teams_are_told(
    changes: dict[str, Any], place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = written(tmp_path / "run", [game(published_suite("varied")[0], **changes)])
    status, said = verified(capsys, "--suite", "varied", str(run))
    assert status == 1
    assert f": {place}recorded" in said


def test_another_player_under_a_teams_name_is_told() -> None:
    found = game(published_suite("varied")[0], "silent")
    team = found.config.team.model_copy(update={"team_id": "imap"})
    posing = found.model_copy(update={"config": found.config.model_copy(update={"team": team})})
    suite_of("varied").check(found)
    with pytest.raises(ReplayError, match="imap plays with"):
        suite_of("varied").check(posing)


def test_published_scenarios_are_none_of_others() -> None:
    scenario, another, *_ = published_suite("varied")
    assert not is_other(scenario)
    changed = another.model_copy(update={"scenario_id": scenario.scenario_id})
    assert is_other(changed)
    assert not is_other(changed.model_copy(update={"setting": "mine"}))


def test_seats_of_a_team_may_rotate_and_not_change_places() -> None:
    suite = suite_of("slices")
    scenario = next(
        each for each in published_suite("varied") if ("varied", each.scenario_id) in suite.digests
    )
    found = played(scenario, suite.configs["slice-careless"])
    first, second, *rest = found.config.team.seats
    assert first != second
    for seats, holds in (((second, *rest, first), True), ((second, first, *rest), False)):
        team = found.config.team.model_copy(update={"seats": seats})
        other = found.model_copy(update={"config": found.config.model_copy(update={"team": team})})
        with nullcontext() if holds else pytest.raises(ReplayError, match="seats: recorded"):
            suite.check(other)
