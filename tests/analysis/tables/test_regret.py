"""The tables that explain excess cost agree with those of agents and games, and by hand."""

from collections import Counter
from pathlib import Path

import numpy as np

from calbench.analysis.registry import Settings
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.observations import Phase
from calbench.facts.storage import Facts
from calbench.metrics.game import GameScore
from calbench.metrics.optimum import OptimumLoss, OptimumReach
from calbench.metrics.regret import MeetingRegret
from calbench.stats.intervals import estimated as estimate
from calbench.stats.sums import Sums
from tests.analysis.tables.sample import SPEC, TEAMS, scores_of, shown
from tests.facts.measured import lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, score

SAMPLE = Settings(analysis=SPEC)
PARTS = ("slot_choice", "avoidable_moves", "failed_rounds")
PATHS = (
    "regret",
    "optimum_unreachable",
    "regret_by_game",
    "regret_by_team",
    "optimum_unreachable_by_round",
    "optimum_unreachable_shares",
    "excess_parts",
)


def charged(meeting: int, agent_id: int, *parts: int) -> MeetingRegret:
    """Return charges for slot choice, avoidable moves and failed rounds."""
    return MeetingRegret(
        MeetingId(meeting), AgentId(agent_id), Slot(0), Slot(1), *(*parts, 0, 0)[:3]
    )


def unreachable_at(event: int, index: int, phase: Phase | None = Phase.DECISION) -> OptimumReach:
    who = None if phase is None else AgentId(1)
    return OptimumReach(4, is_searched=True, loss=OptimumLoss(event, index, phase, who, 9))


KEPT = OptimumReach(4, is_searched=True, loss=None)
NOT_SEARCHED = OptimumReach(None, is_searched=False, loss=None)


def explained(
    *regret: MeetingRegret,
    scenario: str = "s0",
    team: str = "imap",
    optimum: OptimumReach = KEPT,
    is_excluded: bool = False,
) -> GameScore:
    """Return a game of two agents."""
    return score(
        agent(),
        agent(),
        scenario=scenario,
        team=team,
        regret=regret,
        optimum=optimum,
        is_excluded=is_excluded,
    )


def test_rows_sum_to_the_excess_of_agents_and_games(facts: Facts) -> None:
    sums: Counter[tuple[str, ...]] = Counter()
    for row in table_rows(facts, "regret.csv"):
        assert int(row["excess"]) == sum(int(row[part]) for part in PARTS)
        key = (row["setting"], row["team"], row["scenario_id"])
        sums[*key, row["agent_id"]] += int(row["excess"])
        sums[key] += int(row["excess"])
    stated = {
        (row["setting"], row["team"], row["scenario_id"], row["agent_id"]): int(row["excess_cost"])
        for row in table_rows(facts, "agent_games.csv")
    } | {
        (row["setting"], row["team"], row["scenario_id"]): int(row["excess"])
        for row in table_rows(facts, "regret_by_game.csv")
    }
    assert dict(sums) == stated
    assert any(stated.values())
    by_game = {row["game_id"]: row for row in table_rows(facts, "games.csv")}
    assert {row["excess_cost"] for row in by_game.values()} == {
        str(sums[row["setting"], row["team"], row["scenario_id"]]) for row in by_game.values()
    }


def test_what_stayed_reachable_or_was_not_searched_is_absent(tmp_path: Path) -> None:
    games = [
        explained(charged(1, 0, 1), charged(2, 1, 0, 2, 3)),
        explained(scenario="s1", optimum=NOT_SEARCHED),
        explained(scenario="s2", optimum=unreachable_at(7, 2, phase=None)),
        explained(charged(1, 0, 50), scenario="s3", is_excluded=True),
    ]
    facts = facts_of_scores(tmp_path, games)
    assert lines_of(facts, "optimum_unreachable.csv") == [
        "uniform,imap,s0,4,0,true,,,,,,",
        "uniform,imap,s1,,0,false,,,,,,",
        "uniform,imap,s2,4,0,true,7,2,RESOLUTION,,4,9",
    ]
    assert lines_of(facts, "regret_by_game.csv") == [
        "uniform,imap,s0,6,1,2,3,4,0,,,,,",
        "uniform,imap,s1,0,0,0,0,,0,,,,,",
        "uniform,imap,s2,0,0,0,0,4,0,7,2,RESOLUTION,,9",
    ]


