"""Tables, suites and traces -> build/site: the static site."""

from pathlib import Path

from calbench.config import read_params
from calbench.report.build import build_site
from calbench.report.pages import ExperimentResults, write_site
from stages import paths

SOURCES = Path("site")


def main(experiments: list[str]) -> None:
    """Write the pages of all experiments and build the site."""
    results = []
    for experiment in experiments:
        spec = read_params(paths.params(experiment))
        results.append(
            ExperimentResults(
                name=spec.name,
                suite=paths.suite(spec.suite.setting),
                tables=paths.tables(spec.name),
                traces=paths.traces(spec.name),
            )
        )
    write_site(SOURCES, results, paths.BUILD / "site_src")
    build_site(paths.BUILD / "site_src", paths.BUILD / "site")


if __name__ == "__main__":
    paths.answer(main)
