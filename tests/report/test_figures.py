"""Figures hold the tables' numbers, their titles the ends, and no two teams look alike."""

import csv
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs_version

from calbench.analysis.measures import privacy_measure
from calbench.errors import CalbenchError
from calbench.report.experiment import Experiment, Setting
from calbench.report.figures.charts import Series, bars, dots
from calbench.report.figures.difficulty import difficulties
from calbench.report.figures.figure import Figure, columns_of, write_figures
from calbench.report.figures.lines import lines, over_agents
from calbench.report.figures.plane import Line, plane, planes
from calbench.report.figures.style import (
    SYMBOLS,
    TEMPLATE,
    Drawn,
    Style,
    Styles,
    Value,
    checked,
    drawing,
    plain,
    series_styles,
    styles,
    trace,
    wrapped,
)
from calbench.report.kind import PROTOCOL, SCRIPTED
from calbench.report.labels import Box, View, boxed, offsets, size_of
from calbench.report.tables import Number, Row
from calbench.report.templating import Templates
from tests.cli.runs import REPO
from tests.report.sample_site import SampleSite
from tests.report.unpacking import file_value

STYLE = Style("#0072b2", "circle")


def row(team: str, vps: str = "12.4000", cost: str = "0.0815", vps_kind: str = "protocol") -> Row:
    def known(value: str, cell: str) -> Number | None:
        return Number(cell) if value else None

    return {
        "team": team,
        privacy_measure(vps_kind): known(vps, vps),
        f"{privacy_measure(vps_kind)}_low": known(vps, "12.0000"),
        f"{privacy_measure(vps_kind)}_high": known(vps, "13.0000"),
        "adjusted_excess_cost": known(cost, cost),
        "adjusted_excess_cost_low": known(cost, "0.0652"),
        "adjusted_excess_cost_high": known(cost, "0.0993"),
        "vps_kind": vps_kind,
    }


def looks_of(rows: list[Row]) -> Styles:
    """Return protocols, and a swept setting."""
    names = [each["team"] for each in rows]
    return {**styles(dict.fromkeys(names, PROTOCOL)), **series_styles(["theta"])}


X = Setting(Experiment("x", Path(), Path(), Path()), "x")


def planes_x(rows: list[Row], found: list[Line] | None = None) -> list[Figure]:
    return planes(X, "x", rows, looks_of(rows), ["x/leaderboard.csv"], found or [])


def data(figure: Drawn) -> list[Any]:
    """Return the traces as pages have them."""
    return list(figure["data"])


def layout(figure: Drawn) -> Any:
    return figure["layout"]


def test_plane_shows_each_team_with_both_intervals_on_its_scale() -> None:
    (figure,) = planes_x([row("imap"), row("absent", cost="")])

    (trace,) = data(figure.drawn)
    assert trace["name"] == "imap"
    assert (trace["customdata"], trace["y"]) == ([12.4], [0.0815])
    at, above, below = (math.log10(1 + vps) for vps in (12.4, 13.0, 12.0))
    assert trace["x"] == [pytest.approx(at, abs=1e-6)]
    assert trace["error_x"]["array"] == [pytest.approx(above - at, abs=2e-6)]
    assert trace["error_x"]["arrayminus"] == [pytest.approx(at - below, abs=2e-6)]
    assert trace["error_y"]["arrayminus"] == [0.0163]
    axis = layout(figure.drawn)["xaxis"]
    ticks = zip(axis["tickvals"], axis["ticktext"], strict=True)
    assert all(at == pytest.approx(math.log10(1 + int(text)), abs=1e-6) for at, text in ticks)
    assert [each["team"] for each in figure.rows] == ["imap"]


def test_the_points_of_lines_stand_behind_those_of_teams() -> None:
    rows = [
        row("a", "0.0000", "0.7500"),
        row("b", "91.0000", "0.0533"),
        row("c", "7.1000", "0.7500"),
    ]
    line = Line("theta", "DSM", (("θ = 0", row("b", "91.0000", "")), ("θ = 1", rows[2])))

    (figure,) = planes_x(rows, [line])

    points = [(each["line"], each["point"]) for each in figure.rows]
    # The point without a cost is not drawn.
    assert points == [("", "a"), ("", "b"), ("", "c"), ("DSM", "θ = 1")]


