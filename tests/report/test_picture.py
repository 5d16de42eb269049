"""The picture of a game: a function of the trace, and nothing in it runs."""

import re
from xml.etree import ElementTree as ET

import pytest

from calbench.report.games.picture import best_round, drawn, fits
from calbench.report.templating import Templates
from calbench.traces.events import BatchApplied, Resolution, RoundStart
from calbench.traces.models import Trace
from tests.report.samples import HOSTILE_TEXTS, SOURCES, play, suite_of

NAMESPACE = "{http://www.w3.org/2000/svg}"


def figure(trace: Trace, experiment: str) -> str:
    picture = Templates(SOURCES / "docs").macros("")["picture"]
    return str(picture(drawn(trace, experiment)))


def svg(trace: Trace) -> str:
    match = re.search(r"<svg.*</svg>", figure(trace, "uniform"), re.DOTALL)
    assert match
    return match[0]


def shown_text(picture: str) -> str:
    return " ".join(ET.fromstring(picture).itertext())  # noqa: S314 - made here


@pytest.mark.heavy
def test_picture_is_a_function_of_the_trace() -> None:
    scenario = suite_of("uniform", 3)[0]

    first, second = (figure(play(scenario, "imap"), "uniform") for _ in range(2))

    assert first == second
    assert first != figure(play(suite_of("uniform", 3)[1], "imap"), "uniform")


def test_picture_shows_the_round_as_the_trace_has_it() -> None:
    trace = play(suite_of("uniform", 3)[0], "imap")
    shown = best_round(trace)
    start = trace.events[shown.event]
    assert isinstance(start, RoundStart)
    applied = [e for e in trace.events if isinstance(e, BatchApplied) and e.round == start.round]
    (end,) = (e for e in trace.events if isinstance(e, Resolution) and e.round == start.round)

    tree = ET.fromstring(svg(trace))  # noqa: S314 - made here
    frames = [node for node in tree.iter(f"{NAMESPACE}rect") if node.get("class") == "cb-p-agreed"]
    cells = [
        cell
        for node in tree.iter(f"{NAMESPACE}path")
        if node.get("class") != "cb-p-move"
        for cell in re.findall(r"M[^z]*z", node.get("d") or "")
    ]

    assert set(end.slot_by_agent.values()) == {shown.slot}
    assert len(frames) == len(shown.participants)
    assert len(cells) == trace.scenario.num_agents * trace.scenario.num_slots
    assert sum(shown.paid.values()) == sum(batch.cost for batch in applied) > 0
    for agent, cost in shown.paid.items():
        assert f"agent {agent} pays {cost}" in shown_text(svg(trace))
    assert tree.find(f"{NAMESPACE}title") is not None
    assert "Agent" in (tree.findtext(f"{NAMESPACE}desc") or "")


def test_every_mark_of_the_picture_has_a_place() -> None:
    tree = ET.fromstring(svg(play(suite_of("uniform", 3)[0], "imap")))  # noqa: S314 - made here
    marks = [n for n in tree.iter(f"{NAMESPACE}text") if "cb-p-mark" in n.get("class", "")]

    assert marks
    for node in marks:
        places = [len(node.get(axis, "").split()) for axis in ("x", "y")]
        assert places == [len(node.text or "")] * 2


def test_link_leads_to_the_beginning_of_the_round() -> None:
    trace = play(suite_of("uniform", 3)[0], "imap")

    (address,) = re.findall(r'href="([^"]*)"', figure(trace, "uniform"))

    *_, event = address.split("/")
    assert address.startswith("traces.html#uniform/imap/uniform-000/")
    assert trace.events[int(event)].type == "round_start"


def test_hostile_words_and_names_are_text() -> None:
    trace = play(suite_of("hostile", 3)[0], "hostile")
    team = trace.config.team.model_copy(update={"team_id": HOSTILE_TEXTS[2]})
    config = trace.config.model_copy(update={"team": team})
    trace = trace.model_copy(update={"config": config})

    made = figure(trace, "hostile")

    assert HOSTILE_TEXTS[0][:20] in shown_text(svg(trace))
    assert set(re.findall(r"<([a-z]+)", made)) <= {
        *("figure", "a", "svg", "title", "desc", "text", "rect", "path", "figcaption")
    }
    nodes = list(ET.fromstring(made).iter())  # noqa: S314 - made here
    assert not [name for node in nodes for name in node.attrib if name.startswith("on")]
    (address,) = (node.attrib["href"] for node in nodes if "href" in node.attrib)
    assert address.startswith("traces.html#hostile/")
    assert "\u202e" not in made
    assert len(made) < 40_000


def test_games_that_are_too_large_are_left_out() -> None:
    trace = play(suite_of("uniform", 3)[0], "imap")

    assert fits(trace)
    assert not fits(trace.model_copy(update={"events": trace.events[:1]}))
