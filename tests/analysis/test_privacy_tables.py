"""The tables of appendix F.5: by hand, against the score, and whatever the order of games."""

import csv
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import pandas as pd
import pytest

from calbench import play_game
from calbench.analysis.registry import Settings
from calbench.analysis.tables.privacy import PRIORS, prior_order
from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import Slot
from calbench.domain.messages import CostReport
from calbench.facts.beliefs import BITS_BANDS, PAIR_BITS
from calbench.facts.games import SCORES
from calbench.metrics.game import score_game
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.inference.game import learnt
from calbench.metrics.privacy.loss import round_beliefs
from calbench.metrics.privacy.reflection import CALENDARS
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.facts.measured import facts_of, lines_of, path_of, play_preset, table_rows, text_of
from tests.facts.played import told_game
from tests.metrics.changes import changes_of
from tests.metrics.games import canonical_scenario, play_scripts, play_team, talk
from tests.metrics.language_games import halted, small_game

COLUMNS = {
    "belief_evidence": "trace_path,game_id,event_index,round,target_agent,observer_agent,slot,"
    "source,evidence,strength,belief_before,belief_after",
    "pair_round_vps": "trace_path,game_id,round,target_agent,observer_agent,"
    "target_is_participant,observer_is_participant,num_agents,num_slots,observations,"
    "prior_distance_to_ideal,posterior_distance_to_ideal,vps_loss,vps_loss_per_slot,prior",
    "game_summary": "trace_path,game_id,vps_loss_total,vps_loss_mean,"
    "participant_pair_vps_loss_total,participant_pair_vps_loss_mean,observation_count",
    "game_target_summary": "trace_path,game_id,target_agent,vps_loss_total,"
    "excess_vps_loss_total,participant_pair_vps_loss_total,"
    "participant_pair_excess_vps_loss_total,vps_floor",
}
TEAMS = ("imap", "tell-all")


def lines(
    folder: Path, name: str, traces: Sequence[Trace], measure: MeasureSpec | None = None
) -> list[str]:
    settings = Settings() if measure is None else Settings(measure)
    facts = facts_of(folder, traces, TEAMS, settings.measure)
    return lines_of(facts, path_of(f"privacy/{name}"), settings)


def rows(
    folder: Path, name: str, traces: Sequence[Trace], measure: MeasureSpec | None = None
) -> list[dict[str, str]]:
    return list(csv.DictReader([COLUMNS[name], *lines(folder, name, traces, measure)]))


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_the_papers(tmp_path: Path, name: str) -> None:
    text = text_of(facts_of(tmp_path / "facts", []), path_of(f"privacy/{name}"))
    assert text == COLUMNS[name] + "\n"


def test_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    trace = told_game()
    game = f"test/test-000.json,{trace.game_id}"
    facts = facts_of(tmp_path, [trace], TEAMS)
    assert lines_of(facts, "privacy/belief_evidence.parquet") == [
        f"{game},7,0,0,1,0,costs,1,1,0.5,1",
        f"{game},7,0,0,1,1,costs,0,1,0.5,0",
        f"{game},7,0,0,2,0,costs,1,1,0.5,1",
        f"{game},7,0,0,2,1,costs,0,1,0.5,0",
        f"{game},8,0,0,1,0,decision,1,1,1,1",
    ]
    assert lines_of(facts, "privacy/pair_round_vps.parquet") == [
        f"{game},0,0,1,true,true,3,2,3,0,1,1,0.5,0.5",
        f"{game},0,0,2,true,false,3,2,2,0,1,1,0.5,0.5",
        f"{game},0,1,0,true,true,3,2,0,0,0,0,0,0.5",
        f"{game},0,1,2,true,false,3,2,0,0,0,0,0,0.5",
        f"{game},0,2,0,false,true,3,2,0,0,0,0,0,0.5",
        f"{game},0,2,1,false,true,3,2,0,0,0,0,0,0.5",
    ]
    assert lines_of(facts, "privacy/game_summary.csv") == [f"{game},2,0.333333,1,0.5,5"]
    assert lines_of(facts, "privacy/game_target_summary.csv") == [
        f"{game},0,2,0,1,0,5",
        f"{game},1,0,0,0,0,5",
        f"{game},2,0,0,0,0,5",
    ]


