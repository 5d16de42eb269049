"""Secure sum against games worked out by hand, against IMAP, and against curious readers."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest

from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.calendars import HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Announcement, Content, Decision, Message, PartialSum, Share
from calbench.domain.observations import Observation, Phase
from calbench.domain.randomness import stream
from calbench.domain.sharing import (
    MODULUS,
    added,
    encoded,
    infeasible_count,
    infeasible_mark,
    remainder,
    uniform,
)
from calbench.engine.drivers import replay, run
from calbench.engine.seating import team_of
from calbench.interface import play_game, score_game
from calbench.metrics.privacy.loss import round_beliefs
from calbench.protocols import secure_sum
from calbench.protocols.base import JUSTIFICATION
from calbench.protocols.costs import local_costs
from calbench.protocols.secure_sum import SecureSum
from calbench.scenarios.models import GREATEST_COST, Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import BatchApplied, DmSent, Event, Resolution, TurnStart
from calbench.traces.models import GameConfig, Limits, Trace
from calbench.traces.storage import trace_bytes
from calbench.verify import verify_trace
from tests.engine.scripts import book, move
from tests.factories import calendar, make_scenario
from tests.protocols.observations import message, observation

# The vectors, in shown costs, are
#   agent 0   100   0    1   none   0
#   agent 1     0  10    1     0  none
#   agent 2    10   1  none   10    0
# and their sums 110, 11, -, -, -: slot 1 wins.
ROWS = ["E3.E1B.", ".E2E1.B", "E2E1BE2."]
INF = infeasible_mark(3)
SHOWN = (0, 1, 10, 100, None)


def play(
    rows: list[str] = ROWS, order: tuple[int, ...] = (2, 0, 1), *, seed: int = 0, **limits: int
) -> Trace:
    scenario = make_scenario(rows, [order], seed=seed)
    return play_game(scenario, "secure-sum", limits=Limits.model_validate(limits))


def sent(trace: Trace) -> list[tuple[int, int, int, str]]:
    """Return (sweep, sender, recipient, kind) of every message."""
    return [
        (event.turn, event.from_agent, event.to_agents[0], event.content.kind)
        for event in messages(trace)
    ]


def messages(trace: Trace) -> list[DmSent]:
    return [event for event in trace.events if isinstance(event, DmSent)]


def to(agent: int, content: Content) -> DirectMessage:
    return DirectMessage(to=AgentId(agent), content=content)


def asked(agent: int, row: str, *said: Message, private_seed: int | None = 7) -> Turn:
    seen = observation(agent, row, messages=said)
    return SecureSum().act(seen._replace(private_seed=private_seed))


# ---------------------------------------------------------------- the flow


def test_secure_sum_takes_ten_messages_when_three_meet() -> None:
    assert sent(play()) == [
        (0, 2, 0, "share"),
        (0, 2, 1, "share"),
        (0, 0, 1, "share"),
        (0, 0, 2, "share"),
        (0, 1, 0, "share"),
        (0, 1, 2, "share"),
        (0, 1, 0, "partial_sum"),  # the last speaker has read all shares in its first turn
        (1, 2, 0, "partial_sum"),
        (1, 0, 1, "announcement"),
        (1, 0, 2, "announcement"),
    ]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_number_of_messages_follows_the_formula_whoever_speaks_first(count: int) -> None:
    rows = ["....."] * count
    for first in range(count):
        order = (first, *[agent for agent in range(count) if agent != first])
        trace = play(rows, order)
        assert len(messages(trace)) == count * (count - 1) + 2 * (count - 1)
        assert trace.metrics.rounds_scheduled == 1
        # The last speaker sends its sum at once, the others a sweep later: the initiator
        # waits one more if any of them speaks after it.
        turns = [event.turn for event in trace.events if isinstance(event, TurnStart)]
        assert max(turns) == (3 if order.index(0) < count - 2 else 2)


def test_participants_place_the_announced_slot_as_imap_does() -> None:
    trace = play()
    batches = {e.agent_id: e.actions for e in trace.events if isinstance(e, BatchApplied)}
    assert batches == {
        0: (book(1, 1),),
        1: (move(106, 1, 0, JUSTIFICATION), book(1, 1)),
        2: (move(112, 1, 4, JUSTIFICATION), book(1, 1)),
    }
    assert trace.final_state.messages_sent_by_agent == (4, 3, 3)


def test_partial_sum_holds_the_kept_share_and_all_read_ones() -> None:
    # Agent 1 has costs 0, 10, none; it has sent away 5 + 7 and read 1, 2, 3 and 4, 5, 6.
    said = [
        message(1, Share(values=(5, 5, 5)), 0),
        message(1, Share(values=(7, 7, 7)), 2),
        message(0, Share(values=(1, 2, 3)), 1),
        message(2, Share(values=(4, 5, 6)), 1),
    ]
    partial = PartialSum(values=(MODULUS - 7, 5, INF - 3))
    assert asked(1, ".E10B", *said) == Turn((to(0, partial),))
    assert asked(1, ".E10B", *said[:3]) == PASS
    assert asked(1, ".E10B", *said, message(1, partial, 0)) == PASS


def test_initiator_adds_up_and_takes_the_cheapest_slot_that_suits_all() -> None:
    # Without masks the vectors are plain: 0, 1, 1 and 0, 0, none and INF, 2, 0.
    zeros = Share(values=(0, 0, 0))
    said = [
        *(message(0, zeros, agent) for agent in (1, 2)),
        *(message(agent, zeros, 0) for agent in (1, 2)),
        message(1, PartialSum(values=(0, 0, INF)), 0),
        message(2, PartialSum(values=(INF, 2, 0)), 0),
    ]
    word = Announcement(slot=Slot(1))
    assert asked(0, ".E1E1", *said) == Turn((to(1, word), to(2, word)))
    assert asked(0, ".E1E1", *said[:-1]) == PASS
    assert asked(0, ".E1E1", *said, message(0, word, 1)) == PASS
    assert asked(0, ".BE1", *said) == PASS


def test_first_vector_of_each_participant_counts_and_no_outsiders_or_short_one() -> None:
    zeros = Share(values=(0, 0, 0))
    own = [message(1, zeros, agent) for agent in (0, 2)]
    said = [
        *own,
        message(0, zeros, 1),
        message(0, Share(values=(9, 9, 9)), 1),
        message(4, zeros, 1),
        message(2, Share(values=(0, 0)), 1),
    ]
    assert asked(1, "...", *said) == PASS
    turn = asked(1, "...", *said, message(2, Share(values=(-1, 0, 10**20)), 1))
    expected = PartialSum(values=(MODULUS - 1, 0, 10**20 % MODULUS))
    assert turn == Turn((to(0, expected),))


def test_no_partial_sum_follows_shares_that_the_cap_cut_short() -> None:
    trace = play(dm_cap=5)
    assert [kind for *_, kind in sent(trace)] == ["share"] * 5
    trace = play(dm_cap=9)
    assert [kind for *_, kind in sent(trace)][-1] == "announcement"
    placed: dict[int, int] = {
        e.agent_id: e.attempt for e in trace.events if isinstance(e, BatchApplied)
    }
    assert placed == {0: 0, 1: 0, 2: 1}


@pytest.mark.parametrize("max_turns", [1, 2, 3])
def test_only_what_was_read_counts_when_the_cap_cuts_the_talk(max_turns: int) -> None:
    trace = play(max_turns_per_round=max_turns)
    assert ("announcement" in [kind for *_, kind in sent(trace)]) == (max_turns > 1)
    placed: dict[int, int] = {
        e.agent_id: e.attempt for e in trace.events if isinstance(e, BatchApplied)
    }
    assert placed[0] == (0 if max_turns > 1 else 1)
    assert placed[1] == (0 if max_turns > 1 else 1)
    assert placed[2] == (0 if max_turns > 2 else 1)


def test_initiator_stays_silent_and_all_retry_as_imap_when_no_slot_suits_all() -> None:
    trace = play(["B.B..", ".BBE1B", "BBBB."])
    assert [kind for *_, kind in sent(trace)] == ["share"] * 6 + ["partial_sum"] * 2
    assert [e.actions for e in trace.events if isinstance(e, BatchApplied)] == [
        (book(1, 3),),
        (move(108, 3, 0, JUSTIFICATION), book(1, 3)),
    ]


def test_participant_follows_an_announcement_of_the_initiator_only() -> None:
    word = Announcement(slot=Slot(1))
    heard: list[tuple[Message, Turn]] = [
        (message(0, word, 1), Turn((book(1, 1),))),
        (message(2, word, 1), PASS),
        (message(0, Decision(slot=Slot(1)), 1), PASS),
        (Message(None, (AgentId(1),), "sealed", MeetingId(1), word), PASS),
        (replace(message(0, word, 1, meeting_id=7), meeting_id=MeetingId(1)), Turn((book(1, 1),))),
    ]
    for said, turn in heard:
        seen = observation(1, "...", phase=Phase.DECISION, messages=[said])
        assert SecureSum().act(seen) == turn
    late = observation(1, "...", phase=Phase.DECISION, earlier=[message(0, word, 1, meeting_id=7)])
    assert SecureSum().act(late) == PASS


def test_participant_says_nothing_without_chance_or_channel_or_company() -> None:
    assert asked(1, "...", private_seed=None) == PASS
    closed = observation(1, "...", channels=["all_agent_groupchat"])._replace(private_seed=7)
    assert SecureSum().act(closed) == PASS
    alone = Meeting(MeetingId(1), (AgentId(2),), 1)
    seen = observation(2, "BE1.", meeting=alone)._replace(private_seed=7)
    assert SecureSum().act(seen) == PASS
    assert SecureSum().act(seen._replace(phase=Phase.DECISION)) == Turn((book(1, 2),))
    for phase in Phase:
        hidden = observation(3, "...", phase=phase, meeting=HiddenMeeting(MeetingId(1), 1))
        assert SecureSum().act(hidden._replace(private_seed=7)) == PASS


# ---------------------------------------------------------------- the arithmetic


def test_modulus_is_a_prime_above_every_encoded_total() -> None:
    assert MODULUS < 2**40
    assert all(MODULUS % divisor for divisor in range(2, 2**20))
    for count in (1, 2, 3, 50, 1048):
        mark = infeasible_mark(count)
        assert count * GREATEST_COST < mark
        assert count * mark < MODULUS


def test_infeasible_slots_are_counted_and_costs_kept_apart() -> None:
    for vector in product(SHOWN, repeat=3):
        (total,) = added([encoded((cost,), 3) for cost in vector], MODULUS)
        assert infeasible_count(total, 3) == vector.count(None)
        assert total % INF == sum(cost for cost in vector if cost is not None)


def test_cost_is_encoded_as_infeasible_when_so_many_could_reach_the_mark() -> None:
    greatest = (INF - 1) // 3
    assert encoded((greatest, greatest + 1, 0), 3) == (greatest, INF, 0)


def test_shares_reconstruct_the_vectors() -> None:
    trace = play()
    vectors = [
        encoded(local_costs(calendar(shown)), 3)
        for shown in ("E100.E1B.", ".E10E1.B", "E10E1BE10.")
    ]
    shares: dict[tuple[int, int], tuple[int, ...]] = {
        (event.from_agent, event.to_agents[0]): event.content.values
        for event in messages(trace)
        if isinstance(event.content, Share)
    }
    sums: dict[int, tuple[int, ...]] = {
        event.from_agent: event.content.values
        for event in messages(trace)
        if isinstance(event.content, PartialSum)
    }
    kept = [
        remainder(vector, [shares[agent, other] for other in range(3) if other != agent], MODULUS)
        for agent, vector in enumerate(map(tuple, vectors))
    ]
    for agent in range(3):
        given = [shares[agent, other] for other in range(3) if other != agent]
        assert added([kept[agent], *given], MODULUS) == vectors[agent]
        if agent:
            read = [shares[other, agent] for other in range(3) if other != agent]
            assert sums[agent] == added([kept[agent], *read], MODULUS)


def test_draws_cover_the_residues_evenly() -> None:
    values = uniform(stream(1, "test"), 20_000)
    assert 0 <= min(values) <= max(values) < MODULUS
    counts = Counter(value * 10 // MODULUS for value in values)
    assert all(abs(counts[tenth] - 2000) < 200 for tenth in range(10))
    assert len({value & 1023 for value in values}) == 1024


# ---------------------------------------------------------------- each agent's own chance


class Note:
    """Plays secure sum and notes what it sees."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def act(self, seen: Observation) -> Turn:
        self.seen.append(seen)
        return SecureSum().act(seen)


