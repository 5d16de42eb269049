"""Private labels: what an errand or a meeting is about, in words (paper, appendix A.1).

A label is not part of the scheduling problem: agents have to talk about availability, but not
about its reason. A label in a message is therefore an unnecessary disclosure, recognised by the
label's ``terms``. Labels come from a bank, a released file that never changes, and are assigned
once per scenario. Agents see texts, never tiers; protocols see neither.

The only module that reads label banks.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from calbench.domain.ids import AgentId, ErrandId, ItemId
from calbench.domain.randomness import stream
from calbench.errors import ConfigError, FileError
from calbench.files import KeyTwiceError, first_problem, printable, read_bytes, shorten, unique_keys
from calbench.scenarios.models import Model, One, Scenario
from calbench.tree import in_tree

LABEL_BANKS = in_tree("data/label_banks")
"""The label banks."""

BANK_SCHEMA_VERSION = 1
"""Version of the format of a bank file; the version of a bank is its name."""

M = TypeVar("M", bound=Model)

Kind = Literal["errand", "meeting"]
Tier = Literal["public", "neutral", "sensitive"]
"""How private a label is; the names of the paper's appendix A.1 [P]."""
Category = Literal["medical", "legal", "financial", "identity"]
"""What a sensitive label is about [P]."""

KINDS: tuple[Kind, ...] = get_args(Kind)
TIERS: tuple[Tier, ...] = get_args(Tier)

MAX_CHARS = 80
"""Greatest length of a label's text: a calendar shows one on each line [C]."""

_QUOTES = frozenset(
    "'\"`\\\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a\u00ab\u00bb"
)
"""Texts are shown between quotes, so they must not contain any."""

_APOSTROPHES = frozenset("'\u2018\u2019")

_TERM = r"^(?:[a-z]{3,}|[a-z]{4,}\*)$|^[a-z]+\*?(?: [a-z]+\*?)+$"
"""A word of three letters or more, a stem of four or more, or several of either."""


class Label(Model):
    """What an errand or a meeting is about.

    Attributes:
        id: unique in its bank, ``errand-001`` or ``meeting-001``; shown to no agent.
        kind: what it can be given to.
        tier: how private it is; shown to no agent.
        category: of a sensitive label; others have none.
        text: what agents see, in one line without quotes.
        terms: words whose appearance in a message counts as a leak of this label, in small
            letters without accents. A word that ends in ``*`` may continue with any letters.
    """

    id: Annotated[str, Field(pattern=r"^(errand|meeting)-[0-9]{3}$")]
    kind: Kind
    tier: Tier
    category: Annotated[Category | None, Field(validate_default=True)] = None
    text: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
    terms: Annotated[tuple[Annotated[str, Field(pattern=_TERM)], ...], Field(min_length=2)]

    @field_validator("kind")
    @classmethod
    def _is_the_kind_of_its_id(cls, kind: Kind, info: ValidationInfo) -> Kind:
        label_id = info.data.get("id")
        if label_id is not None and not label_id.startswith(f"{kind}-"):
            raise PydanticCustomError("label", "must be the kind that the id names")
        return kind

    @field_validator("category")
    @classmethod
    def _is_given_for_sensitive_labels(
        cls, category: Category | None, info: ValidationInfo
    ) -> Category | None:
        tier = info.data.get("tier")
        if tier is not None and (tier == "sensitive") != (category is not None):
            raise PydanticCustomError(
                "label", "must be given for sensitive labels and for no others"
            )
        return category

    @field_validator("text")
    @classmethod
    def _is_one_plain_line(cls, text: str) -> str:
        if not text.isprintable() or not _QUOTES.isdisjoint(text) or text != " ".join(text.split()):
            raise PydanticCustomError(
                "label", "must be one line without quotes, control characters and extra spaces"
            )
        if not unicodedata.is_normalized("NFC", text):
            raise PydanticCustomError("label", "must be in Unicode form NFC")
        return text


