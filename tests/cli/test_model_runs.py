"""Runs with models: recorded, replayed, cut short, capped, interrupted, resumed."""

from pathlib import Path

import pytest

from calbench import compare, read_run
from calbench.cli.run import standing_tables
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.errors import ReplayMissError
from calbench.runs.play import execute
from calbench.runs.verification import verify_file
from calbench.traces.events import GameHalted
from calbench.traces.storage import read_trace
from tests.cli.recording import PRICED, STAND_IN, answering, failing_after, recording, unreachable
from tests.cli.runs import files, keys_in

pytestmark = pytest.mark.heavy

FEW = ("suite.num_scenarios=3", "suite.num_candidates=3", "games_at_once=2")


def run_spec(out: Path, *overrides: str) -> RunSpec:
    return recording(str(out), *FEW, *overrides)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recorded") / "run"
    execute(run_spec(out), answering)
    return out


def results(out: Path) -> dict[str, bytes]:
    return {**files(out / "traces"), **files(out / "tables")}


def test_recorded_run_replays_to_the_same_bytes_and_asks_nobody(
    recorded: Path, tmp_path: Path
) -> None:
    replies = (f"replies.path={recorded / 'replies.sqlite'}", "replies.mode=replay")
    summary = execute(run_spec(tmp_path / "again", *replies), unreachable)
    assert results(tmp_path / "again") == results(recorded)
    assert (summary.totals.calls, summary.halted) == (0, 0)
    assert summary.totals.replayed >= len(keys_in(recorded / "replies.sqlite"))
    for path in sorted((recorded / "traces").rglob("*.json")):
        verify_file(path)


