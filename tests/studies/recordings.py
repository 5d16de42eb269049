"""What the recorded replies of the cohorts took -> data/published/recordings.csv.

No stage of the pipeline, since traces have no clock: ``make record-local`` writes it.
"""

import pandas as pd

from calbench.config.composition import composed, run_spec
from calbench.config.groups import known_names
from calbench.files import write_atomically
from calbench.llm.replies.shards import open_replies
from calbench.runs.source import reply_source
from stages import paths
from tests.studies.record_local import read_recorded

RECORDINGS = paths.DATA / "published" / "recordings.csv"


def row_of(experiment: str) -> dict[str, object] | None:
    """Return what recorded replies of an experiment of the site took; nothing if it has none."""
    found = composed([f"+experiment={experiment}"])
    if found.site is None or found.replies.mode != "replay":
        return None
    spec = run_spec(found)
    source = reply_source(spec)
    if source is None or source.store is None:
        return None
    with open_replies(source.store) as store:
        records = list(store.records())
    usages = [record.usage for record in records if record.usage is not None]
    seconds = sum(attempt.latency_s for record in records for attempt in record.attempts)
    about = read_recorded(source.store.with_name("recording.json"))
    if about.replies:  # several replies were written at once
        seconds = 3600 * about.hours
    return {
        "experiment": spec.site.title if spec.site and spec.site.title else experiment,
        "replies": len(records),
        "input_tokens": sum(usage.input_tokens for usage in usages),
        "output_tokens": sum(usage.output_tokens for usage in usages),
        "seconds": f"{seconds:.0f}",
        "seconds_per_reply": f"{seconds / max(len(records), 1):.1f}",
    }


def main(_: list[str]) -> None:
    """Write the table."""
    rows = [row for name in known_names("experiment") for row in [row_of(name)] if row is not None]
    write_atomically(RECORDINGS, pd.DataFrame(rows).to_csv(index=False).encode())


if __name__ == "__main__":
    paths.answer(main)
