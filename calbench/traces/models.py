"""The trace of one game: everything needed to read, verify and measure it (appendix A.6)."""

from functools import cached_property
from operator import not_
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from calbench.domain.canonical import digest
from calbench.domain.messages import Channel
from calbench.scenarios.models import ID_PATTERN, Model, Natural, One, Positive, Scenario
from calbench.traces.events import AnyEvent, CalendarIds

TRACE_SCHEMA_VERSION = 1
"""Version of the trace file; another one is refused with the version that reads it."""

Extra = Annotated[bool, Field(exclude_if=not_)]
"""What few teams have is written down only where it is used: other games keep their ids."""


class Seat(Model):
    """Who sits in one place: a player by name, its kind, and the settings that define it.

    ``private_chance`` gives the seat a random stream of its own [C].
    """

    player: Annotated[str, Field(pattern=ID_PATTERN)]
    kind: Literal["protocol", "degenerate", "scripted", "model"]
    settings: dict[str, Any] = Field(default_factory=dict)
    private_chance: Extra = False


class Team(Model):
    """Who sits where. One seat is taken by every agent; several go to agents 0, 1, ...

    ``mediator`` gives the team a trusted non-player that takes sealed vectors [C].
    """

    team_id: Annotated[str, Field(pattern=ID_PATTERN)]
    seats: Annotated[tuple[Seat, ...], Field(min_length=1)]
    mediator: Extra = False

    @model_validator(mode="after")
    def _mediates_between_protocols(self) -> Self:
        """Keep agents that speak in words away from what is sealed."""
        if self.mediator and any(seat.kind in ("scripted", "model") for seat in self.seats):
            raise ValueError("a team with a mediator seats protocols and baselines only")
        return self


class Limits(Model):
    """Limits of a game (paper, section 3 and appendix B).

    ``dm_cap`` limits messages of any kind by all agents in one round; absent is no limit.
    ``sd_model`` holds SD-MAP's difficulty weights by agent id; absent is 1 for all.
    """

    max_turns_per_round: Positive = 15
    decision_retries: Natural = 3
    dm_cap: Natural | None = None
    sd_model: tuple[float, ...] | None = None


class GameConfig(Model):
    """What defines a game beside its scenario."""

    team: Team
    channels: tuple[Channel, ...]
    limits: Limits
    prompt_version: str | None = None
    label_bank: str | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything this configuration says."""
        return digest(self.model_dump(mode="json"))


class RoundOutcome(Model):
    """One meeting's end, with its participants' slots as they stood at resolution."""

    meeting_id: Positive
    coordinated: bool
    slot_by_agent: dict[str, Natural | None]


class FinalState(Model):
    """How the game ended. Lists run by agent id."""

    calendars: tuple[CalendarIds, ...]
    cost_by_agent: tuple[Natural, ...]
    messages_sent_by_agent: tuple[Natural, ...]
    round_outcomes: tuple[RoundOutcome, ...]


class TraceMetrics(Model):
    """What the engine itself knows at the end (appendix A.6). Tables never read it."""

    realised_cost: Natural
    cost_vs_optimal: float | None
    cost_vs_greedy: float | None
    rounds_scheduled: Natural
    messages: Natural


class Trace(BaseModel):
    """One game. ``started_at`` and ``ended_at`` are always null: a trace holds no clock."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_version: One
    rules_version: Positive
    game_id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    scenario: Scenario
    config: GameConfig
    events: tuple[AnyEvent, ...]
    final_state: FinalState
    metrics: TraceMetrics
    started_at: None
    ended_at: None
