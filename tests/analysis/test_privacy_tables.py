import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from calbench.analysis.privacy import NAMES, PrivacyTables

from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import Slot
from calbench.domain.messages import CostReport, Decision
from calbench.metrics.game import score_game
from calbench.metrics.measure import MeasureSpec
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario, dm, play_scripts, play_team, talk

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


def write(folder: Path, traces: Sequence[Trace], measure: MeasureSpec | None = None) -> None:
    teams = ("imap", "tell-all")
    with PrivacyTables(folder, teams, measure or MeasureSpec()) as tables:
        for trace in traces:
            tables.add(trace)
        tables.write()


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def small_game() -> Trace:
    report = CostReport(slots=(Slot(0), Slot(1)), costs=(0, None))
    return play_scripts(
        make_scenario(["..", "..", ".."], [(0, 1)]),
        {0: talk(BroadcastMessage(content=report), dm(1, Decision(slot=Slot(0))))},
    )


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_the_papers(tmp_path: Path, name: str) -> None:
    write(tmp_path, [])
    assert (tmp_path / f"{name}.csv").read_text() == COLUMNS[name] + "\n"


def test_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    trace = small_game()
    write(tmp_path, [trace])
    game = f"test/test-000.json,{trace.game_id}"
    assert (tmp_path / "belief_evidence.csv").read_text().splitlines()[1:] == [
        f"{game},7,0,0,1,0,costs,1,1,0.5,1",
        f"{game},7,0,0,1,1,costs,0,1,0.5,0",
        f"{game},7,0,0,2,0,costs,1,1,0.5,1",
        f"{game},7,0,0,2,1,costs,0,1,0.5,0",
        f"{game},8,0,0,1,0,decision,1,1,1,1",
    ]
    assert (tmp_path / "pair_round_vps.csv").read_text().splitlines()[1:] == [
        f"{game},0,0,1,true,true,3,2,3,0,1,1,0.5,0.5",
        f"{game},0,0,2,true,false,3,2,2,0,1,1,0.5,0.5",
        f"{game},0,1,0,true,true,3,2,0,0,0,0,0,0.5",
        f"{game},0,1,2,true,false,3,2,0,0,0,0,0,0.5",
        f"{game},0,2,0,false,true,3,2,0,0,0,0,0,0.5",
        f"{game},0,2,1,false,true,3,2,0,0,0,0,0,0.5",
    ]
    assert (tmp_path / "game_summary.csv").read_text().splitlines()[1:] == [
        f"{game},2,0.333333,1,0.5,5"
    ]
    assert (tmp_path / "game_target_summary.csv").read_text().splitlines()[1:] == [
        f"{game},0,2,0,1,0,5",
        f"{game},1,0,0,0,0,5",
        f"{game},2,0,0,0,0,5",
    ]


def test_distances_are_to_one_half_and_the_loss_to_the_prior(tmp_path: Path) -> None:
    write(tmp_path, [small_game()], MeasureSpec(belief_prior=0.3, vps_floor=0.5))
    first = rows(tmp_path, "pair_round_vps")[0]
    assert first["prior_distance_to_ideal"] == "0.4"
    assert first["posterior_distance_to_ideal"] == "1"
    assert first["vps_loss"] == "1"  # 0.7 for the feasible slot, 0.3 for the other
    assert first["prior"] == "0.3"
    assert rows(tmp_path, "game_target_summary")[0]["excess_vps_loss_total"] == "1.5"


def test_tables_agree_with_the_score(tmp_path: Path) -> None:
    trace = play_team(canonical_scenario(4), "tell-all")
    write(tmp_path, [trace])
    targets = rows(tmp_path, "game_target_summary")
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
    (summary,) = rows(tmp_path, "game_summary")
    assert float(summary["vps_loss_total"]) == 480
    assert float(summary["vps_loss_mean"]) == 4.8
    assert int(summary["observation_count"]) == len(rows(tmp_path, "belief_evidence")) == 960
    assert len(rows(tmp_path, "pair_round_vps")) == 100


def test_bytes_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    traces = [
        play_team(canonical_scenario(seed, f"uniform-{seed:03d}"), team)
        for team in ("imap", "tell-all")
        for seed in range(3)
    ]
    write(tmp_path / "a", traces)
    write(tmp_path / "b", traces[::-1])
    for name in NAMES:
        one = (tmp_path / "a" / f"{name}.csv").read_bytes()
        assert one == (tmp_path / "b" / f"{name}.csv").read_bytes()
        assert one.count(b"\n") > 1
    paths = [row["trace_path"] for row in rows(tmp_path / "a", "game_summary")]
    assert paths == [
        f"{team}/uniform-{seed:03d}.json" for team in ("imap", "tell-all") for seed in range(3)
    ]
