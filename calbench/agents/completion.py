"""What every source of text has in common: messages in, one completion out.

A hosted model, a recorded reply and a scripted speaker all stand behind :class:`Completer`;
the language agent cannot tell them apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.domain.replies import Usage

Role = Literal["system", "user", "assistant"]


class ChatMessage(NamedTuple):
    """One message of a conversation thread."""

    role: Role
    content: str


ResponseFormat = Literal["none", "json_object", "json_schema"]
"""How a model is held to JSON: not at all, by its own JSON mode, by a schema."""


class Sampling(BaseModel):
    """How tokens are drawn. What is absent is left to the provider.

    ``max_tokens`` bounds a reply, and with it what one call can cost.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    max_tokens: Annotated[int, Field(ge=1)] = 4096
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    reasoning_effort: str | None = None


class ModelSpec(BaseModel):
    """What defines a model's replies: it enters the request's key, the game and its trace.

    Where the model is reached, and with whose key, is not part of it.

    Attributes:
        model: identifier as LiteLLM spells it, provider first.
        sampling: how tokens are drawn.
        response_format: how the model is held to JSON.
        logprobs: ask for token log-probabilities in reflections.
        replicate: tells repeated games of the same content apart.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Annotated[str, Field(min_length=1)]
    sampling: Sampling = Sampling()
    response_format: ResponseFormat = "none"
    logprobs: bool = False
    replicate: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that decides a completion.

    ``reply_schema`` is the JSON Schema the reply should fit, for models that take one;
    ``logprobs`` asks for token log-probabilities.
    """

    spec: ModelSpec
    messages: tuple[ChatMessage, ...]
    reply_schema: Mapping[str, Any] | None = None
    logprobs: bool = False


class TokenLogprob(NamedTuple):
    """A sampled token, and the log-probabilities of it and of the likeliest others."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What came back.

    Attributes:
        text: the reply; absent if the model gave none.
        finish_reason: as the provider names it (``stop``, ``length``, ``content_filter``, ...),
            or ``context_exceeded`` if the thread no longer fits the model's context.
        refusal: a refusal the provider marks as such.
        usage: tokens, estimated and marked so where the provider is silent.
        logprobs: by token, where asked for and given.
        key: of the recorded reply; absent for scripted speakers.
    """

    text: str | None
    finish_reason: str | None
    refusal: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    key: str | None = None


class CallSite(NamedTuple):
    """Where in a run a call is made: for errors and progress, never for the reply."""

    player: str
    game_id: str
    agent_id: AgentId
    round_index: int
    phase: Phase
    turn_index: int
    attempt: int

    def __str__(self) -> str:
        """Say it in one line."""
        where = f"turn {self.turn_index}" if self.phase == "CHEAP_TALK" else str(self.phase)
        retry = f", attempt {self.attempt}" if self.attempt else ""
        return (
            f"model {self.player}, game {self.game_id}, agent {self.agent_id}, "
            f"round {self.round_index}, {where}{retry}"
        )


class Completer(Protocol):
    """A source of text."""

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Return the completion of a request.

        Raises:
            UnavailableError: if there is none to be had; the game ends there, unscored.
        """
        ...
