"""What is learnt in whole games: nothing false, nothing of silence, everything of telling all."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import fsum

import numpy as np
import pytest

from calbench import play_game
from calbench.config.composition import compose
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import CHANNELS, Channel, Message, Text
from calbench.metrics.privacy.inference import game
from calbench.metrics.privacy.inference.bits import Learnt, told_by
from calbench.metrics.privacy.inference.calendars import prior_of
from calbench.metrics.privacy.inference.game import learnt, learnt_of
from calbench.metrics.privacy.inference.literal import LiteralReader
from calbench.protocols.clues import Best, Clue, Told, View
from calbench.protocols.imap import Imap
from calbench.protocols.secure_sum import SecureSum
from calbench.scenarios.models import Scenario
from calbench.scenarios.recipe import drawn, task
from calbench.scenarios.suites import build_suites, together
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    ParticipantGroupchatSent,
    Resolution,
)
from calbench.traces.models import Trace
from tests.metrics.games import canonical_scenario

TEAMS = (
    *("imap", "sd-map", "dsm-welfare", "dsm-private", "mediator", "secure-sum", "tell-all"),
    *("candid", "guarded", "oversharer"),
)
HEARD = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, AnnouncementSent)
SUITES = [canonical_scenario(seed) for seed in range(6)]


def has_room(scenario: Scenario, agent: int) -> Sequence[bool]:
    """Return by slot whether an agent's first calendar has room for a meeting."""
    entries = scenario.calendars[agent]
    return [entry is None or not getattr(entry, "blocked", True) for entry in entries]


@pytest.mark.parametrize("team", TEAMS)
def test_certain_deductions_are_true_and_chances_are_right_on_average(team: str) -> None:
    told, true = [], []
    for scenario in SUITES:
        found = learnt(play_game(scenario, team))
        for (target, _), chances in found.chances.items():
            truth = np.array(has_room(scenario, target))
            is_certain = (chances < 1e-9) | (chances > 1 - 1e-9)
            assert ((chances > 0.5) == truth)[is_certain].all()
            told.append(chances)
            true.append(truth)
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.02)


FIRST_ROUND = {
    "tell-all": (154.8, 0.03),
    "dsm-welfare": (43.9, 0.03),
    "imap": (27.9, 0.03),
    "secure-sum": (16.2, 0.03),
    "sd-map": (8.1, 0.15),
    "mediator": (2.9, 0.03),
    "dsm-private": (2.7, 0.03),
}
"""Bits of all pairs after the first meeting, the mean over the 90 tasks of the former suites, as
another implementation found them to one decimal; beside it how far ours may be, as a share [C]."""

SENTENCES = {"candid": 51.5, "guarded": 13.1}
"""The same of speakers, of whose sentences it read some: a least number, at least half of all."""


def first_round(team: str) -> float:
    suites = [compose([f"suite=former-{half}"]).suites for half in ("uniform", "varied")]
    scenarios = [each for suite in suites for each in together(build_suites(suite))]
    found = learnt_of([play_game(scenario, team) for scenario in scenarios], 1)
    assert len(found) == 90
    return float(np.mean([sum(pair.bits for pair in each.pairs) for each in found]))


@pytest.mark.heavy
@pytest.mark.parametrize("team", FIRST_ROUND)
def test_first_meeting_tells_what_another_implementation_found(team: str) -> None:
    expected, share = FIRST_ROUND[team]
    assert first_round(team) == pytest.approx(expected, rel=share)


@pytest.mark.heavy
@pytest.mark.parametrize("team", SENTENCES)
def test_sentences_of_the_first_meeting_tell_what_another_implementation_read(team: str) -> None:
    assert SENTENCES[team] <= first_round(team) <= 2 * SENTENCES[team]


