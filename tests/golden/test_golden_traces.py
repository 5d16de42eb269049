"""Play that changes unseen is caught here: the same games must give the same bytes."""

from itertools import zip_longest
from pathlib import Path

import orjson
import pytest

from calbench.domain.rules import RULES_VERSION
from calbench.runs.verification import verify_trace
from calbench.traces.storage import read_trace
from tests.golden.games import FOLDER, GAMES, golden_bytes
from tests.golden.regenerate import SameRulesError, regenerate

REMEDY = (
    "if play was changed on purpose, raise RULES_VERSION in calbench/domain/rules.py and run "
    "`python -m tests.golden.regenerate`"
)


@pytest.fixture(scope="module")
def played() -> dict[str, bytes]:
    return golden_bytes()


def first_difference(kept: bytes, played: bytes) -> str:
    old, new = orjson.loads(kept), orjson.loads(played)
    for index, (theirs, ours) in enumerate(zip_longest(old["events"], new["events"])):
        if theirs != ours:
            return f"event {index}: kept {theirs}, played {ours}"
    return next((f"{key} differs" for key in new if old.get(key) != new[key]), "the bytes differ")


@pytest.mark.parametrize("name", GAMES)
def test_game_gives_the_bytes_of_its_golden_trace(name: str, played: dict[str, bytes]) -> None:
    path = FOLDER / name
    kept = path.read_bytes() if path.exists() else b'{"events": []}'
    if kept != played[name]:
        pytest.fail(f"{name}: {first_difference(kept, played[name])}; {REMEDY}")


def test_every_golden_trace_belongs_to_a_game() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_golden_trace_is_verified(name: str) -> None:
    trace = read_trace(FOLDER / name)
    verify_trace(trace)
    assert trace.rules_version == RULES_VERSION


def test_golden_games_hold_success_failure_retry_and_a_prior_meeting(
    played: dict[str, bytes],
) -> None:
    text = b"".join(played.values())
    for sign in (
        b'"outcome":"scheduled"',
        b'"outcome":"no_batch"',
        b'"outcome":"inconsistent_slots"',
        b'"attempt":1,"actions":[{',
        b'"item_id":',
        b'"prior_meetings":[{"meeting_id":',
    ):
        assert sign in text


@pytest.mark.heavy
def test_regeneration_writes_missing_traces_and_then_leaves_them(
    tmp_path: Path, played: dict[str, bytes]
) -> None:
    assert regenerate(tmp_path) == list(played)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == played
    assert regenerate(tmp_path) == []


@pytest.mark.heavy
def test_regeneration_is_refused_when_bytes_differ_under_the_same_rules(
    tmp_path: Path, played: dict[str, bytes]
) -> None:
    regenerate(tmp_path)
    first, *_, last = played
    edited = played[last].replace(b'"attempt":0', b'"attempt":7', 1)
    (tmp_path / last).write_bytes(edited)
    (tmp_path / first).unlink()
    with pytest.raises(SameRulesError, match=rf"^{last} differs under the same rules version"):
        regenerate(tmp_path)
    assert (tmp_path / last).read_bytes() == edited
    assert not (tmp_path / first).exists()


@pytest.mark.heavy
def test_regeneration_replaces_traces_of_an_older_rules_version(
    tmp_path: Path, played: dict[str, bytes]
) -> None:
    regenerate(tmp_path)
    name = next(iter(played))
    version = b'"rules_version":%d'
    older = played[name].replace(version % RULES_VERSION, version % (RULES_VERSION + 7), 1)
    (tmp_path / name).write_bytes(older)
    assert regenerate(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == played[name]
