"""What a run with models says about money: before the first call, while it plays, at its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from calbench.config.spec import RunSpec
from calbench.console import say
from calbench.llm.client import ModelClient, Source, open_completer
from calbench.llm.prices import Prices


@asynccontextmanager
async def open_models(spec: RunSpec, source: Source) -> AsyncIterator[ModelClient]:
    """Open the models of a run for one event loop, and say what they may cost at most.

    Raises:
        CalbenchError: as :func:`calbench.llm.client.open_completer` does; nothing was said.
    """
    async with open_completer(spec.models, source) as client:
        source.totals.spent_usd = client.budget.spent_usd
        say(budget_line(spec, source))
        yield client


def budget_line(spec: RunSpec, source: Source) -> str:
    """Return what a run may cost at most, and what its totals say was spent before."""
    if source.mode == "replay":
        return f"Budget: nothing is spent, replies come from {source.store}"
    before = f"{source.totals.spent_usd:.2f} spent before"
    if spec.budget.max_usd is not None:
        return f"Budget: at most US$ {spec.budget.max_usd:.2f}, {before}"
    if unpriced := _unpriced(spec, source.prices):
        return (
            f"Budget: no cap, and the price of {', '.join(unpriced)} is unknown: its cost is not "
            "counted"
        )
    return f"Budget: no cap (budget.max_usd=N sets one), US$ {before}; `estimate` forecasts more"


def spent(spec: RunSpec, source: Source | None) -> str:
    """Return what models have cost so far; empty where none is asked."""
    if source is None or source.mode == "replay":
        return ""
    return money(spec, source.prices, source.totals.spent_usd)


def money(spec: RunSpec, prices: Prices | None, spent_usd: float) -> str:
    """Return a sum that models cost, and its cap: ``US$ 0.42 of 15.00``.

    A dash if the price of no model is known.
    """
    unpriced = _unpriced(spec, prices)
    if len(unpriced) == len(spec.models):
        return "US$ -"
    cap = "" if spec.budget.max_usd is None else f" of {spec.budget.max_usd:.2f}"
    return f"US$ {spent_usd:.2f}{cap}{' and more' if unpriced else ''}"


def _unpriced(spec: RunSpec, prices: Prices | None) -> list[str]:
    """Return the players whose model has no known price."""
    known = {} if prices is None else prices.models
    return [player for player, model in spec.models.items() if model.spec.model not in known]
