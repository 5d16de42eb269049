"""Whole games of scripted speakers, with every request and reply."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from calbench.agents.base import CallSite, Completer
from calbench.agents.language import LanguageAgent
from calbench.agents.prompts import PROMPT_VERSION, load_prompts
from calbench.agents.scripted import SCRIPTED_SPEC, scripted_speaker
from calbench.agents.scripted.speaker import Goal
from calbench.domain.ids import AgentId
from calbench.domain.messages import Channel, Text
from calbench.domain.randomness import derived_seed
from calbench.engine.drivers import run_async
from calbench.llm.completion import Completion, Request
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioParameters
from calbench.scenarios.sampling import sample_scenario
from calbench.traces.events import AllAgentGroupchatSent, DmSent, ParticipantGroupchatSent
from calbench.traces.models import GameConfig, Limits, Seat, Team, Trace

STYLE_NAMES = ("candid", "guarded", "oversharer")
ERRING = ("careless", "gossip", "withholding", "wrangler")
"""Styles that err by chance."""

Sent = DmSent | ParticipantGroupchatSent | AllAgentGroupchatSent


@dataclass
class Played:
    """A finished game, and what was asked and answered in it by (agent, text)."""

    scenario: Scenario
    config: GameConfig
    trace: Trace
    calls: list[tuple[str, int, Request, str]] = field(default_factory=list)

    @property
    def messages(self) -> list[Sent]:
        kinds = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent)
        return [event for event in self.trace.events if isinstance(event, kinds)]

    @property
    def texts(self) -> list[str]:
        return [m.content.text for m in self.messages if isinstance(m.content, Text)]

    @property
    def success(self) -> list[bool]:
        return [outcome.coordinated for outcome in self.trace.final_state.round_outcomes]


class Recorder:
    """Passes a speaker's replies on and keeps them."""

    def __init__(
        self, speaker: Completer, style: str, seed: int, calls: list[tuple[str, int, Request, str]]
    ) -> None:
        self._speaker = speaker
        self._style = style
        self._seed = seed
        self._calls = calls

    async def complete(self, request: Request, site: CallSite) -> Completion:
        completion = await self._speaker.complete(request, site)
        self._calls.append((self._style, self._seed, request, completion.text or ""))
        return completion


@cache
def canonical_scenario(
    number: int, *, pref_level: int = 1, num_prior_meetings: int = 0, floor: int = 1
) -> Scenario:
    """Return a scenario of the canonical kind: 5 agents, 16 slots, 5 meetings of 3."""
    densities, blocked = (0.60, 0.75, 0.90), (2, 4, 6)
    parameters = ScenarioParameters(
        num_agents=5,
        num_slots=16,
        num_meetings=5,
        participants_per_meeting=3,
        num_prior_meetings=num_prior_meetings,
        participants_per_prior_meeting=2 if num_prior_meetings else None,
        pref_level=pref_level,
        errand_cost_floor=floor,
        density=tuple(densities[(number + agent) % 3] for agent in range(5)),
        blocked=tuple(blocked[(number // 3 + agent) % 3] for agent in range(5)),
    )
    return sample_scenario(parameters, seed=number, scenario_id=f"canon-{number}", setting="canon")


def play_scripted(
    scenario: Scenario,
    styles: Sequence[str],
    channels: Sequence[Channel],
    *,
    max_turns: int = 15,
    strangers: Mapping[int, Completer] = MappingProxyType({}),
    version: str = PROMPT_VERSION,
    goals: Mapping[int, Goal] = MappingProxyType({}),
) -> Played:
    """Play one game; styles repeat around the table, strangers sit in the places they have.

    ``goals`` are those of agents that probe.
    """
    seats = tuple(Seat(player=s, kind="scripted", settings={"style": s}) for s in styles)
    config = GameConfig(
        team=Team(team_id="scripted", seats=seats),
        channels=tuple(channels),
        limits=Limits(max_turns_per_round=max_turns),
        prompt_version=version,
        label_bank="v1",
        reflection=True,
    )
    calls: list[tuple[str, int, Request, str]] = []
    agents = []
    for agent in range(scenario.num_agents):
        style = styles[agent % len(styles)]
        seed = derived_seed(scenario.seed, "scripted", agent)
        speaker = scripted_speaker(style, seed, goals.get(agent))
        source = strangers.get(agent) or Recorder(speaker, style, seed, calls)
        prompts = load_prompts(version)
        agents.append(LanguageAgent(style, source, SCRIPTED_SPEC, prompts, None, "game"))
    trace = asyncio.run(run_async(scenario, config, agents))
    return Played(scenario, config, trace, calls)


@cache
def played(number: int, style: str, channel: Channel, **kind: int) -> Played:
    """Return a game of one style; played once."""
    return play_scripted(canonical_scenario(number, **kind), (style,), (channel,))


def without_quotes(text: str) -> str:
    """Return a message without the labels quoted in it."""
    return re.sub(r'"[^"]*"', "", text)


def slots_named(text: str) -> set[int]:
    """Return every number of a message but those of meetings: only slots should be left."""
    return {int(number) for number in re.findall(r"(?<![\dM])\d+", without_quotes(text))}


def agent_ids(count: int = 5) -> tuple[AgentId, ...]:
    return tuple(AgentId(agent) for agent in range(count))
