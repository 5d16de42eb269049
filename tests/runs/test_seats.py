"""The digest of what plays: every file of it counts, and the list of it is that of the imports."""

import shutil
from pathlib import Path

import pytest

from calbench.code import PACKAGE, first_digest
from calbench.config.composition import compose
from calbench.runs.seats import PLAYING, modules_of, package_digest, read_note
from calbench.scenarios.labels import LABEL_BANKS
from calbench.traces.catalog import Catalog
from tests.extensions.conftest import given, page  # noqa: F401 - fixtures
from tests.stages.dependencies import closure, files_of, imports


def test_list_is_what_playing_imports_with_the_data_beside_it() -> None:
    needed = files_of(closure("calbench.engine.batch", imports()))
    assert {path.parts[1] for path in needed} == set(PLAYING)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("protocols/imap.py", True),
        ("engine/rules_of_tomorrow.py", True),
        ("agents/prompts/v1/system.jinja", True),
        ("banks/v1.jsonl", True),
        ("report/role.py", False),
        ("engine/game.pyc", False),
    ],
)
def test_edit_of_what_plays_counts_and_no_other(name: str, counts: bool, tmp_path: Path) -> None:
    for each in ("engine", "agents", "protocols", "report"):
        shutil.copytree(PACKAGE / each, tmp_path / each)
    shutil.copytree(LABEL_BANKS, tmp_path / "banks")
    before = package_digest(tmp_path, tmp_path / "banks")
    with (tmp_path / name).open("a") as file:
        file.write("\n# edited\n")
    first_digest.cache_clear()  # as in the next process
    assert (package_digest(tmp_path, tmp_path / "banks") != before) == counts


@pytest.mark.usefixtures("page")
def test_modules_of_a_team_are_those_that_a_configuration_names() -> None:
    players = (
        "a: {agent: 'mine.agent:Mine'}, b: {agent: polite}, c: {protocol: bid}, "
        "d: {agent: 'calbench.agents.example:Announcer'}, e: {protocol: imap}"
    )
    team = f"+teams.x={{players: {{{players}}}, seats: [a, b, c, d, e]}}"
    spec = compose(["teams=[imap]", team])
    named = {each.team_id: modules_of(each) for each in spec.teams}
    assert named["imap"] == {"calbench"}
    assert named["x"] == {"calbench", "calbench_bid.agent", "calbench_bid.protocol", "mine.agent"}


def test_note_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "code.json").write_text('{"schema_version": 1, "teams": {}}')
    assert not Catalog().holds_traces(tmp_path)
    assert read_note(tmp_path) == {}
