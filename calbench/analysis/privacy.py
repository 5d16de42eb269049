"""The four tables of appendix F.5, written game by game.

The columns of ``belief_evidence.csv`` and ``pair_round_vps.csv`` are the paper's. Of the
two summaries it names the measures and, in words, the key; our reading [C]:

- ``game_summary.csv`` has one row a game, keyed by ``trace_path`` and ``game_id``. Means run
  over pair-rounds, all of them or those of two participants; ``observation_count`` sums
  ``observations``.
- ``game_target_summary.csv`` has one row for each game and target. "Participant-pair totals"
  are the total and its excess above the floor; the floor stands in ``vps_floor``.
- ``pair_round_vps.csv`` has a row for every ordered pair and every round, those without a
  message too, so that means need no other file.
- All four are about typed agents: what a language agent gives away is not read off its words
  but measured by reflections, in a table of their own. A game without typed agents has no
  rows but that of ``game_summary.csv``, whose totals are then empty. Lost games have no rows.
- *Ideal* is an observer that knows nothing, with 0.5 for every slot. The distances to it are
  ``sum_s |prior - 0.5|`` and ``sum_s |b_s - 0.5|``; ``vps_loss`` is ``sum_s |b_s - prior|``.
  At the default prior of 0.5 the first is 0 and the second equals the loss.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import fsum
from pathlib import Path
from typing import NamedTuple

from calbench.analysis.cells import row, trimmed
from calbench.analysis.dictionary import TABLES
from calbench.analysis.spool import Places, SpooledTable
from calbench.analysis.spooled_tables import GameRows, SpooledTables
from calbench.domain.ids import AgentId
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.beliefs import Pair
from calbench.metrics.privacy.loss import RoundBeliefs, excess_loss, pair_loss, round_beliefs
from calbench.metrics.seats import players_of
from calbench.traces.models import Trace

DIGITS = 6
"""Most decimals of a number in these tables [C]."""

IDEAL = 0.5
"""Belief of an observer that knows nothing about a slot [C]."""

NAMES = ("belief_evidence", "pair_round_vps", "game_summary", "game_target_summary")
"""The tables, as files ``privacy/<name>.csv``."""


class PairRound(NamedTuple):
    """What one observer learnt about one target in one round, in slot-equivalents."""

    target: AgentId
    observer: AgentId
    target_is_participant: bool
    observer_is_participant: bool
    observations: int
    posterior_distance: float
    loss: float


@dataclass(slots=True)
class _Losses:
    """The pair-round losses of a game, collected for its summaries."""

    by_target: dict[AgentId, list[float]]
    participants_by_target: dict[AgentId, list[float]]
    observations: int = 0
    all_pairs: list[float] = field(default_factory=list)
    participant_pairs: list[float] = field(default_factory=list)

    def add(self, pair: PairRound) -> None:
        self.observations += pair.observations
        self.all_pairs.append(pair.loss)
        self.by_target[pair.target].append(pair.loss)
        if pair.target_is_participant and pair.observer_is_participant:
            self.participant_pairs.append(pair.loss)
            self.participants_by_target[pair.target].append(pair.loss)


PrivacyRows = GameRows
"""One game's lines of the four tables."""


class PrivacyTables(SpooledTables):
    """The four tables of a run."""

    def __init__(
        self,
        folder: Path,
        teams: Sequence[str],
        measure: MeasureSpec = DEFAULT_MEASURE,
        places: Places | None = None,
    ) -> None:
        """Prepare the folder, usually ``tables/privacy``.

        Args:
            folder: where the four tables go; made if missing.
            teams: team ids in the order in which tables list them.
            measure: prior and floor.
            places: of the games, shared with other tables of the run.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._measure = measure
        columns = {name: [c.name for c in TABLES[f"privacy/{name}.csv"]] for name in NAMES}
        super().__init__(
            teams,
            {name: SpooledTable(folder / f"{name}.csv", columns[name], places) for name in NAMES},
        )

    def add(self, trace: Trace) -> None:
        """Take one game.

        Raises:
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        self.append(privacy_rows(trace, self._measure))


