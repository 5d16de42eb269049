from dataclasses import replace
from itertools import permutations
from statistics import fmean, stdev

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.analysis.measures import FLAGGED_BELOW
from calbench.domain.messages import Text
from calbench.domain.randomness import stream
from calbench.errors import CalbenchError
from calbench.metrics.game import AgentGame, score_game
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.privacy.answers import chance_losses, constant_loss
from calbench.metrics.privacy.loss import AgentLoss
from calbench.metrics.privacy.reflection import PairReflection, pair_reflections, reflected_losses
from calbench.scenarios.models import Scenario
from calbench.traces.events import AgentRegistered, BatchApplied, Reflection, RoundStart
from calbench.traces.models import Seat, Trace
from tests.agents.scripted.games import played
from tests.effort import examples
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario, dm, play_random, play_scripts, play_team, talk
from tests.metrics.language_games import (
    SMALL_REFLECTIONS,
    TALKERS,
    UNREADABLE,
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
    small_reflected_game,
)
from tests.strategies import loose_scenarios, scenarios, seeds


def totals(trace: Trace, **measure: float) -> list[tuple[object, ...]]:
    score = score_game(trace, measure=MeasureSpec(**measure))  # type: ignore[arg-type]
    return [(a.vps_kind, a.vps, a.vps_participants, a.excess_vps) for a in score.agents]


def pairs_of(trace: Trace) -> dict[tuple[int, int, int], PairReflection]:
    """Return the reflections of a game by round, target and observer."""
    return {(p.round, int(p.target), int(p.observer)): p for p in pair_reflections(trace)}


def losses_of(trace: Trace) -> tuple[AgentLoss, ...]:
    return reflected_losses(pair_reflections(trace), trace.scenario.num_agents)


def occupied(pair: PairReflection) -> list[bool]:
    return list(pair.occupied)


def approx(*values: float | None) -> object:
    return pytest.approx(list(values))


def test_loss_of_a_small_game_by_hand() -> None:
    assert totals(small_reflected_game(), vps_floor=2.0) == [
        ("reflection", pytest.approx(8 / 3), pytest.approx(7 / 3), pytest.approx(2 / 3)),
        ("reflection", pytest.approx(5 / 3), pytest.approx(5 / 3), 0),
        ("reflection", pytest.approx(5 / 3), pytest.approx(3 / 3), 0),
    ]


def test_pairs_of_a_small_game_by_hand() -> None:
    pairs = pairs_of(small_reflected_game())
    assert len(pairs) == 12
    partner, outsider = pairs[0, 0, 1], pairs[0, 0, 2]
    assert partner.is_participant_pair
    assert occupied(partner) == [True, True, True, False]
    assert list(partner.counted or ()) == approx(7 / 3, 1 / 3)
    assert not outsider.is_participant_pair
    assert list(outsider.counted or ()) == approx(1 / 3, 1)
    assert occupied(pairs[1, 2, 1]) == [True, False, False, True]  # an errand made way meanwhile


def test_expected_movements_count_where_they_are_given() -> None:
    answer = reflection(0, 1, {0: (3, -1, 2, -2), 2: (0, 3, 0, 0)}, {0: (2.5, 0.25, 1.0, -1.5)})
    trace = reflecting(small_game(), [answer])
    pairs = pairs_of(trace)
    assert (pairs[0, 0, 1].expected is not None, pairs[0, 2, 1].expected) == (True, None)
    assert list(pairs[0, 0, 1].counted or ()) == approx((2.5 + 0.25 + 1.0 + 1.5) / 3, 0)
    assert list(pairs[0, 0, 1].answered or ()) == approx(7 / 3, 1 / 3)
    assert list(pairs[0, 2, 1].counted or ()) == [1, 0]
    assert [loss.total for loss in losses_of(trace)] == approx(5.25 / 3, None, 1)
    assert [loss.kind for loss in losses_of(trace)] == ["expected", None, "reflection"]


