"""The page of changed numbers, on changes written by hand."""

import shutil
from pathlib import Path

from calbench.report.pages import changes
from tests.report.by_hand import results, site_with, table
from tests.report.samples import PUBLISHED, page_of

PAGE = "changes.md"


def site_of_changes(folder: Path, headline: str, columns: str) -> str:
    shutil.copytree(PUBLISHED, folder / "published")
    for name, rows in (("changed_headline.csv", headline), ("changed_columns.csv", columns)):
        head = (PUBLISHED / name).read_text().splitlines()[0]
        (folder / "published" / name).write_text(f"{head}\n{rows}")
    table(folder / "leaderboard.csv", "setting team\nuniform a")
    return page_of(site_with([results(folder)], published=folder / "published"), PAGE)


def test_number_that_changed_is_shown_with_both_intervals(tmp_path: Path) -> None:
    page = site_of_changes(
        tmp_path,
        "summary/l.csv,team=a,fairness,1.5,1.0,2.0,1.25,,\n"
        "summary/l.csv,team=b,fairness,7.5,1.0,2.0,7.5,1.5,2.0\n",
        "l.csv,cell,fairness,2,1234,1.5,1.25,uniform/l.csv team=a\n",
    )

    assert "1.5 <span" in page
    assert "1.0 to 2.0" in page
    assert "1.25" in page
    assert "7.5" not in page
    assert "only the interval changed" in page
    assert '<data value="1234">' in page


def test_page_says_that_nothing_changed(tmp_path: Path) -> None:
    page = site_of_changes(tmp_path, "", "")

    assert "No headline number changed." in page
    assert "No cell changed." in page


def test_page_is_absent_without_the_lists(tmp_path: Path) -> None:
    assert changes.content(site_with([results(tmp_path)])) is None
