"""The source of a run's model replies, by its configuration."""

from functools import partial
from pathlib import Path

from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.engine.batch import Source as Opener
from calbench.errors import ConfigError
from calbench.files import located
from calbench.llm.client import Source
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.prices import read_prices
from calbench.llm.transport import Transport
from calbench.runs.money import open_models


def reply_source(
    spec: RunSpec,
    rerecord: str = "the same command with replies.mode=record",
    transport: Transport = ask_litellm,
) -> Source | None:
    """Return how a run gets the replies of its models; ``None`` if no model sits in its teams.

    Args:
        spec: the run.
        rerecord: the command that records what a replay misses, for its error.
        transport: how models are asked.

    Raises:
        ConfigError: if mode and path contradict each other.
        FileError: if the price table is invalid.
    """
    if not any(seat.kind == "model" for team in spec.teams for seat in team.seats):
        return None
    mode, path = spec.replies.mode, spec.replies.path
    if mode == "live" and path is not None:
        raise ConfigError("replies.path: mode live keeps nothing; leave it out, or record")
    return Source(
        mode=mode,
        store=_store(spec),
        max_usd=spec.budget.max_usd,
        prices=read_prices(PRICES),
        transport=transport,
        rerecord=rerecord,
    )


def _store(spec: RunSpec) -> Path | None:
    """Return where replies are; only what is read may be the tree's own."""
    mode, path = spec.replies.mode, spec.replies.path
    if mode == "live":
        return None
    if mode == "replay" and path is not None:
        return located(path)
    return Path(path or f"{spec.out}/replies.sqlite")


def opener(spec: RunSpec, replies: Source | None) -> Opener | None:
    """Return what opens the models of a run for as long as games are played."""
    return None if replies is None else partial(open_models, spec, replies)
