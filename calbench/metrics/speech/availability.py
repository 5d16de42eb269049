"""Whether a clause says that its speaker can or cannot use a slot (appendix G.5) [C]."""

import re
from functools import lru_cache
from typing import Final

from calbench.metrics.speech.clauses import Clause
from calbench.metrics.speech.grammar import ASKS_OTHERS, HERE, OTHERS, STATE, SURELY, any_of

_REF = r"(?:SLOT|it|that|this|those|these|them|both|either|one|any|all|none|then|there)"
_ME = (
    r"(?:me\b(?! (?:to know|if|whether|which|what))|my (?:own )?(?:side|end|calendar|schedule|part|"
    r"agenda|diary)\b)"
)
_COULD = (
    r"(?:(?:can|could|can't|cannot|can not|couldn't|could not|might|may)|"
    r"(?:(?:am|will|would|should|might|may|won't|wouldn't|shouldn't) (?:\w+ )?)?(?:be )?(?:un)?able to)"
)

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

_EASE: Final = re.compile(r"(?:problem|issue|eas|fine|ok|good|possible)")
_EASE_LAST: Final = re.compile(
    r"\b(?:problem|issue|easy|fine|ok|okay|good|possible|manageable|doable)$"
)
_ABOUT_MOVING: Final = re.compile(
    r"\b(?:mov(?:e|ing)|reschedul\w*|skip(?:ping)?|shift(?:ing)?|relocat\w+|postpon\w+|rearrang\w+|"
    r"cancel\w*|bump\w*|displac\w+|push(?:ing)?|adjust\w*|giv(?:e|ing) up|free(?:ing)? up|freeing|"
    r"clearing|swap(?:ping)?|out of)\b|\b(?:have|need) to \w+"
)
"""A move that is no problem, or that the speaker would have to make, says that something is in
the slot, not that the slot is free."""

_SOUGHT: Final = re.compile(
    r"\b(?:find(?:ing)?|(?:look|search)(?:ing)? for|(?:see|check|ask|wonder)(?:ing)? (?:if|whether|which|what))\b"
    r"|\bmade (?:\w+ )?$"
)
"""A search for a slot does not say that one was found."""

_FOR_ALL: Final = re.compile(r"\b(?:us|everyone)\b")
_GUESSED: Final = re.compile(r"\b(?:might|could|would|may|perhaps|maybe|hopefully|if)\b")
"""A guess about all agents is not what the speaker's calendar says."""

_ONLY_BY: Final = re.compile(
    r"\bonly\b.*\b(?:by|after|if i) (?:mov|shift|reschedul|clear|cancel|fre|skip|push|drop|giv|relocat|"
    r"postpon|adjust|rearrang|bump|displac|swap|sacrific)"
)
"""A slot that is possible only at a cost, which says that it is not free."""

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
