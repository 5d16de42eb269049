"""The page of a mixed cohort: Table 1 of its players, and what further games would tell."""

import statistics
from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from tests.report.language_samples import make_language
from tests.report.samples import PUBLISHED, write_pages
from tests.report.written import text_rows

pytestmark = pytest.mark.heavy

SHARED = {"candid", "guarded", "oversharer", "withholding"}


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return make_language(tmp_path_factory.mktemp("cohort") / "slices", "slices", num_scenarios=5)


@pytest.fixture(scope="module")
def docs(cohort: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_pages([cohort], folder, PUBLISHED)
    return folder / "docs"


def test_rows_are_players_over_their_slices(cohort: Experiment) -> None:
    table = text_rows(cohort.tables, "table1.csv")
    everywhere = {
        (row["setting"], row["player"]): row for row in text_rows(cohort.tables, "players.csv")
    }
    assert len(table) == 2 * 7
    for row in table:
        assert row["slices"] == ("3" if row["player"] in SHARED else "1")
        assert row["agent_games"] == ("15" if row["player"] in SHARED else "5")
        # All its teams are mixed, so its row is that of all its seats.
        same = everywhere[row["setting"], row["player"]]
        for name in ("coordination", "excess_cost_low", "messages_high", "fairness", "excess_vps"):
            assert row[name] == same[name]


def test_players_are_rated_though_their_teams_are_not_ranked(docs: Path) -> None:
    ratings = (docs / "results" / "ratings.md").read_text()
    assert 'id="slices-scripted"' in ratings
    assert "slice-careless" not in (docs / "leaderboard.md").read_text()


def test_common_share_is_that_of_the_games(cohort: Experiment) -> None:
    """From the seats of the shared players, game by game."""
    values: dict[str, dict[str, list[float]]] = {name: {} for name in SHARED}
    for row in text_rows(cohort.tables, "agent_games.csv", setting="uniform"):
        if row["player"] in SHARED:
            own = values[row["player"]].setdefault(row["scenario_id"], [])
            own.append(float(row["excess_vps"]))
    between, within = 0.0, 0.0
    for games in values.values():
        assert {len(own) for own in games.values()} == {3}
        square = statistics.fmean(map(statistics.variance, games.values()))
        between += statistics.variance(map(statistics.fmean, games.values())) - square / 3
        within += square
    rows = text_rows(cohort.tables, "further_slices.csv", setting="uniform", measure="excess_vps")
    shared = [row for row in rows if row["player"] in SHARED]
    for row in rows:
        assert float(row["common_share"]) == pytest.approx(between / (between + within), abs=1e-4)
    for row in shared:
        ratio = float(row["width_scenarios"]) / float(row["width"])
        assert ratio == pytest.approx((3 / 4) ** 0.5, abs=1e-3)


def test_first_proposal_lets_everybody_meet(cohort: Experiment) -> None:
    rows = text_rows(cohort.tables, "ratings_further.csv")
    entrants = {"careless", "gossip", "wrangler"}
    for row in rows:
        assert row["never_met"] == ("2" if row["player"] in entrants else "0")
        assert row["never_met_after"] == "0"
    teams = text_rows(cohort.tables, "ratings_proposals.csv", setting="all", proposal="1")
    assert {row["player"] for row in teams} >= entrants
    assert sorted(int(row["agent_id"]) for row in teams) == list(range(5))
