"""An OpenAI-compatible server of one small model on the loopback, over llama.cpp.

It runs in the Python of the extra ``local``, which need not have CalBench, and serves any GGUF file
as it is: chat template and tokens that end a turn are the file's. The server of llama-cpp-python
answers one request after the other and keeps log-probabilities of the whole conversation, which
takes seconds a reply. Here requests are answered together: each step evaluates a token of every
reply that is being written, so that the weights are gone through once for all of them. Every
conversation keeps what it has read, and one that begins like another takes that over: the system
prompt of another agent, or a game in which a reflection was asked and forgotten.

Measured with Qwen2.5 1.5B on two cores with AVX-512, in milliseconds of one core for a token of a
conversation of 2,000:

- Read, 34, and 22 at its beginning; written, 150 alone, 94 of four at once. A long piece is read in
  a step of its own; what is left of it goes along with what is written.
- Every conversation that is being answered has cells of its own, and flash attention is off: with
  it and in one pool of six (``kv_unified``), a token read was compared with all of them and took
  48, in a short piece 89, and one written 103. Conversations whose numbers do not follow each other
  are evaluated one after the other.
- Cells are for what is being answered alone; all other conversations wait outside, as many bytes as
  they have read (28 kB a token), and are brought back in some hundredths of a second.
"""

import argparse
import json
import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from ctypes import POINTER, byref, c_char_p, c_uint8, create_string_buffer
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import llama_cpp
import numpy as np
from llama_cpp._internals import LlamaModel, LlamaTokenDataArray
from llama_cpp._logger import set_verbose
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_cpp.llama_grammar import json_schema_to_gbnf

LIKELIEST = 256
"""Tokens among which one is drawn [C]; if none of them fits the grammar, among all."""

DECIMALS = 4
"""Of log-probabilities [C]: in which pieces a conversation was read changes the second one already,
and more of them would be most of what is recorded."""

LONGEST = 1024
"""Most bytes of one token [C]; blanks have long ones, which llama-cpp-python leaves out."""

STEP = 512
"""Most tokens that are evaluated together [C]."""

ALONE = 64
"""Fewest tokens that are read in a step of their own [C]."""

CONTEXT = 16_384
"""Most tokens of a conversation [C], if the model was made for as many."""

AT_ONCE = 6
"""Requests that are answered at once [C]: more are faster together, and each takes longer."""

CONVERSATIONS = 24
"""Conversations that are kept beside them [C]: of six games with four agents."""

GIGABYTES = 5.0
"""Memory that these may take [C]; beyond it the oldest are forgotten."""

WAITING = "OMP_WAIT_POLICY"
"""Threads that wait for each other sleep: if they kept turning, one whose processor another program
takes would hold up the other, and a token may take thirty times as long [C]."""


class RefusedError(Exception):
    """A request that cannot be answered, and what is wrong with it in OpenAI's words."""

    def __init__(self, message: str, code: str = "invalid_value") -> None:
        super().__init__(message)
        self.code = code


class Sampling(NamedTuple):
    """How tokens are drawn: at temperature 0 the likeliest, otherwise from the nucleus."""

    temperature: float
    top_p: float
    seed: int
    most: int
    top_logprobs: int


class Written(NamedTuple):
    """A token that was written, and the likeliest at its place before any schema."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]


class Model:
    """The weights of a file, its words and its way to write a conversation."""

    def __init__(self, path: Path) -> None:
        set_verbose(False)
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        self._model = LlamaModel(path_model=str(path), params=params, verbose=False)
        self.handle, self.vocabulary = self._model.model, self._model.vocab
        self.metadata: dict[str, str] = self._model.metadata()
        self.size: int = self._model.n_vocab()
        self.trained: int = self._model.n_ctx_train()
        if (template := self.metadata.get("tokenizer.chat_template")) is None:
            raise ValueError(f"{path.name}: has no chat template")
        bos, eos = self._model.token_bos(), self._model.token_eos()
        self._formatter = Jinja2ChatFormatter(
            template,
            eos_token=self.text([eos] if eos >= 0 else []),
            bos_token=self.text([bos] if bos >= 0 else []),
        )

    def read(self, messages: Sequence[Any]) -> list[int]:
        """Return the tokens of a conversation, up to where the model's turn begins."""
        text = self._formatter(messages=messages).prompt
        tokens: list[int] = self._model.tokenize(text.encode(), add_bos=False, special=True)
        return tokens

    def text(self, tokens: Sequence[int]) -> str:
        """Return what some tokens say; several may write one character."""
        buffer = create_string_buffer(LONGEST)
        said = b""
        for token in tokens:
            size = llama_cpp.llama_token_to_piece(self.vocabulary, token, buffer, LONGEST, 0, True)
            said += buffer.raw[:size]
        return said.decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Tell whether a token ends the model's turn."""
        return bool(llama_cpp.llama_vocab_is_eog(self.vocabulary, token))


