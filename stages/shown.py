"""The experiments on the site, and what the site shows of them."""

from collections.abc import Sequence
from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.report.experiment import Experiment
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables
from stages import paths

SOURCES = Path("site")


def published() -> list[RunSpec]:
    """Return the experiments on the site, in the order of its pages."""
    return sorted(paths.specs(), key=lambda spec: (role(spec).order, spec.name))


def role(spec: RunSpec) -> Role:
    """Return what an experiment is for on the site."""
    return spec.site or Role()


def site(specs: Sequence[RunSpec]) -> Site:
    """Return what the site shows of some experiments."""
    experiments = [
        Experiment(
            spec.name,
            suite=paths.suite(spec.name),
            folder=paths.tables(spec.name),
            traces=paths.traces(spec.name),
            role=role(spec),
        )
        for spec in specs
    ]
    return Site(
        SOURCES,
        tuple(experiments),
        Tables(paths.tables("summary")),
        Tables(paths.DATA / "published"),
        has_downloads=True,
    )
