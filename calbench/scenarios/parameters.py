"""What a suite is made from: the parameters of the paper's Table 3 and how to choose scenarios.

Origins: [P] the paper says so, [R] behaviour of the authors' public code, [F] fitted to the
paper's numbers, [C] our choice.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

from calbench.scenarios.bounds import GREATEST_NUMBER, MOST_SCENARIOS, Size
from calbench.scenarios.models import GREATEST_COST, ID_PATTERN

Count = Annotated[int, Strict(), Field(ge=0, le=GREATEST_NUMBER)]
AtLeastOne = Annotated[int, Strict(), Field(ge=1, le=GREATEST_NUMBER)]
ManyScenarios = Annotated[int, Strict(), Field(ge=1, le=MOST_SCENARIOS)]
Level = Annotated[int, Strict(), Field(ge=1, le=GREATEST_COST)]
Fraction = Annotated[float, Strict(), Field(ge=0, le=1)]
Flag = Annotated[bool, Strict()]

RECIPE: Mapping[str, Any] = {
    "num_scenarios": 45,
    "num_candidates": 300,
    "tertiles": True,
    "density_choices": (0.6, 0.8, 1.0),
    "blocked_choices": (2, 4, 6),
}
"""What a suite by the paper's recipe has, whatever its seed and costs [R]."""

Subset = int | tuple[str, ...]
"""Part of a run's suites: how many scenarios of each setting, or ids of scenarios."""


def _refuse(message: str) -> PydanticCustomError:
    return PydanticCustomError("parameters", "{message}", {"message": message})


def _seats(lists: tuple[tuple[int, ...], ...] | None, drawn: int) -> int:
    """Return how many participants meetings have together."""
    return drawn if lists is None else sum(map(len, lists))