class Grammar:
    """What may be written next, by a JSON Schema."""

    def __init__(self, model: Model, schema: Mapping[str, Any]) -> None:
        grammar = json_schema_to_gbnf(json.dumps(schema)).encode()
        self._sampler = llama_cpp.llama_sampler_init_grammar(
            model.vocabulary, c_char_p(grammar), c_char_p(b"root")
        )
        if not self._sampler:
            raise ValueError("llama.cpp cannot read the grammar of this schema")

    def allowed(self, tokens: np.ndarray) -> np.ndarray:
        """Tell which of some tokens may come next."""
        array = LlamaTokenDataArray(n_vocab=len(tokens))
        array.copy_logits(np.zeros(len(tokens), dtype=np.single))
        array.candidates_data.id[:] = tokens
        llama_cpp.llama_sampler_apply(self._sampler, byref(array.candidates))
        data = array.candidates_data[: array.candidates.size]
        return np.isin(tokens, data.id[np.isfinite(data.logit)])

    def accept(self, token: int) -> None:
        """Go on behind a token."""
        llama_cpp.llama_sampler_accept(self._sampler, token)

    def __del__(self) -> None:
        if getattr(self, "_sampler", None):
            llama_cpp.llama_sampler_free(self._sampler)


@dataclass(eq=False, slots=True)
class Request:
    """One that is being answered: ``tokens`` are those asked, followed by those written."""

    thread: list[Any]
    tokens: list[int]
    sampling: Sampling
    grammar: Grammar | None
    chance: np.random.Generator
    asked: int
    place: int = -1
    written: list[Written] = field(default_factory=list)
    done: Future[list[Written]] = field(default_factory=Future)


class Part(NamedTuple):
    """Tokens to be read next in the conversation at a place, and whether a reply follows them."""

    place: int
    tokens: Sequence[int]
    is_last: bool


class Kept(NamedTuple):
    """A conversation in which nothing is being answered, and what the model has read of it."""

    thread: list[Any]
    tokens: list[int]
    state: np.ndarray

    def is_continued_by(self, thread: list[Any]) -> bool:
        """Tell whether a conversation follows from this one.

        The last question of this one may have been forgotten, as a reflection is.
        """
        own = self.thread
        return own == thread[: len(own)] or (len(own) > 2 and own[:-1] == thread[: len(own) - 1])


