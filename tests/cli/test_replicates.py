"""Several games of one team on one scenario: asked anew, kept apart, averaged within it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import calbench
from calbench.agents.scripted import scripted_speaker
from calbench.analysis.summary.runs import RunTables
from calbench.analysis.tables import TABLES
from calbench.cli.judge import judge_runs
from calbench.cli.verify import verify_all as verify
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.replies.record import named
from calbench.llm.transport import Transport
from calbench.runs.measured import compare_runs, rescore
from calbench.runs.play import execute
from calbench.traces.storage import read_trace
from tests.cli.conftest import Command
from tests.cli.recording import SITE, recording
from tests.cli.runs import SMALL, files, rows

pytestmark = pytest.mark.heavy

STYLES = ("candid", "guarded", "oversharer", "guarded")
"""Who answers in a model's place, by replicate: games of one team on one scenario differ."""

FEW = ("suite.num_scenarios=3", "suite.num_candidates=3", "teams=[my-model,imap]")


def run_spec(out: Path, *overrides: str) -> RunSpec:
    return recording(str(out), *FEW, *overrides)


def answering(asked: "Counter[tuple[int, str]]") -> Transport:
    """Return a model whose answers depend on the replicate."""

    async def ask(request: Request, _endpoint: Endpoint) -> Completion:
        replicate = request.spec.replicate
        asked[replicate, named(request).key] += 1
        style = STYLES[replicate]
        completion = await scripted_speaker(style, 0).complete(request, SITE)
        usage = Usage(input_tokens=len(request.messages), cached_tokens=0, output_tokens=1)
        return Completion(text=completion.text, finish_reason="stop", usage=usage)

    return ask


def games(out: Path) -> dict[str, bytes]:
    return files(out / "traces")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("once") / "run"
    execute(run_spec(out), answering(Counter()))
    return out


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory, once: Path) -> Path:
    """A run of one game on each scenario that became one of three."""
    out = tmp_path_factory.mktemp("grown") / "run"
    asked: Counter[tuple[int, str]] = Counter()
    execute(run_spec(out), answering(asked))
    assert files(out / "tables") == files(once / "tables")
    summary = execute(run_spec(out, "replicates=3"), answering(asked))
    assert (summary.played, summary.kept) == (6, 6)
    assert set(asked.values()) == {1}
    assert {replicate for replicate, _ in asked} == {0, 1, 2}
    return out


def test_first_game_is_the_game_without_the_key_and_others_are_beside_it(
    once: Path, grown: Path
) -> None:
    assert games(once).items() <= games(grown).items()
    assert sorted(games(grown).keys() - games(once).keys()) == [
        f"stand-in/taste-varied-{n:03d}.r{k}.json" for n in range(3) for k in (1, 2)
    ]
    ids = [read_trace(path).game_id for path in sorted((grown / "traces").rglob("*.json"))]
    assert len(set(ids)) == len(ids) == 12
    assert len(set(games(grown).values())) == 12
    assert verify([grown]) == 0


def test_run_says_who_plays_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(compose([*SMALL, "teams=[imap,silent]", f"out={tmp_path / 'run'}", "replicates=2"]))
    said = capsys.readouterr().err
    assert "replicates=2: played once, as no game could differ: imap, silent\n" in said
    assert len(games(tmp_path / "run")) == 6


def test_models_of_their_own_replicate_count_from_it(tmp_path: Path) -> None:
    asked: Counter[tuple[int, str]] = Counter()
    one = ("teams=[my-model]", "subset=1", "replicates=2")
    execute(run_spec(tmp_path / "run", *one, "model.replicate=2"), answering(asked))
    assert {replicate for replicate, _ in asked} == {2, 3}


