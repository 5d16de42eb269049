"""Facts of games, their agents and their meetings, from the score of a game."""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from math import fsum
from operator import attrgetter
from typing import NamedTuple

from calbench.domain.canonical import digest
from calbench.domain.ids import ItemId
from calbench.facts.columns import columns, count, text
from calbench.facts.fact import Fact, Find, MeasuredGame, spaced
from calbench.metrics.authors import AuthorsScore, authors_score, excess_in_margins
from calbench.metrics.game import AgentGame
from calbench.metrics.outcomes import OUTCOMES, ROLES
from calbench.metrics.usage import PROBLEMS, ReplyCounts
from calbench.scenarios.difficulty import obstacles
from calbench.traces.models import PUBLISHED, Limits

FRACTION_DIGITS = 10
"""Decimals of feasible fractions, which can be very small [C]."""

MEASURED = "agents whose V was measured"
DIGEST = text("settings_digest", "of the settings that define the player")
RULES_DIGITS = 16
"""Hexadecimal digits of a digest of rules [C]: two of a run's are alike once in 10^18 pairs."""


def _sum_of_all(values: Iterable[float | None]) -> float | None:
    """Return a sum; unknown if a term is."""
    known = list(values)
    return None if None in known else fsum(value for value in known if value is not None)


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _over_agents(add: Find, name: str) -> Find:
    """Return what combines an attribute of a game's agents."""
    return lambda game: add([getattr(agent, name) for agent in game.score.agents])  # type: ignore[operator]


def _loss(name: str) -> Find:
    """Return what finds an attribute of the event that made the optimum unreachable, if any."""

    def find(game: MeasuredGame) -> object:
        loss = game.score.optimum.loss
        return None if loss is None else getattr(loss, name)

    return find


def _phase(game: MeasuredGame) -> str | None:
    loss = game.score.optimum.loss
    if loss is None:
        return None
    return "RESOLUTION" if loss.phase is None else loss.phase.value


def _before(game: MeasuredGame) -> int | None:
    return None if game.score.optimum.loss is None else game.score.optimum.optimum


def _obstacle(name: str) -> Find:
    """Return what finds a number of the scenario that any game on it has."""
    return lambda game: getattr(obstacles(game.trace.scenario.problem), name)


@lru_cache(maxsize=128)
def _named(limits: Limits) -> str:
    if limits == PUBLISHED:
        return "published"
    own = digest(limits.model_dump(mode="json"))[:RULES_DIGITS]
    return "text" if limits == Limits() else f"other {own}"


