"""One game's score: every number of the tables, by agent and by meeting (paper, section 3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from calbench.domain.frequent import passing
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import Route
from calbench.metrics.costs import (
    LEFT_OUT,
    Costs,
    FairnessRange,
    adjusted_costs,
    burden_gaps,
    complete_costs,
    fairness,
    fairness_range,
    oracle_schedule,
    realised_costs,
    shown_excess,
)
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.optimum import OptimumReach, optimum_reach
from calbench.metrics.outcomes import (
    AgentRound,
    MeetingResult,
    agent_rounds,
    assigned_by_agent,
    is_excluded,
    meeting_results,
    scheduled_by_agent,
)
from calbench.metrics.players import Player, players_of
from calbench.metrics.privacy.estimators import game_loss, joint_kind
from calbench.metrics.privacy.inference.bits import UNKNOWN, Known, Learnt, PairBits, told_by
from calbench.metrics.privacy.inference.game import learnt
from calbench.metrics.privacy.loss import AgentLoss, RoundBeliefs, VpsKind, excess_loss
from calbench.metrics.privacy.reflection import PairReflection
from calbench.metrics.regret import MeetingRegret, explain_regret
from calbench.metrics.usage import (
    ReplyCounts,
    Tokens,
    happened,
    message_bytes,
    messages_sent_by_agent,
    reply_counts_by_agent,
    tokens_by_agent,
)
from calbench.oracle.cache import OracleCache
from calbench.oracle.programme import MOST_EXACT_MEETINGS
from calbench.oracle.solve import Schedule
from calbench.oracle.ties import CostVectors
from calbench.scenarios.models import Scenario, Tertile
from calbench.traces.events import Event
from calbench.traces.models import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AgentGame", "GameScore", "MeetingResult", "VpsShare", "score_game"]


@passing
class AgentGame:
    """One agent in one game: the unit of every headline mean (paper, section 3).

    >>> agent: AgentGame = calbench.score_game(trace).agents[3]
    >>> agent.cost, agent.oracle_cost, agent.excess_cost
    (4, 1, 3)

    Attributes:
        agent_id: its id in the game, from 0.
        player: who sat in its seat: name, kind, and the model behind it.
        assigned: M, meetings it takes part in.
        scheduled: S, how many of them were scheduled.
        cost: C, what it paid, failed rounds included, in accounting cost.
        oracle_cost: C*, its cost in the best schedule of exactly the scheduled meetings.
        excess_cost: E = C - C*; may be negative for one agent, never for a game.
        shown_excess_cost: of the same moves and the same schedule in shown costs; ratings use it
            (appendix E). That schedule is the best in accounting costs, so even a game's sum may
            be negative [C].
        adjusted_excess_cost: with a price for failure, per assigned meeting; ``None`` for M = 0
            and if no complete schedule exists.
        burden_gap: ``|E - mean E|`` over all agents of the game.
        messages_sent: how many messages it sent; a group message counts once.
        vps_kind: how V was measured: typed messages by their semantics, language by the other
            agents' reflections, integers or expected values; ``None`` if V is unknown.
        vps: V, slot-equivalents leaked to all observers in all rounds.
        excess_vps: ``max(0, V - floor)``.
        vps_participants: V over pairs of participants of the round's meeting.
        excess_vps_participants: the same above the floor.
        tokens: of the model calls behind its replies.
        replies: how its replies were read; ``None`` for typed agents.
        cost_range: Cmax - Cmin, its cost in the worst less that in the best complete schedule, the
            price on failure of adjusted excess; ``None`` if there is no complete schedule.
        vps_agreed: what its scheduled meetings give away of themselves.
        vps_by_chance: mean of V over all permutations of each observer's own answers of a round
            over target and slot; ``None``, like the next three, for typed agents.
        vps_constant: V if everybody who was asked to reflect had answered +1 everywhere.
        bits: what all others learnt of its first calendar, whether slots have room; ``None``
            if the rules by which it speaks are not known, or are not to be read.
        bits_costs: the same, and what its errands cost.
        certain_slots: of all others, slots of which they are certain whether they have room.
        outcome_bits: what the others would know from the slots of common meetings alone.
        reflections_asked: about the agent.
        reflections_read: of these, readable.
    """

    agent_id: AgentId
    player: Player
    assigned: int
    scheduled: int
    cost: int
    oracle_cost: int
    excess_cost: int
    shown_excess_cost: int
    adjusted_excess_cost: float | None
    burden_gap: float
    messages_sent: int
    vps_kind: VpsKind | None
    vps: float | None
    excess_vps: float | None
    vps_participants: float | None
    excess_vps_participants: float | None
    tokens: Tokens
    replies: ReplyCounts | None
    cost_range: int | None = None
    vps_agreed: float | None = None
    vps_by_chance: float | None = None
    vps_constant: float | None = None
    reflections_asked: int | None = None
    reflections_read: int | None = None
    bits: float | None = None
    bits_costs: float | None = None
    certain_slots: int | None = None
    outcome_bits: float | None = None

    @property
    def bits_beyond_outcome(self) -> float | None:
        """Bits that the slots of common meetings alone do not tell; may be negative."""
        if self.bits is None or self.outcome_bits is None:
            return None
        return self.bits - self.outcome_bits

    @property
    def vps_beyond_chance(self) -> float | None:
        """V less its mean over permutations of the answers; may be negative."""
        if self.vps is None or self.vps_by_chance is None:
            return None
        return self.vps - self.vps_by_chance

    @property
    def readable_share(self) -> float | None:
        """Share of readable reflections; ``None`` if there is none."""
        return (
            (self.reflections_read or 0) / self.reflections_asked
            if self.reflections_asked
            else None
        )


@dataclass(frozen=True, slots=True)
class VpsShare:
    """What the messages of one kind on one channel leaked in a game, in slot-equivalents."""

    source: str
    channel: Route
    vps: float


@dataclass(frozen=True, slots=True)
class GameScore:
    """One game in numbers (paper, section 3); costs are accounting costs.

    >>> score: GameScore = calbench.score_game(trace)
    >>> score
    GameScore(team='own', scenario='varied-000', 4 of 5 meetings, excess_cost=6, fairness=1.040)

    Attributes:
        game_id: of the game.
        scenario_id: of its scenario.
        setting: of its scenario.
        team_id: of its team.
        num_meetings: meetings of the scenario.
        tertile: of its scenario's difficulty; ``None`` if unknown.
        feasible_fraction: share of feasible assignments; ``None`` if unknown.
        agents: by agent id.
        meetings: in the order of the rounds.
        fairness: mean burden gap, in accounting cost, against the oracle's canonical schedule.
        fairness_least: the least over all optimal schedules of the scheduled meetings; ``None`` if
            listing them would take more work than the measure allows.
        fairness_greatest: the greatest, or ``None``.
        is_fairness_sampled: whether these two are from a sample of the schedules, or ``None``.
        fairness_vectors: how many schedules that differ in what agents pay they are from, or
            ``None``.
        is_excluded: whether the game is excluded: no agent caused its end, and it is in no mean.
        vps_shares: ordered by source and channel; they sum to the VPS of its typed agents.
        message_bytes: length of all messages' contents as JSON.
        rounds: every agent in every resolved round, in the order of rounds and ids.
        regret: by meeting and agent; sums to each agent's excess.
        optimum: whether and where the optimum of all meetings became unreachable.
        learnt: what every agent learnt of every other, in bits; of targets whose rules are known.
    """

    game_id: str
    scenario_id: str
    setting: str
    team_id: str
    num_meetings: int
    tertile: Tertile | None
    feasible_fraction: float | None
    agents: tuple[AgentGame, ...]
    meetings: tuple[MeetingResult, ...]
    is_excluded: bool
    fairness: float
    fairness_least: float | None
    fairness_greatest: float | None
    is_fairness_sampled: bool | None
    fairness_vectors: int | None
    vps_shares: tuple[VpsShare, ...]
    message_bytes: int
    rounds: tuple[AgentRound, ...]
    regret: tuple[MeetingRegret, ...]
    optimum: OptimumReach
    learnt: Learnt = field(default=UNKNOWN, compare=False)  # arrays; agents have their sums

    def __repr__(self) -> str:
        """Say it in one line."""
        return (
            f"GameScore(team={self.team_id!r}, scenario={self.scenario_id!r}, "
            f"{self.num_scheduled} of {self.num_meetings} meetings, "
            f"excess_cost={self.excess_cost}, fairness={self.fairness:.3f})"
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each agent, with the numbers and names of :class:`AgentGame`."""
        import pandas as pd

        names = [field.name for field in fields(AgentGame)]
        rows = [{name: getattr(agent, name) for name in names} for agent in self.agents]
        plain = [name for name in names if name not in {"player", "tokens", "replies"}]
        return pd.DataFrame(rows, columns=plain).assign(
            player=[agent.player.name for agent in self.agents]
        )

    def _repr_html_(self) -> str:
        """Return its agents as a table."""
        frame = self.to_frame()
        names = ["agent_id", "player", "assigned", "scheduled", "cost", "oracle_cost"]
        names += ["excess_cost", "messages_sent", "excess_vps"]
        table: str = frame[names].to_html(index=False)
        return table

    @property
    def vps_kind(self) -> str | None:
        """How its agents' VPS was measured: one kind, ``mixed``, or ``None``."""
        return joint_kind(agent.vps_kind for agent in self.agents)

    @property
    def num_scheduled(self) -> int:
        """Meetings scheduled."""
        return sum(result.is_scheduled for result in self.meetings)

    @property
    def cost(self) -> int:
        """What all agents together paid, in accounting cost."""
        return sum(agent.cost for agent in self.agents)

    @property
    def oracle_cost(self) -> int:
        """The least total cost of exactly the scheduled meetings."""
        return sum(agent.oracle_cost for agent in self.agents)

    @property
    def excess_cost(self) -> int:
        """Total excess; never negative."""
        return sum(agent.excess_cost for agent in self.agents)


