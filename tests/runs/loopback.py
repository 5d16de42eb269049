"""Two invented models behind a server on the loopback: one speaks, one gives no readable reply."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.talk import STYLES
from calbench.llm.completion import ChatMessage
from tests.cli.runs import calbench
from tests.llm.stub_server import chat

SPEAKING, MUMBLING = "speaking-1", "mumbling-1"
"""Names of the models, as the server knows them; no price is known of either."""

THOUGHT = "<script>window.hacked = 1</script>"
"""What the first one thinks at every turn; the other says nothing else."""


def _reply(model: str, messages: Sequence[ChatMessage]) -> str:
    if model != SPEAKING:
        return THOUGHT
    reply = json.loads(ScriptedSpeaker(STYLES["guarded"], 0).reply(messages))
    return json.dumps({**reply, "thinking": THOUGHT} if "thinking" in reply else reply)


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = [ChatMessage(each["role"], each["content"]) for each in asked["messages"]]
        body = json.dumps(chat(_reply(asked["model"], messages))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def models() -> Iterator[str]:
    """Serve both models; yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def play_model(address: str, model: str, out: Path, *overrides: str) -> str:
    """Let a model play in every seat; return the name of its team."""
    ended = calbench(
        "teams=[my-model]",
        f"model.name=openai/{model}",
        f"model.api_base={address}",
        "limits.max_turns_per_round=4",
        f"out={out}",
        *overrides,
    )
    assert ended.status == 0, ended.err
    (team,) = (out / "traces").iterdir()
    return team.name
