"""One player among fixed partners: planted faults are found, and an equal one is not."""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

import pytest

from calbench.cli.main import answer
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, rows

pytestmark = pytest.mark.heavy

PARTNERS = "partners=[example-agent]"
"""All others play as the base does: what differs is the fault alone."""


def own(name: str) -> str:
    place = f"agent: 'tests.cli.focal_players:{name}'"
    return f"+teams.mine={{players: {{{name.lower()}: {{{place}}}}}, seats: [{name.lower()}]}}"


def focal(out: Path, name: str, *more: str) -> dict[str, dict[str, str]]:
    """Play a player of one's own beside the example; return its rows by measure."""
    words = [
        "focal",
        "player=mine",
        "base=example-agent",
        PARTNERS,
        own(name),
        "suite.num_scenarios=9",
    ]
    assert answer([*words, f"out={out}", *more]) == 0
    return {row["measure"]: row for row in rows(out / "tables" / "focal_effects.csv")}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, str]]]:
    out = tmp_path_factory.mktemp("focal") / "run"
    return out, focal(out, "Spender")


Planted = tuple[Path, Mapping[str, Mapping[str, str]]]


def test_a_player_that_pays_and_tells_more_is_found_with_nine_scenarios(planted: Planted) -> None:
    _, found = planted
    assert found["cost"]["scenarios"] == "9"
    for measure in ("cost", "excess_cost", "adjusted_excess_cost", "labels_told"):
        assert found[measure]["verdict"] == "different", measure
        assert float(found[measure]["difference"]) > 0
    assert float(found["labels_told"]["focal"]) == 1
    assert found["labels_learnt"]["verdict"] != "different"  # nobody told it anything


def test_an_equal_player_is_not_told_apart(tmp_path: Path) -> None:
    found = focal(tmp_path / "run", "Plain")
    assert {row["verdict"] for row in found.values()} <= {"identical", "not tested"}


def test_numbers_are_those_of_the_traces(planted: Planted) -> None:
    """The focal agent is found in each trace by its name, and its charges are added up."""
    out, found = planted
    cost, others, seats = [], [], set()
    for path in sorted((out / "traces" / "focal-mine").glob("*.json")):
        trace = json.loads(path.read_bytes())
        players = [seat["player"] for seat in trace["config"]["team"]["seats"]]
        (seat,) = [place for place, player in enumerate(players) if player == "spender"]
        seats.add(seat)
        paid = [0] * len(players)
        for event in trace["events"]:
            if event["type"] == "batch_applied":
                paid[event["agent_id"]] += event["cost"]
        cost.append(paid[seat])
        others.append(sum(paid) - paid[seat])
    assert seats == set(range(5))  # all seats move around the table
    assert float(found["cost"]["focal"]) == pytest.approx(mean(cost), abs=1e-4)
    assert float(found["others_cost"]["focal"]) == pytest.approx(mean(others), abs=1e-4)


def test_every_scenario_is_listed_with_both_sides(planted: Planted) -> None:
    out, found = planted
    games = rows(out / "tables" / "focal_games.csv")
    for measure in ("cost", "labels_told", "others_cost"):
        gaps = [float(row[measure]) - float(row[f"{measure}_without"]) for row in games]
        assert mean(gaps) == pytest.approx(float(found[measure]["difference"]), abs=1e-4)


def test_the_command_says_what_differs_and_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["player=mine", "base=example-agent", PARTNERS, own("Spender"), *SMALL]
    assert answer(["focal", *words, "suite=taste", f"out={tmp_path / 'run'}"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Scenario taste-varied-00" in printed, printed
    assert "spender less announcer in the same seat" in printed
    assert "Scenario taste-varied-00" in printed
    assert "measures differ" in printed or "No difference is shown" in printed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["base=imap", "partners=imap"], "player=: names no team"),
        (["player=sd-map", "base=imap"], "partners=: names no team"),
        (["player=[sd-map,imap]", "base=imap", "partners=imap"], "one team, whose first seat"),
        (["player=imap", "base=imap", "partners=sd-map"], "player=imap: is the base, too"),
        (["player=mediator", "base=candid", "partners=candid"], "sits among protocols alone"),
        (["player=imapp", "base=imap", "partners=sd-map"], "imapp"),
        (["player=imap", "base=sd-map", "partners=imap", "teams=[imap]"], "say who plays"),
    ],
)
def test_what_does_not_fit_is_one_line(command: Command, words: list[str], line: str) -> None:
    ended = command("focal", *words)
    assert (ended.status, ended.out) == (2, "")
    (said,) = ended.error_lines
    assert line in said
