"""Which runs the tables over several runs bring together, for the pages that show them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from calbench.analysis.summary import SUMMARY, Runs, RunTables
from calbench.report.links import playing
from calbench.report.results import ExperimentResults
from calbench.report.special import CAP4, REPRODUCTION, SCALE, SPECIAL, SpecialResults

__all__ = ["SUMMARY", "results_in", "runs_of"]


def runs_of(experiments: Sequence[ExperimentResults], special: SpecialResults) -> Runs:
    """Return what the tables over several runs are made of.

    Args:
        experiments: browsed whole.
        special: the others, and what others published.
    """
    return Runs(
        compared=_tables(playing(experiments, special)),
        browsed=_tables(experiments),
        scaled=_tables(_named(special, SCALE)),
        drawn=_tables(_named(special, REPRODUCTION, CAP4)),
        published=special.published,
    )


def results_in(
    data: Path, experiments: Sequence[str]
) -> tuple[list[ExperimentResults], SpecialResults]:
    """Return the results of experiments that are browsed whole, and of the others.

    Args:
        data: folder with ``suites``, ``traces``, ``tables`` and ``published``.
        experiments: names, in the order of the pages.
    """
    found = [
        ExperimentResults(
            name,
            suite=data / "suites" / f"{name}.jsonl",
            tables=data / "tables" / name,
            traces=data / "traces" / name,
        )
        for name in experiments
    ]
    special = [each for each in found if each.name in SPECIAL]
    whole = [each for each in found if each.name not in SPECIAL]
    return whole, SpecialResults(special, data / "published")


def _named(special: SpecialResults, *names: str) -> list[ExperimentResults]:
    return [found for found in map(special.named, names) if found is not None]


def _tables(experiments: Iterable[ExperimentResults]) -> list[RunTables]:
    return [RunTables(results.name, results.tables) for results in experiments]
