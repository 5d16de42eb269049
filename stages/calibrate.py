"""Traces -> VPS and reflections (paper, appendix F), and audits of language (appendix H)."""

from calbench.analysis.audits.tables import AuditTables
from calbench.analysis.scoring import team_ids, write_privacy_tables
from calbench.config import RunSpec
from calbench.console import progress
from calbench.engine.batch import plan_jobs
from calbench.engine.pool import workers
from calbench.scenarios.storage import read_suite
from calbench.traces.storage import read_trace
from stages import paths


def main(spec: RunSpec) -> None:
    """Measure what each message of an experiment gave away, and how its agents spoke."""
    scenarios = read_suite(paths.suite(spec.name))
    jobs = plan_jobs(scenarios, spec.game_configs, paths.traces(spec.name))
    folder = paths.tables(spec.name)
    with progress("games", len(jobs)) as tick, workers(spec.jobs) as executor:
        write_privacy_tables(jobs, folder / "privacy", spec.measure, tick, spec.analysis, executor)
    audits = AuditTables(folder, team_ids(jobs))
    spoken = [job for job in jobs if job.config.team.uses_language]
    with progress("audits", len(spoken)) as tick:
        for job in spoken:
            audits.add(read_trace(job.path))
            tick()
    audits.write()


if __name__ == "__main__":
    paths.run_stage(main)
