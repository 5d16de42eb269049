"""The tables of the audits: counts by setting, team and player, taken game by game."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from calbench.analysis.audits.failures import occurrences
from calbench.analysis.audits.honesty import KINDS, ClaimKind, claims_in, is_true, standings
from calbench.analysis.audits.own_slot import NAMES as LABELS
from calbench.analysis.audits.own_slot import own_slot
from calbench.analysis.audits.patterns import PATTERNS, message_patterns
from calbench.analysis.audits.rates import Share, corrected, difference, wilson
from calbench.analysis.audits.said import said
from calbench.analysis.audits.told import labels_of_game, told_labels
from calbench.analysis.cells import Cell, cell, row, versioned
from calbench.analysis.dictionary import header
from calbench.analysis.order import GameOrder
from calbench.analysis.spool import Places
from calbench.domain.ids import AgentId, ItemId
from calbench.files import write_atomically
from calbench.metrics.outcomes import is_lost
from calbench.metrics.seats import players_of
from calbench.scenarios.labels import LABEL_BANKS, TIERS, Labels, Tier
from calbench.traces.models import Trace

NAMES = ("audit_patterns", "audit_own_slot", "audit_leaks", "audit_honesty")
"""The tables, as files ``<name>.csv``."""

DIGITS = 4
"""Decimals of a share or a p-value [C]."""

WHOLE_TEAM = ""
"""Stands for all players of a team together: the cell is empty."""

Key = tuple[str, int, str, str]
"""Setting, rank of the team, team, player."""


@dataclass(slots=True)
class _Tally:
    """What one player said and did in a setting and team, or all of its players together."""

    games: int = 0
    messages: int = 0
    patterns: Counter[str] = field(default_factory=Counter)
    own_slot: Counter[str] = field(default_factory=Counter)
    leaking: Counter[Tier | None] = field(default_factory=Counter)
    told: Counter[Tier | None] = field(default_factory=Counter)
    held: Counter[Tier | None] = field(default_factory=Counter)
    claims: Counter[tuple[ClaimKind, bool]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the audits found in one message, by its text alone and by whom it reached."""

    patterns: tuple[str, ...]
    own_slot: tuple[str, ...]
    told: Mapping[ItemId, Tier]
    claims: tuple[tuple[ClaimKind, bool], ...]


class AuditTables:
    """Takes the traces of a run, in any order, and writes the four tables in a fixed one.

    Games without a seat that uses language add nothing, nor do lost ones. What is kept in
    memory is a few counts for each player, and the names of the games.
    """

    def __init__(
        self,
        folder: Path,
        teams: Sequence[str],
        *,
        label_banks: Path = LABEL_BANKS,
        places: Places | None = None,
    ) -> None:
        """Take the settings.

        Args:
            folder: where the tables go, usually ``tables``; made if missing.
            teams: team ids in the order in which tables list them.
            label_banks: where the label banks stand that traces name.
            places: of the games, shared with other tables of the run.
        """
        self._folder = folder
        self._label_banks = label_banks
        self._order = GameOrder(teams)
        self._places = Places() if places is None else places
        self._taken: set[int] = set()
        self._tallies: dict[Key, _Tally] = {}

    def add(self, trace: Trace) -> None:
        """Take one game.

        Raises:
            ConfigError: there is no such label bank as the trace names.
            FileError: the label bank does not fit.
            ValueError: this team's game on this scenario was taken already.
        """
        team, scenario = trace.config.team, trace.scenario
        key = self._order.key(scenario.setting, team.team_id, scenario.scenario_id)
        place = self._places.of(key)
        if place in self._taken:
            raise ValueError(f"two games are called {key}")
        self._taken.add(place)
        if not team.uses_language or is_lost(trace.events):
            return
        names = [player.name for player in players_of(team, scenario.num_agents)]
        game = _Game([self._both((*key[:3], name)) for name in names])
        game.take(trace, labels_of_game(trace, self._label_banks))

    def _both(self, key: Key) -> tuple[_Tally, _Tally]:
        """Return the tallies of a player and of its whole team."""
        whole = (*key[:3], WHOLE_TEAM)
        return (
            self._tallies.setdefault(key, _Tally()),
            self._tallies.setdefault(whole, _Tally()),
        )

    def write(self) -> None:
        """Write the tables, each whole or not at all.

        Raises:
            OutputError: the folder cannot be written.
        """
        tables = (self._patterns(), self._own_slot(), self._leaks(), self._honesty())
        for name, lines in zip(NAMES, tables, strict=True):
            table = f"{name}.csv"
            text = row(*header(table)) + versioned("".join(lines))
            write_atomically(self._folder / table, text.encode())

    def _rows(self) -> Iterator[tuple[list[Cell], _Tally]]:
        for key in sorted(self._tallies):
            setting, _, team, player = key
            yield [setting, team, player or None], self._tallies[key]

    def _patterns(self) -> Iterator[str]:
        for place, tally in self._rows():
            for pattern in PATTERNS:
                count = tally.patterns[pattern.name]
                total = tally.messages if pattern.unit == "messages" else tally.games
                cells: list[Cell] = [
                    pattern.name,
                    pattern.level,
                    pattern.unit,
                    tally.games,
                    tally.messages,
                ]
                yield _line([*place, *cells, count, Share(count, total).rate])

    def _own_slot(self) -> Iterator[str]:
        found: list[list[Cell]] = []
        p_values: list[float | None] = []
        for key in sorted(self._tallies):
            setting, _, team, player = key
            for label in LABELS:
                tally = self._tallies[key]
                own = Share(tally.own_slot[label], tally.messages)
                others = self._others(key, label)
                found.append([setting, team, player or None, label, own.total, own.found])
                found[-1] += [own.rate, *wilson(own), others.total, others.rate]
                p_values.append(difference(own, others) if player else None)
        for cells, p_value, adjusted in zip(found, p_values, corrected(p_values), strict=True):
            yield _line([*cells, p_value, adjusted])

    def _others(self, key: Key, label: str) -> Share:
        """Return the share of all other players of the same setting together."""
        if not key[3]:
            return Share(0, 0)
        tallies = [
            tally
            for other, tally in self._tallies.items()
            if other[0] == key[0] and other[3] not in {key[3], WHOLE_TEAM}
        ]
        return Share(
            sum(tally.own_slot[label] for tally in tallies),
            sum(tally.messages for tally in tallies),
        )

    def _leaks(self) -> Iterator[str]:
        for place, tally in self._rows():
            for tier in (None, *TIERS):
                share = Share(tally.leaking[tier], tally.messages)
                cells: list[Cell] = [tier or "all", share.total, share.found, share.rate]
                cells += [*wilson(share), tally.told[tier], tally.held[tier]]
                yield _line([*place, *cells])

    def _honesty(self) -> Iterator[str]:
        for place, tally in self._rows():
            for kind in KINDS:
                true, false = tally.claims[kind, True], tally.claims[kind, False]
                share = Share(true, true + false)
                yield _line([*place, kind, share.total, true, share.rate, *wilson(share)])


