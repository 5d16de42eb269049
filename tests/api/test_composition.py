"""Composition leaves no trace in the process: threads, event loops and programs of Hydra's."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hydra
import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.version import VersionBase

from calbench import load_suite, play_game
from calbench.config.composition import compose, compose_team
from calbench.traces.storage import trace_bytes
from tests.cli.runs import REPO, environment, python
from tests.metrics.games import canonical_scenario

SCENARIO = canonical_scenario(1)
TEAMS = ["imap", "dsm-private", "dsm-welfare", "sd-map", "secure-sum", "candid", "silent"]
GAMES = 8 * [*TEAMS, "tell-all"]


def played(team: str) -> bytes:
    compose_team.cache_clear()
    return trace_bytes(play_game(SCENARIO, team))


@pytest.mark.slow
def test_games_of_threads_and_tasks_are_those_of_one_thread() -> None:
    alone = {team: played(team) for team in dict.fromkeys(GAMES)}
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(played, GAMES)) == [alone[team] for team in GAMES]

    async def four_tasks() -> list[bytes]:
        async def some(teams: list[str]) -> list[bytes]:
            return [await asyncio.to_thread(played, team) for team in teams]

        parts = await asyncio.gather(*(some(GAMES[first::4]) for first in range(4)))
        return [part[place] for place in range(16) for part in parts]

    assert asyncio.run(four_tasks()) == [alone[team] for team in GAMES]


def test_state_of_a_program_around_it_is_as_it_was() -> None:
    with hydra.initialize_config_dir(str(REPO / "conf"), version_base="1.2"):
        state, base = GlobalHydra.instance(), VersionBase.instance().getbase()
        held = state.hydra
        compose_team.cache_clear()
        assert compose_team("imap").team_id == "imap"
        assert GlobalHydra.instance() is state
        assert state.hydra is held
        assert VersionBase.instance().getbase() == base
        assert hydra.compose("config").suite.setting
    assert compose(["teams=[imap]"]).teams[0].team_id == "imap"
    assert not GlobalHydra.instance().is_initialized()


PROGRAM = """
import os, sys
from pathlib import Path

before = dict(os.environ)
import calbench
assert dict(os.environ) == before
import hydra

@hydra.main(version_base=None)
def main(config):
    scenario = calbench.load_suite(config.suite)[1]
    calbench.write_trace(config.out, calbench.play_game(scenario, "imap"))
    assert hydra.core.hydra_config.HydraConfig.initialized()

main()
"""


@pytest.mark.heavy
def test_game_inside_a_program_of_hydras_is_the_commands(
    suite: Path, finished: Path, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    out = tmp_path / "trace.json"
    words = (f"+suite={suite}", f"+out={out}", f"hydra.run.dir={tmp_path}/hydra")
    ended = python(tmp_path / "program.py", *words, env=environment(PYTHONPATH=str(REPO)))
    assert (ended.status, ended.err) == (0, "")
    name = load_suite(suite)[1].scenario_id
    assert out.read_bytes() == (finished / f"traces/imap/{name}.json").read_bytes()
