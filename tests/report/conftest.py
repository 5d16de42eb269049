"""The site of language agents, which several files of tests read; never written to."""

from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from tests.report.language_site import LanguageSite, make_language_site
from tests.report.sample_site import SampleSite
from tests.sharing import shared_folder


@pytest.fixture(scope="session")
def language_site(
    sample_site: SampleSite, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> LanguageSite:
    """Return the site; all processes of a test run share it."""
    root = shared_folder(tmp_path_factory, worker_id, "language-site")
    return make_language_site(root, sample_site)


@pytest.fixture(scope="session")
def speakers(language_site: LanguageSite) -> list[Experiment]:
    return language_site.speakers


@pytest.fixture(scope="session")
def cohort(sample_site: SampleSite) -> Experiment:
    return sample_site.cohort


@pytest.fixture(scope="session")
def protocols(language_site: LanguageSite) -> Experiment:
    return language_site.protocols


@pytest.fixture(scope="session")
def docs(language_site: LanguageSite) -> Path:
    return language_site.docs
