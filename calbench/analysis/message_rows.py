"""A game's messages, one row each: who told whom how much, and what its words gave away."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from calbench.analysis.audits.own_slot import NAMES as OWN_SLOT
from calbench.analysis.audits.own_slot import own_slot
from calbench.analysis.audits.patterns import message_patterns
from calbench.analysis.audits.said import Said
from calbench.analysis.audits.told import labels_of_game, told_labels
from calbench.analysis.cells import Cell, trimmed
from calbench.analysis.rows import line
from calbench.domain.messages import Text
from calbench.metrics.outcomes import is_lost
from calbench.metrics.privacy.loss import CHANNEL_BY_EVENT, RoundBeliefs
from calbench.metrics.seats import Player, players_of
from calbench.scenarios.labels import TIERS, Labels
from calbench.traces.events import AnnouncementSent, MessageSent
from calbench.traces.models import Trace

VPS_DIGITS = 6
"""Most decimals of what a message gave away [C]."""

SENT = MessageSent | AnnouncementSent
"""Events that hold a message."""


@dataclass(slots=True)
class _Told:
    """What one message did to beliefs about typed agents."""

    shares: list[float] = field(default_factory=list)


def message_rows(
    trace: Trace, beliefs: Iterable[RoundBeliefs], prior: float, *, with_audits: bool = True
) -> Iterator[str]:
    """Yield a game's lines of ``messages.parquet`` without a version; a lost game has none.

    Args:
        trace: the game.
        beliefs: its rounds, as :func:`round_beliefs` replays them.
        prior: belief before each round.
        with_audits: look for patterns, own slots and labels in words.

    Raises:
        ConfigError: there is no such label bank as the trace names.
    """
    if is_lost(trace.events):
        return
    team, scenario = trace.config.team, trace.scenario
    players = players_of(team, scenario.num_agents)
    told = _told_by_event(beliefs, players, prior)
    labels = labels_of_game(trace) if with_audits else None
    game: tuple[Cell, ...] = (
        scenario.setting,
        scenario.scenario_id,
        team.team_id,
        trace.game_id,
    )
    for index, event in enumerate(trace.events):
        if isinstance(event, SENT):
            sender = event.from_agent if isinstance(event, MessageSent) else None
            player = None if sender is None else players[sender]
            yield line(
                *game,
                index,
                event.round,
                event.turn,
                sender,
                None if player is None else player.name,
                None if player is None else player.kind,
                " ".join(map(str, event.to_agents)),
                CHANNEL_BY_EVENT[type(event)],
                event.content.kind,
                len(event.content.text) if isinstance(event.content, Text) else None,
                *_beliefs_cells(event, told.get(index, _Told())),
                *_word_cells(index, trace, labels, with_audits=with_audits),
            )


def _told_by_event(
    beliefs: Iterable[RoundBeliefs], players: Sequence[Player], prior: float
) -> Mapping[int, _Told]:
    told: dict[int, _Told] = {}
    for each in beliefs:
        for heard in each.heard:
            if not players[heard.target].uses_language:
                found = told.setdefault(heard.event_index, _Told())
                found.shares += [
                    abs(after - prior) - abs(before - prior) for before, after in heard.steps
                ]
    return told


def _beliefs_cells(event: MessageSent | AnnouncementSent, told: _Told) -> tuple[Cell, Cell]:
    if isinstance(event.content, Text):
        return None, None
    return len(told.shares), trimmed(sum(told.shares), VPS_DIGITS)


def _word_cells(
    index: int, trace: Trace, labels: Labels | None, *, with_audits: bool
) -> tuple[Cell, Cell, Cell, Cell]:
    """Return patterns, own-slot labels, number of private labels told and their highest tier."""
    event = trace.events[index]
    if not with_audits or not isinstance(event, MessageSent):
        return None, None, None, None
    content = event.content
    if not isinstance(content, Text):
        return None, None, None, None
    own = own_slot(content.text)
    patterns = message_patterns(content.text, {event.from_agent, *event.to_agents})
    said = Said(index, event.round, event.from_agent, event.to_agents, content.text, ())
    tiers = [] if labels is None else told_labels(said, labels, trace.scenario).values()
    return (
        " ".join(patterns) or None,
        " ".join(name for name in OWN_SLOT if getattr(own, name)) or None,
        None if labels is None else len(tiers),
        max(tiers, key=TIERS.index, default=None),
    )
