"""No page states a number that is in no table of the site."""

import csv
import html
import re
from pathlib import Path

import pytest

from calbench.report.columns import MINUS
from tests.cli.runs import REPO
from tests.report.derived import draws, rename
from tests.report.language_samples import make_cohort, make_language
from tests.report.samples import PUBLISHED, SOURCES, make_results, write_pages
from tests.report.written import cells as cells_of
from tests.report.written import stated

pytestmark = pytest.mark.heavy

NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,]\d)")
"""A number by itself: not part of an id, a name or a version."""

TEMPLATES = REPO / "calbench" / "report" / "templates"

DOCUMENTS = {"changelog.md": "CHANGELOG.md", "extend.md": "CONTRIBUTING.md"}
"""Pages that show a text of the repository."""

GAME = re.compile(r'<figure class="cb-picture">.*?</figure>', re.DOTALL)
"""The picture of a game: its numbers are those of a trace."""

TICK = re.compile(r'<g class="cb-m-tick.*?</g>')
"""The numbers of an axis of the home page's plane: they state no result."""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a site with every kind of page."""
    folder = tmp_path_factory.mktemp("all")
    played = make_results(
        folder / "uniform", "uniform", ["imap", "tell-all", "silent"], num_scenarios=2
    )
    varied = make_results(folder / "varied", "varied", ["imap", "first-free"], num_scenarios=2)
    special = [
        make_language(folder / "language", "language", "oversharer", num_scenarios=2),
        make_language(folder / "erring", "erring", "gossip", "careless", num_scenarios=2),
        make_language(folder / "slices", "slices", num_scenarios=4),
        make_cohort(folder / "smollm2", num_scenarios=2),
        make_language(folder / "probes", "probes", "trusting", "trusting-nosy", num_scenarios=2),
        rename(played, "frontier", {"imap": "dsm-theta-0.1", "tell-all": "dsm-lmax-2"}),
        draws(played, "reproduction"),
        draws(played, "reproduction-cap4"),
        rename(played, "scale", {}),
    ]
    write_pages([played, varied, *special], folder / "src", PUBLISHED, has_downloads=True)
    return folder / "src" / "docs"


@pytest.fixture(scope="module")
def cells(docs: Path) -> set[str]:
    return cells_of(docs / "tables")


@pytest.fixture(scope="module")
def tokens(cells: set[str]) -> set[str]:
    """Return the numbers of all cells, those within words too, with and without idle zeros."""
    found = {
        number
        for cell in cells
        for number in (*re.findall(r"\d+(?:\.\d+)?", cell), *NUMBER.findall(cell))
    }
    return found | {number.rstrip("0").rstrip(".") for number in found if "." in number}


RESULTS = (
    *("uniform", "varied", "plane", "difficulty", "reproduction", "scale", "language", "erring"),
    *("smollm2", "probes", "focal", "paper", "audits", "regret", "slices"),
)
"""Pages that state many numbers."""


def test_every_number_of_every_page_is_a_cell_and_is_rounded_from_it(
    docs: Path, cells: set[str]
) -> None:
    pages = {
        path.relative_to(docs).as_posix(): stated(path.read_text()) for path in docs.rglob("*.md")
    }
    for page, shown in pages.items():
        assert {value for value, _ in shown} <= cells, page
        for value, text in shown:
            if re.fullmatch(r"-?\d+(\.\d+)?", value) and re.fullmatch(r".?[\d.]+", text):
                digits = len(text.partition(".")[2])
                number = float(text.replace(MINUS, "-"))
                assert number == pytest.approx(float(value), abs=0.5 * 10**-digits + 1e-9), page
    few = [name for name in RESULTS if len(pages[f"results/{name}.md"]) <= 10]
    assert few == []
    players = [len(shown) for page, shown in pages.items() if page.startswith("players/")]
    assert min(players) > 15
    texts = [path.read_text() for path in (docs / "results").glob("*.md")]
    assert not any("calbench:" in text for text in texts)


ENDS = re.compile(r"<data [^>]*>([^<]*)</data> to <data [^>]*>([^<]*)</data>")
"""Two ends, of an interval or of a range."""


def test_no_page_shows_two_ends_that_look_alike(docs: Path) -> None:
    shown = {
        path.name: ENDS.findall(path.read_text()) for path in docs.rglob("*.md") if path.is_file()
    }

    assert sum(map(len, shown.values())) > 20
    assert {name: [one for one, other in ends if one == other] for name, ends in shown.items()} == {
        name: [] for name in shown
    }


def test_no_interval_of_a_table_has_two_equal_ends(docs: Path) -> None:
    found = []
    own = set((docs / "tables").rglob("*.csv"))
    for path in sorted(own):
        for row in csv.DictReader(path.read_text().splitlines()):
            names = [name[:-4] for name in row if name.endswith("_low") and "rank" not in name]
            found += [
                (path.name, name)
                for name in names
                if row[f"{name}_low"] and row[f"{name}_low"] == row[f"{name}_high"]
            ]
            if float(row.get("minimum_detectable_difference") or 1) == 0:
                found.append((path.name, "minimum_detectable_difference"))

    assert found == []


def words_of(page: str) -> str:
    """Return what a reader reads beside the marked numbers, captions and words of figures too."""
    for quoted in (GAME, TICK):
        page = quoted.sub("", page)
    without = re.sub(r"<data [^>]*>[^<]*</data>", "", page)
    return html.unescape(re.sub(r"<[^>]*>", " ", without))


def written(name: str) -> str:
    """Return what people wrote of a page: its template, the macros, and what it quotes."""
    template = SOURCES / "docs" / name
    if not template.is_file():
        template = SOURCES / "docs" / "results" / "setting.md"
    texts = [template, *TEMPLATES.glob("*.jinja")]
    if name in DOCUMENTS:
        texts.append(REPO / DOCUMENTS[name])
    return "\n".join(path.read_text() for path in texts)


def test_numbers_in_words_are_written_by_people_or_in_the_tables(
    docs: Path, tokens: set[str]
) -> None:
    found = {}
    for path in sorted(docs.rglob("*.md")):
        name = path.relative_to(docs).as_posix()
        said = {*NUMBER.findall(words_of(path.read_text()))}
        by_people = {*NUMBER.findall(written(name))}
        unknown = {n for n in said - by_people if tokens.isdisjoint({n, n.replace(",", "")})}
        if unknown:
            found[name] = sorted(unknown)

    assert found == {}


def test_number_of_no_table_would_be_found(docs: Path, tokens: set[str]) -> None:
    page = (docs / "results" / "regret.md").read_text()
    forged = page.replace("</caption>", " 123.456 in 7,654,321 games</caption>", 1)

    assert forged != page
    assert {*NUMBER.findall(words_of(forged))} - {*NUMBER.findall(words_of(page))} - tokens == {
        "123.456",
        "7,654,321",
    }
