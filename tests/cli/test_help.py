"""What ``--help`` says of every command, and that saying it needs nothing heavy."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import calbench
from calbench.cli.program import TOPICS, program
from calbench.config.groups import described, known_names
from calbench.domain.rules import RULES_VERSION
from calbench.scenarios.models import SCHEMA_VERSION
from calbench.traces.models import TRACE_SCHEMA_VERSION
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, python

SCREEN = 24
"""Lines of a terminal."""

SUBCOMMANDS = (
    "audit",
    "bundle",
    "compare",
    "estimate",
    "focal",
    "help",
    "judge",
    "matchmake",
    "prove",
    "replies",
    "rescore",
    "scan",
    "seal",
    "site",
    "submit",
    "traces",
    "verify",
    "view",
)

HEAVY = ("litellm", "ortools", "hydra", "omegaconf", "numpy", "pandas", "pydantic", "rich", "yaml")

HELPED = f"""
import json, sys
from calbench.cli.main import answer
status = answer({{arguments!r}})
heavy = set({HEAVY}) & set(sys.modules)
print(json.dumps([status, sorted(heavy)]))
"""


@pytest.mark.parametrize(
    "arguments",
    [[], *([name] for name in SUBCOMMANDS), ["replies", "merge"], ["traces", "pack"]],
    ids="-".join,
)
def test_help_is_answered_before_anything_heavy_is_imported(arguments: list[str]) -> None:
    ended = python("-c", HELPED.format(arguments=[*arguments, "--help"]))
    said, _, report = ended.out.rstrip("\n").rpartition("\n")
    assert json.loads(report) == [0, []]
    assert said.startswith("Usage: " + " ".join(["calbench", *arguments]))


def test_every_subcommand_is_listed_and_the_run_needs_no_name(command: Command) -> None:
    assert set(program.commands) - {"run"} == set(SUBCOMMANDS)
    said = command("help", "subcommands").out
    assert all(f"\n  {name} " in said for name in SUBCOMMANDS)
    assert "\n  run " not in said


def test_help_fits_a_screen_and_names_all_topics(command: Command) -> None:
    said = command("--help").out
    assert len(said.splitlines()) <= SCREEN
    told = set(re.findall(r"[a-z]+", said.partition("\nSubcommands")[2]))
    assert {*SUBCOMMANDS, *TOPICS, "all"} <= told
    everything = command("help", "all").out
    for topic in TOPICS:
        assert command("help", topic).out.strip() in everything
    assert command("help").out == said
    assert command("help", "verify").out == command("verify", "--help").out
    assert command("help", "seal", "draw").out == command("seal", "draw", "--help").out
    assert command("help", "seal", "drow").error_lines == [
        "error: drow: is not a subcommand; did you mean draw?"
    ]
    assert "(verify, prove, submit, seal)" in command("help", "status").out
    assert command("help", "staus").error_lines == [
        "error: staus: is not a topic; did you mean status or teams?"
    ]


@pytest.mark.parametrize("arguments", [["-h"], ["teams=[imap]", "--help"], ["run", "--help"]])
def test_help_of_a_run_is_that_of_the_program(command: Command, arguments: list[str]) -> None:
    assert command(*arguments).out == command("--help").out


@pytest.mark.parametrize("group", ["experiment", "suite", "protocol", "teams"])
def test_help_says_of_each_choice_what_it_is(command: Command, group: str) -> None:
    said = "".join(command("help", "all").out.split())  # lines break at hyphens, too
    choices = described(group)
    assert list(choices) == known_names(group)
    for name, about in choices.items():
        assert about
        assert f"{name}{about}".replace(" ", "") in said


def test_first_sentence_describes_a_file() -> None:
    assert described("suite")["uniform"] == (
        "The canonical uniform suite, the paper's 45 tasks: every errand costs 1 (paper, section 3)"
    )
    assert described("experiment")["reproduction"] == (
        "The protocols of the paper's Table 2 on five fresh draws of both canonical suites"
    )


Completed = Callable[..., list[str]]


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch, command: Command) -> Completed:
    """What a shell is offered behind some words, the last of which is incomplete."""

    def complete(*words: str, shell: str = "bash") -> list[str]:
        monkeypatch.setenv("_CALBENCH_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["calbench", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)) if shell == "bash" else words[-1])
        ended = command()
        assert (ended.status, ended.err) == (0, "")
        return [line.partition(",")[2] for line in ended.out.splitlines()]

    return complete


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ver"], ["verify"]),
        (["--mul"], ["--multirun"]),
        (["prove", "--j"], ["--json"]),
        (["replies", "e"], ["export"]),
        (["+experiment=vari"], ["+experiment=varied"]),
        (["+experiment", "=", "vari"], ["varied"]),
        (["teams=imap", "suite=unif"], ["suite=uniform"]),
        (["suite", "=", "unif"], ["uniform"]),
        (["teams=[imap,sile"], ["teams=[imap,silent"]),
        (["estimate", "model=gpt"], ["model=gpt-5.4-mini"]),
        (["judge", "run", "model=gpt"], ["model=gpt-5.4-mini"]),
        (["judge", "run", "model", "=", "gpt"], ["gpt-5.4-mini"]),
        (["rescore", "tea"], ["teams=", "tea"]),
        (["out=bui"], ["out=bui"]),
    ],
    ids=" ".join,
)
def test_shell_is_offered_what_can_follow(
    completed: Completed, words: list[str], offered: list[str]
) -> None:
    assert completed(*words) == offered


def test_shell_is_offered_every_choice_behind_the_sign(completed: Completed) -> None:
    assert completed("suite", "=") == known_names("suite")
    assert completed("tea") == [f"teams={name}" for name in known_names("teams")]


def test_line_that_switches_completion_on_is_printed(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("_CALBENCH_COMPLETE", "zsh_source")
    ended = command()
    assert ended.status == 0
    assert "compdef" in ended.out


LIST_HEAVY = f"""
import sys
try:
    {{action}}
