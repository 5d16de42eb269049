"""Chat completions: OpenAI's dialect, and those of its relatives."""

import re
from collections.abc import Mapping
from typing import Any

from calbench.llm.completion import ChatMessage
from tests.llm.dialects.dialect import (
    KEY,
    Dialect,
    Fault,
    Prompt,
    RefusedError,
    Said,
    check,
    check_bearer,
    check_fields,
    check_number,
    tokens,
)
from tests.llm.stub_server import Answer, Asked

MOST_ALTERNATIVES = 20


class OpenAI(Dialect):
    """OpenAI's own, for a reasoning model whose effort is ``none`` unless the request says more.

    Such models take ``max_completion_tokens`` only, and sampling and log-probabilities only
    without reasoning. What is not documented is refused.
    """

    host = "api.openai.com"
    path = "/v1/chat/completions"
    no_credit = 429
    length = "max_completion_tokens"
    formats: tuple[str, ...] = ("text", "json_object", "json_schema")
    optional: tuple[str, ...] = (
        "temperature", "top_p", "seed", "reasoning_effort", "response_format", "logprobs",
        "top_logprobs", "stream",
    )  # fmt: skip

    def read(self, asked: Asked) -> Prompt:
        check(asked.path == self.path, f"no such path: {asked.path}", 404)
        check_bearer(asked)
        body = asked.body
        check_fields(body, self.optional, ("model", "messages", self.length))
        check(isinstance(body[self.length], int) and body[self.length] > 0, self.length)
        check(not body.get("stream", False), "nobody reads a stream")
        check_number(body, "temperature", 0, 2)
        check_number(body, "top_p", 0, 1)
        self._check_reasoning(body)
        thread = _thread(body["messages"])
        return Prompt(
            thread=thread,
            max_tokens=body[self.length],
            sampling={
                name: body[name]
                for name in ("temperature", "top_p", "seed", "reasoning_effort")
                if name in body
            },
            **self._format(body.get("response_format", {"type": "text"}), thread),
            alternatives=_alternatives(body),
        )

    def _check_reasoning(self, body: Mapping[str, Any]) -> None:
        """Refuse what a model that reasons does not take."""
        if body.get("reasoning_effort", "none") == "none":
            return
        for name in ("temperature", "top_p", "logprobs", "top_logprobs"):
            check(name not in body, f"Unsupported parameter: {name}")

    def _format(self, given: Any, thread: tuple[ChatMessage, ...]) -> dict[str, Any]:
        kind = given.get("type")
        check(kind in self.formats, f"response_format: {kind}")
        if kind == "json_schema":
            check_fields(given, (), ("type", "json_schema"))
            spec = given["json_schema"]
            check_fields(spec, ("description", "strict"), ("name", "schema"))
            check(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", spec["name"]), "json_schema.name")
            check(spec["schema"].get("type") == "object", "json_schema.schema")
            return {"schema": spec["schema"]}
        check_fields(given, (), ("type",))
        is_json = kind == "json_object"
        says_json = any("json" in content.lower() for _, content in thread)
        check(says_json or not is_json, "'messages' must contain the word 'json'")
        return {"is_json": is_json}

    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        ends = {"whole": "stop", "cut": "length", "filtered": "content_filter"}
        message = {"role": "assistant", "content": said.text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": ends[said.end]}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1767322800,
            "model": "dry-run",
            "choices": [{**choice, "logprobs": _logprobs(prompt, said)}],
            "usage": self.usage(said),
        }

    def usage(self, said: Said) -> dict[str, Any]:
        """Return the counts: reasoning is part of the completion, cache part of the prompt."""
        return {
            "prompt_tokens": said.sent,
            "completion_tokens": said.received,
            "total_tokens": said.sent + said.received,
            "prompt_tokens_details": {"cached_tokens": said.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": said.reasoning},
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {
            "error": {
                "message": message,
                "type": "invalid_request_error" if status < 500 else "server_error",
                "param": None,
                "code": "invalid_api_key" if status == 401 else None,
            }
        }

    def fault(self, fault: Fault) -> Answer:
        """Return an error; want of credit has the status of haste, and another code."""
        if fault != "credit" or self.no_credit != 429:
            return super().fault(fault)
        kind = "insufficient_quota"
        said = {"message": f"You exceeded your current quota: {KEY}", "type": kind, "code": kind}
        return Answer({"error": {**said, "param": None}}, 429)


class DeepSeek(OpenAI):
    """DeepSeek's own: JSON without a schema, no seed, counts of the cache under other names."""

    host = "api.deepseek.com"
    path = "/beta/chat/completions"
    no_credit = 402
    length = "max_tokens"
    formats = ("text", "json_object")
    optional = (
        "temperature", "top_p", "response_format", "logprobs", "top_logprobs", "stream", "thinking",
    )  # fmt: skip

    def _check_reasoning(self, body: Mapping[str, Any]) -> None:
        is_thinking = body.get("thinking", {}).get("type", "disabled") == "enabled"
        for name in ("logprobs", "top_logprobs"):
            check(not is_thinking or name not in body, f"{name} is not supported while thinking")

    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        """Return a reply, with its reasoning beside it."""
        body = super().write(prompt, said)
        message = {"role": "assistant", "content": said.text, "reasoning_content": "Hidden."}
        body["choices"][0]["message"] = message
        return {**body, "system_fingerprint": "fp_1"}

    def usage(self, said: Said) -> dict[str, Any]:
        return {
            "prompt_tokens": said.sent,
            "prompt_cache_hit_tokens": said.cached,
            "prompt_cache_miss_tokens": said.sent - said.cached,
            "completion_tokens": said.received,
            "total_tokens": said.sent + said.received,
            "completion_tokens_details": {"reasoning_tokens": said.reasoning},
        }


class OpenRouter(OpenAI):
    """OpenRouter's: many models behind one dialect; it drops what a model does not take."""

    host = "openrouter.ai"
    path = "/api/v1/chat/completions"
    no_credit = 402
    length = "max_tokens"
    optional = (*OpenAI.optional, "reasoning", "usage", "provider")

    def _check_reasoning(self, body: Mapping[str, Any]) -> None:
        check(body.get("usage", {"include": True}) == {"include": True}, "usage")

    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        """Return a reply, with the host that gave it and what it cost."""
        body = super().write(prompt, said)
        (choice,) = body["choices"]
        choice["native_finish_reason"] = choice["finish_reason"]
        choice["message"]["reasoning"] = "Hidden."
        body["usage"] |= {"cost": 0.00125, "is_byok": False}
        return {**body, "provider": "Somebody"}

    def error(self, status: int, message: str) -> dict[str, Any]:
        metadata = {"provider_name": "Somebody", "raw": message}
        return {"error": {"code": status, "message": message, "metadata": metadata}}


class VertexLlama(OpenAI):
    """Llama on Vertex AI, in OpenAI's form behind Google's login; no reasoning."""

    host = "aiplatform.googleapis.com"
    path = "/v1/projects/dry-run/locations/global/endpoints/openapi/chat/completions"
    no_credit = 403
    length = "max_tokens"
    optional = tuple(name for name in OpenAI.optional if name != "reasoning_effort")

    def read(self, asked: Asked) -> Prompt:
        """Check a request: the model's name begins with its publisher's."""
        prompt = super().read(asked)
        check(asked.body["model"].startswith("meta/"), "model", 404)
        return prompt

    def error(self, status: int, message: str) -> dict[str, Any]:
        return google_error(status, message)

    def fault(self, fault: Fault) -> Answer:
        return google_fault(super().fault(fault), fault)


GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip


def google_error(status: int, message: str) -> dict[str, Any]:
    """Return the body of an error of any of Google's services."""
    said: dict[str, Any] = {"code": status, "message": message}
    return {"error": {**said, "status": GOOGLE_STATUS.get(status, "UNKNOWN")}}


def google_fault(answer: Answer, fault: Fault) -> Answer:
    """Return an error as Google documents it: how long to wait is in the body, in no header."""
    if fault != "pace":
        return answer
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
    body = google_error(429, f"Resource exhausted: {KEY}")
    body["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.Help"}, wait]
    return Answer(body, 429)


def _thread(messages: Any) -> tuple[ChatMessage, ...]:
    check(isinstance(messages, list) and messages, "messages")
    found = []
    for message in messages:
        check_fields(message, (), ("role", "content"))
        role, content = message["role"], message["content"]
        if role not in {"system", "user", "assistant"}:
            raise RefusedError(f"role: {role}")
        check(isinstance(content, str) and content, "content")
        found.append(ChatMessage(role, content))
    return tuple(found)


def _alternatives(body: Mapping[str, Any]) -> int:
    count: int = body.get("top_logprobs", 0)
    check(body.get("logprobs", False) in (True, False), "logprobs")
    check(isinstance(count, int) and 0 <= count <= MOST_ALTERNATIVES, "top_logprobs")
    check(body.get("logprobs") or not count, "top_logprobs needs logprobs")
    return count


def _logprobs(prompt: Prompt, said: Said) -> dict[str, Any] | None:
    if not prompt.alternatives:
        return None
    content = [
        {
            **_token(each.text, each.logprob),
            "top_logprobs": [_token(text, logprob) for text, logprob in each.others],
        }
        for each in tokens(said.text, prompt.alternatives)
    ]
    return {"content": content, "refusal": None}


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}
