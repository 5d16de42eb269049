"""An OpenAI-compatible server of one small model on the loopback, over llama.cpp.

It runs in the Python of the extra ``local``, which need not have CalBench, and serves one request
at a time. The server of llama-cpp-python gives the same replies, but it reads a conversation again
from the point where the last request left it, and for log-probabilities it keeps those of the whole
conversation, which takes seconds a reply. Here each of some conversations keeps what it has read,
and only what is written has log-probabilities.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import llama_cpp
import numpy as np
from llama_cpp._internals import LlamaTokenDataArray
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_cpp.llama_grammar import json_schema_to_gbnf

LIKELIEST = 256
"""Tokens among which one is drawn [C]; if none of them fits the grammar, among all."""

DECIMALS = 4
"""Of log-probabilities [C]: in which pieces a conversation was read changes the second one already,
and more of them would be most of what is recorded."""


def in_8_bits(path: str, target: str) -> None:
    """Write a model with weights of 8 bits, which a processor reads twice as fast as its 4 bits.

    What is lost is at most a 254th of the greatest weight in 32.
    """
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0
    options.allow_requantize, options.nthread = True, 1
    if llama_cpp.llama_model_quantize(path.encode(), target.encode(), byref(options)):
        raise ValueError("llama.cpp could not read the model's weights")


class TooLongError(Exception):
    """A conversation that leaves no room for a reply."""


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


class Memory:
    """What a context of the model has read, for each of some conversations."""

    def __init__(self, llama: llama_cpp.Llama, context: int, conversations: int) -> None:
        params = llama.context_params
        params.n_ctx, params.n_seq_max = context * conversations, conversations
        params.kv_unified = False  # a conversation does not look at the others
        self._context = llama_cpp.llama_init_from_model(llama.model, params)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(llama.n_batch, 0, 1)
        self._vocabulary, self._most = llama.n_vocab(), llama.n_batch
        self.read: list[list[int]] = [[] for _ in range(conversations)]

    def shared(self, place: int, tokens: Sequence[int]) -> int:
        """Return how many tokens at the beginning a conversation has read already."""
        count = 0
        for own, asked in zip(self.read[place], tokens, strict=False):
            if own != asked:
                break
            count += 1
        return count

    def turn(self, place: int, tokens: Sequence[int]) -> None:
        """Read these tokens in a conversation, and forget what else it was.

        A beginning that another one shares is copied.
        """
        places = range(len(self.read))
        other = max(places, key=lambda each: (self.shared(each, tokens), each == place))
        if other != place:
            llama_cpp.llama_memory_seq_rm(self._memory, place, -1, -1)
            llama_cpp.llama_memory_seq_cp(self._memory, other, place, -1, -1)
            self.read[place] = list(self.read[other])
        kept = min(self.shared(place, tokens), len(tokens) - 1)  # the last gives what comes next
        llama_cpp.llama_memory_seq_rm(self._memory, place, kept, -1)
        del self.read[place][kept:]
        self.go_on(place, tokens[kept:])

    def go_on(self, place: int, tokens: Sequence[int]) -> None:
        """Read further tokens."""
        for at in range(0, len(tokens), self._most):
            part = tokens[at : at + self._most]
            batch, before = self._batch, len(self.read[place])
            batch.n_tokens = len(part)
            for i, token in enumerate(part):
                batch.token[i], batch.pos[i] = token, before + i
                batch.n_seq_id[i], batch.seq_id[i][0] = 1, place
                batch.logits[i] = i == len(part) - 1
            if llama_cpp.llama_decode(self._context, batch):
                raise RuntimeError("llama.cpp could not read on")
            self.read[place].extend(part)

    def logits(self) -> np.ndarray:
        """Return a number for each token that could come next where it was read last."""
        logits = llama_cpp.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(logits, shape=(self._vocabulary,)).copy()


class Grammar:
    """What may be written next, by a JSON Schema."""

    def __init__(self, llama: llama_cpp.Llama, schema: Mapping[str, Any]) -> None:
        grammar = json_schema_to_gbnf(json.dumps(schema)).encode()
        self._sampler = llama_cpp.llama_sampler_init_grammar(
            llama_cpp.llama_model_get_vocab(llama.model), c_char_p(grammar), c_char_p(b"root")
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

    def close(self) -> None:
        """Free its memory."""
        llama_cpp.llama_sampler_free(self._sampler)


@contextmanager
def grammar_of(
    llama: llama_cpp.Llama, schema: Mapping[str, Any] | None
) -> Iterator[Grammar | None]:
    """Yield the grammar of a schema, if there is one."""
    if schema is None:
        yield None
        return
    grammar = Grammar(llama, schema)
    try:
        yield grammar
    finally:
        grammar.close()


class Speaker:
    """The model with some conversations."""

    def __init__(self, path: str, context: int, conversations: int) -> None:
        with TemporaryDirectory() as folder:
            weights = str(Path(folder, "weights.gguf"))
            in_8_bits(path, weights)
            self._llama = llama_cpp.Llama(
                weights, n_ctx=context, n_threads=1, n_threads_batch=1, verbose=False
            )
        self._context = context
        self._memory = Memory(self._llama, context, conversations)
        self._threads: dict[int, list[Any]] = {place: [] for place in range(conversations)}
        self._end = self._llama.token_eos()
        self._formatter = Jinja2ChatFormatter(
            self._llama.metadata["tokenizer.chat_template"],
            eos_token=self._text([self._end]),
            bos_token=self._text([self._llama.token_bos()]),
        )

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request of OpenAI's format."""
        text = self._formatter(messages=asked["messages"]).prompt
        tokens = self._llama.tokenize(text.encode(), add_bos=False, special=True)
        if len(tokens) >= self._context:
            raise TooLongError(
                f"This model's maximum context length is {self._context} tokens. However, your "
                f"messages resulted in {len(tokens)} tokens."
            )
        sampling = Sampling(
            temperature=float(asked.get("temperature", 1.0)),
            top_p=float(asked.get("top_p", 1.0)),
            seed=int(asked.get("seed", 0)),
            most=min(int(asked.get("max_tokens", 256)), self._context - len(tokens)),
            top_logprobs=int(asked.get("top_logprobs", 0)) if asked.get("logprobs") else 0,
        )
        place = self._place_of(asked["messages"])
        self._memory.turn(place, tokens)
        with grammar_of(self._llama, (asked.get("response_format") or {}).get("schema")) as grammar:
            written = list(self._write(place, sampling, grammar))
        is_done = bool(written) and written[-1].token == self._end
        said = written[:-1] if is_done else written
        return self._response(said, len(tokens), len(written), is_done, sampling.top_logprobs)

    def _place_of(self, thread: list[Any]) -> int:
        """Return where a conversation is that this one continues, or the one left alone longest.

        The last question of a conversation may have been forgotten, as a reflection is.
        """
        known = [
            place for place, own in self._threads.items() if own[:-1] == thread[: len(own) - 1]
        ]
        place = max(known or list(self._threads)[:1], key=lambda each: len(self._threads[each]))
        if not self._threads[place][:-1]:
            place = next(iter(self._threads))
        del self._threads[place]
        self._threads[place] = thread
        return place

    def _write(self, place: int, sampling: Sampling, grammar: Grammar | None) -> Iterator[Written]:
        chance = np.random.Generator(np.random.PCG64(sampling.seed))
        for count in range(sampling.most):
            logits = self._memory.logits()
            token = drawn(logits, sampling, grammar, chance)
            yield self._written(logits, token, sampling.top_logprobs)
            if token == self._end:
                return
            if grammar is not None:
                grammar.accept(token)
            if count + 1 < sampling.most:
                self._memory.go_on(place, [token])

    def _written(self, logits: np.ndarray, token: int, likeliest: int) -> Written:
        if not likeliest:
            return Written(token, 0.0, ())
        exact = logits.astype(np.float64)
        logprobs = exact - exact.max()
        logprobs -= np.log(np.exp(logprobs).sum())
        top = np.argpartition(-logprobs, likeliest)[:likeliest]
        top = top[np.lexsort((top, -logprobs[top]))]
        return Written(
            token,
            round(float(logprobs[token]), DECIMALS),
            tuple((int(each), round(float(logprobs[each]), DECIMALS)) for each in top),
        )

    def _text(self, tokens: Sequence[int]) -> str:
        said: bytes = self._llama.detokenize(list(tokens), special=True)
        return said.decode("utf-8", "replace")

    def _response(
        self, said: Sequence[Written], asked: int, written: int, is_done: bool, likeliest: int
    ) -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": self._text([each.token for each in said])},
            "finish_reason": "stop" if is_done else "length",
        }
        if likeliest:
            choice["logprobs"] = {
                "content": [
                    {
                        "token": self._text([each.token]),
                        "logprob": each.logprob,
                        "top_logprobs": [
                            {"token": self._text([token]), "logprob": logprob}
                            for token, logprob in each.top
                        ],
                    }
                    for each in said
                ]
            }
        return {
            "id": "reply",
            "object": "chat.completion",
            "created": 0,
            "model": "smollm2",
            "choices": [choice],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": written,
                "total_tokens": asked + written,
            },
        }