def privacy_rows(
    trace: Trace,
    measure: MeasureSpec = DEFAULT_MEASURE,
    rounds: Iterable[RoundBeliefs] | None = None,
) -> PrivacyRows:
    """Return a game's lines of the four tables; a lost game has none.

    Args:
        trace: the game.
        measure: prior and floor.
        rounds: its beliefs round by round, if they were replayed already.
    """
    team, scenario = trace.config.team.team_id, trace.scenario
    if is_lost(trace.events):
        return PrivacyRows(scenario.setting, team, scenario.scenario_id, dict.fromkeys(NAMES, ""))
    game = f"{team}/{scenario.scenario_id}.json,{trace.game_id}"
    players = players_of(trace.config.team, scenario.num_agents)
    agents = [AgentId(agent) for agent in range(scenario.num_agents)]
    typed = [agent for agent in agents if not players[agent].uses_language]
    losses = _Losses({a: [] for a in typed}, {a: [] for a in typed})
    evidence: list[str] = []
    pair_rows: list[str] = []
    for beliefs in round_beliefs(trace, measure) if rounds is None else rounds:
        evidence.extend(_evidence_rows(game, beliefs, losses.by_target))
        pairs = [
            pair
            for pair in _pair_rounds(beliefs, agents, scenario.num_slots, measure)
            if pair.target in losses.by_target
        ]
        for pair in pairs:
            losses.add(pair)
        pair_rows.extend(
            _pair_rows(
                game,
                beliefs.round,
                pairs,
                num_agents=len(agents),
                num_slots=scenario.num_slots,
                prior=measure.belief_prior,
            )
        )
    blocks = {
        "belief_evidence": evidence,
        "pair_round_vps": pair_rows,
        "game_summary": [_summary_row(game, losses)],
        "game_target_summary": list(_target_rows(game, losses, measure.vps_floor)),
    }
    return PrivacyRows(
        scenario.setting,
        team,
        scenario.scenario_id,
        {name: "".join(lines) for name, lines in blocks.items()},
    )


def _pair_rounds(
    beliefs: RoundBeliefs, agents: Sequence[AgentId], num_slots: int, measure: MeasureSpec
) -> Iterator[PairRound]:
    observations: Counter[Pair] = Counter()
    for heard in beliefs.heard:
        observations[heard.target, heard.observer] += len(heard.steps)
    untouched = num_slots * abs(measure.belief_prior - IDEAL)
    members = frozenset(beliefs.participants)
    for pair in permutations(agents, 2):
        vector = beliefs.beliefs.get(pair)
        yield PairRound(
            pair[0],
            pair[1],
            pair[0] in members,
            pair[1] in members,
            observations[pair],
            untouched if vector is None else pair_loss(vector, IDEAL),
            0.0 if vector is None else pair_loss(vector, measure.belief_prior),
        )


def _number(value: float) -> str:
    return trimmed(value, DIGITS)


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _evidence_rows(game: str, beliefs: RoundBeliefs, targets: Container[AgentId]) -> Iterator[str]:
    for change in beliefs.changes:
        if change.target not in targets:
            continue
        yield row(
            game,
            str(change.event_index),
            str(beliefs.round),
            str(change.target),
            str(change.observer),
            str(change.slot),
            change.source,
            _number(change.evidence),
            _number(change.strength),
            _number(change.before),
            _number(change.after),
        )


def _pair_rows(
    game: str,
    round_index: int,
    pairs: Sequence[PairRound],
    *,
    num_agents: int,
    num_slots: int,
    prior: float,
) -> Iterator[str]:
    before = _number(num_slots * abs(prior - IDEAL))
    for pair in pairs:
        yield row(
            game,
            str(round_index),
            str(pair.target),
            str(pair.observer),
            _truth(pair.target_is_participant),
            _truth(pair.observer_is_participant),
            str(num_agents),
            str(num_slots),
            str(pair.observations),
            before,
            _number(pair.posterior_distance),
            _number(pair.loss),
            _number(pair.loss / num_slots),
            _number(prior),
        )


def _mean(values: Sequence[float]) -> str:
    return _number(fsum(values) / len(values)) if values else ""


def _summary_row(game: str, losses: _Losses) -> str:
    is_measured = bool(losses.by_target)
    return row(
        game,
        _number(fsum(losses.all_pairs)) if is_measured else "",
        _mean(losses.all_pairs),
        _number(fsum(losses.participant_pairs)) if is_measured else "",
        _mean(losses.participant_pairs),
        str(losses.observations),
    )


def _target_rows(game: str, losses: _Losses, floor: float) -> Iterator[str]:
    for target, values in losses.by_target.items():
        total = fsum(values)
        participants = fsum(losses.participants_by_target[target])
        yield row(
            game,
            str(target),
            _number(total),
            _number(excess_loss(total, floor)),
            _number(participants),
            _number(excess_loss(participants, floor)),
            _number(floor),
        )
