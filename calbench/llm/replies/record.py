"""A recorded reply: its request, the completion, and the attempts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from calbench.domain.usage import Usage
from calbench.llm.completion import (
    ChatMessage,
    Completion,
    ModelSpec,
    Request,
    ResponseFormat,
    Sampling,
    TokenLogprob,
)
from calbench.llm.replies.request import Digest, NamedRequest, named


class Attempt(BaseModel):
    """One call to a provider, successful or not.

    Attributes:
        status: HTTP status; absent if no reply arrived.
        error: class of the error; absent if there was none.
        latency_s: seconds from sending to the reply or the error.
        waited_s: seconds of back-off before it.
        cost_usd: what it counts against a cap; absent without a price.
        is_cost_estimated: whether that is a bound or an estimate rather than the price of
            the tokens that the provider counted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    status: int | None = None
    error: str | None = None
    latency_s: Annotated[float, Field(ge=0)]
    waited_s: Annotated[float, Field(ge=0)] = 0.0
    cost_usd: Annotated[float, Field(ge=0)] | None = None
    is_cost_estimated: bool = False


class Record(BaseModel):
    """A recorded reply.

    Attributes:
        key: digest of the request.
        thread: digest of the thread of messages, see :class:`Link`.
        reply_schema: digest of the JSON Schema that was sent; absent if none was.
        asked_logprobs: whether token log-probabilities were asked for.
        received: the body of a reply of an odd form, as it came; absent if it has the usual one.
        attempts: in order; the last one was answered with the reply.
        recorded_at: when the reply arrived; UTC.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    key: Digest
    model: str
    sampling: Sampling
    response_format: ResponseFormat = "none"
    reply_schema: Digest | None = None
    asked_logprobs: bool = False
    replicate: int = 0
    thread: Digest
    text: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    received: str | None = None
    attempts: Annotated[tuple[Attempt, ...], Field(min_length=1)]
    recorded_at: AwareDatetime

    @property
    def cost_usd(self) -> float | None:
        """What all attempts cost; absent if none has a price."""
        costs = [attempt.cost_usd for attempt in self.attempts if attempt.cost_usd is not None]
        return sum(costs) if costs else None

    def completion(self) -> Completion:
        """Return the reply as it was first given."""
        return Completion(
            text=self.text,
            finish_reason=self.finish_reason,
            refusal=self.refusal,
            usage=self.usage,
            logprobs=self.logprobs,
            received=self.received,
            key=self.key,
        )

    def answers(self, asked: NamedRequest) -> bool:
        """Tell whether this is a reply to a request: all that both hold is equal."""
        spec = asked.request.spec
        return (
            (self.key, self.thread, self.reply_schema)
            == (asked.key, asked.thread, asked.schema_digest)
            and (self.model, self.response_format, self.replicate, self.asked_logprobs)
            == (spec.model, spec.response_format, spec.replicate, asked.request.logprobs)
            and self.sampling == spec.sampling
        )

    def request(
        self, messages: tuple[ChatMessage, ...], schema: Mapping[str, Any] | None
    ) -> NamedRequest:
        """Return the request, given its messages and schema, named anew.

        Raises:
            ValueError: if there is no message.
        """
        spec = ModelSpec(
            model=self.model,
            sampling=self.sampling,
            response_format=self.response_format,
            replicate=self.replicate,
        )
        return named(
            Request(spec=spec, messages=messages, reply_schema=schema, logprobs=self.asked_logprobs)
        )


def recorded(
    asked: NamedRequest, reply: Completion, attempts: tuple[Attempt, ...], then: datetime
) -> Record:
    """Return the record of a reply and of when it arrived."""
    spec = asked.request.spec
    return Record(
        key=asked.key,
        model=spec.model,
        sampling=spec.sampling,
        response_format=spec.response_format,
        reply_schema=asked.schema_digest,
        asked_logprobs=asked.request.logprobs,
        replicate=spec.replicate,
        thread=asked.thread,
        text=reply.text,
        finish_reason=reply.finish_reason,
        refusal=reply.refusal,
        usage=reply.usage,
        logprobs=reply.logprobs,
        received=reply.received,
        attempts=attempts,
        recorded_at=then,
    )
