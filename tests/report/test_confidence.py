"""A setting of the estimates holds on every page, in numbers and in words."""

import re
from pathlib import Path

import pytest

from calbench.analysis.datapackage import write_datapackage
from calbench.analysis.registry import Settings
from calbench.metrics.measure import MeasureSpec
from calbench.report.experiment import Experiment, confidence_of, level_of, percent
from calbench.report.tables import read_table
from calbench.stats.spec import AnalysisSpec
from tests.report.derived import draws, rename
from tests.report.language_samples import make_language
from tests.report.samples import PUBLISHED, make_results, write_pages
from tests.report.unpacking import page_data

pytestmark = pytest.mark.heavy

CONFIDENCES = {"wide": 0.95, "narrow": 0.5}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a site of the same games with either confidence."""
    folder = tmp_path_factory.mktemp("confidence")
    found = {}
    for name, confidence in CONFIDENCES.items():
        results = make_results(
            folder / name, "uniform", ["imap", "mediator"], num_scenarios=6, confidence=confidence
        )
        out = folder / f"{name}-src"
        speakers = make_language(
            folder / f"{name}-language", "language", "oversharer",
            num_scenarios=4, confidence=confidence,
        )  # fmt: skip
        derived = [draws(results, "reproduction"), rename(results, "scale", {})]
        write_pages([results, speakers, *derived], out, PUBLISHED)
        found[name] = out / "docs"
    return found


def page(docs: Path, name: str) -> str:
    return (docs / f"{name}.md").read_text()


def widths(docs: Path, table: str, measure: str) -> list[float]:
    rows = [row for row in read_table(docs / "tables" / table) if row[f"{measure}_low"]]
    assert rows
    return [float(row[f"{measure}_high"]) - float(row[f"{measure}_low"]) for row in rows]


@pytest.mark.parametrize(
    ("table", "measure"),
    [
        ("leaderboard.csv", "adjusted_excess_cost"),
        ("regret_by_team.csv", "excess"),
        ("regret_by_team.csv", "unreachable_share"),
        ("uniform/excess_parts.csv", "excess"),
        ("uniform/optimum_unreachable_shares.csv", "share"),
    ],
)
def test_less_confidence_is_a_narrower_interval(
    docs: dict[str, Path], table: str, measure: str
) -> None:
    wide, narrow = (widths(docs[name], table, measure) for name in CONFIDENCES)

    assert all(less <= more for less, more in zip(narrow, wide, strict=True))
    assert sum(narrow) < sum(wide)


@pytest.mark.parametrize(
    "name",
    [
        *("leaderboard", "index", "results/regret", "results/uniform", "results/audits"),
        *("results/paper", "results/scale"),
        *("results/talk", "results/cost", "results/words"),
    ],
)
def test_pages_show_the_narrower_interval_and_say_so(docs: dict[str, Path], name: str) -> None:
    wide, narrow = page(docs["wide"], name), page(docs["narrow"], name)

    def intervals(text: str) -> list[str]:
        return re.findall(r'<span class="cb-range">(<data.*? to .*?)</span>', text)

    assert len(intervals(wide)) == len(intervals(narrow)) > 0
    assert intervals(wide) != intervals(narrow)
    assert ("95%" in wide, "50%" in wide) == (True, False)
    assert ("95%" in narrow, "50%" in narrow) == (False, True)


def test_no_page_of_results_says_another_confidence(docs: dict[str, Path]) -> None:
    paths = list((docs["narrow"] / "results").glob("*.md"))
    assert len(paths) > 10
    for path in paths:
        assert "95%" not in path.read_text(), path.name


def test_method_page_says_the_confidence_of_the_tables(docs: dict[str, Path]) -> None:
    said = {
        name: f"its {share} interval"
        for name, share in {"wide": "95% (t: 96%)", "narrow": "50% (t: 60%)"}.items()
    }

    assert all(words in page(docs[name], "method") for name, words in said.items())


def test_scripts_are_told_confidence_level_and_power(docs: dict[str, Path]) -> None:
    said: dict[str, set[tuple[str, str]]] = {}
    for name, folder in docs.items():
        views = page_data(folder / "pagedata", "leaderboard")["views"]
        groups = page_data(folder / "pagedata", "comparisons")["groups"]
        said[name] = {(each["confidence"], each["level"]) for each in (*views, *groups)}
        assert len(views) > 1
        assert {group["power"] for group in groups} == {"80%"}

    assert said == {"wide": {("95% (t: 96%)", "0.05")}, "narrow": {("50% (t: 60%)", "0.5")}}


def test_settings_are_read_as_they_were_written(tmp_path: Path) -> None:
    measure = MeasureSpec(belief_prior=0.25)
    analysis = AnalysisSpec(confidence=0.9, power=0.75)
    write_datapackage([], tmp_path, Settings(measure, analysis))
    given = Experiment("given", tmp_path, tmp_path, tmp_path)
    silent = Experiment("silent", tmp_path, tmp_path / "none", tmp_path)

    assert (given.made_with.measure, given.made_with.analysis) == (measure, analysis)
    assert (given.confidence, given.level) == ("90% (t: 92%)", "0.1")
    assert (silent.confidence, silent.level) == ("95% (t: 96%)", "0.05")
    assert confidence_of([silent, given, silent]) == "95% (t: 96%) or 90% (t: 92%)"
    assert level_of([silent, given]) == "0.05 or 0.1"
    assert percent(0.999) == "99.9%"
