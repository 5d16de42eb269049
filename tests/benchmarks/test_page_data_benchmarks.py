"""Speed of page data: a game's files, and the words of a site. Times are reported, not asserted."""

import random
import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from calbench.report.games.files import about_game, packed_games
from calbench.report.games.index import WordIndex, bucket_of, words_of
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace, trace_bytes, write_trace
from tests.report.samples import play, suite_of

pytestmark = pytest.mark.benchmark(timer=time.process_time)

VOCABULARY = [a + b + c for a in "abcdegh" for b in "aeiou" for c in "xyz"]


@pytest.fixture(scope="module")
def trace() -> Trace:
    return play(suite_of("varied", 3)[0], "imap")


def test_game_is_read(benchmark: BenchmarkFixture, trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    write_trace(path, trace)

    assert benchmark(read_trace, path).game_id == trace.game_id


def test_game_is_packed(benchmark: BenchmarkFixture, trace: Trace) -> None:
    data = trace_bytes(trace)

    shared = trace.scenario.model_dump_json().encode()

    packed = benchmark(lambda: packed_games(shared, [(about_game(trace, "varied"), data)]))

    assert len(packed) < len(data)


def test_ten_thousand_messages_are_indexed(benchmark: BenchmarkFixture) -> None:
    chance = random.Random(0)
    said = [" ".join(chance.choices(VOCABULARY, k=40)) for _ in range(10_000)]

    def index() -> dict[int, object]:
        words = WordIndex()
        words.add(map(words_of, said))
        return dict(words.files())

    files = benchmark(index)

    assert set(files) == {bucket_of(word) for word in VOCABULARY}
