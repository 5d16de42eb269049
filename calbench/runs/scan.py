"""What somebody should look at before a run is believed: findings by released rules, no verdict.

A finding names its rule, game and event, and quotes what was found. Words are searched where their
author wrote them: in what was thought, said and justified, whether it was delivered or not. With
the recorded replies given, replies that could not be read are searched too, and who answered and
how long it took is known; a trace has neither. Games are read one by one; of a game only findings,
and of each answer two numbers, stay in memory.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from calbench.console import progress
from calbench.domain.actions import Reschedule
from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.files import printable, shorten
from calbench.llm.replies.store import ReplyStore
from calbench.metrics.usage import ANSWERS, PROBLEMS
from calbench.runs.oddities import MOST_FOUND, TABLE, masked, word_findings
from calbench.traces.catalog import trace_paths
from calbench.traces.events import (
    OVER_CAP,
    AgentRegistered,
    BatchRejected,
    DecideEnd,
    Event,
    GameHalted,
    InvalidToolCall,
    Reflection,
    ReplyNote,
    TurnEnd,
    phase_of,
)
from calbench.traces.models import Seat, Trace
from calbench.traces.storage import TraceReader

RULES: Final[Mapping[str, tuple[str, str]]] = {
    name: (rule["kind"], rule["about"]) for name, rule in TABLE["rules"].items()
}
"""Kind and meaning of each rule, in the order of tables."""

UNREADABLE_SHARE = 0.05
"""Share of a player's replies of a phase from which it is a finding [C]."""

REPEATS, SHORT = 3, 20
"""Turns with the same words that are a finding, and the letters below which words are none [C]:
"Slot 4 works for me." is said again and again for good reasons."""

TIMES, LEAST_TOKENS, LEAST_MS = 8, 200, 10_000
"""Multiple of the median that is out of line, if it is also this many tokens or milliseconds more
[C]: half of all answers are short."""

_LIMITS = (GameHalted, InvalidToolCall, BatchRejected)

_Where = tuple[str, str, str]
"""Path of a trace, team and scenario of its game."""

MOST_OF_A_GAME = 3
"""Findings of one rule that are kept of a game [C]; all are counted."""

_CUT = {
    "truncated": "reply_cut",
    "context_exceeded": "reply_cut",
    "refused": "reply_refused",
    "empty": "reply_empty",
}
"""Rules by the kind of a note on a reply."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found.

    Attributes:
        rule: of :data:`RULES`.
        path: of the trace.
        team: of the game.
        scenario_id: of the game.
        agent_id: whose seat it is; absent: nobody's.
        player: who sits there.
        event: its number in the trace, from 0.
        round: from 0; absent before the first.
        phase: of the round, if any.
        quote: on one line, shortened, keys and data of persons masked.
    """

    rule: str
    path: str
    team: str
    scenario_id: str
    agent_id: int | None
    player: str
    event: int
    round: int | None
    phase: str | None
    quote: str


@dataclass(slots=True)
class Scan:
    """What was looked at and what was found.

    Attributes:
        games: that were read.
        events: in them.
        texts: of agents that were searched.
        replies: recorded ones that were looked at.
        counts: of findings, by rule.
        games_by_rule: games with a finding.
        findings: at most three of a rule and game, in the order of games and events.
    """

    games: int = 0
    events: int = 0
    texts: int = 0
    replies: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    games_by_rule: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, found: Iterable[Finding]) -> None:
        """Count the findings of one game, and keep the first of each rule."""
        own: Counter[str] = Counter()
        for each in found:
            own[each.rule] += 1
            if own[each.rule] <= MOST_OF_A_GAME:
                self.findings.append(each)
        self.counts.update(own)
        self.games_by_rule.update(own.keys())

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        rules = [
            {
                "rule": name,
                "kind": kind,
                "about": about,
                "findings": self.counts[name],
                "games": self.games_by_rule[name],
            }
            for name, (kind, about) in RULES.items()
        ]
        looked = {"games": self.games, "events": self.events, "texts": self.texts}
        found = [asdict(each) for each in self.findings]
        return {**looked, "replies": self.replies, "rules": rules, "findings": found}


