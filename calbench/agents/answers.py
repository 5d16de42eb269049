"""Answers of a user's own code, as a trace holds them; what no trace could hold is refused.

Values are not checked where they are made: a wrong one would fail far from there, or in code that
reads the trace.
"""

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from calbench.agents.base import place_of
from calbench.agents.reflection import misfit
from calbench.domain.actions import RecordedAction, Turn
from calbench.domain.observations import Observation
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.errors import AgentError
from calbench.files import first_problem, printable
from calbench.llm.completion import Completion, TokenLogprob


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
    if isinstance(beside, _Beside) and beside.beliefs is not None:
        others = [str(agent) for agent in observation.agent_ids if agent != observation.agent_id]
        beside = misfit(beside.beliefs, others, len(observation.calendar)) or beside
    if isinstance(beside, str):
        raise AgentError(place, f"{given} a misfit Reply: {beside}")
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
    """Return what a file would hold of an object's attributes, or why it could not."""
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
