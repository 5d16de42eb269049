"""What grammar finds about an agent's own slots (appendix G.5) [C]: features of the trained detectors.

Each label needs a slot in the message and words that refer to the speaker: the first person, or
the short form in which people speak about themselves ("free: 3, 5"; "slot 4 it is").

A proposal is found clause by clause: one that proposes a slot for a meeting of its speaker.
"""

import re
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from calbench.metrics.speech.availability import tells_availability, tells_cost
from calbench.metrics.speech.clauses import MAX_CHARS, Clause, any_of, clauses_of

# e.g. "if SLOT isn't possible, i can do SLOT"; not "i can do SLOT"
_INSTEAD: Final = re.compile(
    r"\bif\b.*\b(?:\w+n't|not|hard|bad|blocked|difficult|impossible|unavailable|busy|costly)\b.*\bi (?:can|could|'m able to) "
    r"(?:also )?(?:do|make|take|offer|use|meet)\b.*SLOT"
)
"""A second slot in case the first fails."""

_PICK = (
    r"(?:use|take|pick|choose|select|book|try|do|go (?:with|for)|opt for|settle (?:on|for)|lock(?: in)?|fix|schedule|"
    r"set|put|place|have|meet (?:at|in)|finali[sz]e)"
)
_IDEA = r"(?:idea|option|suggestion|attempt|candidate|proposal|possibility|thought|pick|choice|offer|alternative|fallback|backup|compromise)"
# e.g. "let's take SLOT", "how about SLOT"; not "i am free in SLOT"
_PUT_FORWARD: Final = any_of(
    rf"\b(?:let's|shall we|can we|could we|should we|why don't we|why not|we (?:should|could|can|might)) (?:\w+ )?{_PICK}\b(?: \w+){{0,2}} (?:SLOT|it|that|this|one)\b",
    rf"\bi(?:'d| would)(?! (?:have|need|not))(?: \w+){{0,3}}? {_PICK} (?:\w+ )?(?:MEETING (?:in|at|into|for) )?SLOT",
    r"\bi (?:think|believe|feel|guess|reckon|suppose)(?: that)? SLOT\b.*\b(?:best|better|ideal|right|safest|option|choice|way|great|fit|good)\b",
    r"SLOT\b[^?]{0,30}(?<!n't )\bmakes? (?:\w+ ){0,3}sense\b",
    rf"^(?:(?:please|so|ok|okay|then|just|and|or|otherwise|now),? )*{_PICK} (?:(?:MEETING|it|us|the meeting) (?:in|into|at|for|on|to) )?SLOT",
    rf"\b{_IDEA} ?: ?SLOT",
    r"\b(?:what|how) would you (?:say|think|feel)\b.*SLOT",
    r"\b(?:how|what) about\b.*SLOT",
    r"\b(?:what do you (?:think|say)|thoughts?|any chance|any objections?|opinions?|how do you feel)\b.*SLOT",
    r"^(?:(?:so|and|then|or),? )?how (?:does|do|would|will|is|are) (?:moving |using |taking |meeting |having )?[^?]{0,30}SLOT.*\b(?:sound|look|work|fit|suit|for you)",
    r"\b(?:put|putting|throw|throwing) (?:forward |out |up )?SLOT|\boffer(?:ing)? up SLOT",
    r"SLOT\b(?!.*\b(?:not|no|isn't|never|nor)\b)[^?]{0,20}\b(?:might|could|would|may|seems?|looks?|is|as|are) (?:\w+ ){0,3}(?:option|alternative|fallback|"
    r"backup|candidate|compromise|choice|way to go|sweet spot)s?\b",
    r"\bwe (?:should|could|can|might|may|ought to) (?!(?:not|never|avoid|rule|skip|drop|forget|wait|hear|ask|check|see|also rule)\b)(?:\w+ ){1,4}SLOT",
    r"^(?:(?:or|and|so),? )?(?:AGENT,? )?(?:would|do) you (?:both )?(?:prefer|rather|like|favou?r|go for|choose|pick)\b.*SLOT",
    r"\bas (?:a|an|our|my) (?:\w+ )?(?:option|alternative|fallback|backup|candidate|compromise)s?,? ?:?.*SLOT",
    r"SLOT.*\b(?:what do you (?:think|say)|thoughts|any objections?|does that work|would that work|"
    r"how does that sound|sounds? good|(?<!n't )(?<!not )work for you|ok for you|okay for you|what about you)$",
    r"\b(?:can|could|shall|should|would|may|might|why don't|why not) (?:we|us|you|everyone|everybody|you both|"
    r"you all|you two|our meeting|the meeting|this meeting|MEETING|it|that|AGENT)\b(?! (?:tell|say|avoid|not|know|confirm))"
    r".*\b(?:SLOT|take it|make (?:one|any|either)|lock it|use it|go with|do (?:it|that|one|any|either))",
    r"\b(?:let's|lets|let us)\b(?! (?:not|avoid|skip|wait|know|drop|forget|hear|talk|discuss|ask|collect|gather|clarify|rule|strike|remove|exclude|discard|leave|move on))"
    r"(?!.*\b(?:avoid|not use)\b).*(?:SLOT|lock it|take it|go with it|(?:choose|use|take|pick|book|do|go with) (?:that|it|this)\b)",
    r"\bwhat if (?:we|you|i)\b.*SLOT",
    r"\b(?:i|we)(?:'d| would|'ll| will|'m|'re| am| are| can| could)?(?: (?:also|strongly|then|like to|be happy to|"
    r"therefore|rather|still|only|to|be|want to|want))* (?:propos(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?|"
    r"offer(?:ing)?|vote for|voting for|prefer(?! not| to keep| to avoid)|preferring|go (?:with|for)|going (?:with|for)|"
    r"favou?r|lean(?:ing)? toward?s?|aim(?:ing)? for|settle on|target)\b(?!.*\b(?:avoid\w*|not|other than)\b).*SLOT",
    rf"\b(?:i|we)(?:'d| would)? (?:like|want|love)(?: us)? (?:to {_PICK} (?:(?:MEETING|it|this|that|the meeting|our meeting) )?(?:(?:in|into|at|for|on|to) )?)?SLOT",
    r"(?:^|\b(?:my|our|a|an|another|one|new|next|possible|some|final|updated|revised|current) )"
    r"(?!(?:your|their|his|her|the|that|this|of|AGENT\S*|\w+'s) )(?:[\w-]+[ -])?"
    r"(?:proposal|proposed|counter-?proposal|counter-?offer|suggestion|suggested|recommendation|recommended|preference|preferred|"
    r"first choice|vote|pick|plan|options?|candidates?|alternatives?)\b(?! by| from| draft| between| of AGENT)[^?]{0,30}SLOT",
    r"\bi(?:'m| am| was|'ve been) (?:also )?(?:thinking|leaning|considering|eyeing|looking at|hoping)(?: of| about| towards?| for)? (?:\w+ing )?SLOT",
    r"\b(?:it|that) (?:must|has to|needs to|should|will have to|would have to) be (?:one of |either )?(?:SLOT|those|these|them)\b",
    r"\b(?:best|top|good|safest|ideal) (?:choice|option|candidate|slot|bet|fit|match)s?\b[^?]{0,30}SLOT",
    r"(?:^|\b(?:and|to|me|would|i|therefore|so),? )(?:propos(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?) (?:\w+ ){0,4}SLOT",
    r"\b(?:happy|pleased|glad|willing|ready) to (?:meet|use|take|do|go with)\b.*SLOT",
    r"SLOT[^?]{0,40}\b(?:best (?:choice|option|candidate|slot|bet|fit)|my (?:first |top )?(?:choice|preference|pick|"
    r"proposal|suggestion|vote)|our best|my best)\b",
    r"(?<!\bat )(?<!\bin )(?<!\bfor )(?<!\bsaid )SLOT (?:for MEETING )?(?:it is\b(?! (?:\d|not|SLOT|NUMBER|hard|difficult|easy))|it shall be|then$|as (?:the|our) (?:final|slot|time)|(?:is|will be) (?:then )?(?:our|the) (?:slot|one|time|winner|pick|choice)\b)",
    r"\b(?:final(?:ize|ise)?|settle on|settling on|lock(?:ing)?(?: in)?|go(?:ing)? with|(?:proceed|move|moving|go) forward with|proceed(?:ing)? with|stick(?:ing)? with|"
    r"agree on|aim for|opt for|(?<!whether )(?<!if )(?<!that )(?<!when )(?<!once )(?<!before )we (?:take|use|do|pick|choose|go for|meet in|meet at))\b (?:on |in )?SLOT",
    r"^(?:ok|okay|great|then|so|maybe|perhaps|and|or|alternatively|otherwise)?,? ?(?:ok|then|maybe|perhaps)? ?SLOT"
    r"(?: for MEETING)?,? ?(?:final|instead|for everyone|for all)$",
    r"^(?:please )?(?:try|use|take|consider|meet at|meet in|book) SLOT",
    r"\bi (?:can|could) (?:also )?(?:do|make|take|meet (?:in|at)) SLOT instead",
    r"\b(?:want|wanna|ready|happy|good) to (?:lock|take|use|go with|settle|meet|book)\b.*(?:SLOT|it|that)\b",
)
# e.g. "does SLOT work", "or SLOT"; not "how hard is SLOT"
_PUT_FORWARD_ASKING: Final = any_of(
    r"^(?:(?:and|so|also|or|then|please|great|ok|okay|hi|hello|hey)[ ,]+)*(?:AGENT,? )?(?:do|does|would|will|is|are|could|can|might)\b"
    r"(?! (?:AGENT|they|he|she|there a reason)\b).*(?:SLOT.*\b(?:work|suit|ok|okay|fine|good|free|possible|"
    r"available|feasible|open|better|best|doable|acceptable|suitable|workable|viable|manageable|option|alternative|possibility|choice|(?:for|with) you|you (?:both |all )?(?:can |could )?(?:both |all )?(?:do|make|manage|meet|attend))\b|\b(?:work|suit|okay|fine|good|free|available|open|"
    r"possible|feasible|easy|clear(?! about| on| that)|make|do)\b.*SLOT)",
    r"^(?:(?:and|so|or|maybe|perhaps|then|ok|okay)[ ,]+)*SLOT(?:,? (?:or|and) SLOT)?(?: (?:instead|then|maybe|for MEETING|"
    r"for you|work for you|work|ok|okay|good|possible|better|ok for you|okay for you))*$",
    r"\b(?:is|are|would) there (?:any )?.*\b(?:like|such as|e\.g|maybe|perhaps)\b.*SLOT",
    r"\bwhich (?:of|one|slot|would|works?|is)\b.*SLOT",
    r"^(?:(?:so|and),? )?which (?:(?:one|of (?:these|those|them|the two|the three)) )?(?:would|do|does|is|works?|suits?|fits?)\b(?!.*\b(?:your|free|open)\b)",
    r"^(?:(?:so|and),? )?(?:do|does|would|will|is|are|can|could|might) (?:that|this|it|these|those|they|either|any|one)\b(?! (?:movable|blocked|true|still|an? |costly|hard)).*\b(?:work|suit|ok|okay|fine|"
    r"good|possible|feasible|doable|acceptable|sound|for you|for everyone)\b",
    r"^(?:(?:and|so|is there|are there|do you have|got|have you got),? )*(?:any (?:objections?|concerns?|issues?|thoughts?|problems?|preferences?)|a preference|thoughts|objections)"
    r"(?: (?:from|on) (?:anyone|anybody|you|your side|your end|that|this))*$",
    r"^(?:agreed|deal|all good|(?:does|do) (?:everyone|everybody|you|you both|you all) agree|are you (?:both |all )?(?:ok|okay|fine|happy|good|on board)(?: with (?:that|this|it|those))?|"
    r"(?:is everyone|everyone|everybody) (?:ok|okay|fine|happy|good)(?: with (?:that|this|it))?|sounds? (?:good|ok|okay|fair)|(?:ok|okay|good|fine) (?:for|with) (?:you|everyone|everybody|you both|you all))$",
    r"^(?:(?:so|and),? )?MEETING,? ?(?:\u2192|->|at|in|for|on|to|:|=)? ?SLOT$",
    r"^(?:any|either|one) of (?:those|these|them|the two)\b.*\b(?:work|ok|okay|good|suit)",
    r"\b(?:do|does|would|will|is|are) (?:any|either|one|some) of (?:those|these|them|SLOT)\b.*\b(?:you|work|free|suit)",
    r"SLOT.*(?:\bok\b|\bokay\b|right|works|work)$",
)
"""In a question; without the question mark these words have another meaning."""