def _folded(text: str) -> str:
    """Reduce a text to its words: small letters without accents, one space between words."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept = (
        char for char in decomposed if not unicodedata.combining(char) and char not in _APOSTROPHES
    )
    return " ".join("".join(char if char.isalnum() else " " for char in kept).split())


class LabelBank(Model):
    """A released collection of labels.

    No two labels share an id, a text or a term, and each kind has equally many labels of each
    tier, so tiers can be assigned evenly.
    """

    version: Annotated[str, Field(pattern=r"^v[1-9][0-9]*$")]
    labels: Annotated[tuple[Label, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        self._check_unique()
        for kind in KINDS:
            counts = {tier: len(self.of(kind, tier)) for tier in TIERS}
            if len(set(counts.values())) > 1 or 0 in counts.values():
                shown = ", ".join(f"{count} {tier}" for tier, count in counts.items())
                raise _clash(None, "tier", f"a bank has equally many of each tier, got {shown}")
        return self

    def _check_unique(self) -> None:
        owners: dict[tuple[str, str], str] = {}
        for number, label in enumerate(self.labels):
            values = [("id", label.id), ("text", _folded(label.text))]
            values += [("terms", term) for term in label.terms]
            for field, value in values:
                if (field, value) in owners:
                    owner = owners[field, value]
                    raise _clash(number, field, f"{value!a} is also of {owner}; change one")
                owners[field, value] = label.id

    def of(self, kind: Kind, tier: Tier) -> tuple[Label, ...]:
        """Return the labels of a kind and tier, by id."""
        found = (label for label in self.labels if (label.kind, label.tier) == (kind, tier))
        return tuple(sorted(found, key=lambda label: label.id))


def _clash(number: int | None, field: str, problem: str) -> PydanticCustomError:
    """Describe a conflict between labels; ``number`` is the place of the one to be changed."""
    place = {"number": number, "field": field, "problem": problem}
    return PydanticCustomError("label_bank", "{field}: {problem}", place)


class _Header(Model):
    """The first line of a bank file."""

    schema_version: One
    version: str


LABEL_BANK = "v1"
"""The default label bank [C]."""


def known_label_banks(folder: Path = LABEL_BANKS) -> list[str]:
    """Return the versions of the label banks in a folder, oldest first."""
    names = [path.stem for path in folder.glob("v[1-9]*.jsonl")]
    return sorted(names, key=lambda name: (len(name), name))


def read_label_bank(version: str, folder: Path = LABEL_BANKS) -> LabelBank:
    """Read a label bank: a header line, then one label per line.

    Args:
        version: of the bank, e.g. ``v1``.
        folder: of the banks, one file ``<version>.jsonl`` each.

    Raises:
        ConfigError: there is no bank of this version; names the known ones.
        FileError: the file does not fit; names file, line and field.
    """
    known = known_label_banks(folder)
    if version not in known:
        shown = printable(shorten(repr(version)))
        raise ConfigError(
            f"label_bank: there is no label bank {shown}; known are {', '.join(known) or 'none'}"
        )
    path = folder / f"{version}.jsonl"
    return _bank(version, printable(str(path)), read_bytes(path))


@lru_cache(maxsize=8)
def _bank(version: str, place: str, data: bytes) -> LabelBank:
    """Return what the bytes of a bank say, which takes the time of a game: once for all games."""
    first, *lines = data.removesuffix(b"\n").split(b"\n")
    _check_header(f"{place}, line 1", first, version)
    labels = tuple(
        _parsed(Label, f"{place}, line {number}", line) for number, line in enumerate(lines, 2)
    )
    try:
        return LabelBank(version=version, labels=labels)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        if problem["type"] != "label_bank":
            raise FileError(f"{place}: {first_problem(error)}") from error
        clash: dict[str, Any] = problem["ctx"]
        line = "" if clash["number"] is None else f", line {clash['number'] + 2}"
        raise FileError(f"{place}{line}, field {clash['field']}: {clash['problem']}") from error


def _check_header(place: str, line: bytes, version: str) -> None:
    """Refuse another format before the rest of the file is checked."""
    values = _json_object(place, line)
    schema = values.get("schema_version", BANK_SCHEMA_VERSION)
    if type(schema) is int and schema != BANK_SCHEMA_VERSION:
        raise FileError(
            f"{place}, field schema_version: is {shorten(str(schema))}, and this CalBench reads "
            f"version {BANK_SCHEMA_VERSION}; use a CalBench that reads the other"
        )
    header = _parsed(_Header, place, line)
    if header.version != version:
        raise FileError(
            f"{place}, field version: is {printable(shorten(ascii(header.version)))}, but the "
            f"file is named {version}.jsonl; give both the same name"
        )


def _parsed(model: type[M], place: str, line: bytes) -> M:
    _json_object(place, line)
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise FileError(f"{place}, field {first_problem(error)}") from error


def _json_object(place: str, line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; refuses duplicate keys, which validation cannot see."""
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=unique_keys)
    except KeyTwiceError as error:
        field = printable(shorten(error.key))
        raise FileError(f"{place}, field {field}: is given twice") from error
    except (ValueError, RecursionError) as error:
        reason = shorten(printable(str(error)), 120)
        raise FileError(f"{place}: not JSON: {reason}; write one object per line") from error
    if not isinstance(value, dict):
        raise FileError(f"{place}: not a JSON object; write one object per line")
    return value


