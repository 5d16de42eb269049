"""Policies as agents; a user's own object or function as one, with its answers checked.

What may be said to such code it says that it takes, by the names of its parameters: an object's
``prompt``, a function's ``site``.

Their errors are reported as such and with their traceback. Only the call of the user's code is
inside :func:`blaming`, so errors of this package are never reported as the user's.
"""

import asyncio
import functools
import importlib
import inspect
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.agents.base import Agent, CallSite, place_of
from calbench.agents.language import Questions, replied
from calbench.agents.prompts import Prompts
from calbench.agents.reflection import MOST_CHANGE
from calbench.domain.actions import RecordedAction, Turn
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import CERTAIN, Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.errors import AgentError, ConfigError, StoppedError, UnavailableError
from calbench.files import first_problem, printable, shorten
from calbench.llm.completion import Completion, ModelSpec, Request, TokenLogprob
from calbench.llm.prices import estimated_usage
from calbench.protocols.base import Policy

WHAT_SHOWN = 200
"""Characters of an exception that the line repeats [C]: the traceback has it all."""

_IMPORTING = (importlib.__file__, "<frozen importlib")
"""Files between an import and the first line of what is imported."""


@contextmanager
def blaming(place: str, called: str) -> Iterator[None]:
    """Call the user's code inside; what it raises becomes an :class:`AgentError`.

    Three exceptions pass: a game that cannot continue (:class:`UnavailableError`), a run that the
    user stopped, and the cancellation of the game from outside.

    Args:
        place: where in the game.
        called: what is called, in words.

    Raises:
        AgentError: its cause is the exception, with its traceback from the first line of the
            called code on. Without a cause nothing of that code ran: the call did not fit.
    """
    try:
        yield
    except (UnavailableError, StoppedError):
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        below = _below(error.__traceback__)
        has_run = below is not None or isinstance(error, SyntaxError)
        blamed = AgentError(place, f"{called} raised {_what(error, below)}")
        raise blamed from error.with_traceback(below) if has_run else None


def _is_cancelled() -> bool:
    """Whether this game is cancelled from outside; if not, the called code raised it."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop
        return False
    return task is not None and task.cancelling() > 0


def _below(trace: TracebackType | None) -> TracebackType | None:
    """Cut off this module, its caller, and the machinery of an import."""
    for _ in range(2):
        trace = trace and trace.tb_next
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_IMPORTING):
        trace = trace.tb_next
    return trace


def _what(error: BaseException, trace: TracebackType | None) -> str:
    """Return kind and message of an exception, and the line that raised it, on one line."""
    lines = traceback.format_exception_only(error)
    text = lines[-1] if isinstance(error, SyntaxError) else lines[0]  # notes come after it
    said = shorten(printable(" ".join(text.split())), WHAT_SHOWN)
    if trace is None:
        return said
    frame, line = list(traceback.walk_tb(trace))[-1]
    return f"{said} ({frame.f_globals.get('__name__', '?')}, line {line})"


class OwnActing(Protocol):
    """A user's object: it may wait, and may report how its turn came about [C].

    >>> player: OwnActing = Announcer()
    >>> player.act(seen[0])
    Turn(actions=(), thinking=None)
    """

    def act(self, observation: Observation) -> Turn | Reply | Awaitable[Turn | Reply]:
        """Return the turn, alone or in a reply, at once or later."""
        ...


Answer = Turn | Reply | str | Completion
"""Of a user's object that is asked in words: a turn, or what a model would have answered."""


class OwnSpeaking(Protocol):
    """A user's object that sits as a language model does: asked in the released words [C].

    Its ``introduce(briefing, prompt)``, if it has one, is told the system prompt.

    >>> class Passing:
    ...     def act(self, observation, prompt):
    ...         return '{"thinking": "", "actions": []}'
    >>> speaker: OwnSpeaking = Passing()
    >>> calbench.play_game(scenario, [speaker] * 5).metrics.messages
    0
    """

    def act(self, observation: Observation, prompt: str) -> Answer | Awaitable[Answer]:
        """Return the turn, alone or in a reply, or the text that answers the prompt.

        Args:
            observation: what the prompt says, as values.
            prompt: the message that a model would be sent now, in a reflection that which asks
                for beliefs; the earlier ones are not repeated.
        """
        ...


