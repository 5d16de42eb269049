"""The figures of the pages, against tables written by hand."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from calbench.analysis.datapackage import write_datapackage
from calbench.analysis.registry import Settings
from calbench.report.columns import largest_of
from calbench.report.experiment import Experiment, Setting, player_of
from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.figure import Figure, write_figures
from calbench.report.figures.style import Style
from calbench.report.pages import gallery
from calbench.report.site import Site
from calbench.report.tables import Row, Tables
from calbench.report.templating import Templates
from calbench.stats.spec import AnalysisSpec

STYLES = {name: Style("#0072b2", "circle") for name in ("a", "b", "dsm-x", "dsm-y")}


def write(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def view(tmp_path: Path) -> Setting:
    folder = tmp_path / "tables"
    write(folder, "leaderboard.csv", [board("a", "0.4"), board("b", "0.9")])
    return Setting(Experiment("s", tmp_path / "suite", folder, tmp_path / "traces"), "s")


def data(figure: Figure) -> list[Any]:
    """Return the traces as pages have them."""
    return list(figure.drawn["data"])


def board(team: str, fairness: str) -> dict[str, str]:
    return {
        "setting": "s", "team": team, "fairness": fairness, "fairness_low": "0.1",
        "fairness_high": "1.5",
    }  # fmt: skip


def interval(name: str, value: str) -> dict[str, str]:
    return {name: value, f"{name}_low": "0.0100", f"{name}_high": "9.0000"}


@pytest.mark.parametrize("quantity", ["excess", "placed"])
def test_thirds_are_drawn_as_the_table_has_them(view: Setting, quantity: str) -> None:
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
    write(view.experiment.folder, "games_by_third.csv", [*rows, {**rows[0], "setting": "other"}])

    draw = {"excess": difficulty.excess_by_third, "placed": difficulty.placed_by_third}[quantity]
    figure = draw(view, STYLES)

    column = {"excess": "excess_cost", "placed": "scheduled"}[quantity]
    assert [(row["team"], row["third"], row["games"]) for row in figure.rows] == [
        ("a", "easy", 3), ("b", "easy", 3), ("a", "hard", 3),
    ]  # fmt: skip
    assert {row[f"{column}_low"] for row in figure.rows} == {0.01}
    drawn = {trace["name"]: trace["x"] for trace in data(figure)}
    assert drawn == {
        third: [float(row[column]) for row in figure.rows if row["third"] == third]
        for third in ("easy", "hard")
    }


def part(*values: float | None) -> Row:
    return dict(zip(regret.PARTS, values, strict=True))


def test_parts_that_tie_are_all_the_largest_and_absent_ones_are_none() -> None:
    assert largest_of(part(1.0, 1.0, None), regret.PARTS) == ["slot_choice", "avoidable_moves"]
    assert largest_of(part(0.0, -1.0, 0.0), regret.PARTS) == []
    assert largest_of(part(None, None, None), regret.PARTS) == []


def test_seats_with_all_meetings_are_drawn_in_accounting_cost(view: Setting) -> None:
    rows = [
        {
            "setting": "s", "player": team, "teams": team, "seats": "9", "full_seats": "9",
            **interval("mean_excess", excess), **interval("mean_excess_shown", "-0.7422"),
            **interval("nonzero_regret", "0.5"),
        }
        for team, excess in (("a", "0.1348"), ("b", "1.1126"))
    ]  # fmt: skip
    write(view.experiment.folder, "completion_regret.csv", rows)

    figure = regret.completion(view, STYLES)

    assert data(figure)[0]["x"] == [0.1348, 1.1126]


def test_excess_is_drawn_in_its_parts(view: Setting) -> None:
    rows = [
        {
            "setting": "s", "team": team, "games": "7",
            **interval("excess", excess), **interval("slot_choice", "1.0000"),
            **interval("avoidable_moves", "3.0000"), **interval("failed_rounds", failed),
        }
        for team, excess, failed in (("a", "5.0000", "1.0000"), ("b", "11.0000", "7.0000"))
    ]  # fmt: skip
    write(view.experiment.folder, "excess_parts.csv", rows)

    figure = regret.split(view, STYLES)

    assert [(row["team"], row["games"], row["excess"]) for row in figure.rows] == [
        ("a", 7, 5), ("b", 7, 11),
    ]  # fmt: skip


def test_kept_optima_are_drawn_first(view: Setting) -> None:
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
    write(view.experiment.folder, "optimum_unreachable_shares.csv", rows)

    figure = regret.optimum_unreachable(view, STYLES)

    assert [(row["team"], row["unreachable_from"], row["share"]) for row in figure.rows] == [
        (row["team"], row["unreachable_from"], float(row["share"])) for row in rows
    ]
    assert [trace["name"] for trace in data(figure)][:2] == ["Never", "Meeting 1"]


@pytest.mark.parametrize(
    ("confidence", "said"), [(0.5, "adjusted p below 0.5"), (0.999, "adjusted p from 0.001 up")]
)
def test_level_of_significance_is_that_of_the_tables(
    view: Setting, confidence: float, said: str
) -> None:
    made_with = Settings(analysis=AnalysisSpec(confidence=confidence))
    write_datapackage([], view.experiment.folder, made_with)
    write(view.experiment.folder, "first_speaker.csv", [speaker("dsm-x", "0.5", "0.3")])

    figure = talk.first_vps(view, STYLES)

    assert [t["name"] for t in data(figure)] == [said]


def test_fairness_has_its_interval_and_beside_it_the_range_of_ties(view: Setting) -> None:
    ties = {"setting": "s", "team": "a", "fairness_least": "0.2", "fairness_greatest": "0.7"}
    write(view.experiment.folder, "sensitivity.csv", [ties])

    figure = regret.fairness(view, STYLES)

    ranges, values = data(figure)
    assert (ranges["base"], ranges["x"]) == ([0.2], [0.5])
    assert values["x"] == [0.4, 0.9]
    assert values["error_x"]["array"] == [1.1, 0.6]
    assert figure.rows[1]["fairness_least"] is None


def speaker(teams: str, difference: str, p: str, vps_kind: str = "protocol") -> dict[str, str]:
    return {
        "setting": "s", "player": "dsm", "teams": teams, "quantity": "vps", "pairs": "9",
        "first_mean": "1", "subsequent_mean": "2", "difference": difference,
        "difference_low": difference, "difference_high": difference, "p": p, "p_adjusted": p,
        "vps_kind": vps_kind,
    }  # fmt: skip


def test_first_speakers_are_marked_by_the_corrected_p(view: Setting) -> None:
    rows = [speaker("dsm-x", "0.5", "0.0499"), speaker("dsm-y", "-0.5", "0.0500")]
    write(view.experiment.folder, "first_speaker.csv", [*rows, speaker("dsm-z", "", "")])

    figure = talk.first_vps(view, STYLES)

    assert [(t["text"], t["x"]) for t in data(figure)] == [
        (["dsm-x"], [0.5]), (["dsm-y"], [-0.5]),
    ]  # fmt: skip


def test_first_speakers_of_another_instrument_are_not_on_the_axis(view: Setting) -> None:
    rows = [speaker("dsm-x", "0.5", "0.0499"), speaker("a b", "9.5", "0.5", "reflection")]
    write(view.experiment.folder, "first_speaker.csv", rows)

    figure = talk.first_vps(view, STYLES)

    assert [(t["text"], t["x"]) for t in data(figure)] == [(["dsm-x"], [0.5])]
    assert [row["teams"] for row in figure.rows] == [("dsm-x",)]


def spoken(place: int, role: str, messages: str) -> dict[str, object]:
    return {
        "setting": "s", "player": "a", "teams": "a b", "meeting_index": place, "role": role,
        "agent_rounds": 4, "messages": messages, "messages_low": messages,
        "messages_high": messages,
    }  # fmt: skip


def test_messages_count_meetings_from_one_and_hide_silent_outsiders(view: Setting) -> None:
    rows = [spoken(0, "first", "2.5"), spoken(1, "first", "3.0"), spoken(0, "outsider", "0.0000")]
    write(view.experiment.folder, "messages_by_meeting.csv", rows)

    figure = talk.messages_by_meeting(view, STYLES)

    first, *_ = data(figure)
    assert (first["name"], first["customdata"], first["y"]) == ("a", [1, 2], [2.5, 3.0])
    assert {row["role"] for row in figure.rows} == {"first"}


def test_players_are_placed_by_messages_and_cost(view: Setting) -> None:
    rows = [
        {
            "setting": "s", "player": name, "teams": name,
            **{f"messages{end}": said for end in ("", "_low", "_high")},
            **{f"excess_cost{end}": cost for end in ("", "_low", "_high")},
        }
        for name, said, cost in (("a", "1.0", "0.5"), ("b", "4.0", "0.5"), ("dsm-x", "2", "0.6"))
    ]  # fmt: skip
    write(view.experiment.folder, "players.csv", rows)

    figure = talk.messages_excess(view, STYLES)

    assert {t["name"]: (t["x"], t["y"]) for t in data(figure)} == {
        "a": ([1.0], [0.5]), "b": ([4.0], [0.5]), "dsm-x": ([2.0], [0.6]),
    }  # fmt: skip


def test_patterns_by_message_and_by_game_are_drawn_apart(view: Setting) -> None:
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
    write(view.experiment.folder, "audit_patterns.csv", rows)
    low, high = "0.1419", "0.4020"
    shares = [{**row, "rate_low": low, "rate_high": high} for row in (rows[0], rows[2])]
    shares[1] |= {"rate_low": "0.8000", "rate_high": "0.9900"}
    write(view.experiment.folder, "audit_pattern_rates.csv", shares)

    said, happened = audits.patterns(view, STYLES), audits.events(view, STYLES)

    (message,), (rounds,) = said.rows, happened.rows
    assert (message["rate_low"], message["rate_high"]) == (float(low), float(high))
    assert (rounds["rate"], rounds["rate_low"]) == (4, None)
    axes = [figure.drawn["layout"]["xaxis"] for figure in (said, happened)]
    assert axes[0]["range"][1] < 0.5  # a rare one is not flattened
    assert [axis["title"]["text"] for axis in axes] == [
        "Share of messages", "Times found in a game",
    ]  # fmt: skip
    assert not audits.leaks(view, STYLES).rows


def test_figures_without_a_number_say_so_and_write_nothing(view: Setting, tmp_path: Path) -> None:
    nobody = Tables(tmp_path / "nothing")
    site = Site(tmp_path, (view.experiment,), nobody, nobody)

    found = gallery.content(site, "cost")
    write_figures(found.figures, tmp_path / "docs")
    (tmp_path / "page.md").write_text(
        "{% for each in sections.values() %}{{ views(each) }}{% endfor %}"
    )
    text = Templates(tmp_path).filled("page.md", "../", found.values)

    assert [each.slug for each, _ in found.values["sections"]["split"]["views"]] == ["s"]
    assert 'data-figure="figures/fairness-s"' in text
    assert "Nothing to draw: no row of s/excess_parts.csv has a number." in text
    assert gallery.of("words")(site) is None
    files = [path.name for path in (tmp_path / "docs").rglob("*.*")]
    assert sorted(files) == ["fairness-s.csv", "fairness-s.js", "template.js"]


def test_every_section_is_on_one_page_under_its_own_name() -> None:
    names = [section.name for section in gallery.SECTIONS]

    assert len(set(names)) == len(names)
    assert {section.page for section in gallery.SECTIONS} == {
        "talk", "cost", "difficulty", "words",
    }  # fmt: skip


def test_players_are_called_by_their_team_unless_they_sat_in_several() -> None:
    assert player_of({"player": "dsm", "teams": ("dsm-welfare",)}) == "dsm-welfare"
    assert player_of({"player": "candid", "teams": ("candid", "mixed-scripted")}) == "candid"
