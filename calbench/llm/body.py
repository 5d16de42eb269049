"""A reply read from what a provider sent, whose types cannot be relied on.

It was paid for: whatever can be read is read, and what has an odd form is kept as it came.
"""

import base64
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, TokenLogprob

MOST_DIGITS = 400
"""A longer number is one for nobody: Python itself reads no more than 4300 digits [C]."""

UNREADABLE = -1
"""Count of tokens that is there and is no number: it is believed as little as one below zero."""

MASK = "[key]"
"""Replaces a key in what a model says."""

_SAID = ("id", "model", "fingerprint", "request_id", "date")
"""What a reply says of itself, and may repeat a key in."""

_REPLIES = ("candidates", "content", "message", "output", "response")
"""Where providers of other formats put what their model said."""


def read_reply(response: Any) -> Completion | None:
    """Read the choice of a response, as an object or as JSON; absent if it has none."""
    choice = _choice(_get(response, "choices"))
    if choice is None:
        return None
    message = _get(choice, "message")
    if message is None and isinstance(choice, Mapping):  # of a stream of one event
        message = choice.get("delta")
    if message is None:  # of an older format
        message = {"content": choice if isinstance(choice, str) else _get(choice, "text")}
    content = message if isinstance(message, str) else _get(message, "content")
    text = _text(content)
    finish_reason = _word(_get(choice, "finish_reason"))
    if text is None and _get(message, "tool_calls"):
        finish_reason = "tool_calls"
    return Completion(
        text=text,
        finish_reason=finish_reason,
        refusal=_refusal(message),
        usage=_usage(_get(response, "usage")),
        logprobs=_logprobs(_get(choice, "logprobs")),
    )


def parsed(body: bytes) -> Any:
    """Return what a body holds as JSON; absent if it is none.

    It may be no UTF-8 here and there, have a number of thousands of digits, or come as an event
    that a server sends, the only one.
    """
    text = body.decode(errors="replace").strip().removeprefix("\ufeff")
    if text.startswith(("data:", "event:")):
        lines = [line.removeprefix("data:") for line in text.splitlines() if line[:5] == "data:"]
        events = [line for line in lines if line.strip() != "[DONE]"]
        text = events[0] if len(events) == 1 else ""
    try:
        return json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        return None


def _integer(digits: str) -> int | float:
    # A function of Python's also lets the event loop run on, while a thread reads a long body.
    return int(digits) if len(digits) <= MOST_DIGITS else math.inf


def read_body(body: Any) -> Completion | None:
    """Read the JSON of an answer with status 200 that LiteLLM could not; absent if it is no reply.

    A reply that cannot be read is one without text. Its body is kept either way.
    """
    if not isinstance(body, Mapping) or (body.get("error") and not body.get("choices")):
        return None
    try:
        reply = read_reply(body)
    except RecursionError:  # nested as no reply is
        reply = Completion(text=None, finish_reason=None)
    if reply is None and any(body.get(name) for name in _REPLIES):
        said = body.get("content") or _get(body.get("message"), "content")
        reply = Completion(text=_text(said), finish_reason=None, usage=_usage(body.get("usage")))
    if reply is None:
        return None
    return replace(reply, received=_as_json(body) or "")


def _as_json(value: Any) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def masked(reply: Completion, keys: Collection[str]) -> Completion:
    """Return a reply without keys, also as they are written in addresses and headers."""
    if not keys:
        return reply
    forms = sorted({form for key in keys for form in _forms(key)}, key=len, reverse=True)

    def mask(text: str | None) -> str | None:
        for form in forms:
            text = None if text is None else text.replace(form, MASK)
        return text

    clear = replace(
        reply,
        text=mask(reply.text),
        finish_reason=mask(reply.finish_reason),
        refusal=mask(reply.refusal),
        received=mask(reply.received),
        provenance=reply.provenance
        and reply.provenance.model_copy(
            update={name: mask(getattr(reply.provenance, name)) for name in _SAID}
        ),
    )
    spelt = "".join(token.token for token in reply.logprobs or ())
    others = "\n".join(text for token in reply.logprobs or () for text, _ in token.top)
    is_told = any(form in text for form in forms for text in (spelt, others))
    return replace(clear, logprobs=None) if is_told else clear


def _forms(key: str) -> Iterable[str]:
    coded = base64.b64encode(key.encode()).decode().rstrip("=")
    return key, quote(key, safe=""), coded, coded.replace("+", "-").replace("/", "_")


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _choice(choices: Any) -> Any:
    """Return the choice of index 0, wherever it is; where none says so, the first."""
    if isinstance(choices, Mapping):
        return choices
    found = [each for each in choices if each is not None] if _is_list(choices) else []
    return next((each for each in found if _get(each, "index") == 0), found[0] if found else None)


