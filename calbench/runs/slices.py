"""Slices of a cohort: runs whose games are scored together.

A team is told by its name, and a player by its name and settings. Where runs mean different things
by one name of a team, each gets the name of its run behind it. Nothing depends on the order in
which the runs are named.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from calbench.errors import FileError
from calbench.files import printable, shorten
from calbench.metrics.players import Player, players_of
from calbench.runs.recorded import RecordedGame, consistent
from calbench.traces.catalog import TRACES_FOLDER, Catalog
from calbench.traces.models import Seat, Team
from calbench.traces.storage import parsed_trace, trace_bytes
from calbench.tree import DATA

LONGEST = 64
"""Most characters of the name of a team, as in :data:`calbench.traces.shards.NAME_PATTERN`."""

LONGEST_RUN = 24
"""Most characters of the name of a run, which may be behind that of a team [C]."""


def run_name(path: Path) -> str:
    """Return the name of a run, that of its folder, with the letters that names may have."""
    whole = path.resolve()
    folder = whole.parent.name if whole.name == TRACES_FOLDER else whole.name
    return re.sub(r"[^A-Za-z0-9_-]+", "-", folder).strip("-_")[:LONGEST_RUN] or "run"


def team_of_run(team: str, run: str) -> str:
    """Return the name of a team with that of its run behind it: ``my-model.run-a``."""
    return f"{team[: LONGEST - len(run) - 1]}.{run}"


def renamed_trace(path: Path, data: bytes, team: str) -> bytes:
    """Return the bytes of a trace with another name for its team.

    Args:
        path: of the trace, for messages.
        data: its bytes.
        team: the name.

    Raises:
        FileError: it is no trace.
    """
    trace = parsed_trace(path, data)
    config = trace.config.updated(team=trace.config.team.model_copy(update={"team_id": team}))
    return trace_bytes(trace.model_copy(update={"config": config}))


class Meaning(NamedTuple):
    """What a name of a team means: who plays, and by which rules, both as JSON; and whose it is.

    A stranger's game is never one of a published team, whatever it says.
    """

    lineup: str
    rules: str
    is_published: bool


Meanings = Mapping[str, Mapping[Meaning, Sequence[RecordedGame]]]
"""The games of each team, by what its name means in them."""


def told_apart(games: Sequence[RecordedGame], folder: Path) -> tuple[list[RecordedGame], list[str]]:
    """Return games in which one name of a team means one team, and a line for each new name.

    Args:
        games: of one or several runs, in any order.
        folder: for traces with another name of the team; is created if one is needed.

    Raises:
        FileError: a name means two teams and no run can tell them apart, a game is there twice, or
            a scenario of one name is another one.
    """
    found = _meanings(games)
    new: dict[tuple[str, Meaning], str] = {}
    taken = {team for team, own in found.items() if len(own) == 1}
    lines = []
    for team in sorted(set(found) - taken):
        names = _names(team, found[team])
        if len(taken | {*names.values()}) < len(taken) + len(names):
            raise FileError(_indistinct(team, found[team]))
        taken |= {*names.values()}
        new |= {(team, meaning): name for meaning, name in names.items()}
        what, shown = _unlike(list(names)), ", ".join(sorted(map(_shown, names.values())))
        lines.append(f"team {_shown(team)} has other {what} in some runs: here it is {shown}")
    called = [
        replace(game, team_id=new[place]) if place in new else game
        for game in games
        for place in [(game.team_id, _meaning(game))]
    ]
    is_new = {*new.values()}
    return [
        _renamed(game, folder) if game.team_id in is_new else game for game in consistent(called)
    ], lines


def _meaning(game: RecordedGame) -> Meaning:
    is_published = Path(os.path.abspath(game.file)).is_relative_to(  # noqa: PTH100 - of each game
        DATA / TRACES_FOLDER
    )
    return Meaning(game.lineup, game.rules, is_published)


def _meanings(games: Iterable[RecordedGame]) -> dict[str, dict[Meaning, list[RecordedGame]]]:
    found: dict[str, dict[Meaning, list[RecordedGame]]] = {}
    for game in games:
        found.setdefault(game.team_id, {}).setdefault(_meaning(game), []).append(game)
    return found


def _names(team: str, meanings: Mapping[Meaning, Sequence[RecordedGame]]) -> dict[Meaning, str]:
    """Return a name for each meaning: that of the first run which means only this by it.

    The published team keeps its own.

    Raises:
        FileError: there is no such run.
    """
    runs = {meaning: {_run_of(game) for game in own} for meaning, own in meanings.items()}
    names = {}
    for meaning, own in runs.items():
        others = {run for other, each in runs.items() if other != meaning for run in each}
        if not own - others:
            raise FileError(_indistinct(team, meanings))
        names[meaning] = team_of_run(team, min(own - others))
    published = [meaning for meaning in names if meaning.is_published]
    return names | ({published[0]: team} if len(published) == 1 else {})


def _run_of(game: RecordedGame) -> str:
    """Return the name of the run of a game, whose trace is in a folder of its team."""
    above = game.path.parent.parent
    return run_name(above.parent if above.name == TRACES_FOLDER else above)


def _indistinct(team: str, meanings: Mapping[Meaning, Sequence[RecordedGame]]) -> str:
    one, other = sorted(min(game.file for game in games) for games in meanings.values())[:2]
    return (
        f"{other}: team {_shown(team)} has other {_unlike(list(meanings))} than in {one}, and the "
        "names of their folders do not tell them apart; rename one folder, or score them apart"
    )


def _renamed(game: RecordedGame, folder: Path) -> RecordedGame:
    """Write the trace of a game with the name that its team has here."""
    data = renamed_trace(game.path, Catalog().read(game.path), game.team_id)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{sha256(data).hexdigest()}.json"
    file.write_bytes(data)
    return replace(game, file=str(file))


def pooled(games: Iterable[RecordedGame]) -> list[str]:
    """Return a line for each agent with language whose rows over several teams need a word.

    That is one of which other settings make another player under the same name, and one that
    played by several rules, whose row is over all of them.
    """
    seats: dict[str, dict[Player, set[tuple[str, str]]]] = {}
    settings: dict[Player, Seat] = {}
    for team, meanings in _meanings(games).items():
        for meaning in meanings:
            for player, seat in _seated(team, meaning.lineup):
                settings.setdefault(player, seat)
                variant = None if seat.variant is None else seat.variant.digest
                how = (meaning.rules, json.dumps({"variant": variant}))
                seats.setdefault(player.name, {}).setdefault(player, set()).add(how)
    return [line for name in sorted(seats) for line in _lines(name, seats[name], settings)]


def _lines(
    name: str, found: Mapping[Player, set[tuple[str, str]]], settings: Mapping[Player, Seat]
) -> Iterator[str]:
    """Yield what has to be said of the players of one name."""
    if len(found) > 1:
        seats = [settings[player] for player in found]
        what = _unequal([{"kind": seat.kind, **seat.settings} for seat in seats])
        yield (
            f"{len(found)} players are called {_shown(name)}, with other {what}: each has a row of "
            "its own in players.csv"
        )
    for hows in found.values():
        if len(hows) > 1:
            rules = [json.loads(rules) | json.loads(own) for rules, own in sorted(hows)]
            yield (
                f"{_shown(name)} played with other {_unequal(rules)} in some teams: its row in "
                "players.csv is over all of them; score them apart for a row of each"
            )


def _seated(team: str, lineup: str) -> Iterator[tuple[Player, Seat]]:
    """Yield the agents with language of a team; none if the trace is no trace, as reading says."""
    try:
        own = Team.model_validate_json(json.dumps(json.loads(lineup) | {"team_id": team}))
    except ValidationError:
        return
    for player, seat in zip(players_of(own, len(own.seats)), own.seats, strict=True):
        if seat.uses_language:
            yield player, seat


def _unlike(meanings: Sequence[Meaning]) -> str:
    """Return in words what differs between the meanings of a name."""
    teams = [json.loads(meaning.lineup) for meaning in meanings]
    lineups = {meaning.lineup for meaning in meanings}
    players = {json.dumps(sorted(_players(team))) for team in teams}
    found = ["players"] if len(players) > 1 else ["settings of players"] if len(lineups) > 1 else []
    rules = [json.loads(meaning.rules) for meaning in meanings]
    found += [_unequal(rules)] if _unequal(rules) else []
    found += ["origin"] if len({meaning.is_published for meaning in meanings}) > 1 else []
    return " and ".join(found)


def _players(team: Mapping[str, object]) -> Iterator[str]:
    seats = team.get("seats")
    for seat in seats if isinstance(seats, list) else []:
        yield str(seat.get("player") if isinstance(seat, dict) else seat)


def _unequal(found: Sequence[Mapping[str, object]]) -> str:
    """Return the keys whose values differ, in words."""
    keys = sorted({key for each in found for key in each})
    unequal = [
        key
        for key in keys
        if len({json.dumps(each.get(key), sort_keys=True) for each in found}) > 1
    ]
    return ", ".join(_shown(key) for key in unequal)


def _shown(text: str) -> str:
    return printable(shorten(text))