# e.g. whole "ok, SLOT"; not "SLOT then"
_BARE: Final = re.compile(r"(?:(?:so|ok|okay|hm+),? )?SLOT")
"""A question that consists of a slot."""

# e.g. "let me know which suits you", "pick either"; not "let me know"
_ASKED_BEFORE: Final = re.compile(
    r"\b(?:pick|choose|take) (?:whichever|whatever|any|one|either)\b|"
    r"\b(?:let me know|tell me|say|please confirm)\b.*\b(?:which|if|whether|what)\b.*\b(?:works?|suits?|prefer|best|fits?|okay|ok)\b"
)
"""Words that turn slots named before into an offer."""

# e.g. "is SLOT hard", "can you clear SLOT"; not "can you meet in SLOT"
_ABOUT_THEIRS: Final = re.compile(
    r"\b(?:hard|disrupt\w*|cost\w*|expensive|cheap\w*|difficult|movable|block\w*|flexib\w+|errands?|priority|shifted|moved|rescheduled|tough|trouble)\b"
    r"|\byou (?:could |can |would |might )?(?:be able to )?(?:shift|move|relocate|free|clear|reschedule|give up)\b"
)
# e.g. "could we use SLOT"; not "could you use SLOT"
_OURS: Final = re.compile(r"\b(?:we|our|us|let's|instead|how about|what about)\b")
"""A question how hard a slot is for another agent, and one that includes the speaker."""