def noted(scenario: Scenario, *, private: bool = True) -> list[Note]:
    team = team_of("secure-sum" if private else "imap")
    notes = [Note() for _ in range(scenario.num_agents)]
    run(scenario, GameConfig(team=team, channels=("dm",), limits=Limits()), notes)
    return notes


def test_private_seed_stands_in_its_agents_observations_and_nowhere_else() -> None:
    scenario = drawn(1)
    notes = noted(scenario)
    owner_by_seed = {
        seen.private_seed: (seen.agent_id, seen.round_index) for note in notes for seen in note.seen
    }
    assert None not in owner_by_seed
    assert scenario.seed not in owner_by_seed
    places = {(seen.agent_id, seen.round_index) for note in notes for seen in note.seen}
    assert len(owner_by_seed) == len(places)
    for note in notes:
        for seen in note.seen:
            assert owner_by_seed[seen.private_seed] == (seen.agent_id, seen.round_index)
            others = [str(seed) for seed in owner_by_seed if seed != seen.private_seed]
            assert not any(seed in repr(seen) for seed in others)
    text = trace_bytes(play_game(scenario, "secure-sum")).decode()
    assert not any(str(seed) in text for seed in owner_by_seed)


def test_seat_that_does_not_ask_gets_no_chance() -> None:
    assert {seen.private_seed for note in noted(drawn(1), private=False) for seen in note.seen} == {
        None
    }


