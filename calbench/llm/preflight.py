"""The preflight: one small call a model says, before the first game, whether it can be asked.

It is made at every start that has games of models to play, because what an earlier start was
answered says nothing about the key and the server of now. So each has its own number among the
recorded replies. It is paced, paid for and recorded as every reply is, and part of no game.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from calbench.domain.canonical import canonical_json
from calbench.errors import ConfigError, PreflightError, StoppedError, UnavailableError
from calbench.files import printable
from calbench.llm.client import ModelClient, Source, open_completer
from calbench.llm.completion import ChatMessage, Completion, Request
from calbench.llm.faults import FAULTS
from calbench.llm.litellm_transport import address_kind, ask_litellm
from calbench.llm.model import ModelConfig, check_requirements
from calbench.llm.replies.database import remove_store
from calbench.llm.replies.record import named
from calbench.llm.replies.store import ReplyStore
from calbench.llm.transport import CONNECTION_REFUSED

MOST_TOKENS = 16
"""What the reply may hold: any reply will do, also an empty or a cut one [C]."""

REFUSES_SHORT = frozenset({400, 422})
"""Statuses by which some reasoning models refuse so few tokens: then it is asked with its own."""

MOST_ATTEMPTS = 2
MOST_SECONDS = 60.0
GRACE_S = 2.0
"""Attempts of a preflight, seconds of one, and seconds that it may take to finish when the user
stops the run; a game has more patience [C]."""

KNOCK_S = 0.5
"""How long one waits for a server on this machine [C]."""

POLL_S = 0.2
"""How often it is looked whether the user stops it [C]."""

MESSAGE = 'Reply with this JSON object and nothing else: {"ok": true}'
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
"""What is asked for; nobody reads the reply."""


@dataclass(frozen=True, slots=True)
class PreflightSite:
    """Where the call is made."""

    player: str

    def __str__(self) -> str:
        return f"model {self.player}, preflight"


def preflight(
    models: Mapping[str, ModelConfig],
    source: Source,
    tick: Callable[[], None] = lambda: None,
) -> list[str]:
    """Ask every model once; return a line for each of them if all answer.

    A store that was made only for this, and holds neither a reply nor money, is removed.

    Args:
        models: by player; those of one name, address, key and options are asked once.
        source: recorded replies, money and mode, as of the games, and whether the user stops it.
        tick: called for each model that has answered or failed.

    Returns:
        What each model is asked for beside a text, and whether it gives log-probabilities.

    Raises:
        PreflightError: with a line for each model that cannot be asked.
        StoppedError: if it was stopped.
        CalbenchError: as opening the source.
    """
    is_new = source.store is not None and not source.store.exists()
    is_done = False
    try:
        found = asyncio.run(_found(distinct(models), source, tick))
        if problems := [line for is_right, line in found if not is_right]:
            raise PreflightError(problems)
        is_done = True
        return [line for _, line in found]
    finally:
        if is_new and not is_done and source.store is not None:
            _remove_if_empty(source.store)


def distinct(models: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Return one player of each model: those of one name, address, key and options are the same."""
    by_model = {
        (config.spec.model, address(config), config.api_key_env, canonical_json(config.options)): (
            player,
            config,
        )
        for player, config in sorted(models.items(), reverse=True)
    }
    return dict(sorted(by_model.values(), key=lambda found: found[0]))


async def _found(
    models: Mapping[str, ModelConfig], source: Source, tick: Callable[[], None]
) -> list[tuple[bool, str]]:
    """Ask all models at the same time; return whether each can be asked, and its line."""
    impatient = {
        player: config.model_copy(
            update={
                "max_attempts": min(config.max_attempts, MOST_ATTEMPTS),
                "timeout_s": min(config.timeout_s, MOST_SECONDS),
            }
        )
        for player, config in models.items()
    }
    async with open_completer(impatient, replace(source, grace_s=GRACE_S)) as client:
        calls = _Asking(client)
        asking = [asyncio.create_task(calls.found(*each)) for each in impatient.items()]
        for task in asking:
            task.add_done_callback(lambda _task: tick())
        try:
            pending = set(asking)
            while pending:
                _, pending = await asyncio.wait(pending, timeout=POLL_S)
                if source.is_stopping():
                    raise StoppedError("stopped")
            return [task.result() for task in asking]
        finally:
            for task in asking:
                task.cancel()


