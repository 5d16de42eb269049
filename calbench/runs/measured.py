"""Games measured again from their traces: all tables of some, and two runs compared."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from calbench.analysis.certainties import exact_values
from calbench.analysis.output import write_all_tables
from calbench.analysis.registry import Settings
from calbench.analysis.run_comparison import EXACT, Comparison, compare_teams
from calbench.analysis.scoring import facts_of, measure_games
from calbench.config.groups import PRICES, among
from calbench.config.spec import RunSpec
from calbench.console import progress, warn
from calbench.endings import pruned
from calbench.errors import ConfigError
from calbench.facts.games import AGENTS, GAMES, MEETINGS
from calbench.facts.storage import Facts
from calbench.folders import claimed, scratch_folder
from calbench.llm.prices import read_prices
from calbench.pool import workers
from calbench.runs.faults import excluded_games, unread_replies
from calbench.runs.folder import KEPT, KEYS, check_folder
from calbench.runs.identity import is_published
from calbench.runs.published import SAME_GAME, facts_beside, published_facts
from calbench.runs.recorded import RecordedGame, TraceHead, read_games, recorded_games, team_rank
from calbench.runs.slices import pooled, told_apart
from calbench.traces.catalog import trace_paths

PUBLISHED = "published:"
"""Begins what names a published experiment in the place of a run's folder."""

SCENARIO = ["setting", "scenario_id"]
"""Columns that name a scenario."""


class _Side(NamedTuple):
    """One run: its games, and the seats of its scored games."""

    games: pd.DataFrame
    agents: pd.DataFrame


def compare_runs(
    run_a: Path,
    run_b: Path,
    spec: RunSpec,
    *,
    team_a: str | None = None,
    team_b: str | None = None,
) -> Comparison:
    """Compare two runs by every measure, team by team and setting by setting.

    Args:
        run_a: a folder of a run or of traces, or ``published:EXPERIMENT``.
        run_b: the other; it may be the same where two teams are named.
        spec: its settings of metrics and estimates, and its workers, count.
        team_a: this team of the first run ...
        team_b: ... with this one of the second; teams of one name unless given.

    Raises:
        CalbenchError: one line about what does not fit, or that nothing is in common.
    """
    a = _measured(run_a, spec)
    b = a if run_a == run_b else _measured(run_b, spec)
    pairs = _team_pairs(a, b, team_a, team_b)
    for run, side in ((run_a, a), (run_b, b))[: 1 if a is b else 2]:
        for line in (*unread_replies(side.agents), *excluded_games(side.games)):
            warn(f"{run}: {line}")
    agents_a, agents_b = _alike(a, b)
    compared = compare_teams(agents_a, agents_b, pairs, spec.analysis)
    if compared.differences.empty:
        raise ConfigError(f"{run_a} and {run_b}: no scenario was played to the end in both")
    return compared


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
    heads = [game.head for game in recorded_games([run]) if game.team_id in own]
    if not any(map(is_published, heads)):
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


def _measured(run: Path, spec: RunSpec) -> _Side:
    name = str(run)
    if name.startswith(PUBLISHED):
        with scratch_folder("published") as scratch:
            facts = published_facts(name.removeprefix(PUBLISHED), scratch)
            return _side(facts, spec)
    with (
        workers(spec.jobs, spec.executor, games=len(list(trace_paths(run)))) as pool,
        scratch_folder("compare") as scratch,
    ):
        games = recorded_games([run], pool)
        with progress("scored", len(games)) as tick:
            facts = measure_games(
                games, scratch, spec.measure, tick, pool, (GAMES, AGENTS, MEETINGS)
            )
        return _side(facts, spec)


def _side(facts: Facts, spec: RunSpec) -> _Side:
    agents = facts.of_games("agents")
    exact = exact_values(facts, agents, spec.measure.vps_floor).add_prefix(EXACT)
    return _Side(facts.games, agents.join(exact))


def _alike(a: _Side, b: _Side) -> Iterator[pd.DataFrame]:
    """Yield the seats of both runs, without scenarios that share a name and are not the same."""
    digests = [
        side.games.drop_duplicates(SCENARIO).set_index(SCENARIO)["scenario_digest"]
        for side in (a, b)
    ]
    both = pd.concat(digests, axis="columns", join="inner", keys=["a", "b"])
    unlike = both.index[both["a"] != both["b"]]
    if len(unlike):
        warn(f"{len(unlike)} scenarios mean something else in the two runs and are left out")
    for agents in (a.agents, b.agents):
        yield agents[~agents.set_index(SCENARIO).index.isin(unlike)]


def _team_pairs(
    a: _Side, b: _Side, team_a: str | None, team_b: str | None
) -> list[tuple[str, str]]:
    teams_a, teams_b = (sorted(side.games["team"].unique()) for side in (a, b))
    if team_a is None and team_b is None:
        pairs = [(team, team) for team in teams_a if team in teams_b]
        if not pairs:
            raise ConfigError(
                f"no team is in both runs ({', '.join(teams_a)}; {', '.join(teams_b)}); name two "
                "with a=TEAM b=TEAM"
            )
        return pairs
    first, second = team_a or team_b or "", team_b or team_a or ""
    for key, team, teams in (("a", first, teams_a), ("b", second, teams_b)):
        if team not in teams:
            raise ConfigError(f"{key}={team}: there is no such team; {among(team, teams)}")
    return [(first, second)]


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
    found = read_games(paths)
    with pruned(out), claimed(out):
        check_folder(out, KEPT, KEYS)
        return _write(found, out, teams, spec)


def _write(found: Sequence[RecordedGame], out: Path, teams: Sequence[str], spec: RunSpec) -> int:
    """Write all tables of some games into a folder that is held; return how many there are."""
    settings = Settings(spec.measure, spec.analysis, read_prices(PRICES).models)
    facts = facts_of(spec.facts, spec.judge)
    with scratch_folder("rescore") as scratch:
        games, lines = told_apart(found, scratch / "renamed")
        for line in (*lines, *pooled(games)):
            warn(line)
        rank = team_rank(teams)
        games.sort(key=lambda game: (*rank(game.team_id), *_place(game.head)))
        with (
            workers(spec.jobs, spec.executor, games=len(games)) as pool,
            progress("measured", len(games)) as tick,
        ):
            write_all_tables(games, out, settings, tick, pool, facts)
    return len(games)


def _place(head: TraceHead) -> tuple[str, str, int]:
    """Return the place of a game among those of its team, in whichever folder it is."""
    return head.setting, head.scenario_id, head.replicate