def test_distances_are_to_one_half_and_the_loss_to_the_prior(tmp_path: Path) -> None:
    measure = MeasureSpec(belief_prior=0.3, vps_floor=0.5)
    first = rows(tmp_path / "a", "pair_round_vps", [told_game()], measure)[0]
    assert first["prior_distance_to_ideal"] == "0.4"
    assert first["posterior_distance_to_ideal"] == "1"
    assert first["vps_loss"] == "1"  # 0.7 for the feasible slot, 0.3 for the other
    assert first["prior"] == "0.3"
    target = rows(tmp_path / "b", "game_target_summary", [told_game()], measure)[0]
    assert target["excess_vps_loss_total"] == "1.5"
    assert target["participant_pair_excess_vps_loss_total"] == "0.5"
    assert target["vps_floor"] == "0.5"


def test_tables_agree_with_the_score(tmp_path: Path) -> None:
    trace = play_team(canonical_scenario(4), "tell-all")
    targets = rows(tmp_path / "a", "game_target_summary", [trace])
    assert [
        (
            float(row["vps_loss_total"]),
            float(row["excess_vps_loss_total"]),
            float(row["participant_pair_excess_vps_loss_total"]),
        )
        for row in targets
    ] == [
        (agent.vps, agent.excess_vps, agent.excess_vps_participants)
        for agent in score_game(trace).agents
    ]
    (summary,) = rows(tmp_path / "b", "game_summary", [trace])
    assert float(summary["vps_loss_total"]) == 480
    assert float(summary["vps_loss_mean"]) == 4.8
    evidence = rows(tmp_path / "c", "belief_evidence", [trace])
    assert int(summary["observation_count"]) == len(evidence) == 960
    assert len(rows(tmp_path / "d", "pair_round_vps", [trace])) == 100


def test_a_game_of_speakers_has_a_row_without_numbers(tmp_path: Path) -> None:
    talkers = small_game()
    game = f"words/test-000.json,{talkers.game_id}"
    assert lines(tmp_path / "a", "game_summary", [talkers]) == [f"{game},,,,,0"]
    for name in ("belief_evidence", "pair_round_vps", "game_target_summary"):
        assert lines(tmp_path / name, name, [talkers]) == []
    both = lines(tmp_path / "b", "game_summary", [talkers, told_game()])
    assert [line.split(",", 2)[2] for line in both] == ["2,0.333333,1,0.5,5", ",,,,0"]


def most_revealing(trace: Trace) -> list[str]:
    """Return event, target, kind and sizes of the most revealing message, by plain addition."""
    movable = {errand.errand_id for _, _, errand in trace.scenario.errands if not errand.blocked}
    steps: dict[tuple[int, int, str], list[float]] = {}
    for each in round_beliefs(trace):
        for change in changes_of(each):
            *_, calendar = [
                event.calendar
                for event in trace.events[: change.event_index]
                if isinstance(event, CALENDARS) and event.agent_id == change.target
            ]
            item = calendar[change.slot]
            moved = change.after - change.before
            sums = steps.setdefault((change.event_index, change.target, change.source), [0.0, 0.0])
            sums[0] += moved if item is None or item in movable else -moved
            sums[1] += abs(change.after - 0.5) - abs(change.before - 0.5)
    largest = max(round(toward, 6) for toward, _ in steps.values())
    first = next(key for key, (toward, _) in steps.items() if round(toward, 6) == largest)
    return [*map(str, first), *(f"{step:.6f}" for step in steps[first])]


def test_three_games_of_a_team_and_the_largest_first(tmp_path: Path) -> None:
    traces = [
        play_preset(team, canonical_scenario(seed, f"uniform-{seed:03d}"))
        for team in ("sd-map", "dsm-private")
        for seed in range(5)
    ]
    facts = facts_of(tmp_path, traces, ("sd-map", "dsm-private"))
    found = [line.split(",") for line in lines_of(facts, "revealing_messages.csv")]
    for place, team in enumerate(("sd-map", "dsm-private")):
        told = [
            [trace.scenario.scenario_id, *most_revealing(trace)]
            for trace in traces
            if trace.config.team.team_id == team
        ]
        told.sort(key=lambda row: (-float(row[-2]), row[0]))
        own = found[3 * place : 3 * place + 3]
        assert own == [["uniform", team, *row] for row in told[:3]]


def test_messages_that_told_nothing_are_not_named(tmp_path: Path) -> None:
    for number, trace in enumerate((small_game(), halted(told_game()))):
        assert lines_of(facts_of(tmp_path / str(number), [trace]), "revealing_messages.csv") == []
    settings = Settings(MeasureSpec(belief_prior=0.0))
    facts = facts_of(tmp_path / "prior", [told_game()], measure=settings.measure)
    assert lines_of(facts, "revealing_messages.csv", settings) == [
        "test,test,test-000,7,0,costs,2.000000,2.000000"
    ]


