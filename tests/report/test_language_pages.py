"""Pages of language agents: numbers of the tables, each in its place."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from calbench.metrics.usage import PROBLEMS
from calbench.report.experiment import Experiment
from calbench.report.figures.plane import SILENCE
from calbench.report.figures.scatter import FRONT_NAME
from calbench.report.figures.style import checked
from calbench.report.pages.gallery import SECTIONS
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.report.language_site import copied, data, page, rows_of
from tests.report.samples import NOTHING, PUBLISHED, SOURCES, make_results, page_of, write_pages
from tests.report.written import figure, text_rows

pytestmark = pytest.mark.heavy

GALLERIES = dict.fromkeys(section.page for section in SECTIONS)
"""Pages of figures."""

NO_TEAMS = {FRONT_NAME, SILENCE}
"""Traces of a plane that are no team."""


def test_every_estimate_of_every_channel_is_shown_with_its_kind(
    docs: Path, speakers: list[Experiment]
) -> None:
    text = page(docs, "language")

    for experiment in speakers:
        for row in text_rows(experiment.tables, "leaderboard.csv"):
            assert row["vps_kind"] == "reflection"
            assert f'<data value="{row["excess_vps"]}">' in text
            end = row["excess_vps_high"] or row["excess_vps_greatest"]  # of few scenarios the range
            assert f'<data value="{end}">' in text
        for row in text_rows(experiment.tables, "privacy/reflection_calibration.csv"):
            assert f'<data value="{row["precision"]}">' in text
        for row in text_rows(experiment.tables, "privacy/vps_baselines.csv"):
            for name in ("vps", "vps_by_chance", "vps_beyond_chance", "vps_constant", "vps_agreed"):
                assert f'<data value="{row[name]}">' in text
    assert text.count("scripted agents</span>") == 2 * (2 * 4 + 2)  # leaderboards and planes
    assert "protocol</span>" in text
    assert "language models</span>" not in text
    assert "<p>No model was asked, so there are no tokens to count" in text


def test_mixed_teams_are_also_listed_by_player(docs: Path) -> None:
    text = page(docs, "language")

    assert text.count("<caption>Private messages, by player: mean") == 1
    assert text.count("<caption>To all agents, by player") == 0
    players = rows_of(docs, "language", "players.csv")
    assert {row["teams"] for row in players} == {
        f"{name} mixed-scripted" for name in ("candid", "guarded", "oversharer")
    }
    assert all(f'<data value="{row["messages"]}">' in text for row in players)


def test_each_instrument_of_vps_has_a_plane(docs: Path) -> None:
    keys = ("plane-language-uniform", "plane-language-uniform-reflection")
    typed, spoken = (figure(docs, key) for key in keys)

    assert {trace["name"] for trace in typed["data"]} - NO_TEAMS == {"imap"}
    assert {"candid", "guarded"} < {trace["name"] for trace in spoken["data"]}
    assert "by" not in typed["layout"]["xaxis"]["title"]["text"]
    for key in (keys[1], "plane-language-varied-reflection"):
        assert "by reflections" in figure(docs, key)["layout"]["xaxis"]["title"]["text"]


class Plots(HTMLParser):
    """Collects the figures of a page: key, alternative text, downloads, captions of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "figure":
            self.found.append({name: [] for name in ("key", "alt", "file", "details", "table")})
        elif self.found and "data-figure" in values:
            self.found[-1]["key"].append(values["data-figure"])
            self.found[-1]["alt"].append(values["aria-label"])
        elif self.found and "data-table" in values:
            self.found[-1]["file"].append(values["data-table"])
        elif self.found and tag in {"details", "table"}:
            self.found[-1][tag].append(tag)


def test_every_figure_has_a_title_a_file_and_its_numbers(docs: Path) -> None:
    pages = {path.stem: Plots(path.read_text()).found for path in (docs / "results").glob("*.md")}

    assert {name for name, found in pages.items() if found} == set(pages) - {
        "audits", "comparisons", "inconsistencies", "paper", "privacy", "ratings", "regret",
        "smollm2",
    }  # fmt: skip
    keys = []
    for name, found in pages.items():
        for plot in found:
            key = plot["file"][0].removesuffix(".csv")
            keys += [key] if name not in {"uniform", "plane"} else []
            # A figure of zeros is a table in its place.
            assert plot["key"] in ([key], [])
            assert (docs / "pagedata" / f"{key}.js").is_file() is bool(plot["key"])
            assert all((docs / "tables" / each).is_file() for each in plot["file"])
            assert all(len(alt) > 20 for alt in plot["alt"])
            if (name in GALLERIES and key != "figures/difficulty") or not plot["key"]:
                assert plot["table"]
    assert len(keys) == len(set(keys)) > 100


