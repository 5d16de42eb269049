"""The method page and the code give every constant the same origin."""

import re

import pytest

from tests.cli.runs import REPO
from tests.report.test_method_page import TEXT

TABLE = TEXT[TEXT.index("{#constants}") : TEXT.index("{#deviations}")]

ORIGINS = {
    cells[1].strip(): re.findall(r"\b[PRFC]\b", cells[3])
    for line in TABLE.splitlines()
    if len(cells := line.split("|")) == 5
}

STATED = re.compile(r"\[([PRFC](?:\b[^\]]*)?)\]")
"""An origin, in code as on the page."""

PLACES = {
    "scenarios of a canonical suite": ("conf/suite/varied.yaml", "num_scenarios: 45"),
    "shown costs": ("conf/scenario/varied.yaml", "shown_costs:"),
    "cost of moving a meeting, per participant; of a uniform errand": (
        "conf/scenario/varied.yaml",
        "meeting_cost_level: 1",
    ),
    "first errand id": ("calbench/scenarios/sampling.py", "FIRST_ERRAND_ID ="),
    "attempts to place all meetings": ("calbench/scenarios/sampling.py", "MAX_PLACEMENTS ="),
    "tiers of labels": ("calbench/scenarios/labels.py", "How private a label is"),
    "longest label, characters": ("calbench/scenarios/labels.py", "MAX_CHARS ="),
    "most meetings with an exact feasible count": (
        "calbench/oracle/count.py",
        "MOST_COUNTED_MEETINGS =",
    ),
    "sweeps of talk per round, `max_turns_per_round`": (
        "conf/limits/authors.yaml",
        "max_turns_per_round: 100",
    ),
    "retries of a batch, `decision_retries`": ("conf/limits/authors.yaml", "decision_retries: 1"),
    "messages per round, `dm_cap`": ("conf/limits/authors.yaml", "dm_cap: null"),
    "difficulty weights of SD-MAP, `sd_model`": ("conf/limits/authors.yaml", "sd_model: null"),
    "evidence of an SD-MAP proposal": ("calbench/metrics/privacy/evidence.py", "e = 0.85"),
    "strength of an SD-MAP proposal": ("calbench/metrics/privacy/evidence.py", "k = 0.7"),
    "settings of the DSM presets": ("conf/protocol/dsm-private.yaml", "theta: 10.0"),
    "levels of DSM, D": ("calbench/protocols/dsm/scores.py", "NUM_LEVELS ="),
    "points of DSM at the start": ("calbench/protocols/dsm/account.py", "FIRST_BUDGET ="),
    "modulus of secure sum": ("calbench/domain/sharing.py", "MODULUS ="),
    "prior belief": ("conf/measure/default.yaml", "belief_prior: 0.5"),
    "change of belief in a reflection": ("calbench/agents/reflection.py", "MOST_CHANGE ="),
    "stated chance of prompts `v3`, percent": ("calbench/domain/replies.py", "CERTAIN ="),
    "scripted speakers' chance of what was not mentioned; for each step of a change": (
        "calbench/agents/scripted/speaker.py",
        "EVEN: Final =",
    ),
    "messages per turn that a JSON Schema allows": ("calbench/agents/schemas.py", "MOST_MESS"),
    "VPS floor": ("conf/measure/default.yaml", "vps_floor: 5.0"),
    "movement of a reflection that counts as one slot": (
        "calbench/metrics/privacy/answers.py",
        "GREATEST_MOVEMENT =",
    ),
    "share of excluded games that flags a team": (
        "calbench/analysis/tables/leaderboard.py",
        "EXCLUDED_LIMIT_PERCENT =",
    ),
    "orders of games over which ratings are averaged": ("calbench/stats/spec.py", "orders: "),
    "MMR of a new player; points per unit of ordinal": ("calbench/stats/spec.py", "mmr_scale:"),
}
"""Where the code gives the origin of a row: the first one after these words."""


@pytest.mark.parametrize("constant", PLACES)
def test_origin_is_that_of_the_code(constant: str) -> None:
    path, words = PLACES[constant]
    source = (REPO / path).read_text()

    found = STATED.search(source, source.index(words))

    assert found, f"{path} has no origin after {words!r}"
    assert set(re.findall(r"\b[PRFC]\b(?!\.)", found[1])) == set(ORIGINS[constant]), (
        constant,
        found[1],
    )


@pytest.mark.parametrize(
    "constant",
    [
        "retries of a batch, `decision_retries`",
        "levels of DSM, D",
        "strength of an SD-MAP proposal",
        "MMR of a new player; points per unit of ordinal",
    ],
)
def test_number_that_the_paper_does_not_give_is_not_called_its_own(constant: str) -> None:
    assert "P" not in ORIGINS[constant]
