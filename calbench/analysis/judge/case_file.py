"""``judge_cases.json``: what was shown to the judge, and whether its answer could be read."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from calbench.agents.judging import JUDGE_PROMPT
from calbench.analysis.judge.verdicts import Verdict
from calbench.domain.canonical import canonical_json
from calbench.errors import OutputError
from calbench.facts.storage import Facts
from calbench.metrics.measure import METRICS_VERSION
from calbench.traces.models import Trace

CASE_FILE = "judge_cases.json"


def case_json(trace: Trace, verdict: Verdict) -> str:
    """Return a case with what was answered, as JSON."""
    found, case = verdict.round_case, verdict.round_case.case
    return canonical_json(
        {
            "trace_path": f"{trace.config.team.team_id}/{trace.scenario.scenario_id}.json",
            "game_id": trace.game_id,
            "round": found.round,
            "recipient": case.recipient,
            "num_agents": len(case.agent_ids),
            "num_slots": case.num_slots,
            "meeting_id": case.meeting_id,
            "participants": case.participants,
            "messages": [
                {
                    "sender": message.sender,
                    "channel": message.channel,
                    "content": asdict(message.content),
                }
                for message in case.messages
            ],
            "problem": verdict.problem,
            "recovered": verdict.recovered,
            "reply_key": verdict.key,
        }
    )


def write_cases(facts: Facts, folder: Path) -> None:
    """Write the cases of all games, whole or not at all.

    Args:
        facts: of judged games.
        folder: where the file goes.

    Raises:
        OutputError: naming the place, if it cannot be written.
    """
    path = folder / CASE_FILE
    beside = path.with_name(f".{path.name}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_parts(facts))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{path}: cannot be written ({reason}); choose another folder") from error


def _parts(facts: Facts) -> Iterator[str]:
    """Yield the text of the file."""
    judge = next(iter(facts.frame("judged_games")["judge"]), None)
    head = canonical_json(
        {"judge": judge, "metrics_version": METRICS_VERSION, "prompt": JUDGE_PROMPT}
    )
    yield f'{head[:-1]},"cases":[\n'
    between = ""
    for batch in facts.batches("judged_cases"):
        for case in batch["case"]:
            yield between + case
            between = ",\n"
    yield "\n]}\n"
