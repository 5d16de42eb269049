"""What a trained model reads in a message: cues of its clauses, and what the rules find (G.5) [C].

A cue is a class of words or forms, such as words of being free, denial, or a question; classes are
from general knowledge of English and of scheduling talk. The features of a clause are its cues,
pairs of them, and its words with slots normalised, so that what is learnt from one slot holds for
all. Forms that rules for running prose do not read as slots are written out first: ``#4``, ``S4``,
lists with ticks, and JSON.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Final

from calbench.metrics.speech.availability import tells_availability, tells_cost
from calbench.metrics.speech.clauses import (
    MAX_CHARS,
    Clause,
    clauses_of,
    rewriting,
    rewritten,
)
from calbench.metrics.speech.rules import OwnSlot, puts_forward, ruled_slot
from calbench.metrics.speech.states import STATED, states_of

# e.g. "#3 or s4", "✅"; not "slot 3 works"
_WRITTEN_OUT: Final = rewriting(
    ("#", r"(?<![\w&])#(?=\d{1,2}\b)", "slot "),
    ("", r"\b[Ss](?=\d{1,2}\b)", "slot "),
    ("", "[\u2705\u2713\u2714\U0001f7e2\U0001f44d]\ufe0f?", " yes "),
    ("", "[\u274c\u2717\u2718\U0001f6ab\U0001f534\u26d4]\ufe0f?", " no "),
    ("", "[\u26a0\U0001f7e1\U0001f7e0]\ufe0f?", " at a cost "),
    ("_", r"(?<=[A-Za-z])_(?=[A-Za-z])", " "),
    ('"', r'"(slot|alt|alternative|time)"\s?:\s?(?=\d)', "slot "),
    ("", r'[{}"]', " "),
)
_DENIED: Final = ("can", "won", "don", "doesn", "didn", "isn", "aren", "couldn", "wouldn")
_SHORT: Final = {
    **{f"{each}t": f"{each}'t" for each in _DENIED},
    **dict.fromkeys(("Im", "im"), "i'm"),
    **dict.fromkeys(("Ive", "ive"), "i've"),
    "u": "you",
}
# e.g. "i cant"; not "important"
_SHORTENED: Final = re.compile(rf"\b(?:{'|'.join(_SHORT)})\b")

# e.g. "please ask Anna.", "Anna is free"; not "Slot 3 is free on Monday."
_PERSON: Final = re.compile(
    r"(?=[A-Z])(?:"  # at every other place the rest need not be tried
    r"(?<![.!?\n] )(?<!^)\b(?!(?:I|Slot|Slots|Agent|Agents|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Meeting|"
    r"AI|OK|Ok|FYI|PS|ID|JSON|TBD)\b)[A-Z][a-z]{1,12}\b(?=[,.?!)]|$)"
    r"|\b(?!(?:I|Slot|Slots|Agent|Agents|It|That|This|There|What|Which|Who|We|You|My|Our|Everything|Nothing|Anything|Everyone|Mine|All|"
    r"None|Both|Each|Either|Neither|One|Meeting|Mornings?|Afternoons?|Evenings?|Day|Early|Late|Here|Those|These|Time|Your|His|Her|Calendar|Yes|No|"
    r"Anyone|Somebody|Someone|Nobody|How|Where|When|Status|Option|Proposal)\b)"
    r"[A-Z][a-z]{1,12}(?='s\b| (?:is|has|can|can't|could|couldn't|said|says|told|prefers|needs|wants|would|will|mentioned|asked|and I)\b))"
)

# e.g. "SLOT is hard", "let me know"; not "hello"
CUES: Final = {
    name: re.compile(pattern)
    for name, pattern in {
        "slot": r"\bSLOT\b",
        "first": r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself)\b",
        "we": r"\b(?:we|us|our|let's|lets|everyone|everybody|all of us|both of us)\b",
        "you": r"\b(?:you|your|yours|you're|anyone|anybody|somebody)\b",
        "other": r"\bAGENT\b|\b(?:he|she|they|him|her|his|hers|their|them|he's|she's|they're)\b",
        "deny": r"\b(?:not|no|never|none|nothing|cannot|neither|nor|nope|nobody|nah|hardly|without)\b|n't\b",
        "able": r"\b(?:can|could|able|manage|make|do|attend|join|meet)\b",
        "unable": r"\b(?:can't|cannot|can not|unable|couldn't|won't|not able|decline|impossible|infeasible|no way|no chance|not possible|regret)\b",
        "free": r"\b(?:free|open|available|clear|vacant|empty|unoccupied|openings?|availability|flexible|unbooked|wide|gap|gaps|nothing)\b",
        "taken": r"\b(?:busy|booked|taken|occupied|blocked|unavailable|out|off|away|closed|full|packed|clash|clashes|clashing|conflicts?|no-?go|"
        r"engaged|tied|swamped|stuck|gone|reserved|committed|obligations?|commitments?|overlaps?|double-booked|spoken for)\b",
        "good": r"\b(?:works?|working|fine|good|ok|okay|suits?|fits?|great|perfect|happy|glad|delighted|possible|doable|feasible|comfortable|cool|accept|"
        r"convenient|acceptable|workable|nice|ideal|problem-free|game)\b",
        "yes": r"\b(?:yes|yep|yeah|yup|sure|absolutely|definitely|of course|certainly|gladly)\b",
        "bad": r"\b(?:bad|hard|harder|hardest|difficult|tricky|tough|painful|pain|inconvenient|problem|trouble|awkward|worst|worse|hate|reluctant|hassle|stretch|rough|"
        r"nightmare|heavy|heavier|serious|critical|important|urgent|priority|high-stakes|sacrifice)\b",
        "easy": r"\b(?:easy|easier|easiest|easily|simple|light|lighter|minor|small|low|cheap|cheaper|cheapest|least|minimal|minimum|drama|negotiable|trivial|nothing much|no big deal)\b",
        "move": r"\b(?:mov(?:e|es|ed|ing|able)|shift(?:s|ed|ing)?|reschedul\w+|postpon\w+|skip\w*|cancel\w*|bump\w*|swap\w*|rearrang\w+|juggl\w+|push\w*|"
        r"displac\w+|give up|giving up|free up|freeing|drop\w*|relocat\w+|put off|clear out|reshuffl\w+|delay\w*|miss)\b",
        "firm": r"\b(?:fixed|immovable|unmovable|firm|rigid|locked in|set in stone|non-negotiable|untouchable|touch|budge|hard block|mandatory|must|have to|need to|needs to|has to)\b",
        "cost": r"\b(?:costs?|costly|price|pricey|expensive|effort|points?|penalty|disruptions?|expense|burden|displacement|weight|worth)\b",
        "number": r"\bNUMBER\b",
        "rank": r"\b(?:prefer\w*|preference|best|better|favou?r\w*|ideal|rather|choice|rank\w*|nicer|nicest|lean\w*|top|ideally|love|like)\b",
        "propose": r"\b(?:suggest\w*|propos\w+|recommend\w*|nominate|pitch|candidates?|options?|offer\w*|fallback|alternative\w*|vote|plan|aim|target)\b",
        "pick": r"\b(?:pick|go with|go for|take|taking|grab|lock|book|settle|choose|try|convene|use|keep|fix|schedule|set|finali[sz]e|final|stick|call it|say)\b",
        "whatabout": r"\b(?:how about|what about|how does|how would|what if|why not|why don't|shall we|should we|could we|can we|may i|might i|would it|thoughts on|opposed|objections?|objects?|mind)\b",
        "instead": r"\b(?:instead|otherwise|alternatively|or else|failing that|if not|then|so|maybe|perhaps)\b",
        "agree": r"\b(?:agreed|agree|confirm\w*|sounds|deal|noted|thanks|thank|consensus|received|understood|got it|acknowledged|recap|summary|summarise)\b",
        "retract": r"\b(?:withdraw\w*|retract\w*|disregard|take back|ignore|scrap|scratch|never mind|forget|avoid|rule out|cross off|strike)\b",
        "hold": r"\b(?:i have|i've|i've got|there's|there is|because|due|appointment|errands?|meetings?|call|session|something|visit|interview|class|lesson|standing|"
        r"thing|event|engagement|plans?|slot holds|holds|busy with|at the|seeing|with my|of my|reason|personal|private)\b",
        "doing": r"\b(?:i'm|i am|i'll be|i will be|we're) (?!going to (?:suggest|propose)|sorry|afraid)\w+ing\b",
        "told": r"\b(?:said|told|mentioned|heard|according|says|wrote|reported|claims|claimed|apparently|asked)\b",
        "if": r"\b(?:if|unless|in case|should|whenever|as long as|provided)\b",
        "ask": r"\b(?:which|what|who|when|why|how|whose|whether|tell me|let me know|please|kindly)\b",
        "past": r"\b(?:was|were|had|did|yesterday|earlier|before|been|last)\b",
        "only": r"\b(?:only|just|except|apart from|other than|besides|rest|everything else|any other|anything|any|all|else)\b",
        "then": r"\b(?:then|there|that|it|this|those|these|one)\b",
        "range": r"\b(?:after|before|from|until|till|onwards?|later|earlier|between|through|mornings?|afternoons?|evenings?|on|up to)\b",
        "sorry": r"\b(?:sorry|afraid|unfortunately|apolog\w+|regrettably|alas|regret)\b",
        "secret": r"\b(?:private|privately|confidential|share|disclose|disclosed|discuss|instructions?|details?|secret|keep)\b",
    }.items()
}  # fmt: skip
"""Classes of words of a clause in small letters."""

# e.g. whole "so SLOT", "SLOT."; not "SLOT works"
_BARE: Final = re.compile(r"(?:(?:and|or|so|ok|then|no|yes|maybe|[,:=-]) ?){0,4}SLOT[ ,.]{0,3}")
# e.g. "SLOT: i can't"; not "10 AM"
_WORD: Final = re.compile(r"[A-Z]{4,}|[a-z][a-z']*|[:?=<>]")
# e.g. "SLOT works", "reply: SLOT"; not "slots are free"
_SHAPES: Final = {
    "leads": re.compile(r"SLOT\b"),
    "named": re.compile(r"SLOT ?[:=-]|\w+ ?[:=] ?SLOT"),
    "ends": re.compile(r".*\bSLOT,?(?: then| instead| please)?"),
}

_RULES: Final = {
    "proposal": puts_forward,
    "availability": tells_availability,
    "cost_or_constraint": tells_cost,
}

_NAMED: Final = frozenset({"slot", "earlier"})
_JOINT: Final = {
    "can": ({"free", "good", "yes", "able"}, {"question", "deny", "retract", "if"}),
    "cannot": ({"unable", "taken", "sorry"}, {"question", "if"}),
    "denies": ({"deny"}, {"question", "if", "secret"}),
    "holds": ({"hold", "doing", "taken"}, {"question", "free", "agree"}),
    "weighs": ({"bad", "easy", "move", "firm", "cost", "rank"}, {"question", "agree"}),
    "offers": (
        {"propose", "pick", "rank", "whatabout", "instead"},
        {"deny", "retract", "told", "move"},
    ),
    "asks": ({"question"}, {"told", "hold", "move", "cost", "bad", "secret", "past"}),
}
"""What a definition needs of a clause about a slot of the speaker's: some of its cues, and none of
others. So words of one kind that few messages have share what is learnt from all of them."""

_OURS: Final = frozenset({"first", "we", "you", "whatabout"})
"""Cues without which a clause about another person says nothing about its speaker."""

SIZES: Final = (2, 4, 8, 16, 32, 64)
"""Numbers of words by which short and long messages are told apart [C]."""

MAX_WORDS: Final = 200
"""Words of one clause that are read, far above any clause [C]."""


@lru_cache(maxsize=4096)  # by every detector
def prepared(message: str) -> str:
    """Return a message in which slots are written out and other persons are agents."""
    text = rewritten(message[:MAX_CHARS], _WRITTEN_OUT)
    text = _SHORTENED.sub(lambda match: _SHORT[match[0]], text)
    return _PERSON.sub("agent 0", text)


@lru_cache(maxsize=4096)
def cues_of(clause: Clause) -> frozenset[str]:
    """Return the cues of a clause, and of the shape that it has."""
    found = {name for name, pattern in CUES.items() if pattern.search(clause.text)}
    found |= {name for name, pattern in _SHAPES.items() if pattern.match(clause.text)}
    if _BARE.fullmatch(clause.text):
        found.add("alone")
    if clause.is_question:
        found.add("question")
    return frozenset(found)


@lru_cache(maxsize=1024)  # every label of a sender looks at the same sentences
def cues_in(text: str) -> frozenset[str]:
    """Return the cues of all clauses of a sentence."""
    return frozenset().union(*map(cues_of, clauses_of(prepared(text))))


RULED: Final = ("rule ", "rules ")
"""How features begin that say what rules find, in a clause and in the message."""


def message_features(message: str) -> frozenset[str]:
    """Return the features of a message.

    ``cue A``, ``pair A B`` and ``rule A`` are of one of its clauses; ``word A`` and ``words A B`` are
    words and neighbours in a clause, ``state A`` what it says of states of slots; ``rules A`` and
    ``over N`` are what the rules find in the message, and that it has more than so many words.
    """
    text, size = prepared(message), len(message.split())
    clauses = clauses_of(text)
    has_slots = tuple([bool(clause.slots) for clause in clauses])
    over = tuple([each for each in SIZES if size > each])
    return _worded(clauses, has_slots, ruled_slot(text), over)


@lru_cache(maxsize=4096)  # most messages differ from others in their slots alone
def _worded(
    clauses: tuple[Clause, ...], has_slots: tuple[bool, ...], ruled: OwnSlot, over: tuple[int, ...]
) -> frozenset[str]:
    features = {f"over {size}" for size in over}
    features |= {f"rules {name}" for name in ruled.names}
    is_named = False
    for clause, is_slot in zip(clauses, has_slots, strict=True):
        features |= _clause_features(clause, is_named, is_named and not is_slot)
        is_named = is_named or is_slot
    return frozenset(features)


@lru_cache(maxsize=4096)
def _clause_features(clause: Clause, is_named: bool, is_earlier: bool) -> frozenset[str]:
    """Return the features of a clause.

    Args:
        clause: of a message.
        is_named: whether an earlier clause of the message names a slot.
        is_earlier: whether that is so and this clause names none.
    """
    cues = cues_of(clause) | ({"earlier"} if is_earlier else set())
    theirs = "their " * ("other" in cues and cues.isdisjoint(_OURS))
    return frozenset(
        [
            *(f"{theirs}{name}" for name in _features(clause, sorted(cues))),
            *(f"{STATED}{name}" for name in states_of(clause, is_named)),
        ]
    )


def _joint(cues: Collection[str]) -> Iterator[str]:
    """Yield what the cues of a clause amount to."""
    if not _NAMED.isdisjoint(cues):
        for name, (some, none) in _JOINT.items():
            if not some.isdisjoint(cues) and none.isdisjoint(cues):
                yield f"joint {name}"


def _features(clause: Clause, cues: list[str]) -> Iterator[str]:
    """Yield the features of a clause with its cues."""
    yield from (f"cue {name}" for name in cues)
    yield from (f"pair {one} {other}" for one, other in combinations(cues, 2))
    yield from _joint(cues)
    for name, tells in _RULES.items():
        if tells(clause):
            yield f"rule {name}"
    words = _WORD.findall(clause.text)[:MAX_WORDS]
    yield from (f"word {word}" for word in words)
    yield from (f"words {one} {other}" for one, other in pairwise(words))
