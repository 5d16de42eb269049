"""Hand-written agents that use language: they say given things, and may fail to answer."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from calbench.domain.actions import Action, Turn
from calbench.domain.observations import Briefing, Observation, Phase
from calbench.domain.replies import Beliefs, Reply, Unreadable
from calbench.domain.usage import Usage
from calbench.engine.drivers import run_async
from calbench.errors import Halt, UnavailableError
from calbench.scenarios.difficulty import completed
from calbench.traces.models import GameConfig, Limits, PromptVariant, Seat, Team, Trace
from tests.engine.scripts import Ask, ask_of, book, decide, dm, talk
from tests.factories import make_scenario

(SCENARIO,) = completed(
    (make_scenario(["..E2.", "E...", ".B..", "...E3"], [(0, 1, 2), (3, 1)], prior=[((0, 1), 1)]),)
)


@dataclass
class Speaker:
    """Does what its lines say; breaks where told to."""

    lines: Mapping[Ask, tuple[Action, ...]] = field(default_factory=dict)
    garbled: Mapping[Ask, Unreadable] = field(default_factory=dict)
    recovered: Mapping[Ask, str] = field(default_factory=dict)
    unavailable: Mapping[Ask, Halt] = field(default_factory=dict)
    seen: list[Observation] = field(default_factory=list)

    def introduce(self, briefing: Briefing) -> str:
        return f"You are agent {briefing.agent_id} of {len(briefing.agent_ids)}."

    async def act(self, observation: Observation) -> Reply:
        self.seen.append(observation)
        ask = ask_of(observation)
        if ask in self.unavailable:
            raise UnavailableError(self.unavailable[ask], "503 after 5 attempts")
        usage = Usage(input_tokens=7, cached_tokens=0, output_tokens=2)
        prompt = f"{ask}"
        if ask in self.garbled:
            return Reply(Turn(), prompt, usage, ("key",), self.garbled[ask])
        if observation.phase is Phase.REFLECTION:
            return Reply(Turn(), prompt, usage, ("key",), beliefs=self._beliefs(observation))
        turn = Turn(tuple(self.lines.get(ask, ())), "Thinking.")
        return Reply(turn, prompt, usage, ("key",), recovered=self.recovered.get(ask))

    def _beliefs(self, observation: Observation) -> Beliefs:
        slots = len(observation.calendar)
        others = [agent for agent in observation.agent_ids if agent != observation.agent_id]
        return Beliefs({str(agent): (1,) * slots for agent in others})


def language_config(*kinds: str, reflection: bool = True, nosy: int | None = None) -> GameConfig:
    """Return the configuration of a game with one seat of each kind, in this order."""
    probe = PromptVariant(name="nosy", version="v1", digest="0" * 64, is_nosy=True)
    seats = tuple(
        Seat.model_validate(
            {"player": f"{kind}-player", "kind": kind, "variant": probe if index == nosy else None}
        )
        for index, kind in enumerate(kinds)
    )
    return GameConfig(
        team=Team(team_id="speakers", seats=seats),
        channels=("dm", "participant_groupchat", "all_agent_groupchat"),
        limits=Limits(max_turns_per_round=4),
        prompt_version="v1",
        label_bank="v1",
        reflection=reflection,
    )


def reflect(round_index: int = 0) -> Ask:
    return Ask(round_index, Phase.REFLECTION, 0)


def played(config: GameConfig, speakers: Sequence[Speaker]) -> Trace:
    return asyncio.run(run_async(SCENARIO, config, speakers))


def four(**by_agent: Speaker) -> list[Speaker]:
    return [by_agent.get(f"agent{agent}", Speaker()) for agent in range(4)]


def rich_trace(unavailable: Mapping[Ask, Halt] | None = None) -> Trace:
    """A game with notes, reflections and messages; agent 3 may fail to answer."""
    speakers = four(
        agent0=Speaker(
            {talk(): (dm(1), dm(3)), decide(1): (book(1, 0),)},
            {decide(): Unreadable("wrong_shape", "actions: expected a list")},
        ),
        agent2=Speaker(
            garbled={reflect(): Unreadable("empty", "no text")}, recovered={talk(): "prefixed"}
        ),
        agent3=Speaker(unavailable=unavailable or {}),
    )
    return played(language_config("model", "protocol", "custom", "scripted"), speakers)
