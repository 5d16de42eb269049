"""What can be proven of a trace: its rules, its numbers and, with its replies, what models said.

Nothing that a trace names is imported, and no model is asked. Players that this package knows
play again. Language models are asked their questions anew, and answer what the trace says, or what
their recorded replies say. Own agents, and players from elsewhere, repeat what the trace says.

A game is played once, or twice where replies are given: verifying takes as long as playing it
without waiting for models.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from calbench.agents.base import Agent, Completer
from calbench.agents.language import Questions
from calbench.agents.prompts import load_variant
from calbench.agents.prompts.folder import own_templates, variants
from calbench.agents.recorded import RecordedAgent, RecordedSpeaker
from calbench.agents.scripted import STYLES
from calbench.console import progress
from calbench.domain.ids import AgentId
from calbench.domain.rules import RULES_VERSION
from calbench.engine.drivers import run
from calbench.engine.game import briefings, game_id
from calbench.engine.replay import compare_events, recorded_agents, replay_with
from calbench.engine.seating import asked_spec, game_prompts, seat_agents, seat_policies
from calbench.errors import CalbenchError, FileError, ReplayError
from calbench.files import printable
from calbench.pool import Pool, cut, mapped
from calbench.protocols.registry import POLICIES, has_trait
from calbench.runs.identity import Suite, is_other
from calbench.runs.recorded import RecordedGame
from calbench.scenarios.certificates import false_statements
from calbench.scenarios.difficulty import complete
from calbench.traces.events import DecideEnd, Reflection, TurnEnd
from calbench.traces.models import GameConfig, Seat, Trace
from calbench.traces.storage import TraceReader

Level = Literal["file", "rules", "numbers", "replies", "identity"]
"""What a trace can fail at: being a trace at all, one of the three that are proven, or being of the
suite that was named."""


class UnprovenError(ReplayError):
    """A trace that does not hold: where it is, if in a file, the level and what is wrong."""

    def __init__(self, level: Level, problem: str, path: Path | None = None) -> None:
        super().__init__(problem if path is None else f"{printable(str(path))}: {problem}")
        self.level: Level = level
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Verified:
    """How much of a trace that holds was checked [C].

    >>> checked: Verified = calbench.verify(trace)
    >>> checked.turns_not_checked
    46

    Attributes:
        replies_checked: of models, that are what their recorded replies say.
        replies_not_checked: of models, of which the trace alone is known: what was said, thought,
            believed, and its tokens.
        turns_not_checked: of own agents and of players from elsewhere: what they did is as the
            trace says.
        prompts_not_checked: asked with words of a player's own, or of a folder that is not named.
        halts_not_checked: games that an agent without an answer ended: why, only the trace says.
        scenarios_unlike_published: that have the name of a published one and are another.
    """

    replies_checked: int = 0
    replies_not_checked: int = 0
    turns_not_checked: int = 0
    prompts_not_checked: int = 0
    halts_not_checked: int = 0
    scenarios_unlike_published: int = 0

    def __add__(self, other: "Verified") -> "Verified":
        names = [field.name for field in fields(self)]
        return Verified(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def as_data(self) -> dict[str, int]:
        """Return it as plain data."""
        return asdict(self)


def verify_file(
    path: Path,
    replies: Completer | None = None,
    reader: TraceReader | None = None,
    suite: Suite | None = None,
) -> Verified:
    """Verify one trace file.

    Args:
        path: of the trace, which may be in a shard.
        replies: as :func:`verify_trace`.
        reader: of several traces, which looks at their shards once.
        suite: of which the game must be one; absent: any.

    Raises:
        UnprovenError: naming the file and what does not hold.
    """
    try:
        trace = (reader or TraceReader()).read(path)
    except FileError as error:
        problem = str(error).removeprefix(f"{printable(str(path))}: ")
        raise UnprovenError("file", problem, path) from error
    try:
        verified = verify_trace(trace, replies)
        with _level("identity"):
            if suite is not None:
                suite.check(trace)
    except UnprovenError as error:
        raise UnprovenError(error.level, error.problem, path) from error
    is_unlike = suite is None and is_other(trace.scenario)
    return replace(verified, scenarios_unlike_published=int(is_unlike))


VERIFY_TIMES = 10
"""Times as long as measuring a game it takes to verify it, roughly [C]."""


def verified_teams(games: Sequence[RecordedGame], pool: Pool | None = None) -> dict[str, bool]:
    """Return of each team whether all of its games hold, on no scenario with another's name.

    Args:
        games: of any teams.
        pool: where they are verified; ``None`` verifies them here.
    """
    found = dict.fromkeys((game.team_id for game in games), True)
    tasks = cut(games, lambda game: VERIFY_TIMES * game.seconds)
    with progress("verified", len(games)) as tick:
        for task, holds in zip(tasks, mapped(_holds, tasks, pool), strict=True):
            for game, is_so in zip(task, holds, strict=True):
                found[game.team_id] &= is_so
                tick()
    return found


def _holds(games: Sequence[RecordedGame]) -> list[bool]:
    reader, found = TraceReader(), []
    for game in games:
        try:
            found.append(not verify_file(game.path, reader=reader).scenarios_unlike_published)
        except UnprovenError:
            found.append(False)
    return found


def verify_trace(trace: Trace, replies: Completer | None = None) -> Verified:
    """Check that a trace is what the rules make of its scenario and its turns.

    Args:
        trace: of any game.
        replies: the recorded replies of its models; absent: the trace's word is taken for them, as
            it is where the game's prompts are unknown.

    Raises:
        UnprovenError: naming the first difference.
    """
    if not has_prompts(trace.config):
        replies = None  # what was asked cannot be worded anew
    with _level("rules"):
        if trace.rules_version != RULES_VERSION:
            raise ReplayError(
                f"played under rules version {trace.rules_version}; this package plays "
                f"{RULES_VERSION}"
            )
    with _level("numbers"):
        _verify_scenario(trace)
    with _level("rules"):
        expected = game_id(trace.scenario, trace.config)
        if trace.game_id != expected:
            raise ReplayError(f"game_id: recorded {trace.game_id}, computed {expected}")
        _check_seats(trace)
        _check_keys(trace)
        again = _played_again(trace, None)
        compare_events(trace.events, again.events)
    with _level("numbers"):
        for name in ("final_state", "metrics"):
            _compare(name, getattr(trace, name).model_dump(), getattr(again, name).model_dump())
    counts = _counts(trace, is_checked=replies is not None)
    if replies is not None and counts.replies_checked + counts.halts_not_checked:
        with _level("replies"):
            compare_events(trace.events, _played_again(trace, replies).events)
    return counts


@contextmanager
def _level(level: Level) -> Iterator[None]:
    try:
        yield
    except CalbenchError as error:
        raise UnprovenError(level, str(error)) from error


def _verify_scenario(trace: Trace) -> None:
    """Check the certificates without a solver, then compute oracle and difficulty anew."""
    for field, problem in false_statements(trace.scenario):
        raise ReplayError(f"scenario.{field}: {problem}")
    oracle, difficulty = trace.scenario.oracle, trace.scenario.difficulty
    bare = trace.scenario.model_copy(update={"oracle": None, "difficulty": None})
    fresh = complete(
        bare,
        estimates=difficulty is not None and difficulty.estimate is not None,
        effort=None if oracle is None else oracle.effort,
    )
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


def is_known(seat: Seat) -> bool:
    """Whether this package has the player itself, and so can let it play again."""
    if seat.uses_language:
        style = seat.settings.get("style")
        return seat.kind == "scripted" and isinstance(style, str) and style in STYLES
    return seat.player in POLICIES


def _check_seats(trace: Trace) -> None:
    """Refuse what no run says of players that are known: they would be ranked as others."""
    if trace.config.replicate and not trace.config.team.is_open:
        raise ReplayError("replicate: a team without models or own agents plays a scenario once")
    for seat in trace.config.team.seats:
        if not is_known(seat):
            continue
        if not seat.uses_language:
            is_degenerate = has_trait(POLICIES[seat.player], "is_degenerate")
            kind = "degenerate" if is_degenerate else "protocol"
            if seat.kind != kind:
                raise ReplayError(f"player {seat.player}: is of kind {kind}, not {seat.kind}")
            continue
        style = seat.settings["style"]
        name = style if seat.variant is None else f"{style}.{seat.variant.name}"
        if seat.player != name:
            raise ReplayError(f"player {seat.player}: its settings are those of {name}")
        if len(seat.settings) > 1:
            raise ReplayError(f"player {seat.player}: has settings besides its style")


def _check_keys(trace: Trace) -> None:
    """Refuse a key that two replies of models have: no two requests of a game are equal."""
    seen: dict[str, int] = {}
    for index, event in enumerate(trace.events):
        if not isinstance(event, TurnEnd | DecideEnd | Reflection):
            continue
        if trace.config.team.seat_of(event.agent_id).kind != "model":
            continue
        for key in event.reply_keys:
            if key in seen:
                raise ReplayError(
                    f"event {index} ({event.type}): reply_keys: event {seen[key]} has the same"
                )
            seen[key] = index


def _played_again(trace: Trace, replies: Completer | None) -> Trace:
    """Play the game again, with the models' replies from the trace, or from where they are kept."""
    team = trace.config.team
    if not team.uses_language and all(map(is_known, team.seats)):
        policies = seat_policies(team, trace.scenario.num_agents, trace.config.limits)
        return run(trace.scenario, trace.config, policies)
    repeating = recorded_agents(trace)
    told = briefings(trace.scenario, trace.config)
    own: dict[AgentId, Agent] = {}
    texts: dict[AgentId, str] = {}
    tireless: list[AgentId] = []
    for agent, recorded in repeating.items():
        seat = team.seat_of(agent)
        if seat.variant is not None and _is_asked(seat, trace.config):
            base = game_prompts(trace.config).system(told[agent])
            texts[agent] = _variant_text(seat, base, recorded.system_prompt)
        if _plays_again(seat, trace.config):
            tireless.append(agent)
        elif replies is None or seat.kind != "model":
            own[agent] = _answering(trace, seat, recorded, texts.get(agent))
    agents = seat_agents(trace.scenario, trace.config, replies, own, texts)
    return replay_with(trace, agents, tireless)


