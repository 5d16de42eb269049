"""``python -m calbench.rescore TRACES... out=DIR``: all tables from traces alone.

Takes files, folders of them, and whole runs, mixed as one likes. Traces are read strictly but
not replayed: that is ``calbench.verify``'s business.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from calbench.analysis.output import SCRATCH, write_all_tables
from calbench.analysis.scoring import chunks, facts_of, mapped
from calbench.analysis.settings import Settings
from calbench.analysis.tables import TABLES
from calbench.config import RunSpec, compose
from calbench.console import ending_on_interrupt, progress, say
from calbench.engine.pool import workers
from calbench.errors import CalbenchError, ConfigError, FileError, OutputError
from calbench.llm.prices import read_prices
from calbench.memory import no_collection
from calbench.teams import PRICES
from calbench.traces.storage import TraceHead, read_head, trace_paths

USAGE = """\
usage: python -m calbench.rescore TRACES... out=DIR [key=value ...]

TRACES are trace files, folders of them, or folders of whole runs. The tables of a run come
out as the run wrote them, if the options are those of the run:

  out=DIR                 an empty folder, a new one, or one that holds nothing but tables
  teams=[imap,silent]     order in which tables list teams; others follow by name
  jobs=N                  processes (1)
  facts=scores            without what grows with talk
  judge=scripted          with the tables of the scripted judge
  measure.KEY=VALUE       settings of the metrics, e.g. measure.vps_floor=5
  analysis.KEY=VALUE      settings of the estimates, e.g. analysis.bootstrap_resamples=2000"""

TEAM_ORDER = (
    "imap",
    "sd-map",
    "dsm-welfare",
    "dsm-private",
    "dsm-welfare-single",
    "mediator",
    "secure-sum",
    "tell-all",
    "first-free",
    "silent",
    "candid",
    "guarded",
    "oversharer",
    "mixed-scripted",
)
"""Known teams come as in our experiments unless told otherwise, then others by name [C]."""

SETTINGS = ("jobs=", "facts=", "judge=", "measure=", "measure.", "analysis=", "analysis.")
"""Keys that the configuration answers for."""

KEPT = frozenset({*TABLES, "datapackage.json", "metrics.json", "metrics/*/*.json", f"{SCRATCH}/*"})
"""Files that may stand in the folder already, as patterns: they are written anew."""


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A trace on disk, of which only the head was read. Ten thousand of them stay in memory.

    Attributes:
        file: path of the trace, as text, which takes a third of the room.
        head: what it is about.
    """

    file: str
    head: TraceHead

    @property
    def path(self) -> Path:
        """Its trace."""
        return Path(self.file)

    @property
    def team_id(self) -> str:
        """Whose game it is."""
        return self.head.team_id

    @property
    def scenario_id(self) -> str:
        """On which scenario it was played."""
        return self.head.scenario_id


@dataclass(frozen=True, slots=True)
class _Request:
    """What the command line asks for."""

    paths: list[Path]
    out: Path
    teams: list[str]
    spec: RunSpec


