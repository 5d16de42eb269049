"""Every command that takes files of others, with the good file of it that is damaged."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.campaigns.mutations import BINARY, PACKED, TEXT, YAML, Mutation

_TRACE = "run/traces/candid/taste-varied-000.json"

_MINE = "--config-dir={samples}/conf"


@dataclass(frozen=True)
class Attacked:
    """A command and a file that it reads.

    Attributes:
        words: of the command; ``{samples}`` is the folder of samples, ``{out}`` a new place.
        file: which is damaged, below the samples; a pattern means the first one.
        kinds: of damage.
    """

    words: str
    file: str
    kinds: Mapping[str, Mutation]


COMMANDS: tuple[Attacked, ...] = (
    Attacked("audit {samples}/messages.jsonl", "messages.jsonl", TEXT),
    Attacked("verify {samples}/run", _TRACE, TEXT),
    Attacked("suite.path={samples}/suite.jsonl teams=[imap] out={out}", "suite.jsonl", TEXT),
    Attacked("replies stats {samples}/replies.sqlite", "replies.sqlite", BINARY),
    Attacked("rescore {samples}/run/traces out={out}", _TRACE, TEXT),
    Attacked("suite.path={samples}/packed.jsonl.gz out={out}", "packed.jsonl.gz", PACKED),
    Attacked("replies export {samples}/shards {out}", "shards/replies-*.jsonl", TEXT),
    Attacked("compare {samples}/run a=imap {samples}/run b=candid", _TRACE, TEXT),
    Attacked("replies merge {out}/x.sqlite {samples}/shards", "shards/threads-*.jsonl", TEXT),
    Attacked(f"estimate {_MINE} teams=[mine]", "conf/teams/mine.yaml", YAML),
    Attacked("judge {samples}/run out={out}", _TRACE, TEXT),
    Attacked(f"estimate {_MINE} suite=mine", "conf/suite/mine.yaml", YAML),
    Attacked("matchmake {samples}/run", _TRACE, TEXT),
    Attacked("scan {samples}/run out={out}", _TRACE, TEXT),
    Attacked(f"estimate {_MINE} model=mine teams=[my-model]", "conf/model/mine.yaml", YAML),
    Attacked("view {samples}/run serve=false jobs=1 out={out}", _TRACE, TEXT),
    Attacked("replies stats {samples}/shards", "shards/messages-*.jsonl", TEXT),
)
"""Commands, one after the other."""
