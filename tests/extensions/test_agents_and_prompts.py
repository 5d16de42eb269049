"""Agents and prompts that other distributions give by name, and the commands of their page."""

import hashlib
import json
import shlex
from pathlib import Path

import pytest

from calbench.agents.prompts import load_variant
from calbench.config.composition import compose
from calbench.engine.batch import played
from calbench.errors import ConfigError
from tests.cli.runs import REPO, environment, python
from tests.extensions.conftest import Install
from tests.extensions.distributions import commands_on_page, files_on_page, install_page
from tests.factories import make_scenario

SCENARIO = make_scenario(["E..B", ".E.E"], [(0, 1)])
POLITE = ("teams=[]", "+teams.polite={players: {a: {agent: polite}}, seats: [a]}")


@pytest.mark.usefixtures("page")
def test_agent_sits_by_its_name() -> None:
    config = compose(POLITE).game_configs[0]
    (seat,) = config.team.seats
    assert seat.kind == "custom"
    assert seat.settings["agent"] == "polite"
    assert seat.settings["distribution"] == "calbench-bid 1.0"
    assert played(SCENARIO, config).metrics.rounds_scheduled == 1


def test_unknown_agent_lists_what_there_is(given: Install) -> None:
    given("other", "1", {"calbench.agents": {"loud": "other:Loud"}})
    with pytest.raises(ConfigError, match=r"no installed .* known are loud; if it is your"):
        played(SCENARIO, compose(POLITE).game_configs[0])


@pytest.mark.usefixtures("page")
def test_variant_is_a_folder_of_versions() -> None:
    text = "Keep every message below ten words."
    found = load_variant("brief", "v1")
    assert found == (text, hashlib.sha256(text.encode()).hexdigest(), False)
    seat = "{player: m, variant: brief}"
    players = "{m: {name: openai/tiny}}"
    (team,) = compose(["teams=[]", f"+teams.b={{players: {players}, seats: [{seat}]}}"]).teams
    variant = team.seats[0].variant
    assert variant is not None
    assert (variant.name, variant.digest, variant.is_nosy) == ("brief", found.digest, False)
    with pytest.raises(ConfigError, match=r"'brief' 'v2' is unknown; known: brief v1$"):
        load_variant("brief", "v2")
    with pytest.raises(ConfigError, match=r"'long' 'v1' is unknown; known: .*nosy v1.*, brief$"):
        load_variant("long", "v1")


def test_variant_says_that_it_probes(page: Path) -> None:
    (page / "calbench_bid" / "brief" / "__init__.py").write_text("is_probing = True\n")
    assert load_variant("brief", "v1").is_probing
    assert not load_variant("dspy", "v1").is_probing
    assert load_variant("nosy", "v1").is_probing


def test_variant_of_this_package_is_not_replaced(given: Install) -> None:
    given("shadow", "1", {"calbench.prompts": {"nosy": "other"}})
    with pytest.raises(ConfigError, match="'nosy' is given by CalBench itself and by shadow 1"):
        load_variant("nosy", "v1")


def test_variant_that_names_a_module_is_refused(given: Install) -> None:
    folder = given("flat", "1", {"calbench.prompts": {"flat": "other"}})
    (folder / "other.py").touch()
    with pytest.raises(ConfigError, match="prompt 'flat' of flat 1 names no package"):
        load_variant("flat", "v1")


pytestmark = pytest.mark.heavy


def test_every_command_of_the_page_plays(tmp_path: Path) -> None:
    installed = install_page(tmp_path / "installed")
    here = tmp_path / "here"
    here.mkdir()
    env = environment(PYTHONPATH=f"{REPO}:{installed}", PYTHONDONTWRITEBYTECODE="1")
    commands = [shlex.split(command) for command in commands_on_page()]
    assert len(commands) == 4
    for program, *words in commands:
        arguments = words if program == "python" else ["-m", "calbench", *words]
        ended = python(*arguments, cwd=here, env=env)
        assert ended.status == 0, ended.err
    played = {
        (seat["player"], seat["settings"]["distribution"])
        for path in here.glob("build/*/traces/*/*.json")
        for seat in json.loads(path.read_text())["config"]["team"]["seats"]
        if "distribution" in seat["settings"]
    }
    assert played == {("bid", "calbench-bid 1.0"), ("polite", "calbench-bid 1.0")}
    without = environment(PYTHONPATH=str(REPO))
    verified = python("-m", "calbench", "verify", "build/bid", cwd=here, env=without)
    assert verified.out == (
        "3 of 3 traces hold; 155 turns of players from elsewhere not checked; "
        "3 games of unknown code\n"
    )
    refused = python("-m", "calbench", "rescore", "build/bid", "out=x", cwd=here, env=without)
    assert refused.status == 2
    assert refused.err.splitlines()[-1].startswith("error: a message is a bid, and no installed")


def test_files_of_the_page_are_a_distribution(tmp_path: Path) -> None:
    """Import what its entry points name from a folder that has nothing else."""
    install_page(tmp_path)
    assert set(files_on_page()) >= {"pyproject.toml", "calbench_bid/protocol.py"}
    said = python(
        "-c",
        "from importlib.metadata import distribution as d\n"
        "print(sorted(type(p.load()).__name__ for p in d('calbench-bid').entry_points))",
        env=environment(PYTHONPATH=f"{REPO}:{tmp_path}"),
    )
    assert said.out == "['function', 'module', 'type', 'type']\n", said.err


def test_installed_distribution_of_the_page_has_all_its_files(tmp_path: Path) -> None:
    """What is no code is left out of a package unless it is named."""
    for path, text in files_on_page().items():
        (tmp_path / "bid" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bid" / path).write_text(text, encoding="utf-8")
    said = python(
        "-c",
        "from zipfile import ZipFile as z; from setuptools import build_meta as b; "
        "print('built', *z('../' + b.build_wheel('..')).namelist())",
        cwd=tmp_path / "bid",
    )
    assert files_on_page().keys() - {*said.out.split()} == {"pyproject.toml"}, said.err
