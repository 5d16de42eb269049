"""A provider's dialect on the loopback, reached under the provider's own address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from calbench.llm.litellm_transport import load_litellm
from tests.llm.dialects.dialect import Dialect, Prompt, RefusedError, Said, check
from tests.llm.stub_server import Answer, Asked, StubServer, served

Speaker = Callable[[Prompt], Said]


class DialectServer(StubServer):
    """Checks each request by the documentation of its dialect, and answers in it.

    ``says`` makes the reply; ``first`` are answered before it. ``refusals`` are what the provider
    would have refused.
    """

    def __init__(self, dialect: Dialect, says: Speaker, first: tuple[Answer, ...] = ()) -> None:
        super().__init__()
        self.dialect, self.says, self.first = dialect, says, list(first)
        self.prompts: list[Prompt] = []
        self.refusals: list[str] = []

    def answer_to(self, asked: Asked) -> Answer:
        host = asked.headers.get("host")
        try:
            check(host == self.dialect.host, f"no such host: {host}", 404)
            prompt = self.dialect.read(asked)
        except RefusedError as error:
            self.refusals.append(str(error))
            return Answer(self.dialect.error(error.status, str(error)), error.status)
        self.prompts.append(prompt)
        if self.first:
            return self.first.pop(0)
        return Answer(self.dialect.write(prompt, self.says(prompt)))


@contextmanager
def speaking(
    dialect: Dialect,
    monkeypatch: pytest.MonkeyPatch,
    says: Speaker = lambda _: Said(),
    first: tuple[Answer, ...] = (),
) -> Iterator[DialectServer]:
    """Serve a dialect; whatever is sent to any address arrives here, as if sent there."""
    server = DialectServer(dialect, says, first)
    load_litellm()  # so that its watch is below the detour
    with served(server), monkeypatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", _detour(httpx.AsyncClient.send, server))
        yield server


def _detour(send: Callable[..., Any], server: StubServer) -> Callable[..., Any]:
    async def sent(client: Any, request: Any, **options: Any) -> Any:
        assert request.url.scheme == "https"
        assert request.method == "POST"
        request.url = request.url.copy_with(
            scheme="http", host="127.0.0.1", port=server.server_port
        )
        return await send(client, request, **options)

    sent.is_watched = True  # type: ignore[attr-defined]
    return sent
