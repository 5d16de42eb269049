"""Cases of the judge -> what a small model answers to its prompt, beside the scripted judge.

A case is what one agent received in one round. ``python -m tests.studies.judge --file model.gguf``
asks the model about cases that are drawn by a seed from games of scripted speakers and of recorded
models, keeps what it replied in ``data/audit_sample/judge_replies`` and writes
``data/published/judge.csv``: how far it agrees with the rules, and how often either is right.
Without a file the recorded replies are read, and nobody is asked. Asking needs the extra ``local``
and half an hour, goes on where it was, and nothing runs it but people: again if the judge's prompt,
its rules or the games changed. Nothing is ranked by it.
"""

import os
import random
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from calbench.agents.base import Completer
from calbench.agents.judging import ModelJudge, judge_prompt
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.console import say
from calbench.errors import OutputError
from calbench.files import write_atomically
from calbench.llm.replies.database import remove_store
from calbench.llm.replies.shards import open_replies, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.metrics.judge.cases import RoundCase, Verdict, cases_of, verdict_of
from calbench.runs.source import ModelAudit, auditing_spec, reply_source
from calbench.traces.storage import read_trace
from stages import paths
from tests.studies.judge_agreement import Judged, table
from tests.studies.local_model import find_model, read_models, serving
from tests.studies.record_local import asking, keep, play, put_in_place, replaying, take_over

TABLE: Final = paths.DATA / "published" / "judge.csv"

REPLIES: Final = paths.DATA / "audit_sample" / "judge_replies"

PLAYER: Final = "qwen-1.5b"
"""The model that judges, as games call it."""

SETTINGS: Final = (f"model={PLAYER}", "model.max_tokens=512", "replies.mode=record")
"""As in its games but for the longest reply, in tokens [C]: 64 integers and blanks take 300."""

DRAWN: Final[Mapping[str, int]] = {
    "language-private": 40,
    "delegates": 50,
    "delegates-paper": 20,
    "delegates-participants": 20,
    "delegates-everyone": 20,
}
"""Cases of each experiment [C]: the first has scripted speakers, the others recorded models."""

SEED: Final = 0
"""Of that draw [C]."""


class Heard(NamedTuple):
    """A case: of which kind the speakers are that it is drawn for, and the scenario of its game."""

    kind: str
    scenario: str
    case: RoundCase


def heard(experiment: str) -> Iterator[Heard]:
    """Play an experiment's teams of scripted speakers, or of models; yield what these told others.

    Raises:
        OutputError: if a game that was recorded does not replay.
    """
    spec = compose([f"+experiment={experiment}"])
    kind = "model" if spec.models else "scripted"
    teams = tuple(team for team in spec.teams if any(seat.kind == kind for seat in team.seats))
    with TemporaryDirectory() as folder:
        play(spec.model_copy(update={"teams": teams}), Path(folder))
        for path in sorted(Path(folder).rglob("*.json")):
            trace = read_trace(path)
            for case in cases_of(trace):
                senders = {each.sender for each in case.case.messages if each.sender is not None}
                if any(trace.config.team.seat_of(sender).kind == kind for sender in senders):
                    yield Heard(kind, trace.scenario.scenario_id, case)


def drawn(found: Iterable[Heard], number: int, name: str) -> list[Heard]:
    """Return some cases, each with a prompt of its own, the same in every order."""
    in_order = sorted(found, key=lambda each: (each.case.game_id, each.case.round))
    by_prompt = {judge_prompt(each.case.case): each for each in in_order}
    chosen = random.Random(f"{SEED} {name}").sample(sorted(by_prompt), number)
    return [by_prompt[prompt] for prompt in chosen]


# --- asking


def asked(cases: Sequence[RoundCase], spec: RunSpec) -> list[Verdict]:
    """Return what a run's model answers to the judge's prompt about each case, or once answered.

    Raises:
        CalbenchError: what cannot be asked, or is not recorded; replies that came are kept.
    """
    ((player, model),) = spec.models.items()
    found: dict[int, Verdict] = {}

    async def ask(place: int, completer: Completer) -> None:
        judge, case = ModelJudge(completer, model.spec), cases[place]
        found[place] = verdict_of(case, await judge.judge(case.case, case.site(player)))

    source = reply_source(spec, "python -m tests.studies.judge --file FILE")
    assert source is not None
    audit = ModelAudit(range(len(cases)), "cases are judged", ask, spec, lambda: False)
    audit.run(source, "judged")
    return [found[place] for place in range(len(cases))]


def record(cases: Sequence[RoundCase], url: str, store: Path, target: Path, at_once: int) -> None:
    """Ask the model at an address what is not recorded, and replace what is by all replies.

    Args:
        cases: that are asked about.
        url: where the model is asked.
        store: file of the replies until all came.
        target: folder of the recorded replies.
        at_once: requests that are made at once.

    Raises:
        CalbenchError: the model does not answer, or its replies do not replay.
    """
    spec = auditing_spec(SETTINGS)
    take_over(target, store)
    found = asked(cases, asking(spec, url, store, at_once))
    with TemporaryDirectory() as scratch:
        shards = Path(scratch, "replies")
        with open_replies(store) as replies, ReplyStore.in_memory() as used:
            keep(replies, {str(each.key) for each in found}, used)
            write_shards(shards, used)
            usages = [each.usage for each in used.records() if each.usage is not None]
        if asked(cases, replaying(spec, shards)) != found:
            raise OutputError("the recorded replies do not replay to the same answers: a bug")
        put_in_place(target, shards)
    read = sum(usage.input_tokens for usage in usages)
    written = sum(usage.output_tokens for usage in usages)
    say(f"{target}: {len(usages)} replies, {read:,} tokens read, {written:,} written")


def main(words: list[str]) -> None:
    """Ask the model if its file is given, and write what it answered beside the rules."""
    parser = ArgumentParser("judge", description=__doc__)
    parser.add_argument("--file", type=Path, help="the model, a GGUF file; else nobody is asked")
    parser.add_argument("--at-once", type=int, default=4, help="cases at once")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args(words)
    # Whoever ends this process means its server too.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    found = [each for name, number in DRAWN.items() for each in drawn(heard(name), number, name)]
    cases = [each.case for each in found]
    if given.file is not None:
        known = read_models(paths.DATA / "cohorts" / "delegates")
        _, python, file = find_model([each for each in known if PLAYER in each.players], given.file)
        begun = paths.BUILD / "judge"
        begun.mkdir(parents=True, exist_ok=True)
        store = begun / f"{PLAYER}.sqlite"
        options = {"context": 4096, "at_once": given.at_once, "conversations": 2 * given.at_once}
        with serving(python, file, begun / "server.log", threads=given.threads, **options) as url:
            record(cases, url, store, REPLIES, given.at_once)
        remove_store(store)
    answers = asked(cases, replaying(auditing_spec(SETTINGS), REPLIES))
    judged = [Judged(*each[:2], answer) for each, answer in zip(found, answers, strict=True)]
    text = table(judged).round(4).to_csv(index=False)
    write_atomically(TABLE, text.encode())


if __name__ == "__main__":
    paths.answer(main)
