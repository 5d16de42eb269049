"""The source of a run's model replies, by its configuration."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.domain.ids import AgentId
from calbench.engine.batch import Halted
from calbench.engine.batch import Source as Opener
from calbench.engine.jobs import Job
from calbench.errors import ConfigError
from calbench.files import located, printable, shorten
from calbench.llm.client import Source
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.model import ModelConfig
from calbench.llm.preflight import address
from calbench.llm.prices import read_prices
from calbench.llm.transport import Transport
from calbench.runs.money import open_models

STORE = "replies.sqlite"
"""The reply store in the folder of a run."""

REASON_LENGTH = 160
"""Most characters of a reason why a game was cut short [C]; its trace has all of them."""


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
    return Path(path or f"{spec.out}/{STORE}")


def opener(spec: RunSpec, replies: Source | None) -> Opener | None:
    """Return what opens the models of a run for as long as games are played."""
    return None if replies is None else partial(open_models, spec, replies)


def seated_models(jobs: Iterable[Job], spec: RunSpec) -> dict[str, ModelConfig]:
    """Return the models of a run that sit in some of its games, by player."""
    seats = (
        job.config.team.seat_of(AgentId(agent))
        for job in jobs
        for agent in range(job.scenario.num_agents)
    )
    return {seat.player: spec.models[seat.player] for seat in seats if seat.kind == "model"}


def why_cut_short(halt: Halted, models: Mapping[str, ModelConfig]) -> str:
    """Return what ended a game, with the address of the model that did not answer.

    The trace has no address: where a model is asked defines no game.
    """
    text = f"{halt.reason}: {shorten(printable(halt.detail), REASON_LENGTH)}"
    model = models.get(halt.player)
    if halt.reason != "provider_fault" or model is None:
        return text
    return f"{text} (asked at {address(model)})"
