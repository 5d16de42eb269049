"""Edited traces: whatever holds although it was edited, the verifier says that it did not check."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import TypeAdapter, ValidationError

from calbench.agents.base import Completer
from calbench.engine.game import game_id
from calbench.errors import CalbenchError
from calbench.llm.client import open_recorded
from calbench.runs.verification import UnprovenError, Verified, _played_again, verify_file
from calbench.traces import models
from calbench.traces.storage import trace_bytes
from tests.campaigns.edits import ANSWERS, CLAIMS, EDITS, Trace
from tests.cli.recording import failing_after
from tests.conftest import Figures
from tests.effort import attacks
from tests.factories import as_written
from tests.runs.model_games import CANDID, IMAP, PROBING, STUB, answering, played

pytestmark = pytest.mark.heavy

GAMES = {
    "protocol": ((IMAP,), answering),
    "scripted": ((CANDID,), answering),
    "models": ((STUB, PROBING), answering),
    "mixed": ((IMAP, CANDID, STUB, PROBING), answering),
    "halted": ((STUB,), failing_after(25, answering)),
    "chances": ((IMAP, CANDID, STUB), answering),
}
"""Seats of each game, and how its models answer; those with chances are asked with prompts v3."""

SAID_BESIDE = {"reply_note", "chances_stated"}
"""Events that a model's reply alone says whether there are."""

SAID = ("usage", "thinking", "actions", "reply_keys", "delta_by_target", "expected_by_target")
"""What a model's reply alone says of an answer."""

UNFORGED = {"scenario", "configuration", "numbers"}
"""Edits that make an honest game of another scenario if everything else is computed anew."""

EDITS_OF_EACH = 100


def parsed(trace: Trace) -> Any:
    """Return a trace as it is read from a file, if it is one."""
    try:
        return TypeAdapter(models.Trace).validate_json(json.dumps(trace))
    except ValidationError:
        return None


@dataclass(frozen=True)
class Game:
    path: Path
    store: Path

    @contextmanager
    def replies(self) -> Iterator[Completer]:
        with open_recorded(self.store) as store:
            yield store


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Game]:
    folder = tmp_path_factory.mktemp("games")
    found = {}
    for name, (seats, transport) in GAMES.items():
        game = Game(folder / f"{name}.json", folder / f"{name}.sqlite")
        version = "v3" if name == "chances" else "v1"
        trace = played(seats, game.store, transport, prompts=(version, None))
        game.path.write_bytes(trace_bytes(trace))
        found[name] = game
    return found


def edited(name: str, honest: Trace, chance: random.Random) -> tuple[str, Trace]:
    """Return an edited trace and what was done to it.

    Half of the edits are forged well: the game is played again around them, so that all that the
    verifier computes itself fits.
    """
    while True:
        trace = json.loads(json.dumps(honest))
        is_claim = chance.random() < 0.2
        edits = CLAIMS if is_claim else EDITS
        what = chance.choice(sorted(edits))
        if what == "other rules" and name == "protocol":
            continue  # by other limits, protocols may well play the same game
        edits[what](trace, chance)
        if what not in UNFORGED and chance.random() < 0.5:
            forged = consistent(trace)
            if forged is not None and not has_model(forged):
                continue  # players that are known have played another game: an honest one
            what, trace = (what, trace) if forged is None else (f"{what}, forged", forged)
        elif is_claim:
            trace = with_its_id(trace)
        if not same(trace, honest):
            return what, trace


def has_model(trace: Trace) -> bool:
    return any(seat["kind"] == "model" for seat in trace["config"]["team"]["seats"])


def with_its_id(trace: Trace) -> Trace:
    read = parsed(trace)
    return trace if read is None else {**trace, "game_id": game_id(read.scenario, read.config)}


def consistent(trace: Trace) -> Trace | None:
    """Return the game that the rules make of the edited answers, if they make one."""
    read = parsed(trace)
    if read is None:
        return None
    try:
        return cast("Trace", json.loads(trace_bytes(_played_again(read, None))))
    except CalbenchError:
        return None


UNPRINTABLE = "found, not told in one line"
"""What no edit may come to."""


def same(one: Trace, other: Trace) -> bool:
    """Whether two traces say the same, in whatever order their keys are."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def proven(trace: Trace, *, are_replies_given: bool) -> Trace:
    """Return what of a trace is proven: replies of models if they are given, no halt's reason."""
    seats = trace["config"]["team"]["seats"]

    def is_model(event: Trace) -> bool:
        return bool(seats[event["agent_id"] % len(seats)]["kind"] == "model")

    events = []
    for event in trace["events"]:
        kept = dict(event)
        if event["type"] == "game_halted":
            kept.update(reason=None, detail=None)
        elif event.get("outcome") in {"provider_fault", "budget_stop"}:
            kept["outcome"] = "halted"
        elif not are_replies_given and event["type"] in ANSWERS and is_model(event):
            kept.update(dict.fromkeys(SAID))
        if are_replies_given or event["type"] not in SAID_BESIDE or not is_model(event):
            events.append(kept)
    return {**trace, "events": events}


def outcome(case: str, game: Game, honest: Trace, trace: Trace, replies: Completer | None) -> str:
    """Verify an edited trace, and return what came of it; fail if it holds and should not."""
    path = game.path.with_name("edited.json")
    path.write_bytes(as_written(trace))
    try:
        verified = verify_file(path, replies)
    except UnprovenError as error:
        return f"found ({error.level})" if str(error).isprintable() else UNPRINTABLE
    assert verified != Verified(), f"{case}: holds, and nothing is said not to be checked"
    if replies is not None:
        assert verified.replies_not_checked == 0, case
    else:
        assert verified.replies_not_checked + verified.halts_not_checked, case
    if replies is not None or "forged" not in case:
        one, other = (
            proven(each, are_replies_given=replies is not None) for each in (trace, honest)
        )
        assert same(one, other), f"{case}: holds, although what is proven was edited"
    return "said not to be checked"


@pytest.mark.parametrize("name", GAMES)
def test_edited_trace_is_found_or_said_not_to_be_checked(
    name: str, games: dict[str, Game], figures: Figures
) -> None:
    game = games[name]
    honest = json.loads(game.path.read_bytes())
    alone: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    with game.replies() as replies:
        for number in range(attacks(EDITS_OF_EACH)):
            what, trace = edited(name, honest, random.Random(f"{name}-{number}"))
            case = f"{name} {number} ({what})"
            alone[outcome(case, game, honest, trace, None)] += 1
            compared[outcome(case, game, honest, trace, replies)] += 1
    assert UNPRINTABLE not in alone | compared
    figures(f"semantic edits of a {name} game, its trace alone", alone)
    figures(f"semantic edits of a {name} game, with its replies", compared)


@pytest.mark.parametrize("name", GAMES)
def test_games_hold_before_they_are_edited(name: str, games: dict[str, Game]) -> None:
    game = games[name]
    alone = verify_file(game.path)
    with game.replies() as replies:
        compared = verify_file(game.path, replies)
    assert alone.replies_not_checked == compared.replies_checked
    assert bool(compared.replies_checked) is (name not in {"protocol", "scripted"})