def scan(paths: Sequence[Path], replies: ReplyStore | None = None) -> Scan:
    """Look through games.

    Args:
        paths: of traces, or of folders and runs with traces.
        replies: recorded ones of their models, if they are known.

    Raises:
        FileError: a trace cannot be read, or there is none.
    """
    found, reader, totals = Scan(), TraceReader(), _Totals()
    traces = [path for each in paths for path in trace_paths(each, has_loose=True)]
    with progress("scanned", len(traces)) as tick:
        for path in traces:
            game = _GameScan(reader.read(path), path, replies, totals)
            found.add(game.findings())
            found.games += 1
            found.events += len(game.trace.events)
            found.texts += game.texts
            found.replies += game.replies
            tick()
    found.add(totals.findings())
    return found


class _Totals:
    """Of all games: shares of unreadable replies, and tokens and times of answers."""

    def __init__(self) -> None:
        self.games: list[_Where] = []
        self.replies = Counter[tuple[str, str]]()  # by player and phase
        self.unread = Counter[tuple[str, str]]()
        self.first_unread: dict[tuple[str, str], Finding] = {}
        self._answers: dict[tuple[str, str, str], array[int]] = defaultdict(lambda: array("q"))

    def note(self, rule: str, player: str, phase: str, value: int, place: tuple[int, ...]) -> None:
        """Note a number of an answer: its game is the last one, its place event, agent, round."""
        self._answers[rule, player, phase].extend((value, len(self.games) - 1, *place))

    def findings(self) -> Iterator[Finding]:
        """Yield what is seen only when all games are known."""
        for (player, phase), first in sorted(self.first_unread.items()):
            unread, replies = self.unread[player, phase], self.replies[player, phase]
            if unread >= UNREADABLE_SHARE * replies:
                said = f"{unread} of {replies} replies of {player} in {phase}, e.g. "
                yield replace(first, quote=f"{said}{first.quote}")
        for (rule, player, phase), notes in sorted(self._answers.items()):
            values = notes[::5]
            middle, least = median(values), LEAST_TOKENS if rule == "long_answer" else LEAST_MS
            unit = "tokens" if rule == "long_answer" else "milliseconds"
            for start in range(0, len(notes), 5):
                value, number, event, agent, round_index = notes[start : start + 5]
                if value >= TIMES * middle and value >= middle + least:
                    quote = f"{value} {unit}, median {middle:g}"
                    where = self.games[number]
                    yield Finding(rule, *where, agent, player, event, round_index, phase, quote)