@dataclass(frozen=True, slots=True)
class OwnAgent:
    """Seats a user's own object; its ``introduce(briefing)``, if it has one, is called too.

    Attributes:
        own: the object.
        questions: words what it is asked, if it takes a ``prompt``.
    """

    own: OwnActing | OwnSpeaking
    questions: Questions | None = None

    @classmethod
    def of(cls, own: OwnActing | OwnSpeaking, prompts: Callable[[], Prompts]) -> "OwnAgent":
        """Seat an object in a game that has these prompts if it uses language.

        Raises:
            ConfigError: it has no method ``act``.
        """
        act = getattr(own, "act", None)
        if not callable(act):
            raise ConfigError(f"{type(own).__name__} has no method act(observation)")
        return cls(own, Questions(prompts(), None) if takes(act, "prompt") else None)

    def introduce(self, briefing: Briefing) -> str | None:
        """Introduce the object, if it can be; return its system prompt.

        Raises:
            AgentError: if it raises, or its answer is not a text.
        """
        place = f"agent {briefing.agent_id}, before the first round"
        system = None if self.questions is None else self.questions.system(briefing)
        with blaming(place, f"{self._name}.introduce"):
            introduce = getattr(self.own, "introduce", None)
            told = {"prompt": system} if system and takes(introduce, "prompt") else {}
            prompt = None if introduce is None else introduce(briefing, **told)
        if prompt is None or isinstance(prompt, str):
            return system or prompt
        returned = f"{self._name}.introduce returned {type(prompt).__name__}"
        raise AgentError(place, f"{returned}; return a text or None")

    async def act(self, observation: Observation) -> Reply:
        """Ask the object, and wait if it asks to.

        Raises:
            AgentError: if it raises, or answers with neither a turn nor a reply, or with a
                turn that no trace could hold.
            UnavailableError: if it says so; the game ends there, unscored.
        """
        place = place_of(observation)
        question = None if self.questions is None else self.questions.question(observation)
        told = {} if question is None else {"prompt": question}
        with blaming(place, f"{self._name}.act"):
            answer: object = self.own.act(observation, **told)
            if inspect.isawaitable(answer):
                answer = await answer
        given = f"{self._name}.act returned"
        if self.questions is None or question is None:
            return checked_reply(answer, observation, given, "return")
        if isinstance(answer, str | Completion):
            completion = checked_completion(answer, place, given)
            reply = replied(observation, question, completion, self.questions.prompts.edition)
        else:
            reply = replace(checked_reply(answer, observation, given, "return"), prompt=question)
        self.questions.answered(observation, reply.unreadable)
        return reply

    @property
    def _name(self) -> str:
        return type(self.own).__name__


@dataclass(frozen=True, slots=True)
class PolicyAgent:
    """Seats a pure policy where agents are expected."""

    policy: Policy

    def introduce(self, briefing: Briefing) -> None:
        """Policies need no introduction: observations tell them everything."""

    async def act(self, observation: Observation) -> Reply:
        """Answer at once."""
        return Reply(self.policy.act(observation))


@dataclass(frozen=True, slots=True)
class StoppableAgent:
    """Asks an agent until the game is stopped; who is being asked may answer."""

    agent: Agent
    is_stopping: Callable[[], bool]

    def introduce(self, briefing: Briefing) -> str | None:
        """Introduce the agent."""
        return self.agent.introduce(briefing)

    async def act(self, observation: Observation) -> Reply:
        """Ask the agent.

        Raises:
            StoppedError: the game is stopped.
        """
        if self.is_stopping():
            raise StoppedError("stopped")
        return await self.agent.act(observation)


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A policy that is not this package's: its answers are checked as those of an agent."""

    policy: Policy

    def act(self, observation: Observation) -> Turn:
        """Ask the policy.

        Raises:
            AgentError: if it raises, or answers with what is no turn that a trace could hold.
        """
        name = type(self.policy).__name__
        with blaming(place_of(observation), f"{name}.act"):
            answer: object = self.policy.act(observation)
        return checked_reply(answer, observation, f"{name}.act returned", "return").turn


