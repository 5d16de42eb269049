"""The published exponents are those of the published measurements."""

import pandas as pd

from tests.cli.runs import REPO
from tests.studies.growth import PUBLISHED, exponents


def test_exponents_are_those_of_the_measurements() -> None:
    growth, kept = (
        pd.read_csv(REPO / PUBLISHED / f"{name}.csv", keep_default_na=False).drop(columns="note")
        for name in ("growth", "exponents")
    )
    pd.testing.assert_frame_equal(exponents(growth).astype({"exponent": float}), kept)
