"""Asking again: a sample of the replies of a submission beside what its model says now.

The sample follows from the submission's id, and so from every reply in it: who changes one has
another sample. It is asked with the sampling that was recorded, through the client of every run:
money is capped, replies are on disk before they are used, and the same command resumes.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import ceil, log
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calbench.agents.base import CallSite, Completer
from calbench.config.spec import RunSpec
from calbench.console import noting_interrupt
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import first_problem, printable, read_bytes, write_atomically
from calbench.llm.completion import Completion, Request, TokenLogprob
from calbench.llm.litellm_transport import ask_litellm
from calbench.llm.replies.record import Digest, Record
from calbench.llm.replies.shards import open_replies
from calbench.llm.transport import Transport
from calbench.runs.source import ModelAudit, auditing_source, auditing_spec
from calbench.stats.proportions import wilson
from calbench.submissions.check import Checked, check
from calbench.submissions.folder import REPLIES_FOLDER, SUBMISSION, document_bytes
from calbench.traces.catalog import CODE_NOTE

REPORT = "again.json"
"""What came of asking again, beside the replies that came."""

ANSWERS = "again.sqlite"
"""The replies that came: not the store of a run, which would answer in the model's place."""

LENGTH_BAND = 1.25
"""Most by which the longer of two replies exceeds the other [C]. Of 481 pairs of replies of one
small model to what it was asked twice (data/cohorts/smollm2, temperature 0.2) 91 to 98% are within
it, of 23 pairs of two models of one family (data/cohorts/delegates) 74%, none of them equal."""

LOGPROB_BAND = 0.3
"""Most by which the mean log-probabilities of their tokens differ, in nats [C]: of 93 such pairs
of one model 95% are within 0.29."""

LEAST_WITHIN = 0.9
"""Share of pairs within a band that one model has at least [C]: the least of the above."""

LEAST_EXACT = 0.5
"""Share of equal texts that one model has at least at temperature 0 [C]: providers compute in
batches, so a token may change and what follows it; of the pairs above at 0.2, 54 to 81% are equal,
and none of two models."""

Criterion = Literal["exact text", "length", "log-probability"]


class Agreement(BaseModel):
    """How many of some pairs of replies agree by one criterion.

    Attributes:
        criterion: of agreement.
        pairs: that it applies to.
        agreeing: of these.
        high: upper end of the 95% interval of the share.
        least: the share that one model has at least.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    criterion: Criterion
    pairs: Annotated[int, Field(ge=1)]
    agreeing: Annotated[int, Field(ge=0)]
    high: float
    least: float

    @property
    def holds(self) -> bool:
        """Whether the share may be that of one model."""
        return self.high >= self.least


class Report(BaseModel):
    """What came of asking again.

    Attributes:
        id: of the submission.
        model: that was asked.
        share: of its replies that were asked for.
        replies: of it in the submission.
        sampled: of these.
        exact: of these, replies with the same text, at any temperature.
        others: replies now that say another model answered.
        agreements: by criterion.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Digest
    model: str
    share: float
    replies: int
    sampled: int
    exact: int
    others: int
    agreements: tuple[Agreement, ...]

    @property
    def agrees(self) -> bool:
        """Whether all of it may be of one model, and no other is said to have answered."""
        return not self.others and all(each.holds for each in self.agreements)

    def __str__(self) -> str:
        """Say it in a few words."""
        parts = [f"{each.agreeing} of {each.pairs} by {each.criterion}" for each in self.agreements]
        said = [f"{self.others} by another model"] if self.others else []
        return f"{'agrees' if self.agrees else 'differs'}: {', '.join([*parts, *said])}"


def ask_again(
    folder: Path,
    share: float,
    settings: Sequence[str],
    out: Path,
    transport: Transport = ask_litellm,
) -> Report:
    """Ask for a sample of the replies of one model of a submission again, and compare.

    Args:
        folder: of the submission, whose check holds.
        share: of its replies, above 0 and at most 1.
        settings: overrides that name the model, its address and a cap.
        out: folder for the replies that come, and for the report.
        transport: how models are asked.

    Raises:
        CalbenchError: the settings or the folder do not fit, the submission does not hold or has
            no replies of the model, or it cannot be asked; replies that came are kept.
    """
    spec = auditing_spec(settings)
    _check_places(spec, out)
    checked = _checked(folder)
    (player, model), *_ = spec.models.items()
    sample, total = _sampled(folder / REPLIES_FOLDER, checked.id, model.spec.model, share)
    replies: dict[str, Completion] = {}

    async def ask(asked: tuple[Record, Request], completer: Completer) -> None:
        record, request = asked  # of which game and agent, no record says
        site = CallSite(player, f"reply {record.key[:12]}", AgentId(0), 0, Phase.CHEAP_TALK, 0, 0)
        replies[record.key] = await completer.complete(request, site)

    kept = spec.replies.model_copy(update={"path": str(out / ANSWERS)})
    source = auditing_source(spec.model_copy(update={"replies": kept}), transport)
    with noting_interrupt(lambda: f"Stopped; replies that came are in {out}") as is_stopping:
        ModelAudit(sample, "replies are there", ask, spec, is_stopping).run(source, "asked")
    pairs = [(record, replies[record.key]) for record, _ in sample]
    name = model.spec.model
    report = Report(
        id=checked.id,
        model=name,
        share=share,
        replies=total,
        sampled=len(pairs),
        exact=sum(one.text == other.text for one, other in pairs),
        others=sum(bool((by := new.provenance) and by.is_other(name)) for _, new in pairs),
        agreements=tuple(_agreements(pairs, spec)),
    )
    write_atomically(out / REPORT, document_bytes(report))
    return report