def test_a_plane_of_two_instruments_is_refused_in_a_sentence() -> None:
    both = [row("imap"), row("candid", vps_kind="reflection")]
    sentence = "VPS by typed messages and reflections cannot be drawn on one axis"
    with pytest.raises(CalbenchError, match=sentence):
        plane(X, "x", both, looks_of(both), [])
    line = Line("theta", "DSM", (("θ = 1", row("b", vps_kind="reflection")),))
    with pytest.raises(CalbenchError, match=sentence):
        plane(X, "x", both[:1], looks_of(both), [], [line])


def test_each_instrument_has_a_plane_whose_axis_names_it() -> None:
    rows = [
        row("imap"),
        row("candid", vps_kind="reflection"),
        row("expecting", vps_kind="expected"),
        row("silent", vps="", vps_kind=""),
        row("sd-map"),
    ]
    line = Line("theta", "DSM", (("θ = 1", row("b")),))

    found = {each.key: each for each in planes_x(rows, [line])}

    names = {key: [trace["name"] for trace in data(each.drawn)] for key, each in found.items()}
    assert names == {
        "plane-x": ["DSM", "imap", "sd-map"],
        "plane-x-reflection": ["candid"],
        "plane-x-expected": ["expecting"],
    }
    titles = [
        layout(each.drawn)["xaxis"]["title"]["text"].replace("<br>", " ") for each in found.values()
    ]
    assert titles[0].startswith("Excess VPS (slot")
    assert titles[1].startswith("VPS beyond chance by reflections (slot")
    assert "expected values" in titles[2]
    assert all("open" not in str(t["marker"]["symbol"]) for t in data(found["plane-x"].drawn)[1:])


def test_kinds_differ_in_colour_and_teams_of_one_kind_in_shape() -> None:
    names = [f"team-{number}" for number in range(len(SYMBOLS))]

    looks = styles(dict.fromkeys(names, PROTOCOL) | {"first": SCRIPTED, "second": SCRIPTED})

    protocols = [looks[name] for name in names]
    assert {style.colour for style in protocols} == {PROTOCOL.colour}
    assert len({style.symbol for style in protocols}) == len(names)
    assert looks["first"] == Style(SCRIPTED.colour, SYMBOLS[0])
    assert looks["second"].symbol == SYMBOLS[1]


def test_difficulties_use_a_linear_scale_where_a_fraction_is_zero() -> None:
    tenth, little, nothing = Number("0.1"), Number("0.01"), Number("0.0")
    some = difficulties({"uniform": {"easy": [tenth, tenth], "hard": [little]}}, [])
    none = difficulties({"uniform": {"easy": [tenth], "hard": [nothing]}}, [])

    assert layout(some.drawn)["yaxis"]["type"] == "log"
    assert layout(none.drawn)["yaxis"]["type"] == "linear"
    assert data(some.drawn)[0]["x"] == ["easy", "easy", "hard"]


def test_dots_lie_apart_only_where_series_share_a_row() -> None:
    one, two = Value(1.0, 0.5, 2.0), Value(3.0)
    shared = dots(["a", "b"], [Series("x", {"a": one, "b": two}), Series("y", {"b": one})], "t")
    apart = dots(["a", "b"], [Series("x", {"a": one}), Series("y", {"b": two})], "t")

    assert [trace["y"] for trace in data(shared)] == [[-0.2, 0.8], [1.2]]
    assert [trace["y"] for trace in data(apart)] == [[0], [1]]
    assert data(shared)[0]["error_x"]["array"] == [1.0, None]
    low, high = layout(shared)["xaxis"]["range"]
    assert low < 0
    assert high > 3


