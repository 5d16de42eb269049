"""Facts leave in a fixed order, whole or not at all, each game once."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet

from calbench.analysis.scoring import ALL_FACTS, measure_games
from calbench.errors import FileError, OutputError
from calbench.facts import spool
from calbench.facts.columns import Column, count, text
from calbench.facts.fact import Fact
from calbench.facts.games import SCORES
from calbench.facts.joining import join_facts
from calbench.facts.storage import Facts, FactsWriter, GameKey, MeasuredBatch, batch_of
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.traces.storage import write_trace
from tests.cli.runs import files
from tests.report.samples import Game as Played
from tests.report.samples import play, suite_of

GAMES = Fact(
    "games",
    lambda _: (),
    (
        text("setting", "s"),
        text("team", "t"),
        text("scenario_id", "i"),
        count("replicate", "", "r"),
        Column("is_excluded", "truth", "", "l"),
    ),
)
NUMBERS = Fact("numbers", lambda _: (), (count("n", "", "n"), text("word", "w")), is_large=True)
FACTS = (GAMES, NUMBERS)

Game = tuple[str, str, str, Sequence[int | None]]


def batch(*games: Game, excluded: Sequence[str] = (), replicate: int = 0) -> MeasuredBatch:
    return batch_of(
        FACTS,
        [
            (
                GameKey(setting, team, scenario, replicate),
                {
                    "games": {
                        "setting": [setting],
                        "team": [team],
                        "scenario_id": [scenario],
                        "replicate": [replicate],
                        "is_excluded": [team in excluded],
                    },
                    "numbers": {
                        "n": list(numbers),
                        "word": [None if n is None else f"w{n}" for n in numbers],
                    },
                },
            )
            for setting, team, scenario, numbers in games
        ],
    )


def written(folder: Path, *batches: MeasuredBatch, teams: Sequence[str] = ("b", "a")) -> Facts:
    with FactsWriter(folder, FACTS, teams) as writer:
        for each in batches:
            writer.add(each)
        return writer.write()


def listed(frame: pd.DataFrame, *names: str) -> list[tuple[object, ...]]:
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in frame[list(names)].itertuples(index=False)
    ]


def test_games_leave_by_setting_order_of_teams_and_scenario(tmp_path: Path) -> None:
    facts = written(
        tmp_path,
        batch(("two", "a", "s0", [1]), ("one", "z", "s0", [2, 3]), ("one", "a", "s1", [])),
        batch(("one", "b", "s0", [4]), ("one", "a", "s0", [5, None]), ("one", "y", "s0", [6])),
    )
    assert listed(facts.games, "game", "setting", "team", "scenario_id", "team_place") == [
        (0, "one", "b", "s0", 0),
        (1, "one", "a", "s0", 1),
        (2, "one", "a", "s1", 1),
        (3, "one", "y", "s0", 2),
        (4, "one", "z", "s0", 3),
        (5, "two", "a", "s0", 0),
    ]
    assert list(facts.games.index) == [0, 1, 2, 3, 4, 5]
    assert list(facts.games["trace_path"])[:2] == ["b/s0.json", "a/s0.json"]
    (numbers,) = facts.batches("numbers")
    assert listed(numbers, "game", "n", "word") == [
        (0, 4, "w4"),
        (1, 5, "w5"),
        (1, None, None),
        (3, 6, "w6"),
        (4, 2, "w2"),
        (4, 3, "w3"),
        (5, 1, "w1"),
    ]


def test_replicates_of_a_game_follow_it_and_know_how_many_are_scored(tmp_path: Path) -> None:
    one: Game = ("s", "a", "s0", [1])
    two: Game = ("s", "b", "s0", [2])
    batches = [
        batch(one, two, replicate=2),
        batch(one, two, replicate=1, excluded=["b"]),
        batch(one, two),
    ]
    facts = written(tmp_path, *batches, teams=("a", "b"))
    assert listed(facts.games, "team", "replicate", "trace_path", "replicates") == [
        ("a", 0, "a/s0.json", 3),
        ("a", 1, "a/s0.r1.json", 3),
        ("a", 2, "a/s0.r2.json", 3),
        ("b", 0, "b/s0.json", 2),
        ("b", 1, "b/s0.r1.json", 2),
        ("b", 2, "b/s0.r2.json", 2),
    ]
    assert facts.has_replicates
    with pytest.raises(ValueError, match="two games"):
        written(tmp_path, batch(one, replicate=1), batch(one, replicate=1))


def test_files_do_not_depend_on_the_order_of_games_and_batches(tmp_path: Path) -> None:
    one: Game = ("s", "a", "s0", [1, 2])
    two: Game = ("s", "b", "s0", [3])
    written(tmp_path / "x", batch(one, two))
    written(tmp_path / "y", batch(two), batch(one))
    for name in ("games", "numbers"):
        file = f"{name}.parquet"
        assert (tmp_path / "x" / file).read_bytes() == (tmp_path / "y" / file).read_bytes()


def test_large_facts_are_read_some_whole_games_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spool.ROW_GROUP_ROWS == 32_300, "of the published tables"
    monkeypatch.setattr(spool, "ROW_GROUP_ROWS", 3)
    games: list[Game] = [("s", "a", f"s{i}", [i] * rows) for i, rows in enumerate((2, 1, 0, 4, 1))]
    facts = written(tmp_path, batch(*games))
    assert [list(rows["game"]) for rows in facts.batches("numbers")] == [
        [0, 0, 1],
        [3, 3, 3, 3],
        [4],
    ]
    assert [list(rows.columns) for rows in facts.batches("numbers", ["word"])] == [
        ["game", "word"]
    ] * 3


def test_a_fact_without_rows_has_one_empty_batch(tmp_path: Path) -> None:
    for name, facts in (
        ("no row", written(tmp_path / "a", batch(("s", "a", "s0", [])))),
        ("no game", written(tmp_path / "b")),
    ):
        (rows,) = facts.batches("numbers")
        assert list(rows.columns) == ["game", "n", "word"], name
        assert len(rows) == 0


def test_rows_are_named_by_their_games_and_excluded_games_left_out(tmp_path: Path) -> None:
    games: list[Game] = [("s", "a", "s0", [7]), ("s", "b", "s0", [8, 9])]
    facts = written(tmp_path / "all", batch(*games), teams=("a", "b"))
    assert listed(facts.of_games("numbers"), "setting", "team", "scenario_id", "n") == [
        ("s", "a", "s0", 7),
        ("s", "b", "s0", 8),
        ("s", "b", "s0", 9),
    ]
    lossy = written(tmp_path / "excluded", batch(*games, excluded=["a"]), teams=("a", "b"))
    assert list(lossy.scored.index) == [1]
    assert listed(lossy.of_games("numbers", ["team"]), "team", "n") == [("b", 8), ("b", 9)]
    every = [("a", 7), ("b", 8), ("b", 9)]
    assert listed(lossy.of_all_games("numbers", ["team"]), "team", "n") == every
    assert listed(lossy.named(lossy.frame("numbers"), ["team"]), "team", "n") == every


def test_two_games_of_one_key_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with FactsWriter(tmp_path, FACTS, ()) as writer:
        writer.add(batch(("s", "a", "s0", [1])))
        with pytest.raises(ValueError, match=r"two games are called .*'a'.*'s0'"):
            writer.add(batch(("s", "a", "s1", [1]), ("s", "a", "s0", [2])))
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_behind_is_cleared_and_never_read(tmp_path: Path) -> None:
    (tmp_path / ".spool").mkdir()
    (tmp_path / ".spool" / "numbers.arrow").write_bytes(b"half")
    (tmp_path / ".numbers.parquet.part").write_bytes(b"half")
    assert not Facts(tmp_path).has("numbers")
    facts = written(tmp_path, batch(("s", "a", "s0", [1])))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.parquet", "numbers.parquet"]
    assert facts.has("numbers")
    again = written(tmp_path, batch(("s", "a", "s0", [2])))
    assert list(again.frame("numbers")["n"]) == [2]


def test_an_unusable_folder_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/facts: cannot be written \(.*\); choose another"):
        FactsWriter(tmp_path / "file" / "facts", FACTS, ())
    with FactsWriter(tmp_path / "facts", FACTS, ()) as writer:
        writer.add(batch(("s", "a", "s0", [1])))
        (tmp_path / "facts" / "games.parquet").mkdir()
        with pytest.raises(OutputError, match=r"facts/games\.parquet: cannot be written") as error:
            writer.write()
    assert "\n" not in str(error.value)


def test_what_is_not_there_or_no_parquet_is_named(tmp_path: Path) -> None:
    facts = Facts(tmp_path)
    with pytest.raises(FileError, match=r"numbers\.parquet: there is no such file; measure"):
        facts.frame("numbers")
    with pytest.raises(FileError, match=r"numbers\.parquet: there is no such file; measure"):
        next(facts.batches("numbers"))
    (tmp_path / "numbers.parquet").write_bytes(b"no parquet")
    with pytest.raises(FileError, match=r"numbers\.parquet: cannot be read as Parquet"):
        facts.frame("numbers")


def test_types_are_the_declared_ones_whatever_the_values(tmp_path: Path) -> None:
    facts = written(tmp_path, batch(("s", "a", "s0", [None, None])))
    schema = parquet.read_schema(tmp_path / "numbers.parquet")
    assert [(field.name, str(field.type)) for field in schema] == [
        ("game", "int64"),
        ("n", "int64"),
        ("word", "string"),
    ]
    assert str(facts.frame("numbers")["n"].dtype) == "Int64"
    assert facts.frame("numbers") is facts.frame("numbers")  # read once


TEAMS = ("imap", "tell-all", "silent")


def measured(folder: Path, traces: Path, teams: tuple[str, ...]) -> Facts:
    games = []
    for team in teams:
        for scenario in suite_of("varied", 3):
            path = traces / team / f"{scenario.scenario_id}.json"
            write_trace(path, play(scenario, team))
            games.append(Played(path, team, scenario.scenario_id))
    return measure_games(games, folder, DEFAULT_MEASURE, lambda: None, facts=ALL_FACTS)


@pytest.mark.heavy
def test_joined_facts_are_those_of_one_run_to_the_byte(tmp_path: Path) -> None:
    measured(tmp_path / "whole", tmp_path / "traces", TEAMS)
    first = measured(tmp_path / "first", tmp_path / "traces", TEAMS[1:])
    second = measured(tmp_path / "second", tmp_path / "traces", TEAMS[:1])
    sources = [(each, lambda _: True) for each in (first, second)]

    join_facts(sources, tmp_path / "joined", ALL_FACTS, TEAMS)

    assert files(tmp_path / "joined") == files(tmp_path / "whole")


def test_games_that_are_not_taken_are_left_out_of_every_fact(tmp_path: Path) -> None:
    whole = measured(tmp_path / "whole", tmp_path / "traces", TEAMS)
    few = measured(tmp_path / "few", tmp_path / "traces", TEAMS[:1])
    taken = [(whole, lambda key: key.team == "imap")]
    none = [(few, lambda _: True), (whole, lambda _: False)]

    join_facts(taken, tmp_path / "taken", ALL_FACTS, TEAMS)
    join_facts(none, tmp_path / "none", ALL_FACTS, TEAMS)

    assert files(tmp_path / "taken") == files(tmp_path / "none") == files(tmp_path / "few")


def test_game_without_rows_is_taken_from_among_games_with_rows(tmp_path: Path) -> None:
    teams = ("silent", "imap", "tell-all")
    whole = measured(tmp_path / "whole", tmp_path / "traces", teams)
    silent = measured(tmp_path / "silent", tmp_path / "traces", teams[:1])
    rest = measured(tmp_path / "rest", tmp_path / "traces", teams[1:])

    few = [(whole, lambda key: key.team == "silent")]  # it has no beliefs
    join_facts(few, tmp_path / "few", ALL_FACTS, teams)
    join_facts([(rest, lambda _: True), *few], tmp_path / "all", ALL_FACTS, teams)

    assert silent.table("beliefs").num_rows == 0
    assert files(tmp_path / "few") == files(tmp_path / "silent")
    assert files(tmp_path / "all") == files(tmp_path / "whole")


def test_source_without_a_fact_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    whole = measured(tmp_path / "whole", tmp_path / "traces", TEAMS[:1])
    (tmp_path / "whole" / "shares.parquet").unlink()

    with pytest.raises(FileError, match=r"shares\.parquet: there is no such file"):
        join_facts([(whole, lambda _: True)], tmp_path / "joined", SCORES, TEAMS)
    assert files(tmp_path / "joined") == {}
