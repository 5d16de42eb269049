"""Featured games: each rule's choice is that of a search through all rows, and ties are the same
again."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.analysis.summary import SUMMARY, RunTables
from calbench.analysis.summary.featured import FEATURED, MOST, RULES
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows

KIND_BY_TEAM = {"imap": "protocol", "gossip": "scripted", "silent": "degenerate", "llm": "model"}
SCENARIOS = [f"s-{number:03}" for number in range(6)]


def made(
    folder: Path, name: str, seed: int, *, most_sensitive: int = 2, **changes: Any
) -> RunTables:
    """Write a run of random games."""
    draw = random.Random(seed)
    games: list[Row] = []
    leaks: list[Row] = []
    regret: list[Row] = []
    cases: list[Row] = []
    meetings: list[Row] = []
    for team in KIND_BY_TEAM:
        for scenario in SCENARIOS:
            key = {"setting": "u", "team": team, "scenario_id": scenario}
            optimum = draw.randrange(4, 7)
            loss = "excess_vps" if team == "imap" else "vps_beyond_chance"
            excess = draw.choice([0, 0, 1, 2, 5])
            games.append(
                {
                    **key,
                    "is_excluded": draw.random() < 0.1,
                    "meetings": 5,
                    "scheduled": draw.choice([4, 5, 5]),
                    "cost": optimum + excess,
                    "oracle_cost": optimum,
                    "excess_cost": excess,
                    "messages": 9,
                    **dict.fromkeys(("excess_vps", "vps_beyond_chance"), 9.0),
                    loss: draw.choice([0.0, 0.25, 7.5, None]),
                    "vps_kind": "protocol" if team == "imap" else "reflection",
                }
                | changes
            )
            for event in sorted(draw.sample(range(30), 3)):
                told = {"event_index": event, "round": 1, "sender": 2, "words": f"w{event}"}
                leaks.append({**key, **told, "sensitive": draw.randrange(most_sensitive + 1)})
            lost_at = draw.choice([None, 7, 11])
            regret.append(
                {
                    **key,
                    "optimum": optimum,
                    "event_index": lost_at,
                    "least_cost_after": None if lost_at is None else optimum + draw.randrange(4),
                }
            )
            is_broken = draw.random() < 0.3
            broken = {"outcome": "earlier_meeting_broken", "broken_meetings": "1 2"}
            meeting = {"team": team, "scenario_id": scenario, "meeting_id": 3, "round": 2}
            meetings.append({**meeting, **(broken if is_broken else {"outcome": "scheduled"})})
            case = {"kind": "outcome", "name": "earlier_meeting_broken", "event_index": 40}
            cases.append({**key, **case, "round": 2})
    standings = [{"setting": "u", "team": t, "kinds": k} for t, k in KIND_BY_TEAM.items()]
    return run_of(
        folder,
        name,
        games=games,
        leaking_messages=leaks,
        regret_by_game=regret,
        audit_cases=cases,
        meetings=meetings,
        standings=standings,
    )


def scored(runs: list[RunTables]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield rule and candidate for every row of every run, in order."""
    for run in runs:
        tables = {
            name: run.table(f"{name}.csv").astype(object).where(lambda t: t.notna(), None)
            for name in ("games", "leaking_messages", "regret_by_game", "meetings")
        }
        ids = list(dict.fromkeys(tables["games"]["scenario_id"]))
        most = len(ids) if run.games == "all" else run.games
        shown = {ids[place * len(ids) // most] for place in range(most)}
        games = {}
        for row in tables["games"].to_dict("records"):
            kind = KIND_BY_TEAM[row["team"]]
            if kind == "degenerate" or row["is_excluded"] or row["scenario_id"] not in shown:
                continue
            game = {"experiment": run.name, "kind": kind, **row}
            games[row["team"], row["scenario_id"]] = game
        yield from _rows(tables, games)


def _rows(tables: Any, games: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in tables["leaking_messages"].to_dict("records"):
        game = games.get((row["team"], row["scenario_id"]))
        if game and row["sensitive"]:
            yield (
                "sensitive_leak",
                {
                    **game,
                    "event": row["event_index"],
                    "rank": (-row["sensitive"], row["event_index"]),
                },
            )
    for row in tables["regret_by_game"].to_dict("records"):
        game = games.get((row["team"], row["scenario_id"]))
        if game and row["event_index"] is not None and row["least_cost_after"] > row["optimum"]:
            loss = row["least_cost_after"] - row["optimum"]
            yield "optimum_lost", {**game, "event": row["event_index"], "rank": (-loss,)}
        if game and game["excess_cost"]:
            regret = (-game["excess_cost"],)
            yield "largest_regret", {**game, "event": row["event_index"], "rank": regret}
    for row in tables["meetings"].to_dict("records"):
        game = games.get((row["team"], row["scenario_id"]))
        if game and row["outcome"] == "earlier_meeting_broken":
            yield "broken_meeting", {**game, "event": 40, "rank": (-2,)}
    for game in games.values():
        is_best = game["scheduled"] == 5 and not game["excess_cost"] and game["oracle_cost"] >= 5
        loss = "excess_vps" if game["vps_kind"] == "protocol" else "vps_beyond_chance"
        if is_best and game[loss] is not None:
            rank = (game[loss], -game["oracle_cost"])
            yield "cheapest_secret", {**game, "event": None, "rank": rank}


def searched(runs: list[RunTables]) -> list[tuple[str, ...]]:
    """Return rule, place, experiment, team, scenario and event as a search finds them."""
    found = list(scored(runs))
    chosen: list[tuple[str, ...]] = []
    for rule in RULES:
        own = [row for name, row in found if name == rule]
        group = "vps_kind" if rule == "cheapest_secret" else "kind"
        best = [
            min((row for row in own if row[group] == value), key=lambda row: row["rank"])
            for value in dict.fromkeys(row[group] for row in own)
        ]
        order = [own.index(row) for row in best]
        if rule == "cheapest_secret":
            best = [row for _, row in sorted(zip(order, best, strict=True), key=lambda p: p[0])]
        else:
            best.sort(key=lambda row: (row["rank"], own.index(row)))
        chosen += [
            (
                rule,
                str(place),
                row["experiment"],
                row["team"],
                row["scenario_id"],
                "" if row["event"] is None else str(int(row["event"])),
            )
            for place, row in enumerate(best[:MOST], start=1)
        ]
    return chosen


def featured(*runs: RunTables) -> list[tuple[str, ...]]:
    if SUMMARY[FEATURED].make(runs_of(*runs)).empty:
        return []
    names = ("rule", "place", "experiment", "team", "scenario_id", "event_index")
    return [tuple(row[name] for name in names) for row in summary_rows(FEATURED, runs_of(*runs))]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(s, marks=pytest.mark.heavy) for s in range(2, 8))]
)
def test_games_are_those_that_a_search_finds(tmp_path: Path, seed: int) -> None:
    one = replace(made(tmp_path, "one", seed), games=4)
    runs = [one, made(tmp_path, "two", seed + 100)]
    found = featured(*runs)
    assert found == searched(runs)
    assert {row[0] for row in found} <= set(RULES)
    assert found


