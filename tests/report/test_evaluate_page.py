"""The page on evaluating a model: its commands compose and it names what there is."""

import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest

from calbench.cli.jobs import sweep_of
from calbench.cli.main import answer
from calbench.config.composition import compose, open_seats, with_players
from calbench.report.pages import PAGES, navigation
from tests.report.samples import SOURCES

PAGE = (SOURCES / "docs" / "evaluate.md").read_text()

PROMPTS = SOURCES.parent / "calbench" / "agents" / "prompts" / "v2"
"""What the page says to copy."""

COMMANDS = [
    (found[1] or "", shlex.split(found[2]))
    for found in re.finditer(
        r"^    calbench(?: estimate)?( -m| --config-dir mine)? ((?:\+|\S+=|').*)$",
        PAGE,
        re.MULTILINE,
    )
]
"""An option, and overrides."""

TEAM_FILES = [
    textwrap.dedent(found[0])
    for found in re.finditer(r"(?:^    .*\n|^\n)+", PAGE, re.MULTILINE)
    if " seats:" in found[0] and "calbench " not in found[0]
]
"""Files of teams that the page shows."""


def folder_with(team: str, name: str, folder: Path) -> Path:
    """Return a folder of one's own with a team, as the page says to save it."""
    path = folder / "teams" / f"{name}.yaml"
    path.parent.mkdir()
    path.write_text(team)
    return folder


@pytest.mark.heavy
@pytest.mark.parametrize(("option", "overrides"), COMMANDS)
def test_every_command_to_evaluate_a_model_composes(
    option: str, overrides: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in overrides:
        if word.startswith("prompts.path="):
            shutil.copytree(PROMPTS, word.partition("=")[2])
    if option == " -m":
        assert len(sweep_of(with_players(overrides, open_seats)).runs) > 1
    elif option:
        (name,) = (word.partition("=")[2] for word in overrides if word.startswith("teams="))
        silent = f"{name}: {{players: {{a: {{protocol: silent}}}}, seats: [a]}}"
        spec = compose(overrides, folder_with(silent, name, tmp_path))
        assert [team.team_id for team in spec.teams] == [name]
    else:
        assert compose(overrides).teams


def test_swept_teams_play_the_scenarios_with_which_they_are_compared() -> None:
    """The page compares a job of this sweep with the published games of `varied`."""
    (swept,) = (words for _, words in COMMANDS if "out=runs/theta" in words)
    assert "calbench compare runs/theta published:varied" in PAGE
    runs = sweep_of(with_players(swept, open_seats)).runs
    assert {name for run in runs for name, _ in run.suites} == {"varied"}


@pytest.mark.heavy
def test_estimate_of_the_page_is_what_the_command_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(["-q", "estimate", "suite=varied", "model=gpt-5.4-mini"]) == 0
    assert f"`{capsys.readouterr().out.strip()}`" in PAGE


@pytest.mark.parametrize("team", TEAM_FILES)
def test_every_team_file_of_the_page_composes(team: str, tmp_path: Path) -> None:
    folder = folder_with(team, "my-team", tmp_path)
    (found,) = compose(["teams=my-team", "model=gpt-5.4-mini"], folder).teams
    assert found.team_id == "my-team"


def test_page_on_evaluation_names_what_there_is() -> None:
    (pages,) = (entry["Run it"] for entry in navigation(PAGES) if "Run it" in entry)
    assert {"Evaluate your model": "evaluate.md"} in pages
    assert {"Python interface": "python.md"} in pages
    assert len(COMMANDS) > 20
    assert len(TEAM_FILES) == 2
    assert {option for option, _ in COMMANDS} == {"", " -m", " --config-dir mine"}
    for model in (SOURCES.parent / "conf" / "model").glob("*.yaml"):
        assert model.stem in PAGE
    for experiment in ("mixed5", "nosy", "adversarial", "dspy"):
        assert f"+experiment={experiment}" in PAGE