def test_replay_stops_at_a_miss_and_names_it(recorded: Path, tmp_path: Path) -> None:
    replies = (f"replies.path={recorded / 'replies.sqlite'}", "replies.mode=replay")
    changed = run_spec(tmp_path / "again", *replies, "limits.max_turns_per_round=7")
    with pytest.raises(ReplayMissError) as miss:
        execute(changed, unreachable)
    line = str(miss.value)
    assert "\n" not in line
    assert "model stand-in, game " in line
    assert "round 0, turn 0" in line
    assert "the nearest recorded request differs: " in line
    assert "record it with: the same command with replies.mode=record" in line
    assert not list((tmp_path / "again" / "traces").rglob("*.json"))


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(later, marks=pytest.mark.slow) for later in (16, 59))]
)
def test_game_excluded_by_a_provider_fault_is_recorded_left_out_and_played_on(
    number: int, recorded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    first = execute(run_spec(out), failing_after(number))
    assert first.halted >= 1
    halted = {}
    for path in sorted((out / "traces").rglob("*.json")):
        verify_file(path)
        trace = read_trace(path)
        if trace.is_halted:
            (event,) = [event for event in trace.events if isinstance(event, GameHalted)]
            halted[path] = event.reason
    assert len(halted) == first.halted
    assert set(halted.values()) == {"provider_fault"}
    (why,) = first.halts
    assert why.startswith("provider_fault: model stand-in: ")
    rows = (out / "tables" / "outcomes.csv").read_text().splitlines()
    excluded = dict(zip(rows[0].split(","), rows[1].split(","), strict=True))["games_excluded"]
    assert int(excluded) == first.halted
    written = keys_in(out / "replies.sqlite")

    second = execute(run_spec(out), answering)

    assert second.halted == 0
    assert second.totals.calls == len(keys_in(out / "replies.sqlite")) - len(written)
    assert results(out) == results(recorded)


def test_capped_run_stops_below_its_cap_and_goes_on_with_a_greater_one(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = execute(run_spec(out, *PRICED, "budget.max_usd=0.015"), answering)
    assert first.halted >= 1
    assert 0 < first.totals.spent_usd <= 0.015
    reasons = {
        event.reason
        for path in (out / "traces").rglob("*.json")
        for event in read_trace(path).events
        if isinstance(event, GameHalted)
    }
    assert reasons == {"budget_stop"}

    second = execute(run_spec(out, *PRICED, "budget.max_usd=50"), answering)

    assert second.halted == 0
    assert first.totals.spent_usd < second.totals.spent_usd <= 50
    whole = execute(run_spec(tmp_path / "whole", *PRICED), answering)
    assert results(out) == results(tmp_path / "whole")
    assert second.totals.spent_usd == pytest.approx(whole.totals.spent_usd)


def test_live_run_keeps_no_replies_and_plays_the_same(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "live"
    execute(run_spec(out, "replies.mode=live"), answering)
    assert not list(out.rglob("*.sqlite"))
    assert results(out) == results(recorded)


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (("teams=[my-model-dspy,my-model]", "prompts.version=v9"), "v9"),
        (("label_bank=v9",), "there is no label bank 'v9'"),
    ],
    ids=["unknown prompts", "unknown bank"],
)
def test_run_is_refused_in_one_line(overrides: tuple[str, ...], line: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=line) as refusal:
        execute(run_spec(tmp_path / "run", *overrides), unreachable)
    assert type(refusal.value).__module__ == "calbench.errors"
    assert "\n" not in str(refusal.value)


def test_rotating_team_moves_on_by_one_seat_and_tables_follow_the_players(tmp_path: Path) -> None:
    out = tmp_path / "run"
    team = "teams=[my-model-among-protocols]"
    execute(run_spec(out, team, "limits.max_turns_per_round=3", "reflection=false"), answering)
    seated = [
        [seat.player for seat in read_trace(path).config.team.seats].index("stand-in")
        for path in sorted((out / "traces").rglob("*.json"))
    ]
    assert seated == [0, 1, 2]
    rows = (out / "tables" / "players.csv").read_text().splitlines()
    games = {row.split(",")[1]: row.split(",")[2] for row in rows[1:]}
    assert games == {"stand-in": "3", "imap": "3"}


def test_variant_stands_in_configuration_prompt_and_player() -> None:
    spec = compose(["+experiment=adversarial", "model=gpt-5.4-mini"])
    probing = spec.teams[1].seats[0]
    assert probing.player == "gpt-5.4-mini.red-team"
    assert probing.variant is not None
    assert (probing.variant.name, probing.variant.version) == ("red-team", "v2")
    assert probing.variant.is_nosy
    assert spec.limits.max_turns_per_round == 6
    assert spec.limits.dm_cap == 100


def test_last_lines_say_how_a_model_stands_beside_published_teams(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same games of a protocol under a model's name are compared as identical with its own."""
    words = ["+experiment=varied", "teams=[my-model]", "subset=6", f"out={tmp_path / 'run'}"]
    spec = compose([*words, *STAND_IN, "preflight=false"])
    execute(spec, answering)
    (table,) = standing_tables(spec)
    names, _, _, differences, _, verdicts, scenarios = (list(c.cells) for c in table.columns)
    assert {"imap", "sd-map", "candid"} <= set(names)
    assert {*scenarios} == {"6"}
    means = read_run(tmp_path / "run").to_frame().iloc[0]
    assert f"{means['adjusted_excess_cost']:.2f}" == next(iter(table.columns[2].cells))
    compared = compare("published:varied", tmp_path / "run", a="imap", b="stand-in").to_frame()
    (own,) = compared[compared["measure"] == "adjusted_excess_cost"].to_dict("records")
    assert differences[names.index("imap")] == f"{own['difference']:+.2f}"
    assert str(verdicts[names.index("silent")]).startswith("not tested (degenerate")
    assert "No published team" not in capsys.readouterr().out


def test_run_on_other_scenarios_stands_beside_nobody(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(standing_tables(run_spec(recorded))) == []
    assert capsys.readouterr().out.startswith("No published team played these scenarios")
