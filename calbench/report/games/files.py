"""Writes the trace browser's page data: a file for each game, an index of all, words to search.

Games are read and written by worker processes, a few scenarios at a time; what comes back for
each is a handful of numbers, and the words of its messages. The files do not depend on how many
processes there are.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from calbench.facts.storage import Facts
from calbench.files import no_collection
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.speech.messages import said
from calbench.pool import Pool, mapped
from calbench.report.archive import gzipped
from calbench.report.escape import write_data
from calbench.report.experiment import Experiment, ScenarioTraces
from calbench.report.games.game import packed_game, prompt_data, scenario_data, team_kind
from calbench.report.games.index import ExperimentIndex, index_data
from calbench.report.games.ledger import OPTIMUM_COLUMNS, Judged, JudgedGames, ledger_data
from calbench.report.games.search import WordIndex, words_of
from calbench.report.tables import Row
from calbench.scenarios.models import Scenario
from calbench.traces.catalog import Catalog
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes

PLAYED_COLUMNS = (
    "is_excluded",
    "meetings",
    "scheduled",
    "messages",
    "cost",
    "oracle_cost",
    "excess_cost",
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
    if row["is_excluded"] == "true":
        return f"Halted before its end and not scored: {_scheduled(row)} in {_messages(row)}."
    return f"{_capital(_scheduled(row))} in {_messages(row)} at {_cost(row)}{_told(rows.told)}."


def _scheduled(row: Row) -> str:
    meetings, scheduled = row["meetings"], row["scheduled"]
    if scheduled == "0":
        return f"none of {_counted(meetings, 'meeting')} was scheduled"
    if scheduled == meetings == "1":
        return "the meeting was scheduled"
    if scheduled == meetings:
        return f"all {meetings} meetings were scheduled"
    return f"{scheduled} of {meetings} meetings {'was' if scheduled == '1' else 'were'} scheduled"


def _cost(row: Row) -> str:
    """Return what was paid, and how far that is above the least for what was scheduled."""
    paid, excess = f"cost {row['cost']}", row["excess_cost"]
    if row["scheduled"] == "0":
        return paid
    optimum = "the optimum"
    if row["scheduled"] != row["meetings"]:
        optimum = f"the optimum of {_those(row['scheduled'])}"
    return f"{paid}, {optimum}" if excess == "0" else f"{paid}, {excess} above {optimum}"


def _told(row: Row | None) -> str:
    """Return which private labels were given away; nothing of games without words."""
    if row is None:
        return ""
    told, sensitive, passed = (row[name] for name in TOLD_COLUMNS)
    parts = []
    if told and told != "0":
        secret = f" ({sensitive} sensitive)" if sensitive and sensitive != "0" else ""
        parts.append(f"{_counted(told, 'private label')}{secret} {_were(told)} told")
    if passed and passed != "0":
        parts.append(f"{_counted(passed, 'label')} of others {_were(passed)} passed on")
    return "; " + " and ".join(parts) if parts else ""


def _messages(row: Row) -> str:
    return _counted(row["messages"], "message")


def _counted(number: str, noun: str) -> str:
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"


def _were(number: str) -> str:
    return "was" if number == "1" else "were"


def _those(scheduled: str) -> str:
    return "that one" if scheduled == "1" else f"these {scheduled}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


GAMES_PER_TASK = 40
"""About so many games are handed to a worker at once [C]."""

PACKED = "calbench.packed"
"""The function that files of games and prompts call."""


@dataclass(frozen=True, slots=True)
class GameTask:
    """Games of a few scenarios, for one worker.

    Attributes:
        folder: where page data goes.
        suite: its file, for messages.
        traces: folder with ``<team>/<scenario_id>.json``.
        scenarios: each as JSON, which processes hand over faster than the object.
        unreachable: where the optimum of games became unreachable, by team and scenario.
        rows: what tables say happened, likewise.
        judged: what facts say of messages, likewise.
        measure: settings of the metrics.
    """

    folder: Path
    experiment: str
    suite: Path
    traces: Path
    teams: tuple[str, ...]
    scenarios: tuple[str, ...]
    unreachable: Mapping[tuple[str, str], Row]
    rows: Mapping[tuple[str, str], Rows]
    judged: Mapping[tuple[str, str], Mapping[int, Judged]]
    measure: MeasureSpec


@dataclass(frozen=True, slots=True)
class WrittenGame:
    """What is left to say of a game when its files are written.

    The kind of its team is in words; ``messages`` has the different words of each message that is
    text, in the order sent.
    """

    scenario_id: str
    team: str
    kind: str
    messages: tuple[frozenset[str], ...] = ()


class OfTables(NamedTuple):
    """What tables and facts say of a game.

    Attributes:
        unreachable: its row of ``optimum_unreachable.csv``, if there is one.
        rows: those of the tables that say what happened.
        judged: what was found in its messages, if facts tell.
    """

    unreachable: Row | None = None
    rows: Rows | None = None
    judged: Mapping[int, Judged] | None = None


NOTHING = OfTables()


@no_collection()
def write_games(
    experiments: Sequence[Experiment],
    folder: Path,
    pool: Pool | None = None,
) -> None:
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
    is_whole = results.role.games == "all"
    scenarios = results.scenarios_as_read() if is_whole else iter(results.shown)
    tasks = _tasks(results, scenarios, folder)
    for written in mapped(write_task, tasks, pool):
        yield from written


def _tasks(results: Experiment, scenarios: Iterator[Scenario], folder: Path) -> Iterator[GameTask]:
    size = max(1, GAMES_PER_TASK // max(1, len(results.teams)))
    unreachable = _chosen(results.by_game("optimum_unreachable.csv"), OPTIMUM_COLUMNS)
    played = _chosen(results.by_game("games.csv"), PLAYED_COLUMNS)
    told = _chosen(results.by_game("audit_games.csv"), TOLD_COLUMNS)
    judged = JudgedGames(None if results.facts is None else Facts(results.facts))
    while chunk := list(islice(scenarios, size)):
        games = [(team, each.scenario_id) for each in chunk for team in results.teams]
        yield GameTask(
            folder=folder,
            experiment=results.name,
            suite=results.suite,
            traces=results.traces,
            teams=results.teams,
            scenarios=tuple(each.model_dump_json() for each in chunk),
            unreachable={game: unreachable[game] for game in games if game in unreachable},
            rows={game: Rows(played[game], told.get(game)) for game in games if game in played},
            judged={game: found for game in games if (found := judged.of(*game))},
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
    catalog = Catalog()
    for scenario in map(Scenario.model_validate_json, task.scenarios):
        scenario_id = scenario.scenario_id
        traces = ScenarioTraces(task.suite, scenario, catalog)
        path_by_team = {team: task.traces / team / f"{scenario_id}.json" for team in task.teams}
        present = [team for team, path in path_by_team.items() if catalog.has(path)]
        for place, team in enumerate(present):
            trace = traces.read(path_by_team[team], team)
            if place == 0:
                key = f"scenarios/{task.experiment}/{scenario_id}"
                write_data(task.folder, key, scenario_data(trace.scenario, present))
            of_tables = OfTables(
                task.unreachable.get((team, scenario_id)),
                task.rows.get((team, scenario_id)),
                task.judged.get((team, scenario_id)),
            )
            data = catalog.read(path_by_team[team])
            yield write_game(task.folder, trace, task.experiment, of_tables, task.measure, data)


def write_game(
    folder: Path,
    trace: Trace,
    experiment: str,
    of_tables: OfTables = NOTHING,
    measure: MeasureSpec = DEFAULT_MEASURE,
    data: bytes | None = None,
) -> WrittenGame:
    """Write a game with its ledger, its whole trace, and its prompts if it has any.

    Args:
        folder: where page data goes.
        trace: the game.
        experiment: its name.
        of_tables: what tables and facts say of it.
        measure: settings of the metrics.
        data: bytes of its file; absent: those that it would have.
    """
    team, scenario_id = trace.config.team, trace.scenario.scenario_id
    name = f"{experiment}/{team.team_id}/{scenario_id}"
    game = packed_game(trace, experiment)
    if of_tables.rows is not None:
        game["summary"] = what_happened(of_tables.rows)
    game["ledger"] = ledger_data(trace, of_tables.unreachable, measure, judged=of_tables.judged)
    write_data(folder, f"games/{name}", game, PACKED)
    if "has_prompts" in game:
        write_data(folder, f"prompts/{name}", prompt_data(trace), PACKED)
    whole = gzipped(trace_bytes(trace) if data is None else data)
    write_data(folder, f"traces/{name}", b64encode(whole).decode("ascii"))  # as scripts hold it
    messages = said(trace) if team.uses_language else ()
    return WrittenGame(
        scenario_id=scenario_id,
        team=team.team_id,
        kind=team_kind(team.seats),
        messages=tuple(words_of(message.text) for message in messages),
    )
