"""The tables of ratings: standings, who met whom, margins, and who is listed apart."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from calbench.analysis.apart import Apart
from calbench.analysis.cells import Cell, row, versioned
from calbench.analysis.dictionary import header
from calbench.analysis.rated import RATINGS
from calbench.analysis.ratings import RatingBook, Scope, Standing
from calbench.analysis.rows import line
from calbench.files import write_atomically
from calbench.metrics.seats import Player
from calbench.stats.spec import DEFAULT_RATINGS, RatingSpec


def write_ratings(
    book: RatingBook, folder: Path, spec: RatingSpec = DEFAULT_RATINGS
) -> tuple[Scope, ...]:
    """Rate the games of a book and write four tables, each whole or not at all.

    Returns:
        What was rated, for pages and warnings.

    Raises:
        OutputError: the folder cannot be written.
        CalbenchError: the installed library computes otherwise.
    """
    scopes = tuple(book.scopes(spec))
    _write(
        folder,
        "ratings.csv",
        (_standing_row(scope, standing) for scope in scopes for standing in scope.standings),
    )
    _write(folder, "ratings_met.csv", (text for scope in scopes for text in _met_rows(scope)))
    _write(
        folder, "ratings_margins.csv", (text for scope in scopes for text in _margin_rows(scope))
    )
    _write(folder, "ratings_apart.csv", map(_apart_row, book.apart.rows()))
    return scopes


def _write(folder: Path, name: str, lines: Iterable[str]) -> None:
    write_atomically(folder / name, (row(*header(name)) + versioned("".join(lines))).encode())


def _digest(player: Player) -> str:
    return player.settings_digest[:8]


def _standing_row(scope: Scope, standing: Standing) -> str:
    rank = standing.rank
    place: tuple[Cell, ...] = (None,) * 6
    if rank is not None:
        place = (rank.rank, rank.low, rank.high, rank.tie_group, rank.mmr, rank.mmr_spread)
    skills: list[Cell] = []
    for skill in standing.skills.values():
        if skill is None:
            skills += [0, None, None, None, None]
        else:
            skills += [skill.events, skill.mu, skill.sigma, skill.ordinal, skill.spread]
    return line(
        scope.pool,
        scope.setting,
        standing.player.name,
        *place,
        standing.games,
        standing.games_lost,
        *skills,
        standing.component.name,
        " ".join(player.name for player in standing.never_met),
        standing.player.kind,
        _digest(standing.player),
    )


def _met_rows(scope: Scope) -> Iterator[str]:
    first = scope.meetings.components()
    for one, other, games in scope.meetings.pairs():
        yield line(
            scope.pool,
            scope.setting,
            one.name,
            other.name,
            games,
            first[one] == first[other],
            _digest(one),
            _digest(other),
        )


def _margin_rows(scope: Scope) -> Iterator[str]:
    """Yield the margins of a setting; all settings together have none of their own."""
    for rating, margin in zip(RATINGS, scope.margins.get(scope.setting, ()), strict=False):
        yield line(
            scope.pool,
            scope.setting,
            rating.name,
            margin.events,
            margin.median_range,
            margin.greatest_range,
            margin.margin,
        )


def _apart_row(entry: Apart) -> str:
    return line(
        entry.setting,
        entry.player.name,
        entry.player.kind,
        entry.place,
        entry.games,
        entry.agent_games,
        entry.coordination,
        entry.excess_cost,
        entry.excess_vps,
        _digest(entry.player),
        entry.player.is_probing,
    )
