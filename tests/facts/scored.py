"""Games in numbers that were made by hand, and their facts."""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, replace
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


def _of(kind: type[Any], **known: Any) -> dict[str, Any]:
    """Return the fields of a record that have no default, 0 if they are not known.

    So a field that a new measure adds needs no change here.
    """
    required = [each.name for each in fields(kind) if each.default is MISSING]
    return dict.fromkeys(required, 0) | known


def agent(seat: Player = IMAP, **changes: Any) -> AgentGame:
    """Return a seat that got both of its meetings for nothing and said nothing, but for changes."""
    known = {"player": seat, "assigned": 2, "scheduled": 2, "vps_kind": "protocol"}
    none = {"tokens": Tokens(), "replies": None, "bits": 0.0, "outcome_bits": 0.0}
    return AgentGame(**(_of(AgentGame, **known, **none) | changes))


def score(
    *agents: AgentGame,
    scenario: str = "s0",
    team: str = "imap",
    setting: str = "uniform",
    **changes: Any,
) -> GameScore:
    """Return a game of these agents; one agent, unless there are some."""
    names = {"scenario_id": scenario, "team_id": team, "setting": setting}
    seats = [
        replace(each, agent_id=AgentId(number)) for number, each in enumerate(agents or (agent(),))
    ]
    nothing = dict.fromkeys(("meetings", "vps_shares", "rounds", "regret"), ())
    whole = _of(
        GameScore,
        game_id=f"{setting}/{team}/{scenario}",
        num_meetings=2,
        tertile=None,
        feasible_fraction=None,
        agents=tuple(seats),
        is_excluded=False,
        is_fairness_sampled=False,
        fairness_vectors=1,
        optimum=OptimumReach(None, is_searched=False, loss=None),
        **names,
        **nothing,
    )
    return GameScore(**(whole | changes))


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
    size = len(each.agents)
    trace: Any = SimpleNamespace(
        scenario=SimpleNamespace(
            num_agents=size,
            num_slots=4,
            play_digest=f"digest of {each.scenario_id}",
            problem=Problem(4, ((None,) * 4,) * size, (frozenset(),) * size, (), ()),
            seed=0,
        ),
        config=GameConfig(team=SOMEBODY, channels=tuple(channels), limits=Limits()),
    )
    players = tuple(own.player for own in each.agents)
    return MeasuredGame(trace, each, (), (), players, DEFAULT_MEASURE)


def facts_of_scores(folder: Path, scores: Iterable[GameScore], teams: Sequence[str] = ()) -> Facts:
    """Return the facts of scores."""
    return facts_of_games(folder, map(game, scores), teams, SCORES)
