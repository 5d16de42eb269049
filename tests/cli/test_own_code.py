"""A user's own agent raises: their traceback, one line that says where, and the games stay."""

import inspect
from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.errors import AgentError, ConfigError
from calbench.runs.play import execute
from tests.cli.conftest import Command
from tests.cli.own_agents import Failing, look_up
from tests.cli.recording import answering, recording, unreachable
from tests.cli.runs import REPO, SMALL, environment, files, python

pytestmark = pytest.mark.heavy

RAISES = inspect.getsourcelines(look_up)[1] + 2
"""The line of the module that raises."""

CALLED = {
    "construction": "making it",
    "introduction": "{name}.introduce",
    "CHEAP_TALK": "{name}.act",
    "VOLUNTARY": "{name}.act",
    "DECISION": "{name}.act",
    "REFLECTION": "{name}.act",
}


def overrides(out: Path, at: str, *, name: str = "Failing", jobs: int = 1) -> list[str]:
    mine = f"{{agent: 'tests.cli.own_agents:{name}', arguments: {{at: {at}}}}}"
    teams = ("teams=[imap]", f"+teams.my-team={{players: {{mine: {mine}}}, seats: [mine]}}")
    return [*SMALL, *teams, "reflection=true", f"jobs={jobs}", f"out={out}"]


def where(at: str, agent: int, name: str) -> str:
    if at == "construction":
        place = f"agent {agent} (tests.cli.own_agents:{name}), before the first round"
    elif at == "introduction":
        place = f"agent {agent}, before the first round"
    else:
        place = f"agent {agent}, round 1, {at}"
    return (
        f"team my-team, scenario taste-varied-000, {place}: {CALLED[at].format(name=name)} raised"
    )


@pytest.mark.parametrize(
    ("at", "agent", "name", "jobs"),
    [
        ("construction", 0, "Failing", 1),
        ("introduction", 0, "Failing", 2),
        ("CHEAP_TALK", None, "Failing", 1),
        ("CHEAP_TALK", None, "FailingLater", 2),
        ("VOLUNTARY", None, "Failing", 1),
        ("DECISION", None, "Failing", 1),
        ("DECISION", None, "FailingLater", 1),
        ("REFLECTION", 0, "FailingLater", 1),
    ],
)
def test_failing_agent_ends_the_run_with_its_traceback_and_one_line(
    tmp_path: Path, command: Command, at: str, agent: int | None, name: str, jobs: int
) -> None:
    out = tmp_path / "run"
    ended = command(*overrides(out, at, name=name, jobs=jobs))
    first, *_, cause, line = ended.error_lines
    assert (ended.status, ended.out) == (2, "")
    assert first == "Traceback (most recent call last):"
    assert "look_up" in ended.err
    assert "calbench/engine" not in ended.err
    assert "calbench/agents" not in ended.err
    assert cause == r"KeyError: 'no such\nkey'"
    kept = 0 if at == "construction" else 3
    agents = [agent] if agent is not None else [0, 1, 2]
    assert line in [
        rf"error: {where(at, each, name)} KeyError: 'no such\nkey' "
        f"(tests.cli.own_agents, line {RAISES}). "
        f"Stopped: {kept} of 6 games are in {out / 'traces'}; "
        "the same command resumes"
        for each in agents
    ]
    left = [f"traces/imap/taste-varied-00{game}.json" for game in range(kept)]
    assert sorted(files(out)) == ["code.json"] * bool(kept) + left


