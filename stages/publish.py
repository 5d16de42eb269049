"""Tables and traces -> build/site: the static site."""

from calbench.pool import workers
from calbench.report.build import build_site
from calbench.report.writing import write_site
from stages import paths
from stages.shown import published, site


def main(_: list[str]) -> None:
    """Write the pages of all experiments and build the site."""
    with workers(paths.CORES) as pool:
        write_site(site(published()), paths.BUILD / "site_src", pool)
    build_site(paths.BUILD / "site_src", paths.BUILD / "site")


if __name__ == "__main__":
    paths.answer(main)
