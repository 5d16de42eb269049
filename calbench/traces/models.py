"""The trace of one game: everything needed to read, verify and measure it (appendix A.6)."""

from functools import cached_property
from html import escape
from operator import not_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from calbench.domain.canonical import digest
from calbench.domain.frequent import frequent
from calbench.domain.ids import AgentId
from calbench.domain.messages import Channel
from calbench.scenarios.bounds import MOST_EVENTS, MOST_SWEEPS
from calbench.scenarios.models import (
    ID_PATTERN,
    Model,
    Natural,
    One,
    Plain,
    Positive,
    Scenario,
    calendar_table,
    described_frame,
    is_absent,
)
from calbench.traces.events import (
    IN_WORDS,
    AnyEvent,
    BatchApplied,
    CalendarIds,
    GameHalted,
    phase_of,
)

if TYPE_CHECKING:
    import pandas as pd

TRACE_SCHEMA_VERSION = 1
"""Version of the trace file; other versions are refused."""


EVENT_COLUMNS = {
    "event": ("", "its number in the game, from 0"),
    "round": ("", "from 0; absent outside of rounds"),
    "phase": ("", "of the round; absent between phases"),
    "agent_id": ("", "who acts or is asked, from 0; absent: the game, or the mediator"),
    "type": ("", "kind of event (paper, Table 5)"),
    "text": ("", "what is said, moved, refused or found, in words; absent if the kind says it"),
    "cost": ("accounting cost", "that an applied batch charges its agent; absent elsewhere"),
}
"""Unit and meaning of what a trace's frame says of an event."""


def _is_by_seat(value: object) -> bool:
    return value == "seat"


Extra = Annotated[bool, Field(exclude_if=not_)]
"""A flag that is written only if set; games without it keep their ids."""


Format = Literal["files", "shards"]
"""How traces are kept: one JSON file a game, or several in a compressed file."""

Kind = Literal["protocol", "degenerate", "scripted", "model", "custom"]
"""What a player is: typed protocol, baseline, scripted stand-in, model, or the user's code."""


