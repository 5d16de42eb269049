"""Times and sizes: every row is on a page, and none is made up where there is no table."""

from pathlib import Path

from calbench.report.site import Site
from calbench.report.tables import Tables, read_table
from tests.report.samples import NOTHING, PUBLISHED, SOURCES, page_of

CAPTIONS = {
    "reproduce": "<caption>Times and sizes on two shared cores</caption>",
    "calls": "<caption>Many games with a model at once; replies take 200 ms</caption>",
    "site": "<caption>This site and its making</caption>",
}
PAGES = {"reproduce.md": ("reproduce",), "method.md": ("calls", "site")}


def shown(published: Path) -> dict[str, str]:
    site = Site(SOURCES, (), Tables(NOTHING), Tables(published))
    return {name: page_of(site, name) for name in PAGES}


def test_every_row_of_the_table_is_shown_under_its_caption() -> None:
    rows = read_table(PUBLISHED / "timings.csv")
    texts = shown(PUBLISHED)

    assert {row["group"] for row in rows} == set(CAPTIONS)
    for name, groups in PAGES.items():
        for group in groups:
            (table,) = [each for each in texts[name].split("<table")[1:] if CAPTIONS[group] in each]
            own = [row for row in rows if row["group"] == group]
            assert table.partition("</table>")[0].count("<tr>") == len(own) + 1
            for row in own:
                assert f'<data value="{row["low"]}">' in table
                assert f'<th scope="row">{row["what"]}</th>' in table
                assert float(row["low"]) <= float(row["high"] or row["low"])


def test_nothing_is_shown_without_the_table() -> None:
    for text in shown(NOTHING).values():
        assert not [caption for caption in CAPTIONS.values() if caption in text]
        assert "Measured by hand" not in text
