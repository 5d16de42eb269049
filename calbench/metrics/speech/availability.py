"""Whether a clause says that its speaker can use a slot, how hard it is, or what is there (G.5) [C]."""

import re
from functools import lru_cache
from typing import Final

from calbench.metrics.speech.clauses import ASKS_OTHERS, HERE, OTHERS, STATE, SURELY, Clause, any_of

_REF = r"(?:SLOT|it|that|this|those|these|them|both|either|one|any|all|none|then|there)"
_ME = (
    r"(?:me\b(?! (?:to know|if|whether|which|what))|my (?:own )?(?:side|end|calendar|schedule|part|"
    r"agenda|diary)\b)"
)
_COULD = (
    r"(?:(?:can|could|can't|cannot|can not|couldn't|could not|might|may)|"
    r"(?:(?:am|will|would|should|might|may|won't|wouldn't|shouldn't) (?:\w+ )?)?(?:be )?(?:un)?able to)"
)

# e.g. "SLOT works for me", "i can't make SLOT"; not "SLOT works for AGENT"
_AVAILABLE: Final = any_of(
    rf"\b{STATE}\b(?! to (?:move|reschedule|shift|change))[^?]{{0,25}}\b(?:for|on|from|with|in|at|by) {_ME}",
    rf"\b{STATE}\b[^?]{{0,12}}\b(?:for|on|from|with|in) (?:both of us|all of us|us both|everyone, including me)",
    rf"\b(?:for|on|from) {_ME}[^?]{{0,80}}(?<!\bto )\b{STATE}\b(?! to (?:move|reschedule|shift|change))",
    r"\b(?:suits?|fits?) me\b|\bfits? (?:\w+ )?(?:in|into |with )?my (?:calendar|schedule|diary|agenda|day)\b",
    r"\b(?:count|mark|put) me (?:in\b|(?:down )?(?:as|for) )",
    rf"\bi (?:\w+ ){{0,2}}(?:be|remain|stay|am) (?:{SURELY} )*{HERE}\b(?! (?:up|to talk))",
    rf"\bwe(?:'re| are) (?:{SURELY} )*{HERE}\b",
    r"\bSLOT\b[^?]{0,30}\bi (?:can offer|(?:still )?have (?:left|free|open|available|to offer))\b",
    r"\b(?:(?:so|as|neither|nor) (?:am|can|could) i|same (?:here|for me)|me too|(?:i'm|i am) good to go)\b",
    rf"\b(?:SLOT|that|it|this|which|those|both)\b[^?]{{0,30}}\bi (?:{SURELY} )*{_COULD} (?:{SURELY} )*(?:do|make|attend|manage|join)(?: it)?$",
    rf"\bi (?:{SURELY} )*(?:don't|do not|didn't) (?:{SURELY} )*have (?:SLOT )?(?:anything|availability|{HERE}|any (?:conflicts?|commitments?|errands?|plans|meetings?|appointments?))\b",
    r"\bi(?:'ve| have)(?: got)? (?:absolutely )?no (?:\w+ )?(?:objections?|reservations?|concerns?|complaints?)\b",
    r"\bi(?:'m| am| will be|'ll be|'d be| would be| remain)(?: \w+){0,3}? (?:free|available|unavailable|open|"
    r"(?<!to )clear|busy|booked|tied up|engaged|occupied|flexible|(?:comfortable|fine|good|happy|ok|okay|cool) with"
    r"(?! (?:mov|shift|relocat|reschedul|giv|clear|push|any|whatever|whichever|what |your|the (?:decision|outcome|result)))|good for|out)\b",
    rf"\bi(?:'m |'ll |'d | )(?:{SURELY} )*{_COULD}(?: (?:also|still|definitely|only|easily|probably|certainly|likely|"
    rf"even|both|not|actually|happily|gladly))* (?:do(?! without)|make|meet|attend|take|join|participate|manage|accommodate|offer|use|"
    rf"be(?= (?:there|available|free|at|in)))\b[^?]{{0,40}}\b{_REF}\b",
    r"\bi(?:'ll| will|'d| would| won't)(?: not)? be (?:there\b|(?:at|in) (?:SLOT|that|this|it)\b)",
    r"\bi (?:can't|cannot|can not)(?: (?:do|make|attend|come|meet|take))?(?: (?:it|that|this))?(?: one)?(?: then)?,?"
    r"(?: (?:sorry|unfortunately|i'm afraid|at all))?$",
    rf"\b(?:i (?:{SURELY} )*have|i've|i've got|i got|i do have|i see)\b(?! to\b)(?: \w+){{0,3}}? (?:SLOT,? )?(?:also |still |all |both )?"
    rf"(?:{HERE}\b(?! (?:up|to talk))|availability|openings?|nothing|no (?:conflicts?|problems?|issues?)|a conflict|conflicts?)",
    rf"\bmy (?:own )?(?:calendar|schedule|diary|agenda) (?:is|has|shows|looks)\b[^?]{{0,40}}\b(?:{HERE}|nothing|busy|full|booked|SLOT {HERE})",
    rf"\bmy (?:\w+ ){{0,2}}(?:{HERE}(?: time)?|availability|openings?)\b[^?]{{0,30}}SLOT",
    rf"\b(?:nothing|{HERE}|busy|booked|occupied|taken) (?:\w+ )?(?:on|in) my (?:calendar|schedule|diary|agenda)",
    rf"\bmy (?:own )?SLOT (?:is|are) (?:\w+ )?{HERE}",
    r"\bi(?:'m| am|'ll be|'ve| need| must| have| go)\b.*\b(?:that|it|this)(?: one)?(?:'s| is) (?:not |im)possible",
    r"(?:^|, ?|so |and )(?:can't|cannot) (?:meet|make it|do it|do that|attend|come|join|be there|make that)(?: one| slot)?(?: then| there)?$",
    r"(?:, ?|\b)so (?:i'm |it's |it is |that's |that is )?(?:not|no longer) (?:available|free|possible|open)(?: then| there)?$",
)
"""Words that refer to the speaker."""

