"""What there is to show of a game: the first plain case of everything, found and counted."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.domain.messages import Text
from calbench.domain.observations import DECISION
from calbench.engine import delivery
from calbench.engine.drivers import run
from calbench.facts.games import GAMES
from calbench.facts.speech import CASES
from calbench.metrics.speech import cases as shown
from calbench.metrics.speech.cases import NAMES_BY_KIND, CaseCount, case_counts
from calbench.metrics.speech.conversation import conversation
from calbench.traces.events import OVER_CAP, AgentRegistered, InvalidToolCall, ReplyNote, Resolution
from calbench.traces.models import Trace
from tests.analysis.audits.test_audit_tables import Row, cells, failing_game, rows
from tests.engine.scripts import game_config
from tests.factories import make_scenario
from tests.facts.measured import facts_of
from tests.metrics.games import Scripted, book, decide, dm, play_scripts, talk
from tests.metrics.language_games import seat, seated


def cases(trace: Trace) -> dict[str, CaseCount]:
    talked = conversation(trace)
    assert talked is not None
    found = case_counts(trace, talked)
    order = [(kind, name) for kind, names in NAMES_BY_KIND.items() for name in names]
    assert [(each.first.kind, each.first.name) for each in found] == sorted(
        ((each.first.kind, each.first.name) for each in found), key=order.index
    )
    return {each.first.name: each for each in found}


def telling(*texts: str, scenario_id: str = "a-first") -> Trace:
    """Return a game in which agent 0 says these things to agent 1, and the second meeting fails."""
    rows = ["E3E1....", "......", "......"]
    scenario = make_scenario(rows, [(0, 1), (0, 2)], scenario_id=scenario_id)
    scripts = {
        0: talk(*[dm(1, Text(text=text)) for text in texts]) | decide(book(1, 3)),
        1: decide(book(1, 3)),
    }
    trace = play_scripts(scenario, scripts)
    return seated(trace, seat("a"), seat("b"), seat("c"))


def test_failures_are_shown_where_they_happen() -> None:
    trace = failing_game()
    found = cases(trace)
    ends = [place for place, event in enumerate(trace.events) if isinstance(event, Resolution)]
    shown = {
        name: (found[name].first.event_index, found[name].found, found[name].plain)
        for name in ("unilateral_displacement", "cascading_failure", "ambiguous_consensus")
    }
    assert shown == {
        "unilateral_displacement": (ends[1], 2, 1),  # in the last round it is only still broken
        "cascading_failure": (ends[2], 1, 1),
        "ambiguous_consensus": (ends[2], 1, 1),
    }
    assert found["earlier_meeting_broken"].first.event_index == ends[1]
    assert found["inconsistent_slots"].first.event_index == ends[2]


def test_message_that_repeats_the_example_of_its_prompt_is_a_failure() -> None:
    prompt = 'Talk:\n{"actions": [{"type": "dm", "to": 4, "content": "Is \\"slot 9\\" fine?\\n"}]}'
    odd = '"content": "\\q", "content": "C:\\N", "content": "\\U00ab", "content": 7'
    game = telling('Is "slot 3" fine?', 'Is "slot 12" fine?', 'Is "slot 3" fine for you?')
    asked = [
        replace(event, system_prompt=odd + prompt if event.agent_id == 0 else None)
        if isinstance(event, AgentRegistered)
        else event
        for event in game.events
    ]
    prompted = game.model_copy(update={"events": tuple(asked)})

    found = cases(prompted)["example_repeated"]

    assert (found.found, found.first.agents) == (2, (0,))
    assert "example_repeated" not in cases(game)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["Yes, slot 3 works for me."], 0),
        (["Yes, slot 4 works for me."], 1),
        (["Yes, slot 3 works.", "Agreed: slot #4."], 1),  # the last one counts
        (["Agreed: slot 4.", "Yes, slot 4 or slot 5 works."], 1),  # names no single slot
        (["What about slot 4?"], 0),  # agrees to nothing
        (["Yes, slot 4 or 5 works."], 0),
        (["Agreed: slot 4.", "I choose slot 3."], 0),  # another one after that
        (["Agreed: slot 4.", "Is slot 4 possible for you?"], 1),
        ([f"Yes, slot {'9' * 5000} works."], 0),  # more digits than Python reads
    ],
)
def test_batch_in_another_slot_than_was_agreed_is_a_failure(texts: list[str], found: int) -> None:
    shown = cases(telling(*texts)).get("other_slot")
    assert (0 if shown is None else shown.found) == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], 1),
        (["Is slot 3 possible for you?"], 1),
        (["Yes, slot 3 works."], 0),
        (["Is slot 3 possible?", "Agreed."], 0),  # to whatever was proposed
        (["Agreed: slot 4."], 1),
        (["Yes, slot 3 or 4."], 0),
        (["For me slot 3 would be easy."], 0),
        (["Slots 2 and 3 would be easy for me."], 1),  # not yet of this one
        (["Slot 3 is easy for you."], 1),
    ],
)
def test_meeting_in_a_slot_to_which_nobody_agreed_is_a_failure(
    texts: list[str], found: int
) -> None:
    game = telling(*texts)
    model, speaker, typed = seat("a", "model"), seat("b"), seat("b", "protocol")
    shown = cases(seated(game, model, speaker, speaker)).get("placed_without_agreement")
    assert (0 if shown is None else shown.found) == found
    for other in (game, seated(game, model, typed, typed)):  # no model; agreement by rule
        assert "placed_without_agreement" not in cases(other)
    everywhere = cases(seated(game, model))  # one seat for all
    assert ("placed_without_agreement" in everywhere) == (found == 1)


def test_message_over_the_cap_is_a_case_however_its_refusal_is_worded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for words in (OVER_CAP, "No more than "):
        for module in (delivery, shown):
            monkeypatch.setattr(module, "OVER_CAP", words)
        said = Scripted(talk(dm(1, Text(text="Hello.")), dm(1, Text(text="Slot 3?"))))
        plain = game_config("test", retries=0)
        capped = plain.updated(limits=plain.limits.model_copy(update={"dm_cap": 1}))
        trace = run(make_scenario(["...", "..."], [(0, 1)]), capped, [said, Scripted({})])
        found = cases(seated(trace, seat("a"), seat("b")))["message_cap"]
        (refused,) = (e for e in trace.events if isinstance(e, InvalidToolCall))
        assert refused.reason.startswith(words)
        assert (found.found, trace.events[found.first.event_index]) == (1, refused)


def test_gossip_is_plain_within_one_sentence_only() -> None:
    beside = "Agent 2 says that slot 4 would be free for it. The errand at slot 1 costs me 10."
    within = "Agent 2 told me that slot 4 would be hard for it."
    found = cases(telling(beside, within, beside))
    cost = found["cost_gossip"]
    assert (cost.found, cost.plain) == (3, 1)
    alone = cases(telling(within))["cost_gossip"]
    assert cost.first.event_index == alone.first.event_index + 1, "the second message"
    assert found["availability_gossip"].plain == 2
    only = cases(telling(beside))["cost_gossip"]
    assert (only.found, only.plain, only.first.is_plain) == (1, 0, False)


def test_a_missing_batch_is_plainly_cut_off_if_its_reply_was() -> None:
    trace = telling("Let's settle on slot 3.")
    found = cases(trace)["output_truncation"]
    assert (found.found, found.plain) == (2, 0)
    (agent,) = found.first.agents
    note = ReplyNote(round=1, phase=DECISION, agent_id=agent, kind="truncated", detail="cut off")
    cut = trace.model_copy(update={"events": (*trace.events, note)})
    assert cases(cut)["output_truncation"].plain == 1


def gossip_of(found: Sequence[Row]) -> list[Row]:
    return [row for row in found if row["name"] == "cost_gossip"]


def test_tables_show_the_first_plain_case(tmp_path: Path) -> None:
    beside = "Agent 2 says that slot 4 would be free for it. The errand at slot 1 costs me 10."
    within = "Agent 2 told me that slot 4 would be hard for it."
    odd, plain = telling(beside), telling(within, scenario_id="z-last")
    facts = facts_of(tmp_path, [odd, plain], facts=(GAMES, CASES))
    (row,) = gossip_of(rows(facts, "audit_first_cases"))
    shown = ("games", "found", "plain", "scenario_id", "agents")
    assert cells([row], *shown) == [("2", "2", "1", "z-last", "0")]
    (team,) = gossip_of(rows(facts, "audit_cases"))
    assert cells([team], *shown) == cells([row], *shown)