def _plays_again(seat: Seat, config: GameConfig) -> bool:
    """Whether the player is known, and so are the prompts that it is asked with, if any."""
    return is_known(seat) and (not seat.uses_language or has_prompts(config))


def has_prompts(config: GameConfig) -> bool:
    """Whether the prompts of a game are this package's, or of a folder that the user named."""
    return config.prompt_digest is None or own_templates(config.prompt_digest) is not None


def _is_asked(seat: Seat, config: GameConfig) -> bool:
    """Whether the seat is asked with prompts that are known, whoever answers."""
    says = (seat.settings.get("is_completion_function"), seat.settings.get("is_prompted"))
    is_own = seat.kind == "custom" and True in says
    return (seat.kind in ("model", "scripted") or is_own) and has_prompts(config)


def _answering(trace: Trace, seat: Seat, recorded: RecordedAgent, text: str | None) -> Agent:
    """Return who answers as the trace says: asked anew, unless it has words of its own."""
    if not _is_asked(seat, trace.config):
        return recorded
    questions = Questions(game_prompts(trace.config), text)
    spec = asked_spec(seat, trace.config.replicate) if seat.kind == "model" else None
    is_read = not seat.settings.get("is_prompted")
    return RecordedSpeaker(questions, spec, recorded.replies, is_read=is_read)


