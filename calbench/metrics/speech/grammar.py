"""Words that the own-slot patterns share [C]; all patterns expect clauses in small letters."""

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
    """Return a pattern that matches where any of the given ones does."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


ASKS_OTHERS: Final = re.compile(
    r"^(?:(?:and|so|also|or|then|hi|hello|hey|please),? ?)?(?:AGENT,? )?(?:are|is|do|does|did|would|will|can|"
    r"could|which|what|when|have|any|who|how)\b"
)
"""A question to another agent."""

OTHERS: Final = re.compile(r"(?<!\bwith )\bAGENT\b|\b(?:them|their|they|theirs|your|you)\b")
"""Another agent in a clause, except as a partner of a meeting."""
