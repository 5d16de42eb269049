"""Tables, suites and traces -> build/site: the static site."""

import os
from pathlib import Path

from calbench.config import read_params
from calbench.engine.pool import workers
from calbench.report.build import build_site
from calbench.report.pages import ExperimentResults, SpecialResults, write_site
from calbench.report.special import SPECIAL
from stages import paths

SOURCES = Path("site")
PUBLISHED = paths.DATA / "published"


def main(experiments: list[str]) -> None:
    """Write the pages of all experiments and build the site.

    Experiments that have a special page bring their tables to it, and some of them games; of all
    others the site shows every setting and every game.
    """
    results = []
    for experiment in experiments:
        spec = read_params(paths.params(experiment))
        results.append(
            ExperimentResults(
                name=spec.name,
                suite=paths.suite(spec.name),
                tables=paths.tables(spec.name),
                traces=paths.traces(spec.name),
            )
        )
    special = SpecialResults([each for each in results if each.name in SPECIAL], PUBLISHED)
    browsable = [each for each in results if each.name not in SPECIAL]
    with workers(os.cpu_count() or 1) as executor:
        write_site(SOURCES, browsable, paths.BUILD / "site_src", special, executor)
    build_site(paths.BUILD / "site_src", paths.BUILD / "site")


if __name__ == "__main__":
    paths.answer(main)