def test_games_are_read_together_as_each_alone() -> None:
    """Games of several priors, teams and lengths, and one in which nothing can be inferred."""
    varied = drawn(task(3, 0, 4), scenario_id="varied-004", setting="varied")
    scenarios = [*SUITES[:3], varied]
    traces = [play_game(scenario, team) for team in (*TEAMS, "silent") for scenario in scenarios]
    traces.append(play_game(SUITES[0].updated(params=None), "imap"))
    assert len({prior_of(trace.scenario) for trace in traces}) == 3
    for trace, found in zip(traces, learnt_of(traces), strict=True):
        alone = learnt(trace)
        assert (found.pairs, found.told, found.bands) == (alone.pairs, alone.told, alone.bands)
        assert found.chances.keys() == alone.chances.keys()
        for pair, chances in found.chances.items():
            assert chances == pytest.approx(alone.chances[pair], abs=1e-12)
    assert learnt_of([]) == []


def test_rules_may_ask_what_their_observer_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they catch, and however often: what they are told is what was known by then."""
    trace, tells, known = play_game(SUITES[0], "imap"), Imap.tells, list[float]()

    def asks(policy: Imap, message: Message, view: View) -> Iterator[Told | Best]:
        try:
            rows = [*view.chances(AgentId(message.sender or 0))]
        except Exception:  # noqa: BLE001 - as rules of strangers may
            rows = []
        known.append(max(max(row) for row in rows))
        yield from tells(policy, message, view)

    plain = learnt(trace)
    monkeypatch.setattr(Imap, "tells", asks)
    found = learnt(trace)
    assert (found.pairs, found.told, found.bands) == (plain.pairs, plain.told, plain.bands)
    assert max(known[:2]) < 0.9 < max(known)


def test_rules_that_ask_beside_totals_are_told_what_was_known_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traces, tells = [play_game(each, "secure-sum") for each in SUITES], SecureSum.tells

    def asks(policy: SecureSum, message: Message, view: View) -> Iterator[Clue]:
        view.chances(AgentId(message.sender or 0))
        yield from tells(policy, message, view)

    plain = learnt_of(traces)
    monkeypatch.setattr(SecureSum, "tells", asks)
    for found, before in zip(learnt_of(traces), plain, strict=True):
        assert (found.pairs, found.told, found.bands) == (before.pairs, before.told, before.bands)


@pytest.mark.parametrize("team", TEAMS)
def test_bookings_after_the_last_message_to_an_observer_do_not_matter(
    team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = [play_game(scenario, team) for scenario in SUITES[:3]]
    found = [learnt(trace) for trace in traces]
    pairs_of = game._pairs_of
    monkeypatch.setattr(
        game, "_pairs_of", lambda *known, **of: dict.fromkeys(pairs_of(*known, **of), 10**6)
    )
    for short, trace in zip(found, traces, strict=True):
        long = learnt(trace)
        assert (short.pairs, short.told, short.bands) == (long.pairs, long.told, long.bands)


@pytest.mark.parametrize(
    ("team", "channels", "least", "most"),
    [
        ("dsm-welfare", CHANNELS, 0.1, 0.3),
        ("secure-sum", CHANNELS, 0.1, 0.2),
        ("guarded", ("all_agent_groupchat",), 0.0, 0.5),
    ],
)
def test_chances_are_right_where_meetings_hold_slots(
    team: str, channels: Sequence[Channel], least: float, most: float
) -> None:
    """Where readers were off that took no slot for another's meeting's, or did not listen to it.

    The first by .08; the second, who took a meeting of others for anybody's, by .06; the last, who
    overhear where others meet, by .11.
    """
    stated: list[float] = []
    found: list[float] = []

    def found_in(scenario: Scenario) -> Learnt:
        return learnt(play_game(scenario, team, channels=channels))

    for number in range(100):
        scenario = drawn(task(1, 4, number), scenario_id=f"uniform-{number:03d}", setting="uniform")
        for (target, _), chances in found_in(scenario).chances.items():
            own = (least <= chances) & (chances < most)
            stated.extend(chances[own])
            found.extend(np.array(has_room(scenario, target))[own])
    assert len(stated) > 100
    assert np.mean(found) == pytest.approx(np.mean(stated), abs=0.04)


MOST_OFF = dict.fromkeys(FIRST_ROUND, 0.04) | {"sd-map": 0.07}
"""Of SD-MAP, a slot that somebody refused is read as if no two shared a meeting that holds it."""


@pytest.mark.slow
@pytest.mark.parametrize("levels", [1, 3], ids=["uniform", "varied"])
@pytest.mark.parametrize("team", FIRST_ROUND)
def test_ten_bands_are_right_on_fresh_tasks(team: str, levels: int) -> None:
    """Over all slots within .01, and no band that has one in a hundred of them is far off."""
    tasks = [task(levels, suite, number) for suite in (5, 6) for number in range(300)]
    scenarios = [drawn(each, scenario_id="fresh-000", setting="fresh") for each in tasks]
    slots, less = Counter[int](), defaultdict[int, float](float)
    for start in range(0, len(scenarios), 50):
        for found in learnt_of([play_game(each, team) for each in scenarios[start : start + 50]]):
            for band in found.bands:
                slots[band.band] += band.slots
                less[band.band] += band.found - band.stated
    assert fsum(map(abs, less.values())) / slots.total() < 0.01
    off = {band: less[band] / slots[band] for band in slots if slots[band] > slots.total() / 100}
    assert len(off) > 1
    assert all(abs(each) < MOST_OFF[team] for each in off.values()), off


@pytest.mark.parametrize("team", ["silent", "first-free"])
def test_silence_tells_nothing(team: str) -> None:
    for scenario in SUITES:
        found = learnt(play_game(scenario, team))
        assert [pair.bits for pair in found.pairs] == [0.0] * 20
        assert not found.chances


def test_who_tells_all_has_told_its_entropy() -> None:
    """On average: what each observer's own calendar says beforehand moves single pairs."""
    told, expected = [], []
    for scenario in SUITES:
        found = learnt(play_game(scenario, "tell-all"), rounds=1)
        spoke = set(scenario.meetings[0].participants)
        for pair in found.pairs:
            assert pair.certain_slots == scenario.num_slots * (pair.target in spoke)
            prior = prior_of(scenario)
            assert prior is not None
            room = np.array(has_room(scenario, pair.target))
            chances = np.where(room, 1 - prior.chances[-1], prior.chances[-1])
            if pair.target in spoke:
                told.append(pair.bits)
                expected.append(-np.log2(chances).sum())
    assert np.mean(told) == pytest.approx(np.mean(expected), abs=0.5)