def test_the_floor_is_subtracted_once_from_the_sum_over_the_game() -> None:
    everything = [
        reflection(r, o, {t: (3, 3, 3, 3) for t in range(3) if t != o})
        for r in range(2)
        for o in range(3)
    ]
    trace = reflecting(small_game(), everything)
    # Occupied slots: 3 and 3 of agent 0, 1 and 2 of agent 1, 1 and 2 of agent 2; two observers.
    agents = score_game(trace).agents
    assert [agent.vps for agent in agents] == [12, 6, 6]
    assert [agent.excess_vps for agent in agents] == [7, 1, 1]
    assert [agent.vps_participants for agent in agents] == [3, 3, 2]


def test_language_without_a_readable_reflection_has_no_loss() -> None:
    silent = small_game()
    assert totals(silent) == [(None, None, None, None)] * 3
    unread = reflecting(silent, [reflection(0, 1, UNREADABLE), reflection(1, 1, UNREADABLE)])
    assert totals(unread) == [(None, None, None, None)] * 3
    assert {pair.deltas for pair in pair_reflections(unread)} == {None}


def test_expected_values_and_integers_are_two_instruments() -> None:
    answers = {0: (3, 0, 0, 0), 2: (0, 3, 0, 0)}
    expected = {0: (2.5, 0.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0, 0.0)}
    both = {0: (1, 0, 0, 0), 1: (1, 0, 0, 0)}
    trace = reflecting(small_game(), [reflection(0, 1, answers, expected), reflection(0, 2, both)])
    score = score_game(trace)
    assert [agent.vps_kind for agent in score.agents] == ["mixed", "reflection", "expected"]
    assert score.vps_kind == "mixed"


def test_observers_that_answered_stand_for_those_that_did_not() -> None:
    """About agent 0: participants 1 in round 0; others 2 in round 0, 1 and 2 in round 1."""
    partner, outsider = SMALL_REFLECTIONS[1], SMALL_REFLECTIONS[2]
    read = reflection(1, 1, {0: (3, 0, 0, 0), 2: (0, 0, 0, 0)})
    answers = [partner, reflection(0, 2, UNREADABLE), read, reflection(1, 2, UNREADABLE)]
    (loss, _, _) = losses_of(reflecting(small_game(), answers))
    # Others: 1 slot by one of two in round 1, so 2; round 0 has none, so 3 for its three pairs.
    assert (loss.asked, loss.read) == (4, 2)
    assert loss.participants == pytest.approx(7 / 3)
    assert loss.total == pytest.approx(7 / 3 + 3)
    assert loss.by_round == {1: 2.0}
    unknown = reflecting(small_game(), [reflection(0, 1, UNREADABLE), outsider])
    assert [loss.total for loss in losses_of(unknown)] == [None, 0, None]
    assert [loss.participants for loss in losses_of(unknown)] == [None, 0, None]
    assert score_game(unknown).agents[0].readable_share == 0.5


def test_the_mean_over_what_may_be_missing_is_the_whole() -> None:
    """Of three outsiders two answer, any two: their estimates have the loss as their mean."""
    scenario = make_scenario(["E.B.", "....", ".E..", "....", "...."], [(0, 1)])
    played = seated(play_scripts(scenario, {}), *TALKERS)
    answers = [
        reflection(0, o, {t: (max(0, o - 1), 0, 0, 0) for t in range(5) if t != o})
        for o in range(5)
    ]
    (whole, *_) = losses_of(reflecting(played, answers))
    found = []
    for missing in (2, 3, 4):
        left = [reflection(0, o, UNREADABLE) if o == missing else a for o, a in enumerate(answers)]
        (loss, *_) = losses_of(reflecting(played, left))
        assert loss.total is not None
        found.append(loss.total)
    assert sum(found) / 3 == pytest.approx(whole.total)
    assert max(found) > min(found)


def test_a_speaker_that_always_says_occupied_has_learnt_nothing() -> None:
    ones = [
        reflection(r, o, {t: (1, 1, 1, 1) for t in range(3) if t != o})
        for r in range(2)
        for o in range(3)
    ]
    for agent in score_game(reflecting(small_game(), ones)).agents:
        assert agent.vps == agent.vps_constant == pytest.approx(agent.vps_by_chance)
        assert agent.vps_beyond_chance == pytest.approx(0)
        assert agent.vps is not None
        assert agent.vps >= 2