class _Game:
    """One game on its way into the tallies of its players, two for each agent."""

    def __init__(self, tallies: Sequence[tuple[_Tally, _Tally]]) -> None:
        self._tallies = tallies
        for tally in {id(each): each for both in tallies for each in both}.values():
            tally.games += 1

    def take(self, trace: Trace, labels: Labels | None) -> None:
        scenario = trace.scenario
        told: list[dict[ItemId, Tier]] = [{} for _ in self._tallies]
        errands = standings(scenario)
        for message in said(trace):
            own = own_slot(message.text)
            claims = tuple(
                (claim.kind, truth)
                for claim in claims_in(message.text)
                if (truth := is_true(claim, message.calendar, errands)) is not None
            )
            leaked = {} if labels is None else told_labels(message, labels, scenario)
            heard = _Heard(
                patterns=message_patterns(message.text, {message.sender, *message.recipients}),
                own_slot=tuple(n for n in LABELS if getattr(own, n)),
                told=leaked,
                claims=claims,
            )
            told[message.sender] |= leaked
            for tally in self._tallies[message.sender]:
                _count(tally, heard)
        for agent, both in enumerate(self._tallies):
            for tally in both:
                _count_labels(tally.told, told[agent].values())
                if labels is not None:
                    _count_labels(tally.held, _tiers(labels, AgentId(agent)))
        self._take_failures(trace)

    def _take_failures(self, trace: Trace) -> None:
        whole = self._tallies[0][1]
        for pattern, agents in occurrences(trace):
            whole.patterns[pattern] += 1
            players = {id(self._tallies[agent][0]): self._tallies[agent][0] for agent in agents}
            for tally in players.values():
                tally.patterns[pattern] += 1


def _tiers(labels: Labels, agent: AgentId) -> list[Tier]:
    return [labels.label_of(item).tier for item in labels.items_by_agent[agent]]


def _count(tally: _Tally, heard: _Heard) -> None:
    tally.messages += 1
    tally.patterns.update(heard.patterns)
    tally.own_slot.update(heard.own_slot)
    tally.claims.update(heard.claims)
    if heard.told:
        tally.patterns["semantic_label_leakage"] += 1
        tally.leaking.update({None, *heard.told.values()})


def _count_labels(counter: Counter[Tier | None], tiers: Iterable[Tier]) -> None:
    for tier in tiers:
        counter[tier] += 1
        counter[None] += 1


def _line(cells: Sequence[Cell]) -> str:
    return row(*(cell(value, DIGITS) for value in cells))
