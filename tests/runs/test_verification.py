"""What is proven of games with models: prompts and keys always, replies where they are given."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from calbench import play_game
from calbench.agents.example import Announcer
from calbench.domain.actions import DirectMessage
from calbench.domain.ids import AgentId
from calbench.domain.messages import CostReport
from calbench.domain.usage import Usage
from calbench.engine.replay import recorded_agents, replay_with
from calbench.llm.client import open_recorded
from calbench.runs.verification import UnprovenError, Verified, verify_trace
from calbench.traces.events import (
    AgentRegistered,
    ChancesStated,
    DecideEnd,
    Event,
    GameHalted,
    Reflection,
    TurnEnd,
    TurnStart,
)
from calbench.traces.models import PromptVariant, Seat, Trace
from tests.cli.recording import failing_after
from tests.engine.scripts import altered
from tests.runs.model_games import (
    CANDID,
    IMAP,
    MODEL,
    PROBING,
    SCENARIO,
    STUB,
    answering,
    config,
    played,
    renamed,
)

MIXED = (IMAP, CANDID, STUB, PROBING)
FREE = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)
FORGED = Seat(player="best", kind="model", settings=MODEL.spec.model_dump(mode="json"))


@dataclass(frozen=True)
class Recorded:
    trace: Trace
    store: Path

    def checked(self, trace: Trace) -> Verified:
        with open_recorded(self.store) as replies:
            return verify_trace(trace, replies)


@pytest.fixture(scope="module")
def chances(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return a game whose reflections state chances."""
    store = tmp_path_factory.mktemp("chances") / "replies.sqlite"
    return Recorded(played(MIXED, store, prompts=("v3", None)), store)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    store = tmp_path_factory.mktemp("mixed") / "replies.sqlite"
    return Recorded(played(MIXED, store), store)


def is_by(seats: Sequence[Seat], kind: str, event: Any) -> bool:
    return bool(seats[event.agent_id % len(seats)].kind == kind)


def of_events(trace: Trace, *events: Event) -> Trace:
    return trace.model_copy(update={"events": events})


def edited(trace: Trace, edit: Callable[[Event], Event]) -> Trace:
    return of_events(trace, *map(edit, trace.events))


def first(trace: Trace, kind: type[Event], seat: str = "model") -> int:
    """Return the number of the first event of a kind by a kind of player."""
    seats = trace.config.team.seats
    return next(
        number
        for number, event in enumerate(trace.events)
        if isinstance(event, kind) and is_by(seats, seat, event)
    )


def changed(trace: Trace, number: int, **fields: Any) -> Trace:
    before, (event, *behind) = trace.events[:number], trace.events[number:]
    return of_events(trace, *before, altered(event, **fields), *behind)


def consistent(trace: Trace) -> Trace:
    """Return what the rules make of the answers of a trace, whatever they were made from."""
    return replay_with(trace, list(recorded_agents(trace).values()))


def relabelled(trace: Trace, *seats: Seat) -> Trace:
    """Call players others, as a clever forger does: id and registration fit."""
    return consistent(renamed(trace, trace.config.updated(team=config(*seats).team)))


def test_game_holds_and_says_what_was_not_checked(mixed: Recorded) -> None:
    alone, compared = verify_trace(mixed.trace), mixed.checked(mixed.trace)
    assert (alone.replies_checked, compared.replies_not_checked) == (0, 0)
    assert alone.replies_not_checked == compared.replies_checked > 10
    assert alone.turns_not_checked == alone.prompts_not_checked == 0


def test_live_game_is_the_recorded_one_and_holds(mixed: Recorded) -> None:
    live = played(MIXED, None, mode="live")
    assert live == mixed.trace
    assert verify_trace(live).replies_not_checked > 0


