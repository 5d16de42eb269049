"""The home page's plane and card: placed by the numbers, never two instruments in one panel."""

import csv
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from calbench.errors import FileError
from calbench.release.copies import Copies
from calbench.report.experiment import Setting
from calbench.report.kind import DEGENERATE, PROTOCOL
from calbench.report.kind import PUBLISHED as THEIRS
from calbench.report.labels import Box, boxed, size_of
from calbench.report.pages.home import best, is_drawn
from calbench.report.panels import (
    CARD,
    DIGEST,
    HEIGHT,
    QUESTION,
    WIDTH,
    Panel,
    card,
    card_fits,
    digest,
    panels,
)
from calbench.report.plane import RIGHT, TOP, Drawing, Point, drawn, scale
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.templating import environment
from tests.report.samples import PUBLISHED, SOURCES
from tests.report.small_tables import row, site

RELEASE = SOURCES.parent / "data" / "release" / "tables" / "summary"

BOARD = [
    row("imap", "0.0533", "12.4000"),
    row("mediator", "0.0533", "0.0000"),
    row("tell-all", "0.0533", "91.0000", rank="", kind="degenerate baseline"),
    row("candid", "0.0533", "38.2252", kind="scripted agents", vps_kind="reflection"),
    row("tiny", "2.7951", "2.7566", kind="language models", vps_kind="expected", setting="small"),
    row("both", "1.2431", "", kind="language models and scripted agents", vps_kind="mixed"),
]


@pytest.fixture
def release() -> Site:
    """Return the published tables, as far as the page's plane needs them."""
    return Site(SOURCES, (), Tables(RELEASE), Tables(PUBLISHED))


def picture(panel: Panel, paths: set[str]) -> str:
    template = environment(SOURCES / "docs").from_string(
        '{% from "plane.jinja" import panel_picture with context %}'
        "{{ panel_picture(panel, paths) }}"
    )
    return template.render(panel=panel, paths=paths, root="")


def point(name: str, across: float, up: float, kind: object = PROTOCOL) -> Point:
    return Point(name, kind, (across, None, None), (up, None, None))  # type: ignore[arg-type]


def boxes(drawing: Drawing) -> list[Box]:
    return [
        boxed((name.x, name.y), (0, 0), size_of(", ".join(name.names))) for name in drawing.names
    ]


def test_mark_without_a_name_is_small_and_leaves_names_their_room(tmp_path: Path) -> None:
    setting = Point("theta", PROTOCOL, (10, None, None), (1, None, None), is_named=False)
    drawing = drawn([point("a", 10, 1.0), setting])
    assert [(mark.name, mark.is_named) for mark in drawing.marks] == [("a", True), ("theta", False)]
    assert [name.names for name in drawing.names] == [("a",)]
    shown = picture(replace(panels(site(tmp_path, BOARD))[0], drawing=drawing), set())
    assert re.findall(r'<circle [^>]*r="([\d.]+)"', shown) == ["4.8", "2.8"]


def test_silence_is_a_line_at_its_cost_with_its_name_beside_no_mark() -> None:
    points = [point("a", 1, 0.1), point("b", 3, 0.4), point("c", 20, 0.7)]
    drawing = drawn(points, silence=0.7)
    heights = {mark.name: mark.y for mark in drawing.marks}
    assert drawing.silence is not None
    assert drawing.silence[1] == heights["c"]
    far = min(abs(mark.x - drawing.silence[0]) for mark in drawing.marks if mark.name == "c")
    assert far > 20
    above = drawn(points, silence=2.0)
    assert above.silence is not None
    assert above.silence[1] >= TOP  # the axis reaches it
    assert drawn(points).silence is None


def test_no_panel_of_privacy_has_two_settings_or_instruments(release: Site) -> None:
    for panel in panels(release):
        for column in ("setting", "channel", "vps_kind"):
            is_alike = len({each.get(column, "") for each in panel.rows}) == 1
            assert is_alike or panel.across == "coordination"