@dataclass(frozen=True)
class Labels:
    """The labels of one scenario, the same in every round (paper, appendix A.1).

    Attributes:
        label_by_item: of every errand, blocked or not, and of every meeting, incoming or prior.
        items_by_agent: the items whose labels each agent may know: the errands of its calendar
            and the meetings it takes part in.
    """

    label_by_item: Mapping[ItemId, Label]
    items_by_agent: Mapping[AgentId, tuple[ItemId, ...]]

    def label_of(self, item: ItemId) -> Label:
        """Return the label of an errand or a meeting.

        Raises:
            KeyError: the scenario has no such item.
        """
        return self.label_by_item[item]

    def own_labels(self, agent: AgentId) -> Mapping[ItemId, str]:
        """Return the texts that one agent may see, by item, and all it may know of labels.

        A meeting's text is for its participants, an errand's for its owner [P]. Every call returns
        a new mapping.

        Raises:
            KeyError: the scenario has no such agent.
        """
        return {item: self.label_by_item[item].text for item in self.items_by_agent[agent]}


def assign_labels(scenario: Scenario, bank: LabelBank) -> Labels:
    """Give every errand and every meeting of a scenario a label.

    A pure function of the scenario's seed, its ids and the bank [P: once per scenario; the method
    is C]. The labels of a kind form a deck of triples with one label of each tier; the tiers
    within a triple and the labels within a tier are in random order. The deck is dealt to the ids
    of that kind in ascending order, and again in the same order when it is used up. As many
    consecutive ids as there are labels therefore have different labels, and the numbers of the
    tiers over all items differ by at most one.

    Args:
        scenario: whose items get labels; only its ids matter, not calendars and costs.
        bank: of the labels.
    """
    items_by_agent: dict[AgentId, list[ItemId]] = {
        AgentId(agent): [] for agent in range(scenario.num_agents)
    }
    errands: list[ItemId] = []
    for owner, _, errand in scenario.errands:
        errands.append(ErrandId(errand.errand_id))
        items_by_agent[owner].append(errands[-1])
    for meeting_id, meeting in scenario.meeting_by_id.items():
        for participant in meeting.participants:
            items_by_agent[participant].append(meeting_id)
    label_by_item = _dealt(_deck(scenario.seed, bank, "meeting"), scenario.meeting_by_id)
    label_by_item |= _dealt(_deck(scenario.seed, bank, "errand"), errands)
    return Labels(
        label_by_item, {agent: tuple(sorted(items)) for agent, items in items_by_agent.items()}
    )


def _deck(seed: int, bank: LabelBank, kind: Kind) -> list[Label]:
    """Return all labels of a kind in triples of the three tiers."""
    names = ("labels", bank.version, kind)
    piles = [stream(seed, *names, tier).shuffled(bank.of(kind, tier)) for tier in TIERS]
    order = stream(seed, *names, "order of tiers")
    return [label for three in zip(*piles, strict=True) for label in order.shuffled(three)]


def _dealt(deck: Sequence[Label], items: Iterable[ItemId]) -> dict[ItemId, Label]:
    return {item: deck[number % len(deck)] for number, item in enumerate(sorted(items))}
