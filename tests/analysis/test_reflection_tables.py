"""What speakers said they learnt: rows by hand, and how often it was the truth."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.scoring import ALL_FACTS
from calbench.analysis.tables import tables_of
from calbench.errors import CalbenchError
from calbench.facts.joining import join_facts
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.stats.spec import AnalysisSpec
from calbench.traces.events import AgentRegistered, BatchApplied, ChancesStated, Reflection
from calbench.traces.models import Trace
from tests.agents.scripted.games import canonical_scenario, play_scripted
from tests.facts.measured import facts_of, lines_of, path_of, table_rows, text_of
from tests.metrics.language_games import (
    UNREADABLE,
    Answer,
    chances,
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
    small_reflected_game,
)

SETTINGS = Settings(DEFAULT_MEASURE, AnalysisSpec())
NAMES = ("reflections", "reflection_calibration", "vps_baselines")


def lines(folder: Path, name: str, traces: Sequence[Trace]) -> list[str]:
    facts = facts_of(folder, traces, ["words", "more"])
    return lines_of(facts, path_of(f"privacy/{name}"), SETTINGS)


def renamed(trace: Trace, number: int, setting: str = "test") -> Trace:
    scenario = trace.scenario.updated(scenario_id=f"test-{number:03d}", setting=setting)
    return trace.model_copy(update={"scenario": scenario})


RIGHT = reflecting(small_game(), [reflection(0, 1, {0: (1, 0, 0, 0)})])
WRONG = reflecting(small_game(), [reflection(0, 1, {0: (-1, 0, 0, 0)})])


def test_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    trace = small_reflected_game()
    game = f"words/test-000.json,{trace.game_id}"
    found = lines(tmp_path / "a", "reflections", [trace])
    partner = "2.666667,2.333333,0.333333"
    assert len(found) == 12
    assert found[2:5] == [
        f"{game},0,0,1,true,true,true,true,false,{partner},{partner},0.75,1,0",
        f"{game},0,2,1,false,true,true,true,false,0,0,0,0,0,0,0.583333,0.333333,0",
        f"{game},0,0,2,true,false,true,true,false,1.333333,0.333333,1,1.333333,0.333333,1,0.5,1,0",
    ]
    # Toward the truth: by 1, by 2 four times, by 3 three times; away: by 1 twice, by 3 thrice.
    assert lines(tmp_path / "b", "reflection_calibration", [trace]) == [
        "test,words,12,0,13,0.6154,,,few,2.2500,2.2000,3,0.3333,,,few,4,1.0000,,,few,6,0.5000,,,few"
    ]


def test_precision_has_an_interval_over_scenarios(tmp_path: Path) -> None:
    traces = [renamed(RIGHT if number % 2 else WRONG, number) for number in range(4)]
    assert lines(tmp_path, "reflection_calibration", traces) == [
        # Two of four: 0.0676 to 0.9324 by the exact binomial test.
        "test,words,8,4,4,0.5000,0.0676,0.9324,bound,1.0000,1.0000,4,0.5000,0.0676,0.9324,bound"
        + ",0,,,," * 2
    ]


def test_scenarios_weigh_by_their_movements(tmp_path: Path) -> None:
    more = reflecting(small_game(), [reflection(0, 1, {0: (-1, -1, 0, 0), 2: (0, 2, 0, 0)})])
    (line,) = lines(tmp_path, "reflection_calibration", [renamed(RIGHT, 1), renamed(more, 2)])
    cells = line.split(",")
    assert cells[:6] == ["test", "words", "4", "1", "4", "0.5000"]
    assert cells[9:13] == ["1.5000", "1.0000", "3", "0.3333"]
    assert cells[16:18] == ["1", "1.0000"]


def test_teams_of_a_setting_and_settings_stand_apart(tmp_path: Path) -> None:
    other = seated(WRONG, seat("talker"), team="more")
    traces = [renamed(other, 1), renamed(WRONG, 1, "b"), renamed(RIGHT, 1), renamed(RIGHT, 1, "a")]
    found = [line.split(",") for line in lines(tmp_path, "reflection_calibration", traces)]
    assert [(*cells[:2], cells[5]) for cells in found] == [
        ("a", "words", "1.0000"),
        ("b", "words", "0.0000"),
        ("test", "words", "1.0000"),
        ("test", "more", "0.0000"),
    ]


def test_unreadable_answers_have_rows_without_numbers(tmp_path: Path) -> None:
    trace = reflecting(small_game(), [reflection(0, 1, UNREADABLE)])
    game = f"words/test-000.json,{trace.game_id}"
    assert lines(tmp_path / "a", "reflections", [trace]) == [
        f"{game},0,0,1,true,true,true,false,,,,,,,,,1,",
        f"{game},0,2,1,false,true,true,false,,,,,,,,,0.333333,",
    ]
    assert lines(tmp_path / "b", "reflection_calibration", [trace]) == [
        "test,words,2,2,0,,,,,,,0,,,,,0,,,,,0,,,,"
    ]


def test_baselines_stand_beside_the_loss(tmp_path: Path) -> None:
    """A speaker that answers +1 everywhere has a loss, and learnt nothing."""
    ones = [reflection(0, o, {t: (1, 1, 1, 1) for t in range(3) if t != o}) for o in range(3)]
    games = [renamed(reflecting(small_game(), ones), 1)]
    (row,) = table_rows(facts_of(tmp_path, games, ["words"]), "privacy/vps_baselines.csv", SETTINGS)
    assert (row["agent_games"], row["vps_kind"], row["readable_share"]) == (
        "3",
        "reflection",
        "1.0000",
    )
    assert row["vps"] == row["vps_by_chance"] == row["vps_constant"] == "1.1111"
    assert float(row["vps_beyond_chance"]) == 0
    # By the meeting in slot 1: 1/3 of each of its two participants.
    assert row["vps_agreed"] == "0.2222"


def test_few_readable_reflections_are_flagged_and_fewer_than_half_not_compared(
    tmp_path: Path,
) -> None:
    """Two thirds or one third of all reflections of a team can be read."""
    answers = [reflection(r, o, {t: (1, 0, 0, 0) for t in range(3) if t != o})
               for r in range(2) for o in range(3)]  # fmt: skip
    whole = reflecting(small_game(), answers)

    def with_read(*kept: int) -> Trace:
        blank = [
            each if number in kept else reflection(each.round, int(each.agent_id), UNREADABLE)
            for number, each in enumerate(answers)
        ]
        return seated(reflecting(small_game(), blank), seat("talker"), team="more")

    for kept, share, flags in (((0, 1, 2, 3), "0.6667", ("true", "true")),
                               ((0, 3), "0.3333", ("true", "false"))):  # fmt: skip
        games = [renamed(each, n) for n in range(2) for each in (whole, with_read(*kept))]
        facts = facts_of(tmp_path / share, games, ["words", "more"])
        sound, row = table_rows(facts, "leaderboard.csv", SETTINGS)
        assert (sound["is_vps_flagged"], sound["is_vps_ranked"]) == ("false", "true")
        assert row["readable_share"] == share
        assert (row["is_vps_flagged"], row["is_vps_ranked"]) == flags
        assert row["excess_vps"] != ""
        compared = {
            each["measure"]: each for each in table_rows(facts, "comparisons.csv", SETTINGS)
        }
        vps, cost = compared["excess_vps"], compared["excess_cost"]
        assert (vps["difference"] != "", vps["remark"] == "too few reflections read") == (
            (flags[1] == "true"),
            (flags[1] == "false"),
        )
        assert cost["difference"] != ""


STATED: list[Reflection | ChancesStated] = [
    chances(0, 1, {0: (80, 30, 100, 0)}),
    reflection(0, 1, {0: (0, 0, 0, 0), 2: (0, 0, 0, 0)}),
    chances(0, 0, {1: (5, 50, 20, 99)}),
    reflection(0, 0, UNREADABLE),
]
"""Beside calendars ``EMB.`` and ``.M..``."""


def test_stated_chances_of_a_small_game_by_hand(tmp_path: Path) -> None:
    # (.04 + .49 + 0 + 0) + (.0025 + .25 + .04 + .9801) over 8 slots, 4 of them occupied.
    bins = "2,0.0250,0.0000 0,, 1,0.2000,0.0000 1,0.3000,1.0000 0,, 1,0.5000,1.0000 0,, 0,, "
    bins += "1,0.8000,1.0000 2,0.9950,0.5000"
    assert lines(tmp_path, "stated_chances", [reflecting(small_game(), STATED)]) == [
        f"test,words,talker,2,8,0.5000,0.2253,,,few,0.2500,,,few,{bins.replace(' ', ',')}"
    ]


def test_games_without_chances_have_no_table_of_them(tmp_path: Path) -> None:
    path = path_of("privacy/stated_chances")
    stated, plain = reflecting(small_game(), STATED), renamed(small_reflected_game(), 2)
    with_some = facts_of(tmp_path / "a", [stated])
    assert path in {table.path for table in tables_of(with_some)}
    without = facts_of(tmp_path / "a", [plain])  # in the folder of the run before
    assert path not in {table.path for table in tables_of(without)}
    assert not without.has("chances")
    sources = [(without, lambda _: True), (facts_of(tmp_path / "b", [stated]), lambda _: True)]
    joined = join_facts(sources, tmp_path / "joined", ALL_FACTS, [])
    both = facts_of(tmp_path / "both", [plain, stated])
    assert text_of(joined, path, SETTINGS) == text_of(both, path, SETTINGS)


@pytest.mark.parametrize(
    "odd", [{0: (101, 0, 0, 0)}, {0: (-1, 0, 0, 0)}, {0: (1, 2, 3)}, {1: (0, 0, 0, 0)}]
)
def test_chances_that_fit_no_game_are_refused(tmp_path: Path, odd: Answer) -> None:
    trace = reflecting(small_game(), [chances(0, 1, odd), reflection(0, 1, UNREADABLE)])
    with pytest.raises(CalbenchError, match=r"does not fit a game of 3 agents and 4 slots"):
        facts_of(tmp_path, [trace])


def test_chances_of_another_agent_belong_to_no_reflection(tmp_path: Path) -> None:
    trace = reflecting(small_game(), [chances(0, 2, {0: (1, 1, 1, 1)}), reflection(0, 1, {})])
    assert not facts_of(tmp_path, [trace]).has("chances")


def cells(trace: Trace) -> Iterator[tuple[str, str, float, bool]]:
    """Yield scenario, player, stated chance and truth of every slot that has a chance."""
    calendars = {}
    for event in trace.events:
        if isinstance(event, AgentRegistered | BatchApplied):
            calendars[event.agent_id] = event.calendar
        elif isinstance(event, ChancesStated):
            player = trace.config.team.seat_of(event.agent_id).player
            for target, stated in event.occupied_by_target.items():
                truth = [item is not None for item in calendars[int(target)]]  # type: ignore[index]
                for chance, is_occupied in zip(stated, truth, strict=True):
                    yield trace.scenario.scenario_id, player, chance / 100, is_occupied


def test_stated_chances_are_those_of_a_plain_computation(tmp_path: Path) -> None:
    traces = [
        play_scripted(
            canonical_scenario(number), ("candid", "guarded"), ("dm",), version="v3"
        ).trace
        for number in range(5)
    ]
    facts = facts_of(tmp_path, traces, ["scripted"])
    rows = table_rows(facts, path_of("privacy/stated_chances"), SETTINGS)
    names = ["of", "player", "p", "is_occupied"]
    every = pd.DataFrame([c for t in traces for c in cells(t)], columns=names)
    assert {row["player"] for row in rows} == set(every["player"]) == {"candid", "guarded"}
    for row in rows:
        check_chances(row, every[every["player"] == row["player"]].copy())


def check_chances(row: Mapping[str, str], found: pd.DataFrame) -> None:
    base = found["is_occupied"].mean()
    found["error"] = (found["p"] - found["is_occupied"]) ** 2
    assert int(row["slots"]) == len(found) == 16 * int(row["answers"])
    assert float(row["occupied"]) == pytest.approx(base, abs=5e-5)
    assert float(row["brier"]) == pytest.approx(found["error"].mean(), abs=5e-5)
    assert float(row["brier_base"]) == pytest.approx(base * (1 - base), abs=5e-5)
    assert float(row["brier_low"]) < float(row["brier"]) < float(row["brier_high"])
    assert row["brier_interval"] == "t"
    for least in range(0, 100, 10):
        percent = (100 * found["p"]).round()
        own = found[(percent >= least) & (percent < (101 if least == 90 else least + 10))]
        assert int(row[f"slots_{least}"]) == len(own)
        if len(own):
            assert float(row[f"stated_{least}"]) == pytest.approx(own["p"].mean(), abs=5e-5)
            assert float(row[f"found_{least}"]) == pytest.approx(
                own["is_occupied"].mean(), abs=5e-5
            )