def test_shares_change_with_the_scenarios_seed_and_nothing_else_does() -> None:
    one, other = play(seed=1), play(seed=2)
    assert messages(one) != messages(other)
    assert sent(one) == sent(other)
    assert one.final_state == other.final_state


# ---------------------------------------------------------------- against IMAP


def drawn(seed: int, **changes: int) -> Scenario:
    """Draw a scenario of 4 to 6 agents, meetings of 2 to 4, prior meetings, costs of all levels."""
    chance = stream(seed, "test scenario")
    parameters = {
        "num_agents": 4 + chance.below(3),
        "num_slots": 7 + chance.below(10),
        "num_meetings": 5,
        "participants_per_meeting": 2 + chance.below(3),
        "num_prior_meetings": chance.below(3),
        "pref_level": 1 + chance.below(3),
        "density": chance.choice((0.3, 0.75, 0.9)),
        "blocked": chance.choice((0, 2, 4)),
    }
    return sample_scenario(
        ScenarioParameters.model_validate({**parameters, **changes}),
        seed=seed,
        scenario_id="drawn-000",
        setting="drawn",
    )


def matches_imap(scenarios: Iterator[Scenario], limits: Limits | None = None) -> None:
    for scenario in scenarios:
        trace = play_game(scenario, "secure-sum", limits=limits)
        imap = play_game(scenario, "imap", limits=limits)
        assert played(trace) == played(imap)
        count = len(scenario.meetings[0].participants)
        assert len(messages(trace)) <= 5 * (count * (count - 1) + 2 * (count - 1))