def test_own_code_plays_every_replicate(tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(compose([*SMALL, "teams=[example-agent]", "subset=1", "replicates=2", f"out={out}"]))
    assert sorted(games(out)) == [
        "example-agent/taste-varied-000.json",
        "example-agent/taste-varied-000.r1.json",
    ]
    assert verify([out]) == 0


# --- tables


def test_every_row_of_every_table_has_its_own_key(grown: Path) -> None:
    run = calbench.read_run(grown)
    assert len(run.tables) > 30
    for name in run.tables:
        frame = run.table(name)
        if frame.attrs["key"]:
            assert not frame.duplicated(frame.attrs["key"]).any(), name
    played = run.games()
    assert played.attrs["key"] == ["setting", "scenario_id", "replicate", "team"]
    mine = played[played["team"] == "stand-in"]
    assert mine["replicate"].tolist() == [0, 1, 2] * 3
    assert run.messages()["game_id"].nunique() == run.events()["game_id"].nunique() == 12


def test_tables_over_several_runs_have_the_first_game_of_each(once: Path, grown: Path) -> None:
    alone, many = (RunTables("mine", out / "tables") for out in (once, grown))
    for path in ("regret_by_game.csv", "leaking_messages.csv"):
        columns = [column.name for column in TABLES[path].columns]
        found, expected = (run.table(path)[columns] for run in (many, alone))
        pd.testing.assert_frame_equal(found.reset_index(drop=True), expected)


def test_players_of_all_replicates_are_one_player(grown: Path) -> None:
    found = {row["player"]: row["games"] for row in rows(grown / "tables" / "players.csv")}
    assert found == {"stand-in": "9", "imap": "3"}


Value = Callable[[Mapping[str, str]], Fraction]


def excess(row: Mapping[str, str]) -> Fraction:
    return Fraction(row["excess_cost"])


def messages(row: Mapping[str, str]) -> Fraction:
    """Return messages per scheduled meeting; every agent of these games has one."""
    return Fraction(int(row["messages_sent"]), int(row["scheduled"]))


def averaged(agent_games: list[dict[str, str]], team: str, value_of: Value) -> Fraction:
    """Return a team's mean as it is defined: replicates first, then agents of all scenarios."""
    games_of: dict[str, dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    for row in agent_games:
        if row["team"] == team:
            games_of[row["scenario_id"]][row.get("replicate", "0")].append(value_of(row))
    total = count = Fraction(0)
    for replicates in games_of.values():
        values = [value for own in replicates.values() for value in own]
        total += sum(values, Fraction(0)) / len(replicates)
        count += Fraction(len(values), len(replicates))
    return total / count


def test_scenarios_weigh_the_same_however_many_of_their_games_are_scored(tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(run_spec(out, "replicates=3"), answering(Counter()))
    lost = {"taste-varied-000.r1.json", "taste-varied-000.r2.json", "taste-varied-001.r1.json"}
    for name in lost:
        (out / "traces" / "stand-in" / name).unlink()
    rescore([out], tmp_path / "tables", ["stand-in"], compose([]))
    agent_games = rows(tmp_path / "tables" / "agent_games.csv")
    games_of_scenario = Counter(
        row["scenario_id"] for row in agent_games if row["team"] == "stand-in"
    )
    assert len(set(games_of_scenario.values())) == 3
    board = {row["team"]: row for row in rows(tmp_path / "tables" / "leaderboard.csv")}
    assert (board["stand-in"]["games"], board["stand-in"]["scenarios"]) == ("6", "3")
    counted = rows(tmp_path / "tables" / "agent_game_counts.csv")
    of_model: Mapping[str, str] = {
        row["measure"]: row["agent_games"] for row in counted if row["team"] == "stand-in"
    }
    assert int(of_model["excess_cost"]) == sum(games_of_scenario.values())
    for team in ("stand-in", "imap"):
        for measure, value in (("excess_cost", excess), ("messages", messages)):
            expected = float(averaged(agent_games, team, value))
            assert float(board[team][measure]) == pytest.approx(expected, abs=6e-5)
    every_game = [messages(row) for row in agent_games if row["team"] == "stand-in"]
    pooled = float(sum(every_game) / len(every_game))
    assert abs(float(board["stand-in"]["messages"]) - pooled) > 0.01


# --- readers


def test_tables_from_the_traces_alone_are_those_of_the_run(grown: Path, tmp_path: Path) -> None:
    spec = run_spec(grown, "replicates=3")
    assert rescore([grown], tmp_path / "tables", ["stand-in", "imap"], spec) == 12
    assert files(tmp_path / "tables") == files(grown / "tables")


def test_replicates_compare_with_single_games(once: Path, grown: Path) -> None:
    compared = compare_runs(grown, once, compose([]), team_a="stand-in", team_b="imap")
    found = compared.differences.set_index("measure").loc["excess_cost"]
    agent_games = rows(grown / "tables" / "agent_games.csv")
    model, imap = (averaged(agent_games, team, excess) for team in ("stand-in", "imap"))
    assert found["difference"] == pytest.approx(float(imap - model))
    assert (found["scenarios"], found["agent_games_a"], found["agent_games_b"]) == (3, 45, 15)


def test_judge_reads_every_replicate(grown: Path, tmp_path: Path) -> None:
    judge_runs([grown], tmp_path / "judge", compose([]))
    told = set(pd.read_parquet(tmp_path / "judge/judge_beliefs.parquet")["trace_path"])
    assert {"stand-in/taste-varied-000.json", "stand-in/taste-varied-000.r1.json"} <= told


def test_matchmake_reads_every_replicate(command: Command, grown: Path) -> None:
    ended = command("matchmake", str(grown), "entrants=gpt-5.4-mini")
    assert "two games are called" not in ended.err
    assert "gpt-5.4-mini" in ended.out or "stand-in" in ended.err
