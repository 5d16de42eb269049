"""The index of the trace browser: what the finder shows and sorts by, and words to search.

``site/assets/traces/pagedata.js`` reads a column, which is one of

* ``[...]``: the values;
* ``{"all": value}``: the same for each;
* ``{"of": [...], "at": "..."}``: few different ones, and a letter of :data:`ALPHABET` for each that
  says which.

Numbers of a game are those of its row in ``games.csv``; labels told and patterns are those of
``audit_games.csv``. Games are in the order of scenarios, and for each scenario in that of teams.

For full text, messages in words are numbered through the whole site, game after game. A word's
messages are differences between their numbers, coded in letters; words whose first two letters are
alike are in one file, so that a search reads one file a word, also for words that go on. Names of
files are numbers: no text becomes a path.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from calbench.analysis.measures import EXCESS, privacy_measure
from calbench.errors import FileError
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import Experiment
from calbench.report.tables import Row
from calbench.scenarios.labels import TIERS
from calbench.scenarios.models import Scenario

ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
"""Letters that number what there are at most 64 of; also those of postings."""

Column = Sequence[Any] | Mapping[str, Any]

NUMBERS: Mapping[str, str] = {
    "scheduled": "scheduled",
    "cost": "cost",
    "excess": "excess_cost",
    "messages": "messages",
    "vps": EXCESS,
}
"""Keys by which games are sorted, with their columns in ``games.csv``; of reflections, VPS is that
beyond chance."""

GAME_COLUMNS = (*NUMBERS, "halted", "texts", "told", "tier", "patterns", "passed")
"""Of a game in the index: ``texts`` counts its messages in words, ``told`` the private labels
that were told, ``tier`` is the place of the highest one, from 1, ``patterns`` has a bit for each
pattern that occurs, in the paper's order, ``passed`` counts the labels of others passed on."""


def column(values: Sequence[Any]) -> Column:
    """Return values in the shortest of the three forms, judged by how many differ."""
    different = dict.fromkeys(values)
    if len(different) == 1 and len(values) > 1:
        return {"all": values[0]}
    if len(different) > len(ALPHABET) or 2 * len(different) > len(values):
        return values
    letters = dict(zip(different, ALPHABET, strict=False))
    return {"of": list(different), "at": "".join(map(letters.__getitem__, values))}


class ExperimentIndex:
    """Takes the games of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._rows = experiment.by_game("games.csv")
        self._audits = experiment.by_game("audit_games.csv")
        self._kind_by_team: dict[str, str] = {}
        self._games: dict[tuple[str, str], list[Any]] = {}

    def add(self, team: str, kind: str, scenario_id: str, texts: int) -> None:
        """Take one game of a team, with its kind and the number of its messages in words.

        Raises:
            FileError: no row of ``games.csv`` tells of it.
        """
        row = self._rows.get((team, scenario_id))
        if row is None:
            table = self._experiment.folder / "games.csv"
            raise FileError(f"{table}: has no game of {team} on {scenario_id}; analyze again")
        self._kind_by_team.setdefault(team, kind)
        loss = privacy_measure(row["vps_kind"])
        self._games[team, scenario_id] = [
            *(_whole(row[loss if name == EXCESS else name]) for name in NUMBERS.values()),
            row["is_excluded"] or None,
            texts,
            *_found(self._audits.get((team, scenario_id))),
        ]

    def data(self) -> dict[str, Any]:
        """Return the entry of the index."""
        experiment, scenarios = self._experiment, self._experiment.shown
        teams = [team for team in experiment.teams if team in self._kind_by_team]
        places = [(team, each.scenario_id) for each in scenarios for team in teams]
        games = [self._games[place] for place in places if place in self._games]
        return {
            "name": experiment.name,
            **({"note": experiment.shown_note} if experiment.shown_note else {}),
            "teams": [[team, self._kind_by_team[team]] for team in teams],
            "scenarios": scenario_columns(scenarios),
            "missing": [n for n, place in enumerate(places) if place not in self._games],
            "games": dict(zip(GAME_COLUMNS, map(column, zip(*games, strict=True)), strict=True)),
        }


def index_data(entries: Sequence[Mapping[str, Any]], buckets: Sequence[int]) -> dict[str, Any]:
    """Return the index of experiments, with the numbers of the files of words."""
    return {
        "tiers": list(TIERS),
        "patterns": [pattern.name for pattern in PATTERNS],
        "experiments": entries,
        "buckets": buckets,
    }


def scenario_columns(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return what the index says of scenarios: thirds and best costs are ``null`` if unknown."""
    best = [None if each.oracle is None else each.oracle.best for each in scenarios]
    thirds = [None if each.difficulty is None else each.difficulty.tertile for each in scenarios]
    return {
        "id": [each.scenario_id for each in scenarios],
        "setting": column([each.setting for each in scenarios]),
        "third": column(thirds),
        "meetings": column([len(each.meetings) for each in scenarios]),
        "optimum": column([None if each is None else each.cost for each in best]),
    }


