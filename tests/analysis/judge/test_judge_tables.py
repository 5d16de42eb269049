"""The tables of the judge audit: a small game by hand, and laws of real ones."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from calbench import play_game
from calbench.analysis.output import CASE_FILE, JUDGE_TABLES, write_judge_tables, write_tables
from calbench.analysis.registry import Settings
from calbench.analysis.scoring import ALL_FACTS
from calbench.facts.frames import csv_text, read_parquet
from calbench.facts.judged import JUDGE_FACTS, VERDICT_FACTS, judged_batch
from calbench.facts.storage import Facts, FactsWriter
from calbench.llm.completion import Completion
from calbench.metrics.judge.cases import RoundCase, Verdict, cases_of, verdict_of
from calbench.metrics.judge.scripted import scripted_verdicts
from calbench.metrics.measure import METRICS_VERSION, MeasureSpec
from calbench.stats.agreement import chance_agreement, jackknife_intervals, ratio
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Trace
from tests.analysis.judge.games import reflected_game, spoken_game
from tests.facts.measured import facts_of
from tests.metrics.games import canonical_scenario, with_outcome
from tests.metrics.language_games import (
    SMALL_REFLECTIONS,
    UNREADABLE,
    reflecting,
    reflection,
    seat,
    seated,
)

SPEC = AnalysisSpec(permutations=99)

Row = dict[str, str]


def judged(
    folder: Path,
    traces: Sequence[Trace],
    judge: str = "scripted",
    verdicts: Callable[[Trace], Sequence[Verdict]] = scripted_verdicts,
) -> Facts:
    with FactsWriter(folder, VERDICT_FACTS, ["words"]) as facts:
        for trace in traces:
            facts.add(judged_batch(trace, verdicts(trace), judge))
        return facts.write()


def write(
    folder: Path, traces: Sequence[Trace], floor: float = 5.0, spec: AnalysisSpec = SPEC
) -> None:
    settings = Settings(MeasureSpec(vps_floor=floor), spec)
    facts = judged(folder.with_name(f"{folder.name}-facts"), traces)
    write_judge_tables(facts, folder, settings)


def text_of(folder: Path, name: str) -> str:
    """Return a table as CSV, as which it is written unless it grows with messages."""
    if name.endswith(".csv"):
        return (folder / name).read_text()
    return "".join(csv_text([read_parquet(folder / name)], JUDGE_TABLES[name].columns))


def rows(folder: Path, name: str) -> list[Row]:
    name = next(path for path in JUDGE_TABLES if path.partition(".")[0] == name)
    reader = csv.DictReader(text_of(folder, name).splitlines())
    columns = [column.name for column in JUDGE_TABLES[name].columns]
    assert list(reader.fieldnames or ()) == columns
    found = list(reader)
    assert all(row["judge"] == "scripted" for row in found)
    assert all(row["metrics_version"] == str(METRICS_VERSION) for row in found)
    return found


def statistics(folder: Path, unit: str) -> dict[str, float]:
    found = [row for row in rows(folder, "judge_agreement") if row["unit"] == unit]
    return {row["statistic"]: float(row["value"]) for row in found if row["value"]}


def renamed(trace: Trace, number: int) -> Trace:
    scenario = trace.scenario.updated(scenario_id=f"test-{number:03d}")
    return trace.model_copy(update={"scenario": scenario})


@pytest.mark.heavy
def test_a_run_that_asks_for_the_scripted_judge_gets_what_the_command_writes(
    tmp_path: Path,
) -> None:
    games = [renamed(reflected_game(), number) for number in range(2)]
    excluded = renamed(with_outcome(reflected_game(), "provider_fault"), 2)
    facts = facts_of(
        tmp_path / "facts", [*games, excluded], ["words"], facts=(*ALL_FACTS, *JUDGE_FACTS)
    )
    settings = Settings(analysis=SPEC)
    write_judge_tables(judged(tmp_path / "alone", [*games, excluded]), tmp_path / "out", settings)
    write_tables(facts, tmp_path / "whole", settings)
    assert files(tmp_path / "whole" / "judge") == files(tmp_path / "out")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_without_a_game_that_counts_tables_are_headers_and_name_the_judge(tmp_path: Path) -> None:
    excluded = with_outcome(reflected_game(), "provider_fault")
    facts = judged(tmp_path / "facts", [excluded], "some-model")
    write_judge_tables(facts, tmp_path / "out", Settings(analysis=SPEC))
    for name, table in JUDGE_TABLES.items():
        columns = ",".join(column.name for column in table.columns)
        assert text_of(tmp_path / "out", name) == f"{columns}\n"
    assert json.loads((tmp_path / "out" / CASE_FILE).read_text()) == {
        "judge": "some-model",
        "metrics_version": METRICS_VERSION,
        "prompt": "v1",
        "cases": [],
    }


def test_beliefs_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "out", [reflected_game()])
    names = ("round", "observer_agent", "target_agent", "slot", "delta")
    calibrated = rows(tmp_path / "out", "judge_beliefs_calibrated")
    assert [
        (*(int(row[name]) for name in names), row["is_occupied"], row["is_toward_truth"])
        for row in calibrated
    ] == [
        (0, 0, 1, 0, -3, "false", "true"),
        (0, 0, 1, 1, 3, "true", "true"),
        (0, 1, 0, 1, -1, "true", "false"),
        (0, 1, 0, 2, 3, "true", "true"),
        (0, 1, 0, 3, -1, "false", "true"),
        (0, 2, 1, 0, -3, "false", "true"),
        (1, 2, 1, 1, 2, "true", "true"),
    ]
    sizes = [(row["slot_equivalents"], row["calibrated"]) for row in calibrated]
    third, one = "0.333333", ("1", "1")
    assert sizes == [one, one, (third, "0"), one, (third, third), one, ("0.666667", "0.666667")]
    raw = rows(tmp_path / "out", "judge_beliefs")
    assert raw == [{name: row[name] for name in raw[0]} for row in calibrated]


def test_comparison_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "out", [reflected_game()], floor=1.0)
    (row,) = rows(tmp_path / "out", "metric_comparison")
    # Judge: 5 steps about agent 0 (4 toward), 11 about 1 (11); reflections: 8, 5 and 5 toward.
    expected = {
        "vps_kind": "reflection",
        "games": "1",
        "cases": "4",
        "unread": "0",
        "beliefs": "7",
        "game_targets": "3",
        "judge_vps": "5.333333",
        "judge_vps_calibrated": "5.000000",
        "judge_excess_vps": "3.000000",  # (4/3 - 1) + (11/3 - 1)
        "measured_targets": "3",
        "primary_vps": "6.000000",
        "primary_excess_vps": "3.000000",  # (8/3 - 1) + 2 (5/3 - 1)
        "mean_judge_vps": "1.7778",
        "mean_judge_vps_calibrated": "1.6667",
        "mean_primary_vps": "2.0000",
        # +1 everywhere: occupied slots of the others of 0, 1, 2 in round 0, and of 2 in round 1.
        "judge_vps_constant": "5.000000",  # ((1 + 1) + (3 + 1) + (3 + 1) + (3 + 2)) / 3
        # Eighths of a step, of both targets of a case: 0 hears of 1 and 2 (3*1 + 3*3) twice, 1 of
        # 0 and 2 (3*3 + 2*1) and (3*1 + 2*3), 2 of 0 and 1 3*1 and 3*3, then 2*3 and 2*2.
        "judge_vps_by_chance": "2.750000",
        "judge_vps_beyond_chance": "2.250000",
        "mean_judge_vps_beyond_chance": "0.7500",
    }
    assert {name: row[name] for name in expected} == expected
    assert not [name for name in row if name.startswith("gap")]


def test_agreement_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "out", [reflected_game()])
    judge = [-3, 3, 0, 0, *[0] * 4, 0, -1, 3, -1, *[0] * 4, *[0] * 4, -3, 2, 0, 0]
    reflection = [0, -3, 3, 0, 0, 2, 0, 0, 3, -1, 2, -2, 3, 1, 0, 0, 0, 1, 0, 3, 2, 0, 0, -3]
    both = [(j, r) for j, r in zip(judge, reflection, strict=True) if j and r]
    expected = (4 * 4 + 3 * 9 + 17 * 11) / 24**2
    assert statistics(tmp_path / "out", "cell") == pytest.approx(
        {
            "union_cells": 24,
            "judge_nonzero": 7,
            "reflection_nonzero": 13,
            "both_nonzero": 5,
            "same_direction": 3,
            "jaccard": 5 / 15,
            "judge_coverage": 5 / 13,
            "reflection_coverage": 5 / 7,
            "directional_agreement": 3 / 5,
            "kappa": (12 / 24 - expected) / (1 - expected),
            "pearson": pearsonr(judge, reflection).statistic,
            "pearson_both": pearsonr(*zip(*both, strict=True)).statistic,
        },
        abs=5e-5,
    )
    by_round = statistics(tmp_path / "out", "round_cell")
    counts = ("union_cells", "judge_nonzero", "reflection_nonzero", "both_nonzero")
    assert [by_round[name] for name in counts] == [48, 7, 13, 3]


def test_cells_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "out", [reflected_game()])
    found = rows(tmp_path / "out", "judge_reflection_cell_agreement")
    names = ("observer_agent", "target_agent", "slot", "judge_rows", "judge_delta", "judge_mean")
    more = ("reflection_rows", "reflection_delta", "reflection_mean", "agreement")
    of_one = [[row[name] for name in (*names, *more)] for row in found]
    assert of_one[:3] == [
        ["0", "1", "0", "1", "-3", "-3", "2", "0", "0", "judge_only"],
        ["0", "1", "1", "1", "3", "3", "2", "-3", "-1.5", "opposite"],
        ["0", "1", "2", "1", "0", "0", "2", "3", "1.5", "reflection_only"],
    ]
    assert of_one[-3:] == [
        ["2", "1", "0", "2", "-3", "-1.5", "2", "2", "1", "opposite"],
        ["2", "1", "1", "2", "2", "1", "2", "0", "0", "judge_only"],
        ["2", "1", "3", "2", "0", "0", "2", "-3", "-1.5", "reflection_only"],
    ]
    assert len(found) == 15
    assert ["1", "2", "0", "1", "0", "0", "2", "3", "1.5", "reflection_only"] in of_one


def test_precision_of_a_small_game_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "out", [reflected_game()])
    found = rows(tmp_path / "out", "judge_vs_reflection_precision")
    numbers = [(r["target_agent"], r["judge_toward"], r["judge_movements"]) for r in found]
    assert numbers == [("0", "2", "3"), ("1", "4", "4")]
    others = [(r["reflection_toward"], r["reflection_movements"]) for r in found]
    assert others == [("4", "6"), ("2", "4")]
    assert [(row["gap"], row["more_precise"]) for row in found] == [
        ("0.000000", "tied"),
        ("0.500000", "judge"),
    ]
    assert rows(tmp_path / "out", "judge_more_precise_than_reflection") == found[1:]
    assert statistics(tmp_path / "out", "movement") == pytest.approx(
        {
            "judge_movements": 7,
            "judge_toward": 6,
            "reflection_movements": 13,
            "reflection_toward": 8,
            "judge_precision": 6 / 7,
            "reflection_precision": 8 / 13,
        },
        abs=5e-5,
    )
    assert statistics(tmp_path / "out", "game_target") == {
        "joined_targets": 2,
        "judge_more_precise": 1,
        "reflection_more_precise": 0,
        "tied": 1,
        "judge_more_precise_share": 0.5,
        "mean_gap": 0.25,
        "mean_gap_judge_more_precise": 0.5,
    }


def test_reflections_may_be_the_more_precise(tmp_path: Path) -> None:
    """About agent 0, whom reflections now get right 4 times in 5, the judge 2 in 3."""
    answers = list(SMALL_REFLECTIONS)
    answers[2] = reflection(0, 2, {0: (0, 1, 0, 0), 1: (0, 0, 0, 0)})
    write(tmp_path / "out", [reflecting(spoken_game(), answers)])
    found = rows(tmp_path / "out", "judge_vs_reflection_precision")
    assert [(row["gap"], row["more_precise"]) for row in found] == [
        ("-0.133333", "reflection"),
        ("0.500000", "judge"),
    ]
    (listed,) = rows(tmp_path / "out", "judge_more_precise_than_reflection")
    assert listed["target_agent"] == "1"
    assert statistics(tmp_path / "out", "game_target") == {
        "joined_targets": 2,
        "judge_more_precise": 1,
        "reflection_more_precise": 1,
        "tied": 0,
        "judge_more_precise_share": 0.5,
        "mean_gap": 0.1833,
        "mean_gap_judge_more_precise": 0.5,
    }


def test_unreadable_answers_are_counted_and_move_nothing(tmp_path: Path) -> None:
    nonsense = Completion(text="Occupied, all of them!", finish_reason="stop")
    facts = judged(
        tmp_path / "facts",
        [reflected_game()],
        verdicts=lambda trace: [verdict_of(case, nonsense) for case in cases_of(trace)],
    )
    write_judge_tables(facts, tmp_path / "out", Settings(analysis=SPEC))
    (row,) = rows(tmp_path / "out", "metric_comparison")
    assert (row["cases"], row["unread"], row["beliefs"]) == ("4", "4", "0")
    assert float(row["judge_vps"]) == 0
    # What is unknown is not 0: only observers to whom nothing was delivered are left.
    found = statistics(tmp_path / "out", "round_cell")
    names = ("union_cells", "judge_nonzero", "reflection_nonzero")
    assert [found[name] for name in names] == [16, 0, 3]
    problems = {
        case["problem"] for case in json.loads((tmp_path / "out" / CASE_FILE).read_text())["cases"]
    }
    assert problems == {"not_json"}


def test_a_round_without_a_readable_reflection_is_not_compared(tmp_path: Path) -> None:
    answers = [reflection(0, 1, UNREADABLE), *SMALL_REFLECTIONS[:1], *SMALL_REFLECTIONS[2:]]
    write(tmp_path / "unread", [reflecting(spoken_game(), answers)])
    write(tmp_path / "unasked", [reflecting(spoken_game(), answers[1:])])
    for case in ("unread", "unasked"):
        found = statistics(tmp_path / case, "round_cell")
        names = ("union_cells", "judge_nonzero", "reflection_nonzero")
        assert [found[name] for name in names] == [40, 4, 9]
        (row,) = rows(tmp_path / case, "metric_comparison")
        assert row["beliefs"] == "7"


def of_team(trace: Trace, team: str) -> Trace:
    named = trace.config.team.model_copy(update={"team_id": team})
    return trace.model_copy(update={"config": trace.config.model_copy(update={"team": named})})


def test_intervals_are_over_the_scenarios_that_a_team_played(tmp_path: Path) -> None:
    one, other = reflected_game(), reflecting(spoken_game(), SMALL_REFLECTIONS[1:])
    games = [renamed(each, number) for number, each in enumerate((one, other) * 8)]
    games += [of_team(renamed(one, 0), "late"), of_team(renamed(other, 3), "late")]
    spec = AnalysisSpec(permutations=99, confidence=0.8)
    write(tmp_path / "out", games, spec=spec)
    found = rows(tmp_path / "out", "judge_agreement")
    assert list(dict.fromkeys((row["team"], row["unit"]) for row in found)) == [
        (team, unit)
        for team in ("words", "late")
        for unit in ("cell", "round_cell", "movement", "game_target")
    ]
    assert not [row for row in found if row["value_low"] and row["value_low"] == row["value_high"]]
    shown = [row for row in found if row["statistic"] == "judge_precision"]
    # The other game has the same movements by the judge: 6 of 7 on every scenario.
    assert [(row["value"], row["value_low"], row["value_interval"]) for row in shown] == [
        ("0.8571", "", "same"),
        ("0.8571", "", "few"),
    ]
    # Reflected movements, and those toward the truth, on each of 16 scenarios.
    small, smaller = (13.0, 8.0), (11.0, 7.0)
    (row,) = (
        row for row in found if (row["team"], row["statistic"]) == ("words", "reflection_precision")
    )
    expected = jackknife_intervals(
        np.array([small, smaller] * 8),
        [(lambda sums: ratio(sums[..., 1], sums[..., 0]), 0.0)],
        spec,
    )
    ends = (float(row["value"]), float(row["value_low"]), float(row["value_high"]))
    assert ends == pytest.approx([each[0] for each in expected[:3]], abs=5e-5)
    assert (row["scenarios"], row["value_interval"]) == ("16", "t")


def in_setting(trace: Trace, setting: str) -> Trace:
    scenario = trace.scenario.updated(
        setting=setting, scenario_id=f"{setting}-{trace.scenario.scenario_id}"
    )
    return trace.model_copy(update={"scenario": scenario})


def test_settings_have_rows_of_their_own_and_one_of_all(tmp_path: Path) -> None:
    turned = reflecting(spoken_game(("..B.", "E...", "...E")), SMALL_REFLECTIONS)
    apart = {"uniform": [reflected_game()], "varied": [turned, renamed(turned, 1)]}
    games = [in_setting(game, name) for name, own in apart.items() for game in own]
    only = of_team(in_setting(reflected_game(), "uniform"), "late")
    write(tmp_path / "out", [*games, only])
    found = {(r["setting"], r["team"]): r for r in rows(tmp_path / "out", "metric_comparison")}
    assert list(found) == [
        ("uniform", "words"), ("uniform", "late"), ("varied", "words"), ("all", "words")
    ]  # fmt: skip
    summed = ("games", "scenarios", "cases", "beliefs", "judge_vps", "judge_vps_by_chance")
    for name in (*summed, "primary_vps"):
        parts = [float(found[setting, "words"][name]) for setting in apart]
        assert float(found["all", "words"][name]) == pytest.approx(sum(parts), abs=2e-4)
    cells = {
        (row["setting"], row["team"], row["statistic"]): row
        for row in rows(tmp_path / "out", "judge_agreement")
        if row["unit"] == "cell"
    }
    counts = [int(cells[name, "words", "both_nonzero"]["value"]) for name in (*apart, "all")]
    assert counts[2] == counts[0] + counts[1]
    whole = cells["all", "words", "directional_agreement"]
    assert (whole["scenarios"], whole["p_value"]) == ("3", "")
    assert ("all", "late", "kappa") not in cells


def test_one_measured_agent_is_enough_for_a_primary_measure(tmp_path: Path) -> None:
    """Agent 2 is typed and says nothing; the others were asked for no reflection."""
    talker, typed = seat("talker"), seat("imap", "protocol")
    write(tmp_path / "out", [seated(spoken_game(), talker, talker, typed)])
    (row,) = rows(tmp_path / "out", "metric_comparison")
    assert (row["game_targets"], row["measured_targets"]) == ("3", "1")
    assert (row["vps_kind"], row["primary_vps"]) == ("protocol", "0.000000")


def test_losses_by_two_instruments_are_not_added_up(tmp_path: Path) -> None:
    talker, typed = seat("talker"), seat("imap", "protocol")
    write(tmp_path / "out", [seated(reflected_game(), talker, talker, typed)])
    (row,) = rows(tmp_path / "out", "metric_comparison")
    assert (row["vps_kind"], row["primary_vps"], row["mean_primary_vps"]) == ("mixed", "", "")
    assert row["judge_vps"] == "5.333333"


def constant(case: RoundCase) -> Verdict:
    """Call every slot a little occupied, whatever was said."""
    answer = {str(agent): [1] * case.case.num_slots for agent in case.case.others}
    text = json.dumps({"beliefs": answer})
    return verdict_of(case, Completion(text=text, finish_reason="stop"))


def test_a_judge_that_reads_nothing_finds_nothing_beyond_chance(tmp_path: Path) -> None:
    facts = judged(
        tmp_path / "facts",
        [reflected_game()],
        verdicts=lambda trace: [constant(case) for case in cases_of(trace)],
    )
    write_judge_tables(facts, tmp_path / "out", Settings(analysis=SPEC))
    (row,) = rows(tmp_path / "out", "metric_comparison")
    found = [row[f"judge_vps_{name}"] for name in ("calibrated", "constant", "by_chance")]
    assert found == [found[0]] * 3
    assert float(found[0]) > 0
    assert row["judge_vps_beyond_chance"] == "0.000000"


def signs_of(folder: Path, team: str) -> dict[str, np.ndarray]:
    """Return the sign of every cell that anybody moved, ``[game, cell]``, by side."""
    found = [
        row
        for row in rows(folder, "judge_reflection_cell_agreement")
        if row["trace_path"].startswith(f"{team}/")
    ]
    games = sorted({row["trace_path"] for row in found})
    where = sorted({(r["observer_agent"], r["target_agent"], r["slot"]) for r in found})
    signs = {side: np.zeros((len(games), len(where))) for side in ("judge", "reflection")}
    for row in found:
        cell = where.index((row["observer_agent"], row["target_agent"], row["slot"]))
        for side, each in signs.items():
            each[games.index(row["trace_path"]), cell] = np.sign(int(row[f"{side}_delta"]))
    return signs


def test_agreement_is_held_against_reflections_of_other_games(tmp_path: Path) -> None:
    one, other = reflected_game(), reflecting(spoken_game(), SMALL_REFLECTIONS[1:])
    turned = reflecting(spoken_game(("..B.", "E...", "...E")), SMALL_REFLECTIONS)
    games = [renamed(each, number) for number, each in enumerate((one, other, turned))]
    games += [of_team(each, "late") for each in games[1:]]
    games += [of_team(renamed(one, 9), "single")]
    spec = AnalysisSpec(permutations=199)
    write(tmp_path / "out", games, spec=spec)
    found = {
        (row["team"], row["statistic"]): row
        for row in rows(tmp_path / "out", "judge_agreement")
        if row["unit"] == "cell"
    }
    for team in ("words", "late"):
        signs = signs_of(tmp_path / "out", team)
        both = signs["judge"], signs["reflection"]
        expected = chance_agreement(*both, spec, "judge", "test", "cell")
        assert expected is not None
        assert float(found[team, "by_chance"]["value"]) == pytest.approx(expected[0], abs=5e-5)
        stated = found[team, "directional_agreement"]["p_value"]
        assert float(stated) == pytest.approx(expected[1], abs=5e-5)
        assert found[team, "by_chance"]["p_value"] == found[team, "kappa"]["p_value"] == ""
    assert found["words", "by_chance"]["value"] != found["late", "by_chance"]["value"]
    assert found["single", "by_chance"]["value"] == ""
    assert found["single", "directional_agreement"]["p_value"] == ""


def test_games_without_reflections_are_compared_with_the_semantics(tmp_path: Path) -> None:
    trace = play_game(canonical_scenario(3), "imap")
    write(tmp_path / "typed", [trace])
    (row,) = rows(tmp_path / "typed", "metric_comparison")
    assert (row["vps_kind"], row["measured_targets"]) == ("protocol", "5")
    assert float(row["primary_vps"]) == 85  # by hand, see the measure
    assert rows(tmp_path / "typed", "judge_agreement") == []
    write(tmp_path / "words", [spoken_game()])
    (row,) = rows(tmp_path / "words", "metric_comparison")
    assert (row["measured_targets"], row["primary_vps"], row["vps_kind"]) == ("0", "", "")