def _check_places(spec: RunSpec, out: Path) -> None:
    """Refuse another store, and a folder in a run or a submission or with files of others."""
    if spec.replies.path is not None:
        raise ConfigError(f"replies.path: replies that come are kept in out={out}; leave it out")
    place = out.resolve()
    for above in (place, *place.parents):
        is_run = (above / CODE_NOTE).is_file() and (above / "traces").is_dir()
        if is_run or (above / SUBMISSION).is_file():
            raise OutputError(f"out={out}: lies in the run or submission {above}; name another")
    for name in sorted(path.name for path in place.glob("*")):
        if not name.lstrip(".").startswith("again."):
            raise OutputError(f"out={out}: holds {printable(name)}; name a folder of its own")


def _checked(folder: Path) -> Checked:
    """Return what a check says of a submission that holds."""
    checked = check(folder)
    if checked.problems:
        raise FileError(f"{folder}: is refused, so nothing is asked: {checked.problems[0]}")
    return checked


def _sampled(
    folder: Path, found_id: str, model: str, share: float
) -> tuple[list[tuple[Record, Request]], int]:
    """Return the sample of a model's replies that an id draws, and how many there are.

    With each is what it was asked for.
    """
    if not folder.is_dir():
        raise FileError(f"{folder}: is not there, so there is nothing to ask again")
    with open_replies(folder) as store:
        records = [record for record in store.records() if record.model == model]
        if not records:
            known = sorted({printable(record.model) for record in store.records()})
            raise ConfigError(
                f"{printable(model)} gave none of the replies in {folder}; those are of "
                f"{', '.join(known)}: name one with model=ID, or model.name=NAME"
            )
        records.sort(key=lambda record: sha256(f"{found_id}:{record.key}".encode()).digest())
        drawn = records[: ceil(share * len(records))]
        return [(record, store.request(record).request) for record in drawn], len(records)


def _agreements(pairs: Sequence[tuple[Record, Completion]], spec: RunSpec) -> Iterator[Agreement]:
    """Yield how many pairs agree by each criterion that applies to any."""
    exact = [one.text == other.text for one, other in pairs if one.sampling.temperature == 0]
    warm = [(one, other) for one, other in pairs if one.sampling.temperature != 0]
    lengths = [
        abs(log((1 + len(one.text or "")) / (1 + len(other.text or "")))) <= log(LENGTH_BAND)
        for one, other in warm
    ]
    likely = [
        abs(_mean(one.logprobs) - _mean(other.logprobs)) <= LOGPROB_BAND
        for one, other in warm
        if one.logprobs and other.logprobs
    ]
    found: list[tuple[Criterion, list[bool], float]] = [
        ("exact text", exact, LEAST_EXACT),
        ("length", lengths, LEAST_WITHIN),
        ("log-probability", likely, LEAST_WITHIN),
    ]
    for criterion, agree, least in found:
        share = wilson(sum(agree), len(agree), spec.analysis)
        if share is not None:
            counts = {"pairs": len(agree), "agreeing": sum(agree)}
            yield Agreement(criterion=criterion, high=share.high, least=least, **counts)


def _mean(logprobs: Sequence[TokenLogprob]) -> float:
    return sum(each.logprob for each in logprobs) / len(logprobs)


def read_reports(folder: Path) -> dict[str, Report]:
    """Return the reports in the folders of a folder, by the id of the submission.

    Raises:
        FileError: one of them is no report.
    """
    found: dict[str, Report] = {}
    for path in sorted(folder.glob(f"*/{REPORT}")):
        try:
            report = Report.model_validate_json(read_bytes(path, is_found=True))
        except ValidationError as error:
            raise FileError(f"{printable(str(path))}: {first_problem(error)}") from error
        found[report.id] = report
    return found
