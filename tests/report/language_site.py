"""Sources of a site with language agents, written once in a test run, and what stands in them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calbench.report.experiment import Experiment
from calbench.report.tables import read_table
from tests.report.language_samples import make_language
from tests.report.sample_site import SampleSite
from tests.report.samples import PUBLISHED, make_results, results_in, write_pages
from tests.report.unpacking import page_data
from tests.sharing import once

OTHERS = ("language-private", "language-everyone")
"""Experiments of speakers that are heard by more than one agent."""


@dataclass(frozen=True)
class LanguageSite:
    """Where its parts are."""

    root: Path
    sample: SampleSite

    @property
    def speakers(self) -> list[Experiment]:
        """The language experiments: whole with private messages, one team with each other."""
        return [self.sample.language, *(results_in(self.root / name, name) for name in OTHERS)]

    @property
    def protocols(self) -> Experiment:
        """An experiment called like a setting, on that setting's scenarios."""
        return results_in(self.root / "uniform", "uniform")

    @property
    def docs(self) -> Path:
        return self.root / "src" / "docs"


def make_language_site(root: Path, sample: SampleSite) -> LanguageSite:
    """Write the sources into a folder, or wait until another process has written them there."""
    site = LanguageSite(root, sample)
    once(root, lambda: _make(site))
    return site


def _make(site: LanguageSite) -> None:
    for name in OTHERS:
        make_language(site.root / name, name, "oversharer")
    scenarios = [s for s in site.sample.language.scenarios if s.setting == "uniform"]
    make_results(site.root / "uniform", "uniform", ["imap", "silent"], scenarios=scenarios)
    experiments = [site.protocols, *site.speakers, site.sample.cohort]
    write_pages(experiments, site.root / "src", PUBLISHED)


def page(docs: Path, name: str) -> str:
    return (docs / "results" / f"{name}.md").read_text()


def data(docs: Path, key: str) -> Any:
    return page_data(docs / "pagedata", key)


def rows_of(docs: Path, experiment: str, table: str) -> list[dict[str, str]]:
    return [dict(row) for row in read_table(docs / "tables" / experiment / table)]


def copied(source: Path, target: Path) -> Path:
    target.mkdir()
    for path in source.glob("*.csv"):
        (target / path.name).write_bytes(path.read_bytes())
    return target
