"""Policies as agents; a user's own object or function as one.

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
from typing import Any, Final, Protocol

from calbench.agents.answers import checked_completion, checked_reply
from calbench.agents.base import CallSite, place_of
from calbench.agents.language import Questions, replied
from calbench.agents.prompts import Prompts
from calbench.domain.actions import Turn
from calbench.domain.observations import Briefing, Observation
from calbench.domain.replies import Reply
from calbench.errors import AgentError, ConfigError, StoppedError, UnavailableError
from calbench.files import printable, shorten
from calbench.llm.completion import Completion, ModelSpec, Request
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
