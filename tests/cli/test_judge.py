"""The judge audit as a command: scripted, by a model, recorded, replayed, capped, refused."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench import evaluate, load_suite
from calbench.analysis.output import CASE_FILE, JUDGE_TABLES
from calbench.cli.judge import main
from calbench.cli.main import answer, status_of
from calbench.cli.program import Tabled, program
from calbench.cli.words import read_words
from calbench.config.composition import compose
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.transport import Transport
from calbench.metrics.judge.cases import cases_of
from calbench.runs.play import execute
from calbench.traces.catalog import trace_paths
from calbench.traces.storage import read_trace
from tests.cli.recording import PRICED, STAND_IN, failing_after, unreachable
from tests.cli.runs import SMALL, files, keys_in, rows, without_progress

pytestmark = pytest.mark.heavy

FAST = ["analysis.permutations=999"]
TABLES = {CASE_FILE, *JUDGE_TABLES}

_OTHERS = re.compile(r"^Other agents: (.*)$", re.MULTILINE)
_SLOTS = re.compile(r"^Integers for each agent: (\d+)", re.MULTILINE)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of candid speakers, who tell what they can, and of a typed team."""
    out = tmp_path_factory.mktemp("spoken") / "run"
    suite = ("suite.num_scenarios=6", "suite.num_candidates=8")
    execute(compose([*SMALL, *suite, "teams=[candid,imap]", f"out={out}"]))
    return out


def judged(out: Path, run: Path, *settings: str, transport: Transport | None = None) -> int:
    arguments = [str(run), f"out={out}", *FAST, *settings]
    if transport is None:
        return answer(["judge", *arguments])
    command = program.commands["judge"]
    assert isinstance(command, Tabled)
    words = read_words(arguments, command.keys, "RUN...")
    return status_of(lambda: main(words, transport))


def answering(asked: list[Request]) -> Transport:
    """Return a model that finds slot 0 of everybody occupied, and notes what it is asked."""

    async def ask(request: Request, _endpoint: Endpoint) -> Completion:
        asked.append(request)
        (message,) = request.messages
        others, slots = _OTHERS.search(message.content), _SLOTS.search(message.content)
        assert others
        assert slots
        vector = [3] + [0] * (int(slots[1]) - 1)
        text = json.dumps({"beliefs": dict.fromkeys(others[1].split(", "), vector)})
        usage = Usage(input_tokens=10, cached_tokens=0, output_tokens=1)
        return Completion(text=text, finish_reason="stop", usage=usage)

    return ask


def test_scripted_judge_says_so_where_it_understands_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stranger(_messages: Any, site: Any) -> str:
        said = {"type": "dm", "to": 0 if site.agent_id else 1, "content": "Selamat pagi!"}
        return json.dumps({"thinking": "", "actions": [said]})

    scenario = load_suite("varied")[0]
    mixed: list[Any] = [stranger, *["candid"] * (scenario.num_agents - 1)]
    evaluate(mixed, [scenario], out=tmp_path / "mixed")
    evaluate(mixed[0], [scenario], out=tmp_path / "alone")
    for run, is_told in (("mixed", False), ("alone", True)):
        capsys.readouterr()
        assert judged(tmp_path / f"judged-{run}", tmp_path / run) == 0
        shown = capsys.readouterr()
        assert ("texts the scripted judge understood none" in shown.err) == is_told
        assert re.search(r"judge understood \d+ of \d+ texts", shown.out)