def drawn(
    logits: np.ndarray, sampling: Sampling, grammar: Grammar | None, chance: np.random.Generator
) -> int:
    """Return a token that the grammar allows.

    One is drawn from all first, and only if it does not fit from those that do, as llama.cpp's own
    server does it: to ask the grammar about every token takes longer than the model.
    """
    likeliest = np.argpartition(-logits, LIKELIEST)[:LIKELIEST]
    likeliest = likeliest[np.lexsort((likeliest, -logits[likeliest]))]
    token = _of_nucleus(logits, likeliest, sampling, chance)
    if grammar is None or grammar.allowed(np.array([token])).all():
        return token
    for tokens in (likeliest, np.argsort(-logits, kind="stable")):
        fitting = tokens[grammar.allowed(tokens)]
        if len(fitting):
            return _of_nucleus(logits, fitting, sampling, chance)
    raise ValueError("the grammar allows no token")


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


def handler(speaker: Speaker) -> type[BaseHTTPRequestHandler]:
    """Return what answers requests with the model's replies."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            try:
                self._send(200, speaker.answer(json.loads(self.rfile.read(length))))
            except TooLongError as error:
                self._send(400, _error(str(error), "context_length_exceeded"))
            except (ValueError, KeyError, RuntimeError) as error:
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


def main() -> None:
    """Serve until the process is ended."""
    words = argparse.ArgumentParser()
    words.add_argument("--model", required=True)
    for name in ("port", "context", "conversations"):
        words.add_argument(f"--{name}", type=int, required=True)
    given = words.parse_args()
    speaker = Speaker(given.model, given.context, given.conversations)
    HTTPServer(("127.0.0.1", given.port), handler(speaker)).serve_forever()


if __name__ == "__main__":
    main()
