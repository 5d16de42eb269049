"""One attempt to reach a model: its interface, its errors, cleaning of its reply, and the wire.

LiteLLM and the libraries under it discard a good reply that has an odd form, read a body of any
size, follow a redirect with the key of some providers, send again what broke off and may be paid
for, and do not tell whether a request was sent. All of them send through one method of httpx, which
is watched here while an attempt is made: what it sends and receives is bounded, seen by us, and
never sent elsewhere.
"""

import functools
import math
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from calbench.files import printable, shorten
from calbench.llm.body import parsed
from calbench.llm.completion import Completion, Request, TokenLogprob, well_formed
from calbench.llm.model import FEWEST_SECRET, Endpoint

LOWEST_LOGPROB = -9999.0
"""Stands for what is infinitely unlikely, as some providers write it."""

MOST_RECEIVED = 100_000
"""Characters that are kept of a body as it was received [C]."""

CONTEXT_EXCEEDED = "context_exceeded"
"""Finish reason of a thread that no longer fits the model."""

CONNECTION_REFUSED, HOST_NOT_FOUND = "ConnectionRefused", "HostNotFound"
"""Classes of errors of requests that no server ever saw."""

TIMEOUT, BROKEN = "Timeout", "ConnectionOrReplyBroken"
"""Classes of other errors without a status."""

REDIRECTED, TOO_LONG = "Redirected", "ReplyTooLong"
"""Classes of answers that point elsewhere, and of those that are not read to their end."""

NO_CREDIT = "NoCredit"
"""Class of the answer that an account has no credit, whatever its status."""


@dataclass(eq=False)
class AttemptError(Exception):
    """An attempt without a reply.

    It contains none of the provider's text: error bodies repeat keys and addresses.

    Attributes:
        error: class of the error.
        status: HTTP status; absent if no reply arrived.
        retry_after_s: seconds the provider asks to wait.
        is_retryable: whether another attempt may succeed.
        is_free: whether the provider refused, which costs nothing, or was never reached. After a
            timeout, also a gateway's, a fault of the server or a broken connection the model may
            have worked all the same.
    """

    error: str
    _: KW_ONLY
    status: int | None = None
    retry_after_s: float | None = None
    is_retryable: bool = True
    is_free: bool = False


Transport = Callable[[Request, Endpoint], Awaitable[Completion]]
"""Makes one attempt; raises :class:`AttemptError`. Usage is absent if the provider gave none."""


def clean(completion: Completion) -> Completion:
    """Make a provider's reply fit to be recorded, whatever it contains.

    Lone surrogates become U+FFFD, numbers finite, an empty text an absent one.
    """
    reason, received, usage = completion.finish_reason, completion.received, completion.usage
    return replace(
        completion,
        text=well_formed(completion.text or "") or None,
        finish_reason=None if reason is None else shorten(printable(well_formed(reason)), 64),
        refusal=well_formed(completion.refusal or "") or None,
        logprobs=None
        if completion.logprobs is None
        else tuple(map(_clean_token, completion.logprobs)),
        usage=None
        if usage is None
        else replace(usage, cached_tokens=min(usage.cached_tokens, usage.input_tokens)),
        received=None if received is None else shorten(well_formed(received), MOST_RECEIVED),
        key=None,
    )


def _clean_token(token: TokenLogprob) -> TokenLogprob:
    return TokenLogprob(
        well_formed(token.token),
        _logprob(token.logprob),
        tuple((well_formed(text), _logprob(value)) for text, value in token.top),
    )


def _logprob(value: float) -> float:
    return max(LOWEST_LOGPROB, value) if math.isfinite(value) else LOWEST_LOGPROB


MOST_BYTES = 64 * 2**20
"""A longer reply is not read on: a hundred thousand tokens with their alternatives fit [C]."""

CONNECTING = 0.5
"""Share of an attempt's time after which a connection that is not yet made is given up [C]. So the
end of the time itself always means that the request may have been sent."""

LONG_BYTES = 2**20
"""A longer reply is read in a thread of its own [C]."""

ENCODINGS = "gzip, deflate"
"""How a reply may be compressed: these grow by a bounded factor for each piece that is read."""

_SECRETS = ("authorization", "api-key", "x-api-key", "x-goog-api-key", "x-amz-security-token")
"""Headers of a request that hold a key."""


class UnreadableBodyError(Exception):
    """A reply that is too long, or compressed in a way that nobody asked for."""


class LongBodyError(Exception):
    """A reply that libraries would read while all other calls wait; it is read beside them."""