@pytest.mark.parametrize("seat", ["model", "scripted"])
def test_prompts_are_worded_anew_and_compared(mixed: Recorded, seat: str) -> None:
    for kind, field in (
        (AgentRegistered, "system_prompt"),
        (TurnStart, "prompt"),
        (Reflection, "prompt"),
    ):
        number = first(mixed.trace, kind, seat)
        with pytest.raises(UnprovenError, match=rf"^event {number} \(.*\): {field}: ") as told:
            verify_trace(changed(mixed.trace, number, **{field: "Tell me everything."}))
        assert told.value.level == "rules"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (TurnEnd, {"usage": FREE}),
        (DecideEnd, {"usage": None}),
        (TurnEnd, {"thinking": "I plot."}),
        (Reflection, {"usage": FREE}),
    ],
)
def test_what_a_model_said_is_compared_with_its_replies_alone(
    mixed: Recorded, kind: type[Event], change: dict[str, Any]
) -> None:
    (name,) = change
    number = first(mixed.trace, kind)
    forged = changed(mixed.trace, number, **change)
    assert verify_trace(forged).replies_not_checked > 0
    with pytest.raises(UnprovenError, match=rf"^event {number} \(.*\): {name}: ") as told:
        mixed.checked(forged)
    assert told.value.level == "replies"


def test_zeroed_reflections_are_found_with_replies(mixed: Recorded) -> None:
    def zeroed(event: Event) -> Event:
        if not isinstance(event, Reflection) or not is_by(MIXED, "model", event):
            return event
        zero = {target: (0,) * len(values) for target, values in event.delta_by_target.items()}
        return altered(event, delta_by_target=zero, expected_by_target=None)

    forged = edited(mixed.trace, zeroed)
    assert verify_trace(forged).replies_not_checked > 0
    with pytest.raises(UnprovenError, match=r"\(reflection\): (delta|expected)_by_target: "):
        mixed.checked(forged)


def test_stated_chances_hold_and_altered_ones_are_found(chances: Recorded) -> None:
    assert verify_trace(chances.trace).replies_not_checked > 0
    assert chances.checked(chances.trace).replies_checked > 0
    for seat, check in (("model", chances.checked), ("scripted", verify_trace)):
        number = first(chances.trace, ChancesStated, seat)
        stated = chances.trace.events[number].occupied_by_target  # type: ignore[union-attr]
        (target, values), *others = stated.items()
        other = {target: (values[0] ^ 1, *values[1:]), **dict(others)}
        forged = changed(chances.trace, number, occupied_by_target=other)
        with pytest.raises(UnprovenError, match=rf"^event {number} \(.*\): occupied_by_target: "):
            check(forged)


@pytest.mark.parametrize("odd", [(101,), (-1,), (50, 50, 50, 50, 50), ()])
def test_no_model_states_such_chances(chances: Recorded, odd: tuple[int, ...]) -> None:
    number = first(chances.trace, ChancesStated)
    stated = chances.trace.events[number].occupied_by_target  # type: ignore[union-attr]
    values = (*odd, *(0,) * (SCENARIO.num_slots - 1)) if len(odd) == 1 else odd
    forged = changed(chances.trace, number, occupied_by_target=dict.fromkeys(stated, values))
    with pytest.raises(UnprovenError, match="no reply reads like this: chances: are others"):
        verify_trace(consistent(forged))


def test_chances_that_were_cut_out_are_missed_without_replies(chances: Recorded) -> None:
    number, events = first(chances.trace, ChancesStated), chances.trace.events
    cut = of_events(chances.trace, *events[:number], *events[number + 1 :])
    with pytest.raises(UnprovenError, match="lists: are missing, or noted as missing"):
        verify_trace(cut)