def played(trace: Trace) -> tuple[object, ...]:
    kept: list[Event] = [e for e in trace.events if isinstance(e, BatchApplied | Resolution)]
    return (trace.final_state.calendars, trace.final_state.cost_by_agent, kept)


def test_secure_sum_plays_imaps_game() -> None:
    matches_imap(drawn(seed) for seed in range(100))


@pytest.mark.slow
def test_secure_sum_plays_imaps_game_in_thousands_of_scenarios() -> None:
    matches_imap(drawn(seed) for seed in range(100, 5000))


def stays_consistent(team: str, seeds: range) -> None:
    for seed in seeds:
        for cap in (1, 2, 3, 4, 5, 6, 8, 15):
            limits = Limits(max_turns_per_round=cap)
            trace = play_game(drawn(seed), team, limits=limits)
            for event in trace.events:
                if isinstance(event, Resolution):
                    assert event.broken_meetings == ()
                    assert event.outcome != "earlier_meeting_broken"


@pytest.mark.parametrize("team", ["mediator", "secure-sum"])
def test_no_earlier_meeting_is_ever_left_inconsistent(team: str) -> None:
    stays_consistent(team, range(25))


@pytest.mark.slow
@pytest.mark.parametrize("team", ["mediator", "secure-sum"])
def test_no_earlier_meeting_is_ever_left_inconsistent_in_thousands_of_games(team: str) -> None:
    stays_consistent(team, range(25, 525))