GAMES = Fact(
    "games",
    lambda game: [game],
    columns(f"""
    setting scenario_id team replicate game_id
    rules_digest (text): of its configuration without team and replicate
    tertile (text; P): difficulty by feasible fraction
    feasible_fraction (fine{FRACTION_DIGITS}; P): share of injective assignments that satisfy the
        calendars // S! / (S - M)! assignments
    is_excluded (truth; C): excluded games have no measures
    meetings (count, meetings; P): meetings of the scenario
    scheduled (count, meetings; P): of these, scheduled
    cost (count, accounting cost; P): paid by all agents
    oracle_cost (count, accounting cost; P): least cost of the scheduled meetings
    excess_cost (count, accounting cost; R, C): cost - oracle_cost; never negative
    messages (count, messages; P): sent by all agents
    message_bytes (count, bytes): length of their contents as JSON in UTF-8, without spaces or
        envelopes
    vps (precise, slot-equivalents; P): sum of V over all agents; empty unless all are known
    excess_vps (precise, slot-equivalents; P, R): mean of max(0, V - floor) // {MEASURED}
    excess_vps_participants (precise, slot-equivalents): the same over participant pairs //
        {MEASURED}
    vps_beyond_chance (precise, slot-equivalents): of reflections, mean of V beyond chance //
        {MEASURED}
    bits (number, bits): what was learnt of all agents' first calendars, less the outcome's; empty
        unless all are known
    fairness (number, accounting cost; R, C): mean of |E - mean E| // agents
    fairness_least (number, accounting cost): least over optimal schedules, if known // agents
    fairness_greatest (number, accounting cost): greatest over optimal schedules, if known // agents
    is_fairness_sampled (truth; C): these two are over a sample of the schedules; empty if they are
        left out: more than 14 meetings, or too much work
    vps_kind
    scenario_digest (text): SHA-256 of what defines a game on the scenario
    channels (list; P): open ones, separated by spaces
    limits (text; C): published, those of the paper's published games; text, those of its text; or
        other, with a digest
    agents (count, agents): of the game
    slots (count, slots): of a calendar
    optimum (count, accounting cost; P): least cost of all meetings; empty if impossible
    is_searched (truth; C): event_index was searched for: there is an optimum, and at most 14
        meetings
    event_index (count): event of the trace, from 0, that made the optimum unreachable; empty if
        none did, or was not searched for
    round (count): its round, from 0
    phase (text; C): of the batch that made it unreachable; RESOLUTION if a meeting failed without
        one
    agent_id (count): agent whose batch it was; empty at a resolution
    least_cost_before (count, accounting cost): paid so far plus the cheapest completion, before the
        event: the optimum
    least_cost_after (count, accounting cost): the same after it; empty if not all meetings could
        still be scheduled
    fairness_vectors (count, schedules): optimal ones that differ in what agents pay, behind
        fairness_least and fairness_greatest: all, or the sample's size; empty if these are left out
    cheapest_cost (count, accounting cost): cost of every meeting's cheapest slot, each for itself;
        empty if that is impossible
    clashes (fine10, pairs of meetings): expected ones with a common participant that choose the
        same slot, if each meeting chooses at random among its cheapest
    greedy_cost (count, accounting cost; R): if every meeting, by id, takes the first slot that can
        be cleared; empty if that is impossible
    """),
    {
        "team": "score.team_id",
        "replicate": "trace.config.replicate",
        "rules_digest": lambda game: game.trace.config.rules_digest[:RULES_DIGITS],
        "meetings": "score.num_meetings",
        "scheduled": "score.num_scheduled",
        "messages": _over_agents(sum, "messages_sent"),
        "vps": _over_agents(_sum_of_all, "vps"),
        "excess_vps": _over_agents(_mean_of_known, "excess_vps"),
        "excess_vps_participants": _over_agents(_mean_of_known, "excess_vps_participants"),
        "vps_beyond_chance": _over_agents(_mean_of_known, "vps_beyond_chance"),
        "bits": _over_agents(_sum_of_all, "bits_beyond_outcome"),
        "scenario_digest": "trace.scenario.play_digest",
        "channels": spaced("trace.config.channels"),
        "limits": lambda game: _named(game.trace.config.limits),
        "agents": "trace.scenario.num_agents",
        "slots": "trace.scenario.num_slots",
        "optimum": "score.optimum.optimum",
        "is_searched": "score.optimum.is_searched",
        "event_index": _loss("event_index"),
        "round": _loss("round"),
        "phase": _phase,
        "agent_id": _loss("agent_id"),
        "least_cost_before": _before,
        "least_cost_after": _loss("least_cost_after"),
        "cheapest_cost": _obstacle("cheapest_cost"),
        "clashes": lambda game: obstacles(game.trace.scenario.problem).clashes,
        "greedy_cost": _obstacle("greedy_cost"),
    },
    within="score.",
)
"""Every game recorded; what is measured of excluded ones is in no table."""


class Seat(NamedTuple):
    """One agent of a game, its player's name without the variant, and the meetings it moved.

    With its excess as the release's ratings have it, where several players met.
    """

    agent: AgentGame
    base_player: str
    moved_meetings: frozenset[ItemId]
    moved_copies: frozenset[ItemId]
    margins: float | None


def _seats(game: MeasuredGame) -> Iterator[Seat]:
    agents, found = game.score.agents, None
    if game.is_scored and len({agent.player for agent in agents}) > 1:
        found = excess_in_margins(game.score, game.trace.scenario)
    for agent, margins in zip(agents, found or [None] * len(agents), strict=True):
        own = [each for each in game.score.rounds if each.agent_id == agent.agent_id]
        nothing = frozenset[ItemId]()
        meetings = nothing.union(*(each.moved_meetings for each in own))
        copies = nothing.union(*(each.moved_copies for each in own))
        yield Seat(agent, _base_player(game, agent), meetings, copies, margins)


def _base_player(game: MeasuredGame, agent: AgentGame) -> str:
    """Return the name of an agent's player without that of its prompt variant."""
    variant = game.trace.config.team.seat_of(agent.agent_id).variant
    name = agent.player.name
    return name if variant is None else name.removesuffix(f".{variant.name}")


def _of_replies(find: Callable[[ReplyCounts], int]) -> Find:
    """Return what finds a count of a language agent's replies."""
    return lambda seat: None if seat.agent.replies is None else find(seat.agent.replies)


def _replies(name: str) -> Find:
    return _of_replies(attrgetter(name))


def _unread(place: int) -> Find:
    return _of_replies(lambda replies: replies.unread[place])


