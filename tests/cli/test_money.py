"""What runs with models say about money: before the first call, meanwhile, and at the end."""

from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.llm.client import Mode, Source
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.llm.prices import read_prices
from calbench.runs.money import budget_line, money, spent
from calbench.runs.play import execute
from tests.cli.recording import recording, spoken

PRICED = ("teams=[my-model]", "model.name=openai/gpt-5.4-mini", "model.api_base=null")
OWN = ("teams=[my-model]", "model.name=mine", "model.api_base=http://localhost:1/v1")
CAPPED = "budget.max_usd=15"


def source(mode: Mode = "record") -> Source:
    found = Source(mode=mode, store=Path("replies.sqlite"), prices=read_prices(PRICES))
    found.totals.spent_usd = 0.421
    return found


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ([*PRICED], "US$ 0.42"),
        ([*PRICED, CAPPED], "US$ 0.42 of 15.00"),
        ([*OWN], "US$ -"),
        ([*OWN, "+experiment=mixed5"], "US$ 0.42 and more"),
    ],
)
def test_money_is_shown_with_its_cap_or_as_unknown(overrides: list[str], said: str) -> None:
    if "+experiment=mixed5" in overrides:
        overrides = [each for each in overrides if not each.startswith("teams=")]
    spec = compose(overrides)
    assert money(spec, read_prices(PRICES), 0.421) == said
    assert spent(spec, source()) == said


def test_nothing_is_said_of_money_where_no_model_is_asked() -> None:
    assert spent(compose(["teams=[imap]"]), None) == ""
    assert spent(compose([*PRICED]), source("replay")) == ""


@pytest.mark.parametrize(
    ("overrides", "mode", "said"),
    [
        ([*PRICED, CAPPED], "record", "Budget: at most US$ 15.00, 0.42 spent before"),
        (
            [*PRICED],
            "record",
            (
                "Budget: no cap (budget.max_usd=N sets one), US$ 0.42 spent before; "
                "`estimate` forecasts more"
            ),
        ),
        (
            [*OWN],
            "record",
            "Budget: no cap, and the price of mine is unknown: its cost is not counted",
        ),
        (
            [*PRICED],
            "replay",
            "Budget: nothing is spent, replies come from replies.sqlite",
        ),
    ],
)
def test_budget_is_said_before_the_first_call(overrides: list[str], mode: Mode, said: str) -> None:
    assert budget_line(compose(overrides), source(mode)) == said


async def answering(request: Request, _endpoint: Endpoint) -> Completion:
    return await spoken(request)


@pytest.mark.heavy
def test_run_says_its_budget_first_and_what_the_folder_cost_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = (*PRICED[1:], CAPPED, "suite.num_candidates=3")
    first = execute(recording(str(tmp_path), *few, "suite.num_scenarios=3"), answering)
    lines = capsys.readouterr().err.splitlines()
    (budget,) = [line for line in lines if line.startswith("Budget: ")]
    assert budget == "Budget: at most US$ 15.00, 0.00 spent before"
    games = [line for line in lines if line.startswith("games ")]
    assert lines.index(budget) < lines.index(games[0])
    assert games[-1] == f"games 3/3 gpt-5.4-mini, US$ {first.totals.spent_usd:.2f} of 15.00"
    assert first.money == f"US$ {first.totals.spent_usd:.2f} of 15.00"

    for trace in (tmp_path / "traces" / "gpt-5.4-mini").glob("*-002.json"):
        trace.unlink()
    again = execute(recording(str(tmp_path), *few, "suite.num_scenarios=3"), answering)
    (budget,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("Budget: ")]
    assert budget == f"Budget: at most US$ 15.00, {first.totals.spent_usd:.2f} spent before"
    assert again.money == first.money