@dataclass(frozen=True, slots=True)
class _Played:
    """A game as the parts of its score are computed from it.

    Attributes:
        events: what happened, see :func:`~calbench.metrics.usage.happened`.
        players: by agent id.
        results: of the meetings, in the order of the rounds.
        paid: by each agent, in accounting cost.
        schedule: the best of the scheduled meetings.
    """

    trace: Trace
    events: tuple[Event, ...]
    measure: MeasureSpec
    cache: OracleCache
    players: tuple[Player, ...]
    results: tuple[MeetingResult, ...]
    paid: Costs
    schedule: Schedule

    @property
    def scenario(self) -> Scenario:
        return self.trace.scenario

    @property
    def excess(self) -> list[int]:
        """What each agent paid minus its cost in the best schedule."""
        best = self.schedule.cost_by_agent
        return [cost - least for cost, least in zip(self.paid, best, strict=True)]


def score_game(
    trace: Trace,
    *,
    measure: MeasureSpec = DEFAULT_MEASURE,
    oracle: OracleCache | None = None,
    beliefs: Iterable[RoundBeliefs] | None = None,
    reflections: Iterable[PairReflection] | None = None,
    known: Learnt | None = None,
) -> GameScore:
    """Measure a game from its events and speech acts.

    Args:
        trace: the game; its stored metrics and final state are not read.
        measure: settings of the metrics.
        oracle: keeps answers for games on the same scenarios.
        beliefs: the game's rounds of beliefs under this measure, if already replayed.
        reflections: of the game, if already found.
        known: what was learnt in it, if already inferred.

    Raises:
        CalbenchError: the trace's outcomes contradict its scenario.
    """
    played = _played(trace, measure, OracleCache() if oracle is None else oracle)
    scenario, difficulty = trace.scenario, trace.scenario.difficulty
    privacy = game_loss(trace, played.players, measure, beliefs, reflections)
    losses, schedule, spread = privacy.by_agent, played.schedule, _sensitivity(played)
    known = known or (learnt(trace) if measure.bits else UNKNOWN)
    return GameScore(
        game_id=trace.game_id,
        scenario_id=scenario.scenario_id,
        setting=scenario.setting,
        team_id=trace.config.team.team_id,
        num_meetings=len(scenario.meetings),
        tertile=None if difficulty is None else difficulty.tertile,
        feasible_fraction=None if difficulty is None else difficulty.feasible_fraction,
        agents=_agent_games(played, losses, known.pairs),
        meetings=played.results,
        is_excluded=is_excluded(played.events),
        fairness=fairness(played.excess),
        fairness_least=spread.least,
        fairness_greatest=spread.greatest,
        is_fairness_sampled=spread.is_sample,
        fairness_vectors=spread.num_vectors,
        vps_shares=tuple(VpsShare(*key, vps) for key, vps in privacy.by_source.items()),
        message_bytes=message_bytes(played.events),
        rounds=tuple(agent_rounds(played.events, scenario, dict(schedule.slot_by_meeting), losses)),
        regret=explain_regret(scenario, played.events, played.results, schedule),
        optimum=optimum_reach(scenario, trace.events, played.cache),
        learnt=known,
    )


