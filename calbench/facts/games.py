"""Facts of games, their agents and their meetings, from the score of a game."""

from collections.abc import Callable, Iterable, Iterator
from math import fsum
from operator import attrgetter
from typing import Any, NamedTuple

from calbench.domain.canonical import digest
from calbench.domain.ids import ItemId
from calbench.facts.columns import (
    AGENT,
    COST,
    GAME_ID,
    PLAYER,
    PLAYER_KIND,
    REPLICATE,
    ROUND,
    SCENARIO,
    SETTING,
    SLOTS,
    TEAM,
    VPS_KIND,
    Column,
    count,
    fine,
    listed,
    number,
    precise,
    text,
    truth,
)
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.agent_rounds import ROLES
from calbench.metrics.game import AgentGame
from calbench.metrics.outcomes import OUTCOMES
from calbench.metrics.usage import PROBLEMS, ReplyCounts
from calbench.scenarios.difficulty import obstacles

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


def _loss(name: str, unit: str, meaning: str) -> tuple[Column, Find]:
    """Return the column of an attribute of the event that made the optimum unreachable, if any."""

    def find(game: MeasuredGame) -> Any:
        loss = game.score.optimum.loss
        return None if loss is None else getattr(loss, name)

    return count(name, unit, meaning), find


def _phase(game: MeasuredGame) -> str | None:
    loss = game.score.optimum.loss
    if loss is None:
        return None
    return "RESOLUTION" if loss.phase is None else loss.phase.value


def _before(game: MeasuredGame) -> int | None:
    return None if game.score.optimum.loss is None else game.score.optimum.optimum


def _obstacle(name: str, meaning: str, origin: str = "C") -> tuple[Column, Find]:
    """Return the column of a cost of the scenario that any game on it has."""
    found = f"{meaning}; empty if that is impossible"
    return count(name, COST, found, origin), lambda game: getattr(
        obstacles(game.trace.scenario.problem), name
    )


def _rules(game: MeasuredGame) -> str:
    config = game.trace.config.model_dump(mode="json", exclude={"team", "replicate"})
    return digest(config)[:RULES_DIGITS]


