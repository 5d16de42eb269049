"""The leaderboard as numbers alone: one tree of a run, and a flat file a team."""

import json
from pathlib import Path

import pytest

from calbench.analysis.output import write_metrics
from calbench.analysis.registry import Settings
from calbench.errors import OutputError
from calbench.facts.storage import Facts
from calbench.stats.spec import AnalysisSpec
from tests.analysis.tables.sample import VALUE_BY_MEASURE
from tests.facts.scored import agent, facts_of_scores, score

SETTINGS = Settings(analysis=AnalysisSpec())


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    third = [agent(excess_cost=1, messages_sent=4), agent(), agent()]
    silent = agent(scheduled=0, excess_vps=None, excess_vps_participants=None)
    games = [
        score(*third, team="z"),
        score(silent, team="a"),
        score(team="a", setting="another"),
        score(team="gone", setting="another", is_excluded=True),
    ]
    return facts_of_scores(tmp_path_factory.mktemp("facts"), games, ["z", "a"])


def read(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_the_tree_has_settings_teams_and_measures_that_count(facts: Facts, tmp_path: Path) -> None:
    write_metrics(facts, tmp_path, SETTINGS)
    text = (tmp_path / "metrics.json").read_text()
    assert text.endswith("}\n")
    tree = json.loads(text)
    assert list(tree) == ["another", "uniform"]
    assert list(tree["uniform"]) == ["z", "a"]
    assert tree["uniform"]["z"] == {
        "coordination": 100.0,
        "excess_cost": 0.3333,
        "excess_cost_per_meeting": 0.1667,
        "adjusted_excess_cost": 0.0,
        "messages": 0.6667,
        "fairness": 0.0,
        "excess_vps": 0.0,
        "excess_vps_participants": 0.0,
    }
    assert list(tree["uniform"]["z"]) == list(VALUE_BY_MEASURE)
    assert list(tree["uniform"]["a"]) == [
        *("coordination", "excess_cost", "adjusted_excess_cost", "fairness"),
    ]
    assert tree["another"]["gone"] == {}


def test_each_team_has_a_flat_file_and_others_go(facts: Facts, tmp_path: Path) -> None:
    stale = tmp_path / "metrics" / "gone" / "imap.json"
    beside = tmp_path / "metrics" / "uniform" / "imap.json"
    for path in (stale, beside):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    write_metrics(facts, tmp_path, SETTINGS)
    tree = read(tmp_path / "metrics.json")
    found = {path.relative_to(tmp_path): read(path) for path in tmp_path.glob("metrics/*/*")}
    assert found == {
        Path("metrics", setting, f"{team}.json"): values
        for setting, teams in tree.items()
        for team, values in teams.items()  # type: ignore[attr-defined]
    }
    assert not stale.parent.exists()
    assert len(found) == 4


def test_a_folder_that_cannot_be_written_is_named(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_metrics(facts, tmp_path, SETTINGS)