def test_a_message_that_told_what_was_believed_is_not_named(tmp_path: Path) -> None:
    """That a slot is free says nothing to who takes every slot for free."""
    free = BroadcastMessage(content=CostReport(slots=(Slot(0),), costs=(0,)))
    trace = play_scripts(make_scenario(["..", "..", ".."], [(0, 1)]), {0: talk(free)})
    settings = Settings(MeasureSpec(belief_prior=1.0))
    facts = facts_of(tmp_path, [trace], measure=settings.measure)
    assert len(lines_of(facts, "privacy/belief_evidence.parquet", settings)) == 2
    assert lines_of(facts, "revealing_messages.csv", settings) == []


def test_other_priors_give_what_a_replay_under_them_gives(tmp_path: Path) -> None:
    """Beliefs that were recorded under one prior are moved to the others without the messages."""
    own = 0.3
    teams = ["imap", "sd-map", "dsm-welfare", "silent"]
    traces = [play_preset(team, canonical_scenario(seed)) for seed in (3,) for team in teams]
    settings = Settings(MeasureSpec(belief_prior=own))
    facts = facts_of(tmp_path, traces, teams, settings.measure)
    found = table_rows(facts, "privacy/prior_sensitivity.csv", settings)
    assert [(row["team"], float(row["prior"])) for row in found] == [
        (team, prior) for team in teams for prior in PRIORS
    ]
    for row in found:
        scores = [
            score_game(trace, measure=MeasureSpec(belief_prior=float(row["prior"])))
            for trace in traces
            if trace.config.team.team_id == row["team"]
        ]
        seats = [agent.excess_vps or 0 for score in scores for agent in score.agents]
        assert float(row["excess_vps"]) == pytest.approx(sum(seats) / len(seats), abs=1e-6)
        assert row["is_order_kept"] == "true"
        assert row["pairs_reversed"] == "0"


def test_an_order_that_a_prior_reverses_is_told() -> None:
    means = pd.DataFrame({"setting": "s", **{str(prior): [1.0, 2.0, 2.0] for prior in PRIORS}})
    means["0.8"] = [3.0, 2.0, 2.5]
    found = prior_order(means).set_index("prior")
    assert found["pairs"].tolist() == [2] * 5
    assert found["pairs_reversed"].tolist() == [0, 0, 0, 0, 2]
    assert found["is_order_kept"].tolist() == [True] * 4 + [False]
    assert found["kendall_tau"].tolist()[:2] == pytest.approx([1.0, 1.0])
    assert found["kendall_tau"].iloc[-1] == pytest.approx(-2 / 6**0.5)


def test_bands_say_how_right_the_readers_chances_are(tmp_path: Path) -> None:
    """Against sums by hand, and a standard error by the delete-one jackknife."""
    traces = [play_game(canonical_scenario(seed, f"test-{seed:03d}"), "imap") for seed in range(5)]
    facts = facts_of(tmp_path, traces, facts=(*SCORES, PAIR_BITS, BITS_BANDS))
    by_band: dict[int, list[tuple[int, float, int]]] = {}
    for trace in traces:
        for band, slots, stated, found in learnt(trace).bands:
            by_band.setdefault(band, []).append((slots, stated, found))
    rows = {int(row["band"]): row for row in table_rows(facts, "privacy/bits_reliability.csv")}
    assert [*rows] == sorted(by_band)
    assert sum(int(row["slots"]) for row in rows.values()) == sum(
        chances.size for trace in traces for chances in learnt(trace).chances.values()
    )
    for band, units in by_band.items():
        row, slots = rows[band], sum(unit[0] for unit in units)
        share, true = (sum(unit[place] for unit in units) / slots for place in (1, 2))
        assert (int(row["slots"]), int(row["scenarios"])) == (slots, len(units))
        assert float(row["stated"]) == pytest.approx(share, abs=1e-4)
        assert float(row["found"]) == pytest.approx(true, abs=1e-4)
        assert float(row["error"]) == pytest.approx(true - share, abs=1e-4)
        assert (row["is_beyond"] == "true") is (abs(true - share) > 0.02)
        if row["error_low"]:
            holds = float(row["error_low"]) <= 0 <= float(row["error_high"])
            assert (row["holds_identity"] == "true") is holds
    units = by_band[70]
    left_out = [
        sum(found - stated for _, stated, found in rest) / sum(slots for slots, _, _ in rest)
        for rest in ([*units[:at], *units[at + 1 :]] for at in range(5))
    ]
    mean = sum(left_out) / 5
    jackknife = sqrt(4 / 5 * sum((each - mean) ** 2 for each in left_out))
    assert float(rows[70]["error_se"]) == pytest.approx(jackknife, rel=0.1)
