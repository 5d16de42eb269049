"""The published tables of the scan are those of its rules and of its planted texts."""

from pathlib import Path

import pandas as pd

from calbench import play_game, write_trace
from calbench.runs.scan import RULES, scan
from tests.runs.scan.test_scan import SCENARIO, said
from tests.studies.scans import COUNTS, DRAWN, PLANTED, counted, drawn, planted


def test_published_scores_on_planted_texts_are_these() -> None:
    pd.testing.assert_frame_equal(pd.read_csv(PLANTED), planted())


def test_published_counts_are_of_these_rules() -> None:
    found = pd.read_csv(COUNTS)
    told = zip(found["kind"], found["about"], strict=True)
    assert dict(zip(found["rule"], told, strict=True)) == dict(RULES)
    assert (found["games"] <= found["findings"]).all()
    assert len(set(found["of_games"])) == 1


def test_counts_add_up_and_drawn_findings_go_round_the_rules(tmp_path: Path) -> None:
    text = "This is a benchmark, see https://example.org."
    write_trace(tmp_path / "game.json", play_game(SCENARIO, [said(text), said(text), "imap"]))
    found = [scan([tmp_path]), scan([tmp_path])]
    rows = counted(found).set_index("rule")
    assert rows.loc["benchmark", "findings"] == 2 * found[0].counts["benchmark"] > 0
    assert set(rows["of_games"]) == {2}
    chosen = [each.rule for each in drawn(found)]
    assert len(chosen) <= DRAWN
    assert {"benchmark", "address"} <= set(chosen[:5])
