"""Which prompts teams are asked with: what the run says, else what the files of models say."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from calbench.agents.prompts import PROMPT_VERSION, load_prompts, use_prompts
from calbench.agents.prompts.folder import LATEST
from calbench.agents.prompts.templates import Templates, read_templates
from calbench.agents.prompts.trial import worded
from calbench.agents.scripted.reading import read_briefing, read_message
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.scenarios.models import ID_PATTERN

Version = Annotated[str, Field(pattern=ID_PATTERN)]


class PromptsSpec(BaseModel):
    """The prompts of seats that use language.

    Attributes:
        version: of teams that are not in ``by_team``.
        path: a folder with prompts of the user's own; absent: none.
        digest: SHA-256 of the templates of ``version``, if the folder holds them.
        by_team: versions that the models of teams name, by team; this package's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: Version
    path: Annotated[str, Field(min_length=1)] | None = None
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    by_team: dict[str, Version] = Field(default_factory=dict)

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


def chosen_prompts(
    given: object, teams: Sequence[Mapping[str, Any]], models: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the prompts of a run, as its parameters hold them.

    Args:
        given: ``version`` and ``path`` of the configuration, each of which may be absent.
        teams: as traces describe them.
        models: by player; ``prompts`` of each is a version, or absent.

    Raises:
        ConfigError: saying which key does not fit.
    """
    if not isinstance(given, Mapping) or not given.keys() <= {"version", "path"}:
        raise ConfigError("prompts: expected the keys version and path")
    version, path = given.get("version"), given.get("path")
    own = None if path is None else use_prompts(Path(str(path)))
    if own is not None and own.templates is not None:
        if any(seat["kind"] == "scripted" for team in teams for seat in team["seats"]):
            _check_scripted(own.templates)
        name = own.templates.version
        if version not in (None, name):
            raise ConfigError(
                f"prompts.version: the folder of prompts.path holds {name}, not "
                f"{printable(str(version))}: leave one of the two out"
            )
        return {"version": name, "path": str(path), "digest": own.templates.digest}
    if version is not None:
        load_prompts(str(version))
        return {"version": str(version), "path": path}
    chosen = {team["team_id"]: _of_models(team, models) for team in teams}
    by_team = {team: name for team, name in chosen.items() if name is not None}
    for name in by_team.values():
        load_prompts(name)
    return {"version": PROMPT_VERSION, "path": path, "by_team": by_team}


def _check_scripted(own: Templates) -> None:
    """Refuse templates of a folder that scripted speakers would be mute under.

    They read the lines that all versions of this package share, so every message has to tell them
    what it tells in the one that a folder is a variation of.

    Raises:
        ConfigError: naming the first template that they cannot read.
    """
    for mine, known in zip(worded(own), worded(read_templates(LATEST)), strict=True):
        read = read_briefing if mine.template == "system" else read_message
        if read(mine.text) != read(known.text):
            raise ConfigError(
                f"{own.folder}/{mine.template}.md: a scripted speaker cannot read what it says: "
                f"keep the headings and the lines with values as they are in {LATEST} (those of "
                "parts/ too), or seat models only"
            )


def _of_models(team: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the version that the models of a team name; absent if none does.

    Raises:
        ConfigError: two name different ones.
    """
    players = [seat["player"] for seat in team["seats"] if seat["kind"] == "model"]
    named = {models[player]["prompts"]: player for player in players}
    named.pop(None, None)
    if len(named) > 1:
        said = ", ".join(f"{player} {version}" for version, player in sorted(named.items()))
        raise ConfigError(
            f"teams.{printable(team['team_id'])}: its models name different prompts ({said}): "
            "choose one with prompts.version"
        )
    return next(iter(named), None)