READABLE = columns("""
    reflections_asked (count, reflections): about the agent; empty for typed agents
    reflections_read (count, reflections): of these, readable
    readable_share (precise, share): reflections_read / reflections_asked // reflections_asked
    """)
"""Columns that say how many reflections the V of a language agent rests on."""

BASELINES = columns(
    """
    vps_agreed (precise, slot-equivalents): what the agreed meetings give away of themselves: |1 -
        prior| for each other participant of a scheduled meeting; of language agents the
        participants' movement toward the truth about its slot
    vps_by_chance (precise, slot-equivalents): mean of V over all permutations of each observer's
        own answers of a round over target and slot; empty for typed agents
    vps_beyond_chance (precise, slot-equivalents): V - vps_by_chance; may be negative
    vps_constant (precise, slot-equivalents): V if all who were asked to reflect had answered +1
        everywhere; empty for typed agents
    readable
    """,
    readable=READABLE,
)
"""Columns beside V: its value without knowledge, and the evidence that it rests on."""

AGENTS = Fact(
    "agents",
    _seats,
    columns(
        """
    agent_id player kind settings_digest
    model (text): its model, as LiteLLM spells it
    uses_language (truth; C): it speaks in words
    is_probing (truth; P): a variant told to probe for private facts
    base_player (text): the player without its prompt variant
    assigned (count, meetings; P): M, meetings the agent takes part in
    scheduled (count, meetings; P): S, of these, scheduled
    cost (count, accounting cost; P): C, paid in the game, including failed rounds
    oracle_cost (count, accounting cost; P, tie-break C): C*, the agent's cost in the best schedule
        of exactly the scheduled meetings; of several the lexicographically smallest
    excess_cost (count, accounting cost; R, C): E = C - C*; may be negative
    shown_excess_cost (count, shown cost): the same by the costs that agents are shown
    adjusted_excess_cost (number, accounting cost per meeting): with a penalty for failure
    burden_gap (number, accounting cost; R, C): |E - mean E| over the game's agents
    messages_sent (count, messages; P): a group message counts once
    vps (precise, slot-equivalents; P): V, over all observers and rounds
    excess_vps (precise, slot-equivalents; P, R): max(0, V - floor)
    excess_vps_participants (precise, slot-equivalents): the same over participant pairs
    vps_kind baselines
    calls (count, calls; P): model calls in these games, including reflections
    input_tokens (count, tokens; P): sent, including cached ones
    cached_tokens (count, tokens): of these, from the provider's cache
    output_tokens (count, tokens; P): received
    estimated_calls (count, calls; P): of these, without the provider's counts: estimated from the
        lengths of the texts
    replies (count, replies): answers to turns, decisions and reflections
    read (count, replies): of these, readable
    recovered (count, replies): of these, after something was cut away
    problems
    meetings_moved (count, meetings; P): distinct earlier meetings that it moved
    copies_moved (count, meetings): distinct copies of failed meetings that it moved
    cost_range (count, accounting cost; P, reconstructed): Cmax - Cmin, its cost in the worst less
        that in the best complete schedule; may be negative; empty if there is none
    bits (number, bits): what all others learnt of its first calendar, whether slots have room, by
        an informed reader; empty if the rules by which it speaks are unknown, or are not read
    bits_costs (number, bits): the same, and what its errands cost
    certain_slots (count, slots): of all others, slots of which they are certain whether there is
        room
    outcome_bits (number, bits): what the others would know from the slots of common meetings alone
    excess_in_margins (fine, margins; R): max(0, D) as in authors.csv, over 1 or, where errands
        differ in cost, 2, at most 5; of games of several players, where D is defined
    """,
        of=[DIGEST],
        baselines=BASELINES,
        problems=[count(each, "replies", f"not readable: {each}") for each in PROBLEMS],
    ),
    {
        "player": "agent.player.name",
        "kind": "agent.player.kind",
        "settings_digest": "agent.player.settings_digest",
        "model": "agent.player.model",
        "uses_language": "agent.player.uses_language",
        "is_probing": "agent.player.is_probing",
        "base_player": "base_player",
        "calls": "agent.tokens.calls",
        "input_tokens": "agent.tokens.input_tokens",
        "cached_tokens": "agent.tokens.cached_tokens",
        "output_tokens": "agent.tokens.output_tokens",
        "estimated_calls": "agent.tokens.estimated_calls",
        "replies": _replies("replies"),
        "read": _replies("read"),
        "recovered": _replies("recovered"),
        **{problem: _unread(place) for place, problem in enumerate(PROBLEMS)},
        "meetings_moved": lambda seat: len(seat.moved_meetings),
        "copies_moved": lambda seat: len(seat.moved_copies),
        "excess_in_margins": "margins",
    },
    within="agent.",
)
"""Every agent of every game: the unit over which headline means run."""


