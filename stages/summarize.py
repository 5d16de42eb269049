"""Tables of all experiments -> data/tables/summary: tables over several of them."""

import shutil

from calbench.analysis.summary import write_summary
from calbench.report.runs import results_in, runs_of
from stages import paths


def main(experiments: list[str]) -> None:
    """Bring the tables of all experiments together; nothing else stays in the folder."""
    folder = paths.tables("summary")
    shutil.rmtree(folder, ignore_errors=True)
    write_summary(runs_of(*results_in(paths.DATA, experiments)), folder)


if __name__ == "__main__":
    paths.answer(main)
