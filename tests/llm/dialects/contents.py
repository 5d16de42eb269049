"""Google's generateContent, of the Gemini API and on Vertex AI."""

import re
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
    tokens,
)
from tests.llm.stub_server import Answer, Asked

KEYWORDS = (
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems "
    "minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering"
)
"""Of responseJsonSchema."""

MOST_ALTERNATIVES = 20
GENERATION = (
    "temperature", "topP", "seed", "maxOutputTokens", "responseMimeType", "responseJsonSchema",
    "responseSchema", "responseLogprobs", "logprobs", "thinkingConfig",
)  # fmt: skip


class Gemini(Dialect):
    """The Gemini API. Field names may be written in either of protobuf's two ways."""

    host = "generativelanguage.googleapis.com"
    path = r"/v1(alpha|beta)?/models/gemini-3-flash-preview:generateContent"
    no_credit = 400
    busy = 503

    def read(self, asked: Asked) -> Prompt:
        check(re.fullmatch(self.path, asked.path), f"no such path: {asked.path}", 404)
        self._check_key(asked)
        body = camel(asked.body)
        check_fields(body, ("systemInstruction", "generationConfig"), ("contents",))
        settings = camel(body.get("generationConfig", {}))
        check_fields(settings, GENERATION, ("maxOutputTokens",))
        check_number(settings, "temperature", 0, 2)
        check_number(settings, "topP", 0, 1)
        check(isinstance(settings.get("seed", 0), int), "seed")
        names = {"temperature": "temperature", "topP": "top_p", "seed": "seed"}
        given = {name: settings[key] for key, name in names.items() if key in settings}
        return Prompt(
            thread=_thread(body),
            max_tokens=settings["maxOutputTokens"],
            sampling={**given, **_thinking(settings)},
            schema=_schema(settings),
            is_json=settings.get("responseMimeType") == "application/json",
            alternatives=_alternatives(settings),
        )

    def _check_key(self, asked: Asked) -> None:
        check(asked.headers.get("x-goog-api-key") == KEY, "no key", 401)
        check(KEY not in asked.query + str(asked.body), "the key belongs in the header")

    def write(self, prompt: Prompt, said: Said) -> dict[str, Any]:
        """Return a reply, after a part that is a thought; what safety stops has no content."""
        ends = {"whole": "STOP", "cut": "MAX_TOKENS", "filtered": "SAFETY"}
        candidate: dict[str, Any] = {"finishReason": ends[said.end], "index": 0}
        if said.text:
            parts = [{"text": "Hidden.", "thought": True}, {"text": said.text}]
            candidate["content"] = {"role": "model", "parts": parts}
        if prompt.alternatives and said.text:
            candidate |= {"avgLogprobs": -0.3, "logprobsResult": _logprobs(prompt, said)}
        return {
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": said.sent,
                "cachedContentTokenCount": said.cached,
                "candidatesTokenCount": said.received - said.reasoning,
                "thoughtsTokenCount": said.reasoning,
                "totalTokenCount": said.sent + said.received,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": said.sent}],
            },
            "modelVersion": "dry-run",
            "responseId": "r1",
        }

    def blocked(self) -> dict[str, Any]:
        """Return what is answered to a prompt that safety blocks: no candidate at all."""
        return {
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": {"promptTokenCount": 1000, "totalTokenCount": 1000},
            "modelVersion": "dry-run",
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        return google_error(status, message)

    def fault(self, fault: Fault) -> Answer:
        return google_fault(super().fault(fault), fault)


class VertexGemini(Gemini):
    """Gemini on Vertex AI: project and region in the path, Google's login."""

    host = "aiplatform.googleapis.com"
    path = (
        r"/v1(beta1)?/projects/dry-run/locations/global/publishers/google/models/"
        r"gemini-3(\.1-pro|-flash)-preview:generateContent"
    )
    no_credit = 403

    def _check_key(self, asked: Asked) -> None:
        check_bearer(asked)


def camel(fields: Any) -> dict[str, Any]:
    """Return an object with the names of protobuf's JSON form, which has either."""
    check(isinstance(fields, dict), "expected an object")
    return {re.sub(r"_([a-z])", lambda at: at[1].upper(), name): fields[name] for name in fields}


def _thread(body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
    found = []
    if "systemInstruction" in body:
        found.append(ChatMessage("system", _text(body["systemInstruction"])))
    check(isinstance(body["contents"], list) and body["contents"], "contents")
    for content in body["contents"]:
        role = content.get("role")
        if role not in {"user", "model"}:
            raise RefusedError(f"Please use a valid role: user, model, not {role}.")
        found.append(ChatMessage("user" if role == "user" else "assistant", _text(content)))
    check(body["contents"][-1]["role"] == "user", "the last content is the user's")
    return tuple(found)


def _text(content: Any) -> str:
    check_fields(content, ("role",), ("parts",))
    for part in content["parts"]:
        check_fields(part, (), ("text",))
        check(isinstance(part["text"], str) and part["text"], "an empty part")
    return "".join(part["text"] for part in content["parts"])


def _schema(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    check("responseSchema" not in settings, "responseSchema: it knows less than JSON Schema")
    schema: Mapping[str, Any] | None = settings.get("responseJsonSchema")
    if schema is not None:
        is_json = settings.get("responseMimeType") == "application/json"
        check(is_json, "a schema needs responseMimeType application/json")
        check_keywords(schema, KEYWORDS)
    return schema


def _alternatives(settings: Mapping[str, Any]) -> int:
    count: int = settings.get("logprobs", 0)
    check(isinstance(count, int) and 0 <= count <= MOST_ALTERNATIVES, "logprobs")
    check(settings.get("responseLogprobs") or not count, "logprobs needs responseLogprobs")
    return count


def _thinking(settings: Mapping[str, Any]) -> dict[str, Any]:
    if "thinkingConfig" not in settings:
        return {}
    config = camel(settings["thinkingConfig"])
    check_fields(config, ("thinkingLevel", "thinkingBudget", "includeThoughts"))
    check(not {"thinkingLevel", "thinkingBudget"} <= set(config), "level or budget, not both")
    level = str(config.get("thinkingLevel", "high")).lower()
    check(level in {"minimal", "low", "medium", "high"}, "thinkingLevel")
    return {"reasoning_effort": level}


def _logprobs(prompt: Prompt, said: Said) -> dict[str, Any]:
    found = tokens(said.text, prompt.alternatives)
    return {
        "chosenCandidates": [_token(each.text, each.logprob) for each in found],
        "topCandidates": [
            {"candidates": [_token(text, logprob) for text, logprob in each.others]}
            for each in found
        ],
    }


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "tokenId": 1, "logProbability": logprob}