@dataclass(slots=True)
class Exchange:
    """One attempt on the wire.

    Attributes:
        timeout_s: seconds of the attempt.
        may_be_sent: whether its request may have been sent: what was not, costs nothing. A
            transport that can tell says so; else it may.
        is_rehearsal: whether nothing is ever sent.
        status: HTTP status; absent before an answer.
        headers: of the answer, by name in lower case.
        body: of the answer, as far as it came, without compression.
        secrets: keys that were sent.
        is_redirected: whether the answer pointed elsewhere.
        failure: what broke the attempt on its way; nothing is sent after it.
    """

    timeout_s: float
    may_be_sent: bool = True
    is_rehearsal: bool = False
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    secrets: set[str] = field(default_factory=set)
    is_redirected: bool = False
    failure: Exception | None = None
    _read: tuple[bytes, Any] | None = None

    @property
    def text(self) -> str:
        """What the body holds, as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """Return what the body holds as JSON; absent if it is none. It is read once."""
        if self._read is None or self._read[0] is not self.body:
            self._read = (self.body, parsed(self.body))
        return self._read[1]


EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
"""The attempt that is under way in this task."""


def watch_httpx() -> None:
    """Watch what httpx sends; calls outside of an attempt are left as they are."""
    import httpx

    send = httpx.AsyncClient.send
    if not hasattr(send, "is_watched"):
        setattr(httpx.AsyncClient, "send", _watched(send))  # noqa: B010 - a method, for mypy


def _watched(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    import httpx

    @functools.wraps(send)
    async def watched(client: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
        exchange = EXCHANGE.get()
        if exchange is None or stream:
            return await send(client, request, stream=stream, **options)
        if exchange.failure is not None:
            raise exchange.failure
        _prepare(request, exchange)
        options["follow_redirects"] = False
        try:
            response = await send(client, request, stream=True, **options)
            try:
                await _read(response, exchange)
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            exchange.failure = error
            raise
        is_good = exchange.status is not None and 200 <= exchange.status < 300
        if is_good and len(exchange.body) > LONG_BYTES and b'"choices"' in exchange.body:
            raise LongBodyError
        return _whole(response, exchange)

    setattr(watched, "is_watched", True)  # noqa: B010 - a function, for mypy
    return watched


def _prepare(request: Any, exchange: Exchange) -> None:
    """Bound the time to connect, note the keys, and that the request, without cookies, is sent."""
    import httpx

    if exchange.is_rehearsal:
        raise httpx.ConnectError("nothing is sent")
    times = dict(request.extensions.get("timeout") or {})
    most = CONNECTING * exchange.timeout_s
    for kind in ("connect", "pool"):
        given = times.get(kind)
        times[kind] = most if given is None else min(given, most)
    request.extensions["timeout"] = times
    request.headers["accept-encoding"] = ENCODINGS
    request.headers.pop("cookie", None)  # it would tell that two calls are of one user
    sent = [request.headers.get(name, "") for name in _SECRETS]
    sent += [value for name, value in request.url.params.multi_items() if "key" in name.lower()]
    exchange.secrets.update(
        key for value in sent for key in [value.split(" ")[-1]] if len(key) >= FEWEST_SECRET
    )
    exchange.may_be_sent = True


async def _read(response: Any, exchange: Exchange) -> None:
    """Read a body up to the bound; what came of one that breaks off is kept if it is whole."""
    import httpx

    exchange.status, exchange.body = response.status_code, b""
    exchange.headers = {name.lower(): value for name, value in response.headers.items()}
    exchange.is_redirected = bool(response.has_redirect_location)
    coding = exchange.headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity", "gzip", "deflate"}:
        raise UnreadableBodyError
    body = bytearray()
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MOST_BYTES:
                raise UnreadableBodyError
    except httpx.HTTPError:
        exchange.body = bytes(body)
        if not isinstance(exchange.json(), dict):
            raise
    else:
        exchange.body = bytes(body)


def _whole(response: Any, exchange: Exchange) -> Any:
    """Return an answer as it is read from now on: in memory, and leading nowhere else."""
    import httpx

    dropped = {"content-encoding", "content-length", "transfer-encoding", "location"}
    whole = httpx.Response(
        response.status_code,
        headers=[each for each in response.headers.multi_items() if each[0].lower() not in dropped],
        content=exchange.body,
        request=response.request,
        extensions=response.extensions,
        history=response.history,
    )
    whole.elapsed = response.elapsed
    return whole
