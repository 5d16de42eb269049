"""One attempt through LiteLLM: a hosted model, or any OpenAI-compatible server.

LiteLLM takes seconds to import and is loaded by the first call only. Its own retries are off:
our attempts are recorded and paid one by one.
"""

import asyncio
import os
import re
import sys
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from calbench.errors import ConfigError
from calbench.files import printable, shorten
from calbench.llm.body import google_usage, is_broken_off, masked, read_body, read_reply
from calbench.llm.completion import AddressKind, Completion, Provenance, Request, well_formed
from calbench.llm.faults import attempt_error, exceeded, setup_problem
from calbench.llm.model import FEWEST_SECRET, PROVIDERS, Endpoint
from calbench.llm.noise import hushed
from calbench.llm.transport import (
    BROKEN,
    EXCHANGE,
    LONG_BYTES,
    AttemptError,
    Exchange,
    watch_httpx,
)

TOP_LOGPROBS = 10
"""Likeliest tokens asked for beside the sampled one: more than the seven deltas of a
reflection, and within what providers allow [C]."""

NO_KEY = "none"
"""Sent to the user's own server. With nothing given, LiteLLM would send it the provider's key
from the environment."""

MOST_SAID = 200
"""Characters that are kept of each thing that a reply says of itself [C]."""

UNWATCHED = frozenset({"vllm"})
"""Providers that LiteLLM reaches without httpx: of theirs it is unknown whether it was sent."""


async def ask_litellm(request: Request, endpoint: Endpoint) -> Completion:
    """Make one attempt.

    A reply that LiteLLM cannot read is read from its body: it was paid for. Keys are masked in it.

    Raises:
        AttemptError: typed, without any of the provider's text.
        ConfigError: if the key that the endpoint names is not in the environment, or what
            the provider needs is not installed or not set up: no game could be played.
    """
    arguments = _arguments(request, endpoint)
    exchange = EXCHANGE.get() or Exchange(endpoint.timeout_s)
    provider = request.spec.model.split("/", 1)[0]
    exchange.may_be_sent = provider not in PROVIDERS or provider in UNWATCHED
    with hushed():
        litellm = load_litellm()
        for name in request.spec.options or ():
            if name in litellm.types.utils.all_litellm_params:
                raise ConfigError(f"{request.spec.model}: options.{name} is LiteLLM's own")
        found = await _called(litellm, arguments, exchange)
    key = endpoint.key() or ""
    secrets = exchange.secrets | ({key} if len(key) >= FEWEST_SECRET else set())
    if len(exchange.body) > LONG_BYTES:
        reply = await asyncio.to_thread(_read, found, exchange, request, endpoint, secrets)
    else:
        reply = _read(found, exchange, request, endpoint, secrets)
    if reply is not None:
        return reply
    if not isinstance(found, Exception):
        raise AttemptError("NoChoices", status=200)
    too_long = exceeded(found)
    if too_long is not None:
        return too_long
    problem = None
    if not exchange.status:
        options = request.spec.options
        problem = setup_problem(found) or _unsupported(found, arguments, options)
    if problem is not None:
        raise ConfigError(f"{request.spec.model}: {problem}")
    # The original contains the provider's text, which may repeat the key: it is left behind.
    raise attempt_error(found, exchange)


async def prepare_litellm() -> None:
    """Load what the first attempt would load, in seconds that belong to no attempt.

    LiteLLM imports much at its first call only, so one is made of which nothing is sent.
    """
    if _prepared:
        return
    rehearsal = Exchange(1.0, is_rehearsal=True)
    arguments = {
        "model": "openai/none",
        "messages": [{"role": "user", "content": "none"}],
        "api_base": "http://127.0.0.1:9/v1",
        "api_key": NO_KEY,
        "num_retries": 0,
        "max_retries": 0,
    }
    with hushed():
        await _called(load_litellm(), arguments, rehearsal)
    _prepared.append(True)


async def _called(litellm: Any, arguments: Mapping[str, Any], exchange: Exchange) -> Any:
    """Return what LiteLLM returns, or the error that it raises."""
    token = EXCHANGE.set(exchange)
    try:
        return await litellm.acompletion(**arguments)
    except Exception as error:  # noqa: BLE001 - LiteLLM lets any type through
        return error
    finally:
        EXCHANGE.reset(token)


def provenance(exchange: Exchange, endpoint: Endpoint) -> Provenance | None:
    """Return what an answer says of itself; absent if none was seen on the wire."""
    if exchange.status is None:
        return None
    body, headers = exchange.json(), exchange.headers
    fields = body if isinstance(body, Mapping) else {}

    def said(value: object) -> str | None:
        is_said = isinstance(value, str) and bool(value)
        return shorten(printable(well_formed(str(value))), MOST_SAID) if is_said else None

    return Provenance(
        id=said(fields.get("id") or fields.get("responseId")),
        model=said(fields.get("model") or fields.get("modelVersion")),
        fingerprint=said(fields.get("system_fingerprint")),
        request_id=said(headers.get("x-request-id") or headers.get("request-id")),
        date=said(headers.get("date")),
        address=address_kind(endpoint.api_base),
    )


def address_kind(api_base: str | None) -> AddressKind:
    """Return what kind of address a model is asked at, by what the configuration says of it."""
    if api_base is None:
        return "provider"
    host = urlsplit(api_base).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    try:
        address = ip_address(host)
    except ValueError:
        return "public" if "." in host else "private"
    if address.is_loopback:
        return "loopback"
    return "private" if address.is_private else "public"


