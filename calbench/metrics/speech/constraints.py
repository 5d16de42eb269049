"""Whether a clause says how hard a slot is for its speaker, or what is there (G.5) [C]."""

import re
from functools import lru_cache
from typing import Final

from calbench.metrics.speech.clauses import Clause
from calbench.metrics.speech.grammar import ASKS_OTHERS, OTHERS, STATE, SURELY, any_of

_OWNER: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|our)\b")
_HARD: Final = any_of(
    r"\b(?:difficult|hard(?:er|est)?|tough(?:er)?|tricky|eas(?:y|ier|iest|ily)|cheap(?:er|est)?|expensive|cost(?:s|ly|lier)?|"
    r"blocked|immovable|movable|moveable|unmovable|fixed|inflexible|inconvenient|impossible|painful|stretch|burden(?:some)?|"
    r"disrupt(?:ive|ion)?|priority|important|importance|errands?|commitments?|conflicts?|occupied|protected|taken|busy|(?<!i've )(?<!we've )(?<!i have )booked|"
    r"tied up|critical|(?:a|real) pain|hassle|nuisance|headache|bother|not ideal|less ideal|suboptimal|require|sacrifice|trouble|prefer(?:red|able)? (?:not|to keep)|rather not|rather keep|"
    r"hate to|reluctant|last resort|low-stakes|high-stakes|not a big deal|big deal)\b",
    r"\b(?:can|could|can't|cannot|can not|could not|couldn't|able to|unable to|have to|need to|needs? me to|want to|won't|"
    r"will not|willing to|happy to|rather not|prefer not to|hate to|like to|i'd|didn't|don't want to) "
    r"(?:\w+ ){0,2}(?:move|moving|shift|reschedule|postpone|push|free up|skip|adjust|rearrange|relocate|cancel|clear|keep|"
    r"swap|be moved|bump|displace|miss)\b",
    r"\b(?:not|isn't|be|is|are|quite|easily) (?:\w+ )?(?:flexible|movable|moved|fixed|negotiable|moveable)\b",
    r"\b(?:be|mean|means) (?:moving|skipping|giving up|postponing|missing)\b",
    r"\b(?:mov|shift|reschedul|skipp|clear|giv)(?:e|ing)\b[^?]{0,40}\b(?:no|a|isn't an?) (?:\w+ )?(?:problem|issue)\b",
    r"\b(?:because of|due to) (?:a|an|my|our)\b|\bthat's when\b",
    r"\b(?:mov(?:e|ing)|reschedul(?:e|ing)) (?:my|mine|that|this|it|an?|one|something)\b",
    r"\b(?:require|mean|involve|need|take)s? (?:\w+ )?(?:mov|shift|nudg|reschedul|juggl|relocat|rearrang|giv|postpon|clear|free|cancel|displac|bump|swap|skip|push|reshuffl)ing\b",
    r"\bfor me to (?:clear|move|free|shift|give up|reschedule|relocate|postpone|rearrange|cancel|push)\b",
    r"\b(?:would|will|'d|'ll) (?:\w+ )?(?:have|need) to be (?:moved|shifted|rescheduled|renegotiated|cancelled|canceled|postponed|displaced|bumped|rearranged)\b",
)
_NO_COST: Final = re.compile(
    r"\b(?:minimi[sz]\w*|avoid\w*|reduc\w+|total|overall|joint|without|no) (?:\w+ ){0,2}?(?:disruptions?|costs?|conflicts?|trouble)\b"
    r"|n't conflict\b|\bnot conflict\b"
)
"""Something to be minimised for all, or something absent."""

