"""Settings of every test, and what tests of several folders share."""

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import settings

import tests.effort  # noqa: F401 - registers the profile

if TYPE_CHECKING:
    from tests.report.sample_site import SampleSite

settings.load_profile("calbench")

# How pandas holds text is no part of a result, and for tables this small Python objects are
# half as fast again as Arrow's. Pipelines and commands in their own processes keep its default.
pd.set_option("mode.string_storage", "python")


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> "SampleSite":
    """Return the small site; all processes of a test run share it."""
    from tests.report.sample_site import make_sample_site

    own = tmp_path_factory.getbasetemp()
    return make_sample_site((own if worker_id == "master" else own.parent) / "sample-site")
