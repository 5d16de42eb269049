"""Facts -> data/tables/<experiment>: every table that they allow."""

import shutil

from calbench.analysis.output import write_tables
from calbench.analysis.settings import Settings
from calbench.config.spec import RunSpec
from calbench.facts.storage import Facts
from calbench.prices import table_prices
from stages import paths


def main(spec: RunSpec) -> None:
    """Write the tables of an experiment; nothing else stays in their folder."""
    folder = paths.tables(spec.name)
    shutil.rmtree(folder, ignore_errors=True)
    settings = Settings(spec.measure, spec.analysis, table_prices())
    write_tables(Facts(paths.facts(spec.name)), folder, settings)


if __name__ == "__main__":
    paths.run_stage(main)
