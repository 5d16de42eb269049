"""The page of probing agents: effects from their table, linked to the messages they count."""

import re
from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from calbench.report.pages.seats import TOLD, probes
from tests.report.language_samples import make_language
from tests.report.language_site import rows_of
from tests.report.samples import NOTHING, make_results, site_of, write_pages

pytestmark = pytest.mark.heavy

TEAMS = ("trusting", "trusting-nosy", "oversharer", "oversharer-nosy")


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probes")
    uniform = make_results(folder / "uniform", "uniform", ["imap"], num_scenarios=2)
    write_pages([uniform, probed(folder)], folder / "src")
    return folder / "src" / "docs"


def probed(folder: Path) -> Experiment:
    return make_language(folder / "probes", "probes", *TEAMS, num_scenarios=4)


def page(docs: Path) -> str:
    return (docs / "results" / "probes.md").read_text()


def test_every_effect_is_shown_with_its_interval_and_verdict(docs: Path) -> None:
    text, rows = page(docs), rows_of(docs, "probes", "probe_effects.csv")

    assert {row["team"] for row in rows} == {"trusting-nosy", "oversharer-nosy"}
    for row in rows:
        for name in ("probed", "without", "difference"):
            assert f'<data value="{row[name]}">' in text
        if row["difference_interval"] == "t":
            assert f'<data value="{row["difference_low"]}">' in text
        assert row["verdict"] in text
    assert "All players here are scripted" in text


def test_numbers_of_labels_lead_to_the_first_message_they_count(docs: Path) -> None:
    text, told = page(docs), rows_of(docs, "probes", "probe_labels.csv")
    rows = [row for row in rows_of(docs, "probes", "probe_effects.csv") if row["measure"] in TOLD]
    linked = 0
    for row in rows:
        counted = [
            each
            for each in told
            if (each["setting"], each["team"]) == (row["setting"], row["team"])
            and TOLD[row["measure"]]({**each, "is_second_hand": each["is_second_hand"] == "true"})
        ]
        assert bool(counted) == (float(row["probed"]) > 0)
        if counted:
            place = [counted[0][name] for name in ("team", "scenario_id", "event_index")]
            assert f"traces.html#probes/{'/'.join(place)}" in text
            linked += 1
    assert linked >= 6
    assert len(re.findall(r"traces\.html#probes/", text)) > linked  # the sentences, too


def test_a_site_without_probes_has_no_such_page(tmp_path: Path) -> None:
    played = make_results(tmp_path / "uniform", "uniform", ["imap"], num_scenarios=1)

    assert probes(site_of([played], tmp_path / "src", NOTHING)) is None
