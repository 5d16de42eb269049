"""``conf/`` and what it becomes: typed, complete, the same through both doors."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from calbench.config.composition import compose
from calbench.config.groups import GROUPS, known_names
from calbench.config.spec import Channels, RunSpec, parse_spec, write_params
from calbench.domain.messages import CHANNELS
from calbench.errors import ConfigError
from calbench.report.role import Role
from calbench.traces.models import PUBLISHED, Limits
from calbench.tree import CONF
from tests.cli.conftest import Command, command
from tests.cli.runs import SMALL, read_params

__all__ = ["command"]

ENTRANT = "model=gpt-5.4-mini"
"""A model for experiments and teams that leave it to the run."""

SMALL_DATA = compose(SMALL).model_dump()

CHANNEL_BY_EXPERIMENT = {
    **dict.fromkeys(("erring", "focal", "language-private", "probes", "probes-adversarial"), "dm"),
    **dict.fromkeys(("slices", "table2-text", "smollm2", "smollm2-v1"), "dm"),
    **dict.fromkeys(("delegates", "delegates-paper", "delegates-paper-seats"), "dm"),
    "language-everyone": "all_agent_groupchat",
    **dict.fromkeys(("delegates-everyone", "smollm2-everyone"), "all_agent_groupchat"),
    **dict.fromkeys(("delegates-participants", "smollm2-participants"), "participant_groupchat"),
}


RECORDED = {"smollm2"}
"""Suites that are kept as they were played, since replies to them are."""


@pytest.mark.heavy
@pytest.mark.parametrize("experiment", known_names("experiment"))
def test_experiment_composes_to_a_typed_run(experiment: str) -> None:
    spec = compose([f"+experiment={experiment}", ENTRANT])
    assert isinstance(spec, RunSpec)
    assert spec.name == experiment
    assert spec.out == f"build/runs/{experiment}"
    assert spec.teams
    assert spec.suites
    one = CHANNEL_BY_EXPERIMENT.get(experiment)
    assert spec.channels.open_channels == ((one,) if one else CHANNELS)


@pytest.mark.heavy
@pytest.mark.parametrize("suite", known_names("suite"))
def test_suite_composes_to_typed_parameters(suite: str) -> None:
    spec = compose([f"suite={suite}"])
    assert spec.suite.setting == ("taste-varied" if suite == "taste" else suite)
    is_recorded = suite in RECORDED
    assert spec.suite.path == (f"data/cohorts/{suite}/suite.jsonl" if is_recorded else None)
    assert spec.suite.num_candidates >= spec.suite.num_scenarios


def test_limits_of_conf_are_those_of_the_python_interface() -> None:
    assert compose([]).limits == compose(["limits=authors"]).limits == PUBLISHED
    assert compose(["limits=paper"]).limits == Limits()


@pytest.mark.parametrize("channels", known_names("channels"))
def test_channels_compose_to_their_open_ones(channels: str) -> None:
    opened = compose([f"channels={channels}"]).channels.open_channels
    assert opened == ((channels,) if channels != "all" else tuple(Channels.model_fields))


OPEN = {
    "my-model": "gpt-5.4-mini",
    "my-model-dspy": "gpt-5.4-mini-dspy",
    "my-model-nosy": "gpt-5.4-mini-nosy",
    "my-model-red-team": "gpt-5.4-mini-red-team",
    "my-model-among-protocols": "gpt-5.4-mini-among-imap",
    "my-protocol": "imap",
    "smollm2-v1": "smollm2",
    "qwen-large": "qwen-1.5b",
    "qwen-1_5b-of-five": "qwen-1.5b",
    "qwen-small": "qwen-0.5b",
    "qwen-large-among-imap": "qwen-1.5b-among-imap",
    "qwen-large-among-speakers": "qwen-1.5b-among-speakers",
    "qwen-large-nosy-among-speakers": "qwen-1.5b-nosy-among-speakers",
    "mixed5": "mixed5-gpt-5.4-mini",
}
"""Ids of teams that are named after who takes their open seats."""


@pytest.mark.heavy
@pytest.mark.parametrize("team", known_names("teams"))
def test_team_composes_under_its_own_id(team: str) -> None:
    spec = compose([f"teams=[{team}]", ENTRANT])
    (played,) = spec.teams
    assert played.team_id.replace(".", "_") == OPEN.get(team, team).replace(".", "_")
    assert [config.team for config in spec.game_configs] == [played]


@pytest.mark.parametrize("variant", ["nosy", "dspy", "{name: red-team, version: v1}"])
def test_scripted_speaker_is_not_given_a_variant_that_it_cannot_follow(variant: str) -> None:
    team = f"{{players: {{a: {{scripted: candid}}}}, seats: [{{player: a, variant: {variant}}}]}}"
    with pytest.raises(ConfigError, match=r"players\.a: variant: a scripted speaker cannot follow"):
        compose(["teams=[]", f"+teams.b={team}"])


def test_scripted_speaker_plays_a_probing_variant() -> None:
    seat = compose(["teams=[guarded-red-team]"]).teams[0].seats[0]
    assert seat.player == "guarded.red-team"
    assert seat.variant is not None
    assert (seat.variant.version, seat.variant.is_nosy) == ("v2", True)


@pytest.mark.parametrize("team", known_names("teams"))
def test_key_of_a_team_is_its_file_and_can_be_overridden(team: str) -> None:
    composed = yaml.safe_load((CONF / "teams" / f"{team}.yaml").read_text())
    assert set(composed) - {"defaults"} == {team}
    assert "." not in team


def test_one_id_is_accepted_for_a_list() -> None:
    assert compose(["teams=imap"]) == compose(["teams=[imap]"])


def test_teams_stay_in_the_order_in_which_they_are_named() -> None:
    spec = compose(["teams=[silent,imap]"])
    assert [config.team.team_id for config in spec.game_configs] == ["silent", "imap"]


@pytest.mark.parametrize("group", GROUPS)
def test_known_names_are_the_files_of_a_group(group: str) -> None:
    names = known_names(group)
    assert names == sorted(names)
    assert {f"{name}.yaml" for name in names} == {path.name for path in (CONF / group).iterdir()}


def test_every_group_of_conf_is_known_here() -> None:
    assert {path.parent.name for path in CONF.glob("*/*.yaml")} == set(GROUPS)


def test_canonical_suites_are_those_of_the_paper() -> None:
    for name, pref_level in (("uniform", 1), ("varied", 3)):
        suite = compose([f"+experiment={name}"]).suite
        shape = suite.scenario
        assert suite.num_scenarios == 45
        assert (shape.num_agents, shape.participants_per_meeting) == (5, 3)
        assert (shape.num_meetings, shape.num_slots) == (5, 16)
        assert shape.pref_level == pref_level


@pytest.mark.parametrize(
    "overrides",
    [(), SMALL, ("+experiment=varied",), ("suite.path=x.jsonl", "limits.sd_model=[1.0,2.0,0.5]")],
)
def test_parameters_are_read_as_they_were_written(
    tmp_path: Path, overrides: tuple[str, ...]
) -> None:
    spec = compose(overrides)
    path = tmp_path / "build" / "params.yaml"
    write_params(path, spec)
    assert read_params(path) == spec
    first = path.read_bytes()
    write_params(path, read_params(path))
    assert path.read_bytes() == first


def test_parameters_hold_every_team_whole(tmp_path: Path) -> None:
    write_params(tmp_path / "params.yaml", compose(["teams=imap"]))
    params = yaml.safe_load((tmp_path / "params.yaml").read_text())
    assert set(params) == set(RunSpec.model_fields) - {"jobs", "executor", "fresh"}
    assert read_params(tmp_path / "params.yaml") == compose(["teams=imap"])
    assert params["teams"] == [
        {"team_id": "imap", "seats": [{"player": "imap", "kind": "protocol", "settings": {}}]}
    ]


@pytest.mark.parametrize(
    "place",
    ["", "suite", "suite.scenario", "teams.0", "channels", "limits", "measure", "analysis"],
)
def test_unknown_key_is_refused_wherever_it_stands(place: str) -> None:
    data = deepcopy(SMALL_DATA)
    holder: Any = data
    for key in place.split(".") if place else []:
        holder = holder[int(key) if key.isdigit() else key]
    holder["colour"] = "red"
    shown = f"{place}.colour".lstrip(".")
    with pytest.raises(ConfigError, match=f"^here: {shown}: is not a known key; (known|did you)"):
        parse_spec(data, "here")


@pytest.mark.parametrize(
    ("arguments", "is_refused"),
    [
        ("{api_key: abc}", True),
        ("{x: [{y: sk-0123456789abcdef}]}", True),
        ("{api_key_env: OPENAI_API_KEY, token: null, patience: 3}", False),
    ],
)
def test_key_among_the_arguments_of_own_code_is_refused(arguments: str, is_refused: bool) -> None:
    """They are in every trace."""
    player = f"{{agent: 'own:Mine', arguments: {arguments}}}"
    given = ["teams=[]", f"+teams.t={{players: {{p: {player}}}, seats: [p]}}"]
    if not is_refused:
        assert compose(given).teams[0].uses_language
        return
    with pytest.raises(ConfigError, match=r"^teams\.t\.players\.p: arguments: they hold a key"):
        compose(given)


def test_file_of_a_team_without_its_name_is_told() -> None:
    line = "^teams: players is a key of a team; write it below the team's name$"
    with pytest.raises(ConfigError, match=line):
        compose(["teams=[]", "+teams.players={a: {protocol: imap}}", "+teams.seats=[a]"])


@pytest.mark.parametrize("key", sorted(RunSpec.model_fields))
def test_missing_key_is_refused_and_named(key: str) -> None:
    data = deepcopy(SMALL_DATA)
    del data[key]
    with pytest.raises(ConfigError, match=f"^here: {key}: Field required$"):
        parse_spec(data, "here")


def test_command_composes_what_the_stages_compose(command: Command) -> None:
    overrides = [
        "+experiment=varied",
        "teams=[imap,silent]",
        "jobs=2",
        "suite.seed=7",
        "limits=paper",
    ]
    ended = command(*overrides, "--cfg", "job", "--resolve")
    assert ended.status == 0
    shown = yaml.safe_load(ended.out)
    spec = compose(overrides)
    assert list(shown.pop("teams")) == [team.team_id for team in spec.teams]
    assert shown.pop("model")["name"] is None
    assert shown.pop("protocol") == {"id": "imap", "protocol": "imap"}
    assert shown.pop("prompts") == {"version": None, "path": None, "canary": None}
    # These two are left out of a file at their defaults, so that old games keep their ids.
    assert (shown["limits"]["agent_cap"], shown["limits"]["commit"]) == (None, "seat")
    made = spec.model_dump()
    composed = {"models": {}, **{key: made[key] for key in ("teams", "prompts", "about")}}
    assert parse_spec({**shown, **composed}, "command") == spec
    assert Role.model_validate(shown.pop("site")) == spec.site
    plain = spec.model_dump(mode="json", exclude={*composed, "site"})
    del shown["limits"]["agent_cap"], shown["limits"]["commit"]
    assert shown == yaml.safe_load(yaml.safe_dump(plain))
