"""Scenario, model and protocol: three choices that work alone and together."""

from pathlib import Path

import pytest

from calbench.config.composition import compose, compose_choice, compose_team, quoted, with_players
from calbench.config.groups import known_names
from calbench.config.teams import player_of
from calbench.errors import ConfigError
from calbench.scenarios.suites import sample_candidate

MODEL = "model=gpt-5.4-mini"

SUITE_BY_SHAPE = {
    shape: shape for shape in known_names("scenario") if shape in known_names("suite")
} | {"small": "smollm2", "uniform": "former-uniform", "varied": "former-varied"}


@pytest.mark.heavy
@pytest.mark.parametrize("shape", SUITE_BY_SHAPE)
def test_shape_is_that_of_its_suite(shape: str) -> None:
    chosen, own = compose([f"scenario={shape}"]).suite, compose([f"suite={SUITE_BY_SHAPE[shape]}"])
    kept = {"setting", "path", "seed", "stream", "num_scenarios", "num_candidates"}
    assert chosen.model_dump(exclude=kept) == own.suite.model_dump(exclude=kept)
    assert chosen.setting == f"taste-{shape}"


def test_suite_of_another_shape_is_the_suite_of_that_shape() -> None:
    assert compose(["suite=varied", "scenario=prior"]).suite == compose(["suite=prior"]).suite


@pytest.mark.parametrize("half", ["uniform", "varied"])
def test_shape_of_the_papers_tasks_is_that_of_the_canonical_suite(half: str) -> None:
    assert compose([f"suite={half}", f"scenario=paper-{half}"]) == compose([f"suite={half}"])


def test_shape_is_that_of_the_first_suite_of_an_experiment() -> None:
    spec = compose(["+experiment=language", "scenario=large-10"])
    assert spec.suite.scenario.num_agents == 10
    assert spec.more_suites == compose(["+experiment=language"]).more_suites


def test_keys_of_the_shape_are_those_of_the_suite() -> None:
    suite = compose(["scenario=large-20", "suite.scenario.num_agents=30", "suite.seed=3"]).suite
    assert (suite.scenario.num_agents, suite.scenario.num_meetings, suite.seed) == (30, 20, 3)
    assert sample_candidate(suite, 0).num_agents == 30


@pytest.mark.parametrize("protocol", known_names("protocol"))
def test_protocol_alone_sits_everywhere(protocol: str) -> None:
    spec = compose([f"protocol={protocol}"])
    assert spec.teams == (compose_team(protocol),)


@pytest.mark.parametrize(
    "overrides", [[MODEL], ["suite=varied", MODEL], ["+experiment=varied", MODEL]]
)
def test_model_alone_sits_everywhere(overrides: list[str]) -> None:
    spec = compose(overrides)
    (team,) = spec.teams
    assert team.team_id == "gpt-5.4-mini"
    assert [seat.player for seat in team.seats] == ["gpt-5.4-mini"]
    assert list(spec.models) == ["gpt-5.4-mini"]


def test_model_and_protocol_sit_together() -> None:
    (team,) = compose([MODEL, "protocol=dsm-private"]).teams
    assert team.team_id == "gpt-5.4-mini-among-dsm-private"
    assert team.rotation
    assert [seat.player for seat in team.seats] == ["gpt-5.4-mini", "dsm", "dsm", "dsm", "dsm"]


@pytest.mark.heavy
@pytest.mark.parametrize("experiment", ["nosy", "dspy", "adversarial", "mixed5"])
def test_model_takes_the_open_seats_of_an_experiment(experiment: str) -> None:
    closed = compose([f"+experiment={experiment}", MODEL, "teams=[my-model]"]).teams
    teams = compose([f"+experiment={experiment}", MODEL]).teams
    assert teams != closed
    assert all("gpt-5.4-mini" in team.team_id for team in teams)


def test_chosen_teams_prevail() -> None:
    spec = compose([MODEL, "protocol=imap", "teams=[silent,my-model]"])
    assert [team.team_id for team in spec.teams] == ["silent", "gpt-5.4-mini"]