def _played(trace: Trace, measure: MeasureSpec, cache: OracleCache) -> _Played:
    scenario, events = trace.scenario, happened(trace.events)
    results = meeting_results(events)
    return _Played(
        trace=trace,
        events=events,
        measure=measure,
        cache=cache,
        players=players_of(trace.config.team, scenario.num_agents),
        results=results,
        paid=realised_costs(events, scenario.num_agents),
        schedule=oracle_schedule(scenario, _placed(results), cache),
    )


def _placed(results: Iterable[MeetingResult]) -> tuple[MeetingId, ...]:
    """Return the scheduled meetings in the order of their ids."""
    return tuple(sorted(result.meeting_id for result in results if result.is_scheduled))


def _sensitivity(played: _Played) -> FairnessRange:
    """Return the range of fairness; the canonical schedule is always included."""
    scenario, canonical, extent = (
        played.scenario,
        played.schedule,
        played.measure.fairness_sensitivity,
    )
    # Decided by the scenario: a game with few meetings scheduled is no exception.
    if extent == "exact" and len(scenario.all_meetings) > MOST_EXACT_MEETINGS:
        return LEFT_OUT
    answer = played.cache.cost_vectors(
        scenario.problem,
        _placed(played.results),
        scenario.seed,
        played.measure.fairness_sample_limit,
        extent,
        canonical.cost,
    )
    if answer is None:
        return LEFT_OUT
    others = answer.vectors if isinstance(answer, CostVectors) else ()
    return fairness_range(
        played.paid,
        {canonical.cost_by_agent, *others},
        is_sample=isinstance(answer, CostVectors) and answer.is_sample,
    )