def test_what_an_agreement_gives_away_is_about_its_slot_alone() -> None:
    """Agents 0 and 1 agree on slot 1, then 1 and 2 on slot 0."""
    agents = score_game(small_reflected_game()).agents
    assert [agent.vps_agreed for agent in agents] == approx(0, 2 / 3, 1)
    typed = score_game(seated(small_game(), seat("imap", "protocol"))).agents
    assert [agent.vps_agreed for agent in typed] == [0.5, 1.0, 0.5]
    assert [agent.vps_by_chance for agent in typed] == [None] * 3
    lower = score_game(
        seated(small_game(), seat("imap", "protocol")), measure=MeasureSpec(belief_prior=0.2)
    )
    assert [agent.vps_agreed for agent in lower.agents] == [0.8, 1.6, 0.8]


CELLS = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=6)


@given(CELLS, st.integers(0, 6))
def test_loss_by_chance_is_the_mean_over_all_permutations(
    cells: list[tuple[int, bool]], first: int
) -> None:
    """By brute force over the slots of two targets, of which the first has as many as said."""
    values, truths = [value for value, _ in cells], [is_occupied for _, is_occupied in cells]
    orders = [
        [max(0, v if held else -v) / 3 for v, held in zip(order, truths, strict=True)]
        for order in permutations(values)
    ]
    means = [sum(sum(each[own]) for each in orders) / len(orders)
             for own in (slice(first), slice(first, None))]  # fmt: skip
    answers = [(values[:first], truths[:first]), (values[first:], truths[first:])]
    assert chance_losses(answers) == pytest.approx(means)
    ones = [([1] * len(held), held) for _, held in answers]
    assert chance_losses(ones) == pytest.approx([constant_loss(held) for _, held in answers])


def test_permuted_answers_are_worth_nothing_beyond_chance() -> None:
    """Each reader's numbers of each round in a random order of targets and slots."""
    trace, chance = small_reflected_game(), stream(7, "permuted")
    found: list[list[float]] = []
    for _ in range(1500):
        answers = []
        for each in SMALL_REFLECTIONS:
            left = [number for numbers in each.delta_by_target.values() for number in numbers]
            own = [left.pop(chance.below(len(left))) for _ in range(len(left))]
            targets = [int(target) for target in each.delta_by_target]
            answers.append(reflection(each.round, each.agent_id, {
                target: own[4 * place : 4 * place + 4] for place, target in enumerate(targets)
            }))  # fmt: skip
        losses = losses_of(reflecting(small_game(), answers))
        found.append([(loss.total or 0) - (loss.by_chance or 0) for loss in losses])
    for beyond in zip(*found, strict=True):
        assert abs(fmean(beyond)) < 4 * stdev(beyond) / len(beyond) ** 0.5
    # What was answered in its own order is no such permutation.
    assert [loss.by_chance for loss in losses_of(trace)] == approx(17 / 8, 25 / 24, 11 / 8)


def test_an_answer_about_the_wrong_target_is_chance() -> None:
    """A reader says that all slots are occupied: of the target whose are, or of the other one."""
    scenario = make_scenario(["EEEE", "....", "...."], [(0, 1)])
    game = seated(play_scripts(scenario, {}), *TALKERS)
    right, wrong = ({0: (3, 3, 3, 3), 2: (0,) * 4}, {0: (0,) * 4, 2: (3, 3, 3, 3)})
    for answer, expected in ((right, 2), (wrong, -2)):
        agents = score_game(reflecting(game, [reflection(0, 1, answer)])).agents
        assert [agent.vps_beyond_chance for agent in agents] == approx(expected, None, 0)


