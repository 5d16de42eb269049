"""A whole run: suite, games, numbers, tables. The command and the stages call these pieces."""

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from calbench.analysis.scoring import write_privacy_tables, write_tables
from calbench.config import RunSpec
from calbench.console import ending_on_interrupt, noting_interrupt, progress, say
from calbench.engine.batch import Job, plan_jobs, play_jobs, unfinished
from calbench.engine.pool import workers
from calbench.engine.seating import seat_policies
from calbench.errors import CalbenchError, OutputError
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import SuiteSpec
from calbench.scenarios.storage import read_suite
from calbench.scenarios.suites import build_suites


class InterruptedRunError(CalbenchError):
    """The user stopped the run; carries what stands."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did, and where its results are."""

    played: int
    kept: int
    tables: Path


def load_suites(suites: Sequence[tuple[str, SuiteSpec]]) -> tuple[Scenario, ...]:
    """Return the scenarios of a run's suites: read from their files, or generated.

    A file from elsewhere may lack oracle and difficulty: they are computed.
    """
    total = sum(
        spec.num_scenarios if spec.path is None else len(read_suite(Path(spec.path)))
        for _, spec in suites
    )
    with progress("scenarios", total) as tick:
        return build_suites(suites, progress=lambda _done, _total: tick())


def execute(spec: RunSpec) -> RunSummary:
    """Generate or read the suite, play what is missing, and write all tables.

    Raises:
        CalbenchError: one line about what does not fit; nothing is half-written.
        InterruptedRunError: if the user stopped it.
    """
    out = Path(spec.out)
    with locked(out):
        scenarios = load_suites(spec.suites)
        num_agents = max((s.num_agents for s in scenarios), default=1)
        for team in spec.teams:
            seat_policies(team, num_agents, spec.limits)
        jobs = plan_jobs(scenarios, spec.game_configs, out / "traces")
        missing = unfinished(jobs)
        kept = len(jobs) - len(missing)
        if kept:
            say(f"{kept} of {len(jobs)} games stand already in {out / 'traces'}")
        _play(jobs, missing, spec.jobs, out)
        tables = out / "tables"
        with (
            ending_on_interrupt(lambda: _standing(jobs, out)),
            progress("tables", 2 * len(jobs)) as tick,
        ):
            write_tables(jobs, tables, spec.measure, spec.analysis, tick)
            write_privacy_tables(jobs, tables / "privacy", spec.measure, tick)
    return RunSummary(played=len(missing), kept=kept, tables=out / "tables")


def _play(jobs: Sequence[Job], missing: Sequence[Job], num_processes: int, out: Path) -> None:
    """Play the missing games; Ctrl-C is answered between them."""
    with noting_interrupt(lambda: _standing(jobs, out)) as is_interrupted:
        try:
            with (
                workers(num_processes) as executor,
                progress("games", len(jobs), len(jobs) - len(missing)) as tick,
            ):

                def finished(job: Job) -> None:
                    tick(f"{job.config.team.team_id}, US$ 0.00")
                    _raise_if(is_interrupted())

                play_jobs(missing, executor, finished)
        except InterruptedRunError:
            raise InterruptedRunError(_standing(jobs, out)) from None
        except BrokenExecutor as error:
            raise CalbenchError(
                f"a process died while it played (out of memory?). {_standing(jobs, out)}"
            ) from error


def _raise_if(is_interrupted: bool) -> None:
    if is_interrupted:
        raise InterruptedRunError


def _standing(jobs: Sequence[Job], out: Path) -> str:
    count = sum(job.path.exists() for job in jobs)
    return (
        f"Stopped: {count} of {len(jobs)} games stand in {out / 'traces'}; "
        "the same command goes on from there"
    )


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold a run's folder, so that two runs never write into one.

    The lock is the operating system's: it ends with the process, however that ends.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = FileLock(out / ".lock")
        lock.acquire(timeout=0)
    except Timeout as error:
        raise OutputError(
            f"{out}: another run is writing there; wait for it, or choose another folder, "
            f"e.g. out={out}-2"
        ) from error
    except OSError as error:
        raise OutputError(
            f"{out}: cannot be written ({error.strerror or error}); choose another folder with out="
        ) from error
    try:
        yield
    finally:
        lock.release()