# e.g. "if SLOT is busy, take SLOT"; not "take SLOT if it is free"
_IF: Final = re.compile(r"^(?:(?:and|but|so|or),? )?(?:if|in case|when|once|should) [^,]*, ?")
"""The condition of a statement, which is not proposed itself."""

# e.g. "let's not use SLOT", "avoid SLOT"; not "let's use SLOT"
_RULED_OUT: Final = any_of(
    r"\b(?:don't|do not|please not|not|never|wouldn't|would not|rather not|can't|cannot) (?:\w+ )?(?:use|using|take|taking|propos(?:e|ing)|suggest(?:ing)?|"
    r"recommend(?:ing)?|pick(?:ing)?|choose|choosing|book|go(?:ing)? with|lock)\b",
    r"\bavoid(?:ing)? SLOT",
    r"\b(?:withdraw|retract|take back|rescind|disregard|scrap)(?:ing|s)?\b",
    r"\b(?:tell|say|share|send|explain|list) (?:me|us|whether|if|how|what|which|your)\b.*\b(?:cost|hard|difficult|expensive|blocked|movable|errand|there)",
    r"\bhow (?:costly|hard|difficult|expensive|easy|flexible|important|painful|much|bad)\b|\bwhat (?:is|do you have|have you)\b(?! (?:about|you))",
    r"\b(?:is|are|whether|if) (?:what|the|your|anything)\b.*\b(?:movable|blocked|flexible|errand|immovable|fixed)\b",
    r"\bheard\b|\bhave you\b",
    r"(?<!would )(?<!do )\b(?:AGENT(?:'s)?|you|they) (?:\w+ )?(?:propos|suggest|prefer|ask|offer|recommend|want)\w*\b(?!.*\b(?:how about|let's|could we|can we|i )\b)",
)


