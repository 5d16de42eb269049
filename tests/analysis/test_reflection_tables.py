from collections.abc import Sequence
from pathlib import Path

from calbench.analysis.privacy import NAMES as TYPED_NAMES
from calbench.analysis.privacy import PrivacyTables
from calbench.analysis.reflections import NAMES, ReflectionTables

from calbench.metrics.measure import METRICS_VERSION
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Trace
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

SPEC = AnalysisSpec(bootstrap_resamples=50)


def write(folder: Path, traces: Sequence[Trace]) -> None:
    with ReflectionTables(folder, ["words", "more"], SPEC) as tables:
        for trace in traces:
            tables.add(trace)
        tables.write()


def lines(folder: Path, name: str) -> list[str]:
    found = (folder / f"{name}.csv").read_text().splitlines()[1:]
    if name in TYPED_NAMES:
        return found
    assert all(line.endswith(f",{METRICS_VERSION}") for line in found)
    return [line.removesuffix(f",{METRICS_VERSION}") for line in found]


def write_typed(folder: Path, traces: Sequence[Trace]) -> None:
    with PrivacyTables(folder, ["words"]) as tables:
        for trace in traces:
            tables.add(trace)
        tables.write()


def test_columns_are_the_public_ones(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert (tmp_path / "reflections.csv").read_text() == (
        "trace_path,game_id,round,target_agent,observer_agent,target_is_participant,"
        "observer_is_participant,target_uses_language,is_readable,is_expected,moved,"
        "moved_toward,moved_away,answered,answered_toward,answered_away,metrics_version\n"
    )
    precision = ",".join(
        f"movements{size},precision{size},precision{size}_low,precision{size}_high"
        for size in ("_1", "_2", "_3")
    )
    assert (tmp_path / "reflection_calibration.csv").read_text() == (
        "setting,team,reflections,unread,movements,precision,precision_low,precision_high,"
        f"mean_toward,mean_away,{precision},metrics_version\n"
    )


def test_tables_of_a_small_game_by_hand(tmp_path: Path) -> None:
    trace = small_reflected_game()
    write(tmp_path, [trace])
    game = f"words/test-000.json,{trace.game_id}"
    found = lines(tmp_path, "reflections")
    partner = "2.666667,2.333333,0.333333"
    assert len(found) == 12
    assert found[2:5] == [
        f"{game},0,0,1,true,true,true,true,false,{partner},{partner}",
        f"{game},0,2,1,false,true,true,true,false,0,0,0,0,0,0",
        f"{game},0,0,2,true,false,true,true,false,1.333333,0.333333,1,1.333333,0.333333,1",
    ]
    # Toward the truth: by 1, by 2 four times, by 3 three times; away: by 1 twice, by 3 thrice.
    assert lines(tmp_path, "reflection_calibration") == [
        "test,words,12,0,13,0.6154,,,2.2500,2.2000,3,0.3333,,,4,1.0000,,,6,0.5000,,"
    ]


def test_precision_has_an_interval_over_scenarios(tmp_path: Path) -> None:
    def renamed(trace: Trace, number: int) -> Trace:
        scenario = trace.scenario.updated(scenario_id=f"test-{number:03d}")
        return trace.model_copy(update={"scenario": scenario})

    right = reflecting(small_game(), [reflection(0, 1, {0: (1, 0, 0, 0)})])
    wrong = reflecting(small_game(), [reflection(0, 1, {0: (-1, 0, 0, 0)})])
    write(tmp_path, [renamed(right, 1), renamed(wrong, 2)])
    assert lines(tmp_path, "reflection_calibration") == [
        "test,words,4,2,2,0.5000,0.0000,1.0000,1.0000,1.0000,2,0.5000,0.0000,1.0000,0,,,,0,,,"
    ]


def test_unreadable_answers_have_rows_without_numbers(tmp_path: Path) -> None:
    trace = reflecting(small_game(), [reflection(0, 1, UNREADABLE)])
    write(tmp_path, [trace])
    game = f"words/test-000.json,{trace.game_id}"
    assert lines(tmp_path, "reflections") == [
        f"{game},0,0,1,true,true,true,false,,,,,,,",
        f"{game},0,2,1,false,true,true,false,,,,,,,",
    ]
    assert lines(tmp_path, "reflection_calibration") == ["test,words,2,2,0,,,,,,0,,,,0,,,,0,,,"]


def test_expected_movements_stand_beside_the_integers(tmp_path: Path) -> None:
    answer = reflection(0, 1, {0: (3, 0, 0, 0), 2: (0, 0, 0, 0)}, {0: (1.5, -0.75, 0.0, 0.0)})
    write(tmp_path, [reflecting(small_game(), [answer])])
    assert lines(tmp_path, "reflections")[0].endswith("true,true,0.75,0.5,0.25,1,1,0")


def test_typed_targets_are_marked(tmp_path: Path) -> None:
    trace = seated(small_game(), seat("imap", "protocol"), seat("talker"))
    answer = reflection(0, 1, {0: (0, 0, 0, 0), 2: (0, 0, 0, 0)})
    write(tmp_path, [reflecting(trace, [answer])])
    marks = [line.split(",")[7] for line in lines(tmp_path, "reflections")]
    assert marks == ["false", "false"]


def test_typed_evidence_says_nothing_about_language(tmp_path: Path) -> None:
    played = play_team(canonical_scenario(3), "imap")
    seats = [seat("imap", "protocol") if agent == 0 else seat("talker") for agent in range(5)]
    write_typed(tmp_path / "mixed", [seated(played, *seats)])
    targets = {
        name: {line.split(",")[place] for line in lines(tmp_path / "mixed", name)}
        for name, place in (
            *(("belief_evidence", 4), ("pair_round_vps", 3)),
            ("game_target_summary", 2),
        )
    }
    assert set(map(frozenset, targets.values())) == {frozenset({"0"})}
    talkers = small_game()
    write_typed(tmp_path / "words", [talkers])
    assert lines(tmp_path / "words", "game_summary") == [
        f"words/test-000.json,{talkers.game_id},,,,,0"
    ]


def test_lost_games_leave_no_trace_in_any_table(tmp_path: Path) -> None:
    lost = with_outcome(small_reflected_game(), "provider_fault")
    after_the_last_round = halted(small_reflected_game())
    typed = seated(play_team(canonical_scenario(3), "imap"), seat("imap", "protocol"))
    for number, trace in enumerate((lost, after_the_last_round, halted(typed))):
        folder = tmp_path / str(number)
        write(folder, [trace])
        write_typed(folder, [trace])
        for name in (*NAMES, *TYPED_NAMES):
            assert lines(folder, name) == [], name


def test_bytes_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    first = small_reflected_game()
    second = seated(first, seat("talker"), team="more")
    write(tmp_path / "a", [first, second])
    write(tmp_path / "b", [second, first])
    for name in NAMES:
        one = (tmp_path / "a" / f"{name}.csv").read_bytes()
        assert one == (tmp_path / "b" / f"{name}.csv").read_bytes()