def test_protocols_and_the_papers_models_share_a_plane_on_its_tasks_without_a_front(
    tmp_path: Path,
) -> None:
    text = Copies(SOURCES.parent / "data/release").table("summary/same_tasks.csv").decode()
    rows = {"summary/same_tasks.csv": list(csv.DictReader(text.splitlines()))}
    found = panels(site(tmp_path, BOARD, rows, published=PUBLISHED))
    (panel,) = [each for each in found if each.across == "coordination"]
    theirs = [mark for mark in panel.drawing.marks if mark.kind is THEIRS]
    ours = [mark for mark in panel.drawing.marks if mark.kind is not THEIRS]
    assert len(theirs) == 7
    assert {"imap", "secure-sum", "dsm-private"} < {mark.name for mark in ours}
    assert not panel.has_front
    assert {each["beside"] for each in panel.rows if each["source"] == "paper"} == {"mixed teams"}
    assert len({each["vps_kind"] for each in panel.rows}) > 1  # so privacy is not an axis here
    printed = Tables(PUBLISHED).rows("table1.csv", setting=panel.setting)
    shown = {each["player"]: each for each in panel.rows}
    for their in printed:
        for measure in ("coordination", "excess_cost", "messages", "fairness", "excess_vps"):
            assert shown[their["player"]][measure] == their[measure]


def test_panels_are_protocols_speakers_models_and_the_papers(tmp_path: Path) -> None:
    found = panels(site(tmp_path, BOARD, published=PUBLISHED))

    assert [each.title for each in found] == [
        "Protocols",
        "Scripted speakers",
        "Recorded models",
        "The paper's models",
    ]
    assert [each.cost for each in found] == [*["adjusted_excess_cost"] * 3, "excess_cost"]
    assert [each.axis for each in found] == [
        "Excess VPS by messages",
        "VPS beyond chance by reflections",
        "VPS beyond chance by reflections, expected values",
        "Excess VPS by reflections",
    ]
    assert [each.key for each in found] == ["messages", "words", "models", "paper"]


def test_panels_of_the_same_scenarios_share_the_axis_of_cost(tmp_path: Path) -> None:
    high = row("dsm", "0.8000", "0.0000")

    typed, words, *_ = panels(site(tmp_path, [*BOARD, high]))

    place = {mark.name: mark.y for panel in (typed, words) for mark in panel.drawing.marks}
    assert place["imap"] == place["candid"]
    assert typed.drawing.up == words.drawing.up


def test_what_the_tables_have_not_is_not_drawn(tmp_path: Path) -> None:
    assert panels(site(tmp_path / "none", [])) == []
    assert [each.title for each in panels(site(tmp_path / "one", BOARD[:1]))] == ["Protocols"]
    alone = panels(site(tmp_path / "degenerate", [BOARD[2]]))
    assert alone == []


def test_a_team_of_ones_own_is_shown_first(tmp_path: Path) -> None:
    own = row("mine", "0.3", "1.0", kind="protocol, not published", setting="varied")

    assert panels(site(tmp_path, [*BOARD, own]))[0].setting == "varied"


def test_the_front_is_ringed_where_its_table_is(tmp_path: Path) -> None:
    front = [
        {**{key: each[key] for key in ("setting", "channel", "vps_kind", "team")},
         "is_on_front": "true" if each["team"] == "mediator" else "false"}
        for each in BOARD
    ]  # fmt: skip
    ringed = panels(site(tmp_path, BOARD, {"summary/front.csv": front}))[0]

    assert [mark.name for mark in ringed.drawing.marks if mark.is_on_front] == ["mediator"]
    assert picture(ringed, set()).count("cb-m-front") == 1
    assert not panels(site(tmp_path / "without", BOARD))[0].has_front


def test_a_team_alone_is_on_no_front(tmp_path: Path) -> None:
    keys = ("setting", "channel", "vps_kind", "team")
    front = [{**{key: each[key] for key in keys}, "is_on_front": "true"} for each in BOARD]

    *_, tiny = panels(site(tmp_path, BOARD, {"summary/front.csv": front}))

    assert [mark.name for mark in tiny.drawing.marks] == ["tiny"]
    assert not tiny.has_front


