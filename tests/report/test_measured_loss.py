"""What pages say of teams whose privacy loss was not read off typed messages."""

from pathlib import Path

import pytest

from calbench.report.experiment import Experiment, Setting
from calbench.report.pages import setting
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.templating import Templates
from tests.report.samples import NOTHING, SOURCES, make_results

pytestmark = pytest.mark.heavy


def shown(results: Experiment) -> str:
    """Return the page of its only setting."""
    site = Site(SOURCES, (results,), Tables(NOTHING), Tables(NOTHING))
    content = setting.content(site, Setting(results, results.name))
    values = {"site": site, "explaining": [], "paths": set(), **content.values}
    return Templates(SOURCES / "docs").filled("results/setting.md", "../", values)


def test_a_team_whose_loss_is_unknown_has_a_dash_and_a_note(tmp_path: Path) -> None:
    results = make_results(tmp_path, "words", ["imap", "hostile"])
    text = shown(results)
    counted = {row["team"]: row for row in Setting(results, "words").counted}
    assert counted["imap"]["excess_vps_n"] == 15
    assert counted["hostile"]["excess_vps_n"] == 0
    assert counted["hostile"]["excess_cost_n"] == 15
    assert "hostile: not at all: nobody was asked to reflect" in text
    assert "imap: not at all" not in text
    assert "imap: of " not in text
    assert text.count('title="no agent-game counts"') >= 2


def test_typed_teams_need_no_note(tmp_path: Path) -> None:
    text = shown(make_results(tmp_path, "typed", ["imap", "silent"]))
    assert "#reflection" not in text
    assert "was measured, where not by typed messages" not in text
