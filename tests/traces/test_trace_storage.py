"""Trace files: written whole, read exactly, refused in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from calbench import play_game
from calbench.domain.actions import Schedule
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.observations import Phase
from calbench.domain.usage import Usage
from calbench.errors import FileError
from calbench.traces.events import InvalidToolCall, Reflection, ReplyNote
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader, read_trace, trace_bytes, write_trace
from tests.cli.runs import edited, places
from tests.effort import examples
from tests.factories import as_written, make_scenario

SCENARIO = make_scenario(
    ["..E2.", "E...", ".B..", "...E3"], [(0, 1, 2), (3, 1)], prior=[((0, 1), 1)]
)
TRACE = play_game(SCENARIO, "imap")
BYTES = trace_bytes(TRACE)
DOCUMENT: dict[str, Any] = json.loads(BYTES)


def refusal(path: Path, data: bytes) -> str:
    """Return the one line with which a file is refused, without its place."""
    path.write_bytes(data)
    with pytest.raises(FileError) as caught:
        read_trace(path)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 2000
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def changed(*place: str | int, value: Any) -> bytes:
    """Return the trace's file with one value changed; a new key is added."""
    return edited(BYTES, (place, value))


def without(*place: str | int) -> bytes:
    """Return the trace's file without a key."""
    document: Any = json.loads(BYTES)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return as_written(document)


def test_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    size = write_trace(tmp_path / "trace.json", TRACE)
    assert (tmp_path / "trace.json").read_bytes() == BYTES
    assert size == len(BYTES)
    read = read_trace(tmp_path / "trace.json")
    assert read == TRACE
    assert trace_bytes(read) == BYTES


def test_trace_has_the_bytes_that_its_models_give() -> None:
    """Its events are written by another library than the rest."""
    named = TRACE.scenario.updated(params={"events": [], "final_state": {"events": "{}"}})
    note = ReplyNote(
        round=0,
        phase=Phase.CHEAP_TALK,
        agent_id=AgentId(0),
        kind="not_json",
        detail=',"final_state":\x00\x7f\u2028\N{GRINNING FACE}"\\/',
    )
    believed = Reflection(
        round=0,
        agent_id=AgentId(0),
        prompt=None,
        delta_by_target={"1": (-3, 0)},
        expected_by_target={"1": (-0.0, 1e-7, 1e16, 0.1 + 0.2)},
        usage=Usage(input_tokens=1, cached_tokens=0, output_tokens=2),
        reply_keys=("a",),
    )
    huge = InvalidToolCall(
        round=0,
        phase=Phase.CHEAP_TALK,
        agent_id=AgentId(0),
        action=Schedule(MeetingId(1), Slot(2**70)),
        reason="outside",
    )
    for events in ((), (note, believed), (note, huge, believed)):
        trace = TRACE.model_copy(update={"scenario": named, "events": events})
        assert trace_bytes(trace) == trace.model_dump_json().encode() + b"\n"


def test_trace_folder_is_made_and_the_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "trace.json"
    write_trace(path, play_game(SCENARIO, "silent"))
    write_trace(path, TRACE)
    assert path.read_bytes() == BYTES
    assert [file.name for file in path.parent.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.999])
def test_truncated_trace_is_refused(tmp_path: Path, share: float) -> None:
    data = BYTES[: int(share * (len(BYTES) - 2))]
    assert refusal(tmp_path / "t.json", data).startswith("not a complete JSON document (")


@pytest.mark.parametrize("place", [0, 700, len(BYTES) - 3])
def test_byte_that_is_no_letter_is_named(tmp_path: Path, place: int) -> None:
    data = BYTES[:place] + b"\xff" + BYTES[place + 1 :]
    assert refusal(tmp_path / "t.json", data) == f"byte {place + 1} is not UTF-8"