def test_losses_by_several_instruments_are_in_no_panel(tmp_path: Path) -> None:
    mixed = {**BOARD[-1], "excess_vps": "3.0000", "setting": "small"}

    found = panels(site(tmp_path, [*BOARD[:-1], mixed]))

    assert "mixed" not in {each["vps_kind"] for panel in found for each in panel.rows}


def test_only_other_settings_are_said_to_be_of_their_own(tmp_path: Path) -> None:
    template = environment(SOURCES / "docs").from_string(
        '{% from "home.jinja" import plane with context %}{{ plane(panels, []) }}'
    )
    same = [{**each, "setting": "uniform"} for each in BOARD]
    apart = template.render(panels=panels(site(tmp_path, BOARD, published=PUBLISHED)), root="")
    together = template.render(panels=panels(site(tmp_path / "same", same)), root="")

    assert apart.count("of their own") == 1
    assert "uniform, the same tasks, in mixed teams; privacy by their own reflections" in apart
    assert "of their own" not in together


def test_names_lead_to_players_that_have_a_page(tmp_path: Path) -> None:
    panel = panels(site(tmp_path, BOARD))[0]

    assert '<a href="players/imap.html">imap</a>' in picture(panel, {"players/imap.md"})
    assert "<a " not in picture(panel, set())


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    hostile = "<script>x</script>"
    panel = panels(site(tmp_path, [row(hostile, "0.1", "1.0"), *BOARD]))[0]

    svg = ET.fromstring(picture(panel, set()))  # noqa: S314 - made here
    assert hostile in [text for each in svg.iter() if (text := each.text)]
    assert not [each for each in svg.iter() if each.tag.endswith("script")]


def test_no_name_lies_on_another_in_the_published_plane(release: Site) -> None:
    for panel in panels(release):
        found = boxes(panel.drawing)
        for one, other in combinations(found, 2):
            assert one.overlap(other) == 0, panel.title
        assert all(box.x + box.width / 2 < RIGHT + 10 for box in found)


def test_marks_on_each_other_share_a_name() -> None:
    drawing = drawn([point("a", 1, 1), point("b", 1, 1), point("c", 1, 1, DEGENERATE)])

    assert [name.names for name in drawing.names] == [("a", "b"), ("c",)]


def test_bars_are_from_end_to_end_of_an_interval() -> None:
    drawing = drawn([Point("a", PROTOCOL, (10, 5, 20), (1, None, None)), point("b", 30, 2)])

    mark = drawing.marks[0]
    assert mark.across is not None
    assert mark.across[0] < mark.x < mark.across[1]
    assert mark.up is None


def test_less_is_left_and_below() -> None:
    low, high = drawn([point("low", 1, 0.1), point("high", 50, 3)]).marks

    assert low.x < high.x
    assert low.y > high.y


def test_a_team_alone_is_not_at_the_end_of_axes() -> None:
    drawing = drawn([point("alone", 50, 3)])
    (mark,) = drawing.marks
    left, right, top, bottom = drawing.box

    assert left < mark.x < left + 0.9 * (right - left)
    assert top + 0.3 * (bottom - top) < mark.y < bottom


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0]])
def test_an_axis_without_numbers_can_be_drawn(values: list[float]) -> None:
    axis = scale(values, 0, 100)

    assert axis.place(0) == 0
    assert axis.ticks()[0] == (0, "0")


def test_an_axis_that_begins_later_begins_below_every_number() -> None:
    axis = scale([5.3, 19.18], 0, 100, is_log1p=True, is_from_zero=False)

    assert 0 < axis.least < 5.3
    assert 0 < axis.place(5.3) < axis.place(19.18) < 100
    assert axis.ticks()[0] == (0, "3")


