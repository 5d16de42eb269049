"""Writes the trace browser's page data: files of games, an index of all, words to search.

A file holds the games on one scenario, by team: of each its whole trace, which scripts of the page
unpack and readers download, and what tables and facts know of it.

Games are read and written by worker processes, a few scenarios at a time; what comes back for each
is a handful of numbers, and the words of its messages. The files do not depend on how many
processes there are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from calbench.analysis.summary import KIND_WORDS, in_words
from calbench.facts.storage import Facts
from calbench.files import no_collection
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.privacy.inference.bits import AGENT_DIGITS
from calbench.metrics.speech.messages import said
from calbench.pool import Pool, mapped
from calbench.report.escape import packed_text, script_json, write_data
from calbench.report.experiment import Experiment, ScenarioTraces
from calbench.report.games.index import ExperimentIndex, WordIndex, index_data, words_of
from calbench.report.games.ledger import OPTIMUM_COLUMNS, GameBits, Judged, JudgedGames, ledger_data
from calbench.report.tables import Row
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import Catalog
from calbench.traces.models import Seat, Trace

PLAYED_COLUMNS = (
    "is_excluded",
    "meetings",
    "scheduled",
    "messages",
    "cost",
    "oracle_cost",
    "excess_cost",
    "bits",
)
"""Of a game's row in ``games.csv``."""

TOLD_COLUMNS = ("labels_told", "told_sensitive", "labels_passed_on")
"""Of its row in ``audit_games.csv``, if its agents talk in words."""


class Rows(NamedTuple):
    """A game's rows of ``games.csv`` and ``audit_games.csv``."""

    played: Row
    told: Row | None = None


def what_happened(rows: Rows) -> str:
    """Return a scored or excluded game in one sentence."""
    row = rows.played
    if row["is_excluded"]:
        return f"Halted before its end and not scored: {_scheduled(row)} in {_messages(row)}."
    learnt = "" if row["bits"] is None else f"; all together learnt {row['bits']:.1f} bits"
    said = f"{_scheduled(row)} in {_messages(row)} at {_cost(row)}{learnt}"
    return f"{_capital(said)}{_told(rows.told)}."


def _scheduled(row: Row) -> str:
    meetings, scheduled = row["meetings"], row["scheduled"]
    if scheduled == 0:
        return f"none of {_counted(meetings, 'meeting')} was scheduled"
    if scheduled == meetings == 1:
        return "the meeting was scheduled"
    if scheduled == meetings:
        return f"all {meetings} meetings were scheduled"
    return f"{scheduled} of {meetings} meetings {_were(scheduled)} scheduled"


def _cost(row: Row) -> str:
    """Return what was paid, and how far that is above the least for what was scheduled."""
    paid, excess = f"cost {row['cost']}", row["excess_cost"]
    if row["scheduled"] == 0:
        return paid
    optimum = "the optimum"
    if row["scheduled"] != row["meetings"]:
        optimum = f"the optimum of {_those(row['scheduled'])}"
    return f"{paid}, {optimum}" if excess == 0 else f"{paid}, {excess} above {optimum}"


def _told(row: Row | None) -> str:
    """Return which private labels were given away; nothing of games without words."""
    if row is None:
        return ""
    told, sensitive, passed = (row[name] for name in TOLD_COLUMNS)
    parts = []
    if told:
        secret = f" ({sensitive} sensitive)" if sensitive else ""
        parts.append(f"{_counted(told, 'private label')}{secret} {_were(told)} told")
    if passed:
        parts.append(f"{_counted(passed, 'label')} of others {_were(passed)} passed on")
    return "; " + " and ".join(parts) if parts else ""


def _messages(row: Row) -> str:
    return _counted(row["messages"], "message")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _those(scheduled: int) -> str:
    return "that one" if scheduled == 1 else f"these {scheduled}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