# e.g. "easy for me", "no problem for me"; not "free for me"
_EASE: Final = re.compile(r"(?:problem|issue|eas|fine|ok|good|possible)")
# e.g. "for me moving it is easy"; not "easy for me"
_EASE_LAST: Final = re.compile(
    r"\b(?:problem|issue|easy|fine|ok|okay|good|possible|manageable|doable)$"
)
# e.g. "i can move it", "i have to leave"; not "it is movable"
_ABOUT_MOVING: Final = re.compile(
    r"\b(?:mov(?:e|ing)|reschedul\w*|skip(?:ping)?|shift(?:ing)?|relocat\w+|postpon\w+|rearrang\w+|"
    r"cancel\w*|bump\w*|displac\w+|push(?:ing)?|adjust\w*|giv(?:e|ing) up|free(?:ing)? up|freeing|"
    r"clearing|swap(?:ping)?|out of)\b|\b(?:have|need) to \w+"
)
"""A move that is no problem, or that the speaker would have to make, says that something is in
the slot, not that the slot is free."""

# e.g. "looking for SLOT", "i will check whether SLOT"; not "SLOT looks free"
_SOUGHT: Final = re.compile(
    r"\b(?:find(?:ing)?|(?:look|search)(?:ing)? for|(?:see|check|ask|wonder)(?:ing)? (?:if|whether|which|what))\b"
    r"|\bmade (?:\w+ )?$"
)
"""A search for a slot does not say that one was found."""

# e.g. "SLOT works for all of us"; not "SLOT works for me"
_FOR_ALL: Final = re.compile(r"\b(?:us|everyone)\b")
# e.g. "SLOT might work"; not "SLOT will work"
_GUESSED: Final = re.compile(r"\b(?:might|could|would|may|perhaps|maybe|hopefully|if)\b")
"""A guess about all agents is not what the speaker's calendar says."""

# e.g. "SLOT works only if i move my class"; not "only SLOT works"
_ONLY_BY: Final = re.compile(
    r"\bonly\b.*\b(?:by|after|if i) (?:mov|shift|reschedul|clear|cancel|fre|skip|push|drop|giv|relocat|"
    r"postpon|adjust|rearrang|bump|displac|swap|sacrific)"
)
"""A slot that is possible only at a cost, which says that it is not free."""

