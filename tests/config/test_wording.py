"""Which prompts a run is played with: its own choice, its models' files, or a folder's."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calbench.agents.prompts import Prompts, load_prompts, load_variant, use_prompts
from calbench.agents.prompts.folder import MOST_BYTES, PROBING_MARK, used_folders
from calbench.agents.prompts.templates import FOLDER
from calbench.config.composition import compose
from calbench.config.groups import known_names
from calbench.config.spec import PromptsSpec, write_params
from calbench.config.teams import chosen_prompts
from calbench.domain.observations import Briefing
from calbench.errors import ConfigError
from calbench.llm.client import open_recorded
from calbench.runs.verification import verify_trace
from tests.cli.runs import read_params
from tests.runs.model_games import CANDID, IMAP, STUB, played

TEAM = "teams=[candid]"


@pytest.fixture(autouse=True)
def no_folder_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calbench.agents.prompts.folder._used", {})
    load_prompts.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be another process, that was told of no folder."""
    monkeypatch.setattr("calbench.agents.prompts.folder._used", {})
    load_prompts.cache_clear()


@pytest.fixture(params=["v2", "v3"])
def mine(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with a version that was copied from one of ours, and two variants."""
    folder = tmp_path / "mine"
    shutil.copytree(FOLDER / request.param, folder)
    text = (folder / "system.md").read_text()
    (folder / "system.md").write_text(text.replace("## Rules", "## Rules of mine"))
    for name in ("kind", "curious"):
        (folder / "variants" / name).mkdir(parents=True)
        (folder / "variants" / name / "v1.md").write_text(f"Be {name}.\r\n")
    (folder / "variants" / "curious" / PROBING_MARK).touch()
    return folder


def team(team_id: str, *models: str) -> dict[str, Any]:
    seats = [{"player": model, "kind": "model"} for model in models]
    return {"team_id": team_id, "seats": [{"player": "candid", "kind": "scripted"}, *seats]}


def versions_of(given: object, *teams: dict[str, Any]) -> list[str]:
    models: dict[str, dict[str, Any]] = {
        "old": {"prompts": "v1"},
        "new": {"prompts": "v2"},
        "any": {"prompts": None},
    }
    chosen = PromptsSpec.model_validate(chosen_prompts(given, teams, models))
    return [chosen.version_of(each["team_id"])[0] for each in teams]


def test_version_is_the_runs_own_or_what_the_files_of_models_say() -> None:
    teams = team("a"), team("b", "any"), team("c", "new"), team("d", "new", "any"), team("e", "old")
    assert versions_of({}, *teams) == ["v1", "v1", "v2", "v2", "v1"]
    assert versions_of({"version": "v2"}, *teams) == ["v2"] * 5
    assert versions_of({"version": "v1", "path": None}, *teams) == ["v1"] * 5


def test_models_of_one_team_share_their_prompts() -> None:
    both = team("two", "old", "new")
    line = r"^teams\.two: its models name different prompts \(old v1, new v2\): choose one"
    with pytest.raises(ConfigError, match=line):
        versions_of({}, both)
    assert versions_of({"version": "v2"}, both) == ["v2"]


def test_file_of_a_model_names_its_prompts() -> None:
    spec = compose(["teams=[my-model,imap]", "model=gpt-5.4-mini", "model.prompts=v2"])
    assert [config.prompt_version for config in spec.game_configs] == ["v2", None]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"version": "v9"}, "prompt version 'v9' is unknown; known: v1, v2"),
        ({"version": "../v1"}, "unknown"),
        ({"path": "/nowhere/at/all"}, "prompts: /nowhere/at/all is not a folder"),
        ({"file": "x"}, "prompts: expected the keys version, path, canary"),
        ("v2", "prompts: expected the keys version, path, canary"),
    ],
)
def test_unknown_prompts_are_refused_in_a_line(given: object, line: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        chosen_prompts(given, [], {})
    assert line in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("part", ["worked_free", "worked_move"])
@pytest.mark.parametrize("mine", ["v3"], indirect=True)
def test_every_worked_decision_of_a_folder_is_tried(mine: Path, part: str) -> None:
    (mine / "parts" / f"{part}.md").write_text("In slot ${slott}.")
    with pytest.raises(ConfigError, match=rf"{part}\.md: placeholders and values do not fit"):
        use_prompts(mine)


@pytest.mark.parametrize("mine", ["v3"], indirect=True)
def test_speaker_must_see_whether_chances_are_asked_for(mine: Path) -> None:
    text = (mine / "reflection.md").read_text()
    changed = {
        "line": text.replace('- "occupied", from', '- "occupied": from'),
        "shape": text.replace(', "occupied": {${chances}}', ""),
    }
    for odd in changed.values():
        assert odd != text
        (mine / "reflection.md").write_text(odd)
        with pytest.raises(ConfigError, match=r"mine/reflection\.md: a scripted speaker cannot"):
            compose([TEAM, f"prompts.path={mine}"])


@pytest.mark.parametrize("mine", ["v3"], indirect=True)
def test_chances_are_asked_for_in_either_form_of_a_placeholder(mine: Path) -> None:
    path = mine / "reflection.md"
    path.write_text(path.read_text().replace("${chances}", "$chances"))
    spec = compose([TEAM, f"prompts.path={mine}"])
    spec.prompts.use()
    assert load_prompts("mine", spec.prompts.digest).edition == 3


@pytest.mark.parametrize("model", known_names("model"))
def test_every_model_can_do_without_the_aids_of_schemas(model: str) -> None:
    named = () if model != "local" else ("model.name=a", "model.player=a")
    spec = compose(["teams=[my-model]", f"model={model}", "model.is_tied=false", *named])
    (asked,) = spec.models.values()
    assert not asked.spec.is_tied


def test_folder_is_played_by_its_digest_and_survives_the_parameters(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = compose([TEAM, f"prompts.path={mine}"])
    (config,) = spec.game_configs
    assert (config.prompt_version, config.prompt_digest) == ("mine", spec.prompts.digest)
    assert str(mine) not in config.model_dump_json()
    write_params(tmp_path / "params.yaml", spec)
    assert read_params(tmp_path / "params.yaml").game_configs == (config,)
    forget(monkeypatch)
    with pytest.raises(ConfigError, match="prompts mine: stand in a folder, with the digest"):
        load_prompts("mine", config.prompt_digest)
    spec.prompts.use()
    text = load_prompts("mine", config.prompt_digest).templates.text_by_name["system"]
    assert "## Rules of mine" in text
    renamed = load_prompts("v1", config.prompt_digest)
    assert renamed.templates.version == "v1"
    assert renamed.edition == (3 if "${principal}" in text else 2)


def test_variants_of_a_folder_are_seated_with_the_version_that_the_run_names(mine: Path) -> None:
    seated = "+teams.kind={players: {a: {name: a/b}}, seats: [{player: a, variant: curious}]}"
    for path in mine.glob("*.md"):
        path.unlink()
    shutil.rmtree(mine / "parts")
    spec = compose(["teams=[]", seated, f"prompts.path={mine}", "prompts.version=v2"])
    (config,) = spec.game_configs
    assert (config.prompt_version, config.prompt_digest) == ("v2", None)
    variant = config.team.seats[0].variant
    assert variant is not None
    assert variant.is_nosy
    assert load_variant("curious", "v1").text == "Be curious."
    assert not load_variant("kind", "v1").is_probing
    with pytest.raises(ConfigError, match=r"red-team v1, .*curious v1, kind v1"):
        load_variant("kind", "v2")


def emptied(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda mine: (mine / "turn.md").unlink(), "turn.md: is missing"),
        (lambda mine: (mine / "trun.md").write_text("x"), "trun.md: is no template; known are"),
        (lambda mine: (mine / "turn.md").write_text("5$"), "turn.md: a stray $"),
        (
            lambda mine: (mine / "turn.md").write_text("${inbix}"),
            "turn.md: placeholders and values",
        ),
        (lambda mine: (mine / "turn.md").write_text("none"), "turn.md: placeholders and values"),
        (lambda mine: (mine / "turn.md").write_bytes(b"\xff"), "turn.md: is no UTF-8 text"),
        (
            lambda mine: (mine / "turn.md").write_bytes(b"x" * (MOST_BYTES + 1)),
            "turn.md: holds more",
        ),
        (
            lambda mine: (mine / "variants/kind/2.md").write_text("x"),
            "2.md: a variant is variants/",
        ),
        (lambda mine: mine.rename(mine.parent / "v2"), "v2 is a version of this package"),
        (lambda mine: mine.rename(mine.parent / "my own"), "a version is named like its folder"),
        (emptied, "neither system.md nor variants/"),
        (
            lambda mine: (mine / "variants/kind").rename(mine / "variants/nosy"),
            "nosy v1 is a variant of this package",
        ),
    ],
)
def test_odd_folder_is_refused_in_a_line(
    mine: Path, change: Callable[[Path], object], line: str
) -> None:
    change(mine)
    (folder,) = mine.parent.iterdir()
    with pytest.raises(ConfigError) as refusal:
        use_prompts(folder)
    assert line in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "line", "changed", "blamed"),
    [
        ("decision", "=== ROUND ${round}: DECISION ===", "# Round ${round}: decide", "decision"),
        ("round_start", "Meeting to schedule: ", "Schedule this: ", "round_start"),
        ("parts/budget", "CHEAP_TALK turn budget: turn", "This is turn", "round_start"),
        ("parts/inbox", "${messages}", "> ${messages}", "round_start"),
        ("outsider", "=== ROUND", "ROUND", "outsider"),
        ("turn", "=== ROUND", "ROUND", "turn"),
        ("voluntary", "VOLUNTARY ===", "VOLUNTARY", "voluntary"),
        ("retry", "Conflict: ", "Why: ", "retry"),
        ("reflection", "Other agents: ", "Others: ", "reflection"),
        ("system", "You are agent ${agent_id}.", "Agent ${agent_id} is you.", "system"),
    ],
)
def test_template_that_a_scripted_speaker_cannot_read_is_refused_if_one_is_seated(
    mine: Path, name: str, line: str, changed: str, blamed: str
) -> None:
    path = mine / f"{name}.md"
    text = path.read_text()
    assert line in text
    path.write_text(text.replace(line, changed, 1))
    with pytest.raises(
        ConfigError, match=rf"mine/{blamed}\.md: a scripted speaker cannot read"
    ) as told:
        compose([TEAM, f"prompts.path={mine}"])
    assert "\n" not in str(told.value)
    models = "+teams.two={players: {a: {name: a/b}}, seats: [a, a]}"
    (config,) = compose(["teams=[]", models, f"prompts.path={mine}"]).game_configs
    assert config.prompt_version == "mine"


def test_sentences_that_no_speaker_reads_may_be_ones_own(mine: Path) -> None:
    for path in mine.glob("*.md"):
        path.write_text(f"{path.read_text()}\nThe end.\n")
    assert compose([TEAM, f"prompts.path={mine}"]).prompts.version == "mine"


def test_templates_are_tried_once_in_a_composition(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (mine / "turn.md").read_text()
    (mine / "turn.md").write_text(f"{text}\nTried once.\n")
    tried: list[Briefing] = []
    whole = Prompts.system

    def noting(prompts: Prompts, told: Briefing) -> str:
        tried.append(told)
        return whole(prompts, told)

    monkeypatch.setattr(Prompts, "system", noting)
    spec = compose(["teams=[imap]", f"prompts.path={mine}"])
    spec.prompts.use()
    assert len(tried) == len(set(tried)) > 0


def with_variant(folder: Path, text: str) -> Path:
    (folder / "variants" / "kind").mkdir(parents=True)
    (folder / "variants" / "kind" / "v1.md").write_text(text)
    return folder


def test_variant_is_that_of_the_folder_named_last_or_that_of_a_digest(tmp_path: Path) -> None:
    one, two = (with_variant(tmp_path / name, name) for name in ("one", "two"))
    for folder in (one, two, one):
        use_prompts(folder)
    last = load_variant("kind", "v1")
    assert last.text == "one"
    use_prompts(two)
    assert load_variant("kind", "v1").text == "two"
    assert load_variant("kind", "v1", last.digest).text == "one"
    assert load_variant("kind", "v1", "0" * 64).text == "two"


def test_folder_that_is_refused_is_not_used(mine: Path, tmp_path: Path) -> None:
    use_prompts(with_variant(tmp_path / "other", "Be other."))
    (mine / "turn.md").write_text("5$")
    with pytest.raises(ConfigError, match=r"turn\.md"):
        use_prompts(mine)
    assert used_folders() == (tmp_path / "other",)
    assert load_variant("kind", "v1").text == "Be other."


def test_version_beside_a_folder_with_one_is_refused(mine: Path) -> None:
    with pytest.raises(ConfigError, match=r"^prompts\.version: the folder .* holds mine, not v2"):
        chosen_prompts({"version": "v2", "path": str(mine)}, [], {})


@pytest.mark.parametrize("name", ["mine", "v1", "v2"])
def test_trace_is_worded_anew_only_if_the_folder_is_named(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    digest = chosen_prompts({"path": str(mine)}, [], {})["digest"]
    store = tmp_path / "replies.sqlite"
    trace = played((IMAP, CANDID, STUB), store, prompts=(name, digest))
    with open_recorded(store) as replies:
        forget(monkeypatch)
        use_prompts(mine.rename(tmp_path / "other"))
        named = verify_trace(trace, replies)
        assert named.replies_checked > 0
        assert named.prompts_not_checked == named.turns_not_checked == 0
        forget(monkeypatch)
        unnamed = verify_trace(trace, replies)
    assert unnamed.replies_checked == 0
    assert unnamed.replies_not_checked == named.replies_checked
    assert unnamed.prompts_not_checked > unnamed.turns_not_checked > 0
