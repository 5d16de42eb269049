"""Whole suites played, runs measured, compared, verified and drawn."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Event
from typing import TYPE_CHECKING, Any

from calbench.api.arguments import checked
from calbench.api.games import game_config, load_suite, play_configured
from calbench.api.players import Player, named_team, player_name, team_of_players
from calbench.console import quiet
from calbench.errors import ConfigError, OutputError
from calbench.files import printable, shorten, user_path
from calbench.runs import results as of_runs
from calbench.runs.results import Results, temporary
from calbench.scenarios.models import Scenario
from calbench.traces.models import Limits, Trace

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from calbench.analysis.run_comparison import Comparison
    from calbench.engine.jobs import Job
    from calbench.report.tables import Row
    from calbench.runs.verification import Verified

read_run, read_results = checked(of_runs.read_run), checked(of_runs.read_results)


def suites() -> tuple[str, ...]:
    """Return the names of the published suites, sorted; :func:`load_suite` reads one.

    Those of the paper are ``uniform`` and ``varied`` (section 3); the others are ours [C].

    >>> calbench.suites()[-2:]
    ('uniform', 'varied')
    """
    from calbench.scenarios.storage import suite_names

    return tuple(suite_names())


def teams() -> Mapping[str, str]:
    """Return what each team of ``conf/teams`` does and where it is from, in a sentence, by its id.

    >>> calbench.teams()["imap"]
    'IMAP in every seat (paper, appendix D.1)'
    """
    from calbench.config.groups import described

    return described("teams")


def players() -> Mapping[str, str]:
    """Return what each protocol and baseline does and where it is from, in a sentence, by its name.

    Of those of installed distributions it says which one gives them.

    >>> calbench.players()["silent"]
    'Degenerate baseline: nobody says or books anything [C]'
    """
    from calbench.config.groups import described
    from calbench.extensions import given_by
    from calbench.protocols.registry import POLICIES

    own = dict.fromkeys(sorted(POLICIES), "")
    return {**own, **given_by("protocol"), **described("protocol")}


@checked
def evaluate(
    team: Player | Sequence[Player],
    suite: str | os.PathLike[str] | Sequence[Scenario],
    *,
    subset: int | Sequence[str] | None = None,
    jobs: int = 1,
    out: str | os.PathLike[str] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    reflection: bool = True,
) -> Results:
    """Play a suite, and measure it as a run is measured: tables with 95% intervals [C].

    Games of known players that ``out`` has already are not played again, and the tables are of all
    that it has. Refused are other games in their places, and those of your own code.

    Args:
        team: the id of a team; one player, who sits in every seat; or one for each agent, as for
            :func:`play_game`.
        suite: the name of a published suite, the path of a suite file, or scenarios. A team that
            rotates moves by one seat with each scenario of it, as in a run.
        subset: how many scenarios of each setting, thirds of difficulty in balance, or their
            ids; all by default.
        jobs: games at once, in threads, which pays for players that wait. Your object sits in
            several games then.
        out: folder of a run, for ``calbench verify``, ``view`` and ``compare``; absent: one that
            lives as long as what is returned.
        limits: as for :func:`play_game`.
        reflection: whether players that use language are asked after every round what they came
            to believe, from which their privacy loss is measured.

    Raises:
        ConfigError: an argument that does not fit, in one line.
        OutputError: ``out`` cannot be written, or holds another run or files that none wrote.
        AgentError: your code raised; games that are over are kept in ``out``.

    >>> calbench.evaluate("imap", "varied", subset=["varied-000"]).to_frame()["excess_cost"].item()
    0.4
    """
    from calbench.runs.folder import check_run, locked

    if jobs < 1:
        raise ConfigError(f"jobs: {jobs!r:.40} is no number of games at once; give 1 or more")
    settings = {"limits": limits, "reflection": reflection}
    with _folder(out) as folder:
        games = [*_games(team, suite, _subset(subset), folder / "traces", settings)]
        with locked(folder):
            check_run(folder)
            _play_missing(games, jobs)
            _write_tables([folder], folder / "tables")
        return read_run(folder) if out is not None else temporary(read_run(folder), folder)


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Provide the folder of a run; one of ours is removed if that fails."""
    if out is not None:
        yield user_path(out)
        return
    folder = Path(mkdtemp(prefix="calbench-evaluated-"))
    try:
        yield folder
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise


