"""The figures of the pages, against tables written by hand and a second computation."""

import csv
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import pandas as pd
import pytest

from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.gallery import Gallery
from calbench.report.figures.style import Style
from calbench.report.figures.views import View, who
from calbench.report.results import ExperimentResults
from calbench.report.special import SpecialResults

STYLES = {name: Style("#0072b2", "circle") for name in ("a", "b", "dsm-x", "dsm-y")}


def wilson(found: int, trials: int) -> tuple[float, float]:
    """By the textbook's formula."""
    z = NormalDist().inv_cdf(0.975)
    p, n = found / trials, trials
    middle = p + z**2 / (2 * n)
    reach = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)


def write(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return pd.DataFrame(rows)


@pytest.fixture
def view(tmp_path: Path) -> View:
    results = ExperimentResults("s", tmp_path / "suite", tmp_path / "tables", tmp_path / "traces")
    write(results.tables, "leaderboard.csv", [board("a", "0.4"), board("b", "0.9")])
    return View(results, "s", "s")


def board(team: str, fairness: str) -> dict[str, str]:
    return {
        "setting": "s", "team": team, "fairness": fairness, "fairness_low": "0.1",
        "fairness_high": "1.5",
    }  # fmt: skip


def games() -> list[dict[str, object]]:
    return [
        {
            "setting": "s", "team": team, "scenario_id": f"s-{number}",
            "tertile": ("easy", "hard")[number % 2], "is_lost": str(number == 7).lower(),
            "meetings": 5, "scheduled": 5 - number % 3, "excess_cost": number * (1 + (team == "b")),
        }
        for team in ("a", "b")
        for number in range(8)
    ]  # fmt: skip


@pytest.mark.parametrize("quantity", ["excess", "placed"])
def test_thirds_are_means_over_the_games_of_each_third(view: View, quantity: str) -> None:
    frame = write(view.results.tables, "games.csv", games())
    kept = frame[frame.is_lost != "true"].groupby(["team", "tertile"])
    wanted = (
        kept.excess_cost.mean()
        if quantity == "excess"
        else kept.scheduled.sum() / kept.meetings.sum()
    )

    figure = difficulty.by_third(view, quantity)

    column = {"excess": "excess_cost", "placed": "scheduled"}[quantity]
    assert len(figure.rows) == 4
    for row in figure.rows:
        value, low, high = (float(row[f"{column}{end}"]) for end in ("", "_low", "_high"))
        assert value == pytest.approx(wanted[row["team"], row["third"]], abs=5e-5)
        assert low <= value <= high
    drawn = {trace["name"]: trace["x"] for trace in figure.drawn["data"]}
    assert drawn == {
        third: [float(row[column]) for row in figure.rows if row["third"] == third]
        for third in ("easy", "hard")
    }


def test_regret_is_split_by_game_and_lost_games_are_left_out(view: View) -> None:
    write(view.results.tables, "games.csv", games())
    parts = [
        {
            "setting": "s", "team": team, "scenario_id": f"s-{number}", "meeting_id": meeting,
            "agent_id": 0, "slot_choice": number - 2, "avoidable_moves": meeting,
            "failed_rounds": 3 * (team == "b"),
            "excess": number - 2 + meeting + 3 * (team == "b"),
        }
        for team in ("a", "b") for number in range(8) for meeting in (1, 2)
    ]  # fmt: skip
    frame = write(view.results.tables, "regret.csv", parts)
    sums = frame[frame.scenario_id != "s-7"].groupby(["team", "scenario_id"])
    wanted = sums[["excess", *regret.PARTS]].sum().groupby("team").mean()

    figure = regret.split(view)

    assert [row["games"] for row in figure.rows] == ["7", "7"]
    for row in figure.rows:
        for name in ("excess", *regret.PARTS):
            assert float(row[name]) == pytest.approx(wanted.loc[row["team"], name], abs=5e-5)
            assert float(row[f"{name}_low"]) <= float(row[name]) <= float(row[f"{name}_high"])
    assert "Lowest excess cost of a game: a, 5; highest: b, 11." in figure.says
    assert "Failed rounds is the largest part of b." in figure.says


def test_shares_of_lost_optima_leave_out_what_was_not_searched(view: View) -> None:
    rounds = {"a": ["", "", "0", "2"], "b": ["0", "0", "0", ""]}
    rows = [
        {
            "setting": "s", "team": team, "scenario_id": f"s-{number}", "round": at,
            "is_searched": str((team, number) != ("b", 3)).lower(),
        }
        for team, found in rounds.items()
        for number, at in enumerate(found)
    ]  # fmt: skip
    write(view.results.tables, "optimum_lost.csv", rows)

    figure = regret.optimum_lost(view)

    shares = {(row["team"], row["lost_in"]): row for row in figure.rows}
    assert {key: float(row["share"]) for key, row in shares.items()} == {
        ("a", "Never"): 0.5, ("a", "Meeting 1"): 0.25, ("a", "Meeting 3"): 0.25,
        ("b", "Never"): 0, ("b", "Meeting 1"): 1, ("b", "Meeting 3"): 0,
    }  # fmt: skip
    low, high = wilson(2, 4)
    mine = shares["a", "Never"]
    assert (float(mine["share_low"]), float(mine["share_high"])) == (
        pytest.approx((low, high), abs=5e-5)
    )
    assert "Lowest share of games that keep the optimum: b, 0; highest: a, 0.5." in figure.says


def test_fairness_has_its_interval_and_beside_it_the_range_of_ties(view: View) -> None:
    ties = {"setting": "s", "team": "a", "fairness_least": "0.2", "fairness_greatest": "0.7"}
    write(view.results.tables, "sensitivity.csv", [ties])

    figure = regret.fairness(view, STYLES)

    ranges, values = figure.drawn["data"]
    assert (ranges["base"], ranges["x"]) == ([0.2], [0.5])
    assert values["x"] == [0.4, 0.9]
    assert values["error_x"]["array"] == [1.1, 0.6]
    assert figure.rows[1]["fairness_least"] == ""
    assert figure.says == "Lowest fairness cost: a, 0.4; highest: b, 0.9."


def speaker(teams: str, difference: str, p: str) -> dict[str, str]:
    return {
        "setting": "s", "player": "dsm", "teams": teams, "quantity": "vps", "pairs": "9",
        "first_mean": "1", "subsequent_mean": "2", "difference": difference,
        "difference_low": difference, "difference_high": difference, "p": p, "p_adjusted": p,
    }  # fmt: skip


def test_first_speakers_are_marked_by_the_corrected_p(view: View) -> None:
    rows = [speaker("dsm-x", "0.5", "0.0499"), speaker("dsm-y", "-0.5", "0.0500")]
    write(view.results.tables, "first_speaker.csv", [*rows, speaker("dsm-z", "", "")])

    figure = talk.first_speaker(view, "vps")

    assert [(t["text"], t["x"]) for t in figure.drawn["data"]] == [
        (["dsm-x"], [0.5]), (["dsm-y"], [-0.5]),
    ]  # fmt: skip
    assert figure.says.endswith("Adjusted p below 0.05: dsm-x.")


def spoken(place: int, role: str, messages: str) -> dict[str, object]:
    return {
        "setting": "s", "player": "a", "teams": "a b", "meeting_index": place, "role": role,
        "agent_rounds": 4, "messages": messages, "messages_low": messages,
        "messages_high": messages,
    }  # fmt: skip


def test_messages_count_meetings_from_one_and_hide_silent_outsiders(view: View) -> None:
    rows = [spoken(0, "first", "2.5"), spoken(1, "first", "3.0"), spoken(0, "outsider", "0.0000")]
    write(view.results.tables, "messages_by_meeting.csv", rows)

    figure = talk.messages_by_meeting(view, STYLES)

    first, *_ = figure.drawn["data"]
    assert (first["name"], first["customdata"], first["y"]) == ("a", [1, 2], [2.5, 3.0])
    assert {row["role"] for row in figure.rows} == {"first"}
    assert "First speaker of the meeting, meeting 2: a has messages 3." in figure.says


def test_whoever_says_most_is_compared_with_whoever_pays_least(view: View) -> None:
    rows = [
        {
            "setting": "s", "player": name, "teams": name,
            **{f"messages{end}": said for end in ("", "_low", "_high")},
            **{f"excess_cost{end}": cost for end in ("", "_low", "_high")},
        }
        for name, said, cost in (("a", "1.0", "0.5"), ("b", "4.0", "0.5"), ("dsm-x", "2", "0.6"))
    ]  # fmt: skip
    write(view.results.tables, "players.csv", rows)

    figure = talk.messages_excess(view, STYLES)

    assert figure.says.endswith("b, who said most, pays the least.")
    assert {t["name"]: (t["x"], t["y"]) for t in figure.drawn["data"]} == {
        "a": ([1.0], [0.5]), "b": ([4.0], [0.5]), "dsm-x": ([2.0], [0.6]),
    }  # fmt: skip


def test_patterns_by_message_and_by_game_are_drawn_apart(view: View) -> None:
    rows = [
        {
            "setting": "s", "team": "a", "player": player, "pattern": pattern, "level": "message",
            "unit": unit, "games": 2, "messages": 40, "count": 10, "rate": rate,
        }
        for player, pattern, unit, rate in (
            ("", "confirmation_tax", "messages", "0.0250"),
            ("", "output_truncation", "agent-rounds", "4.0000"),
            ("p", "confirmation_tax", "messages", "0.9000"),
        )
    ]  # fmt: skip
    write(view.results.tables, "audit_patterns.csv", rows)

    said, happened = audits.patterns(view, STYLES), audits.events(view, STYLES)

    (message,), (rounds,) = said.rows, happened.rows
    low, high = wilson(10, 40)
    assert (float(message["rate_low"]), float(message["rate_high"])) == (
        pytest.approx((low, high), abs=5e-5)
    )
    assert (rounds["rate"], rounds["rate_low"]) == ("4.0000", "")
    assert said.says == "Confirmation tax: a has share of messages 0.025."
    assert happened.says == "Output truncation: a has times found in a game 4."
    axes = [figure.drawn["layout"]["xaxis"] for figure in (said, happened)]
    assert axes[0]["range"][1] < 0.5  # a rare one is not flattened
    assert [axis["title"]["text"] for axis in axes] == [
        "Share of messages", "Times found in a game",
    ]  # fmt: skip
    assert audits.leaks(view, STYLES).rows == ()


def test_figures_without_a_number_say_so_and_write_nothing(view: View, tmp_path: Path) -> None:
    gallery = Gallery([view], STYLES)

    gallery.write(tmp_path / "docs")
    parts = gallery.parts()

    assert gallery.shown("cost") == ["s"]
    assert gallery.shown("words") == []
    assert 'data-figure="figures/fairness-s"' in parts["views-fairness"]()
    assert "Nothing to draw: no row of s/regret.csv has a number." in parts["views-split"]()
    assert parts["views-leaks"]() == ""
    files = [path.name for path in (tmp_path / "docs").rglob("*.*")]
    assert sorted(files) == ["fairness-s.csv", "fairness-s.js"]


def test_players_are_called_by_their_team_unless_they_sat_in_several() -> None:
    assert who({"player": "dsm", "teams": "dsm-welfare"}) == "dsm-welfare"
    assert who({"player": "candid", "teams": "candid mixed-scripted"}) == "candid"


def test_special_results_without_speakers_bring_no_view() -> None:
    from calbench.report.figures import views

    assert views([], SpecialResults((), Path())) == []
