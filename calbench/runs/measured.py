"""Games measured again from their traces: all tables of some, and two runs compared."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from calbench.analysis.certainties import exact_values
from calbench.analysis.output import write_all_tables
from calbench.analysis.run_comparison import EXACT, Comparison, compare_teams
from calbench.analysis.scoring import facts_of, measure_games
from calbench.analysis.split_gap import GAPS, split_gaps
from calbench.config.spec import RunSpec
from calbench.console import progress, warn
from calbench.endings import pruned
from calbench.errors import ConfigError, FileError, among, nearest
from calbench.facts.games import AGENTS, GAMES, MEETINGS
from calbench.facts.storage import Facts
from calbench.files import printable
from calbench.folders import claimed, scratch_folder
from calbench.pool import workers
from calbench.runs.entries import SAME_GAME
from calbench.runs.faults import excluded_games, unread_replies
from calbench.runs.folder import KEPT, KEYS, check_folder, job_folders
from calbench.runs.identity import is_published
from calbench.runs.published import facts_beside, published_facts, published_names, settings_of
from calbench.runs.recorded import RecordedGame, consistent, read_games, team_rank
from calbench.runs.slices import pooled, told_apart
from calbench.scenarios.sealing import SEALED
from calbench.traces.catalog import trace_paths

PUBLISHED = "published:"
"""Begins what names a published experiment in the place of a run's folder."""

SCENARIO = ["setting", "scenario_id"]
"""Columns that name a scenario."""


class _Side(NamedTuple):
    """One run, or all jobs of a sweep: its games, and the seats of its scored games.

    Both have in ``team`` the job before the team; which these are is in ``names``, by both.
    """

    games: pd.DataFrame
    agents: pd.DataFrame
    names: Mapping[str, tuple[str, str]]

    @property
    def is_sweep(self) -> bool:
        """Whether there are jobs."""
        return any(job for job, _ in self.names.values())

    def called(self, name: str) -> list[str]:
        """Return the teams that a name means: one, all of a job, or one in all jobs."""
        found = [team for team, names in self.names.items() if name in names]
        return [name] if name in self.names else found


def compare_runs(
    run_a: Path,
    run_b: Path,
    spec: RunSpec,
    *,
    team_a: str | None = None,
    team_b: str | None = None,
) -> Comparison:
    """Compare two runs by every measure, team by team and setting by setting.

    In a sweep every team of every job is one of its own, called by both names, such as
    ``"theta=0.1 dsm"``.

    Args:
        run_a: a folder of a run, of a sweep or of traces, or ``published:EXPERIMENT``.
        run_b: the other; it may be the same where two teams are named.
        spec: its settings of metrics and estimates, and its workers, count.
        team_a: this team of the first run, of a sweep also a job or a team in all of them ...
        team_b: ... with this one of the second; teams of one name unless given.

    Raises:
        CalbenchError: one line about what does not fit, or that nothing is in common.
    """
    a = _measured(run_a, spec)
    b = a if run_a == run_b else _measured(run_b, spec)
    pairs = _team_pairs(a, b, team_a, team_b)
    _warn_of({run_a: a, run_b: b})
    if unlike := _unlike(a, b, pairs):
        warn(f"{unlike} scenarios mean something else in the two runs and are left out")
    compared = compare_teams(a.agents, b.agents, pairs, spec.analysis)
    if compared.differences.empty:
        raise ConfigError(f"{run_a} and {run_b}: no scenario was played to the end in both")
    return compared


def compare_splits(
    public: Path,
    sealed: Path,
    spec: RunSpec,
    measures: Sequence[str],
    *,
    team: str | None = None,
    beside: str | None = None,
) -> pd.DataFrame:
    """Compare what teams did on public scenarios and on sealed ones of the same recipe.

    Args:
        public: a run, as :func:`compare_runs` takes it.
        sealed: a run on the sealed suite.
        spec: its settings of metrics and estimates, and its workers, count.
        measures: names of those that are compared.
        team: this one; all but the reference unless given.
        beside: the reference, which both runs have; absent: none.

    Raises:
        CalbenchError: one line about what does not fit.
    """
    sides = [_measured(run, spec) for run in (public, sealed)]
    _warn_of(dict(zip((public, sealed), sides, strict=True)))
    a, b = map(_with_thirds, sides)
    if known := set(a["scenario_digest"]) & set(b["scenario_digest"]):
        raise ConfigError(f"{len(known)} scenarios are in both runs: a sealed suite has its own")
    settings = [each for each in a["setting"].unique() if f"{each}{SEALED}" in set(b["setting"])]
    if not settings:
        raise ConfigError(f"{sealed}: has no setting of {public} with {SEALED} behind its name")
    teams_a, teams_b = ([*side["team"].unique()] for side in (a, b))
    rows = [
        {"setting": setting, **row}
        for setting in settings
        for each in _in_both(teams_a, teams_b, team, beside)
        for row in split_gaps(
            a[a["setting"] == setting],
            b[b["setting"] == f"{setting}{SEALED}"],
            each,
            beside,
            measures,
            spec.analysis,
        )
    ]
    return pd.DataFrame(rows, columns=[column.name for column in GAPS])