def test_chances_without_their_reflection_are_no_game(chances: Recorded) -> None:
    number, events = first(chances.trace, ChancesStated), chances.trace.events
    for others in (
        [*events[:number], *events[number + 1 :]],
        [*events[: number + 1], *events[number:]],
        [*events[:number], events[number + 1], events[number], *events[number + 2 :]],
        [*events, events[number]],
    ):
        with pytest.raises(UnprovenError):
            chances.checked(of_events(chances.trace, *others))


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_nobody_states_chances_who_is_not_asked_for_them(version: str) -> None:
    game = played((STUB,), None, mode="live", prompts=(version, None))
    number = first(game, Reflection)
    reflection = game.events[number]
    assert isinstance(reflection, Reflection)
    stated = {target: (50,) * len(own) for target, own in reflection.delta_by_target.items()}
    event = ChancesStated(
        round=reflection.round, agent_id=reflection.agent_id, occupied_by_target=stated
    )
    forged = of_events(game, *game.events[:number], event, *game.events[number:])
    with pytest.raises(UnprovenError, match="no reply reads like this: "):
        verify_trace(forged)


def test_protocol_and_speaker_beside_a_model_play_again(mixed: Recorded) -> None:
    for seat, change in (("protocol", {"actions": ()}), ("scripted", {"thinking": "I plot."})):
        number = first(mixed.trace, TurnEnd, seat)
        forged = consistent(changed(mixed.trace, number, **change))
        with pytest.raises(UnprovenError, match=rf"^event {number} \(turn_end\): "):
            verify_trace(forged)


def test_scripted_game_is_no_game_of_a_model_without_keys() -> None:
    forged = relabelled(play_game(SCENARIO, "candid"), FORGED)
    with pytest.raises(UnprovenError, match="a model's reply has one key, a SHA-256"):
        verify_trace(forged)


def test_first_key_of_a_model_is_that_of_its_first_request() -> None:
    game = relabelled(play_game(SCENARIO, "candid"), FORGED)
    keys = iter(hashlib.sha256(bytes([number])).hexdigest() for number in range(256))

    def keyed(event: Event) -> Event:
        if isinstance(event, TurnEnd | DecideEnd | Reflection):
            return altered(event, reply_keys=(next(keys),))
        return event

    with pytest.raises(UnprovenError, match=r"\(turn_end\): reply_keys: recorded"):
        verify_trace(edited(game, keyed))


def test_two_replies_have_two_keys(mixed: Recorded) -> None:
    one, other = first(mixed.trace, TurnEnd), first(mixed.trace, DecideEnd)
    keys = mixed.trace.events[one].reply_keys  # type: ignore[union-attr]
    with pytest.raises(UnprovenError, match=f"^event {other} .* event {one} has the same"):
        verify_trace(changed(mixed.trace, other, reply_keys=keys))


def test_no_model_talks_like_a_protocol_or_believes_too_much(mixed: Recorded) -> None:
    typed = DirectMessage(AgentId(0), CostReport(slots=(), costs=()))
    turn, belief = first(mixed.trace, TurnEnd), first(mixed.trace, Reflection)
    beliefs = mixed.trace.events[belief].delta_by_target  # type: ignore[union-attr]
    much = {target: (9,) * len(values) for target, values in beliefs.items()}
    for number, change in ((turn, {"actions": (typed,)}), (belief, {"delta_by_target": much})):
        with pytest.raises(UnprovenError, match=r"no reply reads like this: (actions|beliefs)"):
            verify_trace(consistent(changed(mixed.trace, number, **change)))


@pytest.mark.parametrize(
    ("seats", "change", "said"),
    [
        ((Seat(player="silent", kind="protocol"),), {}, "silent: is of kind degenerate"),
        (
            (CANDID.model_copy(update={"player": "guarded"}),),
            {},
            "its settings are those of candid",
        ),
        (
            (CANDID.model_copy(update={"settings": {"style": ["candid"]}}),),
            {},
            "prompt version '' is unknown",
        ),
        ((IMAP,), {"replicate": 1}, "plays a scenario once"),
        (
            (FORGED.model_copy(update={"settings": {"temperature": "x"}}),),
            {"prompt_version": "v1"},
            "settings of model best: ",
        ),
    ],
)
def test_player_is_what_its_kind_says(
    seats: tuple[Seat, ...], change: dict[str, Any], said: str
) -> None:
    game = play_game(SCENARIO, "imap")
    forged = relabelled(renamed(game, game.config.updated(**change)), *seats)
    with pytest.raises(UnprovenError, match=said):
        verify_trace(forged)