class Memory:
    """What the model has read: of conversations that are being answered, and of others."""

    def __init__(
        self, model: Model, cells: int, places: int, threads: int, conversations: int, most: float
    ) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_seq_max, params.kv_unified = cells, places, False
        params.n_batch = params.n_ubatch = STEP
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self._context = llama_cpp.llama_init_from_model(model.handle, params)
        if not self._context:
            raise ValueError("llama.cpp cannot make a context: is there enough memory?")
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(STEP, 0, 1)
        self._vocabulary, self._conversations, self._most = model.size, conversations, most
        self._kept: list[Kept] = []
        self.read: dict[int, list[int]] = {}

    def begin(self, place: int, thread: list[Any], tokens: Sequence[int]) -> None:
        """Begin a conversation with as much of it as any other has read."""
        wanted = tokens[:-1]  # after the last one the model is asked
        sources: list[int | Kept] = [*self.read, *self._kept]
        known = {i: _common(self._tokens(each), wanted) for i, each in enumerate(sources)}
        best = max(known, key=lambda i: known[i], default=0)
        self.read[place] = []
        if known and known[best] and self._take_over(place, sources[best]):
            self.read[place] = list(wanted[: known[best]])
            llama_cpp.llama_memory_seq_rm(self._memory, place, known[best], -1)
        continued = [each for each in self._kept if each.is_continued_by(thread)]
        if continued:
            longest = max(continued, key=lambda each: len(each.tokens))
            self._kept = [each for each in self._kept if each is not longest]

    def _tokens(self, source: int | Kept) -> list[int]:
        return self.read[source] if isinstance(source, int) else source.tokens

    def _take_over(self, place: int, source: int | Kept) -> bool:
        """Copy a conversation; return whether there was room for it."""
        if isinstance(source, int):
            llama_cpp.llama_memory_seq_cp(self._memory, source, place, -1, -1)
            return True
        size = len(source.state)
        data = source.state.ctypes.data_as(POINTER(c_uint8))
        return bool(llama_cpp.llama_state_seq_set_data(self._context, data, size, place))

    def leave(self, place: int, thread: list[Any]) -> None:
        """Keep a conversation in which nothing is being answered any more."""
        size = llama_cpp.llama_state_seq_get_size(self._context, place)
        state = np.empty(size, dtype=np.uint8)
        data = state.ctypes.data_as(POINTER(c_uint8))
        if llama_cpp.llama_state_seq_get_data(self._context, data, size, place):
            self._kept.append(Kept(thread, self.read[place], state))
        self.forget(place)
        while (
            len(self._kept) > self._conversations
            or sum(len(each.state) for each in self._kept) > self._most
        ):
            del self._kept[0]

    def forget(self, place: int) -> None:
        """Forget a conversation."""
        self.read.pop(place, None)
        llama_cpp.llama_memory_seq_rm(self._memory, place, -1, -1)

    def go_on(self, parts: Sequence[Part]) -> dict[int, np.ndarray]:
        """Read on in different conversations; return a number for each token that could follow.

        They are by place, of the conversations that were read to their end, until the next step.

        Raises:
            RuntimeError: if the model cannot be evaluated.
        """
        batch, ends, count = self._batch, {}, 0
        for place, tokens, is_last in parts:
            for position, token in enumerate(tokens, len(self.read[place])):
                batch.token[count], batch.pos[count] = token, position
                batch.n_seq_id[count], batch.seq_id[count][0] = 1, place
                batch.logits[count] = False
                count += 1
            if is_last:
                batch.logits[count - 1] = True
                ends[place] = count - 1
        batch.n_tokens = count
        if failure := llama_cpp.llama_decode(self._context, batch):
            raise RuntimeError(f"llama.cpp could not read on ({failure})")
        for place, tokens, _ in parts:
            self.read[place].extend(tokens)
        return {
            place: np.ctypeslib.as_array(
                llama_cpp.llama_get_logits_ith(self._context, end), shape=(self._vocabulary,)
            )
            for place, end in ends.items()
        }


def _common(own: Sequence[int], asked: Sequence[int]) -> int:
    """Return how many tokens two conversations begin with alike."""
    length = min(len(own), len(asked))
    if own[:length] == asked[:length]:
        return length
    return next(i for i in range(length) if own[i] != asked[i])