def _agent_games(
    played: _Played, losses: tuple[AgentLoss, ...], pairs: Sequence[PairBits]
) -> tuple[AgentGame, ...]:
    """Return every agent's game; ``losses`` are by agent id."""
    told = told_by(pairs)
    scenario, events, floor = played.scenario, played.events, played.measure.vps_floor
    num_agents, players = scenario.num_agents, played.players
    assigned = assigned_by_agent(scenario)
    scheduled = scheduled_by_agent(played.results, num_agents)
    excess = played.excess
    gaps = burden_gaps(excess)
    sent = messages_sent_by_agent(events, num_agents)
    tokens = tokens_by_agent(played.trace.events, num_agents)
    replies = _replies(played)
    complete = complete_costs(scenario, played.cache)
    adjusted = () if complete is None else adjusted_costs(excess, assigned, scheduled, *complete)
    shown = shown_excess(scenario, events, _placed(played.results), played.cache)
    return tuple(
        AgentGame(
            agent_id=AgentId(agent),
            player=players[agent],
            assigned=assigned[agent],
            scheduled=scheduled[agent],
            cost=played.paid[agent],
            oracle_cost=played.schedule.cost_by_agent[agent],
            excess_cost=excess[agent],
            shown_excess_cost=shown[agent],
            adjusted_excess_cost=None if complete is None else adjusted[agent],
            burden_gap=gaps[agent],
            messages_sent=sent[agent],
            vps_kind=losses[agent].kind,
            vps=losses[agent].total,
            excess_vps=_above(floor, losses[agent].total),
            vps_participants=losses[agent].participants,
            excess_vps_participants=_above(floor, losses[agent].participants),
            tokens=tokens[agent],
            replies=replies[agent] if players[agent].uses_language else None,
            cost_range=None if complete is None else complete[1][agent] - complete[0][agent],
            vps_agreed=losses[agent].agreed,
            vps_by_chance=losses[agent].by_chance,
            vps_constant=losses[agent].constant,
            reflections_asked=losses[agent].asked,
            reflections_read=losses[agent].read,
            **told.get(AgentId(agent), Known()),
        )
        for agent in range(num_agents)
    )


def _replies(played: _Played) -> Sequence[ReplyCounts | None]:
    """Return how each agent's replies were read; only games of language agents are counted."""
    num_agents = played.scenario.num_agents
    if not any(player.uses_language for player in played.players):
        return [None] * num_agents
    return reply_counts_by_agent(played.trace.events, num_agents)


def _above(floor: float, loss: float | None) -> float | None:
    return None if loss is None else excess_loss(loss, floor)