def test_equal_games_are_taken_in_the_order_of_runs(tmp_path: Path) -> None:
    one, two = made(tmp_path, "one", 3), made(tmp_path, "two", 3)
    assert {row[2] for row in featured(one, two)} == {"one"}
    assert {row[2] for row in featured(two, one)} == {"two"}


def test_only_games_that_can_be_stepped_through_are_chosen(tmp_path: Path) -> None:
    run = made(tmp_path, "one", 1)
    assert featured(replace(run, games=0)) == []
    assert {row[4] for row in featured(replace(run, games=1))} == {SCENARIOS[0]}


def test_excluded_games_are_not_chosen(tmp_path: Path) -> None:
    assert featured(made(tmp_path, "one", 1, is_excluded=True)) == []


@pytest.mark.parametrize("storage", ["python", "pyarrow"])
def test_messages_that_tell_no_sensitive_label_are_not_chosen(tmp_path: Path, storage: str) -> None:
    with pd.option_context("mode.string_storage", storage):
        found = featured(made(tmp_path, "one", 1, most_sensitive=0))
    assert {row[0] for row in found} == set(RULES) - {"sensitive_leak"}


def test_runs_without_these_tables_have_no_rows(tmp_path: Path) -> None:
    assert featured() == []
    assert featured(run_of(tmp_path, "bare")) == []
    assert featured(run_of(tmp_path, "none", games=[], standings=[])) == []


def leaking(folder: Path, *leaks: Row) -> dict[str, str]:
    """Return the only row of a run of one game, with these messages that leak."""
    key: Row = {"setting": "u", "team": "gossip", "scenario_id": "s"}
    played = {"is_excluded": False, "meetings": 5, "scheduled": 4, "cost": 9, "oracle_cost": 7}
    run = run_of(
        folder,
        "one",
        games=[{**key, **played, "excess_cost": 2}],
        standings=[{"setting": "u", "team": "gossip", "kinds": "scripted"}],
        leaking_messages=[{**key, "round": 1, "sender": 2, **each} for each in leaks],
    )
    (row,) = summary_rows(FEATURED, runs_of(run))
    return row


def test_row_says_what_its_sentence_needs(tmp_path: Path) -> None:
    row = leaking(tmp_path, {"event_index": 8, "sensitive": 2, "words": "a / <b>"})
    expected = {
        "rule": "sensitive_leak",
        "amount": "2",
        "label": "a / <b>",
        "tier": "sensitive",
        "agent_id": "2",
        "kind": "scripted",
        "cost": "9",
        "optimum": "",
    }
    assert {name: row[name] for name in expected} == expected