def test_segments_of_bars_differ_in_pattern_and_the_interval_lies_below() -> None:
    figure = bars(
        ["a"],
        [Series(name, {"a": Value(0.5)}) for name in ("x", "y", "z")],
        "t",
        ends=Series("sum", {"a": Value(1.5, 1.0, 2.0)}),
    )

    *segments, total = data(figure)
    assert len({each["marker"]["pattern"]["shape"] for each in segments}) == 3
    assert len({each["marker"]["color"] for each in segments}) == 3
    assert total["y"] == [0.42]
    assert (total["x"], total["error_x"]["array"]) == ([1.5], [0.5])


def test_each_line_has_its_name_at_its_end_in_every_panel() -> None:
    line = {1: Value(1), 2: Value(2)}
    figure = lines(
        {"p": {"a": line}, "q": {"a": line, "b": line}}, {"a": STYLE, "b": STYLE}, "", "", 400
    )

    assert [(t["name"], t["yaxis"]) for t in data(figure)] == [("a", "y"), ("a", "y2"), ("b", "y2")]
    names = [note for note in layout(figure)["annotations"] if note["xref"] == "x"]
    assert [(note["text"], note["yref"]) for note in names] == [
        ("a", "y"),
        ("a", "y2"),
        ("b", "y2"),
    ]
    assert abs(names[1]["ay"] - names[2]["ay"]) >= 12
    assert layout(figure)["showlegend"] is False
    assert data(figure)[1]["line"]["dash"] != data(figure)[2]["line"]["dash"]
    assert data(figure)[0]["y"] == [1.0, 2.0]


coordinates = st.tuples(st.floats(0, 300), st.floats(0, 330))


@settings(max_examples=40)
@given(st.lists(coordinates, min_size=1, max_size=7))
def test_names_never_lie_on_each_other_while_there_is_room(
    places: list[tuple[float, float]],
) -> None:
    names = [f"team-{number}" for number in range(len(places))]
    wide = [(2 * x, y) for x, y in places]
    plots = [Box(150, 165, 300, 330), Box(300, 165, 600, 330)]
    views = [View(places, [], plots[0]), View(wide, [], plots[1])]

    moved = offsets(views, names)

    for view in views:
        sizes = map(size_of, names)
        covered = list(map(boxed, view.places, moved, sizes))
        for number, box in enumerate(covered):
            assert box.beyond(view.plot) == 0
            assert all(box.overlap(other) == 0 for other in covered[:number])


def test_plotly_gets_no_tags_from_names() -> None:
    assert plain('<a href="x">&') == '&lt;a href="x"&gt;&amp;'
    assert "<b>" not in wrapped("<b> and a very long title that goes on and on and on for ever")


def placed(figure: Figure, tmp_path: Path) -> str:
    """Return the figure's place on a page."""
    (tmp_path / "page.md").write_text("{{ figure(shown) }}")
    return Templates(tmp_path).filled("page.md", "../", {"shown": figure})


def test_a_figure_writes_what_it_draws_and_its_place_escapes(tmp_path: Path) -> None:
    rows = [{"team": "<img src=x>", "value": Number("0.1250"), "more": "kept out"}]
    drawn = drawing([trace("scatter", x=[1], y=[0.125], name="</script>")], "across")
    figure = Figure(
        drawn,
        ("team", "value"),
        rows,
        key="k",
        title="T <b>",
        sources=["u/games.csv"],
    )

    write_figures([figure], tmp_path)
    html = placed(figure, tmp_path)

    text = (tmp_path / "tables" / "figures" / "k.csv").read_text()
    assert list(csv.reader(text.splitlines())) == [["team", "value"], ["<img src=x>", "0.1250"]]
    script = tmp_path / "pagedata" / "figures" / "k.js"
    assert "</script>" not in script.read_text()
    written = file_value(script)
    assert written["data"] == [{"type": "scatter", "x": [1], "y": [0.125], "name": "</script>"}]
    assert written["layout"]["xaxis"] == {"title": {"text": "across"}}
    assert "template" not in written["layout"]
    assert '<data value="0.1250">' in html
    assert 'data-table="figures/k.csv"' in html
    assert 'aria-label="T &lt;b&gt;"' in html
    assert not re.search(r"<(img|b)\b", html)


