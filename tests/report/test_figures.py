"""Figures hold the tables' numbers, and no two teams look alike."""

from calbench.report import figures
from calbench.report.results import Row


def row(team: str, vps: str = "12.4000", cost: str = "0.0815", vps_kind: str = "protocol") -> Row:
    return {
        "team": team,
        "excess_vps": vps,
        "excess_vps_low": vps and "12.0000",
        "excess_vps_high": vps and "13.0000",
        "adjusted_excess_cost": cost,
        "adjusted_excess_cost_low": cost and "0.0652",
        "adjusted_excess_cost_high": cost and "0.0993",
        "vps_kind": vps_kind,
    }


def test_plane_shows_each_team_with_both_intervals() -> None:
    rows = [row("imap"), row("absent", cost="")]

    figure = figures.plane(rows, figures.styles(["imap", "absent"]))

    assert [trace["name"] for trace in figure["data"]] == ["imap"]
    (trace,) = figure["data"]
    assert (trace["x"], trace["y"]) == ([12.4], [0.0815])
    assert trace["error_x"]["array"] == [0.6]
    assert trace["error_x"]["arrayminus"] == [0.4]
    assert trace["error_y"]["arrayminus"] == [0.0163]


def test_teams_differ_in_colour_and_shape() -> None:
    names = [f"team-{number}" for number in range(77)]

    styles = figures.styles(names)

    assert len(set(styles.values())) == 77
    first = [styles[name] for name in names[: len(figures.COLOURS)]]
    assert len({style.colour for style in first}) == len({style.symbol for style in first})


def test_difficulties_use_a_linear_scale_where_a_fraction_is_zero() -> None:
    some = figures.difficulties({"uniform": {"easy": [0.1, 0.2], "hard": [0.01]}})
    none = figures.difficulties({"uniform": {"easy": [0.1], "hard": [0.0]}})

    assert some["layout"]["yaxis"]["type"] == "log"
    assert none["layout"]["yaxis"]["type"] == "linear"
    assert some["data"][0]["x"] == ["easy", "easy", "hard"]
