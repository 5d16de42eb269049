"""Laws of whole games of language agents: what they are sent, and what never reaches them."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.base import CallSite, Completer
from calbench.agents.scripted import STYLES, scripted_speaker
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.engine.drivers import run_async
from calbench.engine.replay import replay
from calbench.engine.seating import seat_agents
from calbench.llm.completion import Completion, Request
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.scenarios.models import Scenario
from calbench.traces.models import GameConfig, Seat, Team, Trace
from calbench.traces.storage import trace_bytes
from tests.effort import examples
from tests.properties.games import any_scenarios, channel_sets, limits
from tests.scenarios.label_banks import texts_of

BANK = read_label_bank("v1")
MODEL = {"model": "openai/stand-in"}


@dataclass
class Listener:
    """Answers as scripted speakers that keep their labels to themselves, and keeps requests."""

    style: str
    asked: list[tuple[CallSite, Request]] = field(default_factory=list)
    speakers: dict[AgentId, Completer] = field(default_factory=dict)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        self.asked.append((site, request))
        speaker = self.speakers.setdefault(
            site.agent_id, scripted_speaker(self.style, site.agent_id)
        )
        return await speaker.complete(request, site)


seats = st.lists(
    st.sampled_from(
        [
            Seat(player="one", kind="model", settings=MODEL),
            Seat(player="two", kind="model", settings=MODEL),
            Seat(player="imap", kind="protocol"),
        ]
    ),
    min_size=1,
    max_size=4,
).filter(lambda drawn: any(seat.kind == "model" for seat in drawn))

configs = st.builds(
    lambda seats, channels, limits, version, reflection: GameConfig(
        team=Team(team_id="drawn", seats=tuple(seats)),
        channels=channels,
        limits=limits,
        prompt_version=version,
        label_bank="v1",
        reflection=reflection,
    ),
    seats,
    channel_sets,
    limits,
    st.sampled_from(["v1", "v2", "v3"]),
    st.booleans(),
)
discreet_styles = st.sampled_from(["candid", "guarded", "careless", "withholding", "wrangler"])
"""Speakers that tell no label unless they are asked for reasons, which nobody does here."""
styles = st.sampled_from(sorted(STYLES))


def listened(scenario: Scenario, config: GameConfig, style: str) -> tuple[Trace, Listener]:
    listener = Listener(style)
    agents = seat_agents(scenario, config, listener)
    return asyncio.run(run_async(scenario, config, agents)), listener


@given(any_scenarios, configs, discreet_styles)
@settings(max_examples=examples(60), deadline=None)
def test_no_prompt_holds_a_label_its_agent_may_not_know(
    scenario: Scenario, config: GameConfig, style: str
) -> None:
    labels = assign_labels(scenario, BANK)
    texts = texts_of(labels)
    _, listener = listened(scenario, config, style)
    for site, request in listener.asked:
        own = set(labels.own_labels(site.agent_id).values())
        sent = "\n".join(message.content for message in request.messages)
        for text in set(texts.values()) - own:
            assert text not in sent


@given(any_scenarios, configs, styles)
@settings(max_examples=examples(60), deadline=None)
def test_every_call_extends_the_call_before_it_and_measurements_leave_no_trace(
    scenario: Scenario, config: GameConfig, style: str
) -> None:
    _, listener = listened(scenario, config, style)
    threads: dict[AgentId, tuple[object, ...]] = {}
    for site, request in listener.asked:
        before = threads.get(site.agent_id, ())
        assert request.messages[: len(before)] == before
        assert len(request.messages) > len(before)
        roles = [message.role for message in request.messages[1:]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        assert all(message.content.strip() for message in request.messages)
        if site.phase is not Phase.REFLECTION:
            threads[site.agent_id] = request.messages


@given(any_scenarios, configs, styles)
@settings(max_examples=examples(40), deadline=None)
def test_trace_of_language_agents_replays(
    scenario: Scenario, config: GameConfig, style: str
) -> None:
    trace, _ = listened(scenario, config, style)
    assert trace_bytes(replay(trace)) == trace_bytes(trace)