@pytest.mark.parametrize("answered", [0, 5, 19, 25])
def test_halted_game_breaks_off_where_its_replies_end(tmp_path: Path, answered: int) -> None:
    store = tmp_path / "replies.sqlite"
    game = Recorded(played([STUB], store, failing_after(answered, answering)), store)
    assert game.trace.is_halted
    assert verify_trace(game.trace).halts_not_checked == 1
    assert game.checked(game.trace).halts_not_checked == 1


def test_game_is_not_halted_where_the_reply_is_recorded(mixed: Recorded) -> None:
    number = next(
        number
        for number, event in enumerate(mixed.trace.events)
        if isinstance(event, TurnStart) and event.round == 1 and is_by(MIXED, "model", event)
    )
    asked = mixed.trace.events[number]
    assert isinstance(asked, TurnStart)
    halt = GameHalted(
        round=1, phase=asked.phase, agent_id=asked.agent_id, reason="budget_stop", detail="spent"
    )
    forged = consistent(of_events(mixed.trace, *mixed.trace.events[:number], halt))
    assert verify_trace(forged).halts_not_checked == 1
    with pytest.raises(UnprovenError, match="the game was halted here, but the reply of agent"):
        mixed.checked(forged)


def variant_seat(name: str, text: str) -> Seat:
    digest = hashlib.sha256(text.encode()).hexdigest()
    variant = PromptVariant(name=name, version="v1", digest=digest, is_nosy=False)
    return CANDID.model_copy(update={"player": f"candid.{name}", "variant": variant})


def test_variant_of_another_distribution_is_known_by_its_digest() -> None:
    """No variant of this name is installed, and none is looked for."""
    game = play_game(SCENARIO, "candid")
    for text, holds in (("Be brief.", True), ("Be long.", False)):

        def told(event: Event, text: str = text) -> Event:
            if isinstance(event, AgentRegistered):
                return altered(event, system_prompt=f"{event.system_prompt}\n\n{text}")
            return event

        theirs = relabelled(edited(game, told), variant_seat("brief", "Be brief."))
        if holds:
            assert verify_trace(theirs) == Verified()
        else:
            with pytest.raises(UnprovenError, match="variant brief v1: the text of its digest"):
                verify_trace(theirs)


def test_own_variant_is_not_called_harmless(mixed: Recorded) -> None:
    variant = PROBING.variant
    assert variant is not None
    harmless = PROBING.model_copy(
        update={"variant": variant.model_copy(update={"is_nosy": not variant.is_nosy})}
    )
    with pytest.raises(UnprovenError, match="prompt variant red-team: is_nosy is True"):
        verify_trace(relabelled(mixed.trace, IMAP, CANDID, STUB, harmless))


def speaker(_messages: list[dict[str, str]]) -> str:
    return '{"thinking": "", "actions": []}'


def test_own_agents_are_counted_and_a_function_is_asked_anew() -> None:
    trace = play_game(SCENARIO, [Announcer(), speaker, "imap", "candid"])
    found = verify_trace(trace)
    assert found.turns_not_checked > found.prompts_not_checked == 0
    number = next(
        number
        for number, event in enumerate(trace.events)
        if isinstance(event, TurnStart) and event.agent_id == 1
    )
    with pytest.raises(UnprovenError, match=rf"^event {number} \(turn_start\): prompt: "):
        verify_trace(changed(trace, number, prompt="Say nothing."))


def test_reply_that_is_not_recorded_is_named(mixed: Recorded, tmp_path: Path) -> None:
    played([STUB], tmp_path / "other.sqlite", failing_after(1, answering))
    with (
        open_recorded(tmp_path / "other.sqlite") as replies,
        pytest.raises(UnprovenError, match=r"no recorded reply for openai/stub .*round 0") as told,
    ):
        verify_trace(mixed.trace, replies)
    assert told.value.level == "replies"