_HOLDS: Final = any_of(
    r"\b(?:i have|i've got|i've|i got|i hold)\b (?!to (?:say|ask|check))(?:(?!\b(?:free|open|available|openings?|"
    r"nothing|no|availability|scheduled|moved|booked|placed|confirmed|reviewed|heard|checked|noted|updated|already)\b).){0,120}"
    r"\b(?:in|at|on|during|for) SLOT",
    r"\b(?:i have|i've got|i've|i got) (?:a|an|my|some|to (?:be|go|see|attend))\b(?:(?!\b(?:free|open|available|opening|slot|question|"
    r"preference|proposal|suggestion|list)\b).){0,80}\b(?:then|there|at that time|at the same time|that slot)\b",
    r"\bi(?:'ll| will)(?: be)? \w+ing\b.{0,80}\b(?:then|at that time)$",
    r"\b(?:somebody|someone|an? \w+) (?:is |will be )?(?:com(?:es|ing)|visits?|visiting)\b(?!.*\bAGENT\b).{0,80}\b(?:in|at|on|during) SLOT",
    r"\b(?:in|at|on|during) SLOT,? i (?!(?:can|could|would|will|might|may|am|have|had|think|believe|suggest|propose|prefer|do|don't|can't|cannot)\b)"
    r"\w+ (?:with|at|to|over|my|an?|the)\b",
    r"\bmy (?:[\w'-]+ ){1,5}(?:is|are|happens|starts) (?:then|at that time|in that slot)\b",
    rf"^SLOT ?[:=] ?(?!(?:{SURELY} )*(?:{STATE}|yes|no|not|my)\b)(?:[\w'-]+ ){{1,8}}(?:for me\b|(?:with|of|for) my\b)",
    r"(?:^|\b(?:and|since|as|because),? )SLOT (?:is|has|holds|involves) (?:just |only |actually )?(?:a|an|the|some)\b (?!(?:\w+ ){0,2}(?:no-?go|yes|no|slot|time|"
    r"option|choice|fit|candidate|one|possibility|compromise|alternative|fallback|backup|match|earliest|first|last|next|common|best|only|proposal|window|gap|bet|idea)\b)",
    r"\b(?:in|at|on|during) SLOT,? (?:i have|i've|i'm (?:at|in|with|seeing|meeting|on|having|part)|i am (?:at|in|with|seeing|"
    r"meeting|on|having)|i see|i need to|i must|i do)\b(?!.{0,20}\b(?:free|open|available|nothing|no)\b)",
    r"\bi(?:'m| am) (?:at|with|in (?:a|an|the|my))\b.{0,80}\b(?:in|at|during|for) SLOT",
    r"\bi(?:'m| am) (?!(?:proposing|suggesting|wondering|looking|trying|hoping|asking|checking|waiting|confirming|leaning|offering|"
    r"thinking|considering|sending|getting|voting|counting|aiming|writing|booking|scheduling|recommending|placing|keeping|locking|hearing|"
    r"seeing (?:that|if|whether)|assuming|going (?:with|for|to|ahead)|sticking|putting|setting|opting|favou?ring|preferring|willing|planning)\b)"
    r"\w{2,}ing\b.{0,80}\b(?:in|at|during|for) SLOT",
    r"\bSLOT:? (?:because |since |as )?i(?:'m| am) (?:seeing|meeting|visiting|speaking|talking|attending|at my|at the)\b",
    r"\bi need SLOT (?:for|to)\b",
    r"\bi (?:see|go|do|need to|must|have to|am to)\b.{0,80}\b(?:in|at|during) SLOT",
    r"\bSLOT (?:is|=|:|holds|has|involves|contains|are)? ?(?:just |only |also |actually |currently )?(?:my|our|mine)\b"
    r"(?! (?:\w+ )?(?:slot|time|one|preference|choice|proposal|suggestion|pick|best|option|vote|favou?rite))",
    r"\b(?:my|our) (?!(?:own |whole )?(?:calendar|schedule|diary|agenda|day)\b)(?:\w+[ -]){0,5}(?:is|are|happens|takes place|starts|falls) (?:\w+ ){0,2}(?:in|at|on|during) SLOT",
)
"""The speaker says what is in a slot: a constraint, whatever it is called."""

_COST_ELLIPTICAL: Final = any_of(
    r"^(?:(?:and|so|yes|no|well|also),? )?(?:that|it|this|SLOT|doing so|taking it)(?: (?:one|slot))?(?:'d|'ll|'s| would| will| does| is| are| may| might| could)? (?:\w+ )?"
    r"(?:require|mean|involve|need|cost|take|blocked|occupied|taken|busy|movable|immovable|hard|difficult|costly|expensive|cheap|tough|tricky)",
    r"^(?:SLOT ?[:=]|(?:movable|moveable|blocked|busy|occupied|low[- ]cost|high[- ]cost|hard|costly|expensive|cheap|easy to move|difficult)(?: [\w-]+){0,3} ?[:=] ?)",
    r"^(?:could|can|can't|cannot|won't|would) (?:\w+ )?(?:move|shift|reschedule|free up|give up|relocate|clear)\b.*SLOT",
    r"^(?:it|that|this|giving up|moving|clearing|freeing)\b.*\b(?:giv|mov|clear|fre)\w*(?: up)? SLOT",
    r"^SLOT (?:is|are) (?:\w+ )?(?:protected|held|filled|tied)\b",
    r"^(?:everything else|all else|all others?|the (?:rest|others?|remaining slots?))\b.*\b(?:occupied|taken|blocked|busy|booked|full)",
)
"""Clauses without a subject or an owner are about the speaker's calendar."""

_MINE: Final = re.compile(
    r"\b(?:for me|my|i can|i can't|i have|i'd (?:have|need|hate|be|rather (?:not|keep)|prefer (?:not|to keep)))\b"
)
_SECOND_HAND: Final = re.compile(
    r"\b(?:for|on|to) (?:you|them|him|her|AGENT|your|their)\b|\bcosts? (?:you|them|him|her|AGENT)\b|"
    r"\bAGENT(?:'s)?\b[^,]*\b(?:told|said|says|mentioned|has|is|cost|reported|can|cannot|would|already)\b|"
    r"\bi (?:heard|know|understand|believe|think|see) (?:from |that )?AGENT"
)


@lru_cache(maxsize=4096)  # several audits read a clause, and clauses are repeated
def tells_cost(clause: Clause) -> bool:
    """Whether a clause says how hard a slot is for its speaker, or what is there."""
    text = clause.text
    if clause.is_question and ASKS_OTHERS.search(text):
        return False
    if _HOLDS.search(text):
        return True
    if not _HARD.search(_NO_COST.sub("", text)):
        return False
    if _SECOND_HAND.search(text) and not _MINE.search(text):
        return False
    if _OWNER.search(text):
        return True
    return not (clause.is_question or OTHERS.search(text)) and bool(_COST_ELLIPTICAL.search(text))