class PromptVariant(Model):
    """Text appended verbatim to the system prompt (appendix A.2); ``digest`` is its SHA-256.

    ``is_nosy`` marks agents that are told to probe.
    """

    name: Annotated[str, Field(pattern=ID_PATTERN)]
    version: Annotated[str, Field(pattern=ID_PATTERN)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    is_nosy: bool


class Seat(Model):
    """Who sits in one place: a player by name, its kind, and the settings that define it [C].

    >>> Seat(player="imap", kind="protocol").uses_language
    False

    Attributes:
        player: its name on the record.
        kind: what it is: protocol, degenerate, scripted, model or custom.
        settings: what defines it beside its name.
        private_chance: whether the seat has a random stream of its own [C].
        variant: text appended to its system prompt, if any.
    """

    player: Annotated[str, Field(pattern=ID_PATTERN)]
    kind: Kind
    settings: Plain = Field(default_factory=dict)
    private_chance: Extra = False
    variant: Annotated[PromptVariant | None, Field(exclude_if=is_absent)] = None

    @property
    def uses_language(self) -> bool:
        """Whether the seat is given labels and asked to reflect."""
        return self.kind in ("scripted", "model", "custom")

    @property
    def is_open(self) -> bool:
        """Whether a model or the user's own agent sits there."""
        return self.kind in ("model", "custom")

    @cached_property
    def settings_digest(self) -> str:
        """SHA-256 of its settings."""
        return digest(self.settings)


class Team(Model):
    """Who sits where. One seat is taken by every agent; several go to agents 0, 1, and so on [C].

    >>> team = Team(team_id="pair", seats=(Seat(player="imap", kind="protocol"),))
    >>> team.seat_of(AgentId(4)).player
    'imap'

    Attributes:
        team_id: its name on the record.
        seats: one for all agents, or those of agents 0, 1, ...
        mediator: whether a trusted non-player takes sealed vectors [C].
        rotation: whether players move by one seat with each scenario of a suite; a game's
            configuration holds the seats as they were taken.
    """

    team_id: Annotated[str, Field(pattern=ID_PATTERN)]
    seats: Annotated[tuple[Seat, ...], Field(min_length=1)]
    mediator: Extra = False
    rotation: Extra = False

    def rotated(self, places: int) -> Self:
        """Return the team with all players moved by this many seats, if it rotates."""
        if not self.rotation:
            return self
        shift = places % len(self.seats)
        seats = self.seats[-shift:] + self.seats[:-shift] if shift else self.seats
        return self.model_copy(update={"seats": seats})

    @cached_property
    def uses_language(self) -> bool:
        """Whether any seat does."""
        return any(seat.uses_language for seat in self.seats)

    @property
    def is_open(self) -> bool:
        """Whether a model or the user's own agent sits in it: then two games may differ."""
        return any(seat.is_open for seat in self.seats)

    def seat_of(self, agent: AgentId) -> Seat:
        """Return who sits at an agent's place: seats repeat around the table."""
        return self.seats[agent % len(self.seats)]

    def private_agents(self, num_agents: int) -> tuple[AgentId, ...]:
        """Return the agents whose seats have private chance."""
        agents = map(AgentId, range(num_agents))
        return tuple([agent for agent in agents if self.seat_of(agent).private_chance])

    def language_agents(self, num_agents: int) -> tuple[AgentId, ...]:
        """Return the agents that use language: they see labels, and may be asked to reflect."""
        agents = map(AgentId, range(num_agents))
        return tuple([agent for agent in agents if self.seat_of(agent).uses_language])

    @model_validator(mode="after")
    def _mediates_between_protocols(self) -> Self:
        """Refuse language agents in a team with a mediator."""
        if self.mediator and self.uses_language:
            raise ValueError("a team with a mediator seats protocols and baselines only")
        return self


class Limits(Model):
    """Limits of a game (paper, section 3 and appendix B); by default those of the paper's text.

    >>> Limits(max_turns_per_round=3).decision_retries
    3

    Attributes:
        max_turns_per_round: sweeps of talk in a round [P: 15].
        decision_retries: batches that may follow a rejected one [R: 3, in published games 1].
        dm_cap: most messages of any kind by all agents in one round [C]; absent is no limit [P].
        agent_cap: most messages of each agent in one round [R]; absent is no limit [P].
        commit: whether the batches of a decision are applied seat by seat [P], or those of all
            participants together or not at all [R].
        sd_model: SD-MAP's difficulty weights by agent id; absent is 1 for all [P].
    """

    max_turns_per_round: Annotated[Positive, Field(le=MOST_SWEEPS)] = 15
    decision_retries: Natural = 3
    dm_cap: Natural | None = None
    sd_model: tuple[float, ...] | None = None
    agent_cap: Annotated[Natural | None, Field(exclude_if=is_absent)] = None
    commit: Annotated[Literal["seat", "team"], Field(exclude_if=_is_by_seat)] = "seat"


PUBLISHED = Limits(max_turns_per_round=100, decision_retries=1, agent_cap=100, commit="team")
"""Limits and rules of the paper's published games, ``conf/limits/authors.yaml`` [R]."""


class GameConfig(Model):
    """What defines a game, apart from its scenario (appendix A.6).

    >>> GameConfig(team=trace.config.team, channels=("dm",), limits=Limits()).channels
    ('dm',)

    Attributes:
        team: who plays.
        channels: the open ones, in their fixed order.
        limits: of the game.
        prompt_version: of the prompts; ``None`` where nobody uses language.
        prompt_digest: SHA-256 of prompts that are not this package's.
        label_bank: version of the private labels; ``None`` where nobody uses language.
        reflection: whether who uses language is asked for beliefs after every round.
        replicate: number of the game of a team on its scenario, from 0; models are asked anew in
            each.
        canary: whether agents are told :data:`~calbench.domain.canary.CANARY` at first.
    """

    team: Team
    channels: tuple[Channel, ...]
    limits: Limits
    prompt_version: str | None = None
    prompt_digest: Annotated[str | None, Field(pattern=r"^[0-9a-f]{64}$", exclude_if=is_absent)] = (
        None
    )
    label_bank: str | None = None
    reflection: Extra = False
    replicate: Annotated[Natural, Field(exclude_if=not_)] = 0
    canary: Extra = False

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything this configuration says."""
        return digest(self.model_dump(mode="json"))

    @cached_property
    def rules_digest(self) -> str:
        """SHA-256 of the rules alone, whoever sits where and whichever of several games it is."""
        return digest(self.model_dump(mode="json", exclude={"team", "replicate"}))

    @cached_property
    def written(self) -> bytes:
        """The configuration as every trace of it holds it; kept, because many games have it."""
        return self.model_dump_json().encode()

    def rotated(self, places: int) -> Self:
        """Return the configuration with the team rotated, if it rotates."""
        return self if not self.team.rotation else self.updated(team=self.team.rotated(places))

    def updated(self, **changes: Any) -> Self:
        """Return the configuration with other values, without cached properties of the old ones."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | changes))


@frequent
class RoundOutcome:
    """One meeting's outcome, with its participants' slots at resolution."""

    meeting_id: Positive
    coordinated: bool
    slot_by_agent: dict[str, Natural | None]


class FinalState(Model):
    """How the game ended. Lists are by agent id."""

    calendars: tuple[CalendarIds, ...]
    cost_by_agent: tuple[Natural, ...]
    messages_sent_by_agent: tuple[Natural, ...]
    round_outcomes: tuple[RoundOutcome, ...]


class TraceMetrics(Model):
    """What the engine knows at the end (appendix A.6). Tables never read it."""

    realised_cost: Natural
    cost_vs_optimal: float | None
    cost_vs_greedy: float | None
    rounds_scheduled: Natural
    messages: Natural


class Trace(Model):
    """One game, with all that happened in it (appendix A.6).

    >>> trace: Trace = calbench.play_game(scenario, "imap")
    >>> trace.to_frame().iloc[-1]["text"]
    '5 scheduled, 0 failed'
    >>> trace
    Trace(team='imap', scenario='varied-000', 182 events, 5 of 5 meetings, cost=5, 30 messages)

    Attributes:
        schema_version: of the trace file.
        rules_version: of the rules of play.
        game_id: derived from scenario, team and configuration.
        scenario: that was played.
        config: how it was played.
        events: all that happened, in order.
        final_state: calendars and outcomes at the end.
        metrics: sums over the events.
        started_at: always ``None``: a trace holds no clock.
        ended_at: likewise.
    """

    schema_version: One
    rules_version: Positive
    game_id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    scenario: Scenario
    config: GameConfig
    events: Annotated[tuple[AnyEvent, ...], Field(max_length=MOST_EVENTS)]
    final_state: FinalState
    metrics: TraceMetrics
    started_at: None
    ended_at: None

    def __repr__(self) -> str:
        """Say it in one line."""
        team, scenario = self.config.team.team_id, self.scenario.scenario_id
        return (
            f"Trace(team={team!r}, scenario={scenario!r}, {len(self.events)} events, "
            f"{self.metrics.rounds_scheduled} of {len(self.scenario.meetings)} meetings, "
            f"cost={self.metrics.realised_cost}, {self.metrics.messages} messages)"
        )

    def __str__(self) -> str:
        """Say it in one line."""
        return repr(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each event: what was said, moved or refused in words, and its cost.

        Columns: ``event``, ``round``, ``phase``, ``agent_id``, ``type``, ``text``, ``cost``. Their
        units and meanings are in ``attrs``, as those of a table of results.
        """
        rows = []
        for index, event in enumerate(self.events):
            agent = getattr(event, "agent_id", getattr(event, "from_agent", None))
            place = getattr(event, "round", None), phase_of(event), agent
            cost = event.cost if isinstance(event, BatchApplied) else None
            said = IN_WORDS[type(event)](event) if type(event) in IN_WORDS else ""
            rows.append((index, *place, event.type, said or None, cost))
        return described_frame(rows, EVENT_COLUMNS, "Every event of the game, in order.")

    def _repr_html_(self) -> str:
        """Return the calendars before and after the game, and the optimum."""
        after = calendar_table("After", self.scenario, self.final_state.calendars)
        return f"<p>{escape(repr(self))}</p>{self.scenario._repr_html_()}{after}"

    @property
    def is_halted(self) -> bool:
        """Whether it ended before its last round: recorded, not scored, not finished."""
        return self.halt is not None

    @property
    def halt(self) -> GameHalted | None:
        """The event that ended it before its last round, if one did."""
        halts = (event for event in reversed(self.events) if isinstance(event, GameHalted))
        return next(halts, None)
