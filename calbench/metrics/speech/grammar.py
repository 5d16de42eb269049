"""Words that the rules of own-slot statements share [C]; all patterns read clauses of small letters."""

import re
from typing import Final

STATE: Final = (
    r"(?:free|open|available|unavailable|clear|feasible|infeasible|possible|impossible|fine|good|"
    r"great|perfect|ok|okay|workable|doable|eas(?:y|ier|iest)|busy|booked|taken|occupied|out|"
    r"problem|issue|works?|working|work|best|better|ideal|suitable|acceptable|bad|conflict|option|"
    r"off the table|off limits|ruled out|clean|vacant|empty|unoccupied|convenient|no-?go|a no|a yes|"
    r"viable|manageable)"
)
HERE: Final = r"(?:free|open|available|clear|vacant|empty|unoccupied)"
SURELY: Final = r"(?:also|still|all|both|each|only|currently|already|completely|fully|totally|entirely|definitely|perfectly|really|wide|indeed|certainly|not|now|actually)"


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that finds what any of the given ones finds."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


ASKS_OTHERS: Final = re.compile(
    r"^(?:(?:and|so|also|or|then|hi|hello|hey|please),? ?)?(?:AGENT,? )?(?:are|is|do|does|did|would|will|can|"
    r"could|which|what|when|have|any|who|how)\b"
)
"""A question put to somebody else."""

OTHERS: Final = re.compile(r"(?<!\bwith )\bAGENT\b|\b(?:them|their|they|theirs|your|you)\b")
"""Somebody else in a clause, other than as the company of a meeting."""