GAMES = Fact(
    "games",
    lambda game: [game],
    (
        SETTING,
        SCENARIO,
        (TEAM, "score.team_id"),
        (REPLICATE, "trace.config.replicate"),
        GAME_ID,
        (text("rules_digest", "of its configuration without team and replicate"), _rules),
        text("tertile", "difficulty by feasible fraction", "P"),
        fine(
            "feasible_fraction",
            "",
            "share of injective assignments that satisfy the calendars",
            "S! / (S - M)! assignments",
            "P",
            FRACTION_DIGITS,
        ),
        truth("is_excluded", "excluded games have no measures", "C"),
        (count("meetings", "meetings", "meetings of the scenario", "P"), "score.num_meetings"),
        (count("scheduled", "meetings", "of these, scheduled", "P"), "score.num_scheduled"),
        count("cost", COST, "paid by all agents", "P"),
        count("oracle_cost", COST, "least cost of the scheduled meetings", "P"),
        count("excess_cost", COST, "cost - oracle_cost; never negative", "F"),
        (
            count("messages", "messages", "sent by all agents", "P"),
            _over_agents(sum, "messages_sent"),
        ),
        count(
            "message_bytes",
            "bytes",
            "length of their contents as JSON in UTF-8, without spaces or envelopes",
        ),
        (
            precise("vps", SLOTS, "sum of V over all agents; empty unless all are known", "", "P"),
            _over_agents(_sum_of_all, "vps"),
        ),
        (
            precise("excess_vps", SLOTS, "mean of max(0, V - floor)", MEASURED, "P, F"),
            _over_agents(_mean_of_known, "excess_vps"),
        ),
        (
            precise("excess_vps_participants", SLOTS, "the same over participant pairs", MEASURED),
            _over_agents(_mean_of_known, "excess_vps_participants"),
        ),
        number("fairness", COST, "mean of |E - mean E|", "agents", "F"),
        number("fairness_least", COST, "least over optimal schedules, if known", "agents"),
        number("fairness_greatest", COST, "greatest over optimal schedules, if known", "agents"),
        truth(
            "is_fairness_sampled",
            "these two are over a sample of the schedules; empty if they are left out: more than "
            "14 meetings, or too much work",
            "C",
        ),
        VPS_KIND,
        (
            text("scenario_digest", "SHA-256 of what defines a game on the scenario"),
            "trace.scenario.play_digest",
        ),
        (
            listed("channels", "open ones, separated by spaces", "P"),
            lambda game: " ".join(game.trace.config.channels),
        ),
        (count("agents", "agents", "of the game"), "trace.scenario.num_agents"),
        (count("slots", "slots", "of a calendar"), "trace.scenario.num_slots"),
        (
            count("optimum", COST, "least cost of all meetings; empty if impossible", "P"),
            "score.optimum.optimum",
        ),
        (
            truth(
                "is_searched",
                "event_index was searched for: there is an optimum, and at most 14 meetings",
                "C",
            ),
            "score.optimum.is_searched",
        ),
        _loss(
            "event_index",
            "",
            "event of the trace, from 0, that made the optimum unreachable; empty if none did, or "
            "was not searched for",
        ),
        _loss("round", "", "its round, from 0"),
        (
            text(
                "phase",
                "of the batch that made it unreachable; RESOLUTION if a meeting failed without one",
                "C",
            ),
            _phase,
        ),
        _loss("agent_id", "", "agent whose batch it was; empty at a resolution"),
        (
            count(
                "least_cost_before",
                COST,
                "paid so far plus the cheapest completion, before the event: the optimum",
            ),
            _before,
        ),
        _loss(
            "least_cost_after",
            COST,
            "the same after it; empty if not all meetings could still be scheduled",
        ),
        count(
            "fairness_vectors",
            "schedules",
            "optimal ones that differ in what agents pay, behind fairness_least and "
            "fairness_greatest: all, or the sample's size; empty if these are left out",
        ),
        _obstacle("cheapest_cost", "cost of every meeting's cheapest slot, each for itself"),
        (
            fine(
                "clashes",
                "pairs of meetings",
                "expected ones with a common participant that choose the same slot, if each "
                "meeting chooses at random among its cheapest",
                digits=FRACTION_DIGITS,
            ),
            lambda game: obstacles(game.trace.scenario.problem).clashes,
        ),
        _obstacle(
            "greedy_cost", "if every meeting, by id, takes the first slot that can be cleared", "R"
        ),
    ),
    within="score.",
)
"""Every game recorded; what is measured of excluded ones is in no table."""


class Seat(NamedTuple):
    """One agent of a game, its player's name without the variant, and the meetings it moved."""

    agent: AgentGame
    base_player: str
    moved_meetings: frozenset[ItemId]
    moved_copies: frozenset[ItemId]


def _seats(game: MeasuredGame) -> Iterator[Seat]:
    for agent in game.score.agents:
        own = [each for each in game.score.rounds if each.agent_id == agent.agent_id]
        nothing = frozenset[ItemId]()
        meetings = nothing.union(*(each.moved_meetings for each in own))
        copies = nothing.union(*(each.moved_copies for each in own))
        yield Seat(agent, _base_player(game, agent), meetings, copies)


def _base_player(game: MeasuredGame, agent: AgentGame) -> str:
    """Return the name of an agent's player without that of its prompt variant."""
    variant = game.trace.config.team.seat_of(agent.agent_id).variant
    name = agent.player.name
    return name if variant is None else name.removesuffix(f".{variant.name}")


def _of_replies(find: Callable[[ReplyCounts], int]) -> Find:
    """Return what finds a count of a language agent's replies."""
    return lambda seat: None if seat.agent.replies is None else find(seat.agent.replies)


def _replies(name: str, meaning: str) -> tuple[Column, Find]:
    return count(name, "replies", meaning), _of_replies(attrgetter(name))