class Speaker:
    """The model with some conversations; one thread evaluates, those of requests wait for it."""

    def __init__(
        self,
        model: Model,
        *,
        context: int,
        at_once: int,
        threads: int,
        conversations: int,
        gigabytes: float,
    ) -> None:
        self._model = model
        self.context = min(context, model.trained or context)
        cells = at_once * self.context
        self._memory = Memory(model, cells, at_once, threads, conversations, gigabytes * 1e9)
        self._free = list(range(at_once))
        self.about = {
            "id": model.metadata.get("general.name", "local"),
            "object": "model",
            "owned_by": f"llama-cpp-python {llama_cpp.__version__}",
            "threads": threads,
            "context": self.context,
            "at_once": at_once,
            "conversations": conversations,
        }
        self._asked: SimpleQueue[Request] = SimpleQueue()
        self._waiting: deque[Request] = deque()
        self._running: list[Request] = []

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request of OpenAI's format, once it is written.

        Raises:
            RefusedError: if it cannot be answered.
            RuntimeError: if the model cannot be evaluated.
        """
        try:
            request = self._request(asked)
        except RefusedError:
            raise
        except Exception as error:  # whatever is wrong with it, the model's template included
            raise RefusedError(f"{type(error).__name__}: {error}") from error
        self._asked.put(request)
        return self._response(asked, request, request.done.result())

    def _request(self, asked: Mapping[str, Any]) -> Request:
        if not isinstance(asked["messages"], list) or not asked["messages"]:
            raise ValueError("messages: a list of one or more")
        tokens = self._model.read(asked["messages"])
        if len(tokens) >= self.context:
            raise RefusedError(
                f"This model's maximum context length is {self.context} tokens. However, your "
                f"messages resulted in {len(tokens)} tokens.",
                "context_length_exceeded",
            )
        sampling = Sampling(
            temperature=float(_given(asked, "temperature", 1.0)),
            top_p=float(_given(asked, "top_p", 1.0)),
            seed=int(_given(asked, "seed", 0)),
            most=min(int(_given(asked, "max_tokens", 256)), self.context - len(tokens)),
            top_logprobs=int(_given(asked, "top_logprobs", 0)) if asked.get("logprobs") else 0,
        )
        if not tokens or sampling.most < 1 or sampling.temperature < 0 or sampling.seed < 0:
            raise ValueError("an empty conversation, or a number out of its range")
        if not 0 <= sampling.top_logprobs <= LIKELIEST:
            raise ValueError(f"top_logprobs: from 0 to {LIKELIEST}")
        form = asked.get("response_format") or {}
        schema = form.get("schema") or (form.get("json_schema") or {}).get("schema")
        return Request(
            thread=asked["messages"],
            tokens=tokens,
            sampling=sampling,
            grammar=None if schema is None else Grammar(self._model, schema),
            chance=np.random.Generator(np.random.PCG64(sampling.seed)),
            asked=len(tokens),
        )

    def evaluate_forever(self) -> None:
        """Answer what is asked, as much as possible of it in each step."""
        while True:
            self._take_requests()
            parts = self._parts()
            try:
                logits = self._memory.go_on(parts)
            except RuntimeError as error:
                self._fail(error)
                continue
            for request in [each for each in self._running if each.place in logits]:
                self._write(request, logits[request.place])

    def _take_requests(self) -> None:
        """Begin with what was asked, in its order, as long as there are places."""
        while not self._asked.empty() or not (self._waiting or self._running):
            self._waiting.append(self._asked.get())
        while self._waiting and self._free:
            first = self._waiting.popleft()
            first.place = self._free.pop(0)
            self._running.append(first)

    def _parts(self) -> list[Part]:
        """Return what the next step reads: a piece alone, or what was written last and short ones.

        A conversation begins as late as it can, since another one may be reading its beginning.
        Short ones do not wait for a long one that came later, or they would wait for all of them.
        """
        parts = [self._part(each, 1) for each in self._running if each.written]
        count = num_written = len(parts)
        for request in self._running:
            if request.written:
                continue
            if request.place not in self._memory.read:
                self._memory.begin(request.place, request.thread, request.tokens)
            rest = len(request.tokens) - len(self._memory.read[request.place])
            if count + rest >= ALONE:
                return parts if count > num_written else [self._part(request, STEP)]
            parts.append(self._part(request, rest))
            count += rest
        return parts

    def _part(self, request: Request, most: int) -> Part:
        rest = request.tokens[len(self._memory.read[request.place]) :]
        return Part(request.place, rest[:most], len(rest) <= most)

    def _write(self, request: Request, logits: np.ndarray) -> None:
        """Write the next token of a reply."""
        try:
            token = drawn(logits, request.sampling, request.grammar, request.chance)
            request.written.append(_written(logits, token, request.sampling.top_logprobs))
            request.tokens.append(token)
            is_end = self._model.is_end(token)
            if not is_end and len(request.written) < request.sampling.most:
                if request.grammar is not None:
                    request.grammar.accept(token)
                return
        except Exception as error:  # noqa: BLE001 - the others go on
            self._leave(request)
            request.done.set_exception(error)
            return
        self._leave(request)
        request.done.set_result(request.written)

    def _leave(self, request: Request) -> None:
        self._running.remove(request)
        self._free.append(request.place)
        self._memory.leave(request.place, request.thread)

    def _fail(self, error: RuntimeError) -> None:
        """Give up what runs; what comes afterwards begins anew."""
        for request in self._running:
            self._free.append(request.place)
            self._memory.forget(request.place)
            request.done.set_exception(error)
        self._running.clear()

    def _response(
        self, asked: Mapping[str, Any], request: Request, written: Sequence[Written]
    ) -> dict[str, Any]:
        is_done = self._model.is_end(written[-1].token)
        said = written[:-1] if is_done else written
        choice: dict[str, Any] = {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": self._model.text([each.token for each in said]),
            },
            "finish_reason": "stop" if is_done else "length",
        }
        if request.sampling.top_logprobs:
            choice["logprobs"] = {"content": list(self._logprobs(said))}
        return {
            "id": "reply",
            "object": "chat.completion",
            "created": 0,
            "model": str(asked.get("model", "local")),
            "choices": [choice],
            "usage": {
                "prompt_tokens": request.asked,
                "completion_tokens": len(written),
                "total_tokens": request.asked + len(written),
            },
        }

    def _logprobs(self, said: Sequence[Written]) -> Iterator[dict[str, Any]]:
        for each in said:
            yield {
                "token": self._model.text([each.token]),
                "logprob": each.logprob,
                "top_logprobs": [
                    {"token": self._model.text([token]), "logprob": logprob}
                    for token, logprob in each.top
                ],
            }


def _given(asked: Mapping[str, Any], name: str, otherwise: float) -> Any:
    value = asked.get(name)
    return otherwise if value is None else value


def likeliest(logits: np.ndarray, count: int) -> np.ndarray:
    """Return the ``count`` likeliest tokens, the likeliest first.

    Sorting a vocabulary takes longer than drawing. As many stretches of it have a greatest number
    of at least the ``count``-th such number, so all that are sought are at least that.
    """
    size = len(logits)
    if size <= count:
        return np.argsort(-logits, kind="stable")
    width = max(1, size // (4 * count))
    greatest = logits[: size // width * width].reshape(width, -1).max(axis=0)
    least = np.partition(greatest, -count)[-count]
    found = np.flatnonzero(logits >= least)
    return found[np.argsort(-logits[found], kind="stable")][:count]


def drawn(
    logits: np.ndarray, sampling: Sampling, grammar: Grammar | None, chance: np.random.Generator
) -> int:
    """Return a token that the grammar allows.

    One is drawn from all first, and only if it does not fit from those that do, as llama.cpp's own
    server does it: to ask the grammar about every token takes longer than the model.

    Raises:
        RuntimeError: if it allows none.
    """
    found = likeliest(logits, LIKELIEST)
    token = _of_nucleus(logits, found, sampling, chance)
    if grammar is None or grammar.allowed(np.array([token])).all():
        return token
    for tokens in (found, np.argsort(-logits, kind="stable")):
        fitting = tokens[grammar.allowed(tokens)]
        if len(fitting):
            return _of_nucleus(logits, fitting, sampling, chance)
    raise RuntimeError("the grammar allows no token")


def _of_nucleus(
    logits: np.ndarray, tokens: np.ndarray, sampling: Sampling, chance: np.random.Generator
) -> int:
    """Draw one of some tokens, the likeliest first: of the fewest that have the share ``top_p``."""
    if sampling.temperature == 0:
        return int(tokens[0])
    weights = np.exp(logits[tokens].astype(np.float64) - float(logits[tokens[0]]))
    shares = weights / weights.sum()
    nucleus = int(np.searchsorted(np.cumsum(shares), sampling.top_p)) + 1
    sharp = shares[:nucleus] ** (1 / sampling.temperature)
    place = int(np.searchsorted(np.cumsum(sharp / sharp.sum()), chance.random(), side="right"))
    return int(tokens[min(place, len(sharp) - 1)])


def _written(logits: np.ndarray, token: int, count: int) -> Written:
    """Return a token with its log-probability and those of the likeliest."""
    if not count:
        return Written(token, 0.0, ())
    greatest = logits.max()
    # Summed in 64 bits, which is what four decimals need.
    whole = float(greatest) + float(np.log(np.exp(logits - greatest).sum(dtype=np.float64)))

    def logprob(each: int) -> float:
        return round(float(logits[each]) - whole, DECIMALS)

    top = tuple((int(each), logprob(each)) for each in likeliest(logits, count))
    return Written(token, logprob(token), top)


def handler(speaker: Speaker) -> type[BaseHTTPRequestHandler]:
    """Return what answers requests with the model's replies."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [speaker.about]})

        def do_POST(self) -> None:
            try:
                length = int(self.headers.get("content-length", 0))
                asked = json.loads(self.rfile.read(length))
                self._send(200, speaker.answer(asked))
            except RefusedError as error:
                self._send(400, _error(str(error), error.code))
            except (ValueError, RecursionError) as error:
                self._send(400, _error(repr(error), "invalid_value"))
            except Exception as error:  # noqa: BLE001 - no request ends the server
                sys.stderr.write(f"{error!r}\n")
                self._send(500, _error(repr(error), "server_error"))

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _error(message: str, code: str) -> dict[str, Any]:
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": "messages", "code": code}}


class Server(ThreadingHTTPServer):
    """Takes each request in a thread of its own, many at the same moment."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    """Serve until the process is ended."""
    if WAITING not in os.environ:  # OpenMP reads it when it is loaded
        environment = {**os.environ, WAITING: "passive"}
        words = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, words, environment)  # noqa: S606 - this program itself
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--context", type=int, default=CONTEXT)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES)
    given = parser.parse_args()
    speaker = Speaker(
        Model(given.model),
        context=given.context,
        at_once=given.at_once,
        threads=given.threads,
        conversations=given.conversations,
        gigabytes=given.gigabytes,
    )
    server = Server(("127.0.0.1", given.port), handler(speaker))
    Thread(target=server.serve_forever, daemon=True).start()
    speaker.evaluate_forever()


if __name__ == "__main__":
    main()