def test_means_of_teams_run_over_agents_and_of_games_over_games(tmp_path: Path) -> None:
    games = [
        explained(charged(1, 0, 3, 1), charged(2, 0, -1), charged(1, 1, 0, 0, 5)),
        explained(charged(1, 1, 2), scenario="s1", optimum=unreachable_at(3, 0)),
        explained(scenario="s2", optimum=NOT_SEARCHED),
        explained(charged(1, 0, 99), scenario="s3", optimum=unreachable_at(3, 0), is_excluded=True),
        explained(scenario="s0", team="b", optimum=NOT_SEARCHED),
    ]
    facts = facts_of_scores(tmp_path, games, ["imap", "b"])
    own, other = table_rows(facts, "regret_by_team.csv", SAMPLE)
    assert (own["games"], own["agent_games"]) == ("3", "6")
    means = [own[name] for name in ("excess", *PARTS)]
    assert means == ["1.6667", "0.6667", "0.1667", "0.8333"]  # 10, 4, 1 and 5 over 6 seats
    assert (own["games_searched"], own["optimum_unreachable"]) == ("2", "1")
    assert (own["unreachable_share"], own["unreachable_share_interval"]) == ("0.5000", "few")
    assert [
        other[name]
        for name in ("games", "games_searched", "optimum_unreachable", "unreachable_share")
    ] == [*("1", "0", "0", "")]
    assert (other["unreachable_share_low"], other["unreachable_share_high"]) == ("", "")
    parts = table_rows(facts, "excess_parts.csv", SAMPLE)
    assert [(row["team"], row["games"]) for row in parts] == [("imap", "3"), ("b", "1")]
    assert [parts[0][name] for name in ("excess", *PARTS)] == [
        *("3.3333", "1.3333", "0.3333", "1.6667")
    ]


def test_parts_have_the_intervals_of_the_leaderboard(facts: Facts) -> None:
    board = table_rows(facts, "leaderboard.csv", SAMPLE)
    rows = table_rows(facts, "regret_by_team.csv", SAMPLE)
    for ours, theirs in zip(rows, board, strict=True):
        for end in ("", "_low", "_high"):
            assert ours[f"excess{end}"] == theirs[f"excess_cost{end}"]
    games = [score for team in TEAMS for score in scores_of(team)]
    totals = np.array([score.excess_cost for score in games], dtype=np.float64)
    totals = totals.reshape(len(TEAMS), -1).T
    found = estimate(Sums(totals, np.ones_like(totals)), SPEC)
    parts = table_rows(facts, "excess_parts.csv", SAMPLE)
    own = [row for row in parts if row["setting"] == "uniform"]
    assert [row["team"] for row in own] == list(TEAMS)
    assert [row["excess"] for row in own] == list(map(shown, found.value))
    for end, ends in (("low", found.low), ("high", found.high)):
        expected = ["" if np.isnan(each) else shown(each) for each in ends]
        assert [row[f"excess_{end}"] for row in own] == expected


def test_games_whose_optimum_became_unreachable_are_counted_by_round_and_phase(
    tmp_path: Path,
) -> None:
    places = [
        unreachable_at(1, 0),
        unreachable_at(5, 0),
        unreachable_at(3, 1, Phase.VOLUNTARY),
        unreachable_at(9, 1),
        unreachable_at(9, 1, phase=None),
        KEPT,
    ]
    games = [explained(scenario=f"s{number}", optimum=place) for number, place in enumerate(places)]
    other = explained(team="a", optimum=unreachable_at(1, 9))
    excluded = explained(team="a", scenario="s9", optimum=unreachable_at(1, 9), is_excluded=True)
    facts = facts_of_scores(tmp_path, [*games, other, excluded], ["imap", "a"])
    assert lines_of(facts, "optimum_unreachable_by_round.csv") == [
        "uniform,imap,0,DECISION,2",
        "uniform,imap,1,DECISION,1",
        "uniform,imap,1,RESOLUTION,1",
        "uniform,imap,1,VOLUNTARY,1",
        "uniform,a,9,DECISION,1",
    ]


def test_shares_of_meetings_have_a_row_for_every_team(tmp_path: Path) -> None:
    games = [
        explained(optimum=unreachable_at(1, 1)),
        explained(scenario="s1", optimum=unreachable_at(1, 1)),
        explained(scenario="s2"),
        explained(scenario="s3", optimum=NOT_SEARCHED),
        explained(scenario="s4", optimum=unreachable_at(1, 3), is_excluded=True),
        explained(team="a", optimum=unreachable_at(1, 0)),
        explained(team="b", optimum=NOT_SEARCHED),
    ]
    rows = table_rows(
        facts_of_scores(tmp_path, games, ["imap", "a"]), "optimum_unreachable_shares.csv", SAMPLE
    )
    names = ("team", "unreachable_from", "games", "searched_games", "share")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("imap", "Never", "1", "3", "0.3333"),
        ("a", "Never", "0", "1", "0.0000"),
        ("imap", "Meeting 1", "0", "3", "0.0000"),
        ("a", "Meeting 1", "1", "1", "1.0000"),
        ("imap", "Meeting 2", "2", "3", "0.6667"),
        ("a", "Meeting 2", "0", "1", "0.0000"),
    ]
    assert {row["share_interval"] for row in rows} == {"few"}


def test_a_setting_whose_optima_stayed_reachable(tmp_path: Path) -> None:
    games = [explained(), score(setting="varied", optimum=unreachable_at(1, 0))]
    rows = table_rows(facts_of_scores(tmp_path, games), "optimum_unreachable_shares.csv", SAMPLE)
    assert [(row["setting"], row["unreachable_from"], row["games"]) for row in rows] == [
        ("uniform", "Never", "1"),
        ("varied", "Never", "0"),
        ("varied", "Meeting 1", "1"),
    ]