def checked_reply(answer: object, observation: Observation, given: str, give: str) -> Reply:
    """Return an answer of the user's own code as a reply that can be played and recorded.

    It is as it would be read from the trace, so what the code does with its own later, such as
    filling a list again, changes nothing.

    Args:
        answer: what the code returned or sent.
        observation: what it answers.
        given: who gave it, in words, such as ``Mine.act returned``.
        give: what to do instead, ``return`` or ``send``.

    Raises:
        AgentError: if it is neither a turn nor a reply, or what no trace could hold.
    """
    place = place_of(observation)
    reply = Reply(answer) if isinstance(answer, Turn) else answer
    if not isinstance(reply, Reply):
        raise AgentError(place, f"{given} {type(answer).__name__}; {give} a Turn or a Reply")
    turn = _recorded(reply.turn)
    if isinstance(turn, str):
        raise AgentError(place, f"{given} a misfit Turn: {turn}")
    if answer is not reply:
        return Reply(turn)
    beside = _as_read(_Beside, reply)
    problem = beside if isinstance(beside, str) else _misfit(beside.beliefs, observation)
    if isinstance(beside, str) or problem is not None:
        raise AgentError(place, f"{given} a misfit Reply: {problem}")
    return Reply(turn, **{name: getattr(beside, name) for name in _Beside.model_fields})


def checked_completion(answer: str | Completion, place: str, given: str) -> Completion:
    """Return a text or a completion of the user's own code as one that can be read and recorded.

    Args:
        answer: what the code returned.
        place: where in the game.
        given: who gave it, in words.

    Raises:
        AgentError: if one of its fields is not what it should be.
    """
    if isinstance(answer, str):
        return Completion(text=answer)
    said = _as_read(_Said, answer)
    text: Any = answer.text
    if not isinstance(text, str | None):
        said = f"text: is {type(text).__name__}, should be str"
    if isinstance(said, str):
        raise AgentError(place, f"{given} a misfit Completion: {said}")
    try:
        logprobs = _Logprobs(logprobs=answer.logprobs).logprobs
    except ValidationError as error:
        raise AgentError(place, f"{given} a misfit Completion: {first_problem(error)}") from None
    fields: dict[str, Any] = {name: getattr(said, name) for name in _Said.model_fields}
    return Completion(text=text, logprobs=logprobs, **fields)


def name_of(own: object) -> str:
    """Return what the user's code calls itself.

    That is its attribute ``name``, or else ``model``, or those of the object whose method it is;
    else a function's name, or an object's class.
    """
    given = _said(own, "name") or model_of(own)
    if given:
        return given
    while isinstance(own, functools.partial):
        own = own.func
    name = getattr(own, "__name__", None)  # objects have none
    return name if isinstance(name, str) else type(own).__name__


def model_of(own: object) -> str | None:
    """Return the model that the user's code says, in its attribute ``model``, that it asks."""
    return _said(own, "model")


def _said(own: object, name: str) -> str | None:
    """Return a text of this name of what is called, or of that which it is a part of."""
    given = getattr(own, name, None)
    if isinstance(given, str) and given:
        return given
    within = own.func if isinstance(own, functools.partial) else getattr(own, "__self__", None)
    return None if within is None else _said(within, name)


_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Recorded(BaseModel):
    """A turn as a trace holds it."""

    model_config = _STRICT
    actions: tuple[RecordedAction, ...]
    thinking: str | None


class _Beside(BaseModel):
    """What a reply holds beside the turn, as a trace holds it."""

    model_config = _STRICT
    prompt: str | None
    usage: Usage | None
    reply_keys: tuple[str, ...]
    unreadable: Unreadable | None
    recovered: str | None
    beliefs: Beliefs | None


class _Said(BaseModel):
    """What a completion holds beside the text, which may be any."""

    model_config = _STRICT
    finish_reason: str | None
    refusal: str | None
    usage: Usage | None


class _Logprobs(BaseModel):
    """Those of a completion, which no trace holds: numbers that JSON lacks are among them."""

    logprobs: tuple[TokenLogprob, ...] | None


M = TypeVar("M", bound=BaseModel)


def _as_read(model: type[M], given: object) -> M | str:
    """Return what a file would hold of an object's attributes, or why it could not.

    Values are not checked where they are made, and a wrong one would fail far from there, or in
    code that reads the trace.
    """
    try:
        fields = {name: getattr(given, name) for name in model.model_fields}
        return model.model_validate_json(orjson.dumps(fields, default=_plain))
    except ValidationError as error:
        return first_problem(error)
    except orjson.JSONEncodeError as error:
        return printable(str(error))


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Beliefs | Unreadable):
        return value._asdict()
    raise TypeError


