"""What follows from the games and replies of a submission: all that it says of them is derived.

Who prepares one and who checks one derive the same, so a submission that says anything else was
changed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from calbench.console import progress
from calbench.domain.canonical import digest
from calbench.errors import FileError
from calbench.files import printable, shorten
from calbench.llm.client import ModelClient, open_recorded
from calbench.llm.replies.record import Record
from calbench.llm.replies.shards import open_replies, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.runs.identity import published_parts, shared_settings
from calbench.runs.recorded import scenario_digest
from calbench.runs.seats import modules_of
from calbench.runs.verification import UnprovenError, Verified, verify_trace
from calbench.scenarios.storage import published_suite
from calbench.scenarios.suites import subset_order
from calbench.submissions.folder import Part, Seated
from calbench.traces.events import DecideEnd, Reflection, TurnEnd
from calbench.traces.models import GameConfig, Team, Trace
from calbench.traces.storage import TraceReader
from calbench.tree import DATA

FEWEST_COPIED = 5
"""Replies that must be another model's, word for word, before it is said that they were copied [C]:
short ones, such as to say nothing, may be equal by chance."""


class Played(NamedTuple):
    """A game of a team in one setting.

    Attributes:
        scenario_id: on what.
        digest: of what defines the scenario.
        replicate: its number on the scenario.
        seats: the line-up as it sat.
        meetings: of the scenario.
        scheduled: of them, 0 if the game was cut short.
        halt: why it was cut short; empty if it was not.
    """

    scenario_id: str
    digest: str
    replicate: int
    seats: Team
    meetings: int
    scheduled: int
    halt: str


@dataclass
class Examined:
    """What came of the games.

    Attributes:
        verified: how much was checked of those that hold.
        problems: what does not hold, a line each.
        configs: how each team plays.
        games: by team and setting.
        teams_by_key: who used each reply of a model.
        said: replies by the model that was asked and the one that is said to have answered.
        silent: replies that do not say who answered.
        addresses: kinds of address at which each model was asked, as its replies say.
        cost_usd: of the replies of each team; teams whose replies have no price are not there.
        unused: replies that no game used.
    """

    verified: Verified = field(default_factory=Verified)
    problems: list[str] = field(default_factory=list)
    configs: dict[str, GameConfig] = field(default_factory=dict)
    games: dict[tuple[str, str], list[Played]] = field(default_factory=dict)
    teams_by_key: dict[str, set[str]] = field(default_factory=dict)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    silent: int = 0
    addresses: dict[str, set[Any]] = field(default_factory=dict)
    cost_usd: dict[str, float] = field(default_factory=dict)
    unused: int = 0

    def add(self, trace: Trace) -> None:
        """Take a game into account."""
        scenario, team = trace.scenario, trace.config.team
        first = self.configs.setdefault(team.team_id, trace.config)
        own, theirs = shared_settings(trace.config), shared_settings(first)
        for place in sorted({*own, *theirs}):
            if own.get(place) != theirs.get(place):
                shown = [shorten(repr(each.get(place))) for each in (own, theirs)]
                self.problems.append(
                    f"{team.team_id} on {scenario.scenario_id}: {place}: plays with {shown[0]}, "
                    f"in another game with {shown[1]}"
                )
        self.games.setdefault((team.team_id, scenario.setting), []).append(
            Played(
                scenario.scenario_id,
                scenario_digest(orjson.loads(scenario.written)),
                trace.config.replicate,
                team,
                len(scenario.meetings),
                0 if trace.is_halted else trace.metrics.rounds_scheduled,
                "" if trace.halt is None else trace.halt.reason,
            )
        )
        for event in trace.events:
            if not isinstance(event, TurnEnd | DecideEnd | Reflection):
                continue
            if team.seat_of(event.agent_id).kind == "model":
                for key in event.reply_keys:
                    self.teams_by_key.setdefault(key, set()).add(team.team_id)

    def add_reply(self, record: Record) -> None:
        """Take a reply into account."""
        teams = self.teams_by_key.get(record.key)
        if teams is None:
            self.unused += 1
            return
        for team in teams:
            if record.cost_usd is not None:
                self.cost_usd[team] = self.cost_usd.get(team, 0.0) + record.cost_usd
        said = record.provenance
        if said is None or not said.model:
            self.silent += 1
        elif said.is_other(record.model):
            self.said[record.model, said.model] += 1
        if said is not None:
            self.addresses.setdefault(record.model, set()).add(said.address)

    @property
    def replicates(self) -> Mapping[tuple[str, str], int]:
        """How often each team plays a scenario of a setting, by both."""
        return {place: 1 + max(each.replicate for each in own) for place, own in self.games.items()}


def examine(paths: Sequence[Path], replies: Path | None) -> Examined:
    """Verify games, and take together what they are.

    Args:
        paths: of the traces.
        replies: the recorded replies of their models; absent: the traces' word is taken.

    Raises:
        FileError: the replies are damaged.
    """
    found, reader = Examined(), TraceReader()
    opened = nullcontext() if replies is None else open_recorded(replies)
    with opened as client, progress("verified", len(paths)) as tick:
        for path in paths:
            try:
                trace = reader.read(path)
                found.add(trace)
                found.verified += verify_trace(trace, client)
            except UnprovenError as error:
                name = f"{path.parent.name}/{path.name}"
                found.problems.append(f"{printable(name)}: {error.level}: {error.problem}")
            except FileError as error:
                found.problems.append(str(error))
            tick()
        if client is not None:
            _add_replies(found, client)
    return found


def _add_replies(found: Examined, client: ModelClient) -> None:
    copied: Counter[tuple[str, str]] = Counter()
    known = 0
    for record in client.store.records() if client.store else ():
        found.add_reply(record)
        theirs = _published_replies().get(record.thread)
        if theirs is not None:
            known += 1
            model = theirs.get(record.text or "")
            if model is not None and model != record.model:
                copied[record.model, model] += 1
    for (own, model), count in copied.items():
        if count >= FEWEST_COPIED and 2 * count > known:
            found.problems.append(
                f"{count} of {known} replies of {printable(own)} to what published models were "
                f"asked, too, are word for word those of {printable(model)}"
            )


def write_replies(source: Path, found: Examined, folder: Path) -> None:
    """Write the replies that games used, and what they were asked, as JSON Lines.

    The bytes depend on the games and these replies alone.

    Args:
        source: recorded replies, perhaps of other games, too.
        found: the games.
        folder: where they go.

    Raises:
        FileError: the replies are damaged.
    """
    with open_replies(source) as store, ReplyStore.in_memory() as own:
        with own.writing():
            for record in store.records():
                if record.key in found.teams_by_key:
                    own.add_parts(store.request(record))
                    own.add(record)
        write_shards(folder, own)


@cache
def _published_replies() -> Mapping[str, Mapping[str, str]]:
    """Return the models of published cohorts by thread and text; a checkout alone has them."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((DATA / "cohorts").glob("*/*/replies/replies-?.jsonl")):
        for line in path.read_bytes().splitlines():
            reply = orjson.loads(line)
            found.setdefault(reply["thread"], {})[reply.get("text") or ""] = reply["model"]
    return found


# --- what was played


def parts_of(found: Examined) -> dict[str, Part]:
    """Return what was played of which published suite, by setting; note what was not.

    A setting of none, another scenario under a published name and seats that do not rotate as the
    suite has them are problems, and so is a game that is missing in the part.
    """
    parts: dict[str, Part] = {}
    for setting in sorted({setting for _, setting in found.games}):
        played = {team: own for (team, each), own in found.games.items() if each == setting}
        scenarios = {(game.scenario_id, game.digest) for own in played.values() for game in own}
        fitting = [
            name
            for name, known in published_parts().items()
            if scenarios <= known.get(setting, {}).items()
        ]
        suite = setting if setting in fitting else next(iter(fitting), None)
        if suite is None:
            found.problems.append(_foreign(setting, scenarios))
            continue
        parts[setting] = part = _part(suite, setting, scenarios)
        places = {name: place for place, name in enumerate(published_parts()[suite][setting])}
        for team, own in played.items():
            _note_games(found, team, setting, own, ids_of(part, setting))
            _note_seats(found, team, own, places)
    return parts


Scenarios = AbstractSet[tuple[str, str]]
"""Ids of scenarios with what defines them."""


def _foreign(setting: str, scenarios: Scenarios) -> str:
    known = [parts[setting] for parts in published_parts().values() if setting in parts]
    for scenario_id, own in sorted(scenarios):
        theirs = {each[scenario_id] for each in known if scenario_id in each}
        if theirs and own not in theirs:
            return f"{setting}/{printable(scenario_id)}: is another than the published scenario"
    return f"setting {printable(setting)}: its scenarios are those of no published suite"


@cache
def _subset_order(suite: str, setting: str) -> Sequence[str]:
    return subset_order([each for each in published_suite(suite) if each.setting == setting])


def _part(suite: str, setting: str, scenarios: Scenarios) -> Part:
    order = _subset_order(suite, setting)
    count = 1 + max(order.index(scenario_id) for scenario_id, _ in scenarios)
    whole = published_parts()[suite][setting]
    return Part(
        suite=suite,
        digest=digest([[setting, *each] for each in whole.items()]),
        subset=None if count == len(order) else count,
    )


def ids_of(part: Part, setting: str) -> Sequence[str]:
    """Return the ids of a part's scenarios, in the order in which subsets grow."""
    return _subset_order(part.suite, setting)[: part.subset]


def _note_games(
    found: Examined,
    team: str,
    setting: str,
    own: Sequence[Played],
    scenarios: Sequence[str],
) -> None:
    """Note which games of a team are missing, or played more often than they can differ."""
    there = {(game.scenario_id, game.replicate) for game in own}
    replicates = found.replicates[team, setting]
    if replicates > 1 and not found.configs[team].team.is_open:
        found.problems.append(f"{team}: plays a scenario several times, always the same game")
    missing = [
        f"{scenario_id}{f', replicate {number}' if number else ''}"
        for scenario_id in scenarios
        for number in range(replicates)
        if (scenario_id, number) not in there
    ]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        found.problems.append(
            f"{team} ({setting}): games are missing: {', '.join(missing[:3])}{more}; one that a "
            "provider or the budget cut short is handed in as it is, and a part of a suite is "
            "what subset=N plays, not scenarios of your choice"
        )


def _note_seats(
    found: Examined, team: str, own: Sequence[Played], places: Mapping[str, int]
) -> None:
    """Note a team whose players do not move by a seat with each scenario of the suite."""
    lineups = {
        game.seats.rotated(-places[game.scenario_id]).model_dump_json()
        for game in own
        if game.seats.rotation
    }
    if len(lineups) > 1:
        found.problems.append(
            f"{team}: its players do not move by one seat with each scenario of the suite"
        )


def players_of(found: Examined) -> tuple[Seated, ...]:
    """Return every player once for each team."""
    seats = {
        (team, seat.player): _seated(config, team, place, found.addresses)
        for team, config in found.configs.items()
        for place, seat in enumerate(config.team.seats)
    }
    return tuple(seats[key] for key in sorted(seats))


def _seated(config: GameConfig, team: str, place: int, addresses: Mapping[str, set[Any]]) -> Seated:
    seat = config.team.seats[place]
    framework, model = "CalBench", None
    if seat.kind == "custom":
        framework = str(seat.settings.get("agent"))
    elif seat.kind == "model":
        own = "" if config.prompt_digest is None else f" of {config.prompt_digest[:12]}"
        framework = f"CalBench prompts {config.prompt_version}{own}"
        model = str(seat.settings.get("model"))
    elif own_modules := modules_of(Team(team_id=team, seats=(seat,))) - {"calbench"}:
        framework = ", ".join(sorted(own_modules))
    kinds = addresses.get(model or "", set())
    return Seated(
        team=team,
        player=seat.player,
        kind=seat.kind,
        framework=shorten(printable(framework), 300),
        model=model,
        address=next(iter(kinds)) if len(kinds) == 1 else None,
    )


def settings_digest(configs: Mapping[str, GameConfig]) -> str:
    """Return the digest of line-up and rules of every team."""
    return digest({team: shared_settings(config) for team, config in configs.items()})
