"""Settings of every test, and what tests of several folders share."""

import gc
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import tests.effort  # noqa: F401 - registers the profile
from tests.sharing import TOGETHER, shared_folder

if TYPE_CHECKING:
    from tests.report.sample_site import SampleSite

settings.load_profile("calbench")

# Whoever started the tests, as by `nohup`, commands under test end when their terminal is closed.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

NEW_OBJECTS = 50_000
"""How many objects are made before the collector of garbage looks at them."""

CAMPAIGN = "campaign"
"""Property of a test that holds the figures of its campaign."""


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Set up a process that will read all tests; one that only hands them out needs no pandas."""
    if collector.path != Path(__file__).parent:
        return
    import pandas as pd

    # How pandas holds text is no part of a result, and for tables this small Python objects are
    # half as fast again as Arrow's. Pipelines and commands in their own processes keep its default.
    pd.set_option("mode.string_storage", "python")
    # Modules and tests are read to stay: looking for garbage among them takes a quarter of the time
    # that reading them does, and finds none.
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as heavy what needs a site of all kinds of games: to build it takes too long."""
    for item in items:
        if "sample_site" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.heavy)


def pytest_collection_finish() -> None:
    """Look for garbage again, but never among what stays until the end."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()


class Files(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Hands out whole files, and files that share what is costly to one process."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return TOGETHER.get(file, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Files | None:
    """Replace xdist's distribution by file."""
    return Files(config, log) if config.getoption("dist") == "loadfile" else None


class Figures(Protocol):
    """Notes what came of a campaign; the summary of the test run shows it."""

    def __call__(self, attacks: str, outcomes: Mapping[str, int]) -> None:
        """Note how often each outcome occurred."""
        ...


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Figures:
    """Return what notes the figures of a campaign."""

    def note(attacks: str, outcomes: Mapping[str, int]) -> None:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        record_property(CAMPAIGN, f"{sum(outcomes.values())} {attacks}: {counts}")

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the figures of the campaigns that ran."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    lines = sorted(
        text for each in reports for key, text in each.user_properties if key == CAMPAIGN
    )
    if lines:
        terminalreporter.section("campaigns")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> "SampleSite":
    """Return the small site; all processes of a test run share it."""
    from tests.report.sample_site import make_sample_site

    return make_sample_site(shared_folder(tmp_path_factory, worker_id, "sample-site"))
