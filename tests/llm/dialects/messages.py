"""Anthropic's Messages, at its own address and on Vertex AI."""

import json
from collections.abc import Mapping
from typing import Any

from calbench.llm.completion import ChatMessage
from tests.llm.dialects.chat import google_error, google_fault
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
    check_keywords,
    check_number,
)
from tests.llm.stub_server import Answer, Asked

KEYWORDS = (
    "type description title properties required additionalProperties items enum const anyOf allOf "
    "$ref $defs format default"
)
"""Of the schemas of structured outputs: no bounds of numbers and lists."""

BETA = "structured-outputs-2025-11-13"

OPTIONAL = (
    "system", "temperature", "top_p", "thinking", "output_config", "output_format", "tools",
    "tool_choice", "stream",
)  # fmt: skip


class Anthropic(Dialect):
    """Anthropic's own. It has neither seed nor log-probabilities."""

    host = "api.anthropic.com"
    path = "/v1/messages"
    no_credit = 400
    busy = 529
    needed: tuple[str, ...] = ("model", "messages", "max_tokens")
    has_outputs = True

    def read(self, asked: Asked) -> Prompt:
        check(asked.path == self.path, f"no such path: {asked.path}", 404)
        self._check_head(asked)
        body = asked.body
        check_fields(body, OPTIONAL, self.needed)
        check(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens")
        check(not body.get("stream", False), "nobody reads a stream")
        self._check_sampling(body)
        schema, tool = self._schema(asked)
        return Prompt(
            thread=_thread(body),
            max_tokens=body["max_tokens"],
            sampling={
                **{name: body[name] for name in ("temperature", "top_p") if name in body},
                **_effort(body),
            },
            schema=schema,
            tool=tool,
        )

    def _check_head(self, asked: Asked) -> None:
        check(asked.headers.get("x-api-key") == KEY, "no key", 401)
        check("authorization" not in asked.headers, "two keys", 401)
        check(asked.headers.get("anthropic-version") == "2023-06-01", "anthropic-version")

    def _check_sampling(self, body: Mapping[str, Any]) -> None:
        check_number(body, "temperature", 0, 1)
        check_number(body, "top_p", 0, 1)
        both = "temperature" in body and "top_p" in body
        check(not both, "`temperature` and `top_p` cannot both be specified for this model")
        if body.get("thinking", {"type": "disabled"})["type"] != "disabled":
            check(body.get("temperature", 1) == 1, "thinking needs a temperature of 1")
            forced = body.get("tool_choice", {}).get("type") in {"any", "tool"}
            check(not forced, "thinking may not be enabled when tool_choice forces tool use")

    def _schema(self, asked: Asked) -> tuple[Mapping[str, Any] | None, str | None]:
        """Return the schema that a reply is held to, and the tool that it has to call."""
        body = asked.body
        given = body.get("output_format") or body.get("output_config", {}).get("format")
        if given is not None:
            check(self.has_outputs, "output_format: Extra inputs are not permitted")
            is_beta = BETA in asked.headers.get("anthropic-beta", "")
            check("output_format" not in body or is_beta, "output_format needs a beta header")
            check_fields(given, (), ("type", "schema"))
            check(given["type"] == "json_schema", "output_format.type")
            check_keywords(given["schema"], KEYWORDS)
            return given["schema"], None
        if "tools" not in body:
            check("tool_choice" not in body, "tool_choice without tools")
            return None, None
        (tool,) = body["tools"]
        check_fields(tool, ("description", "type"), ("name", "input_schema"))
        check(tool["input_schema"].get("type") == "object", "input_schema")
        choice = body.get("tool_choice", {"type": "auto"})
        is_forced = choice.get("type") == "tool" and choice.get("name") == tool["name"]
        return tool["input_schema"], tool["name"] if is_forced else None

    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        """Return a reply; what comes from the cache is no part of the input."""
        ends = {"whole": "end_turn", "cut": "max_tokens", "filtered": "refusal"}
        content: list[dict[str, Any]] = [{"type": "text", "text": said.text}]
        end = ends[said.end]
        if prompt.tool is not None and said.end == "whole":
            call = {"type": "tool_use", "id": "toolu_1", "name": prompt.tool}
            content, end = [{**call, "input": json.loads(said.text)}], "tool_use"
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "dry-run",
            "content": content if said.text else [],
            "stop_reason": end,
            "stop_sequence": None,
            "usage": {
                "input_tokens": said.sent - said.cached,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": said.cached,
                "output_tokens": said.received,
                "service_tier": "standard",
            },
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        kinds = {
            401: "authentication_error", 403: "permission_error", 404: "not_found_error",
            429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
        }  # fmt: skip
        kind = kinds.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def fault(self, fault: Fault) -> Answer:
        """Return an error; want of credit is a request that is not valid."""
        if fault == "credit" and self.no_credit == 400:
            said = "Your credit balance is too low to access the Anthropic API."
            return Answer(self.error(400, f"{said} {KEY}"), 400)
        return super().fault(fault)


class VertexClaude(Anthropic):
    """Claude on Vertex AI: the model is in the path, the version in the body, Google's login.

    Structured outputs are not among what it has; a schema is that of a tool.
    """

    host = "aiplatform.googleapis.com"
    path = (
        "/v1/projects/dry-run/locations/global/publishers/anthropic/models/"
        "claude-sonnet-4-6:rawPredict"
    )
    no_credit = 403
    needed = ("anthropic_version", "messages", "max_tokens")
    has_outputs = False

    def _check_head(self, asked: Asked) -> None:
        check_bearer(asked)
        check(asked.body.get("anthropic_version") == "vertex-2023-10-16", "anthropic_version")

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error: Google's about the way there, Anthropic's about the request."""
        if status in {400, 529}:
            return super().error(status, message)
        return google_error(status, message)

    def fault(self, fault: Fault) -> Answer:
        return google_fault(super().fault(fault), fault)


def _thread(body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
    """Return the thread; the system prompt stands beside the messages."""
    found = []
    if "system" in body:
        found.append(ChatMessage("system", _text(body["system"])))
    check(isinstance(body["messages"], list) and body["messages"], "messages")
    for message in body["messages"]:
        check_fields(message, (), ("role", "content"))
        role = message["role"]
        if role not in {"user", "assistant"}:
            raise RefusedError(f"messages: Unexpected role {role}")
        found.append(ChatMessage(role, _text(message["content"])))
    check(body["messages"][0]["role"] == "user", "first message must use the user role")
    check(body["messages"][-1]["role"] == "user", "this model takes no beginning of its reply")
    return tuple(found)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    for block in content:
        check_fields(block, ("cache_control",), ("type", "text"))
        check(block["type"] == "text", "a block that is no text")
        check(block["text"].strip(), "text content blocks must be non-empty")
    return "".join(block["text"] for block in content)


def _effort(body: Mapping[str, Any]) -> dict[str, Any]:
    thinking, effort = body.get("thinking"), body.get("output_config", {}).get("effort")
    if thinking is not None:
        kinds = {"enabled", "disabled", "adaptive"}
        check(thinking.get("type") in kinds, "thinking.type")
        budget = thinking.get("budget_tokens", 0)
        is_right = 1024 <= budget < body["max_tokens"] or thinking["type"] != "enabled"
        check(is_right, "thinking.budget_tokens")
    check(effort in {None, "low", "medium", "high", "max"}, "output_config.effort")
    return {} if effort is None else {"reasoning_effort": effort}