def _whole(value: float | None) -> float | int | None:
    """Return a number without idle decimals."""
    return value if value is None or not float(value).is_integer() else int(value)


def _found(audit: Row | None) -> tuple[int | None, ...]:
    """Return labels told, the place of the highest tier, bits of patterns, labels passed on."""
    if audit is None:
        return None, None, None, None
    tiers = [place for place, tier in enumerate(TIERS, 1) if audit[f"told_{tier}"]]
    bits = sum(1 << place for place, each in enumerate(PATTERNS) if audit[each.name])
    return audit["labels_told"], max(tiers, default=0), bits, audit["labels_passed_on"]


BUCKETS = 128
"""Files that the words are spread over [C]."""

LONGEST = 32
"""Letters of a word that count [C]: longer ones are found by their beginning."""

HEAD = 2
"""First letters of a word that choose its file [C]; with fewer, only the whole word is found."""

# e.g. "Müller's"; not "_ -"
WORD = re.compile(r"[^\W_]+")

FACTOR = 31
"""Spreads first letters over files [C]."""

BITS, MORE = 5, 32
"""A letter holds five bits of a number, least ones first; the sixth says that more follow."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text: runs of letters and digits, compatible forms alike, small."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return frozenset(word[:LONGEST] for word in WORD.findall(folded))


def bucket_of(word: str) -> int:
    """Return the number of the file that holds a word, and all that begin like it."""
    number = 0
    for letter in word[:HEAD]:
        number = (number * FACTOR + ord(letter)) % BUCKETS
    return number


class WordIndex:
    """Takes the words of messages in order; in memory a few letters for each word of each."""

    def __init__(self) -> None:
        self._letters: dict[str, bytearray] = {}
        self._last: dict[str, int] = {}
        self._count = 0

    def add(self, messages: Iterable[Iterable[str]]) -> int:
        """Take messages, each as its different words; return how many there were."""
        before = self._count
        for words in messages:
            for word in words:
                step = self._count - self._last.get(word, -1) - 1
                self._last[word] = self._count
                letters = self._letters.get(word)
                if letters is None:
                    letters = self._letters[word] = bytearray()
                if step < MORE:
                    letters += CODES[step]
                else:
                    letters += number_letters(step)
            self._count += 1
        return self._count - before

    def files(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and content of every file: its words in order, and their messages."""
        buckets: dict[int, list[str]] = {}
        for word in sorted(self._letters):
            buckets.setdefault(bucket_of(word), []).append(word)
        for bucket in sorted(buckets):
            words = buckets[bucket]
            yield (
                bucket,
                {
                    "words": words,
                    "messages": [self._letters[word].decode("ascii") for word in words],
                },
            )


CODES: Sequence[bytes] = [letter.encode("ascii") for letter in ALPHABET]


def number_letters(number: int) -> bytes:
    """Return a natural number in letters."""
    letters = b""
    while number >= MORE:
        letters += CODES[MORE + number % MORE]
        number >>= BITS
    return letters + CODES[number]
