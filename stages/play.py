"""Suites and teams -> data/traces/<experiment>: every game, in shards."""

from collections.abc import Sequence
from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played
from calbench.pool import workers
from stages import paths
from stages.games import digests, play_experiment, team_names
from stages.kept import Kept
from stages.teams import TeamGames, planned, team_games


def main(specs: list[RunSpec]) -> None:
    """Play the games of experiments; those of a team that would be the same are kept.

    Traces can be made again without a paid call, so whatever is not kept is replaced: nothing
    stays there that this run does not define.
    """
    for spec in specs:
        spec.prompts.use()
    kept, teams = Kept("play", digests), team_games(specs)
    missing = [games for games in teams if not kept.holds(games.folder, games.recipe)]
    num_games = play(teams, missing)
    for games in missing:
        kept.note(games.folder, games.recipe)
    kept.write()
    say(f"{num_games} games played, those of {len(teams) - len(missing)} teams kept")


def play(teams: Sequence[TeamGames], missing: Sequence[TeamGames]) -> int:
    """Play the games of some teams, beside those of the others; return how many were played."""
    jobs = planned(missing)
    total = sum(map(len, jobs.values()))
    by_experiment: dict[Path, list[TeamGames]] = {}
    for games in teams:
        by_experiment.setdefault(games.folder.parent, []).append(games)
    with progress("games", total) as tick, workers(games=total) as pool:

        def on_done(game: Played) -> None:
            tick(game.job.team_id)

        for folder, here in by_experiment.items():
            again = [(games, jobs[games.folder]) for games in here if games.folder in jobs]
            kept = {games.folder.name for games in here if games.folder not in jobs}
            if again or team_names(folder) != kept:
                play_experiment(folder, kept, again, pool, on_done)
    return total


if __name__ == "__main__":
    paths.run_stage(main)
