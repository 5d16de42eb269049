"""The price table of ``conf/`` as tables of usage take it."""

from calbench.agents.budget import read_prices
from calbench.analysis.settings import Price
from calbench.config.groups import PRICES


def table_prices() -> dict[str, Price | None]:
    """Return the price table as tables of usage take it.

    Raises:
        FileError: if the price table cannot be read.
        ConfigError: if it does not fit.
    """
    return {
        model: Price(
            input=price.input,
            cached=price.input if price.cached_input is None else price.cached_input,
            output=price.output,
        )
        for model, price in read_prices(PRICES).models.items()
    }