def test_initiator_of_imap_knows_the_others_and_they_know_the_slot() -> None:
    scenario = SUITES[0]
    found = learnt(play_game(scenario, "imap"), rounds=1)
    first, *others = scenario.meetings[0].participants
    certain = {(pair.target, pair.observer): pair.certain_slots for pair in found.pairs}
    for other in others:
        assert certain[AgentId(other), AgentId(first)] == scenario.num_slots
        assert certain[AgentId(first), AgentId(other)] == 1
    assert sum(certain.values()) == 2 * scenario.num_slots + 4


def test_more_rounds_tell_more() -> None:
    for team in ("imap", "secure-sum", "dsm-welfare"):
        trace = play_game(SUITES[0], team)
        sums = [_sum(learnt(trace, rounds)) for rounds in range(6)]
        assert sums == sorted(sums)
        assert sums[0] == 0
        assert sums[-1] == _sum(learnt(trace))


def _sum(found: Learnt) -> float:
    return round(sum(pair.bits for pair in found.pairs), 3)


def test_sums_over_observers_are_by_target() -> None:
    found = learnt(play_game(SUITES[0], "imap"))
    told = told_by(found.pairs)
    assert sorted(told) == [0, 1, 2, 3, 4]
    own = [pair.bits for pair in found.pairs if pair.target == 2]
    assert told[AgentId(2)]["bits"] == pytest.approx(sum(own), abs=0.005)
    assert told[AgentId(2)]["outcome_bits"] > 0


