"""Facts of games, their agents and their meetings: what a score holds, a row each."""

from collections.abc import Iterable, Iterator
from math import fsum
from typing import Any, NamedTuple

from calbench.domain.ids import AgentId, ItemId
from calbench.facts.columns import (
    AGENT,
    COST,
    FINE_DIGITS,
    GAME_ID,
    PLAYER,
    PLAYER_KIND,
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
    text,
    truth,
)
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.agent_rounds import ROLES
from calbench.metrics.game import AgentGame
from calbench.metrics.outcomes import OUTCOMES
from calbench.metrics.usage import PROBLEMS

FRACTION_DIGITS = 10
"""Decimals of a feasible fraction, which can be very small [C]."""

MEASURED = "agents whose V was measured"
DIGEST = text("settings_digest", "of the settings that define it")


def _sum_of_all(values: Iterable[float | None]) -> float | None:
    """Return a sum, which is unknown where a term is."""
    known = list(values)
    return None if None in known else fsum(value for value in known if value is not None)


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _over_agents(add: Find, name: str) -> Find:
    """Return what adds up an attribute of a game's agents."""
    return lambda game: add([getattr(agent, name) for agent in game.score.agents])  # type: ignore[operator]


def _of_loss(name: str) -> Find:
    """Return what finds an attribute of how the optimum became unreachable, if it did."""

    def find(game: MeasuredGame) -> Any:
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


GAMES = Fact(
    "games",
    lambda game: [game],
    (
        SETTING,
        SCENARIO,
        (TEAM, "score.team_id"),
        GAME_ID,
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
        (count("scheduled", "meetings", "how many were scheduled", "P"), "score.num_scheduled"),
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
            "length of these messages' contents as JSON in UTF-8, without spaces or envelopes",
        ),
        (
            number(
                "vps",
                SLOTS,
                "V, summed over all agents; empty unless every agent's was measured",
                "",
                "P",
                FINE_DIGITS,
            ),
            _over_agents(_sum_of_all, "vps"),
        ),
        (
            number("excess_vps", SLOTS, "mean of max(0, V - floor)", MEASURED, "P, F", FINE_DIGITS),
            _over_agents(_mean_of_known, "excess_vps"),
        ),
        (
            number(
                "excess_vps_participants",
                SLOTS,
                "the same over participant pairs",
                MEASURED,
                digits=FINE_DIGITS,
            ),
            _over_agents(_mean_of_known, "excess_vps_participants"),
        ),
        number("fairness", COST, "mean of |E - mean E|", "agents", "F"),
        number("fairness_least", COST, "least over optimal schedules", "agents"),
        number("fairness_greatest", COST, "greatest over optimal schedules", "agents"),
        truth("is_fairness_sampled", "the two rest on a sample of the schedules", "C"),
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
                "the loss was looked for: not without an optimum or above 14 meetings",
                "C",
            ),
            "score.optimum.is_searched",
        ),
        (
            count(
                "event_index",
                "",
                "event of the trace, from 0, after which the optimum was out of reach; empty if "
                "it never was, or was not looked for",
            ),
            _of_loss("event_index"),
        ),
        (count("round", "", "its round, from 0"), _of_loss("round")),
        (
            text(
                "phase",
                "of the batch that made it unreachable; RESOLUTION where a meeting had failed "
                "without one",
                "C",
            ),
            _phase,
        ),
        (
            count("agent_id", "", "whose batch it was; empty at a resolution"),
            _of_loss("agent_id"),
        ),
        (
            count(
                "least_cost_before",
                COST,
                "paid so far plus the cheapest completion, before the event: the optimum",
            ),
            _before,
        ),
        (
            count(
                "least_cost_after",
                COST,
                "the same after it; empty if not all meetings could be scheduled any more",
            ),
            _of_loss("least_cost_after"),
        ),
    ),
    within="score.",
)
"""Every game recorded; what is measured of excluded ones is in no table."""


class Seat(NamedTuple):
    """One agent of a game, and the meetings that it moved in all rounds."""

    agent: AgentGame
    moved_meetings: frozenset[ItemId]
    moved_copies: frozenset[ItemId]


def _seats(game: MeasuredGame) -> Iterator[Seat]:
    meetings: dict[AgentId, frozenset[ItemId]] = {}
    copies: dict[AgentId, frozenset[ItemId]] = {}
    for each in game.score.rounds:
        meetings[each.agent_id] = meetings.get(each.agent_id, frozenset()) | each.moved_meetings
        copies[each.agent_id] = copies.get(each.agent_id, frozenset()) | each.moved_copies
    for agent in game.score.agents:
        own = agent.agent_id
        yield Seat(agent, meetings.get(own, frozenset()), copies.get(own, frozenset()))


def _of_replies(name: str) -> Find:
    """Return what finds an attribute of a language agent's replies."""
    return lambda seat: None if seat.agent.replies is None else getattr(seat.agent.replies, name)


def _unread(place: int) -> Find:
    return lambda seat: None if seat.agent.replies is None else seat.agent.replies.unread[place]


def _tokens(name: str, unit: str, meaning: str, origin: str = "P") -> tuple[Column, Find]:
    return count(name, unit, meaning, origin), f"agent.tokens.{name}"


