"""A user's mistakes: one clear line, a status, nothing half-written."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from calbench.config.composition import compose, composed, run_spec
from calbench.errors import CalbenchError, ConfigError
from calbench.runs.play import execute
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, Ended, files
from tests.stranger import nobody

BAD_CONFIGURATIONS: dict[str, tuple[Sequence[str], str]] = {
    "unknown key": (["+nonsense=1"], "nonsense: is not a known key"),
    "unknown key below": (["+suite.nonsense=1"], "suite.nonsense: is not a known key"),
    "unknown key named as a type": (["+suite.int=1"], "suite.int: is not a known key"),
    "density above one": (
        ["suite.density=1.5", "suite.density_choices=null"],
        "suite.density: Input should be less than or equal to 1, got 1.5",
    ),
    "density of one agent above one": (
        ["suite.density=[0.5,2,0.5]", "suite.density_choices=null"],
        "suite.density.1: Input should be less than or equal to 1, got 2",
    ),
    "density as a word": (["suite.density=full"], "suite.density: .*got 'full'"),
    "empty density choices": (["suite.density_choices=[]"], "suite.density_choices: "),
    "densities of too few agents": (
        ["suite.density=[0.5,0.5]", "suite.density_choices=null"],
        "density has 2 entries, but there are 3 agents",
    ),
    "blocked counts of too few agents with densities drawn": (
        ["suite.blocked=[1]"],
        "blocked has 1 entries, but there are 3 agents",
    ),
    "participant that does not exist": (
        ["suite.scenario.participant_lists=[[0,1],[0,9]]"],
        "participant_lists.1 names agent 9",
    ),
    "no process": (["jobs=0"], "jobs: Input should be greater than or equal to 1, got 0"),
    "processes as a truth": (["jobs=true"], "jobs: .*got True"),
    "no turn": (
        ["limits.max_turns_per_round=0"],
        "limits.max_turns_per_round: Input should be greater than or equal to 1, got 0",
    ),
    "negative cap": (["limits.dm_cap=-1"], "limits.dm_cap: "),
    "channel as a number": (["channels.dm=3"], "channels.dm: "),
    "prior above one": (["measure.belief_prior=2"], "measure.belief_prior: "),
    "confidence of one": (["analysis.confidence=1.0"], "analysis.confidence: "),
    "no out": (["out=''"], "out: "),
    "name with a path": (["name=../../x"], "name: .*got '../../x'"),
    "unknown interpolation": (["suite.seed=${nowhere}"], "'nowhere' not found"),
    "unknown resolver": (["suite.seed=${shell:ls}"], "Unsupported interpolation type shell"),
    "suite path as a number": (["suite.path=3"], "suite.path: "),
}

BAD_TEAMS: dict[str, tuple[Sequence[str], str]] = {
    "unknown team": (
        ["teams=[imap,genius]"],
        "teams: there is no 'genius'; known are .*first-free, .*imap, .*silent, .*tell-all",
    ),
    "variant with a name longer than a file's": (
        ["+teams.a={players: {m: {name: a/b}}, seats: [{player: m, variant: %s}]}" % ("l" * 300)],
        "teams.a.players.m: prompt variant 'l{300}' 'v1' is unknown; known: dspy v1",
    ),
    "team twice": (["teams=[imap,silent,imap]"], "teams: imap is chosen twice"),
    "no team": (["teams=[]"], "teams: name at least one team"),
    "teams as a number": (["teams=5"], "teams: there is no '5'; known are "),
    "teams null": (["teams=null"], "teams: there is no 'null'; known are "),
    "team outside conf": (
        ["teams=['../teams/imap']"],
        r"teams: there is no '\.\./teams/imap'; known are ",
    ),
    "team in a list": (
        ["teams=[imap,{seats: [imap]}]"],
        r"teams: takes names of conf/teams; a team of your own is written '\+teams\.NAME=",
    ),
    "hostile name": (
        ["teams=[imap,'a\x1b[31m\u202eb']"],
        r"teams: there is no 'a\\x1b\[31m\\u202eb'; known are ",
    ),
}
"""What is refused about teams, which Hydra composes; of one written in place, see their presets."""

REFUSED_BEFORE: dict[str, tuple[str, str]] = {
    "experiment without plus": (
        "experiment=varied",
        "experiment: is added with a plus: +experiment=varied",
    ),
    "group with plus": ("+suite=varied", "suite: is chosen without a plus: suite=varied"),
    "near experiment": (
        "+experiment=vareid",
        "experiment: there is no 'vareid'; did you mean varied?",
    ),
    "near suite": (
        "suite=unifrm",
        "suite: there is no 'unifrm'; did you mean uniform or former-uniform?",
    ),
    "no override": (
        "varied",
        "varied: is neither a subcommand nor key=value; did you mean +experiment=varied?",
    ),
    "near subcommand": (
        "verfy",
        "verfy: is neither a subcommand nor key=value; did you mean verify?",
    ),
    "near team": ("teams=[imapp]", "teams: there is no 'imapp'; did you mean imap?"),
    "near protocol": ("protocol=imapp", "protocol: there is no 'imapp'; did you mean imap?"),
    "near shape": (
        "scenario=unifrm",
        "scenario: there is no 'unifrm'; did you mean uniform or paper-uniform?",
    ),
    "subcommand behind a key": ("help", "help: is a subcommand; write it first, calbench help ..."),
    "nothing near": ("xyzzy", "xyzzy: is neither a subcommand nor key=value; see calbench --help"),
    "hostile word": (
        "a\x1b[31m",
        r"a\x1b[31m: is neither a subcommand nor key=value; see calbench --help",
    ),
    "no key": ("=3", "=3: names no key"),
    "near option": ("--mutirun", "--mutirun: is not an option; did you mean --multirun?"),
}
"""What is refused before Hydra composes anything, and the line that says so."""

REFUSED_BY_HYDRA: dict[str, tuple[str, str]] = {
    "near key": ("job=1", "job: is not a known key; did you mean jobs?"),
    "near key below": (
        "limits.max_turn_per_round=1",
        "limits.max_turn_per_round: is not a known key; did you mean limits.max_turns_per_round?",
    ),
    "key elsewhere": (
        "permutation_seed=3",
        "permutation_seed: is not a known key; did you mean analysis.permutation_seed?",
    ),
    "nothing near": ("budget.smoke=1", "budget.smoke: is not a known key; known are max_usd"),
    "key added": ("+limit=1", "configuration: limit: is not a known key; did you mean limits?"),
    "key deleted": ("~job", "job: is not a known key; did you mean jobs?"),
    "key twice": ("+games_at_once=3", "games_at_once: is there already; leave out the plus"),
    "choice outside its group": (
        "suite=../unifrm",
        "suite: there is no '../unifrm'; did you mean uniform?",
    ),
    "sweep": ("jobs=1,2", "jobs=1,2: a list is written key=[a,b]; a,b are two runs of --multirun"),
    "broken list": (
        "teams=[imap",
        "configuration: teams=[imap: a bracket or quote is open, or out of place",
    ),
    "open quotation": (
        "out=it's",
        "configuration: out=it's: a bracket or quote is open, or out of place",
    ),
    "near model": ("model.nme=x", "model.nme: is not a known key; did you mean model.name?"),
}
"""What is refused when the configuration is composed, and the line that says so."""

FAST = ("near key",)
"""Of these the fast tests make sure; Hydra takes its time for each."""


@pytest.fixture(scope="module")
def small() -> DictConfig:
    config = composed(SMALL)
    OmegaConf.set_struct(config, False)
    return config


def assert_refused(ended: Ended, pattern: str) -> None:
    """One line that says what, no traceback, a status, no result."""
    assert ended.status not in {0, None}
    assert "Traceback" not in ended.err
    (line,) = ended.error_lines
    assert line.startswith("error: ")
    assert re.search(pattern, line)
    assert line.isprintable()
    assert ended.out == ""


def refusal(small: DictConfig, **changes: Any) -> str:
    """Return the one line with which a run is refused."""
    spec = run_spec(DictConfig(OmegaConf.merge(small, changes)))
    with pytest.raises(CalbenchError) as refused:
        execute(spec)
    line = str(refused.value)
    assert line.isprintable()
    return line


def written(out: Path) -> list[str]:
    return sorted(files(out)) if out.exists() else []


@pytest.mark.parametrize(
    ("overrides", "pattern"), BAD_CONFIGURATIONS.values(), ids=BAD_CONFIGURATIONS
)
def test_configuration_is_refused_with_its_key_when_it_does_not_fit(
    small: DictConfig, overrides: Sequence[str], pattern: str
) -> None:
    changes = OmegaConf.from_dotlist([override.lstrip("+") for override in overrides])
    with pytest.raises(ConfigError, match=pattern) as refusal:
        run_spec(DictConfig(OmegaConf.merge(small, changes)))
    assert str(refusal.value).isprintable()


def test_command_ends_with_one_line_when_the_configuration_does_not_fit(
    command: Command, tmp_path: Path
) -> None:
    overrides, pattern = BAD_CONFIGURATIONS["density above one"]
    assert_refused(command(*SMALL, f"out={tmp_path / 'out'}", *overrides), pattern)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("overrides", "pattern"), BAD_TEAMS.values(), ids=BAD_TEAMS)
def test_team_is_refused_with_its_name_when_it_does_not_fit(
    overrides: Sequence[str], pattern: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{pattern}") as refusal:
        compose(overrides)
    assert str(refusal.value).isprintable()


def test_command_ends_with_one_line_when_no_scenario_can_be_drawn(
    command: Command, tmp_path: Path
) -> None:
    ended = command(*SMALL, f"out={tmp_path / 'a' / 'out'}", "suite.scenario.num_slots=1")
    assert_refused(ended, "raise num_slots or lower num_meetings")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("override", "line"),
    [
        *(pytest.param(*case, id=name) for name, case in REFUSED_BEFORE.items()),
        *(
            pytest.param(*case, id=name, marks=[] if name in FAST else pytest.mark.heavy)
            for name, case in REFUSED_BY_HYDRA.items()
        ),
    ],
)
def test_what_is_unknown_is_one_line_with_the_nearest_names(
    command: Command, tmp_path: Path, override: str, line: str
) -> None:
    ended = command(f"out={tmp_path / 'out'}", override)
    assert (ended.status, ended.out, ended.err) == (2, "", f"error: {line}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_estimate_refuses_as_the_run_does(command: Command) -> None:
    assert command("estimate", "job=1").err == command("job=1").err
    assert command("estimate", "varied").err == command("varied").err


# --- suite files


def test_suite_line_is_refused_when_it_is_not_json(
    command: Command, suite: Path, tmp_path: Path
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(suite.read_text() + '{"scenario_id": \n')
    ended = command(f"suite.path={path}", f"out={tmp_path / 'out'}")
    assert_refused(ended, re.escape(f"{path}, line 4: not JSON"))
    assert not (tmp_path / "out").exists()


# --- output folders


@pytest.mark.parametrize("below", ["", "/run", "/a/b/c"])
def test_out_is_refused_when_a_file_stands_in_its_way(
    small: DictConfig, tmp_path: Path, below: str
) -> None:
    (tmp_path / "file").write_text("mine")
    line = refusal(small, out=f"{tmp_path / 'file'}{below}")
    assert line.startswith(f"{tmp_path / 'file'}{below}: cannot be written")
    assert files(tmp_path) == {"file": b"mine"}


@pytest.mark.heavy
def test_what_belongs_to_another_user_is_refused(command: Command, tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):  # which also imports what nobody may not read, where we are root
        assert command(*SMALL, "teams=[imap]", f"out={folder}").status == 0
    assert command("rescore", str(mine), f"out={mine / 'new'}").status == 0
    before = files(tmp_path)
    with nobody(theirs):
        for words in ((*SMALL, "fresh=true"), ("rescore", str(theirs)), (*SMALL, "teams=[imap]")):
            ended = command(*words, f"out={theirs / 'new'}")
            assert_refused(ended, "theirs.*: Permission denied; choose a place that is yours")
        assert_refused(command("verify", str(theirs)), "theirs.*: Permission denied; ")
    assert files(tmp_path) == before
