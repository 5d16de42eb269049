"""What pages say of teams whose privacy loss was not read off typed messages."""

from pathlib import Path

import pytest

from calbench.report.sections import measures
from calbench.report.setting import SettingResults
from tests.report.samples import make_results

pytestmark = pytest.mark.heavy


def test_a_team_whose_loss_is_unknown_has_a_dash_and_a_note(tmp_path: Path) -> None:
    results = make_results(tmp_path, "words", ["imap", "hostile"])
    setting = SettingResults(results, "words", {})
    text = measures(setting, "../method.html")
    assert setting.agent_games["imap", "excess_vps"] == 15
    assert setting.agent_games["hostile", "excess_vps"] == 0
    assert setting.agent_games["hostile", "excess_cost"] == 15
    assert "hostile: not at all: nobody was asked to reflect" in text
    assert "imap: " not in text
    assert text.count('title="no agent-game counts"') >= 2


def test_typed_teams_need_no_note(tmp_path: Path) -> None:
    results = make_results(tmp_path, "typed", ["imap", "silent"])
    text = measures(SettingResults(results, "typed", {}), "../method.html")
    assert "#reflection" not in text
    assert text.endswith("</div>")
