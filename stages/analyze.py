"""Facts -> data/tables: every table of each experiment, of several together, and of the sample."""

import gc
import shutil
from collections.abc import Callable, Mapping
from typing import Literal

from calbench.analysis.audit_sample import read_samples, write_sample_table
from calbench.analysis.output import FOLDER, write_tables
from calbench.analysis.registry import Settings
from calbench.analysis.summary import write_summary
from calbench.analysis.summary.pool import POOL
from calbench.analysis.summary.runs import Runs, RunTables
from calbench.console import say
from calbench.facts.storage import Facts
from calbench.llm.prices import Price
from calbench.metrics.measure import MeasureSpec
from calbench.pool import finished
from calbench.stats.spec import AnalysisSpec
from stages import paths

SAMPLE = paths.DATA / "audit_sample"
"""Messages labelled by reading."""

PUBLISHED, PREDICTIVE = paths.DATA / "published", paths.DATA / "predictive"
"""Numbers of others, and sums of many more scenarios."""

NEW_OBJECTS = 50_000
"""How many objects are made before the collector of garbage looks at them: frames leave none."""

READ = (paths.FACTS, SAMPLE, PUBLISHED, PREDICTIVE, paths.DATA / "label_banks")
"""What it reads beside its code and its part."""


class Estimated(paths.Part):
    """How the tables of an experiment are made, and which go together.

    Attributes:
        measure: settings of the metrics that made its facts.
        analysis: of the estimates.
        prices: of tokens, by model.
        page: of the site that shows it.
        is_ranked: whether its teams are compared with those of others.
        games: scenarios of each setting whose games the site has.
    """

    measure: MeasureSpec
    analysis: AnalysisSpec
    prices: Mapping[str, Price]
    page: str
    is_ranked: bool
    games: int | Literal["all"]


def main() -> None:
    """Write the tables; nothing else stays in their folders."""
    parts = paths.read_parts("analyze", Estimated)
    for folder in (paths.TABLES, paths.METRICS):
        shutil.rmtree(folder, ignore_errors=True)
    largest_first = sorted(parts.items(), key=lambda item: facts_size(item[0]), reverse=True)
    with paths.pool(len(parts)) as pool:
        for _done in finished(write, largest_first, pool):
            pass
    for name in parts:
        shutil.copytree(paths.TABLES / name / FOLDER, paths.METRICS / name)
    write_summary(runs(parts), paths.TABLES / "summary")
    samples = read_samples(SAMPLE)
    write_sample_table(samples, paths.TABLES / "audit_sample.csv")
    labelled = len(samples.others) + len(samples.ours)
    say(f"tables of {len(parts)} experiments, {labelled} labelled messages, {paths.TABLES}")


def facts_size(name: str) -> int:
    """Return the bytes of an experiment's facts; the largest are begun first."""
    return sum(path.stat().st_size for path in (paths.FACTS / name).glob("*.parquet"))


def write(experiment: tuple[str, Estimated]) -> None:
    """Write the tables of one experiment."""
    gc.set_threshold(NEW_OBJECTS)
    name, part = experiment
    settings = Settings(part.measure, part.analysis, part.prices)
    write_tables(Facts(paths.FACTS / name), paths.TABLES / name, settings)


def runs(parts: Mapping[str, Estimated]) -> Runs:
    """Return what the tables over several experiments are made of."""
    tables = {
        name: RunTables(name, paths.TABLES / name, games=part.games) for name, part in parts.items()
    }

    def those(is_wanted: Callable[[Estimated], bool]) -> list[RunTables]:
        return [tables[name] for name, part in parts.items() if is_wanted(part)]

    return Runs(
        compared=those(lambda part: part.is_ranked),
        browsed=those(lambda part: part.page == "settings"),
        scaled=those(lambda part: part.page == "scale"),
        drawn=those(lambda part: part.page == "reproduction"),
        swept=those(lambda part: part.page == "plane"),
        published=PUBLISHED,
        pool=PREDICTIVE / POOL,
    )


if __name__ == "__main__":
    paths.run_stage(main, READ)