@pytest.mark.parametrize("key", [section.name for section in SECTIONS])
def test_plotly_knows_every_property_of_the_figures(docs: Path, key: str) -> None:
    if not (docs / "pagedata" / "figures" / f"{key}-language-uniform.js").is_file():
        (name,) = (section.page for section in SECTIONS if section.name == key)
        assert "of these numbers are 0" in page(docs, name)
        return
    drawn = data(docs, f"figures/{key}-language-uniform")

    assert len(checked(drawn).data) == len(drawn["data"]) > 0


def test_sections_of_figures_show_one_view_of_each_at_first(docs: Path) -> None:
    for name in GALLERIES:
        text = page(docs, name)
        views = re.findall(r'<section class="(cb-view[^"]*)" data-view="([^"]*)"', text)

        first = views[0][1]
        assert len(views) % sum(section.page == name for section in SECTIONS) == 0
        for style, key in views:
            assert ("cb-shown" in style) == (key == first)
    assert 'id="leaks-language-uniform"' in page(docs, "words")
    assert page(docs, "talk").count("as the paper prints it") > 4


def test_protocols_on_other_scenarios_are_not_put_beside(
    speakers: list[Experiment], tmp_path: Path
) -> None:
    elsewhere = make_results(tmp_path / "uniform", "uniform", ["imap"])

    write_pages([elsewhere, *speakers], tmp_path / "src", PUBLISHED)

    drawn = figure(tmp_path / "src" / "docs", "plane-language-uniform-reflection")["data"]
    assert {trace["name"] for trace in drawn} - NO_TEAMS == {
        "candid", "guarded", "oversharer", "mixed-scripted",
    }  # fmt: skip


def test_plane_of_typed_teams_names_them_and_nothing_else(docs: Path) -> None:
    drawn = figure(docs, "plane-uniform")

    teams = [trace for trace in drawn["data"] if trace["name"] not in NO_TEAMS]
    assert [trace["name"] for trace in teams] == ["imap", "silent"]
    (line,) = (trace for trace in drawn["data"] if trace["name"] == SILENCE)
    assert line["y"] == [teams[1]["y"][0]] * 2  # whoever says nothing pays that, played or not
    assert drawn["layout"]["xaxis"]["title"]["text"].startswith("Excess VPS (slot")
    assert all("-open" not in trace["marker"]["symbol"] for trace in teams)


def test_cohort_page_says_what_became_of_the_meetings(docs: Path, cohort: Experiment) -> None:
    (row,) = text_rows(cohort.tables, "outcomes.csv")
    text = page(docs, "smollm2")

    assert int(row["provider_fault"]) > 0
    for name in ("games", "meetings", "scheduled", "no_batch", "provider_fault"):
        assert f'<data value="{row[name]}">' in text
    assert "It hardly plays the game" in text.replace("\n", " ")
    assert "language models</span>" in text


def test_replies_and_tokens_are_those_of_the_tables(docs: Path, cohort: Experiment) -> None:
    text = page(docs, "smollm2")
    (replies,) = text_rows(cohort.tables, "reply_outcomes.csv")
    (usage,) = text_rows(cohort.tables, "usage.csv")

    assert int(replies["not_json"]) > 0
    assert int(replies["recovered"]) > 0
    for cell in (*(replies[name] for name in ("replies", "read", *PROBLEMS)), usage["calls"]):
        assert f'<data value="{cell}">' in text
    assert f'<data value="{usage["price_usd"]}">' in text
    assert f'<data value="{usage["cached_tokens"]}">' in text


def test_calibration_that_was_not_made_is_said_to_be_missing(
    speakers: list[Experiment], tmp_path: Path
) -> None:
    first = speakers[0]
    tables = copied(first.folder, tmp_path / "tables")
    bare = Experiment("language", first.suite, tables, first.traces, first.role)

    text = page_of(Site(SOURCES, (bare,), Tables(tmp_path), Tables(NOTHING)), "results/language.md")

    assert "<p>Nobody was asked to reflect, or the answers were not measured.</p>" in text
    assert "privacy/" not in text
