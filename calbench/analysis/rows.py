"""Rows of tables: one game, one agent, one meeting or one player in text."""

from collections.abc import Iterable, Iterator, Mapping
from math import fsum

from calbench.analysis.cells import Cell, cell, row, trimmed
from calbench.analysis.estimates import Estimate
from calbench.analysis.players import PlayerRow
from calbench.analysis.usage import UsageRow
from calbench.metrics.game import AgentGame, GameScore

DIGITS = 4
"""Decimals of estimates and of game values [C]."""

PRICE_DIGITS = 6
"""Decimals of US$: a game of a small model costs less than a cent [C]."""

FRACTION_DIGITS = 10
"""Decimals of a feasible fraction, which can be very small [C]."""


def line(*cells: Cell) -> str:
    """Return a line of CSV; numbers have the fixed digits of these tables."""
    return row(*[cell(value, DIGITS) for value in cells])


def estimate_cells(estimates: Mapping[str, Estimate | None]) -> Iterator[Cell]:
    """Yield value and interval of every measure, empty where there is none."""
    for estimate in estimates.values():
        if estimate is None:
            yield from (None, None, None)
        else:
            yield from (estimate.value, estimate.low, estimate.high)


def player_row(entry: PlayerRow) -> str:
    """Return a player's line of ``players.csv``."""
    return line(
        entry.setting,
        entry.player.name,
        entry.games,
        entry.scenarios,
        *estimate_cells(entry.estimates),
        entry.vps_kind,
        entry.player.kind,
        " ".join(entry.teams),
        entry.agent_games,
        entry.games_lost,
        entry.lost_percent,
        entry.is_flagged,
    )


def reply_rows(entry: PlayerRow) -> Iterator[str]:
    """Yield a language player's replies; typed players have none that could be misread."""
    replies = entry.replies
    if replies is not None:
        yield line(
            entry.setting,
            entry.player.name,
            replies.replies,
            replies.read,
            replies.recovered,
            *replies.unread,
            entry.player.kind,
            " ".join(entry.teams),
        )


def usage_row(entry: UsageRow) -> str:
    """Return a line of ``usage.csv``."""
    tokens = entry.tokens
    return line(
        entry.setting,
        entry.team,
        entry.player.name,
        entry.games,
        entry.agent_games,
        tokens.calls,
        tokens.input_tokens,
        tokens.cached_tokens,
        tokens.output_tokens,
        tokens.estimated_calls,
        cell(entry.price_usd, PRICE_DIGITS),
        cell(entry.price_usd_per_game, PRICE_DIGITS),
        entry.games_lost,
        cell(entry.price_usd_lost, PRICE_DIGITS),
    )


def game_row(score: GameScore) -> str:
    """Return a line of ``games.csv``; a lost game has no measures."""
    fraction = score.feasible_fraction
    measures: list[Cell] = [None] * 13
    if not score.is_lost:
        measures = [
            score.cost,
            score.oracle_cost,
            score.excess_cost,
            sum(agent.messages_sent for agent in score.agents),
            score.message_bytes,
            _sum_of_all(agent.vps for agent in score.agents),
            _mean_of_known(agent.excess_vps for agent in score.agents),
            _mean_of_known(agent.excess_vps_participants for agent in score.agents),
            score.fairness,
            score.fairness_least,
            score.fairness_greatest,
            score.is_fairness_sampled,
            score.vps_kind,
        ]
    return line(
        score.setting,
        score.scenario_id,
        score.team_id,
        score.game_id,
        score.tertile,
        None if fraction is None else trimmed(fraction, FRACTION_DIGITS),
        score.is_lost,
        score.num_meetings,
        score.num_scheduled,
        *measures,
    )


def _sum_of_all(values: Iterable[float | None]) -> float | None:
    """Return a sum, which is unknown where a term is."""
    known = list(values)
    return None if None in known else fsum(value for value in known if value is not None)


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def meeting_rows(score: GameScore) -> Iterator[str]:
    """Yield a game's lines of ``meetings.csv``."""
    for result in score.meetings:
        yield line(
            score.scenario_id,
            score.team_id,
            result.meeting_id,
            result.round,
            result.outcome,
            result.slot,
            " ".join(map(str, result.participants)),
            result.first_speaker,
            " ".join(map(str, result.broken_meetings)),
            result.messages,
            result.cost,
            result.rejected_batches,
        )


def agent_rows(score: GameScore) -> Iterator[str]:
    """Yield a game's lines of ``agent_games.csv``."""
    for agent in score.agents:
        yield _agent_row(score, agent)


def _agent_row(score: GameScore, agent: AgentGame) -> str:
    return line(
        score.scenario_id,
        score.team_id,
        agent.agent_id,
        agent.assigned,
        agent.scheduled,
        agent.cost,
        agent.oracle_cost,
        agent.excess_cost,
        agent.messages_sent,
        agent.vps,
        agent.excess_vps,
        agent.excess_vps_participants,
        agent.vps_kind,
        agent.player.kind,
        score.setting,
        agent.player.name,
    )