finally:
    print("HEAVY", sorted(set({HEAVY}) & set(sys.modules)))
"""


def heavy_modules(action: str) -> tuple[str, str]:
    """Run an action in a fresh Python; return what it printed, and the heavy modules it loaded."""
    ended = python("-c", LIST_HEAVY.format(action=action))
    assert ended.status == 0, ended.err
    said, _, modules = ended.out.rpartition("HEAVY ")
    return said, modules.strip()


def test_package_loads_nothing_heavy_until_it_is_used() -> None:
    said, modules = heavy_modules("import calbench; print(calbench.__version__)")
    assert said == f"{calbench.__version__}\n"
    assert modules == "[]"


def test_table_is_printed_without_what_draws_bars() -> None:
    ended = python(
        "-c",
        "import sys; from calbench.terminal import new_table, print_tables\n"
        "print_tables(new_table('title', ['head'])); print({'rich.progress', 'rich.live'}"
        " & set(sys.modules))",
    )
    assert (ended.status, ended.out.splitlines()[0].strip()) == (0, "title")
    assert ended.out.endswith("\nset()\n")


def test_version_names_package_rules_metrics_prompts_suites_and_schemas() -> None:
    ended = python("-m", "calbench", "--version")
    assert ended.status == 0
    assert ended.err == ""
    assert ended.out == (
        f"calbench {calbench.__version__} (rules {RULES_VERSION}, metrics 4, prompts v1 v2 v3, "
        "suites uniform 91490890a3b7 varied 16a7a90c90a8, "
        f"suite schema {SCHEMA_VERSION}, trace schema {TRACE_SCHEMA_VERSION})\n"
    )


@pytest.mark.heavy
def test_run_loads_no_language_model() -> None:
    _, modules = heavy_modules("import calbench.cli.run, calbench.cli.verify")
    assert "litellm" not in modules


OFFLINE = """
import runpy, socket, sys

def refuse(*arguments, **options):
    sys.stderr.write("NETWORK\\n")
    raise OSError("the default path asks for no network")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.create_connection = refuse
sys.argv = ["calbench", *sys.argv[1:]]
runpy.run_module("calbench", run_name="__main__", alter_sys=True)
"""


@pytest.mark.heavy
def test_run_opens_no_connection(tmp_path: Path) -> None:
    ended = python("-c", OFFLINE, *SMALL, f"out={tmp_path / 'out'}")
    assert ended.status == 0, ended.err
    assert "NETWORK" not in ended.err
    assert "12 games played" in ended.out
