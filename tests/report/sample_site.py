"""One small site for all tests that need one: played, written and built once in a test run."""

from dataclasses import dataclass
from pathlib import Path

from calbench.report.build import build_site
from calbench.report.escape import write_data
from calbench.report.experiment import Experiment
from calbench.report.games.files import about_game, packed_games
from calbench.traces.storage import trace_bytes
from tests.report.hostile import HALF, halve
from tests.report.language_samples import make_cohort, make_language
from tests.report.samples import (
    PUBLISHED,
    STRANGE_TEAMS,
    make_results,
    play,
    results_in,
    suite_of,
    write_pages,
)
from tests.report.unpacking import file_value, unpacked_game
from tests.sharing import once

TEAMS = {
    "varied": ("imap", "silent"),
    "uniform": ("imap", "tell-all", "mediator", "secure-sum"),
    "hostile": ("hostile", *STRANGE_TEAMS),
}
"""Teams by ordinary experiment; those with language are played with all their teams."""

HALVES = "hostile/hostile/hostile-001"
"""The game in which half characters are said, which no trace file can hold."""


@dataclass(frozen=True)
class SampleSite:
    """Where the parts of the site are."""

    root: Path

    @property
    def source(self) -> Path:
        return self.root / "src"

    @property
    def built(self) -> Path:
        return self.root / "built"

    @property
    def ordinary(self) -> list[Experiment]:
        return [results_in(self.root / name, name) for name in TEAMS]

    @property
    def language(self) -> Experiment:
        return results_in(self.root / "language", "language")

    @property
    def cohort(self) -> Experiment:
        return results_in(self.root / "smollm2", "smollm2")


def make_sample_site(root: Path) -> SampleSite:
    """Make the site in a folder, or wait until another process has made it there."""
    site = SampleSite(root)
    once(root, lambda: _make(site))
    return site


def _make(site: SampleSite) -> None:
    for name, teams in TEAMS.items():
        make_results(site.root / name, name, teams)
    make_language(site.root / "language", "language")
    make_cohort(site.root / "smollm2")
    experiments = [*site.ordinary, site.language, site.cohort]
    write_pages(experiments, site.source, PUBLISHED, has_downloads=True)
    # No trace file can hold half a character, but a page must bear one.
    trace = play(suite_of("hostile", 3)[1], "hostile", ["{} alone, {} alone".format(*HALF)])
    folder, key = site.source / "docs" / "pagedata", "games/hostile/hostile-001"
    teams = file_value(folder / f"{key}.js")["teams"]
    games = {team: unpacked_game(folder, "hostile", team, "hostile-001") for team in teams}
    games["hostile"] = about_game(trace, "hostile"), trace_bytes(trace)
    shared = trace.scenario.model_dump_json().encode()
    write_data(folder, key, {"teams": teams, "games": packed_games(shared, games.values())})
    halve(folder)
    build_site(site.source, site.built)