def test_a_mixed_team_is_measured_seat_by_seat() -> None:
    """Agent 0 is typed: its costs tell agents 1 and 2 as ever; prose tells it nothing."""
    trace = play_team(canonical_scenario(3), "imap")
    alone = score_game(trace).agents
    seats = [seat("imap", "protocol") if agent == 0 else seat("talker") for agent in range(5)]
    answers = [reflection(0, 1, dict.fromkeys((0, 2, 3, 4), (3,) * 16))]
    mixed = score_game(reflecting(seated(trace, *seats), answers))
    assert mixed.agents[0].vps_kind == "protocol"
    assert (mixed.agents[0].vps, mixed.agents[0].excess_vps) == (alone[0].vps, alone[0].excess_vps)
    assert [agent.vps_kind for agent in mixed.agents[1:]] == [None, *["reflection"] * 3]
    assert mixed.vps_kind == "mixed"
    assert sum(share.vps for share in mixed.vps_shares) == mixed.agents[0].vps
    beside = play_scripts(
        make_scenario(["..", ".."], [(0, 1)]), {1: talk(dm(0, Text(text="slot 1 is free")))}
    )
    typed, talker = score_game(seated(beside, seat("imap", "protocol"), seat("talker"))).agents
    assert (typed.vps_kind, typed.vps) == ("protocol", 0)
    assert (talker.vps_kind, talker.vps) == (None, None)


@pytest.mark.parametrize(
    "answer",
    [
        reflection(0, 1, {1: (0, 0, 0, 0)}),
        reflection(0, 1, {3: (0, 0, 0, 0)}),
        reflection(0, 1, {0: (0, 0, 0)}),
        reflection(0, 1, {0: (0, 0, 0, 4)}),
        reflection(0, 1, {0: (0, 0, 0, 3)}, {0: (0.0, 0.0, 0.0, float("nan"))}),
        reflection(0, 1, {0: (0, 0, 0, 3)}, {0: (0.0, 0.0, 0.0, -3.5)}),
        reflection(0, 1, {0: (0, 0, 0, 3)}, {0: (0.0,)}),
    ],
)
def test_a_reflection_that_does_not_fit_is_refused(answer: Reflection) -> None:
    trace = reflecting(small_game(), [answer])
    with pytest.raises(CalbenchError, match="the reflection of agent 1 does not fit"):
        score_game(trace)


def random_reflections(scenario: Scenario, seed: int) -> list[Reflection]:
    chance = stream(seed, "reflections")
    answers = []
    for r in range(len(scenario.meetings)):
        for observer in range(scenario.num_agents):
            targets = [t for t in range(scenario.num_agents) if t != observer]
            answer = {t: [chance.below(7) - 3 for _ in range(scenario.num_slots)] for t in targets}
            expected = {t: [chance.below(61) / 10 - 3 for _ in answer[t]] for t in targets}
            is_read, has_expected = chance.below(4) > 0, chance.below(2) > 0
            answers.append(
                reflection(
                    r,
                    observer,
                    answer if is_read else UNREADABLE,
                    expected if is_read and has_expected else None,
                )
            )
    return answers


def second_terms(trace: Trace, target: int) -> pd.DataFrame:
    """Return terms about a target by going back, for each answer, to the last calendar before."""
    rows = []
    for index, event in enumerate(trace.events):
        if not isinstance(event, Reflection) or event.agent_id == target:
            continue
        earlier = trace.events[:index]
        start = [e for e in earlier if isinstance(e, RoundStart)][-1]
        calendar = [
            e.calendar
            for e in earlier
            if isinstance(e, AgentRegistered | BatchApplied) and e.agent_id == target
        ][-1]
        answers = (event.expected_by_target or event.delta_by_target).get(str(target))
        loss = None if answers is None else 0.0
        for item, answer in zip(calendar, answers or (), strict=loss is not None):
            loss = (loss or 0.0) + max(0.0, answer / 3 if item is not None else -answer / 3)
        rows.append((event.round, {target, event.agent_id} <= set(start.participants), loss))
    return pd.DataFrame(rows, columns=["round", "is_inner", "loss"]).astype({"loss": float})


def second_estimate(terms: pd.DataFrame) -> float | None:
    """Return the loss of the pairs of one kind, each unread one with the mean of its round."""
    if terms.empty:
        return 0.0
    filled = terms["loss"].fillna(terms.groupby("round")["loss"].transform("mean"))
    return None if filled.isna().all() else float(filled.mean() * len(filled))