@pytest.mark.parametrize("values", [[-0.12, 0.07], [-3.0, -1.0], [-0.5, 20.0]])
def test_an_axis_has_room_for_what_is_below_zero(values: list[float]) -> None:
    axis = scale(values, 0, 100)

    assert 0 < axis.place(values[0]) < axis.place(values[1]) < 100 or values[1] < 0
    named = {text: place for place, text in axis.ticks()}
    assert named["0"] == axis.place(0) > axis.place(values[0])


def test_published_card_shows_the_published_numbers(release: Site) -> None:
    """If this fails, the tables have changed: `make card` draws the card anew."""
    assert card_fits(release)


def test_card_of_other_numbers_does_not_fit(tmp_path: Path, release: Site) -> None:
    assert not card_fits(site(tmp_path / "other", BOARD))
    assert not card_fits(site(tmp_path / "none", []))
    changed = [dict(each) for each in release.summary.rows("leaderboard.csv")]
    changed[0]["adjusted_excess_cost"] = "0.0534"
    assert digest(site(tmp_path / "changed", changed)) not in {"", digest(release)}


def test_front_does_not_change_the_card(tmp_path: Path) -> None:
    plain = site(tmp_path / "plain", BOARD)
    front = [{**each, "is_on_front": "true"} for each in BOARD]
    ringed = site(tmp_path / "ringed", BOARD, {"summary/front.csv": front})

    assert card(plain) == card(ringed)
    assert digest(plain) == digest(ringed)


def test_note_beside_the_card_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / DIGEST).write_text("[]")
    broken = Site(tmp_path, (), Tables(RELEASE), Tables(PUBLISHED))

    with pytest.raises(FileError, match="make card"):
        card_fits(broken)
    (tmp_path / "assets" / DIGEST).unlink()
    assert not card_fits(broken)


def test_card_is_as_large_as_other_sites_expect_and_says_the_question(release: Site) -> None:
    data = (SOURCES / "assets" / CARD).read_bytes()

    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (WIDTH, HEIGHT)
    said = " ".join(QUESTION)
    home = (SOURCES / "docs" / "index.md").read_text()
    assert said in re.sub(r"\s+", " ", home)
    picture_texts = [each.text for each in ET.fromstring(card(release))]  # noqa: S314 - made here
    assert said == " ".join(text for text in picture_texts if text in QUESTION)


def test_a_card_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no team"):
        card(site(tmp_path, []))


def test_a_broken_number_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not the number it should be"):
        panels(site(tmp_path, [row("a", "much", "0.1")]))


def test_teams_of_a_panel_are_drawn_and_the_papers_players_are_none_of_them(tmp_path: Path) -> None:
    lost = row("lost", "", "", setting="small")
    tables = {"uniform/leaderboard.csv": BOARD[:4], "small/leaderboard.csv": [BOARD[4], lost]}
    whole = site(tmp_path, BOARD, tables, published=PUBLISHED, experiments=["uniform", "small"])
    uniform, small = (Setting(each, each.name) for each in whole.experiments)
    found = panels(whole)

    assert "uniform" in {panel.setting for panel in found if panel.is_published}
    assert is_drawn(whole, uniform, found)
    assert not is_drawn(whole, small, found)


def test_who_is_no_better_than_silence_is_marked_among_the_best(tmp_path: Path) -> None:
    boards = {"setting": "small", "vps_kind": "mixed"}
    rows = [row("tiny", "2.7951", "", **boards), row("both", "1.2431", "", **boards)]
    marks = [
        {"setting": "small", "team": "tiny", "no_better_than": "silent"},
        {"setting": "small", "team": "both", "no_better_than": ""},
    ]
    tables = {"small/leaderboard.csv": rows, "small/standings.csv": marks}
    whole = site(tmp_path, rows, tables, experiments=["small"])
    (setting,) = (Setting(each, each.name) for each in whole.experiments)
    found = best(whole, setting)["rows"]
    assert [(each["team"], each["warning"].strip()) for each in found] == [
        ("both", ""),
        ("tiny", "no better than silence"),
    ]