def _read(
    found: Any,
    exchange: Exchange,
    request: Request,
    endpoint: Endpoint,
    secrets: Collection[str],
) -> Completion | None:
    """Return the reply without keys, if there is one.

    Raises:
        AttemptError: if it broke off.
    """
    reply = _reply(found, exchange)
    if b'"error"' in exchange.body and is_broken_off(exchange.json()):
        raise AttemptError(BROKEN, status=exchange.status)
    if reply is None:
        return None
    if request.logprobs and reply.logprobs is None:  # LiteLLM reads none of Llama's on Vertex AI
        own = read_body(exchange.json())
        if own is not None and own.text == reply.text:
            reply = replace(reply, logprobs=own.logprobs)
    return masked(replace(reply, provenance=provenance(exchange, endpoint)), secrets)


def _reply(found: Any, exchange: Exchange) -> Completion | None:
    """Return the reply as LiteLLM read it, or else as its body says."""
    reply = None if isinstance(found, Exception) else read_reply(found)
    if reply is not None and reply.text is None:
        reply = replace(reply, usage=google_usage(exchange.json()) or reply.usage)
    is_usual = reply is not None and (reply.text or reply.refusal or reply.finish_reason != "stop")
    is_one = len(getattr(found, "choices", None) or ()) < 2  # LiteLLM numbers them anew
    if (is_usual and is_one) or exchange.status is None or not 200 <= exchange.status < 300:
        return reply
    own = read_body(exchange.json())
    if reply is None or own is None or own.text is None:
        return reply or own
    return own


def _unsupported(
    error: Exception, arguments: Mapping[str, Any], options: Mapping[str, Any] | None
) -> str | None:
    """Return what a model was asked for and does not take, as LiteLLM knows it, if that it is.

    A run's configuration sets it: leaving it out in silence would be another game.
    """
    if type(error).__name__ != "UnsupportedParamsError":
        return None
    own = ("temperature", "top_p", "seed", "reasoning_effort", "response_format", "logprobs")
    keys = {**{name: name for name in own}, **{name: f"options.{name}" for name in options or ()}}
    words = re.findall(r"[\w-]+", str(error).replace("top_logprobs", "logprobs"))  # one setting
    names = [name for name in keys if name in arguments and name in words]
    if len(names) == 1:
        return f"its provider does not take {names[0]}; leave model.{keys[names[0]]} out"
    what = ", ".join(names) or "some that LiteLLM does not name"
    return f"its provider does not take these settings, or not together: {what}"


_prepared: list[bool] = []
"""Not empty once it is loaded in this process."""


async def close_litellm() -> None:
    """Close the connections that LiteLLM keeps, if it was ever loaded."""
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        await litellm.close_litellm_async_clients()


OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOG": "ERROR",
    "HF_HUB_OFFLINE": "1",
}
"""Variables by which LiteLLM and its libraries neither call home nor chatter when imported."""


LOOPBACK = "localhost,127.0.0.1,::1"
"""Never asked through a proxy, beside what ``no_proxy`` names: it would reach its own machine."""

NEEDS_LITELLM = "models are asked through LiteLLM: pip install 'calbench[models]'"


def load_litellm() -> Any:
    """Import LiteLLM, keep it quiet, and watch what it sends. The first time takes seconds.

    Raises:
        ConfigError: it is not installed.
    """
    for name, value in OFFLINE.items():
        os.environ.setdefault(name, value)
    direct = os.environ.get("no_proxy") or os.environ.get("NO_PROXY", "")
    if direct != "*" and LOOPBACK not in direct:
        os.environ["no_proxy"] = f"{LOOPBACK},{direct}"
    with hushed():
        try:
            import litellm
        except ModuleNotFoundError as error:
            if error.name != "litellm":
                raise
            raise ConfigError(NEEDS_LITELLM) from None

        watch_httpx()
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a parameter left out in silence would be another game
    litellm.telemetry = False
    return litellm


def _arguments(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    sampling = request.spec.sampling
    key = endpoint.key()
    if key is None and endpoint.api_base is not None:
        key = NO_KEY
    given = {
        "api_base": endpoint.api_base,
        "api_key": key,
        "vertex_location": endpoint.location,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        # Replicates of a game are to differ where a provider heeds the seed.
        "seed": None if sampling.seed is None else sampling.seed + request.spec.replicate,
        "reasoning_effort": sampling.reasoning_effort,
        "response_format": _response_format(request, endpoint),
        "logprobs": request.logprobs or None,
        "top_logprobs": TOP_LOGPROBS if request.logprobs else None,
    }
    return {
        **deepcopy(request.spec.options or {}),  # LiteLLM changes what it is given
        "model": request.spec.model,
        "messages": [{"role": role, "content": content} for role, content in request.messages],
        "max_tokens": sampling.max_tokens,
        "timeout": endpoint.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
        **{name: value for name, value in given.items() if value is not None},
    }


def _response_format(request: Request, endpoint: Endpoint) -> dict[str, Any] | None:
    """Return how JSON is asked for; only servers of one's own take a schema beside `json_object`.

    As llama.cpp's does; hosted providers refuse or ignore it there.
    """
    schema = request.sent_schema
    if request.spec.response_format == "none":
        return None
    if schema is None:
        return {"type": "json_object"}
    if request.spec.response_format == "json_object":
        own = {} if endpoint.api_base is None else {"schema": schema}
        return {"type": "json_object", **own}
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