def test_replay_gives_the_same_bytes_and_the_trace_verifies() -> None:
    for seed in range(20):
        trace = play_game(drawn(seed), "secure-sum")
        assert trace_bytes(replay(trace)) == trace_bytes(trace)
    verify_trace(trace)


# ---------------------------------------------------------------- what a curious reader learns

Views = dict[int, tuple[int, ...]]
"""What each participant reads before the announcement: shares by sender, then partial sums."""

Flow = Callable[[tuple[int, ...], tuple[tuple[int, ...], ...], int], Views]


def by_arithmetic(
    secrets: tuple[int, ...], masks: tuple[tuple[int, ...], ...], modulus: int
) -> Views:
    """Let numbers flow as the protocol has it; ``masks`` are what each sends, by recipient."""
    agents = range(len(secrets))
    given = {
        (sender, recipient): mask
        for sender in agents
        for recipient, mask in zip((a for a in agents if a != sender), masks[sender], strict=True)
    }
    views: Views = {}
    sums: list[int] = []
    for agent in agents:
        read = [given[sender, agent] for sender in agents if sender != agent]
        (kept,) = remainder((secrets[agent],), [(mask,) for mask in masks[agent]], modulus)
        (total,) = added([(kept,), *((share,) for share in read)], modulus)
        views[agent] = tuple(read)
        sums.append(total)
    views[0] += tuple(sums[1:])
    return views


