"""Secure sum against curious readers: what its numbers tell, and what that is worth."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import pytest

from calbench import play_game, score_game
from calbench.domain.messages import PartialSum, Share
from calbench.domain.sharing import MODULUS, added, encoded, infeasible_count, remainder
from calbench.metrics.privacy.loss import round_beliefs
from calbench.protocols import secure_sum
from calbench.protocols.costs import local_costs
from tests.factories import make_scenario
from tests.metrics.changes import changes_of
from tests.protocols.secure_sums import SHOWN, drawn, messages, play

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


def seen_by_secrets(flow: Flow, modulus: int, count: int) -> list[list[Counter[tuple[int, ...]]]]:
    """Return what an agent sees, counted over all masks, for each of the others' secrets.

    In a list for what it has itself: its secret and its masks, the initiator also the total. All
    secrets are enumerated. Nothing but the total is told where the counts of a list are the same.
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
    return [list(by_secrets.values()) for by_secrets in seen.values()]


@pytest.mark.parametrize(
    ("modulus", "count"),
    [(2, 2), (5, 2), (2, 3), (3, 3), pytest.param(2, 4, marks=pytest.mark.slow)],
)
def test_shares_tell_nothing_of_a_vector_but_what_the_total_tells(modulus: int, count: int) -> None:
    seen = seen_by_secrets(by_arithmetic, modulus, count)
    assert all(counts == each[0] for each in seen for counts in each)
    assert {len(each) for each in seen} == {modulus ** (count - 1), modulus ** (count - 2)}


@pytest.mark.heavy
@pytest.mark.parametrize("count", [2, 3])
def test_policy_tells_nothing_of_a_vector_but_what_the_total_tells(count: int) -> None:
    seen = seen_by_secrets(by_playing, 2, count)
    assert all(counts == each[0] for each in seen for counts in each)
    assert {len(each) for each in seen} == {2 ** (count - 1), 2 ** (count - 2)}


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
                for change in changes_of(first)
                if change.source == "partial_sum" and change.target == other
            ]
            assert told == [(len(others) - c) / len(others) for c in infeasible]
            assert (other, initiator) in first.beliefs
