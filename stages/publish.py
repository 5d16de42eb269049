"""Tables, suites and traces -> build/site: the static site."""

import os
from pathlib import Path

from calbench.engine.pool import workers
from calbench.report.build import build_site
from calbench.report.pages import write_site
from calbench.report.runs import results_in
from stages import paths

SOURCES = Path("site")


def main(experiments: list[str]) -> None:
    """Write the pages of all experiments and build the site.

    Experiments that have a special page bring their tables to it, and some of them games; of all
    others the site shows every setting and every game.
    """
    browsable, special = results_in(paths.DATA, experiments)
    summary = paths.tables("summary")
    with workers(os.cpu_count() or 1) as executor:
        write_site(SOURCES, browsable, summary, paths.BUILD / "site_src", special, executor)
    build_site(paths.BUILD / "site_src", paths.BUILD / "site")


if __name__ == "__main__":
    paths.answer(main)
