"""Times and sizes: every row stands on a page, and none is made up where there is no table."""

from pathlib import Path

from calbench.report.tables import read_table
from calbench.report.timings import CAPTIONS, NAME, parts
from tests.report.sample_site import PUBLISHED, SampleSite


def test_every_row_of_the_table_is_shown_under_its_caption() -> None:
    rows = read_table(PUBLISHED / NAME)
    shown = {name: part() for name, part in parts(PUBLISHED).items()}

    assert {row["group"] for row in rows} == set(CAPTIONS)
    for row in rows:
        text = shown[f"timings-{row['group']}"]
        assert f'<data value="{row["low"]}">' in text
        assert row["what"] in text
        assert float(row["low"]) <= float(row["high"] or row["low"])
    assert sum(text.count("<tr>") for text in shown.values()) == len(rows) + len(CAPTIONS)


def test_nothing_is_shown_without_the_table(tmp_path: Path) -> None:
    assert {part() for part in parts(tmp_path).values()} == {""}


def test_pages_show_them(sample_site: SampleSite) -> None:
    for page, group in (("method", "calls"), ("method", "site"), ("reproduce", "reproduce")):
        assert CAPTIONS[group] in (sample_site.built / f"{page}.html").read_text()
