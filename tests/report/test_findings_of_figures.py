"""Titles say what was found and change with the numbers; figures of zeros become sentences."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from calbench.report.experiment import Experiment
from calbench.report.figures.figure import Figure, write_figures
from calbench.report.figures.finding import competing, of_front, sparse, spread
from calbench.report.figures.plane import plane
from calbench.report.figures.style import FRONT, QUIET, SERIES, Value, styles
from calbench.report.figures.template import TEMPLATE, TEXT, drawing
from calbench.report.kind import DEGENERATE, KINDS, PROTOCOL
from calbench.report.setting import Setting
from calbench.report.tables import Row
from calbench.report.templating import Templates
from tests.report.sample_site import SampleSite
from tests.report.test_figures import row
from tests.report.test_kind import PAGES, contrast
from tests.report.unpacking import file_value

LEAST = ("pays least", "pay least")


@pytest.mark.parametrize(
    ("costs", "leaks", "best", "title"),
    [
        ({}, {}, [], ""),
        (
            {"a": "1.50"},
            {"a": "2.0"},
            ["a"],
            "only a competes here: adjusted excess cost 1.50, excess VPS 2.00",
        ),
        (
            {"a": "1", "b": "2"},
            {"a": "0.0", "b": "3"},
            ["a"],
            "a pays least and stays within the allowance (excess VPS 0.00); on the Pareto front: a",
        ),
        (
            {"a": "1", "b": "2"},
            {"a": "4", "b": "3"},
            ["a", "b"],
            "a pays least, b gives least away (excess VPS 3); on the Pareto front: a and b",
        ),
        (
            {"a": "1", "b": "1.0", "c": "2"},
            {"a": "3", "b": "4", "c": "5"},
            ["a"],
            (
                "nobody pays less than a, and it gives least away (excess VPS 3); "
                "on the Pareto front: a"
            ),
        ),
        (
            {"a": "1", "b": "1"},
            {"a": "3", "b": "3"},
            ["a", "b"],
            "a and b pay least and give least away (excess VPS 3); on the Pareto front: a and b",
        ),
    ],
)
def test_a_plane_is_called_by_its_front(
    costs: Mapping[str, str], leaks: Mapping[str, str], best: list[str], title: str
) -> None:
    assert of_front(costs, leaks, best) == title


@pytest.mark.parametrize(
    ("cells", "title"),
    [
        ({}, ""),
        ({"a": ""}, ""),
        ({"a": "1.5000"}, "a: cost 1.50"),
        ({"a": "1.0", "b": "1"}, "all have the same cost, 1.00"),
        ({"a": "0.0001", "b": "-0.3822"}, "b pays least (\N{MINUS SIGN}0.38), a most (0.0001)"),
        ({"a": "0.0476", "b": "0.0531"}, "a pays least (0.048), b most (0.053)"),
        ({"a": "1", "b": "2", "c": ""}, "a pays least (1), b most (2)"),
        ({"a": "2", "b": "1", "c": "1"}, "b and c pay least (1), a most (2)"),
    ],
)
def test_ends_of_an_axis_are_a_title(cells: Mapping[str, str], title: str) -> None:
    assert spread({name: Value(cell) for name, cell in cells.items()}, "cost", LEAST) == title


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"b": Value("5.0", "4", "6")}, ""),
        ({"b": Value("5.0", "2", "6")}, "; their intervals overlap"),
        ({"b": Value("5.0", kind="same")}, "; not tested"),
        ({"b": Value("5.0", kind="exact")}, ""),
        (
            {"b": Value("5.0", "4", "6"), "c": Value("2.0", "1", "3")},
            "; intervals of others overlap theirs",
        ),
        ({"b": Value("5.0", "4", "6"), "c": Value("3.0", "2.5", "3.5")}, ""),
    ],
)
def test_a_title_says_where_intervals_do_not_tell_its_ends_apart(
    others: Mapping[str, Value], said: str
) -> None:
    title = spread({"a": Value("1.0", "0", "2"), **others}, "cost", LEAST)

    assert title == f"a pays least (1.00), b most (5.00){said}"


def test_degenerate_baselines_are_in_no_title() -> None:
    looks = styles({"a": PROTOCOL, "silent": DEGENERATE})

    assert competing({"a": "2", "silent": "1", "unknown": "3"}, looks) == {"a": "2", "unknown": "3"}


def front(*names: str) -> list[Row]:
    return [
        {**row(name, vps, cost), "kind": "protocol", "is_on_front": is_on}
        for name, vps, cost, is_on in (
            ("a", "1.0", "0.5", "true"),
            ("b", "9.0", "0.1", "true"),
            ("c", "9.0", "0.6", "false"),
            ("d", "0.0", "0.0", ""),
        )
        if name in names
    ]


def plane_of(*names: str) -> Figure:
    rows = front(*names)
    setting = Setting(Experiment("x", Path(), Path(), Path()), "x")
    looks = styles(dict.fromkeys(names, PROTOCOL))
    return plane(setting, "x", rows, looks, ["x/leaderboard.csv"], front=rows)


def test_the_front_goes_through_its_teams_and_a_title_counts_them() -> None:
    figure = plane_of("a", "b", "c", "d")

    line, rings, *_ = figure.drawn.to_plotly_json()["data"]
    assert (line["line"]["dash"], line["line"]["color"]) == ("dash", FRONT)
    assert line["y"] == [0.5, 0.5, 0.1]  # steps, level first
    assert rings["y"] == [0.5, 0.1]
    notes = [note["text"] for note in figure.drawn.to_plotly_json()["layout"]["annotations"]]
    assert {"Pareto front", "better", "a", "b", "c", "d"} == set(notes)
    assert figure.finding.endswith("on the Pareto front: a and b")
    assert figure.sources == ["x/leaderboard.csv", "front.csv"]


def test_without_a_front_a_plane_says_who_pays_least() -> None:
    figure = plane_of("d")

    assert figure.finding == "d: adjusted excess cost 0.00"
    assert figure.heading == figure.finding  # names of teams keep their letters
    assert len(figure.drawn.data) == 1


def figure_of(*cells: str) -> Figure:
    rows = [{"team": f"t{place}", "value": cell} for place, cell in enumerate(cells)]
    drawn = drawing([go.Scatter(x=[1], y=[1])], "x")
    return Figure("says", drawn, ("team", "value"), rows, key="k", measured=("value",))


def test_a_figure_of_zeros_becomes_a_sentence_with_its_table(tmp_path: Path) -> None:
    figure = figure_of("0", "0.0000", "0.25", "")

    write_figures([figure], tmp_path)
    (tmp_path / "page.md").write_text("{{ figure(shown) }}")
    page = Templates(tmp_path).filled("page.md", "", {"shown": figure})

    assert figure.is_sparse
    cell = '<data value="0.25">0.25</data>'
    assert f"are 0, so the others stand here in words: t2 {cell}." in page
    assert "data-figure" not in page
    assert (tmp_path / "tables" / "figures" / "k.csv").is_file()
    assert not (tmp_path / "pagedata" / "figures" / "k.js").exists()


@pytest.mark.parametrize(
    ("cells", "sentence", "marked"),
    [
        (("0.1348", "12.4"), "t0 0.13, t1 12.40.", [("0.13", "0.1348"), ("12.40", "12.4")]),
        (("-0.5",), "t0 \N{MINUS SIGN}0.50.", [("\N{MINUS SIGN}0.50", "-0.5")]),
        (("1401.6",), "1402 of 45 games, v0.13.", [("1402", "1401.6")]),
        (("0.134", "0.1348"), "0.13 and 0.135", [("0.13", "0.134"), ("0.135", "0.1348")]),
        (("0.1348",), "0.14 is nobody's", []),
        (("12.3",), "of 12 games", []),
        (("",), "0.00", []),
    ],
)
def test_rounded_numbers_of_a_sentence_are_with_their_cells(
    cells: tuple[str, ...], sentence: str, marked: list[tuple[str, str]]
) -> None:
    parts = list(figure_of(*cells).stated(sentence))

    assert "".join(text for text, _ in parts) == sentence
    assert [part for part in parts if part[1]] == marked


def test_a_figure_with_as_many_other_numbers_is_drawn() -> None:
    assert not figure_of("0", "0", "1", "2").is_sparse
    assert not figure_of().is_sparse


def test_nothing_but_zeros_is_said() -> None:
    assert sparse([]) == "All of these numbers are 0, so nothing is drawn."


@pytest.mark.parametrize("colour", SERIES)
@pytest.mark.parametrize("page", PAGES)
def test_series_are_seen_on_both_pages(colour: str, page: str) -> None:
    assert contrast(colour, page) >= 3


def test_no_colour_of_a_kind_is_one_of_ours() -> None:
    assert not {kind.colour for kind in KINDS} & {*SERIES, FRONT, QUIET}
    assert len(set(SERIES)) == len(SERIES)


def parts(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value below a value, with its name."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from parts(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from parts(each, name)
    else:
        yield name, value


def drawn_on(site: SampleSite) -> dict[str, Any]:
    folder = site.built / "pagedata" / "figures"
    return {path.stem: file_value(path) for path in sorted(folder.glob("*.js"))}


def test_marks_have_colours_of_kinds_and_all_else_has_others(sample_site: SampleSite) -> None:
    kinds = {kind.colour for kind in KINDS}
    for name, figure in drawn_on(sample_site).items():
        if name == "template":
            continue
        for trace in figure["data"]:
            used = {value for _, value in parts(trace) if re.match("#", str(value))}
            is_series = trace["type"] in {"bar", "box"} or trace.get("name") == "Pareto front"
            is_swept = str(trace.get("name", "")).startswith("DSM, ")
            if is_series or is_swept or name.startswith("thirds-"):
                assert not used & kinds, (name, trace.get("name"))
            assert used <= kinds | {*SERIES, QUIET, "#20242c"}, (name, used)


def test_all_text_of_figures_is_of_twelve_pixels(sample_site: SampleSite) -> None:
    for name, figure in drawn_on(sample_site).items():
        for part in (figure.get("layout", {}), figure.get("data", [])):
            sizes = [font for key, font in fonts(part)]
            assert all(size >= TEXT for size in sizes), name
    layout = TEMPLATE.to_plotly_json()["layout"]
    assert [layout[axis]["tickfont"]["size"] for axis in ("xaxis", "yaxis")] == [TEXT, TEXT]
    assert layout["font"]["size"] == layout["legend"]["font"]["size"] == TEXT >= 12


def fonts(value: Any) -> Iterator[tuple[str, float]]:
    """Yield the size of every font below a value."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key.endswith("font") and "size" in each:
                yield key, each["size"]
            yield from fonts(each)
    elif isinstance(value, list):
        for each in value:
            yield from fonts(each)
