"""Suites and teams -> data/traces/<experiment>/<team>/<scenario>.json."""

from calbench.config.spec import RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played, play_jobs
from calbench.engine.plan import GAMES_PER_TASK
from calbench.pool import workers
from calbench.runs.source import opener, reply_source
from stages import paths
from stages.kept import Kept
from stages.teams import TeamGames, planned, team_games

RERECORD = "make record-local"
"""Records the cohort of the default pipeline anew; its miss says so."""


def main(specs: list[RunSpec]) -> None:
    """Play the games of experiments; those of a team that would be the same are kept.

    Traces can be made again without a paid call, so whatever is not kept is removed first:
    nothing stays there that this run does not define.
    """
    kept, teams = Kept("play"), team_games(specs)
    missing = [games for games in teams if not kept.holds(games.folder, games.recipe)]
    for spec in specs:
        here = paths.traces(spec.name)
        paths.prune(here, {games.folder for games in teams if games not in missing})
    num_games = play(missing)
    for games in missing:
        kept.note(games.folder, games.recipe)
    kept.write()
    say(f"{num_games} games played, those of {len(teams) - len(missing)} teams kept")


def play(missing: list[TeamGames]) -> int:
    """Play the games of some teams; return their number."""
    jobs = planned(missing)
    at_hand = [job for each in jobs.values() for job in each if not job.waits]
    total = sum(map(len, jobs.values()))
    processes = paths.processes(len(at_hand) // GAMES_PER_TASK)
    with progress("games", total) as tick, workers(processes) as pool:

        def on_done(game: Played) -> None:
            tick(game.job.team_id)

        play_jobs(at_hand, pool, on_done)
        for games in missing:
            waiting = [job for job in jobs[games.folder] if job.waits]
            source = opener(games.spec, reply_source(games.spec, RERECORD)) if waiting else None
            play_jobs(waiting, None, on_done, source=source, at_once=games.spec.games_at_once)
    return total


if __name__ == "__main__":
    paths.run_stage(main)
