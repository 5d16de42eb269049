"""Facts -> data/tables: every table of each experiment, of several together, and of the sample."""

import shutil

from calbench.analysis.audit_sample import read_samples, write_sample_table
from calbench.analysis.metric_files import FOLDER
from calbench.analysis.output import write_tables
from calbench.analysis.settings import Settings
from calbench.analysis.summary import write_summary
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import say
from calbench.facts.storage import Facts
from calbench.llm.prices import read_prices
from calbench.pool import finished, workers
from stages import paths
from stages.inputs import Inputs
from stages.kept import Kept, contents
from stages.shown import published, site

SAMPLE = paths.DATA / "audit_sample"
"""Messages labelled by reading."""


def main(_: list[str]) -> None:
    """Write the tables; nothing else stays in their folders."""
    specs, kept, inputs = published(), Kept("analyze", contents), Inputs("analyze")
    recipes = {spec.name: inputs.recipe(spec) for spec in specs}
    missing = [
        spec for spec in specs if not kept.holds(paths.tables(spec.name), recipes[spec.name])
    ]
    paths.prune(paths.TABLES, {paths.tables(spec.name) for spec in specs if spec not in missing})
    shutil.rmtree(paths.METRICS, ignore_errors=True)
    with workers(paths.processes(len(missing))) as pool:
        for spec, _done in finished(write, sorted(missing, key=facts_size, reverse=True), pool):
            kept.note(paths.tables(spec.name), recipes[spec.name])
    kept.write()
    for spec in specs:
        shutil.copytree(paths.tables(spec.name) / FOLDER, paths.METRICS / spec.name)
    write_summary(site(specs).runs, paths.tables("summary"))
    samples = read_samples(SAMPLE)
    write_sample_table(samples, paths.TABLES / "audit_sample.csv")
    labelled = len(samples.others) + len(samples.ours)
    say(f"tables of {len(specs)} experiments, {labelled} labelled messages, {paths.TABLES}")


def facts_size(spec: RunSpec) -> int:
    """Return the bytes of an experiment's facts; the largest are begun first."""
    return sum(path.stat().st_size for path in paths.facts(spec.name).glob("*.parquet"))


def write(spec: RunSpec) -> None:
    """Write the tables of one experiment."""
    settings = Settings(spec.measure, spec.analysis, read_prices(PRICES).models)
    write_tables(Facts(paths.facts(spec.name)), paths.tables(spec.name), settings)


if __name__ == "__main__":
    paths.answer(main)
