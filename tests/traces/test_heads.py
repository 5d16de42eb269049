"""The head of a trace: read from its beginning, it is that of the whole document."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.domain.canonical import canonical_json, digest
from calbench.errors import FileError
from calbench.runs.recorded import TraceHead, head_of
from calbench.scenarios.models import Scenario
from calbench.traces.models import Trace
from calbench.traces.storage import trace_bytes
from tests.traces.kept_games import game

PLACE = Path("game.json")


def expected(trace: Trace) -> TraceHead:
    """Return the head of a trace, from the trace itself."""
    scenario: Scenario = trace.scenario
    return TraceHead(
        setting=scenario.setting,
        team_id=trace.config.team.team_id,
        scenario_id=scenario.scenario_id,
        scenario_digest=digest(
            scenario.model_dump(mode="json", exclude={"oracle", "difficulty"}),
        ),
        lineup=canonical_json(
            trace.config.team.model_dump(mode="json", exclude={"team_id"}),
        ),
        rules=canonical_json(trace.config.model_dump(mode="json", exclude={"team", "replicate"})),
        replicate=trace.config.replicate,
    )


KEYS = st.sampled_from(["config", "events", "scenario", "final_state", "a"])
PARAMS = st.recursive(
    st.one_of(st.integers(-9, 9), st.text(max_size=4), st.just(',"events":[')),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(st.integers(0, 9), st.integers(0, 2), st.dictionaries(KEYS, PARAMS, max_size=3))
def test_head_is_that_of_the_trace(number: int, replicate: int, params: dict[str, object]) -> None:
    """Also if the scenario holds the keys that end it, or texts that look like them."""
    one = game(number)
    trace = one.model_copy(
        update={
            "scenario": one.scenario.updated(params=params),
            "config": one.config.updated(replicate=replicate),
        }
    )
    data = trace_bytes(trace)
    assert head_of(PLACE, data) == expected(trace)


@given(st.integers(1, 5), st.integers(0, 9), st.booleans())
def test_lineup_is_that_of_every_rotation(size: int, places: int, is_rotating: bool) -> None:
    one = game(0)
    seats = tuple(
        one.config.team.seats[0].model_copy(update={"player": f"p{place % 2}-{place // 3}"})
        for place in range(size)
    )
    team = one.config.team.model_copy(update={"seats": seats, "rotation": True})
    moved = team.rotated(places).model_copy(update={"rotation": is_rotating, "team_id": "other"})
    lineups = {
        head_of(PLACE, trace_bytes(one.model_copy(update={"config": config}))).lineup
        for config in (one.config.updated(team=team), one.config.updated(team=moved))
    }
    assert len(lineups) == (1 if is_rotating else 2)


def test_names_of_many_heads_are_one_object() -> None:
    """Ten thousand of them are in memory."""
    one, other = (head_of(PLACE, trace_bytes(game(0))).shared() for _ in range(2))
    fields = [name for name in TraceHead.__slots__ if name != "replicate"]
    assert all(getattr(one, name) is getattr(other, name) for name in fields)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"team":{"team_id"', b'"team":{"team"'),
        (b'"seats":[', b'"seat":['),
        (b'"team":{', b'"team":[],"teams":{'),
    ],
)
def test_head_without_its_fields_is_refused_by_what_a_strict_reading_says(
    old: bytes, new: bytes
) -> None:
    with pytest.raises(FileError, match=r"^game\.json: not a trace: config\.team"):
        head_of(PLACE, trace_bytes(game(0)).replace(old, new, 1))


def test_document_that_ends_early_is_refused() -> None:
    data = trace_bytes(game(0))
    with pytest.raises(FileError, match="not a complete JSON document"):
        head_of(PLACE, data[: len(data) // 2])