def _variant_text(seat: Seat, base: str, system_prompt: str | None) -> str:
    """Return the text of a variant: our own, or else what follows the prompt before it.

    A variant of a distribution is not looked up, because a trace names it. Its digest is part of
    the game, and its text is in the system prompt.

    Raises:
        ReplayError: if the text has another digest.
    """
    variant = seat.variant
    if variant is None:
        raise RuntimeError("the seat has no variant")
    text = (system_prompt or "").removeprefix(f"{base}\n\n")
    if variant.version in variants().get(variant.name, ()):
        ours = load_variant(variant.name, variant.version)
        if ours.is_probing != variant.is_nosy:
            raise ReplayError(f"prompt variant {variant.name}: is_nosy is {ours.is_probing}")
        text = ours.text
    if hashlib.sha256(text.encode()).hexdigest() != variant.digest:
        raise ReplayError(
            f"prompt variant {variant.name} {variant.version}: the text of its digest is not "
            "at the end of the system prompt"
        )
    return text


def _counts(trace: Trace, *, is_checked: bool) -> Verified:
    """Count what was checked of a trace that holds, and what was not."""
    of_models = turns = prompts = 0
    for agent, recorded in recorded_agents(trace).items():
        seat = trace.config.team.seat_of(agent)
        if seat.kind == "model":
            of_models += len(recorded.replies)
        elif not _plays_again(seat, trace.config):
            turns += len(recorded.replies)
        if not (_plays_again(seat, trace.config) or _is_asked(seat, trace.config)):
            asked = [recorded.system_prompt, *(reply.prompt for reply in recorded.replies)]
            prompts += sum(prompt is not None for prompt in asked)
    return Verified(
        replies_checked=of_models if is_checked else 0,
        replies_not_checked=0 if is_checked else of_models,
        turns_not_checked=turns,
        prompts_not_checked=prompts,
        halts_not_checked=int(trace.is_halted),
    )
