"""Which teams are compared with which: those on the same scenarios, over the same channels."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from calbench.analysis.settings import Settings
from calbench.board.entries import Entry, Place, Run
from calbench.board.published import Results, View, views_of
from calbench.errors import FileError
from calbench.facts.storage import Facts
from calbench.report.role import Role

DM: Place = ("varied", "dm")
CHAT: Place = ("varied", "all_agent_groupchat")
NINE = {f"varied-{number}": f"d{number}" for number in range(9)}
NOWHERE = Path("nowhere")


def few(count: int) -> dict[str, str]:
    return dict(list(NINE.items())[:count])


def published(
    name: str, page: str = "settings", **scenarios: tuple[Place, Mapping[str, str]]
) -> Results:
    found = Results(name, Role(page=page), Settings(), NOWHERE, NOWHERE)
    vars(found)["scenarios"] = dict(scenarios.values())
    return found


VARIED = published("varied", whole=(DM, NINE))
SPEAKERS = published("language", "language", whole=(DM, NINE))
CHATTERS = published("chat", "language", whole=(CHAT, NINE))
ALL = (CHATTERS, SPEAKERS, VARIED)


def run(name: str, *entries: Entry) -> Run:
    return Run(name, NOWHERE, Facts(NOWHERE), entries)


def views(*runs: Run) -> list[View]:
    return views_of(runs, ALL)


def told(view: View) -> tuple[str, str, list[str], list[str]]:
    names = [each.name for each in view.published]
    return view.name, view.title, names, [entry.team for entry in view.entries]


def test_team_on_a_whole_suite_takes_part_in_its_experiment() -> None:
    (view,) = views(run("a", Entry(0, "mine", DM, NINE)))
    assert told(view) == ("varied", "varied", ["varied", "language"], ["mine"])
    assert (view.is_whole, view.part) == (True, "")


def test_part_of_a_suite_is_a_view_with_everybody_who_played_it() -> None:
    whole, part = Entry(0, "whole", DM, NINE), Entry(1, "part", DM, few(3))
    first, second = views(run("a", whole), run("b", part))
    assert told(first)[3] == ["whole"]
    assert told(second) == (
        "varied-3-of-9",
        "varied, 3 of 9 scenarios",
        ["varied", "language"],
        ["whole", "part"],
    )
    assert (second.is_whole, second.part, second.digests) == (False, "3 of 9 scenarios", few(3))


def test_parts_of_one_size_have_names_of_their_own() -> None:
    last = dict(list(NINE.items())[6:])
    found = views(run("a", Entry(0, "a", DM, few(3)), Entry(0, "b", DM, last)))
    assert [view.name for view in found] == ["varied-3-of-9", "varied-3-of-9-2"]


def test_other_channels_are_another_view_with_those_who_used_them() -> None:
    (view,) = views(run("a", Entry(0, "mine", CHAT, NINE)))
    name = "varied-all_agent_groupchat"
    assert told(view) == (name, "varied, to all agents", ["chat"], ["mine"])
    assert not view.is_whole


def test_suite_of_ones_own_has_no_published_teams() -> None:
    own = Entry(0, "mine", ("own", "dm"), {"own-0": "x"})
    other = Entry(1, "theirs", ("own", "dm"), {"own-0": "y"})
    first, second = views(run("a", own), run("b", other))
    assert told(first) == ("own", "own", [], ["mine"])
    assert told(second) == ("own-2", "own, b", [], ["theirs"])


def test_another_scenario_under_a_published_name_is_refused() -> None:
    changed = {**NINE, "varied-4": "other"}
    with pytest.raises(FileError, match=r"^a: varied-4 is not the published scenario"):
        views(run("a", Entry(0, "mine", DM, changed)))


def test_without_published_results_nothing_is_refused() -> None:
    (view,) = views_of([run("a", Entry(0, "mine", DM, {"varied-0": "other"}))], ())
    assert told(view) == ("varied", "varied", [], ["mine"])
