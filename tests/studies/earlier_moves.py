"""How often moving an earlier meeting would be cheaper -> data/published/earlier_moves.csv.

Run it after a change of the canonical suites or of how the teams play:
``python -m tests.studies.earlier_moves``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from calbench import load_suite, play_game
from calbench.console import say
from calbench.domain.ids import MeetingId, Slot
from calbench.files import write_atomically
from calbench.metrics.costs import best_complete_schedule
from calbench.metrics.optimum import Moment
from calbench.oracle.cache import OracleCache
from calbench.oracle.choices import Choice
from calbench.oracle.programme import MOST_EXACT_MEETINGS
from calbench.oracle.solve import searched_least_cost
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, Event, Resolution, RoundStart
from stages import paths

SUITES = ("uniform", "varied")
TEAMS = ("imap", "dsm-welfare", "sd-map")
"""Those of the paper's that place nearly every meeting [C]: after a failure there is nothing to
compare."""

AHEAD = {"the round's": False, "all later": True}
"""Which meetings are known, in words."""

OUT = paths.DATA / "published" / "earlier_moves.csv"


@dataclass(frozen=True, slots=True)
class RoundCosts:
    """The least that the meetings from a round on can still cost, with all calendars known.

    Attributes:
        round: number of the round, from 0.
        in_place: in accounting cost, if earlier scheduled meetings stay where they are; ``None``
            if the meetings then cannot be placed.
        with_moves: the same if earlier ones may move, paid by each participant.
    """

    round: int
    in_place: int | None
    with_moves: int | None


def round_costs(
    scenario: Scenario, events: Iterable[Event], oracle: OracleCache, *, sees_ahead: bool
) -> list[RoundCosts]:
    """Return whether moving earlier meetings would have been cheaper, round by round.

    The paper says that the best solution sometimes moves them (section 3). Rounds without a
    scheduled earlier meeting have nothing to move; after a failed meeting none is looked at.

    Args:
        scenario: of the game.
        events: of the game, from its start.
        oracle: used if the scenario stores no optimum.
        sees_ahead: whether all later meetings are known too, or the round's alone.
    """
    schedule = best_complete_schedule(scenario, oracle)
    found: list[RoundCosts] = []
    if schedule is None or len(scenario.all_meetings) > MOST_EXACT_MEETINGS:
        return found
    moment = Moment(scenario, schedule)
    later = [MeetingId(meeting.meeting_id) for meeting in scenario.meetings]
    for event in events:
        if isinstance(event, RoundStart) and moment.standing:
            ahead = later[event.round :] if sees_ahead else [event.meeting_id]
            found.append(RoundCosts(event.round, *_costs(moment, ahead)))
        elif isinstance(event, BatchApplied):
            moment.apply(event)
        elif isinstance(event, Resolution):
            if not event.coordinated:
                break
            moment.standing.add(event.meeting_id)
    return found


def _costs(moment: Moment, new: Sequence[MeetingId]) -> tuple[int | None, int | None]:
    """Return the least cost of placing meetings with the standing ones in place, or moved."""
    choices = [each for each in moment._choices() if each.meeting_id in (*new, *moment.standing)]
    in_place = [
        replace(each, charges_by_slot=_unmoved(each))
        if each.meeting_id in moment.standing
        else each
        for each in choices
    ]
    return searched_least_cost(in_place), searched_least_cost(choices)


def _unmoved(choice: Choice) -> dict[Slot, tuple[int, ...]]:
    """Return the slot in which a whole meeting stands, which costs none of its participants."""
    return {slot: each for slot, each in choice.charges_by_slot.items() if not any(each)}


def measured(setting: str, team: str, scenarios: Sequence[Scenario]) -> Iterator[dict[str, object]]:
    """Yield a row for each of :data:`AHEAD`, of games played anew."""
    games = [(scenario, play_game(scenario, team).events) for scenario in scenarios]
    cache = OracleCache()
    for known, sees_ahead in AHEAD.items():
        rounds = [
            each
            for scenario, events in games
            for each in round_costs(scenario, events, cache, sees_ahead=sees_ahead)
        ]
        saved = [_saved(each) for each in rounds]
        yield {
            "setting": setting,
            "team": team,
            "known": known,
            "games": len(games),
            "rounds": len(rounds),
            "cheaper": sum(each > 0 for each in saved),
            "saved": sum(saved),
        }


def _saved(costs: RoundCosts) -> int:
    """Return what moving earlier meetings saves; a meeting it alone makes possible saves 0."""
    if costs.in_place is None or costs.with_moves is None:
        return 0
    return costs.in_place - costs.with_moves


def main(_: list[str]) -> None:
    """Play and measure the canonical suites, and write the table."""
    rows = [
        row
        for setting in SUITES
        for team in TEAMS
        for row in measured(setting, team, load_suite(setting))
    ]
    table = pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
    write_atomically(OUT, table.encode())
    say(f"{OUT}: {len(rows)} rows")


if __name__ == "__main__":
    paths.answer(main)