MEETINGS = Fact(
    "meetings",
    lambda game: game.score.meetings,
    columns(f"""
    meeting_id (count; -): meeting of the scenario
    round
    outcome (text; C): one of {", ".join(OUTCOMES)}
    slot (count; -): common slot, only if scheduled
    participants (list): agents, separated by spaces
    first_speaker (count; -): agent that spoke first
    broken_meetings (list): earlier meetings that were no longer in place
    messages (count, messages; P): sent in its round by all agents
    cost (count, accounting cost; P): paid in its round by all agents
    rejected_batches (count, batches; P): rejected in its round
    """),
    {"participants": spaced("participants"), "broken_meetings": spaced("broken_meetings")},
    is_large=True,
)
"""Every resolved round of every game, excluded ones too."""

ROUNDS = Fact(
    "rounds",
    lambda game: game.score.rounds if game.is_scored else (),
    columns(f"""
    agent_id round
    role (text; P, outsider C): of the agent in the meeting: {", ".join(ROLES)}
    messages (count, messages; P): sent by the agent in the round
    excess_cost (count, accounting cost; P, F): paid in the round minus the oracle's cost of the
        meeting
    vps (precise, slot-equivalents; P): leaked to all observers in the round, before any floor
    is_initiator (truth; P): the agent is the meeting's participant with the lowest id
    shown_excess_cost (count, shown cost): excess_cost by the costs that agents are shown
    """),
    is_large=True,
)
"""Every agent in every round of a scored game."""

REGRET = Fact(
    "regret",
    lambda game: game.score.regret if game.is_scored else (),
    columns("""
    meeting_id (count; -): meeting of the scenario, also prior ones; other agents have charges in
        its round, too
    agent_id
    played_slot (count; -): where it was scheduled; for a prior meeting, where this agent has it at
        the end; empty if not scheduled
    oracle_slot (count; P, tie-break C): where the best schedule of exactly the scheduled meetings
        has it; empty if not scheduled
    excess (count, accounting cost): slot_choice + avoidable_moves + failed_rounds; adds up to the
        agent's E
    slot_choice (count, accounting cost): charges for items in the meeting's slot that had not been
        moved before, minus the oracle's charges for this meeting; may be negative
    avoidable_moves (count, accounting cost): all other charges in the round of a scheduled meeting:
        items not in its slot, items moved again
    failed_rounds (count, accounting cost): charges in the round of a meeting that was not scheduled
    """),
    {"excess": "excess_cost"},
    is_large=True,
)
"""Causes of excess cost, for every agent and meeting of a scored game."""

SHARES = Fact(
    "shares",
    lambda game: game.score.vps_shares if game.is_scored else (),
    columns("""
    source (text; P): kind of message
    channel (text): channel it was sent on
    vps (precise, slot-equivalents): loss caused by these messages, before the floor
    """),
)
"""Privacy loss of typed agents of a scored game, by kind of message and channel."""


def _authors(game: MeasuredGame) -> Iterator[AuthorsScore]:
    if game.is_scored and game.trace.config.limits.commit == "team":
        found = authors_score(game.score, game.trace.scenario)
        if found is not None:
            yield found


AUTHORS = Fact(
    "authors",
    _authors,
    columns("""
    excess (fine, accounting cost; R): mean over agents of max(0, D), D = C minus the agent's cost
        in a best schedule that is played // agents
    excess_least (fine, accounting cost; C): least over all best schedules // agents
    excess_greatest (fine, accounting cost; C): greatest over all best schedules // agents
    excess_mean (fine, accounting cost; C): mean over all best schedules // agents
    fairness (fine, accounting cost; R): mean over agents of |D - mean D| // agents
    fairness_least (fine, accounting cost; C): least over all best schedules // agents
    fairness_greatest (fine, accounting cost; C): greatest over all best schedules // agents
    fairness_mean (fine, accounting cost; C): mean over all best schedules // agents
    burden (count, accounting cost; R): of all agents in the best schedule that is played
    messages (fine, messages; R): mean over agents of messages sent / max(1, S) // agents
    is_sampled (truth; C): these are over a sample of the best schedules
    """),
)
"""Scored games by the authors' rule of decisions in the measures of their release, where they are
defined: only there may they stand beside the paper's."""

SCORES = (GAMES, AGENTS, MEETINGS, ROUNDS, REGRET, SHARES, AUTHORS)
"""Facts from the score of a game."""