def _in_both(
    public: Sequence[str], sealed: Sequence[str], team: str | None, beside: str | None
) -> list[str]:
    """Return the teams to compare, which both runs have: one, or all but the reference."""
    both = [each for each in public if each in sealed]
    chosen = [team] if team else [each for each in both if each != beside]
    if not both or not chosen:
        but = f" but {beside}, the reference," if both else ""
        of_each = f"{', '.join(public)}; {', '.join(sealed)}"
        raise ConfigError(f"no team{but} is in both runs ({of_each})")
    for name in filter(None, (team, beside)):
        if name not in both:
            raise ConfigError(f"{printable(name)}: did not play in both; {among(name, both)}")
    return chosen


def beside_published(run: Path, spec: RunSpec) -> Comparison | None:
    """Compare the teams of a run that have a model with the published ones on its scenarios.

    Team A is a published one, B the run's. Compared are games by the same limits and on the same
    channels, on scenarios that are the published ones by their digests.

    Args:
        run: its folder.
        spec: its teams, and its settings of metrics and estimates.

    Returns:
        ``None`` if no published team played so.

    Raises:
        CalbenchError: one line about what does not fit.
    """
    own = [team.team_id for team in spec.teams if any(s.kind == "model" for s in team.seats)]
    games = consistent(read_games([run]))
    if not any(is_published(game) for game in games if game.team_id in own):
        return None  # without measuring anything
    ours = _measured(run, spec)
    played = ours.games[ours.games["team"].isin(own)][SAME_GAME].drop_duplicates()
    theirs: dict[str, pd.DataFrame] = {}
    with scratch_folder("published") as scratch:
        for facts in facts_beside(played, scratch):
            agents = _side(facts, spec).agents
            same = facts.games.merge(played)[[*SCENARIO, "team"]].drop_duplicates()
            for team, found in agents.merge(same).groupby("team", sort=False):
                theirs.setdefault(str(team), found)
    if not theirs:
        return None
    pairs = [(team, each) for each in own for team in theirs]
    return compare_teams(pd.concat(theirs.values()), ours.agents, pairs, spec.analysis)


def _warn_of(sides: Mapping[Path, _Side]) -> None:
    """Warn of replies that could not be read and of games that do not count, by run."""
    for run, side in sides.items():
        for line in (*unread_replies(side.agents), *excluded_games(side.games)):
            warn(f"{run}: {line}")


def _with_thirds(side: _Side) -> pd.DataFrame:
    """Return the seats of a run with the third of difficulty of each one's scenario."""
    thirds = side.games.drop_duplicates(SCENARIO).set_index(SCENARIO)["tertile"]
    return side.agents.join(thirds, on=SCENARIO)


def _measured(run: Path, spec: RunSpec) -> _Side:
    name = str(run)
    if name.startswith(PUBLISHED):
        with scratch_folder("published") as scratch:
            facts = published_facts(name.removeprefix(PUBLISHED), scratch)
            return _side(facts, spec)
    if jobs := job_folders(run):
        sides = [_of_job(job.name, _measured(job, spec)) for job in jobs]
        every, agents, names = zip(*sides, strict=True)
        return _Side(
            pd.concat(every, ignore_index=True),
            pd.concat(agents, ignore_index=True),
            {team: each for own in names for team, each in own.items()},
        )
    try:
        count = len(list(trace_paths(run)))
    except FileError as error:
        if run.exists():
            raise
        raise FileError(f"{printable(name)}: there is no such run; {_meant(name)}") from error
    with (
        workers(spec.jobs, spec.executor, games=count) as pool,
        scratch_folder("compare") as scratch,
    ):
        games = consistent(read_games([run], pool))
        with progress("scored", len(games)) as tick:
            facts = measure_games(
                games, scratch, spec.measure, tick, pool, (GAMES, AGENTS, MEETINGS)
            )
        return _side(facts, spec)