def _text(content: Any) -> str | None:
    """Return what a content says: a text, a list of texts and parts, or the JSON of a value."""
    if content is None or isinstance(content, str):
        return content or None
    if _is_list(content) and all(isinstance(each, str) or _is_part(each) for each in content):
        said = [_text(each) for each in content]
        return "".join(each for each in said if each is not None) or None
    if _is_part(content):
        return _text(_get(content, "text") or _get(content, "content"))
    return _as_json(content)


def _is_part(value: Any) -> bool:
    """Tell a part of a content from an object that is the reply itself."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("type", "text"), str)
        and (set(value) == {"text"} or "type" in value)
        and not isinstance(value.get("text"), int | float | bool)
    )


def _word(value: Any) -> str | None:
    """Return a text, or the first one of a list; numbers as they are written."""
    if _is_list(value):
        return next((word for each in value if (word := _word(each))), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _refusal(message: Any) -> str | None:
    fields = _get(message, "provider_specific_fields")
    told = fields.get("refusal") if isinstance(fields, Mapping) else None
    return next(
        (said for said in (_get(message, "refusal"), told) if isinstance(said, str) and said), None
    )


def _usage(usage: Any) -> Usage | None:
    """Read the counts; LiteLLM writes zeros where the provider wrote nothing."""
    if not usage:
        return None
    sent, received = (
        _count(usage, name) if _get(usage, name) is not None else _count(usage, other)
        for name, other in (
            ("prompt_tokens", "input_tokens"),
            ("completion_tokens", "output_tokens"),
        )
    )
    if isinstance(usage, str | int | float) or _is_list(usage):
        sent = received = UNREADABLE
    if sent is None or received is None or sent == 0:  # no request is empty
        return None
    cached = _count(_get(usage, "prompt_tokens_details"), "cached_tokens") or 0
    reasoning = _count(_get(usage, "completion_tokens_details"), "reasoning_tokens") or 0
    if 0 <= received < reasoning:  # so it is not among them, and paid for all the same
        received += reasoning
    return Usage(input_tokens=sent, cached_tokens=max(0, cached), output_tokens=received)


def is_broken_off(body: Any) -> bool:
    """Whether the provider says in a reply that its model failed on the way, as OpenRouter does.

    LiteLLM takes what came of it for a whole reply. An empty error says nothing.
    """
    choice = _choice(_get(body, "choices")) if isinstance(body, Mapping) else None
    return isinstance(choice, Mapping) and (
        (isinstance(told := choice.get("error"), Mapping) and bool(told))
        or bool(body.get("error"))
        or choice.get("finish_reason") == "error"
    )


def google_usage(body: Any) -> Usage | None:
    """Read the counts of a body of Google's; absent if it is another's.

    Of a reply that safety stops, LiteLLM reads neither the cache nor the hidden reasoning, which is
    paid for. The total is of both, however a model counts its reasoning.
    """
    usage = _get(body, "usageMetadata") if isinstance(body, Mapping) else None
    sent, total = _count(usage, "promptTokenCount"), _count(usage, "totalTokenCount")
    if sent is None or total is None or not 0 < sent <= total:
        return None
    cached = _count(usage, "cachedContentTokenCount") or 0
    return Usage(input_tokens=sent, cached_tokens=max(0, cached), output_tokens=total - sent)


def _count(holder: Any, name: str) -> int | None:
    """Return a count, also one written as a text or as a fraction; absent if there is none."""
    value = _get(holder, name)
    if value is None:
        return None
    try:
        number = UNREADABLE if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return UNREADABLE
    return math.ceil(number) if math.isfinite(number) else UNREADABLE


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    """Read log-probabilities; what cannot be read counts as absent."""
    content = _get(logprobs, "content")
    if not _is_list(content) or not content:
        return None
    try:
        return tuple(
            TokenLogprob(
                str(_needed(token, "token")),
                float(_needed(token, "logprob")),
                tuple(
                    (str(_needed(top, "token")), float(_needed(top, "logprob")))
                    for top in _get(token, "top_logprobs") or ()
                ),
            )
            for token in content
        )
    except (AttributeError, TypeError, ValueError):
        return None


def _needed(holder: Any, name: str) -> Any:
    value = _get(holder, name)
    if value is None:
        raise ValueError(name)
    return value
