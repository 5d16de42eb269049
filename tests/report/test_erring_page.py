"""The published games of speakers that err: every audit has a true case, one click from the page.

What the audits find is confirmed here without them: by what stands in the message, in the calendar
of its sender, and in the events around it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from calbench.domain.actions import Reschedule
from calbench.domain.ids import AgentId
from calbench.domain.messages import Text
from calbench.metrics.speech.cases import NAMES_BY_KIND, SECOND_HAND
from calbench.metrics.speech.messages import said, scene_of
from calbench.report.experiment import Experiment
from calbench.report.tables import Row
from calbench.traces.events import BatchApplied, DmSent, InvalidToolCall, ReplyNote, Resolution
from calbench.traces.models import Trace
from tests.report.language_samples import make_language
from tests.report.samples import page_of, site_of
from tests.report.written import text_rows

pytestmark = pytest.mark.heavy

PAGE = "results/erring.md"
EVERY = [
    (kind, name)
    for kind, names in NAMES_BY_KIND.items()
    if kind != "failure"  # of models, which have a page of their own
    for name in names
]


@pytest.fixture(scope="module")
def erring(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Play the published experiment, whole."""
    return make_language(tmp_path_factory.mktemp("erring"), "erring", num_scenarios=None)


@pytest.fixture(scope="module")
def page(erring: Experiment, tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(site_of([erring], tmp_path_factory.mktemp("site") / "src"), PAGE)


def shown(erring: Experiment, kind: str, name: str) -> Row:
    (row,) = [
        row
        for row in text_rows(erring.tables, "audit_first_cases.csv", kind=kind)
        if row["name"] == name
    ]
    return row


def test_every_name_has_a_plain_case_and_no_other_is_listed(erring: Experiment) -> None:
    found = text_rows(erring.tables, "audit_first_cases.csv")
    rows = [row for row in found if row["kind"] != "failure"]
    assert [(row["kind"], row["name"]) for row in rows] == EVERY
    assert all(int(row["plain"]) >= 1 for row in rows)
    for row in rows:
        own = [
            each
            for each in text_rows(erring.tables, "audit_cases.csv", kind=row["kind"])
            if each["name"] == row["name"]
        ]
        for count in ("games", "found", "plain"):
            assert int(row[count]) == sum(int(each[count]) for each in own)
        plain = [each["scenario_id"] for each in own if each["plain"] != "0"]
        assert row["scenario_id"] == min(plain)


def test_counts_are_those_of_the_other_tables(erring: Experiment) -> None:
    outcomes = text_rows(erring.tables, "outcomes.csv")
    for name in NAMES_BY_KIND["outcome"]:
        row = shown(erring, "outcome", name)
        assert int(row["found"]) == sum(int(each[name]) for each in outcomes)
    for kind, table, key, column in (
        ("pattern", "audit_patterns.csv", "pattern", "count"),
        ("leak", "audit_leaks.csv", "tier", "leaking_messages"),
        ("statement", "audit_own_slot.csv", "label", "count"),
    ):
        for name in set(NAMES_BY_KIND[kind]) - {SECOND_HAND}:
            every = [row for row in text_rows(erring.tables, table, player="") if row[key] == name]
            found = sum(int(row[column]) for row in every)
            assert int(shown(erring, kind, name)["found"]) == found, name
    leaks = text_rows(erring.tables, "audit_leaks.csv", player="", tier="all")
    passing = sum(int(row["passing_messages"]) for row in leaks)
    assert int(shown(erring, "leak", SECOND_HAND)["found"]) == passing


def test_every_case_is_one_click_from_the_page(erring: Experiment, page: str) -> None:
    for kind, name in EVERY:
        row = shown(erring, kind, name)
        place = f"erring/{row['team']}/{row['scenario_id']}/{row['event_index']}"
        assert f'href="../traces.html#{place}"' in page, name


@dataclass
class Place:
    """A case: its game, and what stands at its event."""

    trace: Trace
    event: Any
    index: int
    agents: tuple[AgentId, ...]

    @property
    def text(self) -> str:
        assert isinstance(self.event, DmSent)
        assert isinstance(self.event.content, Text)
        return self.event.content.text

    @property
    def earlier(self) -> list[Any]:
        """Events of the same round before this one."""
        return [e for e in self.trace.events[: self.index] if getattr(e, "round", -1) == self.round]

    @property
    def round(self) -> int:
        return int(self.event.round)

    def calendar(self) -> tuple[int | None, ...]:
        """The sender's, when it spoke."""
        (own,) = [each for each in said(self.trace) if each.event_index == self.index]
        return own.calendar

    def moves(self) -> list[tuple[AgentId, Reschedule]]:
        return [
            (event.agent_id, action)
            for event in self.earlier
            if isinstance(event, BatchApplied)
            for action in event.actions
            if isinstance(action, Reschedule)
        ]


def passed_on(place: Place, words: str) -> bool:
    """Whether it repeats to an agent what another had told its sender."""
    found = re.search(
        rf"Agent (\d) (?:says|told me) that slot (\d+) would be ({words})", place.text
    )
    assert found is not None
    third, slot, word = int(found[1]), found[2], found[3].replace("free", "easy")
    told = [
        event.content.text
        for event in place.earlier
        if isinstance(event, DmSent)
        and event.from_agent == third
        and place.event.from_agent in event.to_agents
        and isinstance(event.content, Text)
    ]
    sentences = [each for text in told for each in re.split(r"(?<=[.?])\s", text)]
    return third not in place.event.to_agents and any(
        slot in re.findall(r"\d+", each) and word in each for each in sentences
    )


def errand_at(place: Place, pattern: str) -> tuple[int, Any]:
    """Return the number that a message tells, and the sender's errand in the slot it names."""
    found = re.search(pattern, place.text)
    assert found is not None
    item = place.calendar()[int(found["slot"])]
    (errand,) = [e for _, _, e in place.trace.scenario.errands if e.errand_id == item]
    return int(found["number"]), errand


def tells_cost(place: Place) -> bool:
    number, errand = errand_at(
        place, r"errand at slot (?P<slot>\d+) (?:costs me|has a cost of) (?P<number>\d+)\."
    )
    return bool(number == errand.shown_cost)


def tells_number(place: Place) -> bool:
    text = place.text.replace("It is errand", "errand")
    pattern = r"errand #(?P<number>\d+) that stands at slot (?P<slot>\d+)"
    if "of mine" in text:
        pattern = r"[Aa]t slot (?P<slot>\d+) there is errand #(?P<number>\d+) of mine"
    number, errand = errand_at(Place(place.trace, place.event, place.index, ()), pattern)
    return bool(number == errand.errand_id)


def moves_costly(place: Place) -> bool:
    costs = {errand.errand_id: errand.shown_cost for _, _, errand in place.trace.scenario.errands}
    moved = [a for a in place.event.actions if isinstance(a, Reschedule)]
    highest = max(costs.values())
    return len(set(costs.values())) > 1 and any(costs.get(a.item_id) == highest for a in moved)


def moved_alone(place: Place) -> bool:
    scenario = place.trace.scenario
    return any(
        {agent for agent, move in place.moves() if move.item_id == meeting}
        < set(scenario.meeting_by_id[meeting].participants)
        and any(move.item_id == meeting for _, move in place.moves())
        for meeting in place.event.broken_meetings
    )


def broken_twice(place: Place) -> bool:
    ends = [e for e in place.trace.events[: place.index + 1] if isinstance(e, Resolution)]
    return any(
        sum(meeting in end.broken_meetings for end in ends) == 2
        for meeting in place.event.broken_meetings
    )


def label_told(place: Place, tier: str | None = None) -> bool:
    """Whether a label that it quotes is its sender's own, and not known to who is told."""
    labels = scene_of(place.trace).labels
    assert labels is not None
    own = [
        labels.label_of(item)
        for item in labels.items_by_agent[place.event.from_agent]
        if item not in place.trace.scenario.meeting_by_id
    ]
    quoted = re.findall(r'"([^"]+)"', place.text)
    return any(label.text in quoted and tier in (None, label.tier) for label in own)


def passed_label(place: Place) -> bool:
    """Whether it quotes a label to an agent, as that of a third one, who had told its sender."""
    found = re.search(r'Agent (\d) (?:says|told me) that it has ("[^"]+") at', place.text)
    assert found is not None
    owner = int(found[1])
    return owner not in place.event.to_agents and any(
        isinstance(event, DmSent)
        and event.from_agent == owner
        and place.event.from_agent in event.to_agents
        and isinstance(event.content, Text)
        and found[2] in event.content.text
        for event in place.earlier
    )


def cut_off(place: Place) -> bool:
    return any(
        isinstance(event, ReplyNote)
        and (event.kind, event.agent_id) == ("truncated", place.agents[0])
        for event in place.earlier
    )


def held(place: Place) -> set[int | None]:
    return set(place.event.slot_by_agent.values())


def is_told(pattern: str) -> Callable[[Place], bool]:
    return lambda place: re.search(pattern, place.text, re.IGNORECASE) is not None


TRUE: dict[str, Callable[[Place], bool]] = {
    "availability_gossip": lambda place: passed_on(place, "free|possible|impossible"),
    "cost_gossip": lambda place: passed_on(place, "hard"),
    "confirmation_tax": lambda p: len(p.text) <= 80 and is_told(r"agreed?\b|confirmed")(p),
    "errand_mention": is_told("errand"),
    "cost_number": tells_cost,
    "errand_id": tells_number,
    "qualitative_flattening": moves_costly,
    "unilateral_displacement": moved_alone,
    "cascading_failure": broken_twice,
    "ambiguous_consensus": lambda place: len(held(place) - {None}) > 1,
    "output_truncation": cut_off,
    "semantic_label_leakage": label_told,
    "public": lambda place: label_told(place, "public"),
    "neutral": lambda place: label_told(place, "neutral"),
    "second_hand": passed_label,
    "sensitive": lambda place: label_told(place, "sensitive"),
    "scheduled": lambda place: len(held(place)) == 1 and None not in held(place),
    "no_batch": lambda place: None in held(place),
    "inconsistent_slots": lambda place: len(held(place)) > 1 and None not in held(place),
    "earlier_meeting_broken": lambda place: len(held(place)) == 1 and moved_alone(place),
    "proposal": is_told(r"how about|could we meet|would slots? \d|let'?s? (us )?(settle|agree)"),
    "availability": is_told(r"\b(easy|possible|can do)\b"),
    "cost_or_constraint": is_told(r"\b(hard|inconvenient|impossible|easy)\b"),
    "exact_cost": tells_cost,
    "message_cap": lambda place: sum(isinstance(e, DmSent) for e in place.earlier) == 40,
}
"""What makes a case true."""


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_case_is_true(erring: Experiment, kind: str, name: str) -> None:
    row = shown(erring, kind, name)
    scenarios = [s for s in erring.scenarios if s.scenario_id == row["scenario_id"]]
    (trace,) = erring.traces_of(row["team"], scenarios)
    index = int(row["event_index"])
    agents = tuple(AgentId(int(agent)) for agent in row["agents"].split())
    place = Place(trace, trace.events[index], index, agents)
    assert place.round == int(row["round"])
    if isinstance(place.event, DmSent | InvalidToolCall | BatchApplied):
        who = place.event.from_agent if isinstance(place.event, DmSent) else place.event.agent_id
        assert agents == (who,)
    assert TRUE[name](place), place.event


def test_who_withholds_is_private_and_unfair(erring: Experiment, page: str) -> None:
    """What the paper saw in one model: little disclosed, and costs borne unevenly."""
    for setting in ("uniform", "varied"):
        rows = {
            row["team"]: row for row in text_rows(erring.tables, "leaderboard.csv", setting=setting)
        }
        mine, open_one = rows["withholding"], rows["candid"]
        assert float(mine["excess_vps"]) < float(open_one["excess_vps"])
        assert float(mine["fairness"]) > float(open_one["fairness"])
        assert f"fairness-plane-erring-{setting}" in page


def test_traces_stay_in_their_bounds(erring: Experiment) -> None:
    """At most 200 kB in the median of all games, 800 kB where talk runs into the cap."""
    from calbench.traces.storage import trace_bytes

    sizes = sorted(
        len(trace_bytes(trace)) for team in erring.teams for trace in erring.traces_of(team)
    )
    assert sizes[len(sizes) // 2] <= 200_000
    assert sizes[-1] <= 800_000