AGENTS = Fact(
    "agents",
    _seats,
    (
        AGENT,
        (PLAYER, "agent.player.name"),
        (PLAYER_KIND, "agent.player.kind"),
        (DIGEST, "agent.player.settings_digest"),
        (text("model", "behind it, as LiteLLM spells it"), "agent.player.model"),
        (truth("uses_language", "it speaks in words", "C"), "agent.player.uses_language"),
        (
            truth("is_probing", "a variant told to probe for private facts", "P"),
            "agent.player.is_probing",
        ),
        count("assigned", "meetings", "M, meetings the agent takes part in", "P"),
        count("scheduled", "meetings", "S, how many were scheduled", "P"),
        count("cost", COST, "C, paid in the game, failed rounds included", "P"),
        count(
            "oracle_cost",
            COST,
            "C*, the agent's cost in the best schedule of exactly the scheduled meetings; of "
            "several the lexicographically smallest",
            "P, tie-break C",
        ),
        count("excess_cost", COST, "E = C - C*; may be negative", "F"),
        count("shown_excess_cost", "shown cost", "the same by the costs that agents are shown"),
        number("adjusted_excess_cost", f"{COST} per meeting", "with a price on failure"),
        number("burden_gap", COST, "|E - mean E| over the game's agents", "", "F"),
        count("messages_sent", "messages", "a group message counts once", "P"),
        number("vps", SLOTS, "V, over all observers and rounds", "", "P", FINE_DIGITS),
        number("excess_vps", SLOTS, "max(0, V - floor)", "", "P, F", FINE_DIGITS),
        number(
            "excess_vps_participants",
            SLOTS,
            "the same over participant pairs",
            digits=FINE_DIGITS,
        ),
        VPS_KIND,
        _tokens("calls", "calls", "model calls in these games, reflections included"),
        _tokens("input_tokens", "tokens", "sent, cached ones included"),
        _tokens(
            "cached_tokens", "tokens", "of these, kept by the provider from an earlier call", "C"
        ),
        _tokens("output_tokens", "tokens", "received"),
        _tokens(
            "estimated_calls",
            "calls",
            "calls without counts of the provider, estimated from the lengths of the texts",
        ),
        (
            count("replies", "replies", "answers to turns, decisions and reflections"),
            _of_replies("replies"),
        ),
        (count("read", "replies", "could be read"), _of_replies("read")),
        (
            count("recovered", "replies", "of these, after something was cut away"),
            _of_replies("recovered"),
        ),
        *(
            (count(problem, "replies", f"could not be read: {problem}"), _unread(place))
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
        Column("meeting_id", "integer", "", "meeting of the scenario"),
        ROUND,
        text("outcome", f"one of {', '.join(OUTCOMES)}", "C"),
        Column("slot", "integer", "", "common slot, only if scheduled"),
        (listed("participants", "agents, separated by spaces"), _spaced("participants")),
        Column("first_speaker", "integer", "", "agent that spoke first"),
        (
            listed("broken_meetings", "earlier meetings that did not stand whole"),
            _spaced("broken_meetings"),
        ),
        count("messages", "messages", "sent in its round by anybody", "P"),
        count("cost", COST, "paid in its round by everybody", "P"),
        count("rejected_batches", "batches", "refused in its round", "P"),
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
            "excess_cost", COST, "paid in the round less the oracle's cost of the meeting", "P, F"
        ),
        number("vps", SLOTS, "leaked to all observers in the round, before any floor", "", "P"),
    ),
)
"""Every agent in every round of a scored game."""

REGRET = Fact(
    "regret",
    lambda game: game.score.regret if game.is_scored else (),
    (
        Column(
            "meeting_id",
            "integer",
            "",
            "meeting of the scenario, prior ones too; charges of other agents in its round stand "
            "with it as well",
        ),
        AGENT,
        Column(
            "played_slot",
            "integer",
            "",
            "where it was scheduled; of a prior meeting where this agent finally holds it; empty "
            "if it was not scheduled",
        ),
        count(
            "oracle_slot",
            "",
            "where the best schedule of exactly the scheduled meetings has it; empty if it was "
            "not scheduled",
            "P, tie-break C",
        ),
        (
            count(
                "excess",
                COST,
                "slot_choice + avoidable_moves + failed_rounds; sums over meetings to the agent's "
                "E",
            ),
            "excess_cost",
        ),
        count(
            "slot_choice",
            COST,
            "charges for what stood where the meeting went and had not been moved before, minus "
            "the oracle's charges for this meeting; may be negative",
        ),
        count(
            "avoidable_moves",
            COST,
            "every other charge in the round of a scheduled meeting: items not in its way, items "
            "moved a second time",
        ),
        count("failed_rounds", COST, "charges in the round of a meeting that was not scheduled"),
    ),
)
"""Where excess cost comes from: every agent and meeting of a scored game."""

SHARES = Fact(
    "shares",
    lambda game: game.score.vps_shares if game.is_scored else (),
    (
        text("source", "kind of message", "P"),
        text("channel", "channel it was sent on"),
        number("vps", SLOTS, "loss these messages caused, before the floor", digits=FINE_DIGITS),
    ),
)
"""What typed agents of a scored game gave away, by kind of message and channel."""

SCORES = (GAMES, AGENTS, MEETINGS, ROUNDS, REGRET, SHARES)
"""What a score holds."""