def by_playing(secrets: tuple[int, ...], masks: tuple[tuple[int, ...], ...], modulus: int) -> Views:
    """Let the policy play in a game; slot 0 is free or an errand as the secret says."""
    rows = [".." if secret == 0 else "E1." for secret in secrets]
    drawn_masks = iter([mask for agent in reversed(range(len(masks))) for mask in masks[agent]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secure_sum, "MODULUS", modulus)
        patch.setattr(secure_sum, "encoded", lambda costs, _: tuple(costs))
        patch.setattr(secure_sum, "infeasible_count", lambda *_: 0)
        patch.setattr(secure_sum, "uniform", lambda *_: (next(drawn_masks), 0))
        trace = play(rows, tuple(reversed(range(len(rows)))))
    views: dict[int, list[tuple[str, int, int]]] = {agent: [] for agent in range(len(rows))}
    for event in messages(trace):
        if isinstance(event.content, Share | PartialSum):
            is_sum = event.content.kind == "partial_sum"
            read = ("2" if is_sum else "1", int(event.from_agent), event.content.values[0])
            views[event.to_agents[0]].append(read)
    return {agent: tuple(value for *_, value in sorted(view)) for agent, view in views.items()}


def reveals_nothing_but_totals(flow: Flow, modulus: int, count: int) -> None:
    """Enumerate all secrets and all masks.

    Fix what an agent has itself, its secret and its masks. Whoever does not initiate must
    see the same distribution whatever the others' secrets are; the initiator the same for
    all secrets of the others with the same total.
    """
    secrets_of_all = list(product(range(modulus), repeat=count))
    masks_of_one = list(product(range(modulus), repeat=count - 1))
    seen: dict[tuple[object, ...], dict[tuple[int, ...], Counter[tuple[int, ...]]]] = {}
    for masks in product(masks_of_one, repeat=count):
        for secrets in secrets_of_all:
            views = flow(secrets, masks, modulus)
            for agent in range(count):
                others = tuple(s for a, s in enumerate(secrets) if a != agent)
                total = sum(others) % modulus if agent == 0 else None
                known = (agent, secrets[agent], masks[agent], total)
                counter = seen.setdefault(known, {}).setdefault(others, Counter())
                counter[views[agent]] += 1
    for by_secrets in seen.values():
        first, *rest = by_secrets.values()
        assert all(counter == first for counter in rest)
    compared = Counter(len(by_secrets) for by_secrets in seen.values())
    assert set(compared) == {modulus ** (count - 1), modulus ** (count - 2)}


@pytest.mark.parametrize(("modulus", "count"), [(2, 2), (5, 2), (2, 3), (3, 3)])
def test_shares_tell_nothing_of_a_vector_but_what_the_total_tells(modulus: int, count: int) -> None:
    reveals_nothing_but_totals(by_arithmetic, modulus, count)


@pytest.mark.slow
def test_shares_tell_nothing_of_a_vector_when_four_meet() -> None:
    reveals_nothing_but_totals(by_arithmetic, 2, 4)


@pytest.mark.parametrize("count", [2, 3])
def test_policy_tells_nothing_of_a_vector_but_what_the_total_tells(count: int) -> None:
    reveals_nothing_but_totals(by_playing, 2, count)


def test_shares_of_all_masks_are_uniform_whatever_the_secret() -> None:
    for secret in range(5):
        masks = list(product(range(5), repeat=2))
        kept = [remainder((secret,), [(a,), (b,)], 5)[0] for a, b in masks]
        triples = [(a, b, c) for (a, b), c in zip(masks, kept, strict=True)]
        for pair in combinations(range(3), 2):
            counts = Counter(tuple(triple[place] for place in pair) for triple in triples)
            assert set(counts.values()) == {1}
            assert len(counts) == 25


@pytest.mark.parametrize("others", [1, 2, 3])
def test_posterior_given_the_total_is_the_share_of_the_feasible(others: int) -> None:
    count = others + 1
    by_total: dict[int, list[tuple[int | None, ...]]] = {}
    for vector in product(SHOWN, repeat=others):
        (total,) = added([encoded((cost,), count) for cost in vector], MODULUS)
        by_total.setdefault(total, []).append(vector)
    for total, vectors in by_total.items():
        infeasible = infeasible_count(total, count)
        for target in range(others):
            feasible = sum(vector[target] is not None for vector in vectors)
            assert Fraction(feasible, len(vectors)) == Fraction(others - infeasible, others)


def test_two_shown_costs_can_be_read_from_their_sum() -> None:
    pairs = {frozenset((a, b)) for a in SHOWN for b in SHOWN}
    totals = {
        added([encoded((cost,), 3) for cost in (a, b)], MODULUS) for a in SHOWN for b in SHOWN
    }
    assert len(pairs) == len(totals) == 15


# ---------------------------------------------------------------- privacy loss


def test_initiator_learns_shares_of_the_feasible_with_the_last_partial_sum() -> None:
    trace = play()
    (last,) = [
        index
        for index, event in enumerate(trace.events)
        if isinstance(event, DmSent) and (event.turn, event.content.kind) == (1, "partial_sum")
    ]
    (beliefs,) = round_beliefs(trace)
    sums = [change for change in beliefs.changes if change.source == "partial_sum"]
    assert {change.event_index for change in sums} == {last}
    assert {change.observer for change in sums} == {0}
    # Infeasible among agents 1 and 2, by slot: none, none, one, none, one.
    for target in (1, 2):
        told = [change.after for change in sums if change.target == target]
        assert told == [1.0, 1.0, 0.5, 1.0, 0.5]


def test_announcement_vouches_for_all_to_those_who_hear_it() -> None:
    score = score_game(play())
    # The initiator learns three slots about each other; agents 1 and 2 slot 1 of two others.
    assert [agent.vps for agent in score.agents] == [1.0, 2.0, 2.0]
    assert {(share.source, share.vps) for share in score.vps_shares} == {
        ("partial_sum", 3.0),
        ("announcement", 2.0),
    }


def test_initiator_learns_everything_when_two_meet() -> None:
    score = score_game(play([".BE1.", "BBE1."], (0, 1)))
    imap = score_game(play_game(make_scenario([".BE1.", "BBE1."], [(0, 1)]), "imap"))
    assert [agent.vps for agent in score.agents] == [agent.vps for agent in imap.agents] == [0.5, 2]


def test_nothing_is_learned_from_a_sum_that_lacks_a_part() -> None:
    for cap in (1, 5, 7):
        assert [agent.vps for agent in score_game(play(dm_cap=cap)).agents] == [0, 0, 0]


def test_belief_follows_from_the_calendars_in_drawn_games() -> None:
    for seed in range(30):
        scenario = drawn(seed)
        trace = play_game(scenario, "secure-sum")
        first = next(iter(round_beliefs(trace)))
        vectors = [local_costs(shown) for shown in scenario.shown_calendars]
        initiator, *others = sorted(first.participants)
        infeasible = [
            sum(vectors[other][slot] is None for other in others)
            for slot in range(scenario.num_slots)
        ]
        for other in others:
            told = [
                change.after
                for change in first.changes
                if change.source == "partial_sum" and change.target == other
            ]
            assert told == [(len(others) - c) / len(others) for c in infeasible]
            assert (other, initiator) in first.beliefs