@dataclass(slots=True)
class _Asking:
    """The calls of one preflight; ``keys`` are those of its requests so far."""

    client: ModelClient
    keys: set[str] = field(default_factory=set)

    async def found(self, player: str, config: ModelConfig) -> tuple[bool, str]:
        """Ask a model; return whether it can be asked, and a line about it."""
        try:
            reply = await self._ask(player, config)
        except ConfigError as error:
            why = f"model {player}: {error}"
        except UnavailableError as error:
            why = error.detail
            if error.reason == "budget_stop":
                why = f"model {player}: {why}"
        else:
            return True, f"model {player} answers; {features(config, reply)}"
        return False, f"{why} ({config.spec.model} at {address(config)})"

    async def _ask(self, player: str, config: ModelConfig) -> Completion:
        if self.client.source.transport is ask_litellm:
            check_requirements(config)
        site = PreflightSite(player)
        few = min(MOST_TOKENS, config.max_tokens)
        try:
            return await self.client.complete(self._request(config, few), site)
        except UnavailableError as error:
            if error.status not in REFUSES_SHORT or few == config.max_tokens:
                raise
            return await self.client.complete(self._request(config, config.max_tokens), site)

    def _request(self, config: ModelConfig, max_tokens: int) -> Request:
        """Return the next preflight of a model, with the settings of games: they are tried too.

        Its number is the first that nobody has asked under, also not a model of the same name at
        another address: one request has one reply, wherever it comes from.
        """
        own = config.spec
        sampling = own.sampling.model_copy(update={"max_tokens": max_tokens})
        for number in count():
            request = Request(
                spec=own.model_copy(update={"sampling": sampling, "replicate": number}),
                messages=(ChatMessage("user", MESSAGE),),
                reply_schema=SCHEMA,
                logprobs=own.logprobs,
            )
            key, store = named(request).key, self.client.store
            if key not in self.keys and (store is None or store.get(key) is None):
                break
        self.keys.add(key)
        return request


def features(config: ModelConfig, reply: Completion) -> str:
    """Return what a model is asked for beside a text, and whether it gives log-probabilities.

    A reply without a text, as of hidden reasoning that was cut, does not tell.
    """
    has_schema = config.response_format == "json_schema" or (
        config.response_format == "json_object" and config.api_base is not None
    )
    is_silent = config.logprobs and reply.text is not None and not reply.logprobs
    logprobs = "asked for, not given" if is_silent else _yes(config.logprobs)
    if is_silent or not config.logprobs:
        logprobs += " (its reflections count by the integers that it writes)"
    seed = _yes(config.seed is not None)
    return f"schema: {_yes(has_schema)}, log-probabilities: {logprobs}, seed: {seed}"


def _yes(is_so: object) -> str:
    return "yes" if is_so else "no"


def absent(config: ModelConfig) -> str | None:
    """Return a line if nothing listens where a model of this machine is to be asked."""
    if address_kind(config.api_base) != "loopback":
        return None
    parts = urlsplit(config.api_base or "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=KNOCK_S).close()
    except ConnectionRefusedError:
        why = f"{CONNECTION_REFUSED}; {FAULTS['unreached'][CONNECTION_REFUSED]}"
        return f"model {config.player}: {why} ({config.spec.model} at {address(config)})"
    except OSError:
        return None  # the preflight says more
    return None


def address(config: ModelConfig) -> str:
    """Return where a model is asked, as users are told."""
    if config.api_base is not None:
        return printable(config.api_base)
    place = "" if config.location is None else f" in {config.location}"
    return f"its provider's own address{place}"


def _remove_if_empty(path: Path) -> None:
    if not path.exists():
        return
    with ReplyStore.open(path) as store:
        is_empty = store.count() == 0 and store.spent() == 0
    if is_empty:
        remove_store(path)
