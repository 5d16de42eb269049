"""Games in numbers that were made by hand, and their facts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import Channel
from calbench.facts.fact import MeasuredGame
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.metrics.optimum import OptimumReach
from calbench.metrics.outcomes import MeetingResult
from calbench.metrics.players import Player
from calbench.metrics.usage import Tokens
from calbench.oracle.problem import Problem
from calbench.traces.events import Outcome
from calbench.traces.models import GameConfig, Kind, Limits, Seat, Team
from tests.facts.measured import facts_of_games


def player(
    name: str, kind: Kind = "protocol", model: str | None = None, digest: str = "0"
) -> Player:
    """Return a player; all but protocols and degenerate baselines speak in words."""
    return Player(name, kind, kind not in {"protocol", "degenerate"}, model, digest)


IMAP = player("imap")


def agent(seat: Player = IMAP, **changes: Any) -> AgentGame:
    """Return a seat that got both of its meetings for nothing and said nothing, but for changes."""
    whole = AgentGame(
        agent_id=AgentId(0),
        player=seat,
        assigned=2,
        scheduled=2,
        cost=0,
        oracle_cost=0,
        excess_cost=0,
        shown_excess_cost=0,
        adjusted_excess_cost=0.0,
        burden_gap=0.0,
        messages_sent=0,
        vps_kind="protocol",
        vps=0.0,
        excess_vps=0.0,
        vps_participants=0.0,
        excess_vps_participants=0.0,
        tokens=Tokens(),
        replies=None,
    )
    return replace(whole, **changes)


def score(
    *agents: AgentGame,
    scenario: str = "s0",
    team: str = "imap",
    setting: str = "uniform",
    **changes: Any,
) -> GameScore:
    """Return a game of these agents; one agent, unless there are some."""
    whole = GameScore(
        game_id=f"{setting}/{team}/{scenario}",
        scenario_id=scenario,
        setting=setting,
        team_id=team,
        num_meetings=2,
        tertile=None,
        feasible_fraction=None,
        agents=tuple(
            replace(each, agent_id=AgentId(number))
            for number, each in enumerate(agents or (agent(),))
        ),
        meetings=(),
        is_excluded=False,
        fairness=0.0,
        fairness_least=0.0,
        fairness_greatest=0.0,
        is_fairness_sampled=False,
        fairness_vectors=1,
        vps_shares=(),
        message_bytes=0,
        rounds=(),
        regret=(),
        optimum=OptimumReach(None, is_searched=False, loss=None),
    )
    return replace(whole, **changes)


def meeting(number: int, outcome: Outcome = "scheduled", **changes: Any) -> MeetingResult:
    """Return the end of a meeting of agents 0 and 1."""
    whole = MeetingResult(
        meeting_id=MeetingId(number),
        round=number - 1,
        participants=(AgentId(0), AgentId(1)),
        first_speaker=AgentId(0),
        outcome=outcome,
        slot=None,
        broken_meetings=(),
        messages=0,
        cost=0,
        rejected_batches=0,
    )
    return replace(whole, **changes)


SOMEBODY = Team(team_id="somebody", seats=(Seat(player="somebody", kind="protocol"),))


def game(each: GameScore, channels: Sequence[Channel] = ("dm",)) -> MeasuredGame:
    """Return a score as facts take it; of its trace there is no more than they ask for."""
    trace: Any = SimpleNamespace(
        scenario=SimpleNamespace(
            num_agents=len(each.agents),
            num_slots=4,
            play_digest=f"digest of {each.scenario_id}",
            problem=Problem(4, (), (), (), ()),
        ),
        config=GameConfig(team=SOMEBODY, channels=tuple(channels), limits=Limits()),
    )
    players = tuple(own.player for own in each.agents)
    return MeasuredGame(trace, each, (), (), players, DEFAULT_MEASURE)


def facts_of_scores(folder: Path, scores: Iterable[GameScore], teams: Sequence[str] = ()) -> Facts:
    """Return the facts of scores."""
    return facts_of_games(folder, map(game, scores), teams, SCORES)
