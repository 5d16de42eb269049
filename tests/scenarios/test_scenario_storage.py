"""Suite files: round trips, and refusals that name file, line and field."""

import copy
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.errors import FileError, OutputError
from calbench.scenarios.difficulty import with_oracle
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import read_suite, scenario_schema, write_suite
from tests.effort import examples
from tests.factories import make_scenario
from tests.strategies import loose_scenarios, scenarios

EXAMPLE = with_oracle(
    make_scenario(
        [".E2.B1", "E3...", "..E1."],
        [(1, 0), (2, 1)],
        prior=[((0, 2), 0, 2)],
        witness={"1": 2, "2": 1},
    )
)
DATA: dict[str, Any] = EXAMPLE.model_dump(mode="json")


BEST: dict[str, Any] = DATA["oracle"]["best"]
ESTIMATE = {"fraction": 0.5, "low": 0.4, "high": 0.6, "draws": 1_000}
UNCOUNTED = {**DATA["difficulty"], "feasible_count": None, "feasible_fraction": None, "reason": "x"}


def refusal(path: Path, text: str | bytes) -> str:
    """Return the one line with which a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FileError) as caught:
        read_suite(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.isprintable()
    assert len(message) < 900
    return message


def lines(*items: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in items)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "suite.jsonl"


def test_count_of_more_than_64_bits_comes_back_from_a_file(path: Path) -> None:
    meetings = [(agent, (agent + 1) % 12) for agent in range(12)]
    scenario = with_oracle(make_scenario(["." * 64] * 12, meetings))
    assert scenario.difficulty
    assert scenario.difficulty.feasible_count == math.perm(64, 12) > 2**64
    uncounted = {"feasible_count": 10**400, "feasible_fraction": None, "tertile": None}
    difficulty = scenario.difficulty.model_copy(update={**uncounted, "reason": "x"})
    assert scenario.play_digest == scenario.updated(difficulty=difficulty).play_digest
    write_suite(path, [scenario])
    assert read_suite(path) == (scenario,)


def test_count_beyond_all_assignments_is_refused_with_any_number_of_digits(path: Path) -> None:
    entry = {**DATA["difficulty"], "feasible_count": 10**4_000}
    assert "feasible_count over" in refusal(path, lines({**DATA, "difficulty": entry}))


@given(st.one_of(scenarios(), loose_scenarios()))
@settings(max_examples=examples(60))
def test_a_suite_survives_a_round_trip_byte_by_byte(
    tmp_path_factory: pytest.TempPathFactory, scenario: Scenario
) -> None:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(folder / "one.jsonl", [scenario])
    back = read_suite(folder / "one.jsonl")
    write_suite(folder / "two.jsonl", back)
    assert back == (scenario,)
    assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()


def test_a_suite_is_written_with_the_version_first_and_nothing_left_beside(path: Path) -> None:
    write_suite(path.parent / "new" / "suite.jsonl", [EXAMPLE])
    written = path.parent / "new" / "suite.jsonl"
    assert written.read_bytes().startswith(b'{"schema_version":1,"scenario_id":"test-000"')
    assert [file.name for file in written.parent.iterdir()] == ["suite.jsonl"]


def test_equal_scenarios_are_written_with_equal_bytes_and_absent_parts_stay_absent(
    path: Path,
) -> None:
    shuffled = EXAMPLE.updated(witness={"2": 1, "1": 2}, params={"b": 1, "a": 2})
    ordered = EXAMPLE.updated(witness={"1": 2, "2": 1}, params={"a": 2, "b": 1})
    write_suite(path, [shuffled])
    first = path.read_bytes()
    write_suite(path, [ordered])
    assert path.read_bytes() == first
    plain = EXAMPLE.updated(witness=None, oracle=None, difficulty=None)
    write_suite(path, [plain])
    assert not {"witness", "oracle", "difficulty", "params"} & set(json.loads(path.read_text()))
    assert read_suite(path) == (plain,)


def test_a_failed_write_keeps_the_old_file(path: Path) -> None:
    write_suite(path, [EXAMPLE])
    before = path.read_bytes()
    with pytest.raises(OutputError, match="half of a surrogate pair"):
        write_suite(path, [EXAMPLE.updated(params={"half": "\ud800"})])
    with pytest.raises(OutputError, match="no scenario to write"):
        write_suite(path, [])
    with pytest.raises(OutputError, match="cannot be written"):
        write_suite(path / "below.jsonl", [EXAMPLE])
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def changed(*keys: str | int, to: Any = None, drop: bool = False) -> Callable[[], dict[str, Any]]:
    """Describe the example with one value replaced or dropped."""

    def make() -> dict[str, Any]:
        data = copy.deepcopy(DATA)
        place: Any = data
        for key in keys[:-1]:
            place = place[key]
        if drop:
            del place[keys[-1]]
        else:
            place[keys[-1]] = to
        return data

    return make


@pytest.mark.parametrize(
    ("make", "field", "problem"),
    [
        (changed("schema_version", drop=True), "schema_version", "is missing; add it"),
        (changed("schema_version", to=2), "schema_version", "use a CalBench that reads version 2"),
        (changed("schema_version", to=1.0), "schema_version", "must be a whole number, got 1.0"),
        (changed("schema_version", to=True), "schema_version", "must be a whole number, got true"),
        (changed("schema_version", to="1"), "schema_version", 'must be a whole number, got "1"'),
        (changed("seed", drop=True), "seed", "is missing; add it"),
        (changed("colour", to=3), "colour", "is not a known key; remove it"),
        (changed("evil\u202e\x07\nkey", to=1), r"evil\u202e\x07\nkey", "is not a known key"),
        (changed("seed", to="7"), "seed", 'should be a valid integer, got "7"'),
        (changed("seed", to=1.0), "seed", "should be a valid integer"),
        (changed("seed", to=-1), "seed", "greater than or equal to 0, got -1"),
        (changed("scenario_id", to="../x"), "scenario_id", "should match pattern"),
        (changed("scenario_id", to="a\n"), "scenario_id", "should match pattern"),
        (changed("num_slots", to=5), "calendars.0", "4 slots, but num_slots is 5"),
        (changed("calendars", to=[]), "calendars", "at least 1 item"),
        (changed("calendars", 0, 1, "cost", to="2"), "calendars.0.1.cost", "valid integer"),
        (changed("calendars", 0, 1, "cost", to=10**9), "calendars.0.1.cost", "less than or equal"),
        (changed("calendars", 0, 1, "cost", drop=True), "calendars.0.1.cost", "is missing"),
        (changed("calendars", 0, 1, "id", to=3), "calendars.0.1.id", "is not a known key"),
        (changed("calendars", 0, 1, "blocked", to=0), "calendars.0.1.blocked", "valid boolean"),
        (changed("calendars", 0, 0, "note", to=0), "calendars.0.0.note", "is not a known key"),
        (changed("calendars", 0, 1, to=3), "calendars.0.1", "should be an object, got 3"),
        (changed("calendars", 0, 1, "errand_id", to=2), "calendars.0.1.errand_id", "a meeting's"),
        (changed("calendars", 0, 1, "errand_id", to=105), "calendars.1.0.errand_id", "used twice"),
        (changed("calendars", 0, 0, to=None), "prior_meetings.0", "meeting 3 must be at slot 0"),
        (changed("prior_meetings", 0, "cost", to=1), "calendars.0.0", "not among prior_meetings"),
        (changed("prior_meetings", 0, "slot", to=2), "prior_meetings.0", "must be at slot 2"),
        (changed("meetings", 1, "meeting_id", to=1), "meetings", "must be unique, got [1, 1, 3]"),
        (changed("meetings", 1, "duration", to=2), "meetings.1.duration", "or equal to 1, got 2"),
        (changed("meetings", 1, "duration", to=True), "meetings.1.duration", "valid integer"),
        (changed("meetings", 1, "participants", to=[1, 9]), "meetings.1.participants", "agent 9"),
        (changed("meetings", 1, "participants", to=[1, 1]), "meetings.1.participants", "twice"),
        (changed("meetings", 1, "participants", to=[]), "meetings.1.participants", "at least 1"),
        (changed("meetings", 1, "speaker_order", to=[2]), "meetings.1.speaker_order", "exactly"),
        (changed("witness", to={"1": 2}), "witness", "exactly the meetings [1, 2]"),
        (changed("witness", "1", to=4), "witness.1", "slot 4 is out of range"),
        (changed("witness", "1", to=3), "witness", "blocked for agent 0; correct it, or remove"),
        (changed("oracle", "best", "slots", "1", to=3), "oracle.best", "blocked for agent 0"),
        (changed("oracle", "best", "cost", to=9), "oracle.best.cost", "9 is stated, but"),
        (changed("oracle", "best", "cost_by_agent", to=[0, 0, 9]), "oracle.best", "9 is stated"),
        (changed("oracle", "best", "cost_by_agent", to=[0]), "oracle.best.cost_by_agent", "each"),
        (changed("oracle", "best", to=None), "oracle.best", "exactly if infeasible"),
        (changed("oracle", "infeasible", to="no"), "oracle.best", "exactly if infeasible"),
        (changed("oracle", "greedy_cost", to=77), "oracle.greedy_cost", "77 is stated, but it is"),
        (changed("oracle", "witness_cost", to=None), "oracle.witness_cost", "None is stated"),
        (changed("oracle", "best", to=DATA["oracle"]["worst"]), "oracle.best", "another costs"),
        (changed("oracle", "worst", to=DATA["oracle"]["best"]), "oracle.worst", "another costs"),
        (
            changed("difficulty", "feasible_fraction", to=0.5),
            "difficulty.feasible_fraction",
            "feasible_count over",
        ),
        (changed("difficulty", "feasible_fraction", to=None), "difficulty.reason", "must say why"),
        (
            changed("oracle", "best", "bound", to=0),
            "oracle.effort",
            "exactly if a schedule has a bound",
        ),
        (changed("oracle", "effort", to=2.0), "oracle.effort", "exactly if a schedule"),
        (
            changed("oracle", to={**DATA["oracle"], "effort": 1.0, "best": {**BEST, "bound": 99}}),
            "oracle.best",
            "every schedule is said to cost at least 99, but another costs",
        ),
        (
            changed("difficulty", "estimate", to=ESTIMATE),
            "difficulty.estimate",
            "must be absent beside a feasible_fraction",
        ),
        (
            changed("difficulty", to={**UNCOUNTED, "estimate": {**ESTIMATE, "low": 0.9}}),
            "difficulty.estimate",
            "must lie between its ends",
        ),
        (changed("difficulty", "tertile", to="odd"), "difficulty.tertile", "'medium' or 'hard'"),
    ],
)
def test_a_wrong_line_is_refused_with_line_and_field(
    path: Path, make: Callable[[], dict[str, Any]], field: str, problem: str
) -> None:
    good = DATA | {"scenario_id": "good"}
    message = refusal(path, lines(good, make()))
    assert message.startswith(f"{path}, line 2, field {field}: ")
    assert problem in message


def test_another_version_is_named_before_anything_else(path: Path) -> None:
    message = refusal(path, '{"schema_version": 3, "x": NaN}\n')
    assert message == (
        f"{path}, line 1, field schema_version: is 3, and this CalBench reads version 1; "
        "use a CalBench that reads version 3, or convert the file"
    )


def test_a_second_scenario_of_one_id_is_refused_with_both_lines(path: Path) -> None:
    message = refusal(path, lines(DATA, DATA | {"scenario_id": "other"}, DATA))
    assert f"{path}, line 3, field scenario_id: test-000 is also the id of line 1" in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", ": the file is empty"),
        (b"\n", ", line 1: the line is empty; remove it"),
        (b"{]\n", ", line 1: not JSON: Expecting property name"),
        (b"[1]\n", ", line 1: not a JSON object"),
        (b"\xef\xbb\xbf{}\n", ", line 1: not JSON: Unexpected UTF-8 BOM"),
        (b'{"a": "\xff"}\n', ", line 1: byte 8 is not UTF-8"),
        (b'{"schema_version": 1, "seed": NaN}\n', ", line 1: NaN is not a finite number"),
        (b'{"schema_version": 1, "seed": -Infinity}\n', ", line 1: -Infinity is not a finite"),
        (b'{"schema_version": 1, "seed": 1e999}\n', ", line 1: 1e999 is not a finite number"),
        (
            b'{"schema_version": 1, "a": 1, "a": 2}\n',
            ", line 1: key 'a' is given twice; correct the line",
        ),
        (b'{"schema_version": 1, "a\\ud800": 1}\n', ", line 1: the text a\\ud800 holds half"),
        (b"[" * 100_000 + b"\n", ", line 1: nested too deeply"),
        (
            b'{"schema_version": 1, "params": ' + b"[" * 40 + b"]" * 40 + b"}\n",
            ", line 1: nested more than 32 levels deep",
        ),
        (b'{"schema_version": 1' + b"0" * 5000 + b"}\n", ", line 1: not JSON that can be read"),
        (b'{"schema_version": 1' + b"0" * 4000 + b"}\n", ", line 1, field schema_version: is 1000"),
        (
            '{"schema_version": 1, "evil\u202e\\u0007\\nkey": 1}\n'.encode(),
            ", line 1, field scenario_id: is missing",
        ),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_one_line(
    path: Path, text: bytes, problem: str
) -> None:
    message = refusal(path, text)
    assert message.startswith(f"{path}{problem}")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere\.jsonl: no such file; check the path"):
        read_suite(tmp_path / "nowhere.jsonl")
    with pytest.raises(FileError, match="is a folder; name the suite file in it"):
        read_suite(tmp_path)
    with pytest.raises(FileError, match=r"null\\x00byte: no such file"):
        read_suite("null\0byte")


def test_windows_line_ends_and_a_missing_last_one_are_read(path: Path) -> None:
    path.write_bytes(
        json.dumps(DATA).encode() + b"\r\n" + json.dumps(DATA | {"scenario_id": "b"}).encode()
    )
    assert [scenario.scenario_id for scenario in read_suite(path)] == ["test-000", "b"]


@given(st.data())
@settings(max_examples=examples(200))
def test_a_damaged_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = bytearray(json.dumps(DATA).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 6)))
        text[start:stop] = data.draw(st.binary(max_size=6) | st.sampled_from(TOKENS))
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(bytes(text))
    message = ""
    try:
        read_suite(path)
    except FileError as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) < 900


TOKENS = [b"null", b"-1", b"1e400", b'"\\ud800"', b"{}", b"[]", b"99999999999999999999", b"true"]


def test_the_schema_names_exactly_the_fields_of_a_scenario() -> None:
    schema = scenario_schema()
    assert set(schema["properties"]) == set(Scenario.model_fields)
    assert set(schema["required"]) == set(Scenario.model_fields) - {
        *("witness", "oracle", "difficulty", "params")
    }
    assert schema["additionalProperties"] is False
    assert schema["$schema"].startswith("https://json-schema.org/")
    json.dumps(schema, allow_nan=False)


def test_reading_suites_loads_neither_solver_nor_numpy() -> None:
    code = (
        "import sys, calbench.scenarios.storage; "
        "print(sorted({'ortools', 'numpy', 'pandas', 'omegaconf', 'litellm'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