@pytest.mark.parametrize("data", [b"[]", b"null", b"7", b'"x"', b"{}", b'{"a": 1}'])
def test_document_that_is_no_trace_is_refused(tmp_path: Path, data: bytes) -> None:
    assert refusal(tmp_path / "t.json", data) == "not a trace: schema_version is missing"


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        (2, "2"),
        (0, "0"),
        (True, "True"),
        (1.0, "1.0"),
        ("1", "'1'"),
        (None, "None"),
        ([1], "a list"),
        ({"a": 1}, "a dict"),
        ("9" * 500, "'" + "9" * 56 + "..."),
        ("\n\u202e", "'\\n\\u202e'"),
    ],
)
def test_other_schema_version_is_refused_with_the_one_that_is_read(
    tmp_path: Path, version: Any, shown: str
) -> None:
    expected = f"schema_version is {shown}, this version of calbench reads 1"
    assert refusal(tmp_path / "t.json", changed("schema_version", value=version)) == expected


def test_schema_version_is_looked_at_before_anything_else(tmp_path: Path) -> None:
    data = b'{"schema_version": 2, "whatever": 1}'
    assert refusal(tmp_path / "t.json", data).startswith("schema_version is 2,")


TURN = next(i for i, e in enumerate(DOCUMENT["events"]) if e["type"] == "turn_end" and e["actions"])

UNKNOWN_KEYS: list[tuple[str | int, ...]] = [
    (),
    ("scenario",),
    ("scenario", "calendars", 0, 2),
    ("config",),
    ("config", "team"),
    ("config", "team", "seats", 0),
    ("config", "limits"),
    ("events", 0),
    ("events", TURN),
    ("events", TURN, "actions", 0),
    ("events", TURN, "actions", 0, "content"),
    ("final_state",),
    ("final_state", "round_outcomes", 0),
    ("metrics",),
]

MISSING_KEYS: list[tuple[str | int, ...]] = [
    ("game_id",),
    ("rules_version",),
    ("started_at",),
    ("scenario", "num_slots"),
    ("config", "limits"),
    ("events", 0, "seed"),
    ("events", 0, "type"),
    ("final_state", "cost_by_agent"),
    ("metrics", "messages"),
]

OTHER_VALUES: list[tuple[tuple[str | int, ...], Any]] = [
    (("game_id",), "not-an-id"),
    (("rules_version",), 0),
    (("rules_version",), "1"),
    (("ended_at",), "2026-01-01T00:00:00Z"),
    (("scenario", "scenario_id"), "../../etc/passwd"),
    (("scenario", "scenario_id"), "a\nb"),
    (("config", "team", "team_id"), "a/b"),
    (("config", "channels"), ["telepathy"]),
    (("config", "limits", "max_turns_per_round"), 0),
    (("config", "limits", "dm_cap"), -1),
    (("config", "limits", "dm_cap"), True),
    (("events", 0, "num_agents"), 4.0),
    (("events", 0, "num_agents"), "4"),
    (("events", 1, "is_nosy"), 0),
    (("events", 1, "type"), "agent_registerd"),
    (("events",), {}),
    (("final_state", "cost_by_agent"), [0, -1, 0, 0]),
    (("metrics", "realised_cost"), None),
]