def _recorded(turn: object) -> Turn | str:
    """Return a turn as it is read back, or what keeps it from being played and recorded.

    What is merely not allowed, such as a slot that does not exist, is left to the rules.
    """
    if not isinstance(turn, Turn):
        return f"it is of type {type(turn).__name__}"
    recorded = _as_read(_Recorded, turn)
    if isinstance(recorded, str):
        return recorded
    for index, (given, read) in enumerate(zip(turn.actions, recorded.actions, strict=True)):
        # A mapping with the right keys reads like what it describes, but is none.
        for name, mine, meant in (
            ("", given, read),
            (".content", getattr(given, "content", None), getattr(read, "content", None)),
        ):
            if type(mine) is not type(meant):
                wanted = type(meant).__name__
                return f"actions.{index}{name}: is {type(mine).__name__}, should be {wanted}"
    return Turn(recorded.actions, recorded.thinking)


def _misfit(beliefs: Beliefs | None, observation: Observation) -> str | None:
    """Return what of beliefs does not fit the game, if anything does not."""
    slots = len(observation.calendar)
    others = {str(agent) for agent in observation.agent_ids if agent != observation.agent_id}
    for name, lists in ({} if beliefs is None else beliefs._asdict()).items():
        low, high = (0, CERTAIN) if name == "occupied" else (-MOST_CHANGE, MOST_CHANGE)
        for target, numbers in (lists or {}).items():
            fits = target in others and len(numbers) == slots
            if not fits or not all(low <= number <= high for number in numbers):
                return (
                    f"beliefs.{name}: give {slots} numbers from {low} to {high} by other agents' "
                    f"ids, {', '.join(sorted(others))}"
                )
    return None


FUNCTION_SPEC: Final = ModelSpec(model="completion-function")
"""The model in a request to a function, which may itself ask any model or none."""


class CompletionFunction(Protocol):
    """A source of text behind the released prompts (paper, appendix A.3).

    A conversation in, the text of the next reply out, at once or later.

    >>> def passing(messages):
    ...     return '{"thinking": "", "actions": []}'
    >>> function: CompletionFunction = passing
    >>> calbench.play_game(scenario, [function] * 5).metrics.messages
    0
    """

    def __call__(
        self, messages: list[dict[str, str]], /
    ) -> str | Completion | Awaitable[str | Completion]:
        """Return the reply to messages of ``role`` (system, user, assistant) and ``content``."""
        ...


class SeatedFunction(Protocol):
    """A completion function that is told its seat, round and phase as well [C].

    >>> def passing(messages, site):
    ...     return f'{{"thinking": "I am {site.agent_id}", "actions": []}}'
    >>> function: SeatedFunction = passing
    >>> calbench.play_game(scenario, [function] * 5).metrics.messages
    0
    """

    def __call__(
        self, messages: list[dict[str, str]], /, site: CallSite
    ) -> str | Completion | Awaitable[str | Completion]:
        """Return the reply, as of :class:`CompletionFunction`."""
        ...


def takes(function: object, name: str) -> bool:
    """Whether a function has a parameter of a name."""
    try:
        return callable(function) and name in inspect.signature(function).parameters
    except ValueError:  # one without a signature
        return False


@dataclass(frozen=True, slots=True)
class FunctionCompleter:
    """Asks a function for every completion.

    Its tokens are estimated from the texts, unless it says them in a :class:`Completion`.
    """

    function: CompletionFunction | SeatedFunction

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Call the function with the conversation, and wait if it asks to.

        Raises:
            AgentError: if it raises, or returns neither a text nor a completion.
            UnavailableError: if it says so; the game ends there, unscored.
        """
        place, name = place_of(site), name_of(self.function)
        # New objects each time: the function may change them.
        messages = [message._asdict() for message in request.messages]
        told: Any = {"site": site} if takes(self.function, "site") else {}
        with blaming(place, name):
            text: object = self.function(messages, **told)
            if inspect.isawaitable(text):
                text = await text
        if not isinstance(text, str | Completion):
            raise AgentError(
                place, f"{name} returned {type(text).__name__}; return the text of the reply"
            )
        said = checked_completion(text, place, f"{name} returned")
        return replace(said, usage=said.usage or estimated_usage(request, said.text or ""))