class _GameScan:
    """Looks through one game, once."""

    def __init__(
        self, trace: Trace, path: Path, replies: ReplyStore | None, totals: _Totals
    ) -> None:
        self.trace, self.texts, self.replies = trace, 0, 0
        self._store, self._totals = replies, totals
        team, agents = trace.config.team, map(AgentId, range(trace.scenario.num_agents))
        self._seats: list[Seat] = [team.seat_of(agent) for agent in agents]
        self._where = (printable(str(path)), team.team_id, trace.scenario.scenario_id)
        totals.games.append(self._where)
        self._said: dict[tuple[int, str], set[tuple[int, int]]] = defaultdict(set)
        self._asked: dict[int, int] = {}
        self._acted: set[int] = set()
        self._last_sweep = trace.config.limits.max_turns_per_round - 1
        meetings = trace.scenario.meetings
        self._participants = {agent for each in meetings for agent in each.participants}

    def findings(self) -> Iterator[Finding]:
        """Yield what each event is found for, and at the end who did nothing."""
        events = self.trace.events
        for index, event in enumerate(events):
            if isinstance(event, ANSWERS):
                yield from self._of_answer(index, event)
            elif isinstance(event, ReplyNote):
                yield from self._of_note(index, event)
            elif isinstance(event, AgentRegistered):
                if event.system_prompt is not None and self._seats[event.agent_id].is_open:
                    yield from self._of_words(index, event, event.system_prompt, {"private data"})
            elif isinstance(event, _LIMITS):
                yield from self._of_limit(index, event)
        for agent, index in sorted(self._asked.items()):
            is_meant = self._seats[agent].kind == "degenerate"
            if agent in self._participants - self._acted and not is_meant:
                yield self._finding("idle", index, events[index], "no action in any turn")

    def _of_limit(
        self, index: int, event: GameHalted | InvalidToolCall | BatchRejected
    ) -> Iterator[Finding]:
        if isinstance(event, GameHalted):
            yield self._finding("halted", index, event, f"{event.reason}: {event.detail}")
        elif isinstance(event, InvalidToolCall):
            if event.reason.startswith(OVER_CAP):
                yield self._finding("over_cap", index, event, event.reason)
        elif event.actions and event.attempt >= self.trace.config.limits.decision_retries:
            yield self._finding("retries", index, event, event.conflict)

    def _of_answer(self, index: int, event: TurnEnd | DecideEnd | Reflection) -> Iterator[Finding]:
        agent, phase = event.agent_id, phase_of(event) or ""
        player, place = self._seats[agent].player, (index, agent, event.round)
        if self._seats[agent].uses_language:
            self._totals.replies[player, phase] += 1
        parts = [] if isinstance(event, Reflection) else list(_written(event))
        yield from self._of_replies(index, event, place, is_read=bool(parts))
        for text in parts:
            yield from self._of_words(index, event, text)
        if event.usage is not None and not event.usage.is_estimated:
            self._totals.note("long_answer", player, phase, event.usage.output_tokens, place)
            if parts and not event.usage.output_tokens:
                yield self._finding("no_tokens", index, event, parts[0])
        if isinstance(event, Reflection):
            return
        self._asked[agent] = index
        if event.actions:
            self._acted.add(agent)
        if isinstance(event, TurnEnd):
            yield from self._of_turn(index, event)

    def _of_turn(self, index: int, event: TurnEnd) -> Iterator[Finding]:
        if event.turn == self._last_sweep and event.actions:
            yield self._finding("talk_cut", index, event, f"sweep {event.turn + 1}, the last")
        for text in {each for each in _messages(event) if len(each) >= SHORT}:
            turns = self._said[event.agent_id, text]
            turns.add((event.round, event.turn))
            if len(turns) == REPEATS:
                yield self._finding("repeated", index, event, text)

    def _of_note(self, index: int, event: ReplyNote) -> Iterator[Finding]:
        if event.kind in PROBLEMS:
            found = self._finding(_CUT.get(event.kind, ""), index, event, event.detail)
            place, why = (found.player, event.phase.value), f"{event.kind}: {found.quote}"
            self._totals.unread[place] += 1
            first = replace(found, rule="unreadable", quote=why)
            self._totals.first_unread.setdefault(place, first)
            if found.rule:
                yield found

    def _of_replies(
        self,
        index: int,
        event: TurnEnd | DecideEnd | Reflection,
        place: tuple[int, ...],
        *,
        is_read: bool,
    ) -> Iterator[Finding]:
        """Look at the recorded replies behind an answer, if they are there."""
        if self._store is None or self._seats[event.agent_id].kind != "model":
            return
        for record in filter(None, map(self._store.get, event.reply_keys)):
            self.replies += 1
            said = record.provenance
            if said is not None and said.is_other(record.model):
                quote = f"asked {record.model}, answered by {said.model}"
                yield self._finding("other_model", index, event, quote)
            milliseconds = round(1000 * record.attempts[-1].latency_s)
            player = self._seats[event.agent_id].player
            self._totals.note("slow_answer", player, phase_of(event) or "", milliseconds, place)
            if not is_read:
                words = "\n".join(filter(None, (record.text, record.refusal)))
                yield from self._of_words(index, event, words)

    def _of_words(
        self, index: int, event: Event, text: str, kinds: Iterable[str] | None = None
    ) -> Iterator[Finding]:
        self.texts += 1
        chosen = {} if kinds is None else {"kinds": frozenset(kinds)}
        for rule, quote in word_findings(text, **chosen):
            yield self._finding(rule, index, event, quote)

    def _finding(self, rule: str, index: int, event: Any, quote: str) -> Finding:
        agent = getattr(event, "agent_id", None)
        player = "" if agent is None else self._seats[agent].player
        shown = shorten(printable(masked(quote)), 2 * MOST_FOUND)
        round_index, phase = getattr(event, "round", None), phase_of(event)
        return Finding(rule, *self._where, agent, player, index, round_index, phase, shown)


def _messages(event: TurnEnd | DecideEnd) -> Iterator[str]:
    """Yield the words that were said in a turn, delivered or not."""
    for action in event.actions:
        content = getattr(action, "content", None)
        if isinstance(content, Text):
            yield content.text


def _written(event: TurnEnd | DecideEnd) -> Iterator[str]:
    """Yield what an agent wrote in a turn: thoughts, messages, reasons for a move."""
    if event.thinking:
        yield event.thinking
    yield from dict.fromkeys(_messages(event))
    for action in event.actions:
        if isinstance(action, Reschedule) and action.justification:
            yield action.justification