def _unread(place: int) -> Find:
    return _of_replies(lambda replies: replies.unread[place])


def _tokens(name: str, unit: str, meaning: str, origin: str = "P") -> tuple[Column, Find]:
    return count(name, unit, meaning, origin), f"agent.tokens.{name}"


READABLE = (
    count("reflections_asked", "reflections", "about the agent; empty for typed agents"),
    count("reflections_read", "reflections", "of these, readable"),
    precise("readable_share", "share", "reflections_read / reflections_asked", "reflections_asked"),
)
"""What the V of a language agent rests on."""

BASELINES = (
    precise(
        "vps_agreed",
        SLOTS,
        "what the agreed meetings give away of themselves: |1 - prior| for each other participant "
        "of a scheduled meeting; of language agents the participants' movement toward the truth "
        "about its slot",
    ),
    precise(
        "vps_by_chance",
        SLOTS,
        "V if each observer had given the numbers of its reflections without regard to slots; "
        "empty for typed agents",
    ),
    precise("vps_beyond_chance", SLOTS, "V - vps_by_chance; may be negative"),
    precise(
        "vps_constant",
        SLOTS,
        "V if all who were asked to reflect had answered +1 everywhere; empty for typed agents",
    ),
    *READABLE,
)
"""What stands beside V: what it is without knowledge, and what it rests on."""

AGENTS = Fact(
    "agents",
    _seats,
    (
        AGENT,
        (PLAYER, "agent.player.name"),
        (PLAYER_KIND, "agent.player.kind"),
        (DIGEST, "agent.player.settings_digest"),
        (text("model", "its model, as LiteLLM spells it"), "agent.player.model"),
        (truth("uses_language", "it speaks in words", "C"), "agent.player.uses_language"),
        (
            truth("is_probing", "a variant told to probe for private facts", "P"),
            "agent.player.is_probing",
        ),
        (text("base_player", "the player without its prompt variant"), "base_player"),
        count("assigned", "meetings", "M, meetings the agent takes part in", "P"),
        count("scheduled", "meetings", "S, of these, scheduled", "P"),
        count("cost", COST, "C, paid in the game, including failed rounds", "P"),
        count(
            "oracle_cost",
            COST,
            "C*, the agent's cost in the best schedule of exactly the scheduled meetings; of "
            "several the lexicographically smallest",
            "P, tie-break C",
        ),
        count("excess_cost", COST, "E = C - C*; may be negative", "F"),
        count("shown_excess_cost", "shown cost", "the same by the costs that agents are shown"),
        number("adjusted_excess_cost", f"{COST} per meeting", "with a penalty for failure"),
        number("burden_gap", COST, "|E - mean E| over the game's agents", "", "F"),
        count("messages_sent", "messages", "a group message counts once", "P"),
        precise("vps", SLOTS, "V, over all observers and rounds", "", "P"),
        precise("excess_vps", SLOTS, "max(0, V - floor)", "", "P, F"),
        precise("excess_vps_participants", SLOTS, "the same over participant pairs"),
        VPS_KIND,
        *BASELINES,
        _tokens("calls", "calls", "model calls in these games, including reflections"),
        _tokens("input_tokens", "tokens", "sent, including cached ones"),
        _tokens("cached_tokens", "tokens", "of these, from the provider's cache", "C"),
        _tokens("output_tokens", "tokens", "received"),
        _tokens(
            "estimated_calls",
            "calls",
            "of these, without the provider's counts: estimated from the lengths of the texts",
        ),
        _replies("replies", "answers to turns, decisions and reflections"),
        _replies("read", "of these, readable"),
        _replies("recovered", "of these, after something was cut away"),
        *(
            (count(problem, "replies", f"not readable: {problem}"), _unread(place))
            for place, problem in enumerate(PROBLEMS)
        ),
        (
            count("meetings_moved", "meetings", "distinct earlier meetings that it moved", "P"),
            lambda seat: len(seat.moved_meetings),
        ),
        (
            count("copies_moved", "meetings", "distinct copies of failed meetings that it moved"),
            lambda seat: len(seat.moved_copies),
        ),
        count(
            "cost_range",
            COST,
            "Cmax - Cmin, its cost in the worst less that in the best complete schedule; may be "
            "negative; empty if there is none",
            "P, reconstructed",
        ),
    ),
    within="agent.",
)
"""Every agent of every game: the unit over which headline means run."""