@pytest.mark.parametrize(
    ("data", "named"),
    [
        *((changed(*place, "surprise", value=1), place) for place in UNKNOWN_KEYS),
        *((without(*place), place[-1:]) for place in MISSING_KEYS),
        *(
            (changed(*place, value=value), (".".join(map(str, place[:2])),))
            for place, value in OTHER_VALUES
        ),
    ],
    ids=[*(f"unknown-{n}" for n, _ in enumerate(UNKNOWN_KEYS)),
         *(f"missing-{n}" for n, _ in enumerate(MISSING_KEYS)),
         *(f"other-{n}" for n, _ in enumerate(OTHER_VALUES))],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_named_wherever_it_stands(
    tmp_path: Path, data: bytes, named: tuple[str | int, ...]
) -> None:
    text = refusal(tmp_path / "t.json", data)
    assert text.startswith("not a trace: ")
    for part in named:
        assert str(part) in text


def nested(depth: int) -> bytes:
    inside = b"[" * depth + b"]" * depth
    return BYTES.replace(b'"settings":{}', b'"settings":{"a":' + inside + b"}", 1)


def raw(old: bytes, new: bytes) -> bytes:
    assert old in BYTES
    return BYTES.replace(old, new, 1)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "lone surrogate": lambda: changed("config", "prompt_version", value="\ud800"),
    "lone surrogate in a key": lambda: changed("\udfff", value=1),
    "bidirectional key": lambda: changed("\u202eabc\n\x1b[31m", value=1),
    "not utf-8": lambda: raw(b'"prompt_version":null', b'"prompt_version":"\xff\xfe"'),
    "utf-16": lambda: BYTES.decode().encode("utf-16"),
    "byte order mark": lambda: b"\xef\xbb\xbf" + BYTES,
    "null bytes": lambda: b"\x00" * 5000,
    "huge integer": lambda: raw(b'"seed":0', b'"seed":' + b"9" * 5000),
    "huge version": lambda: raw(b'"schema_version":1', b'"schema_version":' + b"9" * 5000),
    "infinity": lambda: raw(b'"sd_model":null', b'"sd_model":[1e999]'),
    "infinity in a setting": lambda: raw(b'"settings":{}', b'"settings":{"a":[{"b":1e999}]}'),
    "not a number in a setting": lambda: raw(b'"settings":{}', b'"settings":{"a":NaN}'),
    "not a number in an event": lambda: raw(b'"round":0', b'"round":NaN'),
    "not a number in a metric": lambda: raw(b'"cost_vs_optimal":null', b'"cost_vs_optimal":NaN'),
    "not a number": lambda: raw(b'"sd_model":null', b'"sd_model":[NaN]'),
    "deep nesting": lambda: nested(100_000),
    "deep nesting below the first parser's limit": lambda: nested(900),
    "deep version": lambda: raw(
        b'"schema_version":1', b'"schema_version":' + b"[" * 1000 + b"]" * 1000
    ),
    "two documents": lambda: BYTES + BYTES,
    "many slots": lambda: changed("scenario", "num_slots", value=10**12),
    "many agents": lambda: changed("scenario", "meetings", 0, "participants", value=[0, 1, 10**9]),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_refused_in_one_line(tmp_path: Path, make: Callable[[], bytes]) -> None:
    assert refusal(tmp_path / "t.json", make())


def test_missing_file_and_folder_are_refused_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.json", tmp_path):
        with pytest.raises(FileError, match=r"^[^\n]+: cannot be read \([^\n]+\)$"):
            read_trace(path)


def test_name_of_a_refused_file_is_shown_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\n\u202eb.json"
    path.write_bytes(b"[]")
    with pytest.raises(FileError) as caught:
        read_trace(path)
    assert str(caught.value).isprintable()
    assert "a\\n\\u202eb.json" in str(caught.value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


ALL_PLACES = places(DOCUMENT)


def plain(data: bytes) -> Trace | None:
    """Return the trace of a document by its model and its bytes alone, as nothing is shared."""
    try:
        trace = Trace.model_validate_json(data)
    except ValidationError:
        return None
    return trace if trace_bytes(trace) == data else None


def read_or_refusal(path: Path, read: Callable[[Path], Trace] = read_trace) -> Trace | str:
    try:
        return read(path)
    except FileError as error:
        return str(error)


@given(place=st.sampled_from(ALL_PLACES), value=json_values)
@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_reader_of_many_reads_or_refuses_any_edit_as_the_reader_of_one_does(
    tmp_path: Path, place: tuple[str | int, ...], value: Any
) -> None:
    path, reader = tmp_path / "t.json", TraceReader()
    path.write_bytes(BYTES)
    assert reader.read(path) == read_trace(path)
    path.write_bytes(data := changed(*place, value=value))
    found = read_or_refusal(path, reader.read)
    assert found == read_or_refusal(path)
    assert (None if isinstance(found, str) else found) == plain(data)
    assert not isinstance(found, str) or found.isprintable()


OTHER_LAYOUTS: dict[str, Callable[[], bytes]] = {
    "spaces": lambda: raw(b'"events":', b'"events": '),
    "lines": lambda: json.dumps(DOCUMENT, indent=1).encode(),
    "no end of line": lambda: BYTES[:-1],
    "more behind it": lambda: BYTES + b"\n",
    "an escape": lambda: raw(b'"game_start"', b'"game\\u005fstart"'),
    "another order": lambda: as_written(dict(reversed(DOCUMENT.items()))),
    "another order within": lambda: raw(b'"round":0,"turn":1,', b'"turn":1,"round":0,'),
    "a flag that is not set": lambda: raw(b'"seats":[', b'"mediator":false,"seats":['),
    "a key twice": lambda: raw(b'{"schema_version":1,', b'{"schema_version":1,"schema_version":1,'),
    "a key of an event twice": lambda: raw(b'"seed":0,"num_a', b'"seed":1,"seed":0,"num_a'),
    "a key of a setting twice": lambda: raw(b'"settings":{}', b'"settings":{"a":1,"a":1}'),
    "events twice": lambda: raw(b'"final_state":', b'"events":[],"final_state":'),
    "another number": lambda: raw(b'"cost_vs_optimal":null', b'"cost_vs_optimal":1.0e0'),
}
"""Bytes that mean the game to a reader that is not strict."""


@pytest.mark.parametrize("make", OTHER_LAYOUTS.values(), ids=OTHER_LAYOUTS)
@pytest.mark.parametrize("is_known", [False, True])
def test_bytes_that_we_would_not_write_are_refused_by_what_differs(
    tmp_path: Path, make: Callable[[], bytes], is_known: bool
) -> None:
    """Also by a reader that knows the scenario, as one of many traces does."""
    path, reader = tmp_path / "t.json", TraceReader()
    if is_known:
        path.write_bytes(BYTES)
        reader.read(path)
    path.write_bytes(make())
    with pytest.raises(FileError, match=r"not as calbench writes it: at byte \d+ is '") as refused:
        reader.read(path)
    assert str(refused.value).isprintable()


def scenario_bytes() -> bytes:
    return BYTES[BYTES.index(b'"scenario":') : BYTES.index(b'"config":')]


LIKE_THE_LAST: dict[str, Callable[[], bytes]] = {
    "the same": lambda: BYTES,
    "the scenario twice": lambda: raw(b'"config":', scenario_bytes() + b'"config":'),
    "another scenario behind it": lambda: raw(
        b'"config":', scenario_bytes().replace(b'"seed":0', b'"seed":1') + b'"config":'
    ),
    "the scenario in a setting": lambda: raw(
        b'"settings":{}', b'"settings":{' + scenario_bytes() + b'"config":1}'
    ),
    "only in a setting": lambda: raw(scenario_bytes(), b"").replace(
        b'"settings":{}', b'"settings":{' + scenario_bytes() + b'"config":1}'
    ),
    "in a key before it": lambda: raw(
        b'"scenario":', b'"other":{' + scenario_bytes() + b'"config":1},"scenario":'
    ),
    "the configuration twice": lambda: raw(b',"events":', b',"config":{},"events":'),
    "events in a setting": lambda: raw(b'"settings":{}', b'"settings":{"a":1,"events":[]}'),
    "cut behind the scenario": lambda: BYTES[: BYTES.index(b'"config":') + 9],
}


@pytest.mark.parametrize("make", LIKE_THE_LAST.values(), ids=LIKE_THE_LAST)
def test_scenario_of_the_trace_before_is_taken_only_where_it_is_the_traces_own(
    tmp_path: Path, make: Callable[[], bytes]
) -> None:
    path, reader = tmp_path / "t.json", TraceReader()
    path.write_bytes(BYTES)
    known = reader.read(path).scenario
    path.write_bytes(make())
    found = read_or_refusal(path, reader.read)
    assert found == read_or_refusal(path)
    assert (None if isinstance(found, str) else found) == plain(path.read_bytes())
    if make() == BYTES:
        assert isinstance(found, Trace)
        assert found.scenario is known
