"""The models of the cohorts, and what recording them took -> data/published.

No stage of the pipeline, since traces have no clock: ``make record-local`` writes it.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from calbench.config.composition import composed, run_spec
from calbench.config.groups import known_names
from calbench.files import write_atomically
from calbench.llm.replies.record import Record
from calbench.llm.replies.shards import open_replies
from calbench.runs.source import reply_source
from stages import paths
from tests.studies.local_model import ModelFile, read_models
from tests.studies.record_local import Recorded, read_recorded

RECORDINGS = paths.DATA / "published" / "recordings.csv"

MODELS = paths.DATA / "published" / "models.csv"


def rows_of(experiment: str) -> list[dict[str, object]]:
    """Return what recorded replies of an experiment of the site took, by model; nothing without."""
    found = composed([f"+experiment={experiment}"])
    if found.site is None or found.replies.mode != "replay":
        return []
    spec = run_spec(found)
    source = reply_source(spec)
    if source is None or source.store is None:
        return []
    by_model: dict[str, list[Record]] = {}
    with open_replies(source.store) as store:
        for record in store.records():
            by_model.setdefault(record.model, []).append(record)
    notes = {
        each.spec.model: read_recorded(note)
        for player, each in spec.models.items()
        if (note := source.store.with_name(f"recording-{player}.json")).exists()
    }
    title = spec.site.title if spec.site and spec.site.title else experiment
    return [
        _row(title, model, records, notes.get(model, Recorded()))
        for model, records in sorted(by_model.items())
    ]


def _row(title: str, model: str, records: Sequence[Record], about: Recorded) -> dict[str, object]:
    usages = [record.usage for record in records if record.usage is not None]
    seconds = sum(attempt.latency_s for record in records for attempt in record.attempts)
    if about.replies:  # several replies were written at once
        seconds = 3600 * about.hours
    return {
        "experiment": title,
        "model": model.rpartition("/")[2],
        "replies": len(records),
        "input_tokens": sum(usage.input_tokens for usage in usages),
        "output_tokens": sum(usage.output_tokens for usage in usages),
        "seconds": f"{seconds:.0f}",
        "seconds_per_reply": f"{seconds / len(records):.1f}",
    }


def models() -> Iterator[dict[str, object]]:
    """Yield the models of all cohorts, the smallest first; one that is in several once."""
    found: dict[str, ModelFile] = {}
    for path in sorted((paths.DATA / "cohorts").glob("*/models.json")):
        for model in read_models(path.parent):
            known = found.get(model.sha256)
            players = (*(known.players if known else ()), *model.players)
            found[model.sha256] = model.model_copy(update={"players": tuple(sorted(players))})
    for model in sorted(found.values(), key=lambda each: each.parameters):
        yield {**model.model_dump(), "players": " ".join(model.players)}


def main(_: list[str]) -> None:
    """Write the tables."""
    rows = [row for name in known_names("experiment") for row in rows_of(name)]
    for path, found in ((RECORDINGS, rows), (MODELS, [*models()])):
        write_atomically(path, pd.DataFrame(found).to_csv(index=False).encode())


if __name__ == "__main__":
    paths.answer(main)
