"""The worked example of the page on what agents learn is what the reader says of that game."""

import re
from ast import literal_eval
from itertools import pairwise

import pytest

from calbench import play_game, score_game
from calbench.metrics.privacy.inference.game import learnt
from tests.cli.runs import REPO
from tests.factories import make_scenario

TEXT = (REPO / "site" / "docs" / "results" / "privacy.md").read_text(encoding="utf-8")
ROW = re.compile(r'^  (\("[a-z-]+", "\d, read by \d", .*\)),$', re.MULTILINE)
ROWS = [literal_eval(found) for found in ROW.findall(TEXT)]
SIGNS = {"errand": "E", "blocked": "B", "free": "."}
CALENDARS = re.findall(r"^\| \d[^|]*\|((?: \w+ \|){6})$", TEXT, re.MULTILINE)

SCENARIO = make_scenario(
    ["".join(SIGNS[word] for word in row.strip(" |").split(" | ")) for row in CALENDARS],
    [(0, 1, 2)],
).updated(params={"density": 0.75, "blocked": 2, "force_witness_errand": False})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_example_is_what_the_reader_says(row: tuple[str, str, list[int], str, str]) -> None:
    team, about, chances, bits, vps = row
    target, observer = (int(each) for each in re.findall(r"\d", about))
    trace = play_game(SCENARIO, team)
    found = learnt(trace)
    (pair,) = [each for each in found.pairs if (each.target, each.observer) == (target, observer)]
    assert f"{pair.bits:.2f}" == bits
    said = found.chances[pair.target, pair.observer]
    assert [round(100 * chance) for chance in said] == chances
    if vps:
        agents = score_game(trace).agents
        assert ", ".join(f"{agent.vps:.2f}" for agent in agents) == vps


def test_example_has_both_sides_of_every_team() -> None:
    assert len(CALENDARS) == 3
    assert all(one[0] == two[0] for one, two in list(pairwise(ROWS))[::2])
    assert len(ROWS) == 10