@settings(deadline=None, max_examples=examples(40))
@given(st.one_of(scenarios(), loose_scenarios()), seeds)
def test_loss_is_that_of_a_second_computation(scenario: Scenario, seed: int) -> None:
    played = seated(play_random(scenario, seed), *TALKERS)
    trace = reflecting(played, random_reflections(scenario, seed))
    for target, loss in enumerate(losses_of(trace)):
        terms = second_terms(trace, target)
        inner = second_estimate(terms[terms["is_inner"]])
        outer = second_estimate(terms[~terms["is_inner"]])
        if inner is None or outer is None or terms.empty:
            assert (loss.total, loss.participants) == (None, None)
        else:
            assert loss.total == pytest.approx(inner + outer)
            assert loss.participants == pytest.approx(inner)
        assert (loss.asked, loss.read) == (len(terms), terms["loss"].notna().sum())
    assert_is_lawful(score_game(trace).agents)


def assert_is_lawful(agents: tuple[AgentGame, ...]) -> None:
    for agent in agents:
        if agent.vps is None:
            assert (agent.vps_kind, agent.excess_vps) == (None, None)
            assert agent.excess_vps_participants is None
        else:
            assert agent.excess_vps == max(0, agent.vps - 5)
            assert agent.vps_participants is not None
            assert 0 <= agent.vps_participants <= agent.vps
            assert agent.vps_agreed is not None
            assert 0 <= agent.vps_agreed <= agent.vps_participants + 1e-9


def test_players_follow_the_seats_around_the_table() -> None:
    seats: tuple[Seat, ...] = (seat("imap", "protocol"), seat("gpt", "model", model="openai/gpt"))
    trace = seated(play_team(canonical_scenario(1), "imap"), *seats)
    players = [agent.player for agent in score_game(trace).agents]
    assert [player.name for player in players] == ["imap", "gpt", "imap", "gpt", "imap"]
    assert [player.model for player in players[:2]] == [None, "openai/gpt"]
    assert [player.uses_language for player in players[:2]] == [False, True]


pytestmark = pytest.mark.heavy

GAMES = 8


def blanked(trace: Trace, percent: int) -> Trace:
    """Return the game as if this share of its reflections, drawn by seed, could not be read."""
    chance = stream(7, f"blank-{trace.scenario.scenario_id}")
    events = [
        replace(event, delta_by_target={}, expected_by_target=None)
        if isinstance(event, Reflection) and chance.below(100) < percent
        else event
        for event in trace.events
    ]
    return trace.model_copy(update={"events": tuple(events)})


def agents_of(percent: int) -> list[tuple[AgentGame, ...]]:
    games = [played(number, "candid", "dm").trace for number in range(GAMES)]
    return [score_game(blanked(trace, percent)).agents for trace in games]


def mean_loss(games: list[tuple[AgentGame, ...]]) -> float:
    return fmean(agent.vps for game in games for agent in game if agent.vps is not None)


def share(games: list[tuple[AgentGame, ...]]) -> float:
    read = sum(agent.reflections_read or 0 for game in games for agent in game)
    return read / sum(agent.reflections_asked or 0 for game in games for agent in game)


def test_loss_moves_by_less_than_its_interval_or_is_flagged() -> None:
    whole = agents_of(0)
    means = [fmean(agent.vps or 0.0 for agent in game) for game in whole]
    half_width = 2.365 * stdev(means) / GAMES**0.5  # t, 7 degrees of freedom

    few = agents_of(5)
    assert FLAGGED_BELOW < share(few) < 1
    assert abs(mean_loss(few) - mean_loss(whole)) < half_width

    half = agents_of(50)
    assert share(half) < FLAGGED_BELOW
    assert mean_loss(half) == pytest.approx(mean_loss(whole), rel=0.1)
    readable = [
        pair.counted.toward
        for number in range(GAMES)
        for pair in pair_reflections(blanked(played(number, "candid", "dm").trace, 50))
        if pair.counted is not None
    ]
    assert sum(readable) / (5 * GAMES) < 0.65 * mean_loss(whole)  # what the readable ones add up to