def main(arguments: Sequence[str]) -> int:
    """Write the tables; return 0 if they stand, 2 on a mistake."""
    if not arguments or {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0 if arguments else 2
    try:
        request = _parse(arguments)
        count = rescore(request.paths, request.out, request.teams, request.spec)
    except CalbenchError as error:
        say(f"error: {error}")
        return 2
    print(f"{count} games scored\nTables   {request.out}/leaderboard.csv and others beside it")
    return 0


def rescore(paths: Sequence[Path], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write all tables of the traces below some paths; return how many games they hold.

    Args:
        paths: trace files, folders of them, or folders of runs.
        out: where the tables go; those of privacy below ``privacy``.
        teams: order in which tables list teams; others follow by name.
        spec: its facts, judge, settings of metrics and estimates, and number of processes count.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    check_folder(out)
    with workers(spec.jobs) as executor:
        games = recorded_games(paths, executor)
        rank = {team: index for index, team in enumerate(teams)}
        games.sort(
            key=lambda g: (rank.get(g.team_id, len(rank)), g.team_id, g.head.setting, g.file)
        )
        with progress("tables", len(games)) as tick:
            settings = Settings(spec.measure, spec.analysis, read_prices(PRICES).models)
            facts = facts_of(spec.facts, spec.judge)
            write_all_tables(games, out, settings, tick, executor, facts)
    return len(games)


def recorded_games(paths: Iterable[Path], executor: Executor | None = None) -> list[RecordedGame]:
    """Return the games below some paths; those of one key must be one game.

    Args:
        paths: trace files, folders of them, or folders of runs.
        executor: where to read; ``None`` reads here.

    Raises:
        FileError: a file is no trace, or two contradict each other.
    """
    files = [file for path in paths for file in trace_paths(path)]
    census = _Census()
    with progress("read", len(files)) as tick:
        for games in mapped(_read_heads, chunks(files), executor):
            for game in games:
                census.add(game)
                tick()
    return list(census.games.values())


def _read_heads(files: Sequence[Path]) -> list[RecordedGame]:
    with no_collection():
        return [RecordedGame(str(file), read_head(file)) for file in files]


@dataclass(slots=True)
class _Census:
    """Every game by what its rows are sorted by, and every scenario by its name."""

    games: dict[tuple[str, str, str], RecordedGame] = field(default_factory=dict)
    scenarios: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def add(self, read: RecordedGame) -> None:
        head = read.head.shared()
        game = RecordedGame(read.file, head)
        earlier = self.games.setdefault((head.setting, head.team_id, head.scenario_id), game)
        if earlier is not game:
            raise FileError(
                f"{game.file}: {head.team_id} on {head.scenario_id} of {head.setting} is in "
                f"{earlier.file} already; name one of the two, or score them apart"
            )
        mine = head.scenario_digest
        known, file = self.scenarios.setdefault((head.setting, head.scenario_id), (mine, game.file))
        if known != mine:
            raise FileError(
                f"{game.file}: {head.scenario_id} of {head.setting} is another scenario than in "
                f"{file}; score them apart"
            )


def check_folder(out: Path, kept: Collection[str] = KEPT) -> None:
    """Refuse a folder in which something else than tables stands.

    Raises:
        OutputError: naming it.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is not a folder; choose another one with out=")
    for other in _strangers(out, kept):
        raise OutputError(
            f"{out}: holds {other}, which is not a table; nothing was written: choose another "
            f"folder, e.g. out={out}-rescored"
        )


def _strangers(out: Path, kept: Collection[str]) -> Iterator[str]:
    folders = {str(parent) for name in kept for parent in PurePosixPath(name).parents}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if not any(fnmatchcase(name, each) for each in (folders if path.is_dir() else kept)):
            yield name


def _parse(arguments: Sequence[str]) -> _Request:
    paths, settings = [], []
    out, teams = None, list(TEAM_ORDER)
    for argument in arguments:
        key, is_given, value = argument.partition("=")
        if is_given and key == "out" and value:
            out = Path(value)
        elif is_given and key == "teams":
            teams = [name.strip() for name in value.strip("[]").split(",")]
        elif is_given and argument.startswith(SETTINGS):
            settings.append(argument)
        elif is_given and not Path(argument).exists():
            raise ConfigError(f"{argument}: is neither an option nor a file; see --help")
        else:
            paths.append(Path(argument))
    if out is None:
        raise ConfigError("out=DIR is missing: the folder in which the tables shall stand")
    if not paths:
        raise ConfigError("no traces are named: give trace files, or folders of them")
    return _Request(paths, out, teams, compose(settings))


if __name__ == "__main__":
    with ending_on_interrupt(lambda: "Stopped; no table was written"):
        sys.exit(main(sys.argv[1:]))
