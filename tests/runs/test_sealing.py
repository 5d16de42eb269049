"""A sealed suite is what was committed to, and a player that knows the public games stands out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calbench import load_suite, play_game, write_trace
from calbench.config.composition import compose
from calbench.domain.actions import PASS, Reschedule, Schedule, Turn
from calbench.domain.calendars import Calendar
from calbench.domain.observations import DECISION, Observation
from calbench.engine.seating import seat_policies, team_of
from calbench.engine.state import initial_state
from calbench.protocols.base import Policy
from calbench.runs.measured import compare_splits
from calbench.scenarios.models import Scenario
from calbench.scenarios.sealing import commitment_of, problems, seal
from calbench.stats.gaps import gap_of
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import GameConfig, Limits
from tests.cli.conftest import Command, command  # noqa: F401 - a fixture
from tests.cli.runs import Ended

TASTE = compose([]).suite
CONFIG = GameConfig(team=team_of("imap"), channels=(), limits=Limits())
MEASURES = ("adjusted_excess_cost", "excess_cost")


def seen(agent: int, calendar: Calendar) -> str:
    return f"{agent} {[item and (item.item_id, item.local_cost) for item in calendar]}"


class Knowing:
    """Knows the best schedule of each public game by its own calendar; elsewhere it is honest."""

    def __init__(self, public: Sequence[Scenario], honest: Policy) -> None:
        self._known = {
            seen(agent, calendar): scenario
            for scenario in public
            for agent, calendar in enumerate(initial_state(scenario, CONFIG).calendars)
        }
        self._honest = honest
        self._game: dict[int, Scenario | None] = {}

    def act(self, observation: Observation) -> Turn:
        agent, calendar = observation.agent_id, observation.calendar
        if agent not in self._game:
            self._game[agent] = self._known.get(seen(agent, calendar))
        scenario = self._game[agent]
        if scenario is None or scenario.oracle is None or scenario.oracle.best is None:
            return self._honest.act(observation)
        if observation.phase is not DECISION:
            return PASS
        slots = scenario.oracle.best.slots
        slot = slots[str(observation.meeting.meeting_id)]
        moves = []
        if (item := calendar[slot]) is not None:
            free = [each for each, held in enumerate(calendar) if held is None]
            own = {slots[str(each.meeting_id)] for each in scenario.meetings
                   if agent in each.participants}  # fmt: skip
            to = next((each for each in free if each not in own), free[0])
            moves.append(Reschedule(item.item_id, slot, to, "It gives way."))  # type: ignore[arg-type]
        return Turn((*moves, Schedule(observation.meeting.meeting_id, slot)))  # type: ignore[arg-type]


def honest(name: str, scenario: Scenario) -> Policy:
    return seat_policies(team_of(name), scenario.num_agents)[0]


def written(folder: Path, public: Sequence[Scenario], games: Sequence[Scenario]) -> Path:
    for scenario in games:
        knowing = Knowing(public, honest("sd-map", scenario))
        for team in ("imap", "sd-map", "dsm-private"):
            write_trace(folder / team / f"{scenario.scenario_id}.json", play_game(scenario, team))
        trace = play_game(scenario, [knowing] * scenario.num_agents, team_id="knowing")
        path = folder / "knowing" / f"{scenario.scenario_id}.json"
        write_trace(path, trace)
    return folder


@pytest.mark.heavy
def test_gap_of_a_player_that_knows_the_public_games_is_found_and_no_honest_one(
    tmp_path: Path,
) -> None:
    public = load_suite("varied")
    spec = compose(["suite=varied", "measure.bits=false"])
    _, _, sealed = seal(spec.suite, 20_391)
    first = written(tmp_path / "public", public, public)
    second = written(tmp_path / "sealed", public, sealed)
    rows = compare_splits(first, second, spec, MEASURES, beside="imap")
    assert set(rows["scenarios_public"]) == {45}
    knowing, *others = (rows[rows["team"] == team] for team in ("knowing", "sd-map", "dsm-private"))
    assert knowing.set_index("measure").loc["excess_cost", "public"] == 0
    assert (knowing["gap_low"] > 0).all()
    assert knowing["p"].max() < 0.001
    for each in others:
        assert len(each) == len(MEASURES)
        assert (each["gap_low"] < 0).all()
        assert (each["gap_high"] > 0).all()
        assert each["p"].min() > 0.05
    alone = compare_splits(first, second, spec, MEASURES, team="knowing")
    assert alone["p"].max() < 0.001


@pytest.fixture(scope="module")
def sealed() -> tuple[Any, Any, tuple[Scenario, ...]]:
    return seal(TASTE, None)


def test_commitment_tells_nothing_and_opens(sealed: tuple[Any, Any, Any]) -> None:
    told, secret, scenarios = sealed
    published = told.model_dump_json()
    assert secret.salt not in published
    assert "seed" not in published
    assert told.setting == f"{TASTE.setting}-sealed"
    assert list(problems(told, secret, scenarios)) == []
    assert {each.scenario_id[-10:-4] for each in scenarios} == {"sealed"}


def test_secrets_differ_and_a_seed_draws_the_same_again() -> None:
    first, second = seal(TASTE, 7), seal(TASTE, 7)
    assert first[2] == second[2]
    assert first[1].salt != second[1].salt
    assert first[0].commitment != second[0].commitment


def test_what_is_not_what_was_sealed_is_named(sealed: tuple[Any, Any, Any]) -> None:
    told, secret, scenarios = sealed
    first, *rest = scenarios
    others = seal(TASTE, 5)[2]
    salt = secret.model_copy(update={"salt": "0" * 64})
    edited = first.updated(seed=first.seed + 1)
    cases = {
        "is another than was sealed": (told, secret, (edited, *rest)),
        "in another order, from": (told, secret, (*rest, first)),
        f"{len(rest)} scenarios were opened, {len(scenarios)} sealed": (told, secret, rest),
        "the salt is another": (told, salt, scenarios),
        "or seed and scenarios are": (told, secret.model_copy(update={"seed": 5}), others),
        "draws other scenarios from this seed": (
            told.model_copy(update={"commitment": commitment_of(secret.salt, others)}),
            secret,
            others,
        ),
        "setting: the commitment says ../x, and the recipe draws": (
            told.model_copy(update={"setting": "../x"}),
            secret,
            scenarios,
        ),
        "scenarios: the commitment says 44, and the recipe draws": (
            told.model_copy(update={"scenarios": 44}),
            secret,
            scenarios,
        ),
    }
    for line, given in cases.items():
        (found,) = problems(*given)
        assert line in found


def test_command_keeps_the_secret_apart_and_checks_it(tmp_path: Path, command: Any) -> None:  # noqa: F811
    out, private = tmp_path / "public", tmp_path / "private"
    words = [f"out={out}", f"private={private}", "suite=taste"]
    assert command("seal", "draw", *words).status == 0
    assert [each.name for each in out.iterdir()] == ["commitment.json"]
    assert {each.name for each in private.iterdir()} == {".gitignore", "secret.json", "suite.jsonl"}
    assert (private / "secret.json").stat().st_mode & 0o077 == 0
    assert command("seal", "check", str(out), str(private)).status == 0
    ended = command("seal", "draw", *words)
    assert (ended.status, "is not empty; name a new folder" in ended.err) == (2, True)
    inside = [f"out={tmp_path / 'a'}", f"private={tmp_path / 'a' / 'b'}"]
    assert "would be published" in command("seal", "draw", *inside).err
    lines = (private / "suite.jsonl").read_text().splitlines(keepends=True)
    (private / "suite.jsonl").write_text("".join(reversed(lines)))
    ended = command("seal", "check", str(out), str(private))
    assert (ended.status, "in another order" in ended.err) == (1, True)
    secret = json.loads((private / "secret.json").read_text())
    (private / "secret.json").write_text(json.dumps({**secret, "salt": "x"}))
    ended = command("seal", "check", str(out), str(private))
    assert (ended.status, "secret.json" in ended.err) == (2, True)


def refused(ended: Ended, *parts: str) -> None:
    """Assert that a command ended in one line that has all parts."""
    assert ended.status == 2
    (line,) = ended.error_lines
    assert all(part in line for part in parts), line


def test_damaged_commitment_and_secret_are_named(tmp_path: Path, command: Command) -> None:  # noqa: F811
    out, private = tmp_path / "public", tmp_path / "private"
    assert command("seal", "draw", f"out={out}", f"private={private}", "suite=taste").status == 0
    for path in (out / "commitment.json", private / "secret.json"):
        whole = path.read_bytes()
        for data in (b"{", b"", b"\xff\xfe", b"[" * 100_000):
            path.write_bytes(data)
            refused(command("seal", "check", str(out), str(private)), str(path), "Invalid JSON")
        path.write_bytes(whole.replace(b"{", b'{"schema_version": 1,', 1))
        refused(command("seal", "check", str(out), str(private)), str(path), "is given twice")
        path.write_bytes(whole)
    path = out / "commitment.json"
    whole = path.read_bytes()
    for good, bad in ((b'"sampled"', b'"drawn"'), (b'"num_slots": 16', b'"num_slots": 3')):
        path.write_bytes(whole.replace(good, bad))
        refused(command("seal", "check", str(out), str(private)), f"{path}: recipe: ")


def test_draw_writes_into_both_places_or_none(tmp_path: Path, command: Command) -> None:  # noqa: F811
    (tmp_path / "file").touch()
    there, none = tmp_path / "new" / "folder", tmp_path / "file" / "x"
    for out, private in ((there, none), (none, there)):
        words = [f"out={out}", f"private={private}", "suite=taste"]
        refused(command("seal", "draw", *words), str(none), "choose another folder")
        assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_secret_seed_is_that_of_its_own_key(tmp_path: Path, command: Command) -> None:  # noqa: F811
    words = [f"out={tmp_path / 'a b'}", f"private={tmp_path / 'c d'}", "suite=taste"]
    refused(command("seal", "draw", *words, "suite.seed=3"), "suite.seed: ", "seed=N")
    for suite, seeds in (("varied", 2**32), ("taste", 2**53)):
        ended = command("seal", "draw", *words[:2], f"suite={suite}", f"seed={seeds}")
        refused(ended, f"seed: a whole number from 0 to {seeds - 1}, got")
    assert not any(tmp_path.iterdir())
    ended = command("seal", "draw", *words, f"seed={2**53 - 1}")
    assert json.loads((tmp_path / "c d" / "secret.json").read_text())["seed"] == 2**53 - 1
    assert f" 'suite.path={tmp_path / 'c d' / 'suite.jsonl'}' " in ended.out


@pytest.mark.heavy
def test_gap_names_teams_and_replaces_its_own_tables_alone(
    tmp_path: Path,
    command: Command,  # noqa: F811
) -> None:
    public, sealed = tmp_path / "public", tmp_path / "sealed"
    out, private = tmp_path / "told", tmp_path / "kept"
    command("seal", "draw", f"out={out}", f"private={private}", "suite=taste")
    command("suite=taste", "teams=[imap,silent]", f"out={public}")
    command(f"suite.path={private / 'suite.jsonl'}", "teams=[imap,silent]", f"out={sealed}")
    words = ["seal", "gap", str(public), str(sealed)]
    for name in ("notes.md", "notes.csv"):
        notes = tmp_path / name
        notes.write_text("precious\n")
        refused(command(*words, f"out={notes}"), str(notes), "is no table of gaps")
        assert notes.read_text() == "precious\n"
    for _ in range(2):
        assert command(*words, f"out={tmp_path / 'gaps.csv'}").status == 0
    (sealed / "traces" / "silent").rename(tmp_path / "silent")
    refused(command(*words), "no team but imap", "(imap, silent; imap)")
    (public / "traces" / "imap").rename(tmp_path / "imap")
    refused(command(*words), "no team is in both runs (silent; imap)")


def test_level_and_power_of_the_gap() -> None:
    chance, spec = np.random.default_rng(1), AnalysisSpec(permutations=199)
    strata = (["easy", "medium", "hard"] * 15,) * 2
    missed = found = 0
    for _ in range(200):
        first, second = chance.gamma(2, 1, 45), chance.gamma(2, 1, 45)
        same, other = (gap_of(first, each, spec, strata) for each in (second, second + 1))
        missed += not same.low <= 0 <= same.high
        found += other.p_value < 0.05
        assert same.strata == 3
    assert missed <= 16  # 5% of 200, and two standard errors
    assert found >= 160


def test_gap_by_hand() -> None:
    first, second = np.array([0.0, 2, 4, 6]), np.array([1.0, 3, 5, 7, 9, 11])
    gap = gap_of(first, second, AnalysisSpec())
    assert gap.value == pytest.approx(3)
    error = (20 / 3 / 4 + 14 / 6) ** 0.5
    freedom = error**4 / ((20 / 12) ** 2 / 3 + (14 / 6) ** 2 / 5)
    from scipy.stats import t

    half = t.ppf(1 - 0.8 * 0.025, int(freedom)) * error
    assert (gap.low, gap.high) == pytest.approx((3 - half, 3 + half))
    assert np.isnan(gap_of(first[:2], second, AnalysisSpec()).low)
    assert np.isnan(gap_of(np.zeros(9), second, AnalysisSpec()).low)
    assert gap_of(np.zeros(9), second + 20, AnalysisSpec()).p_value < 0.001
