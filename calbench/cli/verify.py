"""``calbench verify``: replay traces and recompute every number they hold.

A trace holds its scenario, so it can be verified alone. Nothing that a trace names is imported:
players that this package knows by id play again, the recorded turns of all others are replayed.
"""

from collections.abc import Sequence
from pathlib import Path

from calbench.agents.scripted import STYLES
from calbench.cli.status import Status
from calbench.console import alert, progress, verdict
from calbench.domain.rules import RULES_VERSION
from calbench.engine.batch import played
from calbench.engine.drivers import compare_events, replay
from calbench.engine.game import game_id
from calbench.errors import CalbenchError, ConfigError, FileError, ReplayError
from calbench.protocols.registry import POLICIES
from calbench.scenarios.certificates import false_statements
from calbench.scenarios.difficulty import completed
from calbench.traces.models import Seat, Trace
from calbench.traces.storage import read_trace, trace_paths


def main(names: Sequence[Path]) -> int:
    """Verify every trace that is named; say which fail."""
    for name in names:
        if not name.exists():
            raise FileError(f"{name}: cannot be read (No such file or directory)")
    paths = [path for name in names for path in trace_paths(name)]
    failures = 0
    with progress("verified", len(paths)) as tick:
        for path in paths:
            try:
                verify_file(path)
            except CalbenchError as error:
                failures += 1
                alert(f"error: {error}")
            tick()
    verdict(f"{len(paths) - failures} of {len(paths)} traces hold", is_good=not failures)
    return Status.DIFFERENT if failures else Status.DONE


def verify_file(path: Path) -> None:
    """Verify one trace file.

    Raises:
        FileError: if it does not read as a trace.
        ReplayError: naming the file, the event and the difference.
    """
    trace = read_trace(path)
    try:
        verify_trace(trace)
    except (ConfigError, ReplayError) as error:
        raise ReplayError(f"{path}: {error}") from error


def verify_trace(trace: Trace) -> None:
    """Check that a trace is what the rules make of its scenario and its turns.

    Raises:
        ReplayError: naming the first difference.
    """
    if trace.rules_version != RULES_VERSION:
        raise ReplayError(
            f"played under rules version {trace.rules_version}; this package plays {RULES_VERSION}"
        )
    _verify_scenario(trace)
    expected = game_id(trace.scenario, trace.config)
    if trace.game_id != expected:
        raise ReplayError(f"game_id: recorded {trace.game_id}, computed {expected}")
    _play_again(trace)
    replayed = replay(trace)
    for name in ("final_state", "metrics"):
        _compare(name, getattr(trace, name).model_dump(), getattr(replayed, name).model_dump())


def _verify_scenario(trace: Trace) -> None:
    """Check the certificates without a solver, then compute oracle and difficulty anew."""
    for field, problem in false_statements(trace.scenario):
        raise ReplayError(f"scenario.{field}: {problem}")
    bare = trace.scenario.model_copy(update={"oracle": None, "difficulty": None})
    (fresh,) = completed((bare,))
    recorded = trace.scenario.model_dump()
    computed = fresh.model_dump()
    if "oracle" in recorded:
        _compare("scenario.oracle", recorded["oracle"], computed["oracle"])
    if "difficulty" in recorded:
        # A tertile belongs to the suite the scenario was chosen from, not to the scenario.
        theirs = {**recorded["difficulty"], "tertile": None}
        _compare("scenario.difficulty", theirs, {**computed["difficulty"], "tertile": None})


def _compare(place: str, recorded: object, computed: object) -> None:
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in sorted(set(recorded) | set(computed)):
            _compare(f"{place}.{key}", recorded.get(key), computed.get(key))
    elif recorded != computed:
        raise ReplayError(f"{place}: recorded {recorded!r:.60}, computed {computed!r:.60}")


def _play_again(trace: Trace) -> None:
    """If every player is known by id, playing the game again must give the same game.

    Models, own agents and players from elsewhere are not asked again: if a team seats one, the
    recorded turns are replayed.
    """
    if not all(_is_known(seat) for seat in trace.config.team.seats):
        return
    try:
        again = played(trace.scenario, trace.config)
    except ConfigError as error:
        raise ReplayError(str(error)) from error
    compare_events(trace.events, again.events)


def _is_known(seat: Seat) -> bool:
    if seat.uses_language:
        return seat.kind == "scripted" and seat.settings.get("style") in STYLES
    return seat.player in POLICIES
