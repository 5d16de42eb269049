"""A run as typed values, validated: what the command and the pipeline's stages work from."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    Field,
    Strict,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from calbench.agents.prompts import load_prompts, use_prompts
from calbench.domain.messages import CHANNELS, Channel
from calbench.errors import ConfigError
from calbench.files import STORE, first_problem, located, printable, shorten, write_atomically
from calbench.llm.model import ModelConfig
from calbench.metrics.measure import MeasureSpec
from calbench.pool import ExecutorSpec
from calbench.report.role import Role
from calbench.scenarios.models import ID_PATTERN
from calbench.scenarios.parameters import Subset, SuiteSpec
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Extra, Format, GameConfig, Limits, Team

SUBSET_FORM = "give a number of scenarios from 1 up, or their ids, e.g. subset=[varied-003]"

OF_A_MACHINE = ("fresh", "jobs", "executor")
"""Keys on which no result depends: stages take the workers of their own machine, and no games of
before."""


class Channels(BaseModel, extra="forbid", frozen=True, strict=True):
    """Which channels are open (paper, section 3)."""

    dm: bool
    participant_groupchat: bool
    all_agent_groupchat: bool

    @property
    def open_channels(self) -> tuple[Channel, ...]:
        """The open channels in their fixed order."""
        return tuple(channel for channel in CHANNELS if getattr(self, channel))


Version = Annotated[str, Field(pattern=ID_PATTERN)]


class PromptsSpec(BaseModel, extra="forbid", frozen=True, strict=True):
    """The prompts of seats that use language.

    Attributes:
        version: of teams that are not in ``by_team``.
        path: a folder with prompts of the user's own; absent: none.
        digest: SHA-256 of the templates of ``version``, if the folder holds them.
        by_team: versions that the models of teams name, by team; this package's.
        canary: whether models and own agents are told the canary, which is part of each request.
    """

    version: Version
    path: Annotated[str, Field(min_length=1)] | None = None
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    by_team: dict[str, Version] = Field(default_factory=dict)
    canary: Extra = False

    def version_of(self, team_id: str) -> tuple[str, str | None]:
        """Return the version that a team is asked with, and its digest if it is the user's own."""
        if team_id in self.by_team:
            return self.by_team[team_id], None
        return self.version, self.digest

    def use(self) -> None:
        """Know the folder's prompts in this process.

        Raises:
            ConfigError: they cannot be used, or are no longer what they were.
        """
        if self.path is None:
            return
        use_prompts(Path(self.path))
        if self.digest is not None:
            load_prompts(self.version, self.digest)


class RepliesSpec(BaseModel, extra="forbid", frozen=True, strict=True):
    """Where model replies are on disk, and whether more may be asked for.

    Attributes:
        mode: ``record`` replays what is there and asks for the rest; ``replay`` asks nobody;
            ``live`` always asks and keeps nothing.
        path: a store (``*.sqlite``) or, to replay, a folder of exported shards; absent:
            ``replies.sqlite`` in the folder of the run.
    """

    mode: Literal["live", "record", "replay"]
    path: Annotated[str, Field(min_length=1)] | None


class TracesSpec(BaseModel, extra="forbid", frozen=True, strict=True):
    """How traces are kept, which enters nothing that is computed from them.

    Attributes:
        format: ``files``, one JSON file a game, or ``shards``, several in a compressed file; a
            folder that has traces goes on in its own.
    """

    format: Format


class BudgetSpec(BaseModel, extra="forbid", frozen=True):
    """The cap of a whole run, earlier parts included; absent: none."""

    max_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None