@pytest.mark.parametrize("team", [*TEAMS, "silent", "mixed-scripted"])
def test_what_messages_tell_adds_up_to_what_is_learnt_of_all(team: str) -> None:
    for scenario in SUITES[:3]:
        trace = play_game(scenario, team)
        found = learnt(trace)
        bits = [known["bits"] for known in told_by(found.pairs).values()]
        assert fsum(found.told.values()) == pytest.approx(fsum(bits), abs=1e-9)
        heard = [index for index, event in enumerate(trace.events) if isinstance(event, HEARD)]
        assert [*found.told] == heard


def test_each_message_tells_what_it_adds() -> None:
    """Of a round's last one that is also what all of them tell of meetings that partners share."""
    trace = play_game(SUITES[1], "dsm-welfare")
    whole = learnt(trace).told
    ends = [index + 1 for index, event in enumerate(trace.events) if isinstance(event, Resolution)]
    for end in [0, *[index + 1 for index in whole if index < ends[0]], *ends]:
        part = learnt(trace.model_copy(update={"events": trace.events[:end]}))
        bits = [known["bits"] for known in told_by(part.pairs).values()]
        before = [told for index, told in whole.items() if index < end]
        assert fsum(before) == pytest.approx(fsum(bits), abs=1e-9)


def test_message_by_unknown_rules_tells_nobody_knows_what() -> None:
    trace = play_game(SUITES[0], "imap")
    modelled = with_a_model(trace)
    found = learnt(modelled)
    senders = {modelled.events[index].from_agent for index in found.told}  # type: ignore[union-attr]
    assert 0 not in senders
    assert len(senders) > 1


def with_a_model(trace: Trace) -> Trace:
    """Return a game in which a model has the seat of agent 0."""
    seats = [
        seat.model_copy(update={"kind": "llm", "player": "m"}) if agent == 0 else seat
        for agent, seat in enumerate(map(trace.config.team.seat_of, map(AgentId, range(5))))
    ]
    team = trace.config.team.model_copy(update={"seats": tuple(seats)})
    config = trace.config.model_copy(update={"team": team})
    return trace.model_copy(update={"config": config})


def test_nothing_is_inferred_where_it_is_not_said_how_calendars_are_drawn() -> None:
    trace = play_game(SUITES[0].updated(params=None), "imap")
    assert learnt(trace).pairs == ()
    odd = play_game(SUITES[0].updated(params={"density": "much", "blocked": 2}), "imap")
    assert learnt(odd).pairs == ()


def words(text: str) -> dict[int, tuple[float, ...]]:
    message = Message(AgentId(1), (AgentId(0),), "dm", MeetingId(1), Text(text=text))
    asked = Message(
        AgentId(0), (AgentId(1),), "dm", MeetingId(1), Text(text="How about slots 4 or 5?")
    )
    view = View(
        AgentId(0), (AgentId(0), AgentId(1)), 6, (0, 1, 10, 100, None), [asked], lambda _: []
    )
    (told,) = LiteralReader().tells(message, view)
    assert isinstance(told, Told)
    return {int(slot): weights for slot, weights in told.slots.items()}


def test_scripted_speakers_are_taken_at_their_word() -> None:
    slip = 0.01
    assert words("Slots 1 and 3 would be impossible for me.") == {
        1: (0, 0, 0, 0, 1),
        3: (0, 0, 0, 0, 1),
    }
    assert words("Slot 2 would be hard for me.") == {2: (slip, slip, slip, 1, 0)}
    assert words("For me slot 0 would be easy.") == {0: (1, slip, slip, slip, 0)}
    assert words("None of those is possible for me.") == dict.fromkeys([4, 5], (0, 0, 0, 0, 1))
    assert words("Agreed, slot 5.") == {5: (1, 1, 1, 1, 0)}
    assert words("Agent 2 says that slot 3 would be easy for it.") == {}
    assert words("Slot 77 would be easy for me.") == {}