def _subset(subset: object) -> int | tuple[str, ...] | None:
    """Return a subset as it is chosen by; ids may be a list, and one id a text."""
    ids = (subset,) if isinstance(subset, str) else subset
    if isinstance(ids, Sequence) and ids and all(isinstance(each, str) for each in ids):
        return tuple(ids)
    if ids is None or (isinstance(ids, int) and ids >= 1):
        return ids
    shown = printable(shorten(repr(subset), 40))
    raise ConfigError(f"subset: {shown} is neither a number, 1 or more, nor a list of ids")


def _scenarios(suite: str | os.PathLike[str] | Sequence[Scenario]) -> Sequence[Scenario]:
    if isinstance(suite, str | os.PathLike):
        return load_suite(suite)
    if not suite or not all(isinstance(each, Scenario) for each in suite):
        raise ConfigError("suite: give the name of a suite, a file's path, or scenarios of one")
    names = [each.scenario_id for each in suite]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"suite: two scenarios have the id {printable(twice[0])}; leave one out")
    return suite


def _games(
    team: Player | Sequence[Player],
    suite: str | os.PathLike[str] | Sequence[Scenario],
    subset: int | tuple[str, ...] | None,
    folder: Path,
    settings: Mapping[str, Any],
) -> "Iterator[tuple[Job, Sequence[Player]]]":
    """Yield every game with its players, none for a known team, as a run would play it."""
    from calbench.engine.jobs import plan_jobs
    from calbench.engine.seating import check_settings
    from calbench.scenarios.suites import chosen_ids

    known = game_config(named_team(team), **settings) if isinstance(team, str) else None
    if known is not None:
        check_settings(known)
    scenarios = _scenarios(suite)
    chosen = chosen_ids(scenarios, subset)
    if known is not None:
        yield from ((job, ()) for job in plan_jobs(scenarios, [known], folder, chosen))
        return
    for scenario in scenarios:
        if scenario.scenario_id not in chosen:
            continue
        if isinstance(team, Sequence):
            players, name = team, "own"
        else:
            players, name = [team] * scenario.num_agents, player_name(team)
        seated = team_of_players(players, False, scenario.num_agents, name)
        config = game_config(seated, **settings)
        yield from ((job, players) for job in plan_jobs([scenario], [config], folder))


def _play_missing(games: "Sequence[tuple[Job, Sequence[Player]]]", jobs: int) -> None:
    """Play the games that are not there, so many at once."""
    from calbench.engine.drivers import threads
    from calbench.engine.jobs import unfinished

    with quiet():
        missing = {job.path for job in unfinished([job for job, _ in games])}
    for job, players in games:
        is_own = any(not isinstance(player, str) for player in players)
        if is_own and job.path not in missing:
            raise OutputError(
                f"{job.path}: an earlier state of your code may have played it; leave "
                "it out with subset=, or choose another out"
            )

    def play(game: "tuple[Job, Sequence[Player]]") -> None:
        job, players = game
        if job.path in missing:
            trace = play_configured(job.scenario, job.config, players, stopping)
            write_trace(job.path, trace)

    stopping = Event()
    with threads(jobs, stopping) as beside:
        list(beside.map(play, games))


def _write_tables(paths: Sequence[Path], out: Path) -> None:
    from calbench.config.composition import compose
    from calbench.runs.measured import rescore as rescored
    from calbench.runs.recorded import TEAM_ORDER

    with quiet():
        rescored(paths, out, TEAM_ORDER, compose(["jobs=1"]))


@checked
def rescore(*paths: str | os.PathLike[str], out: str | os.PathLike[str]) -> Results:
    """Measure games again from their traces alone [C]; return the tables, which are in ``out``.

    Args:
        paths: trace files, folders of them, or folders of runs.
        out: where the tables go.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.

    >>> calbench.rescore(*results.traces, out="again").to_frame()["excess_cost"].item()
    0.4
    """
    if not paths:
        raise ConfigError("paths: there is none; name traces, or the folder of a run")
    _write_tables([user_path(path) for path in paths], user_path(out))
    return read_run(out)


