"""SD-MAP against games worked out by hand (paper, appendix D.2)."""

import pytest

from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import ProposeReply, SlotStatus
from calbench.metrics.game import score_game
from calbench.protocols.sd_map.policy import SdMap
from calbench.traces.models import Trace
from tests.engine.scripts import book
from tests.protocols.sd_maps import batches, moved, outcomes, play, propose, seen, sent, words

# Agent 0 can have 0, 2 and 3; agent 1 has 2 and 3; agent 2 has 0 and 3.
WALK_ROWS = [".BE1.", "BB..", ".BB."]
WALK: list[tuple[int, int, str, tuple[object, ...]]] = [
    (0, 1, "propose", (0,)),
    (0, 2, "propose", (0,)),
    (1, 0, "reply", (0, "IMPOSSIBLE")),
    (2, 0, "reply", (0, "PENDING")),
    (0, 1, "propose", (2,)),
    (0, 2, "propose", (2,)),
    (1, 0, "reply", (2, "PENDING")),
    (2, 0, "reply", (2, "IMPOSSIBLE")),
    (0, 1, "propose", (3,)),
    (0, 2, "propose", (3,)),
    (1, 0, "reply", (3, "PENDING")),
    (2, 0, "reply", (3, "PENDING")),
    (0, 1, "confirm", (3,)),
    (0, 2, "confirm", (3,)),
]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (1, 2, 0)])
def test_initiator_walks_its_calendar_one_slot_a_sweep_whoever_speaks_first(
    order: tuple[int, ...],
) -> None:
    trace = play(WALK_ROWS, [order])
    talk = sent(trace)
    assert sorted(line[1:] for line in talk) == sorted(WALK)
    mine = [(sweep, values[0]) for sweep, sender, to, _, values in talk if (sender, to) == (0, 1)]
    assert mine == [(0, 0), (1, 2), (2, 3), (3, 3)]
    assert {agent: actions for agent, (_, *actions) in batches(trace).items()} == {
        agent: [book(1, 3)] for agent in (0, 1, 2)
    }


@pytest.mark.parametrize(
    ("row", "status"),
    [(".", "PENDING"), ("E9", "PENDING"), ("B", "IMPOSSIBLE")],  # not whether an errand can land
)
def test_responder_answers_by_what_stands_in_the_slot(row: str, status: SlotStatus) -> None:
    turn = SdMap().act(seen(1, row, new=[propose(0)]))
    assert words(turn) == [(0, ProposeReply(slot=Slot(0), status=status))]


@pytest.mark.parametrize(
    ("participants", "weights", "status"),
    [
        ((0, 1), None, "PENDING"),  # 1 < 2
        ((1, 3, 4), None, "IMPOSSIBLE"),  # 2 = 2: not strictly less
        ((1, 2, 3, 4), None, "IMPOSSIBLE"),
        ((1, 3), (1, 9, 1, 2, 9), "IMPOSSIBLE"),  # 2 = 1 + 1; the own weight does not count
        ((1, 3), (1, 9, 1, 1.5, 9), "PENDING"),
        ((1, 3, 4), (3, 1, 2, 1, 3), "PENDING"),  # 4 < 5
    ],
)
def test_meeting_is_bumped_only_if_its_others_weigh_strictly_less(
    participants: tuple[int, ...], weights: tuple[float, ...] | None, status: SlotStatus
) -> None:
    old = Meeting(MeetingId(7), tuple(AgentId(agent) for agent in participants), 1)
    turn = SdMap(weights).act(seen(1, "..", new=[propose(0)], held={0: old}))
    assert words(turn) == [(0, ProposeReply(slot=Slot(0), status=status))]


def test_meeting_of_one_needs_no_word_and_moves_its_own_kind_without_one() -> None:
    trace = play(["B..", "..."], [(0,)])
    assert sent(trace) == []
    assert batches(trace) == {0: (0, book(1, 1))}
    # A meeting of agent 1 alone weighs nothing and makes way by itself.
    trace = play([".B", ".."], [(0, 1)], prior=[((1,), 0)])
    assert outcomes(trace) == ["scheduled"]
    assert batches(trace)[1] == (0, moved(2, 0, 1), book(1, 0))


def test_proposals_and_replies_leak_what_table_10_says() -> None:
    def lost(trace: Trace) -> list[float | None]:
        return [agent.vps for agent in score_game(trace).agents]

    # A proposal: 0.3 * 0.5 + 0.7 * 0.85 = 0.745, so 0.245; a reply: 0.5.
    walk = play(WALK_ROWS, [(0, 1, 2)])
    assert lost(walk) == pytest.approx([3 * 2 * 0.245, 3 * 0.5, 3 * 0.5])
    # First round: a proposal to two, a reply each. Second: the same of agent 1 to 3 and 4, then
    # agent 0 proposes a target to 1 and 2, who reply.
    rows = ["....", "....", "....", ".BBB", ".BBB"]
    repaired = play(rows, [(0, 1, 2), (1, 3, 4)], weights=(1, 1, 1, 5, 5))
    assert lost(repaired) == pytest.approx([0.98, 0.5 + 0.49 + 0.5, 0.5 + 0.5, 0.5, 0.5])
