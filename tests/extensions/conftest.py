"""Distributions on the search path of a test, and off it again."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.extensions.distributions import Points, install, install_page

Install = Callable[[str, str, Points], Path]

PACKAGES = ("calbench_bid", "other")
"""Packages of distributions that tests install."""


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install distributions by name, version and entry points."""
    folder = tmp_path / "installed"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    yield lambda name, version, points: install(folder, name, version, points)

    for module in list(sys.modules):
        if module.partition(".")[0] in PACKAGES:
            del sys.modules[module]


@pytest.fixture
def page(given: Install, tmp_path: Path) -> Path:
    """The distribution of the page, installed."""
    assert given is not None
    return install_page(tmp_path / "installed")