def _meant(name: str) -> str:
    """Return what to do about a run that is not there: a published one may have its name."""
    with scratch_folder("published") as scratch, suppress(FileError):  # nothing may be published
        if near := nearest(name, published_names(scratch)):
            return f"did you mean {PUBLISHED}{near[0]}?"
    return f"name its folder, or a published experiment, such as {PUBLISHED}varied"


def _side(facts: Facts, spec: RunSpec) -> _Side:
    games, agents = facts.games, facts.of_games("agents")
    exact = exact_values(facts, agents, spec.measure.vps_floor).add_prefix(EXACT)
    place = ["setting", "team", "scenario_id"]
    digests = games.drop_duplicates(place).set_index(place)["scenario_digest"]
    agents = agents.join(exact).join(digests, on=place)
    return _Side(games, agents, {team: ("", team) for team in games["team"].unique()})


def _of_job(job: str, side: _Side) -> _Side:
    """Return the games of a job with its name before that of every team."""
    games, agents = (each.assign(team=f"{job} " + each["team"]) for each in side[:2])
    return _Side(games, agents, {f"{job} {team}": (job, team) for team in side.names})


def _unlike(a: _Side, b: _Side, pairs: Sequence[tuple[str, str]]) -> int:
    """Return how many scenarios share a name in the two runs and are not the same."""
    found: set[tuple[str, str]] = set()
    for team_a, team_b in pairs:
        first, second = (
            side.games[side.games["team"] == team].drop_duplicates(SCENARIO)
            for side, team in ((a, team_a), (b, team_b))
        )
        both = first.merge(second, on=SCENARIO)
        unlike = both[both["scenario_digest_x"] != both["scenario_digest_y"]]
        found.update(unlike[SCENARIO].itertuples(index=False, name=None))
    return len(found)


def _team_pairs(
    a: _Side, b: _Side, team_a: str | None, team_b: str | None
) -> list[tuple[str, str]]:
    if team_a is None and team_b is None:
        # Of a sweep and a run those are compared that play the same team.
        name = 1 if a.is_sweep != b.is_sweep else slice(None)
        pairs = [
            (one, other)
            for one, other in product(a.names, b.names)
            if a.names[one][name] == b.names[other][name]
        ]
        if not pairs:
            raise ConfigError(
                f"no team is in both runs ({', '.join(a.names)}; {', '.join(b.names)}); name two "
                "with a=TEAM b=TEAM"
            )
        return pairs
    first, second = team_a or team_b or "", team_b or team_a or ""
    keys = ("a" if team_a else "b", "b" if team_b else "a")  # one that is not given is as the other
    for key, team, side in zip(keys, (first, second), (a, b), strict=True):
        if not side.called(team):
            raise ConfigError(f"{key}={team}: there is no such team; {among(team, [*side.names])}")
    return list(product(a.called(first), b.called(second)))


def rescore(paths: Sequence[Path], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write all tables of the traces below some paths; return how many games they hold.

    Args:
        paths: trace files, folders of them, or folders of runs.
        out: where the tables go; those of privacy below ``privacy``.
        teams: order in which tables list teams; others follow by name.
        spec: its facts, judge, settings of metrics and estimates, and workers count.

    Raises:
        CalbenchError: one line about what does not fit; nothing was written.
    """
    check_folder(out, KEPT, KEYS)
    found, rank = read_games(paths), team_rank(teams)

    def place(game: RecordedGame) -> tuple[int, str, str, str, int]:
        return *rank(game.team_id), game.setting, game.scenario_id, game.replicate

    with pruned(out), claimed(out), scratch_folder("rescore") as scratch:
        check_folder(out, KEPT, KEYS)
        games, lines = told_apart(found, scratch / "renamed")
        for line in (*lines, *pooled(games)):
            warn(line)
        games.sort(key=place)
        facts = facts_of(spec.facts, spec.judge)
        with (
            workers(spec.jobs, spec.executor, games=len(games)) as pool,
            progress("measured", len(games)) as tick,
        ):
            write_all_tables(games, out, settings_of(spec), tick, pool, facts)
    return len(games)