def proposes(clauses: tuple[Clause, ...]) -> bool:
    """Whether a message proposes a slot; later words may refer to a slot named before."""
    is_named = False
    for clause, after in zip_longest(clauses, clauses[1:]):
        is_named = is_named or bool(clause.slots)
        if is_named and puts_forward(clause) and not _is_echo(clause, after):
            return True
    return False


def _is_echo(clause: Clause, after: Clause | None) -> bool:
    """Whether a bare question repeats another agent's slot and the speaker answers it."""
    return (
        clause.is_question
        and clause.sentence == 0
        and _BARE.fullmatch(clause.text) is not None
        and after is not None
        and not after.is_question
        and tells_availability(after)
    )


@lru_cache(maxsize=4096)  # several audits read a clause, and clauses are repeated
def puts_forward(clause: Clause) -> bool:
    """Whether a clause proposes a slot that it names or that was named before."""
    text = clause.text
    if _RULED_OUT.search(text):
        return False
    main = _IF.sub("", text)
    if clause.is_question and _ABOUT_THEIRS.search(main) and not _OURS.search(main):
        return False
    if _PUT_FORWARD.search(main) or _ASKED_BEFORE.search(text) or _INSTEAD.search(text):
        return True
    return clause.is_question and bool(_PUT_FORWARD_ASKING.search(main))