def test_scripted_judge_and_reflection_agree_on_candid_games_well_above_chance(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(tmp_path / "out", run) == 0
    assert set(files(tmp_path / "out")) == TABLES
    (agreed,) = [
        row
        for row in rows(tmp_path / "out" / "judge_agreement.csv")
        if (row["unit"], row["statistic"]) == ("cell", "directional_agreement")
    ]
    by_chance = [
        float(row["value"])
        for row in rows(tmp_path / "out" / "judge_agreement.csv")
        if (row["unit"], row["statistic"]) == ("cell", "by_chance")
    ]
    assert (agreed["team"], agreed["judge"]) == ("candid", "scripted")
    assert float(agreed["value"]) > by_chance[0] + 0.1
    assert agreed["value_interval"] == "few"  # of six scenarios
    assert float(agreed["p_value"]) < 0.01
    said = capsys.readouterr().out
    assert "Judged by the scripted judge: fixed rules, no language model." in said
    assert "candid" in said


def test_a_second_audit_writes_the_same_bytes(run: Path, tmp_path: Path) -> None:
    assert judged(tmp_path / "one", run) == 0
    first = files(tmp_path / "one")
    assert judged(tmp_path / "one", run) == 0
    assert files(tmp_path / "one") == first
    parts = [run / "traces" / team for team in ("imap", "candid")]
    assert judged(tmp_path / "other", parts[0], str(parts[1])) == 0
    assert files(tmp_path / "other") == first


def test_what_a_killed_audit_left_is_replaced(run: Path, tmp_path: Path) -> None:
    left = tmp_path / "out" / ".facts" / ".spool" / "judged.arrow"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert judged(tmp_path / "out", run) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} - {".lock"} == TABLES


def test_a_model_is_asked_once_for_each_recipient_and_round(run: Path, tmp_path: Path) -> None:
    asked: list[Request] = []
    out = tmp_path / "out"
    assert judged(out, run, *STAND_IN, transport=answering(asked)) == 0
    cases = [case for path in trace_paths(run) for case in cases_of(read_trace(path))]
    shown = json.loads((out / CASE_FILE).read_text())["cases"]
    # Cases of equal content are one request; each has one reply on disk.
    assert len(shown) == len(cases) >= len(asked)
    assert len({request.messages for request in asked}) == len(asked)
    assert {case["reply_key"] for case in shown} == keys_in(out / "replies.sqlite")
    beliefs = pd.read_parquet(out / "judge_beliefs.parquet").astype(str).to_dict("records")
    assert {(row["judge"], row["slot"], row["delta"]) for row in beliefs} == {
        ("stand-in", "0", "3")
    }
    assert len(beliefs) == sum(len(case.case.others) for case in cases)
    # It says the same of every game, so it agrees as chance would have it, and no better.
    found = {
        row["statistic"]: row for row in rows(out / "judge_agreement.csv") if row["unit"] == "cell"
    }
    assert found["directional_agreement"]["value"] == found["by_chance"]["value"]
    assert float(found["directional_agreement"]["p_value"]) == 1


def test_a_second_run_asks_nobody(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert judged(out, run, *STAND_IN, transport=answering([])) == 0
    first = tables(out)
    assert judged(out, run, *STAND_IN, transport=unreachable) == 0
    assert judged(out, run, *STAND_IN, "replies.mode=replay", transport=unreachable) == 0
    assert tables(out) == first
    assert "0 replies paid for" in capsys.readouterr().out


def tables(out: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(out).items() if name in TABLES}


def test_what_came_before_a_fault_is_kept_and_the_same_command_goes_on(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, asked = tmp_path / "out", list[Request]()
    assert judged(out, run, *STAND_IN, transport=failing_after(5, answering(asked))) == 2
    games = len([*trace_paths(run)])
    said = rf": \d of {games} games are judged; the replies that came are kept; the same command re"
    assert re.search(said, error(capsys))
    assert not (set(files(out)) & TABLES)
    kept = keys_in(out / "replies.sqlite")
    assert len(kept) == len(asked) == 5
    again: list[Request] = []
    assert judged(out, run, *STAND_IN, transport=answering(again)) == 0
    assert not {r.messages for r in again} & {r.messages for r in asked}


def test_a_model_without_its_key_is_refused_before_anything_is_made(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyed = ("model=gpt-5.4-mini", "model.api_key_env=OPENAI_API_KEY")
    assert judged(tmp_path / "out", run, *keyed) == 2
    assert "the environment variable OPENAI_API_KEY is not set" in error(capsys)
    assert not (tmp_path / "out").exists()


def test_the_budget_holds(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Request] = []
    out = tmp_path / "out"
    settings = (*PRICED, "budget.max_usd=0.006")
    assert judged(out, run, *settings, transport=answering(asked)) == 2
    assert "budget" in error(capsys)
    cases = sum(len(cases_of(read_trace(path))) for path in trace_paths(run))
    assert len(asked) < cases


def error(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line of an error; the collector of garbage may speak of earlier tests."""
    said = without_progress(capsys.readouterr().err)
    (line,) = [each for each in said if each.startswith("error: ")]
    return line