def test_the_template_is_written_once_and_figures_are_drawn_in_it(tmp_path: Path) -> None:
    looks = {"a": STYLE}
    rows = [{"team": "a", "agents": 2, "scenarios": 2, "value": 1, "low": None, "high": None}]
    made = [
        over_agents(f"k{place}", "Cost", "cost", rows, looks, ["u/x.csv"]) for place in range(2)
    ]

    write_figures(made, tmp_path)

    files = sorted(path.name for path in (tmp_path / "pagedata" / "figures").iterdir())
    assert files == ["k0.js", "k1.js", "template.js"]
    template = file_value(tmp_path / "pagedata" / "figures" / "template.js")
    assert template == TEMPLATE
    shared = template["layout"]
    assert shared["legend"]["orientation"] == "h"
    for axis in (shared["xaxis"], shared["yaxis"]):  # what Plotly assumes of coloured axes only
        assert (axis["showline"], axis["showgrid"], axis["ticks"]) == (True, True, "outside")
    plotted = checked(made[0].drawn).to_plotly_json()
    assert plotted["layout"].pop("template")["layout"] == shared
    assert plotted == made[0].drawn
    write_figures([], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_plotly_knows_every_property_of_the_figures(sample_site: SampleSite) -> None:
    folder = sample_site.built / "pagedata" / "figures"
    kinds = set()
    for path in set(folder.glob("*.js")) - {folder / "template.js"}:
        drawn = checked(file_value(path))
        kinds |= {each.type for each in drawn.data}
        assert drawn.data
    assert {"bar", "box", "scatter"} <= kinds <= BUNDLED
    with pytest.raises(ValueError, match="colour"):
        checked(drawing([], "x", yaxis={"colour": "red"}))


BUNDLE = (REPO / "site" / "assets" / "vendor" / "plotly.min.js").read_text(encoding="utf-8")
BUNDLED = set(re.findall(r'moduleType:"trace",name:"(\w+)"', BUNDLE))
"""Kinds of traces that pages can draw."""


def test_pages_have_the_plotly_that_figures_are_checked_by() -> None:
    (bundled,) = re.findall(
        r"^\* plotly\.js \(\w+ - minified\) v(\S+)$", BUNDLE[:200], re.MULTILINE
    )

    assert bundled == get_plotlyjs_version()


def test_numbers_of_a_figure_are_above_their_intervals(tmp_path: Path) -> None:
    half, low, high, whole = map(Number, ("0.5000", "0.2500", "0.7500", "1.0000"))
    rows = (
        {"team": "a", "share": half, "share_low": low, "share_high": high},
        {"team": "b", "share": whole, "share_low": None, "share_high": None},
    )
    columns = columns_of("team", measures=("share",))
    figure = Figure(drawing([], "x"), columns, rows)

    html = placed(figure, tmp_path)

    heads = re.findall(r"<th[^>]*>([^<]*)</th>", html)
    assert heads == ["team", "share"]
    cells = re.findall(r"<td>.*?</td>", html)
    assert [re.findall(r'value="([^"]*)"', cell) for cell in cells] == [
        ["0.5000", "0.2500", "0.7500"], ["1.0000"],
    ]  # fmt: skip


def test_axes_of_costs_and_privacy_name_their_unit(sample_site: SampleSite) -> None:
    titles = set()
    folder = sample_site.built / "pagedata" / "figures"
    for path in set(folder.glob("*.js")) - {folder / "template.js"}:
        for name, part in file_value(path)["layout"].items():
            if re.match("[xy]axis|title", name):
                text = part.get("title", part).get("text", "")
                titles.add(text.replace("<br>", " "))

    units = {"xcess": "(accounting|shown) cost|slot-equivalents", "airness": "accounting cost"}
    units["VPS"] = "slot-equivalents"
    for word, unit in units.items():
        own = [title for title in titles if word in title]
        assert own
        assert not [title for title in own if not re.search(unit, title)]
