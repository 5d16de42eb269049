"""Labelled messages -> data/tables/audit_sample.csv: how right the audits of language are."""

from calbench.analysis.audit_sample import write_sample_table
from calbench.console import say
from calbench.metrics.speech.sample import read_sample
from stages import paths

MESSAGES = paths.DATA / "audit_sample" / "messages.jsonl"
TABLE = paths.DATA / "tables" / "audit_sample.csv"


def main(_arguments: list[str]) -> None:
    """Judge the detectors on the labelled sample."""
    messages = read_sample(MESSAGES)
    write_sample_table(messages, TABLE)
    say(f"{len(messages)} labelled messages judged, {TABLE}")


if __name__ == "__main__":
    paths.answer(main)