def test_mended_agent_goes_on_to_what_a_run_without_failure_gives(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    failed = command(*overrides(out, "DECISION"))
    kept = {path: (out / path).stat().st_mtime_ns for path in files(out)}
    monkeypatch.setattr(Failing, "is_mended", True)
    ended = command(*overrides(out, "DECISION"))
    assert (failed.status, ended.status) == (2, 0)
    assert "3 games played, 3 kept from before" in ended.out
    assert {path: (out / path).stat().st_mtime_ns for path in kept} == kept
    command(*overrides(tmp_path / "again", "DECISION"))
    assert files(out) == files(tmp_path / "again")


def alone(team: str, path: str) -> tuple[str, str]:
    """Return overrides that seat an agent, by import path, everywhere, and play no other team."""
    return "teams=[]", f"+teams.{team}={{players: {{mine: {{agent: '{path}'}}}}, seats: [mine]}}"


def beside_model(out: Path, at: str) -> RunSpec:
    path = "tests.cli.own_agents:FailingLater"
    players = f"{{model: ${{model}}, mine: {{agent: '{path}', arguments: {{at: {at}}}}}}}"
    team = f"+teams.both={{players: {players}, seats: [model, mine]}}"
    few = ("suite.num_scenarios=2", "suite.num_candidates=2", "games_at_once=2")
    return recording(str(out), *few, "teams=[my-model]", team)


@pytest.mark.parametrize("at", ["CHEAP_TALK", "REFLECTION"])
def test_failing_agent_beside_models_is_named(tmp_path: Path, at: str) -> None:
    game = r"^team both, scenario taste-varied-00., agent \d"
    place = rf"{game}, round 1, {at}: FailingLater\.act raised Key"
    with pytest.raises(AgentError, match=place) as told:
        execute(beside_model(tmp_path, at), answering)
    assert isinstance(told.value.__cause__, KeyError)


def test_failing_agent_beside_models_loses_neither_games_nor_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with pytest.raises(AgentError, match=r"round 1, DECISION: .* 2 of 4 games are in"):
        execute(beside_model(out, "DECISION"), answering)
    traces = [path for path in files(out) if path.startswith("traces/")]
    assert traces == [
        "traces/stand-in/taste-varied-000.json",
        "traces/stand-in/taste-varied-001.json",
    ]
    monkeypatch.setattr(Failing, "is_mended", True)
    summary = execute(beside_model(out, "DECISION"), answering)
    assert (summary.played, summary.kept) == (2, 2)
    assert summary.totals.replayed > 0  # what the failed games were answered
    whole = execute(beside_model(tmp_path / "whole", "DECISION"), answering)
    assert whole.totals.calls > summary.totals.calls
    for path in sorted((out / "traces").rglob("*.json")):
        assert path.read_bytes() == (tmp_path / "whole" / path.relative_to(out)).read_bytes()


def test_mistake_of_ours_is_not_told_as_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Failing, "is_mended", True)
    with pytest.raises(BaseExceptionGroup) as told:
        execute(beside_model(tmp_path / "run", "DECISION"), unreachable)
    assert told.group_contains(AssertionError, match="a model was asked")
    assert not told.group_contains(AgentError)


def test_module_that_fails_while_it_is_imported_shows_its_line(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "half_done.py").write_text("import no_such_library\n")
    (tmp_path / "mistyped.py").write_text("class Mine\n")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    for module, last in (
        ("half_done", "ModuleNotFoundError: No module named 'no_such_library' (half_done, line 1)"),
        ("mistyped", "SyntaxError: expected ':'"),
        ("leaving", "SystemExit: 0 (leaving, line 2)"),
    ):
        ended = command(*SMALL, *alone("x", f"{module}:Mine"), f"out={tmp_path / module}")
        place = (
            f"team x, scenario taste-varied-000, agent 0 ({module}:Mine), before the first round"
        )
        assert ended.status == 2
        assert f"{module}.py" in ended.err
        assert "importlib" not in ended.err
        assert ended.error_lines[-1].startswith(
            f"error: {place}: making it raised {last}. Stopped: 0 of 3"
        )


def test_agent_that_is_not_there_is_a_configuration_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^team x: agent no_such:Mine: making it raised Module"):
        execute(compose([*SMALL, *alone("x", "no_such:Mine"), f"out={tmp_path}"]))


@pytest.mark.parametrize(
    "command",
    [("-m", "calbench"), ("-P", "-c", "from calbench.cli.main import main; main()")],
    ids=["module", "script"],
)
def test_class_in_the_current_folder_is_found_by_both_commands(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "mine.py").write_text("from calbench.agents.example import Announcer as Mine\n")
    env = environment(PYTHONPATH=str(REPO))
    teams = alone("my-team", "mine:Mine")
    ended = python(*command, *SMALL, *teams, "out=run", cwd=tmp_path, env=env)
    assert ended.status == 0, ended.err
    assert len(list((tmp_path / "run" / "traces" / "my-team").iterdir())) == 3
