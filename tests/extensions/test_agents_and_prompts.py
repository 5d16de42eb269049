"""Agents and variants of prompts that other distributions give by name."""

import hashlib
from pathlib import Path

import pytest

from calbench.agents.prompts import load_variant
from calbench.config.composition import compose
from calbench.engine.batch import played
from calbench.errors import ConfigError
from tests.extensions.conftest import Install
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