class OfTables(NamedTuple):
    """What tables and facts say of a game.

    Attributes:
        unreachable: its row of ``optimum_unreachable.csv``, if there is one.
        rows: those of the tables that say what happened.
        judged: what was found in its messages, if facts tell.
        told: the bits that each message told, where they are known.
    """

    unreachable: Row | None = None
    rows: Rows | None = None
    judged: Mapping[int, Judged] | None = None
    told: Mapping[int, float] = MappingProxyType({})

    @property
    def bits(self) -> GameBits | None:
        """What its messages told, and how much of it its outcome tells anyway."""
        of_game = None if self.rows is None else self.rows.played["bits"]
        if of_game is None or not self.told:
            return None
        return GameBits(self.told, round(fsum(self.told.values()) - of_game, AGENT_DIGITS))


NOTHING = OfTables()


GAMES_PER_TASK = 40
"""About so many games are handed to a worker at once [C]."""


@dataclass(frozen=True, slots=True)
class GameTask:
    """Games of a few scenarios, for one worker.

    Attributes:
        folder: where page data goes.
        suite: its file, for messages.
        traces: folder with ``<team>/<scenario_id>.json``.
        catalog: of the games.
        scenarios: each as JSON, which processes hand over faster than the object.
        known: what tables and facts say of games, by team and scenario.
        measure: settings of the metrics.
    """

    folder: Path
    experiment: str
    suite: Path
    traces: Path
    catalog: Catalog
    teams: tuple[str, ...]
    scenarios: tuple[str, ...]
    known: Mapping[tuple[str, str], OfTables]
    measure: MeasureSpec


@dataclass(frozen=True, slots=True)
class WrittenGame:
    """A game whose files are written, as the index and the search need it.

    The kind of its team is in words; ``messages`` has the different words of each message that is
    text, in the order sent.
    """

    scenario_id: str
    team: str
    kind: str
    messages: tuple[frozenset[str], ...] = ()


@no_collection()
def write_games(experiments: Sequence[Experiment], folder: Path, pool: Pool | None = None) -> None:
    """Write page data of all games.

    Keys begin with the experiment: settings, teams and scenarios of several experiments may
    have the same names.

    Args:
        experiments: whose games, in the order of the index.
        folder: where page data goes.
        pool: where to read and write games; ``None`` does it here.

    Raises:
        FileError: a trace does not fit its suite, or no row of ``games.csv`` tells of it.
    """
    entries: list[Mapping[str, Any]] = []
    words = WordIndex()
    for results in experiments:
        entry, is_empty = ExperimentIndex(results), True
        for game in _games(results, folder, pool):
            entry.add(game.team, game.kind, game.scenario_id, words.add(game.messages))
            is_empty = False
        if not is_empty:
            entries.append(entry.data())
    buckets = []
    for bucket, content in words.files():
        write_data(folder, f"search/{bucket}", content)
        buckets.append(bucket)
    write_data(folder, "index", index_data(entries, buckets))


def _games(results: Experiment, folder: Path, pool: Pool | None) -> Iterator[WrittenGame]:
    for written in mapped(write_task, _tasks(results, folder), pool):
        yield from written


