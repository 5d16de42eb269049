"""The figures of the pages, against tables written by hand."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from calbench.analysis.datapackage import write_datapackage
from calbench.analysis.settings import Settings
from calbench.report.experiment import Experiment
from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.gallery import Gallery
from calbench.report.figures.style import Style
from calbench.report.figures.views import View, who
from calbench.stats.spec import AnalysisSpec

STYLES = {name: Style("#0072b2", "circle") for name in ("a", "b", "dsm-x", "dsm-y")}


def write(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def view(tmp_path: Path) -> View:
    results = Experiment("s", tmp_path / "suite", tmp_path / "tables", tmp_path / "traces")
    write(results.tables, "leaderboard.csv", [board("a", "0.4"), board("b", "0.9")])
    return View(results, "s", "s")


def board(team: str, fairness: str) -> dict[str, str]:
    return {
        "setting": "s", "team": team, "fairness": fairness, "fairness_low": "0.1",
        "fairness_high": "1.5",
    }  # fmt: skip


def interval(name: str, value: str) -> dict[str, str]:
    return {name: value, f"{name}_low": "0.0100", f"{name}_high": "9.0000"}


@pytest.mark.parametrize("quantity", ["excess", "placed"])
def test_thirds_are_drawn_as_the_table_has_them(view: View, quantity: str) -> None:
    rows = [
        {
            "setting": "s", "tertile": third, "team": team, "games": "3",
            **interval("excess_cost", excess), **interval("scheduled", placed),
        }
        for third, team, excess, placed in (
            ("easy", "a", "1.5000", "0.9000"), ("easy", "b", "2.5000", "0.8000"),
            ("hard", "a", "3.5000", "0.7000"), ("hard", "b", "", ""),
        )
    ]  # fmt: skip
    write(view.results.tables, "games_by_third.csv", [*rows, {**rows[0], "setting": "other"}])

    figure = difficulty.by_third(view, quantity)

    column = {"excess": "excess_cost", "placed": "scheduled"}[quantity]
    assert [(row["team"], row["third"], row["games"]) for row in figure.rows] == [
        ("a", "easy", "3"), ("b", "easy", "3"), ("a", "hard", "3"),
    ]  # fmt: skip
    assert {row[f"{column}_low"] for row in figure.rows} == {"0.0100"}
    drawn = {trace["name"]: trace["x"] for trace in figure.drawn["data"]}
    assert drawn == {
        third: [float(row[column]) for row in figure.rows if row["third"] == third]
        for third in ("easy", "hard")
    }


def test_excess_is_drawn_in_its_parts_and_the_largest_is_named(view: View) -> None:
    rows = [
        {
            "setting": "s", "team": team, "games": "7",
            **interval("excess", excess), **interval("slot_choice", "1.0000"),
            **interval("avoidable_moves", "3.0000"), **interval("failed_rounds", failed),
        }
        for team, excess, failed in (("a", "5.0000", "1.0000"), ("b", "11.0000", "7.0000"))
    ]  # fmt: skip
    write(view.results.tables, "excess_parts.csv", rows)

    figure = regret.split(view)

    assert [(row["team"], row["games"], row["excess"]) for row in figure.rows] == [
        ("a", "7", "5.0000"), ("b", "7", "11.0000"),
    ]  # fmt: skip
    assert "Lowest excess cost of a game: a, 5; highest: b, 11." in figure.says
    assert "Avoidable moves is the largest part of a." in figure.says
    assert "Failed rounds is the largest part of b." in figure.says


def test_kept_optima_are_drawn_first(view: View) -> None:
    rows = [
        {
            "setting": "s", "team": team, "unreachable_from": place, "games": "1",
            "searched_games": "4", **interval("share", share),
        }
        for place, team, share in (
            ("Never", "a", "0.5000"), ("Never", "b", "0.0000"),
            ("Meeting 1", "a", "0.2500"), ("Meeting 1", "b", "1.0000"),
        )
    ]  # fmt: skip
    write(view.results.tables, "optimum_unreachable_shares.csv", rows)

    figure = regret.optimum_unreachable(view)

    assert [(row["team"], row["unreachable_from"], row["share"]) for row in figure.rows] == [
        (row["team"], row["unreachable_from"], row["share"]) for row in rows
    ]
    assert [trace["name"] for trace in figure.drawn["data"]][:2] == ["Never", "Meeting 1"]
    assert "Lowest share of games that keep the optimum: b, 0; highest: a, 0.5." in figure.says
    assert "Lowest share that loses it in meeting 1: a, 0.25; highest: b, 1." in figure.says


@pytest.mark.parametrize(("confidence", "said"), [(0.5, "50%"), (0.999, "99.9%")])
def test_captions_say_with_which_confidence_intervals_were_made(
    view: View, confidence: float, said: str
) -> None:
    made_with = Settings(analysis=AnalysisSpec(confidence=confidence))
    write_datapackage([], view.results.tables, made_with)
    write(view.results.tables, "first_speaker.csv", [speaker("dsm-x", "0.5", "0.3")])

    figure = talk.first_speaker(view, "vps")

    assert f"with {said} intervals" in figure.note
    level = {"50%": "0.5", "99.9%": "0.001"}[said]
    assert [t["name"] for t in figure.drawn["data"]] == [
        f"adjusted p below {level}" if level == "0.5" else f"adjusted p from {level} up"
    ]


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
    low, high = "0.1419", "0.4020"
    shares = [{**row, "rate_low": low, "rate_high": high} for row in (rows[0], rows[2])]
    shares[1] |= {"rate_low": "0.8000", "rate_high": "0.9900"}
    write(view.results.tables, "audit_pattern_rates.csv", shares)

    said, happened = audits.patterns(view, STYLES), audits.events(view, STYLES)

    (message,), (rounds,) = said.rows, happened.rows
    assert (message["rate_low"], message["rate_high"]) == (low, high)
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