def _spaced(name: str) -> Find:
    """Return what writes a sequence with spaces between its parts."""
    return lambda row: " ".join(map(str, getattr(row, name)))


MEETINGS = Fact(
    "meetings",
    lambda game: game.score.meetings,
    (
        count("meeting_id", "", "meeting of the scenario", ""),
        ROUND,
        text("outcome", f"one of {', '.join(OUTCOMES)}", "C"),
        count("slot", "", "common slot, only if scheduled", ""),
        (listed("participants", "agents, separated by spaces"), _spaced("participants")),
        count("first_speaker", "", "agent that spoke first", ""),
        (
            listed("broken_meetings", "earlier meetings that were no longer in place"),
            _spaced("broken_meetings"),
        ),
        count("messages", "messages", "sent in its round by all agents", "P"),
        count("cost", COST, "paid in its round by all agents", "P"),
        count("rejected_batches", "batches", "rejected in its round", "P"),
    ),
)
"""Every resolved round of every game, excluded ones too."""

ROUNDS = Fact(
    "rounds",
    lambda game: game.score.rounds if game.is_scored else (),
    (
        AGENT,
        ROUND,
        text("role", f"of the agent in the meeting: {', '.join(ROLES)}", "P, outsider C"),
        count("messages", "messages", "sent by the agent in the round", "P"),
        count(
            "excess_cost", COST, "paid in the round minus the oracle's cost of the meeting", "P, F"
        ),
        precise("vps", SLOTS, "leaked to all observers in the round, before any floor", "", "P"),
        truth("is_initiator", "the agent is the meeting's participant with the lowest id", "P"),
        count("shown_excess_cost", "shown cost", "excess_cost by the costs that agents are shown"),
    ),
)
"""Every agent in every round of a scored game."""

REGRET = Fact(
    "regret",
    lambda game: game.score.regret if game.is_scored else (),
    (
        count(
            "meeting_id",
            "",
            "meeting of the scenario, also prior ones; other agents have charges in its round, too",
            "",
        ),
        AGENT,
        count(
            "played_slot",
            "",
            "where it was scheduled; for a prior meeting, where this agent has it at the end; "
            "empty if not scheduled",
            "",
        ),
        count(
            "oracle_slot",
            "",
            "where the best schedule of exactly the scheduled meetings has it; empty if not "
            "scheduled",
            "P, tie-break C",
        ),
        (
            count(
                "excess",
                COST,
                "slot_choice + avoidable_moves + failed_rounds; adds up to the agent's E",
            ),
            "excess_cost",
        ),
        count(
            "slot_choice",
            COST,
            "charges for items in the meeting's slot that had not been moved before, minus the "
            "oracle's charges for this meeting; may be negative",
        ),
        count(
            "avoidable_moves",
            COST,
            "all other charges in the round of a scheduled meeting: items not in its slot, items "
            "moved again",
        ),
        count("failed_rounds", COST, "charges in the round of a meeting that was not scheduled"),
    ),
)
"""Causes of excess cost, for every agent and meeting of a scored game."""

SHARES = Fact(
    "shares",
    lambda game: game.score.vps_shares if game.is_scored else (),
    (
        text("source", "kind of message", "P"),
        text("channel", "channel it was sent on"),
        precise("vps", SLOTS, "loss caused by these messages, before the floor"),
    ),
)
"""Privacy loss of typed agents of a scored game, by kind of message and channel."""

SCORES = (GAMES, AGENTS, MEETINGS, ROUNDS, REGRET, SHARES)
"""Facts from the score of a game."""