def test_model_by_name_has_its_own_name_everywhere() -> None:
    reached = ["model.api_base=http://127.0.0.1:1/v1"]
    one = compose(["model.name=acme/tiny-3", *reached])
    assert [team.team_id for team in one.teams] == ["tiny-3"]
    assert one.models["tiny-3"].name == "acme/tiny-3"
    named = compose(["model.name=acme/tiny-3", "model.player=mine", *reached])
    assert [team.team_id for team in named.teams] == ["mine"]


@pytest.mark.parametrize(
    ("name", "player"),
    [
        (None, "my-model"),
        ("gpt", "gpt"),
        ("openai/gpt-oss:20b", "gpt-oss-20b"),
        ("vertex_ai/meta/llama 4", "llama-4"),
        ("x/" + "a" * 99, "a" * 64),
        ("x/..", "my-model"),
    ],
)
def test_player_is_the_last_part_of_the_models_name(name: str | None, player: str) -> None:
    assert player_of(name) == player


def test_folder_of_ones_own_adds_choices(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "next.yaml").write_text(
        "defaults:\n  - /model@next.players.gpt: gpt-5.4-mini\n"
        "  - /protocol@next.players.dsm: dsm-private\n  - _self_\n"
        "next: {seats: [gpt, dsm]}\nother: {players: {a: {scripted: candid}}, seats: [a]}\n"
    )
    spec = compose(["teams=[next,imap]"], tmp_path)
    assert [team.team_id for team in spec.teams] == ["next", "other", "imap"]
    assert [seat.player for seat in spec.teams[0].seats] == ["gpt-5.4-mini", "dsm"]
    with pytest.raises(ConfigError, match="there is no 'nexd'; did you mean next"):
        compose(["teams=[nexd]"], tmp_path)


def test_experiment_of_a_folder_of_ones_own_keeps_its_teams_open(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /teams: [imap, my-protocol]\nname: mine\n"
    )
    spec = compose(["+experiment=mine", "protocol=silent"], tmp_path)
    assert [team.team_id for team in spec.teams] == ["imap", "silent"]


def test_one_file_of_a_group_is_read_as_hydra_composes_it() -> None:
    single = compose_choice("protocol", "dsm-welfare-single")
    assert single == {
        **compose_choice("protocol", "dsm-welfare"),
        "id": "dsm-welfare-single",
        "batches": "single",
    }
    with pytest.raises(ConfigError, match="protocol: there is no 'dsm-well'; did you mean"):
        compose_choice("protocol", "dsm-well")


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("out=runs/a", "out=runs/a"),
        ("out=runs/josé", "out='runs/josé'"),
        ("out='runs/josé'", "out='runs/josé'"),
        ("+teams.é={seats: [ñ, b]}", "+teams.é={seats: ['ñ', b]}"),
        ("suite.path=ä,b", "suite.path='ä',b"),
        ("~teams", "~teams"),
        ("out=runs/seed=0", "out='runs/seed=0'"),
        ("out=a#b&c", "out='a#b&c'"),
        ("out=build/${name}", "out=build/${name}"),
        ("suite.seed=range(3)", "suite.seed=range(3)"),
        ("+teams.a={players: {x: {scripted: candid}}}",) * 2,
    ],
)
def test_letters_beyond_ascii_are_quoted_for_hydra(override: str, read: str) -> None:
    assert quoted(override) == read


@pytest.mark.parametrize(
    "name", ["josé", "Ünïcode/ordner 7", "数据/运行", "a:é", "a=b", "it#1", "~x"]
)
def test_folders_take_any_letter(name: str) -> None:
    spec = compose([f"out={name}", f"suite.path={name}.jsonl"])
    assert (spec.out, spec.suite.path) == (name, f"{name}.jsonl")


def test_players_of_a_command_line_are_added_once_and_last() -> None:
    def none(_: object) -> frozenset[str]:
        return frozenset()

    assert with_players(["suite=varied"], none) == ["suite=varied"]
    assert with_players([MODEL], none) == [MODEL, "teams=[my-model]"]
    assert with_players(["model.seed=1", "protocol=imap"], none)[-1] == (
        "teams=[my-model-among-protocols]"
    )
    for chosen in ("teams=imap", "+teams.x={}", "teams.imap.team_id=x"):
        assert with_players([MODEL, chosen], none) == [MODEL, chosen]
