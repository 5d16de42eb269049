"""Tables over several runs: rows brought together, and held against published numbers."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from calbench.analysis.summary import SUMMARY, Runs, RunTables, write_summary
from calbench.analysis.tables import TABLES
from calbench.errors import FileError
from calbench.facts.columns import Column

Row = Mapping[str, str]


def write(path: Path, columns: Sequence[Column], rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [c.name for c in columns], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def run(folder: Path, name: str, **tables: Sequence[Row]) -> RunTables:
    for table, rows in tables.items():
        path = f"{table}.csv"
        version = {"metrics_version": "2"}
        write(folder / name / path, TABLES[path].columns, [{**version, **row} for row in rows])
    return RunTables(name, folder / name)


def summary(
    folder: Path,
    compared: Sequence[RunTables] = (),
    scaled: Sequence[RunTables] = (),
    drawn: Sequence[RunTables] = (),
    browsed: Sequence[RunTables] = (),
) -> dict[str, list[dict[str, str]]]:
    """Write the tables, and read them as pages do."""
    write_summary(Runs(compared, browsed, scaled, drawn, folder / "published"), folder / "out")
    found = {}
    for path in (folder / "out").glob("*.csv"):
        with path.open(newline="") as file:
            found[path.name] = list(csv.DictReader(file))
    return found


def standing(team: str, kinds: str = "protocol", **cells: str) -> Row:
    place = {"setting": "s", "suite_digest": "one", "channels": "dm", "kinds": kinds}
    return {**place, "team": team, **cells}


ORACLE = standing("oracle", "reference", scenarios="3")


def test_runs_on_the_same_scenarios_are_one_view_with_one_oracle(tmp_path: Path) -> None:
    first = run(tmp_path, "first", standings=[standing("a"), standing("b"), ORACLE])
    second = run(tmp_path, "second", standings=[standing("c", "model scripted"), ORACLE])

    rows = summary(tmp_path, [first, second])["leaderboard.csv"]

    assert [(r["experiment"], r["team"], r["kind"]) for r in rows] == [
        ("first", "a", "protocol"),
        ("first", "b", "protocol"),
        ("second", "c", "language models and scripted agents"),
        ("", "oracle", "reference"),
    ]
    assert {row["channel"] for row in rows} == {"private messages"}


def test_other_scenarios_or_channels_are_another_view(tmp_path: Path) -> None:
    other = {**standing("a"), "suite_digest": "two"}
    spoken = {**standing("a"), "channels": "dm all_agent_groupchat"}
    runs = [
        run(tmp_path, name, standings=[row])
        for name, row in (("one", standing("a")), ("later", other), ("heard", spoken))
    ]

    rows = summary(tmp_path, runs)["leaderboard.csv"]

    assert [(row["experiment"], row["channel"]) for row in rows] == [
        ("one", "private messages"),
        ("later", "private messages, later"),
        ("heard", "private messages and to all agents"),
    ]


def test_letters_of_two_runs_are_never_the_same(tmp_path: Path) -> None:
    def tied(team: str, ties: str) -> Row:
        return standing(team, excess_cost_ties=ties)

    first = run(tmp_path, "first", standings=[tied("a", "a"), tied("b", "a b"), tied("c", "")])
    second = run(tmp_path, "second", standings=[tied("d", "a"), tied("e", "a b")])
    third = run(tmp_path, "third", standings=[tied("f", "w x y a2")])

    rows = summary(tmp_path, [first, second, third])["leaderboard.csv"]

    assert [row["excess_cost_ties"] for row in rows] == ["a", "a b", "", "c", "c d", "a2 b2 c2 e2"]


def test_n_is_said_of_measures_that_have_a_value(tmp_path: Path) -> None:
    row = standing("a", excess_cost="1.5000", excess_cost_n="4", messages_n="0")

    (found,) = summary(tmp_path, [run(tmp_path, "one", standings=[row])])["leaderboard.csv"]

    assert (found["excess_cost"], found["excess_cost_n"], found["messages_n"]) == (
        "1.5000", "4", "",
    )  # fmt: skip


def told(setting: str, team: str, scenario: str) -> Row:
    place = {"setting": setting, "team": team, "scenario_id": scenario}
    return {**place, "event_index": "1", "words": scenario}


def test_rows_stand_by_run_and_messages_by_team(tmp_path: Path) -> None:
    first = run(
        tmp_path, "first",
        leaking_messages=[told("s", "a", "1"), told("s", "b", "2"), told("t", "a", "3")],
        agent_game_counts=[{"setting": "s", "team": "a", "agent_games": "3"}],
    )  # fmt: skip
    second = run(
        tmp_path, "second",
        leaking_messages=[told("s", "a", "4")],
        agent_game_counts=[{"setting": "s", "team": "a", "agent_games": "5"}],
    )  # fmt: skip

    found = summary(tmp_path, [first, second])

    assert [row["words"] for row in found["leaking_messages.csv"]] == ["1", "3", "2", "4"]
    assert [(r["experiment"], r["agent_games"]) for r in found["agent_game_counts.csv"]] == [
        ("first", "3"),
        ("second", "5"),
    ]
    assert "metrics_version" not in found["agent_game_counts.csv"][0]


def test_table_without_a_row_is_written_and_without_a_run_is_not(tmp_path: Path) -> None:
    found = summary(tmp_path, [run(tmp_path, "one", leaking_messages=[])])

    assert found == {"leaking_messages.csv": []}
    header = (tmp_path / "out" / "leaking_messages.csv").read_text().split(",")
    assert header[:3] == ["experiment", "setting", "team"]


def test_settings_are_called_as_pages_call_them(tmp_path: Path) -> None:
    rows = [{"setting": "s", "tertile": "easy", "least": "0.1000000000"}]
    own, other = (run(tmp_path, name, difficulty=rows) for name in ("s", "other"))

    found = summary(tmp_path, browsed=[own, other])["difficulty.csv"]

    assert [(row["setting"], row["least"]) for row in found] == [
        ("s", "0.1000000000"), ("other: s", "0.1000000000"),
    ]  # fmt: skip


def test_bytes_stand_by_team_and_number_of_agents(tmp_path: Path) -> None:
    sizes = [("x", "b", "20"), ("x", "a", "20"), ("y", "b", "5"), ("y", "a", "5")]
    rows = [{"setting": s, "team": t, "agents": n} for s, t, n in sizes]

    found = summary(tmp_path, scaled=[run(tmp_path, "scale", scale_bytes=rows)])["scale_bytes.csv"]

    assert [(row["team"], row["agents"]) for row in found] == [
        ("b", "5"), ("b", "20"), ("a", "5"), ("a", "20"),
    ]  # fmt: skip


def drawn(folder: Path, excess: str) -> RunTables:
    """Two draws of a suite, on which protocols of the paper were played."""

    def found(team: str, measure: str, least: str, greatest: str) -> Row:
        ends = {"least": least, "greatest": greatest}
        return {"setting": "s", "team": team, "suites": "2", "measure": measure, **ends}

    write(
        folder / "published" / "table2.csv",
        [Column(name, "text", "", "") for name in ("source", "setting", "team", "excess_cost",
         "coordination", "messages", "fairness", "excess_vps", "note")],
        [
            {"source": "paper", "setting": "s", "team": "imap", "excess_cost": excess,
             "fairness": "0.40"},
            {"source": "paper", "setting": "s", "team": "sd-map", "excess_cost": "9"},
        ],
    )  # fmt: skip
    boards = [
        {"setting": f"s-seed{seed}", "team": "imap", "excess_cost": "0.3",
         "excess_cost_low": low, "excess_cost_high": high}
        for seed, low, high in ((0, "0.1000", "0.3000"), (1, "0.2500", "0.6000"))
    ]  # fmt: skip
    return run(
        folder, "draws",
        draws=[
            found("own", "excess_cost", "0.0000", "1.0000"),
            found("sd-map-cap4", "excess_cost", "1.0000", "2.0000"),
            found("imap", "excess_cost", "0.2000", "0.3000"),
            found("imap", "fairness", "0.5000", "0.6000"),
            found("imap", "fairness_least", "0.3000", "0.4000"),
            found("imap", "fairness_greatest", "0.6000", "0.7000"),
        ],
        leaderboard=boards,
    )  # fmt: skip


def test_protocols_of_the_paper_stand_in_its_order(tmp_path: Path) -> None:
    rows = summary(tmp_path, drawn=[drawn(tmp_path, "0.26")])["table2.csv"]

    assert [row["team"] for row in rows] == ["imap"] * 4 + ["sd-map-cap4"]


@pytest.mark.parametrize(
    ("published", "place"),
    [
        ("0.26", "among ours"),
        ("0.304", "in an interval"),
        ("0.3005", "in an interval"),
        ("0.19", "in an interval"),
        ("0.2", "among ours"),
        ("0.09", "below ours"),
        ("0.7", "above ours"),
        ("0.6", "in an interval"),
    ],
)
def test_published_number_has_its_place_among_ours(
    tmp_path: Path, published: str, place: str
) -> None:
    rows = summary(tmp_path, drawn=[drawn(tmp_path, published)])["table2_places.csv"]
    found = {(row["team"], row["measure"]): row for row in rows}

    cost = found["imap", "excess_cost"]
    assert (cost["published"], cost["least"], cost["greatest"]) == (published, "0.2000", "0.3000")
    assert cost["place"] == place
    assert found["imap", "fairness"]["place"] == "below ours"
    ties = found["imap", "fairness_over_ties"]
    assert (ties["least"], ties["greatest"], ties["place"]) == ("0.3000", "0.7000", "among ours")
    capped = found["sd-map-cap4", "excess_cost"]
    assert (capped["published_team"], capped["place"]) == ("sd-map", "above ours")
    assert ("own", "excess_cost") not in found


@pytest.mark.parametrize("published", ["NaN", "Infinity", "x"])
def test_published_words_are_no_numbers(tmp_path: Path, published: str) -> None:
    with pytest.raises(FileError, match="a published table holds"):
        summary(tmp_path, drawn=[drawn(tmp_path, published)])


def test_every_table_says_what_it_holds_and_what_names_a_row() -> None:
    assert {"leaderboard.csv", "table2.csv", "telling_messages.csv"} <= SUMMARY.keys()
    for path, each in SUMMARY.items():
        assert each.path == path
        assert each.about.endswith(".")
        assert any(column.is_key for column in each.columns)
