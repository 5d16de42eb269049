"""Tables, facts and traces -> build/site: the static site."""

from pathlib import Path

from calbench.report.build import build_site
from calbench.report.experiment import Experiment
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.writing import write_site
from stages import paths

SOURCES, PUBLISHED = Path("site"), paths.DATA / "published"

READ = (
    *(Path("CHANGELOG.md"), Path("CONTRIBUTING.md"), SOURCES),
    *(paths.SUITES, paths.TRACES, paths.FACTS, paths.TABLES),
    *(paths.DATA / name for name in ("audit_sample", "cohorts", "label_banks", "predictive")),
    PUBLISHED,
)
"""What it reads beside its code and its part."""


class Shown(paths.Part):
    """What an experiment is for on the site, and what its teams do, by team."""

    role: Role
    about: dict[str, str]


def main() -> None:
    """Write the pages of all experiments and build the site."""
    write_site(site(), paths.BUILD / "site_src")
    build_site(paths.BUILD / "site_src", paths.BUILD / "site")


def site() -> Site:
    """Return what the site shows."""
    experiments = [
        Experiment(
            name,
            suite=paths.suite(name),
            folder=paths.TABLES / name,
            traces=paths.TRACES / name,
            role=part.role,
            facts=paths.FACTS / name,
            about=part.about,
        )
        for name, part in paths.read_parts("publish", Shown).items()
    ]
    return Site(
        SOURCES,
        tuple(experiments),
        Tables(paths.TABLES / "summary"),
        Tables(PUBLISHED),
        has_downloads=True,
    )


if __name__ == "__main__":
    paths.run_stage(main, READ)