class Spec(BaseModel):
    """Base of what comes from a configuration: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioShape(Spec):
    """Size and costs of a scenario (paper, appendix A.1, Table 3).

    Attributes:
        num_agents: agents, each with a calendar [P: 5].
        num_slots: slots of every calendar [P: 16].
        num_meetings: incoming meetings, one per round [P: 5].
        participants_per_meeting: size of a drawn meeting [P: 3].
        participant_lists: fixed participants instead of drawn ones, one list per meeting [P].
        num_prior_meetings: meetings from before the game [C: none].
        participants_per_prior_meeting: their size; absent: ``participants_per_meeting`` [C].
        prior_participant_lists: their fixed participants, one list per prior meeting [C].
        pref_level: greatest accounting cost of an errand [P]; 1 is the uniform setting [R].
        errand_cost_level: overrides ``pref_level`` for errands [P].
        errand_cost_floor: least accounting cost of an errand [C: 1].
        meeting_cost_level: greatest cost of a meeting, paid by each participant that moves it
            [P]; 1 for every meeting of the paper [R].
        shown_costs: what an agent is shown for accounting cost 1, 2, 3, ... [R: 1, 10, 100].
        force_witness_errand: place errands in the witness slots first [P].
    """

    num_agents: AtLeastOne = 5
    num_slots: AtLeastOne = 16
    num_meetings: Count = 5
    participants_per_meeting: AtLeastOne = 3
    participant_lists: tuple[tuple[Count, ...], ...] | None = None
    num_prior_meetings: Count = 0
    participants_per_prior_meeting: AtLeastOne | None = None
    prior_participant_lists: tuple[tuple[Count, ...], ...] | None = None
    pref_level: Level = 1
    errand_cost_level: Level | None = None
    errand_cost_floor: Level = 1
    meeting_cost_level: Level = 1
    shown_costs: tuple[Level, ...] = (1, 10, 100)
    force_witness_errand: Flag = True

    @property
    def greatest_errand_cost(self) -> int:
        """Greatest accounting cost of an errand."""
        return self.pref_level if self.errand_cost_level is None else self.errand_cost_level

    @property
    def prior_meeting_size(self) -> int:
        """Participants of a drawn prior meeting."""
        return self.participants_per_prior_meeting or self.participants_per_meeting

    @property
    def size(self) -> Size:
        """How large a scenario of this shape is."""
        return Size(
            self.num_agents,
            self.num_slots,
            self.num_meetings,
            self.num_prior_meetings,
            _seats(self.participant_lists, self.num_meetings * self.participants_per_meeting)
            + _seats(
                self.prior_participant_lists, self.num_prior_meetings * self.prior_meeting_size
            ),
        )

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if problem := self.size.problem():
            raise _refuse(f"too large: {problem}")
        self._check_lists("participant_lists", self.participant_lists, self.num_meetings)
        self._check_lists(
            "prior_participant_lists", self.prior_participant_lists, self.num_prior_meetings
        )
        if self.participant_lists is None and self.num_meetings:
            self._check_size("participants_per_meeting", self.participants_per_meeting)
        if self.prior_participant_lists is None and self.num_prior_meetings:
            self._check_size("participants_per_prior_meeting", self.prior_meeting_size)
        if self.errand_cost_floor > self.greatest_errand_cost:
            raise _refuse(
                f"errand_cost_floor is {self.errand_cost_floor}, above the greatest errand "
                f"cost, {self.greatest_errand_cost}"
            )
        if len(self.shown_costs) < self.greatest_errand_cost:
            raise _refuse(
                f"shown_costs has {len(self.shown_costs)} entries, but errands cost up to "
                f"{self.greatest_errand_cost}: name one shown cost for each"
            )
        return self

    def _check_size(self, name: str, size: int) -> None:
        if size > self.num_agents:
            raise _refuse(f"{name} is {size}, but there are only {self.num_agents} agents")

    def _check_lists(
        self, name: str, lists: tuple[tuple[int, ...], ...] | None, num_meetings: int
    ) -> None:
        if lists is None:
            return
        if len(lists) != num_meetings:
            raise _refuse(f"{name} has {len(lists)} lists, but there are {num_meetings} meetings")
        for index, participants in enumerate(lists):
            if not participants:
                raise _refuse(f"{name}.{index} is empty")
            if len(set(participants)) != len(participants):
                raise _refuse(f"{name}.{index} names an agent twice")
            if max(participants) >= self.num_agents:
                raise _refuse(
                    f"{name}.{index} names agent {max(participants)}, but agents are "
                    f"numbered 0 to {self.num_agents - 1}"
                )


class ScenarioParameters(ScenarioShape):
    """Everything except the seed from which a scenario is made (appendix A.1, Table 3).

    Attributes:
        density: share of slots filled with errands, 0 to 1, shared or by agent [P].
        blocked: immovable errands, shared or by agent [P: section 3].
    """

    density: Fraction | tuple[Fraction, ...]
    blocked: Count | tuple[Count, ...] = 0

    @model_validator(mode="after")
    def _names_every_agent(self) -> Self:
        for name, value in (("density", self.density), ("blocked", self.blocked)):
            if isinstance(value, tuple) and len(value) != self.num_agents:
                raise _refuse(
                    f"{name} has {len(value)} entries, but there are {self.num_agents} agents"
                )
        return self

    @property
    def density_by_agent(self) -> tuple[float, ...]:
        """Share of slots filled with errands, by agent."""
        own = self.density
        return own if isinstance(own, tuple) else (own,) * self.num_agents

    @property
    def blocked_by_agent(self) -> tuple[int, ...]:
        """Number of errands to block, by agent."""
        own = self.blocked
        return own if isinstance(own, tuple) else (own,) * self.num_agents


class SuiteSpec(Spec):
    """A suite: scenarios of one setting, read from a file or drawn and chosen.

    Attributes:
        setting: name of the setting, at most 56 characters; scenarios are called
            ``<setting>-000`` and so on.
        shape: name of its shape, for names of settings; nothing else depends on it.
        path: a suite file to play instead; the other attributes are then not used.
        recipe: how scenarios are drawn and chosen: ``sampled`` from the parameters below, or
            as the ``paper``'s own tasks were, whose parameters are fixed [R].
        seed: of the suite; the seeds of all candidates derive from it. With the paper's recipe 0
            gives the paper's tasks, and any other number fresh ones.
        stream: name from which the seeds of sampled candidates derive, beside ``seed``; absent:
            the setting. A suite keeps its scenarios under another name if it names the old one.
        num_scenarios: scenarios of the suite [P: 45 per setting].
        num_candidates: candidates drawn for the tertiles [C: 150]; without tertiles only
            ``num_scenarios`` are drawn.
        tertiles: choose equally many scenarios from the easy, the medium and the hard third of
            the candidates (section 3, Task difficulty); otherwise take them as drawn.
        density: shared or by agent, the same in every scenario.
        density_choices: densities to draw from, for each agent and scenario independently.
        blocked: shared or by agent, the same in every scenario.
        blocked_choices: blocked counts to draw from, for each agent and scenario.
        estimates: estimate the feasible fraction of scenarios too large to be counted [C].
        oracle_effort: deterministic seconds of the solver for the best and for the worst
            schedule of a scenario, after which the best one found is taken, with a bound;
            absent: both are proven, however long it takes [C].
        scenario: size and costs.
    """

    setting: Annotated[str, Field(pattern=ID_PATTERN, max_length=56)]
    shape: str | None = None
    path: str | None = None
    recipe: Literal["sampled", "paper"] = "sampled"
    seed: Count = 0
    stream: Annotated[str, Field(pattern=ID_PATTERN, max_length=56)] | None = None
    num_scenarios: ManyScenarios = 45
    num_candidates: ManyScenarios = 150
    tertiles: Flag = True
    density: Fraction | tuple[Fraction, ...] | None = None
    density_choices: Annotated[tuple[Fraction, ...], Field(min_length=1)] | None = None
    blocked: Count | tuple[Count, ...] | None = None
    blocked_choices: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None
    estimates: Flag = True
    oracle_effort: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    scenario: ScenarioShape = ScenarioShape()

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.path is not None:
            return self
        for name in ("density", "blocked"):
            given = [getattr(self, name), getattr(self, f"{name}_choices")]
            if given.count(None) != 1:
                raise _refuse(
                    f"give exactly one of {name} (the same in every scenario) and "
                    f"{name}_choices (drawn for each agent), and null for the other"
                )
        if self.recipe == "paper":
            self._check_recipe()
        if self.tertiles and self.num_candidates < self.num_scenarios:
            raise _refuse(
                f"num_candidates is {self.num_candidates}, but {self.num_scenarios} "
                "scenarios have to be chosen from them"
            )
        if self.density is not None and self.blocked is not None:
            self.parameters(self.density, self.blocked)
        return self

    def _check_recipe(self) -> None:
        """Refuse parameters that the paper's recipe does not have [R]."""
        levels = self.scenario.greatest_errand_cost
        shape = ScenarioShape(pref_level=3 if levels > 1 else 1)
        for name, value in (*RECIPE.items(), ("scenario", shape)):
            if getattr(self, name) != value:
                shown = value if name != "scenario" else "that of conf/scenario/uniform or varied"
                raise _refuse(
                    f"recipe is paper, whose {name} is {shown}: leave it, or set recipe to "
                    "sampled; a part of a suite is chosen with subset"
                )

    def parameters(
        self, density: float | tuple[float, ...], blocked: int | tuple[int, ...]
    ) -> ScenarioParameters:
        """Return the parameters of one scenario of this suite.

        Raises:
            pydantic.ValidationError: density or blocked do not fit the agents.
        """
        shape: dict[str, Any] = self.scenario.model_dump()
        return ScenarioParameters(**shape, density=density, blocked=blocked)
