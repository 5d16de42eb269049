"""Games as environments, with the real libraries, and the page's examples."""

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calbench import play_game, verify, write_trace
from calbench.errors import ConfigError
from calbench.types import Observation
from tests.cli.runs import REPO
from tests.factories import make_scenario, suite_file
from tests.integrations.dumps import reached
from tests.metrics.games import known_policy

pytest.importorskip("pettingzoo", reason="needs requirements-pettingzoo.lock")

from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from calbench.integrations.gymnasium import SeatEnv
from calbench.integrations.pettingzoo import CalendarEnv
from calbench.integrations.spaces import vector_of

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore:Environment has not defined a render"),
]

SHORT = {"max_turns_per_round": 4}
"""Sweeps of talk of random agents, which never fall silent together."""

Answer = Callable[[Any, Any], int]


def blocks() -> list[str]:
    whole = (REPO / "site" / "docs" / "frameworks.md").read_text()
    found = re.findall(r"(?:^(?: {4}.*)?\n)+", whole.partition("## inspect_ai")[0], re.MULTILINE)
    texts = [re.sub("^ {4}", "", block, flags=re.MULTILINE).strip() for block in found]
    return [text for text in texts if text]


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the blocks of the page leave behind."""
    space: dict[str, Any] = {}
    for block in blocks():
        exec(block, space)  # noqa: S102 - our own page
    return space


def rounds(env: CalendarEnv, answer: Answer, **reset: Any) -> dict[str, float]:
    """Play a game to its end; return what each agent was paid."""
    env.reset(**reset)
    paid: dict[str, float] = {}
    for agent in env.agent_iter():
        numbers, reward, is_over, _, info = env.last()
        paid[agent] = paid.get(agent, 0.0) + reward
        assert env.observation_space(agent).contains(numbers)
        env.step(None if is_over else answer(numbers, info))
    return paid


def at_random(seed: int) -> Answer:
    chance = np.random.default_rng(seed)
    return lambda _, info: int(chance.choice(np.flatnonzero(info["action_mask"])))


def test_libraries_own_tests_pass(suite: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Environment has not defined a render")
        api_test(CalendarEnv(suite, limits=SHORT), num_cycles=300)
        seed_test(lambda: CalendarEnv(suite, limits=SHORT), num_cycles=100)
        check_env(SeatEnv(suite, partners={0: "imap", 2: "candid"}), skip_render_check=True)


def test_two_hundred_random_games_end_and_verify(suite: Path, tmp_path: Path) -> None:
    env = CalendarEnv(suite, limits=SHORT)
    placed = 0
    for seed in range(200):
        paid = rounds(env, at_random(seed), seed=seed)
        assert env.trace is not None
        ended = env.trace.final_state
        for agent, cost in enumerate(ended.cost_by_agent):
            own = [
                r for r in ended.round_outcomes if r.coordinated and str(agent) in r.slot_by_agent
            ]
            assert paid[f"agent_{agent}"] == 10 * len(own) - cost
            placed += len(own)
        if seed < 5:
            write_trace(tmp_path / f"{seed}.json", env.trace)
    assert placed > 0
    verify(tmp_path)


def test_actions_that_make_no_sense_are_answered_by_the_rules(suite: Path) -> None:
    env, chance = CalendarEnv(suite, limits=SHORT), np.random.default_rng(3)
    rounds(env, lambda *_: int(chance.integers(env.action_space("agent_0").n)), seed=1)
    assert env.trace is not None
    assert {"batch_rejected"} <= {event.type for event in env.trace.events}


def test_greedy_beats_random(page: dict[str, Any]) -> None:
    """Mean difference of paid per game, paired by scenario, with its 95% interval (Student)."""
    env = CalendarEnv("varied", limits={"max_turns_per_round": 15})
    differences: list[float] = []
    for name in list(env.scenarios)[:10]:
        options = {"scenario": name}
        greedy = rounds(
            env, lambda seen, info: page["greedy"](seen, info["action_mask"]), options=options
        )
        random = rounds(env, at_random(len(differences)), options=options)
        differences.append(sum(greedy.values()) - sum(random.values()))
    half = 2.262 * np.std(differences, ddof=1) / math.sqrt(len(differences))
    low, high = np.mean(differences) - half, np.mean(differences) + half
    print(f"greedy less random: {np.mean(differences):.1f} a game, 95% {low:.1f} to {high:.1f}")
    assert low > 0


@pytest.mark.parametrize("team", ["imap", "sd-map"])
def test_same_protocol_in_the_seats_gives_the_bytes_of_the_command(
    team: str, suite: Path, finished: Path, tmp_path: Path
) -> None:
    env = CalendarEnv(suite, team=team, players=team)
    policy, made, known = known_policy(team), tmp_path / "env.json", tmp_path / "known.json"
    for name in env.scenarios:
        env.reset(options={"scenario": name})
        for _ in env.agent_iter():
            *_, is_over, _, info = env.last()
            seen = info["observation"]
            env.step(None if is_over else policy.act(seen))
        assert env.trace is not None
        write_trace(made, env.trace)
        write_trace(known, play_game(env.scenarios[name], team))
        assert made.read_bytes() == known.read_bytes()
        if team == "imap":
            assert made.read_bytes() == (finished / f"traces/{team}/{name}.json").read_bytes()


def test_partners_play_as_in_a_mixed_team(suite: Path) -> None:
    env = CalendarEnv(suite, partners={0: "imap", 2: "candid"}, players="silent")
    assert env.possible_agents == ["agent_1"]
    rounds(env, lambda *_: 0, seed=3)
    assert env.trace is not None
    mixed = play_game(env.trace.scenario, ["imap", "silent", "candid"])
    assert env.trace.events == mixed.events


OWN, MEETINGS = "..E2.B.", [(0, 1), (0, 2)]
SECRETS = ("E.E3...", ".E..E2.")
"""The calendars of the others in two scenarios that agent 0 cannot tell apart."""


def test_agent_reaches_its_observation_and_nothing_else(tmp_path: Path) -> None:
    """In two games that differ only in others' calendars it reaches the same; then what it saw."""
    dumps = []
    for number, secret in enumerate(SECRETS):
        scenario = make_scenario([OWN, secret, "......"], MEETINGS)
        path = suite_file(tmp_path / f"{number}.jsonl", scenario)
        env = CalendarEnv(path, partners={1: "silent", 2: "silent"})
        env.reset(seed=1)
        dumped = []
        for _ in env.agent_iter():
            numbers, reward, is_over, is_cut, info = env.last()
            seen = info["observation"]
            dumped.append(reached((numbers, reward, is_over, is_cut, info)))
            assert numbers.tolist() == vector_of(seen, 3, 6).tolist()
            assert set(info) == {"observation", "action_mask"}
            assert type(seen) is Observation
            env.step(None if is_over else 0)
        dumps.append(dumped)
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"partners": {0: "imap", 1: "imap", 2: "imap"}}, "partners: they have every seat"),
        ({"partners": {7: "imap"}}, "seats: 7 is no agent"),
        ({"partners": {1: "nobody"}}, "there is no player 'nobody'"),
    ],
)
def test_mistake_is_told_in_one_line(suite: Path, arguments: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        CalendarEnv(suite, **arguments).reset()


def test_unknown_scenario_no_game_and_two_free_seats_are_refused(suite: Path) -> None:
    with pytest.raises(ConfigError, match="scenario: the suite has no 'x'"):
        CalendarEnv(suite).reset(options={"scenario": "x"})
    with pytest.raises(ConfigError, match="step: no game was begun; call reset first"):
        CalendarEnv(suite).step(0)
    with pytest.raises(ConfigError, match="they leave agent_0, agent_1; leave one seat"):
        SeatEnv(suite, partners={2: "imap"})


def test_page_plays(page: dict[str, Any]) -> None:
    assert page["env"].trace.metrics.rounds_scheduled == 5
    assert page["seat"].trace.config.team.seats[0].player == "pettingzoo"
    assert page["seat"].trace.config.team.seats[1].player == "candid"