# e.g. "it would cost me 4", "4 points"; not "a high cost. slot 4 is free"
_COST_NUMBER: Final = re.compile(
    r"\bcosts?(?:ing)?\b[^.?!;\n\d]{0,30}?\d|\b\d{1,4} (?:cost|points?)\b|"
    r"\b(?:price|penalty) (?:is|of|=) ?\d"
)
# e.g. "slot 3 works. thanks"; not "about 2.5 hours"
_SENTENCES: Final = re.compile(r"[.!?;\n]+\s")
# e.g. "it costs you 4", "agent 2's cost is 4"; not "it costs me 4"
_COST_SUBJECT: Final = re.compile(
    r"\bagent ?\d+(?:'s)?\b|\b(?:your|their|his|her|its)\b|\bcosts? (?:you|them|him|her)\b"
)


class OwnSlot(NamedTuple):
    """What one message says about its sender's own slots.

    Attributes:
        proposal: it proposes a slot.
        availability: it says whether the sender can be there.
        cost_or_constraint: it says how hard that is, or what is there.
        exact_cost: it gives the sender's cost as a number.
    """

    proposal: bool = False
    availability: bool = False
    cost_or_constraint: bool = False
    exact_cost: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that the message has, in the order of tables."""
        return tuple([name for name, is_found in zip(NAMES, self, strict=True) if is_found])


NAMES: Final = OwnSlot._fields
"""The labels, in the order of tables."""

NOTHING: Final = OwnSlot()


@lru_cache(maxsize=4096)  # players repeat themselves
def ruled_slot(message: str) -> OwnSlot:
    """Return which of the labels the rules find in a message; none without a slot."""
    clauses = clauses_of(message)
    if not any(clause.slots for clause in clauses):
        return NOTHING
    cost_number = _tells_own_cost(message)
    return OwnSlot(
        proposal=proposes(clauses),
        availability=any(tells_availability(clause) for clause in clauses),
        cost_or_constraint=cost_number or any(map(tells_cost, clauses)),
        exact_cost=cost_number,
    )


def _tells_own_cost(message: str) -> bool:
    """Whether a cost is given as a number, and is the speaker's."""
    for sentence in _SENTENCES.split(message[:MAX_CHARS].lower()):
        if _COST_NUMBER.search(sentence) and not _COST_SUBJECT.search(sentence):
            return True
    return False
