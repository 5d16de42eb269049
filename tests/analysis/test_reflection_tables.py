"""What speakers said they learnt: rows by hand, and how often it was the truth."""

from collections.abc import Sequence
from pathlib import Path

from calbench.analysis.settings import Settings
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Trace
from tests.facts.measured import facts_of, lines_of, written
from tests.metrics.games import canonical_scenario, play_team, with_outcome
from tests.metrics.language_games import (
    UNREADABLE,
    halted,
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
    small_reflected_game,
)

SETTINGS = Settings(DEFAULT_MEASURE, AnalysisSpec(bootstrap_resamples=50))
NAMES = ("reflections", "reflection_calibration")


def lines(folder: Path, name: str, traces: Sequence[Trace]) -> list[str]:
    facts = facts_of(folder, traces, ["words", "more"])
    return lines_of(facts, f"privacy/{name}.csv", SETTINGS)


def renamed(trace: Trace, number: int, setting: str = "test") -> Trace:
    scenario = trace.scenario.updated(scenario_id=f"test-{number:03d}", setting=setting)
    return trace.model_copy(update={"scenario": scenario})


RIGHT = reflecting(small_game(), [reflection(0, 1, {0: (1, 0, 0, 0)})])
WRONG = reflecting(small_game(), [reflection(0, 1, {0: (-1, 0, 0, 0)})])


def test_columns_are_the_public_ones(tmp_path: Path) -> None:
    facts = facts_of(tmp_path / "facts", [])
    assert written(facts, "privacy/reflections.csv", tmp_path).read_text() == (
        "trace_path,game_id,round,target_agent,observer_agent,target_is_participant,"
        "observer_is_participant,target_uses_language,is_readable,is_expected,moved,"
        "moved_toward,moved_away,answered,answered_toward,answered_away,metrics_version\n"
    )
    precision = ",".join(
        f"movements{size},precision{size},precision{size}_low,precision{size}_high,"
        f"precision{size}_interval"
        for size in ("_1", "_2", "_3")
    )
    assert written(facts, "privacy/reflection_calibration.csv", tmp_path).read_text() == (
        "setting,team,reflections,unread,movements,precision,precision_low,precision_high,"
        f"precision_interval,mean_toward,mean_away,{precision},metrics_version\n"
    )


def test_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    trace = small_reflected_game()
    game = f"words/test-000.json,{trace.game_id}"
    found = lines(tmp_path / "a", "reflections", [trace])
    partner = "2.666667,2.333333,0.333333"
    assert len(found) == 12
    assert found[2:5] == [
        f"{game},0,0,1,true,true,true,true,false,{partner},{partner}",
        f"{game},0,2,1,false,true,true,true,false,0,0,0,0,0,0",
        f"{game},0,0,2,true,false,true,true,false,1.333333,0.333333,1,1.333333,0.333333,1",
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
        f"{game},0,0,1,true,true,true,false,,,,,,,",
        f"{game},0,2,1,false,true,true,false,,,,,,,",
    ]
    assert lines(tmp_path / "b", "reflection_calibration", [trace]) == [
        "test,words,2,2,0,,,,,,,0,,,,,0,,,,,0,,,,"
    ]


def test_excluded_games_leave_no_trace(tmp_path: Path) -> None:
    excluded = with_outcome(small_reflected_game(), "provider_fault")
    after_the_last_round = halted(small_reflected_game())
    typed = play_team(canonical_scenario(3), "imap")
    for number, trace in enumerate((excluded, after_the_last_round, typed, halted(typed))):
        for name in NAMES:
            assert lines(tmp_path / f"{number}{name}", name, [trace]) == [], name


def test_bytes_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    first = small_reflected_game()
    second = seated(first, seat("talker"), team="more")
    for name in NAMES:
        one = lines(tmp_path / f"a{name}", name, [first, second])
        assert one == lines(tmp_path / f"b{name}", name, [second, first])
        assert len(one) in (2, 24)