# e.g. "SLOT works", "nothing in SLOT"; not "SLOT works best"
_ELLIPTICAL: Final = any_of(
    rf"^(?:my )?(?:currently |also |fully |completely )?(?:{HERE}|availability|availabilities|busy|unavailable)"
    r"(?: (?:slots?|times?|for me|are|is|at|in|on|options?))*\s?[:=-]?\s?SLOT",
    rf"^(?:(?:yes|yep|yeah|sure|ok|okay|no|sorry|great|works|hi|hello|and|unfortunately|agreed|only),? )?(?:both |all of |all |only |neither )?SLOT"
    rf"(?: (?:is|are|{SURELY}|looks?|would be|should be|would|should))*"
    rf" (?:{HERE}|works?|work|feasible|possible|unavailable|fine|good|ok|okay|busy|taken|booked|impossible)\b(?! (?:best|better|for (?!me)|to|well|on (?!my)|with|up|by|choice|option|candidate|idea))",
    rf"^SLOT ?[:=] ?(?:{SURELY} )*(?:yes|no|ok|okay|unavailable|busy|fine|good|works|possible|impossible|{HERE})\b",
    r"^(?:yes|yep|yeah|sure|ok|okay|great|perfect|and|hi|hello)?,?\s?(?:that|it|this|both|either|they|those|these|all)"
    r"(?: (?:one|slot|also|still|all|both|should|would|will))* works?(?: (?:fine|well|great|perfectly|too|nicely|here))*$",
    rf"^(?:yes|no|sorry|ok|okay|sure|and|also)?,? ?(?:{SURELY} )*(?:{HERE}|unavailable)(?: here| too| as well| then| there| for me)*$",
    r"^(?:still |also |absolutely )?(?:nothing|no (?:\w+ )?(?:conflicts?|problems?|issues?|objections?|reservations?|concerns?))(?: (?!your\b)\w+){0,4} (?:at|in|on|for|with|about|to) SLOT",
    rf"^(?:everything|anything|any time|anytime|all slots|any slot)\b.*SLOT.*\b(?:{HERE}|works?|fine|ok|okay|good)\b",
    r"^(?:not |im)possible (?:in|at|for) SLOT",
)
"""Clauses without a subject are about the speaker, unless they name another agent."""


@lru_cache(maxsize=4096)  # several audits read a clause, and clauses are repeated
def tells_availability(clause: Clause) -> bool:
    """Whether a clause says that its speaker can or cannot be there."""
    text = clause.text
    if clause.is_question and ASKS_OTHERS.search(text):
        return False
    found = _AVAILABLE.search(text)
    if found:
        is_about_moving = _ABOUT_MOVING.search(text) and (
            _EASE.match(found[0]) or _EASE_LAST.search(found[0])
        )
        is_open = _SOUGHT.search(text[: found.start()]) or _ONLY_BY.search(text)
        is_guess = _FOR_ALL.search(found[0]) and _GUESSED.search(text[: found.start()])
        return not (is_about_moving or is_open or is_guess)
    if clause.is_question or OTHERS.search(text) or _ONLY_BY.search(text):
        return False
    return bool(_ELLIPTICAL.search(text))


# e.g. "my class is in SLOT"; not "your class is in SLOT"
_OWNER: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|our)\b")
# e.g. "SLOT is hard", "i would have to move it"; not "i have booked SLOT"
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
# e.g. "to minimize total cost", "without conflicts"; not "SLOT conflicts with my class"
_NO_COST: Final = re.compile(
    r"\b(?:minimi[sz]\w*|avoid\w*|reduc\w+|total|overall|joint|without|no) (?:\w+ ){0,2}?(?:disruptions?|costs?|conflicts?|trouble)\b"
    r"|n't conflict\b|\bnot conflict\b"
)
"""Something to be minimised for all, or something absent."""

# e.g. "i have a class in SLOT", "i need SLOT for my class"; not "i have nothing in SLOT"
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

# e.g. "that would mean moving it", "SLOT: blocked"; not "for AGENT it would mean moving it"
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

# e.g. "SLOT is hard for me", "i'd rather not"; not "SLOT is hard for you"
_MINE: Final = re.compile(
    r"\b(?:for me|my|i can|i can't|i have|i'd (?:have|need|hate|be|rather (?:not|keep)|prefer (?:not|to keep)))\b"
)
# e.g. "SLOT is hard for you", "AGENT said it is hard"; not "SLOT is hard for me"
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
