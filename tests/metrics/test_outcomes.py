import pytest

from calbench.domain.messages import Text
from calbench.metrics.outcomes import assigned_by_agent, meeting_results, scheduled_by_agent
from tests.factories import make_scenario
from tests.metrics.games import book, decide, dm, move, play_scripts, talk


def test_results_name_what_became_of_each_meeting() -> None:
    scenario = make_scenario(["E....", ".....", "....."], [(1, 0), (0, 2), (1, 2), (2, 0)])
    trace = play_scripts(
        scenario,
        {
            0: talk(dm(1, Text(text="hello")), dm(2, Text(text="hello")))
            | decide(move(101, 0, 4), book(1, 0))
            | decide(book(2, 1), round_index=1)
            | decide(book(4, 2), round_index=3),
            1: decide(book(1, 0)) | decide(move(1, 0, 3), book(3, 1), round_index=2),
            2: decide(book(2, 2), round_index=1)
            | decide(book(3, 1), round_index=2)
            | decide(book(4, 9), round_index=3),
        },
    )
    results = meeting_results(trace.events)
    assert [result.outcome for result in results] == [
        "scheduled",
        "inconsistent_slots",
        "earlier_meeting_broken",
        "no_batch",
    ]
    assert [result.slot for result in results] == [0, None, None, None]
    assert [result.first_speaker for result in results] == [1, 0, 1, 2]
    assert [result.messages for result in results] == [2, 0, 0, 0]
    assert [result.cost for result in results] == [1, 0, 1, 0]
    assert [result.rejected_batches for result in results] == [0, 0, 0, 1]
    assert results[2].broken_meetings == (1,)
    assert assigned_by_agent(scenario) == (3, 2, 3)
    assert scheduled_by_agent(results, 3) == (1, 1, 0)


@pytest.mark.parametrize("meetings", [[], [(0, 1)]])
def test_counts_hold_every_agent_also_without_meetings(meetings: list[tuple[int, ...]]) -> None:
    scenario = make_scenario(["..", "..", ".."], meetings)
    assert assigned_by_agent(scenario)[2] == 0
    assert meeting_results(()) == ()
    assert scheduled_by_agent((), 3) == (0, 0, 0)
