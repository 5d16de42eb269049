"""The page of one assistant: differences from their table, and the games that made them."""

from html import escape
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.tables.focal import FOCAL, focal_pairs
from tests.report.language_samples import make_language
from tests.report.language_site import rows_of
from tests.report.samples import make_results, write_pages

TEAMS = ("trusting", "trusting-nosy", "candid")


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("focal")
    write_pages(
        [make_language(folder / "probes", "probes", *TEAMS, num_scenarios=4)], folder / "src"
    )
    return folder / "src" / "docs"


@pytest.mark.heavy
def test_every_difference_is_shown_with_its_verdict(docs: Path) -> None:
    text, rows = (
        (docs / "results" / "focal.md").read_text(),
        rows_of(docs, "probes", "focal_effects.csv"),
    )
    # Candid speakers differ from trusting ones in every seat: they are no pair.
    assert {(row["team"], row["base"]) for row in rows} == {("trusting-nosy", "trusting")}
    assert {row["measure"] for row in rows} == {*FOCAL}
    for row in rows:
        for name in ("focal", "without", "difference"):
            assert f'<data value="{row[name]}">' in text or not row[name]
        assert escape(FOCAL[row["measure"]].title) in text
        assert row["verdict"] in text


@pytest.mark.heavy
def test_games_that_differ_most_come_first_and_are_linked(docs: Path) -> None:
    text = (docs / "results" / "focal.md").read_text()
    shown = [each for each in text.split("<caption>") if "games that made most" in each[:300]]
    games = pd.DataFrame(rows_of(docs, "probes", "focal_games.csv"))
    settings = list(games.groupby("setting"))
    assert len(shown) == len(settings)
    for (_, own), piece in zip(settings, shown, strict=True):
        gap = {
            row["scenario_id"]: tuple(
                abs(float(row[name]) - float(row[f"{name}_without"]))
                for name in ("adjusted_excess_cost", "labels_told", "bits")
            )
            for row in own.to_dict("records")
        }
        order = sorted(gap, key=lambda name: ([-each for each in gap[name]], name))
        places = [piece.find(name) for name in order[:3]]
        assert places == sorted(places)
        assert min(places) > 0
        assert f"traces.html#probes/trusting-nosy/{order[0]}" in piece


def test_there_is_no_page_without_teams_that_differ_in_one_seat(tmp_path: Path) -> None:
    uniform = make_results(tmp_path / "uniform", "uniform", ["imap"], num_scenarios=2)
    write_pages([uniform], tmp_path / "src")
    assert not (tmp_path / "src" / "docs" / "results" / "focal.md").exists()


def seated(team: str, *players: str, **rules: str) -> pd.DataFrame:
    """Return agent-games of a team on two scenarios, moved by one seat on the second."""
    return pd.DataFrame(
        [
            {
                "setting": "s",
                "team": team,
                "scenario_id": f"s-{number}",
                "agent_id": (seat + number) % len(players),
                "player": player,
                "settings_digest": "",
                "kind": "model" if player == "model" else "scripted",
                "uses_language": True,
                "channels": "dm",
                "limits": "published",
                "rules_digest": "v1",
            }
            | rules
            for number in range(2)
            for seat, player in enumerate(players)
        ]
    )


def test_pairs_differ_in_one_seat_by_the_same_rules() -> None:
    """The seat moves; a model is never the base; prompts of another version are other rules."""
    teams = (
        seated("models", "model", "b", "c"),
        seated("base", "a", "b", "c"),
        seated("two", "x", "y", "c"),
        seated("other", "x", "b", "c", rules_digest="v3"),
        seated("typed", "t", "b", "c", rules_digest="none", uses_language=""),
    )
    found = list(focal_pairs(pd.concat(teams, ignore_index=True)))
    assert ("models", "base") in {(pair.team, pair.base) for pair in found}
    assert {frozenset((pair.team, pair.base)) for pair in found} == {
        frozenset(pair)
        for pair in (("models", "base"), ("models", "typed"), ("base", "typed"), ("other", "typed"))
    }
    for pair in found:
        assert [*pair.seats.itertuples(index=False, name=None)] == [("s-0", 0), ("s-1", 1)]