def _tasks(results: Experiment, folder: Path) -> Iterator[GameTask]:
    size = max(1, GAMES_PER_TASK // max(1, len(results.teams)))
    unreachable = _chosen(results.by_game("optimum_unreachable.csv"), OPTIMUM_COLUMNS)
    played = _chosen(results.by_game("games.csv"), PLAYED_COLUMNS)
    told = _chosen(results.by_game("audit_games.csv"), TOLD_COLUMNS)
    judged = JudgedGames(None if results.facts is None else Facts(results.facts))
    catalog = Catalog()
    for start in range(0, len(results.shown), size):
        chunk = results.shown[start : start + size]
        games = [(team, each.scenario_id) for each in chunk for team in results.teams]
        yield GameTask(
            folder=folder,
            experiment=results.name,
            suite=results.suite,
            traces=results.traces,
            catalog=catalog.of(results.traces / team / f"{name}.json" for team, name in games),
            teams=results.teams,
            scenarios=tuple(each.model_dump_json() for each in chunk),
            known={
                game: OfTables(
                    unreachable.get(game),
                    Rows(played[game], told.get(game)) if game in played else None,
                    judged.of(*game) or None,
                    judged.bits_of(*game),
                )
                for game in games
            },
            measure=results.made_with.measure,
        )


def _chosen(
    rows: Mapping[tuple[str, str], Row], columns: Sequence[str]
) -> dict[tuple[str, str], Row]:
    """Return some columns of rows, which are less to hand to a worker."""
    return {game: {name: row[name] for name in columns} for game, row in rows.items()}


@no_collection()
def write_task(task: GameTask) -> list[WrittenGame]:
    """Write the games of a task; games that are missing are left out."""
    return list(_written(task))


def _written(task: GameTask) -> Iterator[WrittenGame]:
    for scenario in map(Scenario.model_validate_json, task.scenarios):
        scenario_id, shared = scenario.scenario_id, b""
        games: dict[str, tuple[Mapping[str, Any], bytes]] = {}
        traces = ScenarioTraces(task.suite, scenario, task.catalog)
        for team in task.teams:
            path = task.traces / team / f"{scenario_id}.json"
            if not task.catalog.has(path):
                continue
            trace, data = traces.read(path, team)
            known = task.known[team, scenario_id]
            about = about_game(trace, task.experiment, known, task.measure)
            games[team] = about, data
            shared = shared or trace.scenario.written
            yield written_game(trace)
        if games:
            held = {"teams": list(games), "games": packed_games(shared, games.values())}
            write_data(task.folder, f"games/{task.experiment}/{scenario_id}", held)


def packed_games(scenario: bytes, games: Iterable[tuple[Mapping[str, Any], bytes]]) -> str:
    """Return games on one scenario as their file holds them, in lines.

    The first line is the scenario, which is a fifth of a game in gzip. Each game has two more: the
    place of the scenario in its trace, none if it has another, with what is told of the game; and
    the trace without the scenario.

    Args:
        scenario: as the traces hold it.
        games: what is told of each, and the file of its trace, one line.

    Raises:
        ValueError: a file is not one line, which would not come out again as it was.
    """
    lines = [scenario]
    for about, trace in games:
        if trace.count(b"\n") != 1 or not trace.endswith(b"\n"):
            raise ValueError("a trace is one line")
        before, found, behind = trace.partition(scenario)
        place = len(before) if found else None
        lines.append(script_json([place, about]).encode("ascii"))
        lines.append((before + behind)[:-1])
    return packed_text(b"\n".join(lines))


def about_game(
    trace: Trace,
    experiment: str,
    of_tables: OfTables = NOTHING,
    measure: MeasureSpec = DEFAULT_MEASURE,
) -> dict[str, Any]:
    """Return what the browser is told of a game beside its trace.

    Args:
        trace: the game.
        experiment: its name.
        of_tables: what tables and facts say of it.
        measure: settings of the metrics.
    """
    rows = of_tables.rows
    return {
        "experiment": experiment,
        "kind": team_kind(trace.config.team.seats),
        **({} if rows is None else {"summary": what_happened(rows)}),
        "ledger": ledger_data(
            trace, of_tables.unreachable, measure, judged=of_tables.judged, bits=of_tables.bits
        ),
    }


def written_game(trace: Trace) -> WrittenGame:
    """Return what the index and the search take of a game."""
    team = trace.config.team
    messages = said(trace) if team.uses_language else ()
    return WrittenGame(
        scenario_id=trace.scenario.scenario_id,
        team=team.team_id,
        kind=team_kind(team.seats),
        messages=tuple(words_of(message.text) for message in messages),
    )


def team_kind(seats: Sequence[Seat]) -> str:
    """Return the kind of a team in words; seats of several kinds are named together."""
    return kind_words(dict.fromkeys(seat.kind for seat in seats))


def kind_words(kinds: Iterable[str]) -> str:
    """Return kinds of players in words."""
    return in_words(kinds, KIND_WORDS)
