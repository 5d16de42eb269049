"""Settings of every test, and what tests of several folders share."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import tests.effort  # noqa: F401 - registers the profile

if TYPE_CHECKING:
    from tests.report.sample_site import SampleSite

settings.load_profile("calbench")


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> "SampleSite":
    """Return the small site; all processes of a test run share it."""
    from tests.report.sample_site import make_sample_site

    own = tmp_path_factory.getbasetemp()
    return make_sample_site((own if worker_id == "master" else own.parent) / "sample-site")
