"""The agent of one's own that the documentation shows, through both doors."""

import inspect
from pathlib import Path

import pytest

from calbench import load_suite, play_game, score_game
from calbench.agents import example
from calbench.agents.example import Announcer
from calbench.config.composition import compose
from calbench.errors import ConfigError
from calbench.runs.play import execute
from calbench.runs.verification import verify_trace
from calbench.scenarios.storage import write_suite
from calbench.traces.events import DmSent
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from tests.factories import make_scenario

SCENARIO = make_scenario(["E..B", ".E.E", "..EE"], [(0, 1, 2), (1, 2)])


def without_config(trace: Trace) -> list[object]:
    return [event for event in trace.events if event.type != "agent_registered"]


def test_example_announces_a_slot_that_everybody_books() -> None:
    trace = play_game(SCENARIO, [Announcer() for _ in range(3)])
    said = [event.content for event in trace.events if isinstance(event, DmSent)]
    assert [getattr(content, "text", "") for content in said] == [
        "Let us take slot 1.",
        "Let us take slot 1.",
        "Let us take slot 2.",
    ]
    assert [outcome.coordinated for outcome in trace.final_state.round_outcomes] == [True, True]
    assert score_game(trace).num_scheduled == 2
    verify_trace(trace)


@pytest.mark.parametrize("full", ["EEEE", "BBBB"])
def test_example_says_and_books_nothing_that_it_has_no_room_for(full: str) -> None:
    scenario = make_scenario([full, full, full], [(0, 1, 2)])
    trace = play_game(scenario, [Announcer() for _ in range(3)])

    assert score_game(trace).num_scheduled == 0
    verify_trace(trace)


@pytest.mark.heavy
def test_example_plays_the_same_when_a_configuration_names_it(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite.jsonl", (SCENARIO,))
    (scenario,) = load_suite(tmp_path / "suite.jsonl")
    here = play_game(scenario, [Announcer() for _ in range(3)], uses_language=True)
    execute(
        compose(
            [
                "teams=[example-agent]",
                f"suite.path={tmp_path / 'suite.jsonl'}",
                "reflection=false",
                f"out={tmp_path / 'run'}",
            ]
        )
    )
    there = read_trace(tmp_path / "run/traces/example-agent" / f"{scenario.scenario_id}.json")
    assert without_config(there) == without_config(here)
    assert there.config.team.seats[0].player == "announcer"


def test_example_is_as_short_as_the_documentation_says() -> None:
    body = inspect.getsource(Announcer.act).splitlines()
    assert len(body) <= 30
    assert example.__doc__ is not None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("calbench.agents.example", "write it as package.module:Name"),
        ("no_such_module:Agent", "ModuleNotFoundError"),
        ("calbench.agents.example:Nobody", "AttributeError"),
        ("calbench.agents.example:Announcer", "TypeError"),
    ],
)
def test_agent_by_import_path_is_refused_in_one_line(path: str, line: str, tmp_path: Path) -> None:
    players = f"{{own: {{agent: '{path}', arguments: {{mood: 1}}}}}}"
    team = f"+teams.x={{players: {players}, seats: [own]}}"
    with pytest.raises(ConfigError, match=f"team x: agent {path}: .*{line}"):
        execute(compose(["teams=[]", team, f"out={tmp_path}"]))