@checked
def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read one game (appendix A.6) from its file, a link to it, or the shard that it is in.

    Args:
        path: of the file, or the one it had before ``calbench traces pack``.

    Raises:
        FileError: naming the file and the field that does not fit.

    >>> calbench.write_trace("game.json", trace)
    >>> calbench.read_trace("game.json") == trace
    True
    """
    from calbench.traces import storage

    named = user_path(path)
    return storage.read_trace(named.resolve() if named.is_symlink() else named)


@checked
def write_trace(path: str | os.PathLike[str], trace: Trace) -> None:
    """Write one game as JSON (appendix A.6), whole or not at all.

    Args:
        path: of the file, in a folder that is made if it is not there.
        trace: what is written.

    Raises:
        OutputError: the file cannot be written.

    >>> calbench.write_trace("game.json", trace)
    """
    from calbench.traces import storage

    storage.write_trace(user_path(path), trace)


@checked
def verify(game: Trace | str | os.PathLike[str]) -> "Verified":
    """Replay games, and recompute all that they say [C]; return how much of them was checked.

    Args:
        game: a trace, its file, or a folder of them: of a run, or of a sweep.

    Raises:
        ReplayError: naming the first that does not hold, and what of it.
        FileError: there is no trace.

    >>> calbench.verify(calbench.play_game(scenario, "imap")).turns_not_checked
    0
    """
    from calbench.runs.verification import Verified, verify_file, verify_trace
    from calbench.traces.catalog import trace_paths
    from calbench.traces.storage import TraceReader

    if isinstance(game, Trace):
        return verify_trace(game)
    reader, paths = TraceReader(), trace_paths(user_path(game), has_loose=True)
    return sum((verify_file(each, None, reader) for each in paths), Verified())


@checked
def compare(
    run_a: Results | str | os.PathLike[str],
    run_b: Results | str | os.PathLike[str],
    *,
    a: str | None = None,
    b: str | None = None,
) -> "Comparison":
    """Compare two teams by every measure, scenario by scenario: B minus A, with intervals [C].

    Each difference is in the unit of its measure.

    Args:
        run_a: of the first team: what :func:`evaluate` or :func:`read_run` returned, the folder of
            a run or a sweep, or a published experiment, such as ``"published:varied"``.
        run_b: of the second team, likewise.
        a: the first team; the teams of one name unless given. Those of a sweep have their job
            before the name, ``"theta=0.1 dsm"``; a job means all its teams, a team those of all
            jobs.
        b: the second.

    Raises:
        ConfigError: there is no such team, or no scenario that both played to the end.
        FileError: a folder holds no games.

    >>> calbench.compare(results, results, a="imap", b="imap")
    Comparison(9 differences: imap minus imap on varied)
    """
    from calbench.config.composition import compose
    from calbench.runs.measured import compare_runs

    first, second = (_folder_of(each) for each in (run_a, run_b))
    with quiet():
        return compare_runs(first, second, compose(["jobs=1"]), team_a=a, team_b=b)


def _folder_of(run: Results | str | os.PathLike[str]) -> Path:
    if not isinstance(run, Results):
        return user_path(run)
    if run.jobs:
        return run.traces[0].parents[1]
    if len(run.traces) != 1:
        raise ConfigError("these results are of several runs; name one, or a published experiment")
    return run.traces[0]


@checked
def plot_plane(results: Results, setting: str | None = None) -> "go.Figure":
    """Return the plane of adjusted excess cost against privacy (paper, Figure 2).

    Args:
        results: with the table ``leaderboard``.
        setting: whose teams are drawn; the first by default.

    Raises:
        ConfigError: there is no such setting, or its teams have not both measures by one
            instrument.

    >>> [dots.name for dots in calbench.plot_plane(results).data]
    ['imap']
    """
    from calbench.report.figures.plane import plane_of
    from calbench.report.figures.swept import name_of

    rows = _rows(results, setting, "adjusted_excess_cost")
    return plane_of([{**row, "team": name_of(row)} for row in rows])


@checked
def plot_intervals(
    results: Results, measure: str = "excess_cost", setting: str | None = None
) -> "go.Figure":
    """Return a dot with its interval for every team; of a sweep lines over the key swept [C].

    Where no number was swept there is a dot for every job.

    Args:
        results: with the table ``leaderboard``.
        measure: a column of it, in the unit that the axis names.
        setting: whose teams are drawn; the first by default.

    Raises:
        ConfigError: there is no such setting or measure.

    >>> calbench.plot_intervals(results, "excess_cost").data[0].x
    (0.4,)
    """
    from calbench.report.figures.swept import swept

    return swept(_rows(results, setting, measure), measure, results.swept)


def _rows(results: Results, setting: str | None, measure: str) -> "list[Row]":
    """Return the rows of a setting's leaderboard, absent cells as ``None``."""
    from calbench.errors import among

    frame = results.table("leaderboard")
    known = list(dict.fromkeys(frame["setting"]))
    chosen = next(iter(known), "") if setting is None else setting
    if chosen not in known:
        raise ConfigError(f"setting: there is no {chosen!r:.60}; {among(chosen, known)}")
    columns = map(str, frame)
    measures = [name.removesuffix("_low") for name in columns if name.endswith("_low")]
    if measure not in measures:
        raise ConfigError(f"measure: there is no {measure!r:.60}; {among(measure, measures)}")
    return [*of_runs.rows_of(frame[frame["setting"] == chosen])]
