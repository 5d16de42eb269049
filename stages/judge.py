"""Traces -> what the scripted judge makes of their messages (paper, appendix I)."""

from pathlib import Path
from tempfile import TemporaryDirectory

from calbench.analysis.judge.judging import JUDGE_FACTS, write_judge_tables
from calbench.analysis.scoring import measure_games
from calbench.analysis.settings import Settings
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.engine.pool import workers
from calbench.facts.games import GAMES
from calbench.scenarios.storage import read_suite
from stages import paths


def main(spec: RunSpec) -> None:
    """Judge the delivered messages of an experiment, and compare with its primary measure."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    with (
        TemporaryDirectory() as scratch,
        progress("judged", len(jobs)) as tick,
        workers(spec.jobs) as executor,
    ):
        kept = (GAMES, *JUDGE_FACTS)
        facts = measure_games(jobs, Path(scratch), spec.measure, tick, executor, kept)
        settings = Settings(spec.measure, spec.analysis)
        write_judge_tables(facts, paths.tables(spec.name) / "judge", settings)


if __name__ == "__main__":
    paths.run_stage(main)
