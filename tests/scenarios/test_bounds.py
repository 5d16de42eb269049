"""Sizes: what is too large is refused in one line that says which bound, before work starts."""

import gzip
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from calbench import documents, files
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.errors import ConfigError, FileError
from calbench.files import read_bytes, unpacked_pieces
from calbench.scenarios import bounds, storage
from calbench.scenarios.bounds import MOST_AGENTS, MOST_PLACES, Size
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioShape
from calbench.scenarios.storage import read_suite, write_suite
from calbench.tree import SITE
from tests.factories import make_scenario

EXAMPLE = make_scenario(["..", ".E", "E."], [(1, 0)])


@pytest.mark.parametrize(
    "size",
    [
        Size(agents=5, slots=16, meetings=5, prior_meetings=0, seats=15),
        Size(agents=50, slots=160, meetings=50, prior_meetings=50, seats=300),
        Size(agents=100, slots=128, meetings=50, prior_meetings=100, seats=50 * 100),
        Size(agents=1000, slots=16, meetings=5, prior_meetings=0, seats=5 * 1000),
    ],
)
def test_growth_is_allowed(size: Size) -> None:
    assert size.problem() is None


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"agents": 3000}, "3000 agents; at most 1000 are allowed"),
        ({"slots": 5000}, "5000 slots; at most 4096 are allowed"),
        ({"meetings": 1001}, "1001 meetings; at most 1000 are allowed"),
        ({"prior_meetings": 10_001}, "10001 prior meetings; at most 10000 are allowed"),
        ({"agents": 500, "slots": 501}, "250500 agents x slots; at most 250000 are allowed"),
        (
            {"agents": 500, "meetings": 100},
            "24950000 pairs of agents x meetings; at most 5000000 are allowed",
        ),
        (
            {"seats": MOST_PLACES},
            "32000000 participants of all meetings x slots; at most 2000000 are allowed",
        ),
    ],
)
def test_size_beyond_a_bound_is_said(changes: dict[str, int], line: str) -> None:
    size = Size(agents=5, slots=16, meetings=5, prior_meetings=0, seats=15)
    assert size._replace(**changes).problem() == line


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("suite.scenario.num_agents=3000", "3000 agents; at most 1000 are allowed"),
        ("suite.scenario.num_slots=100000", "100000 slots; at most 4096"),
        ("suite.num_scenarios=200000", "less than or equal to 100000, got 200000"),
        (
            "suite.scenario.participants_per_meeting=100000000",
            "participants of all meetings x slots; at most",
        ),
    ],
)
def test_run_is_refused_before_anything_is_drawn(override: str, line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        compose([override])
    assert str(refused.value).startswith("configuration: suite.")
    assert line in str(refused.value)


def test_run_of_a_generous_size_is_allowed() -> None:
    spec = compose(
        [
            "suite.scenario.num_agents=100",
            "suite.scenario.num_meetings=50",
            "suite.scenario.num_slots=128",
            "suite.num_scenarios=50000",
            "suite.num_candidates=50000",
        ]
    )
    assert isinstance(spec, RunSpec)


def test_shape_counts_given_participants() -> None:
    shape = ScenarioShape(num_meetings=2, participant_lists=((0, 1), (0, 1, 2)))
    assert shape.size.seats == 5
    assert make_scenario(["..", ".E", "E."], [(1, 0)]).size == Size(3, 2, 1, 0, 2)


def test_scenario_of_too_many_agents_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    write_suite(path, [EXAMPLE])
    calendar = "[null,null]"
    text = path.read_text().replace('"calendars":[', f'"calendars":[{f"{calendar}," * MOST_AGENTS}')
    path.write_text(text)
    with pytest.raises(FileError, match=r"field calendars: .*at most 1000 items") as refused:
        read_suite(path)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


def test_scenario_of_too_many_pairs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calbench.scenarios.bounds.MOST_PAIRS", 5)
    with pytest.raises(ValidationError, match="6 pairs of agents x meetings; at most 5"):
        Scenario.model_validate_json(EXAMPLE.model_dump_json())


def test_number_of_more_than_64_bits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "seed.jsonl"
    write_suite(path, [EXAMPLE])
    path.write_text(path.read_text().replace('"seed":0', f'"seed":{2**63}'))
    with pytest.raises(FileError, match=r"line 1, field seed: .*less than or equal to 9223372"):
        read_suite(path)


@pytest.mark.parametrize(
    ("bound", "most", "said"),
    [
        ("MOST_LINE_BYTES", 10, r"long\.jsonl, line 1: longer than 10 bytes; "),
        ("MOST_SCENARIOS", 1, r"long\.jsonl, line 2: more than 1 scenarios; split"),
    ],
)
def test_suite_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int, said: str
) -> None:
    path = tmp_path / "long.jsonl"
    write_suite(path, [EXAMPLE, EXAMPLE.updated(scenario_id="other")])
    monkeypatch.setattr(storage, bound, most)
    with pytest.raises(FileError, match=said):
        read_suite(path)


def test_file_is_bounded_packed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed.gz"
    plain.write_bytes(b"x" * 1000)
    packed.write_bytes(gzip.compress(b"x" * 1000))
    assert read_bytes(plain, 1000) == b"".join(unpacked_pieces(packed, 1000))
    for path, said in ((plain, "999 bytes;"), (packed, "999 bytes unpacked;")):
        with pytest.raises(FileError, match=rf"{path.name}: holds more than {said} split it"):
            b"".join([read_bytes(path, 999)] if path == plain else unpacked_pieces(path, 999))


@pytest.mark.parametrize("name", ["pipe", "zero", "loop"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if name == "zero" else name)
    with pytest.raises(FileError, match=r"is a pipe or a device; save|cannot be read") as refused:
        read_bytes(path)
    assert str(refused.value).startswith(str(path))


def test_page_lists_the_bounds() -> None:
    text = (SITE / "docs" / "data" / "formats.md").read_text()
    table = text.partition("| Bound | At most |")[2].partition("\n\n")[0]
    shown = {int(line.split("|")[2].replace(",", "")) for line in table.splitlines()[2:]}
    assert shown == {
        *(
            getattr(bounds, name)
            for name in vars(bounds)
            if name.startswith(("MOST_", "GREATEST_"))
        ),
        files.MOST_BYTES,
        documents.MOST_BYTES,
        documents.MOST_VALUES,
    }
