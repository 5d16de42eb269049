"""Where a run's model replies come from and go to, read off its configuration."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from calbench.agents.completer import Completer
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.engine.batch import Source as Opener
from calbench.errors import ConfigError
from calbench.llm.client import Source, Watch, open_completer
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.prices import read_prices
from calbench.llm.transport import Transport


def reply_source(
    spec: RunSpec, rerecord: str | None = None, transport: Transport = ask_litellm
) -> Source | None:
    """Return how a run gets the replies of its models; ``None`` if no model sits in its teams.

    Args:
        spec: the run.
        rerecord: the command that records what a replay misses, for its error.
        transport: how models are asked.

    Raises:
        ConfigError: if mode and path do not fit each other.
        FileError: if the price table does not fit.
    """
    if not any(seat.kind == "model" for team in spec.teams for seat in team.seats):
        return None
    mode, path = spec.replies.mode, spec.replies.path
    if mode == "live" and path is not None:
        raise ConfigError("replies.path: mode live keeps nothing; leave it out, or record")
    store = None if mode == "live" else Path(path or f"{spec.out}/replies.sqlite")
    return Source(
        mode=mode,
        store=store,
        max_usd=spec.budget.max_usd,
        prices=read_prices(PRICES),
        transport=transport,
        rerecord=rerecord or "the same command with replies.mode=record",
    )


def opener(spec: RunSpec, source: Source, watch: Watch) -> Opener:
    """Return what opens the source of a run's models, for as long as games are played."""

    def opened() -> AbstractAsyncContextManager[Completer]:
        return open_completer(spec.models, replace(source, watch=watch))

    return opened