class RunSpec(BaseModel, extra="forbid", frozen=True):
    """A run: suites, the teams that play them, and how it is measured.

    Attributes:
        name: of the experiment.
        suite: what is played.
        more_suites: further suites; the keys are for overrides only.
        suite_seeds: draw each suite once for each of these seeds, as settings
            ``<setting>-seed<N>``; absent: once, with its own seed.
        subset: the part of the suites that is played: how many scenarios of each setting, or ids;
            absent: all.
        replicates: games of each team with models or own agents on each scenario.
        facts: how much is measured: ``scores`` are numbers of games, agents and meetings alone;
            ``all`` adds messages, calls and beliefs, which grow with talk.
        judge: who reads the messages as an outside reader would (paper, appendix I), if anybody.
        prompts: of seats that use language.
        label_bank: version of the bank from which their private labels come.
        reflection: whether they are asked after every round what they came to believe.
        models: the models of all teams, by player.
        about: what teams do, in words, by team; no result depends on it.
        replies: where replies are recorded, and whether models may be asked.
        preflight: whether each model is asked once before the first game that needs it.
        budget: what the run may spend.
        games_at_once: games with models that are played at the same time; each model's
            ``concurrency`` further limits its calls.
        jobs: number of workers for all other games, and for measuring; absent: one for each
            processor, if there is enough to do.
        executor: what kind of workers.
        traces: how they are kept.
        out: folder of the command's results.
        fresh: whether games in it that other code played are set aside and played again.
        site: what the published site shows of it; absent: nothing.
    """

    name: Annotated[str, Field(pattern=ID_PATTERN)]
    suite: SuiteSpec
    more_suites: dict[str, SuiteSpec]
    suite_seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None
    subset: Subset | None
    replicates: Annotated[int, Strict(), Field(ge=1, le=1000)]
    teams: Annotated[tuple[Team, ...], Field(min_length=1)]
    channels: Channels
    limits: Limits
    measure: MeasureSpec
    facts: Literal["all", "scores"]
    judge: Literal["scripted"] | None
    analysis: AnalysisSpec
    prompts: PromptsSpec
    label_bank: Annotated[str, Field(pattern=ID_PATTERN)]
    reflection: bool
    models: dict[str, ModelConfig]
    about: dict[str, str]
    replies: RepliesSpec
    preflight: bool
    budget: BudgetSpec
    games_at_once: Annotated[int, Strict(), Field(ge=1, le=4096)]
    jobs: Annotated[int, Strict(), Field(ge=1, le=1024)] | None
    executor: ExecutorSpec
    traces: TracesSpec
    out: Annotated[str, Field(min_length=1)]
    fresh: bool
    site: Role | None

    @field_validator("subset", mode="before")
    @classmethod
    def _is_a_part(cls, value: object) -> object:
        """Refuse what is neither a number of scenarios nor different ids, in the user's terms."""
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not names:
            raise PydanticCustomError("subset", SUBSET_FORM)
        ids = tuple(str(name) for name in names)
        twice = [name for name, count in Counter(ids).items() if count > 1]
        if twice:
            shown = printable(shorten(twice[0]))
            raise PydanticCustomError("subset", "{name} is named twice", {"name": shown})
        return ids

    @model_validator(mode="after")
    def _suite_fits_its_agents(self) -> Self:
        """Refuse a density or a blocked count by agent of another length before any is drawn."""
        suite = self.suite
        # All choices have one length, that of the agents: checking one is enough.
        density = suite.density_choices[0] if suite.density_choices else suite.density
        blocked = suite.blocked_choices[0] if suite.blocked_choices else suite.blocked
        if suite.path is None and density is not None and blocked is not None:
            suite.parameters(density, blocked)
        return self

    @property
    def suites(self) -> tuple[tuple[str, SuiteSpec], ...]:
        """The suites to build, each with the setting under which tables list it."""
        parts = (self.suite, *self.more_suites.values())
        if self.suite_seeds is None:
            return tuple((part.setting, part) for part in parts)
        return tuple(
            (f"{part.setting}-seed{seed}", part.model_copy(update={"seed": seed}))
            for part in parts
            for seed in self.suite_seeds
        )

    @property
    def store(self) -> Path | None:
        """Where replies are, if any are kept; only what is read may be the tree's own."""
        mode, path = self.replies.mode, self.replies.path
        if mode == "live":
            return None
        if mode == "replay" and path is not None:
            return located(path)
        return Path(path or f"{self.out}/{STORE}")

    @property
    def game_configs(self) -> tuple[GameConfig, ...]:
        """What defines the games of each team, in the order of the teams."""
        return tuple(self._game_config(team) for team in self.teams)

    def _game_config(self, team: Team) -> GameConfig:
        channels = self.channels.open_channels
        if not team.uses_language:
            return GameConfig(team=team, channels=channels, limits=self.limits)
        version, digest = self.prompts.version_of(team.team_id)
        return GameConfig(
            team=team,
            channels=channels,
            limits=self.limits,
            prompt_version=version,
            prompt_digest=digest,
            label_bank=self.label_bank,
            reflection=self.reflection,
            canary=self.prompts.canary and team.is_open,
        )


def tuples(value: Any) -> Any:
    """Return a value whose sequences are tuples, the form the strict models hold."""
    if isinstance(value, Mapping):
        return {key: tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(tuples(item) for item in value)
    return value


def parse_spec(data: Mapping[str, Any], source: str) -> RunSpec:
    """Validate resolved parameters; ``source`` names where they come from in errors."""
    try:
        return RunSpec.model_validate(tuples(data))
    except ValidationError as error:
        raise ConfigError(f"{source}: {first_problem(error, RunSpec)}") from error


def write_params(path: Path, spec: RunSpec) -> None:
    """Write resolved parameters, which ``dvc params diff`` shows, but for :data:`OF_A_MACHINE`."""
    data = spec.model_dump(mode="json", exclude=set(OF_A_MACHINE))
    text = yaml.safe_dump(data, sort_keys=True, allow_unicode=True)
    write_atomically(path, text.encode())
