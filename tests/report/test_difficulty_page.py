"""The feasible fractions that the page of difficulty draws."""

from pathlib import Path

from calbench.report.experiment import Experiment, Setting
from calbench.report.pages.difficulty import content, fractions_of
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.report.samples import NOTHING, SOURCES

GAMES = """setting,team,scenario_id,feasible_fraction,tertile
uniform,imap,u-0,0.250000,easy
uniform,silent,u-0,0.250000,easy
uniform,imap,u-1,0.001,hard
uniform,imap,u-2,,hard
varied,imap,v-0,0.5,
"""


def experiment(folder: Path) -> Experiment:
    (folder / "games.csv").write_text(GAMES)
    (folder / "leaderboard.csv").write_text("setting,team\nuniform,imap\nvaried,imap\n")
    return Experiment("mine", folder / "suite.jsonl", folder, folder / "traces")


def test_each_scenario_counts_once_in_its_third_if_it_has_a_fraction(tmp_path: Path) -> None:
    found = fractions_of(Setting(experiment(tmp_path), "uniform"))

    assert list(found) == ["easy", "hard"]
    assert {third: [float(cell) for cell in cells] for third, cells in found.items()} == {
        "easy": [0.25],
        "hard": [0.001],
    }


def test_scenarios_that_were_not_cut_into_thirds_are_together(tmp_path: Path) -> None:
    found = fractions_of(Setting(experiment(tmp_path), "varied"))

    assert [(third, len(cells)) for third, cells in found.items()] == [("all", 1)]


def test_every_setting_is_drawn_under_its_title(tmp_path: Path) -> None:
    site = Site(SOURCES, (experiment(tmp_path),), Tables(NOTHING), Tables(NOTHING))

    figure = content(site).values["fractions"]

    assert [(row["setting"], row["third"]) for row in figure.rows] == [
        ("mine: uniform", "easy"), ("mine: uniform", "hard"), ("mine: varied", "all"),
    ]  # fmt: skip
    assert figure.sources == ["mine/games.csv"]
