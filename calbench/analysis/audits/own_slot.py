"""What an agent says about its own slots: proposals, availability, costs (appendix G.5).

Each label needs a slot in the message and words that tie it to the speaker: the first person,
or the bare form in which people speak of themselves ("free: 3, 5"; "slot 4 it is"). The paper
gives the idea and some of the words [P]; the patterns are ours [C].

* *Proposal*: a slot is put forward for a meeting that the speaker takes part in, as a
  statement or a question, or settled on. To confirm what another proposed is none.
* *Availability*: whether the speaker could be there, either way.
* *Cost or constraint*: how hard a slot is for the speaker, or what stands in its way; exact
  numbers apart.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from calbench.analysis.audits.clauses import MAX_CHARS, Clause, clauses_of

_REF = r"(?:SLOT|it|that|this|those|these|them|both|either|one|any|all|none|then|there)"
_OWN = (
    r"(?:me\b|mine\b|my (?:own )?(?:side|end|calendar|schedule|part|view|agenda|diary)|us\b|"
    r"both of us|all of us|everyone\b|everybody\b|both\b)"
)
_ME = (
    r"(?:me\b(?! (?:to know|if|whether|which|what))|my (?:own )?(?:side|end|calendar|schedule|part|"
    r"agenda|diary)\b)"
)
_STATE = (
    r"(?:free|open|available|unavailable|clear|feasible|infeasible|possible|impossible|fine|good|"
    r"great|perfect|ok|okay|workable|doable|eas(?:y|ier|iest)|busy|booked|taken|occupied|out|"
    r"problem|issue|works?|working|work|best|better|ideal|suitable|acceptable|bad|conflict|option|"
    r"off the table|ruled out|clean|vacant|empty|unoccupied|convenient)"
)
_HERE = r"(?:free|open|available|clear|vacant|empty|unoccupied)"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_AVAILABLE: Final = _any(
    rf"\b{_STATE}\b(?! to (?:move|reschedule|shift|change))[^?]{{0,25}}\b(?:for|on|from|with|in|at|by) {_ME}",
    rf"\b{_STATE}\b[^?]{{0,12}}\b(?:for|on|from|with|in) (?:both of us|all of us|us both|everyone, including me)",
    rf"\b(?:for|on|from) {_ME}[^?]{{0,80}}\b{_STATE}\b(?! to (?:move|reschedule|shift|change))",
    r"\b(?:suits?|fits?) me\b|\bfits? (?:\w+ )?(?:in|into |with )?my (?:calendar|schedule|diary|agenda|day)\b",
    r"\bcount me in\b",
    r"\bi(?:'m| am| will be|'ll be|'d be| would be| remain)(?: \w+){0,3}? (?:free|available|unavailable|open|"
    r"clear|busy|booked|tied up|engaged|flexible|fine with|good with|happy with|good for|ok with|okay with|out)\b",
    rf"\bi (?:can|could|can't|cannot|can not|couldn't|could not|am able to|am unable to|am not able to|'m (?:not |un)?able to|(?:will|'ll|would|'d|won't) (?:not )?be (?:un)?able to)(?: (?:also|still|"
    rf"definitely|only|easily|probably|certainly|likely|even|both|not|actually))*"
    rf" (?:do(?! without)|make|meet|attend|take|join|manage|accommodate|offer|use|be(?= (?:there|available|free|at|in)))\b[^?]{{0,40}}\b{_REF}\b",
    r"\bi (?:can't|cannot|can not)(?: (?:do|make|attend|come|meet|take))?(?: (?:it|that|this))?(?: one)?(?: then)?,?"
    r"(?: (?:sorry|unfortunately|i'm afraid|at all))?$",
    rf"\b(?:i have|i've|i've got|i got|i do have|i see)\b(?! to\b)(?: \w+){{0,3}}? (?:SLOT,? )?(?:also |still |all |both )?"
    rf"(?:{_HERE}\b(?! (?:up|to talk))|availability|openings?|nothing|no (?:conflicts?|problems?|issues?)|a conflict|conflicts?)",
    rf"\bmy (?:own )?(?:calendar|schedule|diary|agenda) (?:is|has|shows|looks)\b[^?]{{0,40}}\b(?:{_HERE}|nothing|busy|full|booked|SLOT {_HERE})",
    rf"\bmy (?:\w+ ){{0,2}}(?:{_HERE}(?: time)?|availability|openings?)\b[^?]{{0,30}}SLOT",
    rf"\b(?:nothing|{_HERE}|busy|booked|occupied|taken) (?:\w+ )?(?:on|in) my (?:calendar|schedule|diary|agenda)",
    rf"\bmy (?:own )?SLOT (?:is|are) (?:\w+ )?{_HERE}",
    r"\bi(?:'m| am|'ll be|'ve| need| must| have| go)\b.*\b(?:that|it|this)(?: one)?(?:'s| is) (?:not |im)possible",
    r"(?:^|, ?|so )(?:can't|cannot) (?:meet|make it|do it|do that|attend|come|make that)(?: one| slot)?(?: then| there)?$",
    r"(?:, ?|\b)so (?:i'm |it's |it is |that's |that is )?(?:not|no longer) (?:available|free|possible|open)(?: then| there)?$",
)
"""Tied to the speaker by its words."""

_EASE: Final = re.compile(r"(?:problem|issue|eas|fine|ok|good|possible)")
_ABOUT_MOVING: Final = re.compile(
    r"\b(?:mov(?:e|ing)|reschedul\w*|skip(?:ping)?|shift(?:ing)?)\b|\b(?:have|need) to \w+"
)
"""A move that is no problem says what stands there, not that the slot is free; nor does what the
speaker would have to do."""

_SOUGHT: Final = re.compile(
    r"\b(?:find(?:ing)?|(?:look|search)(?:ing)? for|(?:see|check|ask|wonder)(?:ing)? (?:if|whether|which|what))\b"
)
"""Who looks for a slot does not say that one was found."""

_ONLY_BY: Final = re.compile(
    r"\bonly\b.*\b(?:by|after|if i) (?:mov|shift|reschedul|clear|cancel|free|skip|push|drop)"
)
"""A slot that could be had only at a price: a cost, which says that it is not free."""

_ELLIPTICAL: Final = _any(
    rf"^(?:my )?(?:currently |also |fully |completely )?(?:{_HERE}|availability|availabilities|busy|unavailable)"
    r"(?: (?:slots?|times?|for me|are|is|at|in|on|options?))*\s?[:=-]?\s?SLOT",
    rf"^(?:yes|yep|yeah|sure|ok|okay|no|sorry|great|works|hi|hello)?,?\s?(?:both |all of |all )?SLOT"
    rf"(?: (?:is|are|also|still|both|all|looks?|would be|should be|not|currently))*"
    rf" (?:{_HERE}|works?|work|feasible|possible|unavailable|fine|good|ok|okay|busy|impossible)\b(?! (?:best|better|for (?!me)|to|well|on (?!my)|with|choice|option|candidate|idea))",
    r"^(?:yes|yep|yeah|sure|ok|okay|great|perfect|and|hi|hello)?,?\s?(?:that|it|this|both|either|they|those|these|all)"
    r"(?: (?:one|slot|also|still|all|both|should|would|will))* works?(?: (?:fine|well|great|perfectly|too|nicely|here))*$",
    r"^(?:nothing|no conflicts?)(?: \w+)? (?:at|in|on|for) SLOT",
    r"^(?:not |im)possible (?:in|at|for) SLOT",
)
"""Without a subject people speak of themselves; with another agent in the clause they do not."""

_ASKS_OTHERS: Final = re.compile(
    r"^(?:(?:and|so|also|or|then|hi|hello|hey|please),? ?)?(?:AGENT,? )?(?:are|is|do|does|did|would|will|can|"
    r"could|which|what|when|have|any|who|how)\b"
)

_PUT_FORWARD: Final = _any(
    r"\b(?:how|what) about\b.*SLOT",
    r"\b(?:what do you (?:think|say)|thoughts?|any chance|any objections?|opinions?)\b.*SLOT",
    r"SLOT.*\b(?:what do you (?:think|say)|thoughts|any objections?|does that work|would that work|"
    r"how does that sound|sounds? good|work for you|ok for you|okay for you|what about you)$",
    r"\b(?:can|could|shall|should|would|may|might|why don't|why not) (?:we|us|you|everyone|everybody|you both|"
    r"you all|you two|our meeting|the meeting|this meeting|MEETING|it|that|AGENT)\b(?! (?:tell|say|avoid|not|know|confirm))"
    r".*\b(?:SLOT|take it|make (?:one|any|either)|lock it|use it|go with|do (?:it|that|one|any|either))",
    r"\b(?:let's|lets|let us)\b(?! (?:not|avoid|skip|wait|know))(?!.*\b(?:avoid|not use)\b).*(?:SLOT|lock it|take it|go with it)",
    r"\b(?:i|we)(?:'d| would|'ll| will|'m|'re| am| are| can| could)?(?: (?:also|strongly|then|like to|be happy to|"
    r"therefore|rather|still|only|to|be|want to|want))* (?:propos(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?|"
    r"offer(?:ing)?|vote for|voting for|prefer(?! not| to keep| to avoid)|preferring|go (?:with|for)|going (?:with|for)|"
    r"favou?r|lean(?:ing)? toward?s?|aim(?:ing)? for|settle on|target)\b(?!.*\b(?:avoid|not)\b).*SLOT",
    r"\b(?:i|we)(?:'d| would)? (?:like|want|love) (?:to (?:use|meet|take|have it|schedule|book|do|try|place|put)\b.*)?SLOT",
    r"(?:^|\b(?:my|our|a|another|one|new) )(?:\w+ )?(?:proposal|suggestion|preference|preferred|first choice|vote|pick|plan|"
    r"proposed)\b(?! by| from| draft)[^?]{0,25}SLOT",
    r"\b(?:best|top|good|safest|ideal) (?:choice|option|candidate|slot|bet|fit|match)s?\b[^?]{0,30}SLOT",
    r"(?:^|\b(?:and|to|me|would|i|therefore|so),? )(?:propos(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?) (?:\w+ ){0,4}SLOT",
    r"\b(?:happy|pleased|glad|willing|ready) to (?:meet|use|take|do|go with)\b.*SLOT",
    r"SLOT[^?]{0,40}\b(?:best (?:choice|option|candidate|slot|bet|fit)|my (?:first |top )?(?:choice|preference|pick|"
    r"proposal|suggestion|vote)|our best|my best)\b",
    r"SLOT (?:it is|it shall be|then$|as (?:the|our) (?:final|slot|time))",
    r"\b(?:final(?:ize|ise)?|settle on|settling on|lock(?:ing)?(?: in)?|go(?:ing)? with|(?:proceed|move|moving|go) forward with|proceed(?:ing)? with|stick(?:ing)? with|"
    r"agree on|aim for|opt for|we (?:take|use|do|pick|choose|go for|meet in|meet at))\b (?:on |in )?SLOT",
    r"^(?:ok|okay|great|then|so|maybe|perhaps|and|or|alternatively|otherwise)?,? ?(?:ok|then|maybe|perhaps)? ?SLOT"
    r"(?: for MEETING)?,? ?(?:final|instead|for everyone|for all)$",
    r"^(?:please )?(?:try|use|take|consider|meet at|meet in|book) SLOT",
    r"\bi (?:can|could) (?:also )?(?:do|make|take|meet (?:in|at)) SLOT instead",
    r"\b(?:want|wanna|ready|happy|good) to (?:lock|take|use|go with|settle|meet|book)\b.*(?:SLOT|it|that)\b",
)
_PUT_FORWARD_ASKING: Final = _any(
    r"^(?:(?:and|so|also|or|then|please|great|ok|okay|hi|hello|hey)[ ,]+)*(?:AGENT,? )?(?:do|does|would|will|is|are|could|can|might)\b"
    r"(?! (?:AGENT|they|he|she|there a reason)\b).*(?:SLOT.*\b(?:work|suit|ok|okay|fine|good|free|possible|"
    r"available|feasible|open|better|best|doable|acceptable|you)\b|\b(?:work|suit|okay|fine|good|free|available|open|"
    r"possible|feasible|easy|clear|make|do)\b.*SLOT)",
    r"^(?:(?:and|so|or|maybe|perhaps|then|ok|okay)[ ,]+)*SLOT(?:,? (?:or|and) SLOT)?(?: (?:instead|then|maybe|for MEETING|"
    r"for you|work for you|work|ok|okay|good|possible|better|ok for you|okay for you))*$",
    r"\b(?:is|are|would) there (?:any )?.*\b(?:like|such as|e\.g|maybe|perhaps)\b.*SLOT",
    r"\bwhich (?:of|one|slot|would|works?|is)\b.*SLOT",
    r"\b(?:do|does|would|will|is|are) (?:any|either|one|some) of (?:those|these|them|SLOT)\b.*\b(?:you|work|free|suit)",
    r"SLOT.*(?:\bok\b|\bokay\b|right|works|work)$",
)
"""In a question; without the question mark these words say something else."""

_ASKED_BEFORE: Final = re.compile(
    r"\b(?:let me know|tell me|say|please confirm)\b.*\b(?:which|if|whether|what)\b.*\b(?:works?|suits?|prefer|best|fits?|okay|ok)\b"
)
"""What makes an offer out of slots named before it."""

_RULED_OUT: Final = _any(
    r"\b(?:don't|do not|please not|not|never|wouldn't|would not|rather not|can't|cannot) (?:\w+ )?(?:use|take|propose|suggest|"
    r"recommend|pick|choose|book|go with|lock)\b",
    r"\bavoid(?:ing)? SLOT",
    r"\bheard\b|\bhave you\b",
    r"\b(?:AGENT(?:'s)?|you|they) (?:\w+ )?(?:propos|suggest|prefer|ask|offer|recommend|want)\w*\b(?!.*\b(?:how about|let's|could we|can we|i )\b)",
)

_OWNER: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|our)\b")
_HARD: Final = _any(
    r"\b(?:difficult|hard(?:er|est)?|tough(?:er)?|tricky|eas(?:y|ier|iest|ily)|cheap(?:er|est)?|expensive|cost(?:s|ly|lier)?|"
    r"blocked|immovable|movable|moveable|unmovable|fixed|inflexible|inconvenient|impossible|painful|stretch|burden(?:some)?|"
    r"disrupt(?:ive|ion)?|priority|important|importance|errands?|commitments?|conflicts?|occupied|taken|busy|booked|"
    r"tied up|critical|not ideal|less ideal|suboptimal|require|sacrifice|trouble|prefer(?:red|able)? (?:not|to keep)|rather not|rather keep|"
    r"hate to|reluctant|last resort|low-stakes|high-stakes|no problem|not a big deal|big deal)\b",
    r"\b(?:can|could|can't|cannot|can not|could not|couldn't|able to|unable to|have to|need to|needs? me to|want to|won't|"
    r"will not|willing to|happy to|rather not|prefer not to|hate to|like to|i'd|didn't|don't want to) "
    r"(?:\w+ ){0,2}(?:move|moving|shift|reschedule|postpone|push|free up|skip|adjust|rearrange|relocate|cancel|clear|keep|"
    r"swap|be moved|bump|displace|miss)\b",
    r"\b(?:not|isn't|be|is|are|quite|easily) (?:\w+ )?(?:flexible|movable|moved|fixed|negotiable|moveable)\b",
    r"\b(?:be|mean|means) (?:moving|skipping|giving up|postponing|missing)\b",
    r"\b(?:mov(?:e|ing)|reschedul(?:e|ing)) (?:my|mine|that|this|it|an?|one|something)\b",
    r"\b(?:(?:i )?can't|i cannot|i can not|i couldn't|not possible|no good|not an option|"
    r"out for me|not feasible)\b",
)
_HOLDS: Final = _any(
    r"\b(?:i have|i've got|i've|i got|i hold)\b (?!to (?:say|ask|check))(?:(?!\b(?:free|open|available|openings?|"
    r"nothing|no|availability|scheduled|moved|booked|placed|confirmed|reviewed|heard|checked|noted|updated|already)\b).){0,120}"
    r"\b(?:in|at|on|during|for) SLOT",
    r"\b(?:in|at|on|during) SLOT,? (?:i have|i've|i'm (?:at|in|with|seeing|meeting|on|having|part)|i am (?:at|in|with|seeing|"
    r"meeting|on|having)|i see|i need to|i must|i do)\b(?!.{0,20}\b(?:free|open|available|nothing|no)\b)",
    r"\bi(?:'m| am) (?:at|in|with|seeing|meeting|visiting|having|doing|going|flying|swimming|volunteering|talking|speaking|"
    r"attending|fetching|taking|signing)\b.{0,80}\b(?:in|at|during|for) SLOT",
    r"\bi (?:see|go|do|need to|must|have to|am to)\b.{0,80}\b(?:in|at|during) SLOT",
    r"\bSLOT (?:is|=|:|holds|has|involves|contains|are)? ?(?:just |only |also |actually |currently )?(?:my|our|mine)\b"
    r"(?! (?:\w+ )?(?:preference|choice|proposal|suggestion|pick|best|option|vote|favou?rite))",
    r"\b(?:my|our) (?!(?:own |whole )?(?:calendar|schedule|diary|agenda|day)\b)(?:\w+[ -]){0,5}(?:is|are|happens|takes place|starts|falls) (?:\w+ ){0,2}(?:in|at|on|during) SLOT",
)
"""The speaker says what stands in a slot: a constraint, whatever it is called."""

_OTHERS: Final = re.compile(r"\bAGENT\b|\b(?:them|their|they|theirs|your|you)\b")
_BOUND: Final = re.compile(
    r"\b(?:for me|on my|my|from my|i can|i can't|i cannot|i have|i've|i'd|i'm|i could|i would|i need|i|cost me)\b"
)
_SECOND_HAND: Final = re.compile(
    r"\bAGENT(?:'s)?\b[^,]*\b(?:told|said|says|mentioned|has|is|cost|reported|can|cannot|would|already)\b|"
    r"\bi (?:heard|know|understand|believe|think|see) (?:from |that )?AGENT"
)

_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?\b[^.?!;\n\d]{0,30}?\d|\b\d{1,4} (?:cost|points?)\b|\b(?:price|penalty) (?:is|of|=) ?\d"
)
_SENTENCES: Final = re.compile(r"[.!?;\n]+\s")
_COST_SUBJECT: Final = re.compile(r"\bagent ?\d+(?:'s)?\b|\b(?:your|their|his|her|its)\b")


@dataclass(frozen=True, slots=True)
class OwnSlot:
    """What one message says about its sender's own slots.

    Attributes:
        proposal: it puts a slot forward.
        availability: it says whether the sender could be there.
        cost_or_constraint: it says how hard that is, or what stands in the way.
        exact_cost: it gives the sender's cost as a number.
    """

    proposal: bool
    availability: bool
    cost_or_constraint: bool
    exact_cost: bool


NAMES: Final = ("proposal", "availability", "cost_or_constraint", "exact_cost")
"""The labels, in the order of tables."""

NOTHING: Final = OwnSlot(
    proposal=False, availability=False, cost_or_constraint=False, exact_cost=False
)


@lru_cache(maxsize=4096)  # players repeat themselves
def own_slot(message: str) -> OwnSlot:
    """Say which of the labels a message has; none without a slot."""
    clauses = clauses_of(message)
    if not any(clause.slots for clause in clauses):
        return NOTHING
    cost_number = _tells_own_cost(message)
    return OwnSlot(
        proposal=_proposes(clauses),
        availability=any(tells_availability(clause) for clause in clauses),
        cost_or_constraint=cost_number or any(map(tells_cost, clauses)),
        exact_cost=cost_number,
    )


def tells_availability(clause: Clause) -> bool:
    """Whether a clause says that its speaker could be there, or could not."""
    text = clause.text
    if clause.is_question and _ASKS_OTHERS.search(text):
        return False
    found = _AVAILABLE.search(text)
    if found:
        is_about_moving = _ABOUT_MOVING.search(text) and _EASE.match(found[0])
        is_open = _SOUGHT.search(text[: found.start()]) or _ONLY_BY.search(text)
        return not (is_about_moving or is_open)
    return not (clause.is_question or _OTHERS.search(text)) and bool(_ELLIPTICAL.search(text))


def _proposes(clauses: tuple[Clause, ...]) -> bool:
    is_named = False
    for clause in clauses:
        is_named = is_named or bool(clause.slots)
        if is_named and puts_forward(clause):
            return True
    return False


def puts_forward(clause: Clause) -> bool:
    """Whether a clause puts a slot forward that it names, or that was named before it."""
    text = clause.text
    if _RULED_OUT.search(text):
        return False
    if _PUT_FORWARD.search(text) or _ASKED_BEFORE.search(text):
        return True
    return clause.is_question and bool(_PUT_FORWARD_ASKING.search(text))


def tells_cost(clause: Clause) -> bool:
    """Whether a clause says how hard a slot is for its speaker, or what stands in its way."""
    text = clause.text
    if clause.is_question and _ASKS_OTHERS.search(text):
        return False
    if _HOLDS.search(text):
        return True
    if not _HARD.search(text):
        return False
    if _SECOND_HAND.search(text) and not re.search(r"\b(?:for me|my|i can|i have|i'd)\b", text):
        return False
    return bool(_OWNER.search(text))


def _tells_own_cost(message: str) -> bool:
    """Whether a cost is given as a number, and nobody else's."""
    for sentence in _SENTENCES.split(message[:MAX_CHARS].lower()):
        if _COST_NUMBER.search(sentence) and not _COST_SUBJECT.search(sentence):
            return True
    return False
