"""The commands of ``commands.toml`` as Click reads them: a run unless a subcommand is named.

Nothing heavy is imported before a command runs: help and completion are immediate.
"""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

from calbench.cli.words import (
    KEY_BY_GROUP,
    Key,
    Status,
    at_home,
    completed_override,
    completed_word,
    program_name,
    read_words,
)
from calbench.config.groups import described, known_names
from calbench.console import quiet
from calbench.errors import ConfigError, among, nearest
from calbench.extensions import given_by, reading
from calbench.files import printable

TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("commands.toml").read_text())
"""Every command; the module that an entry names does the work."""

Entry = Mapping[str, Any]
"""An entry of the table of commands."""

COMPLETE = "_CALBENCH_COMPLETE"
"""Environment variable by which a shell asks for completions."""

RUN = "run"
"""The subcommand that needs no name."""

PLAYING = frozenset({RUN, "estimate", "focal", "matchmake"})
"""Subcommands that look up players which the user's configuration names; the others only read."""

QUIET = ("-q", "--quiet")
"""The option of every command that leaves its verdict, warnings and errors alone."""

LISTED = {"experiment": "Experiments", "suite": "Suites", "protocol": "Protocols", "teams": "Teams"}
"""Groups of ``conf/`` whose files ``calbench help`` describes."""

STATUSES = (
    ("0", "done"),
    ("1", "a check found a difference (verify, prove, submit, seal)"),
    ("2", "a mistake, named in one line"),
    (
        "3",
        "a run with games cut short by a provider or the budget, or a model that nobody can read",
    ),
    ("70", "an error of CalBench itself, with its traceback"),
    ("129", "stopped because its terminal was closed (SIGHUP), as by Ctrl-C"),
    ("130", "stopped with Ctrl-C; the same command resumes"),
    ("143", "stopped by the system (SIGTERM), as by Ctrl-C"),
)
"""Meanings of the exit statuses."""


def invoke(arguments: Sequence[str]) -> int:
    """Run the command that some arguments name; return its status.

    Raises:
        ConfigError: one line about an argument that does not fit.
        CalbenchError: what the command refuses.
    """
    if instruction := os.environ.get(COMPLETE):
        return shell_complete(program, {}, "calbench", COMPLETE, instruction)
    try:
        with program.make_context(program_name(), [*map(at_home, arguments)]) as context:
            return int(program.invoke(context) or Status.DONE)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        raise ConfigError(_problem(error)) from error


def _problem(error: click.UsageError) -> str:
    """Return what is wrong with a command line, on one line."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        options = [
            name
            for param in error.ctx.command.get_params(error.ctx)
            if isinstance(param, click.Option) and not param.hidden
            for name in param.opts
        ]
        return (
            f"{printable(error.option_name)}: is not an option; {among(error.option_name, options)}"
        )
    name = error.ctx.command_path.removesuffix(f" {RUN}") if error.ctx else program_name()
    return f"{printable(' '.join(error.format_message().split()))} See {name} --help"


def _be_quiet(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        ctx.with_resource(quiet())


class Talking(click.Command):
    """A command that can be quiet."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        about = "Show the verdict, warnings and errors alone."
        self.params.append(
            click.Option(QUIET, is_flag=True, expose_value=False, callback=_be_quiet, help=about)
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Do the work; where it only reads, no file that it reads can name code."""
        if isinstance(self, click.Group):
            return super().invoke(ctx)
        try:
            Path.cwd()
        except FileNotFoundError as error:
            raise ConfigError("the current folder is no more; change into another one") from error
        if self.name in PLAYING:
            return super().invoke(ctx)
        with reading():
            return super().invoke(ctx)


class Subcommands(Talking, click.Group):
    """A group that names the nearest subcommand if one is unknown."""

    command_class = Talking

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a call without a subcommand."""
        if set(args) <= set(QUIET) and not ctx.resilient_parsing:
            raise ConfigError(f"no subcommand is named; known are {', '.join(self.commands)}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown subcommand; Click asks for this."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            hint = among(args[0], list(self.commands))
            raise ConfigError(f"{printable(args[0])}: is not a subcommand; {hint}")
        return super().resolve_command(ctx, args)


class Program(Subcommands):
    """The whole program: without the name of a subcommand it is a run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the name of the run if no subcommand is named."""
        first = next((place for place, arg in enumerate(args) if arg not in QUIET), len(args))
        before, rest = args[:first], args[first:]
        is_completing_first = ctx.resilient_parsing and not rest
        named = {
            *self.commands,
            *(name for param in self.params for name in param.opts),
            "--help",
            "-h",
        }
        if not is_completing_first and (not rest or rest[0] not in named):
            args = [*before, RUN, *rest]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a subcommand, an option, or an override of a run."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return found + self.commands[RUN].shell_complete(ctx, incomplete)
        return found + completed_override(incomplete, ())

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show that a run needs no subcommand."""
        formatter.write_usage(ctx.command_path, "[+experiment=NAME] [key=value ...]")
        formatter.write_usage(ctx.command_path, "SUBCOMMAND ...", " " * len("Usage: "))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name subcommands and topics, so that all fits a screen."""
        names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        with formatter.section("Subcommands (calbench NAME --help)"):
            formatter.write_text(", ".join(names))
        with formatter.section("Topics (calbench help TOPIC)"):
            formatter.write_text(f"{', '.join(TOPICS)}; all has everything")


TOPICS = ("subcommands", "options", "keys", *map(str.lower, LISTED.values()), "choices", "status")
"""What ``calbench help`` tells; ``all`` is every one."""


def _write_topic(topic: str, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write one of the topics, in two columns."""
    if topic == "subcommands":
        program.format_commands(ctx, formatter)
        return
    if topic == "options":
        program.commands[RUN].format_options(ctx, formatter)
        return
    if topic == "keys":
        title = "Often changed (conf/config.yaml has all keys)"
        rows = [*TABLE["commands"][RUN]["keys"].items()]
    elif topic == "choices":
        others = [group for group in KEY_BY_GROUP if group not in LISTED]
        title, rows = "Other choices", [(f"{n}=", ", ".join(known_names(n))) for n in others]
    elif topic == "status":
        title, rows = "Exit status", [*STATUSES]
    else:
        group = next(each for each, title in LISTED.items() if title.lower() == topic)
        found = described(group) | dict(given_by("protocol") if group == "protocol" else {})
        title, rows = f"{LISTED[group]} ({KEY_BY_GROUP[group]}=NAME)", [*found.items()]
    with formatter.section(title):
        formatter.write_dl(rows)


def _show_topic(words: tuple[str, ...]) -> int:
    """Print a topic, the help of a subcommand, or what ``--help`` says."""
    ctx = click.get_current_context().find_root()
    topic = " ".join(words)
    if not words:
        click.echo(ctx.get_help())
    elif words[0] in program.commands:
        with program.make_context(ctx.info_name, [*words, "--help"]) as asked:
            program.invoke(asked)
    elif topic in {*TOPICS, "all"}:
        formatter = ctx.make_formatter()
        for each in TOPICS if topic == "all" else [topic]:
            _write_topic(each, ctx, formatter)
        click.echo(formatter.getvalue().strip("\n"))
    else:
        hint = among(topic, [*TOPICS, "all", *program.commands])
        raise ConfigError(f"{printable(topic)}: is not a topic; {hint}")
    return Status.DONE


class Tabled(Talking):
    """A command of the table: it describes, reads and completes its words.

    They are paths and ``key=value``, or, without ``usage``, the overrides of a run.
    """

    def __init__(self, name: str, entry: Entry) -> None:
        self._entry, self._usage = entry, entry.get("usage")
        shared = [TABLE["shared"][each] for each in entry.get("shared", ())]
        settings = [
            each for found in (entry.get("settings", {}), *shared) for each in found.items()
        ]
        self.keys = [Key(*each) for each in entry.get("keys", {}).items() if name != RUN]
        self.keys += [Key(shown, about, is_setting=True) for shown, about in settings]
        words = click.Argument(
            ["words"],
            nargs=-1,
            metavar=self._usage or "[+experiment=NAME] [key=value ...]",
            shell_complete=self._completed,
        )
        own = entry if self._usage else TABLE["commands"][RUN]
        options = [option(*each) for each in own.get("options", {}).items()]
        params = [words, *options, *([_versions()] if name == RUN else [])]
        about = entry["about"]
        super().__init__(
            name, callback=self._answered, params=params, help=about, hidden=name == RUN
        )

    def _completed(
        self, ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        earlier = ctx.params.get("words") or ()
        if self._usage is None:
            return completed_override(incomplete, earlier)
        return completed_word(self.keys, incomplete, earlier)

    def _answered(self, words: tuple[str, ...], **options: Any) -> int:
        """Call the function that does the work; only now is its module imported."""
        module, _, name = self._entry["calls"].partition(".")
        called = click.get_current_context().command_path
        if self._usage is None:  # beside the overrides of a run there may be keys of its own
            own = [each for each in words if any(each.startswith(key.start) for key in self.keys)]
            others = _overrides([each for each in words if each not in own])
            given: tuple[Any, ...] = (others, options | dict(each.split("=", 1) for each in own))
            options = {}
        else:
            given = (read_words(words, self.keys, self._usage, called),)
        answer: Callable[..., int] = getattr(import_module(f"calbench.cli.{module}"), name)
        return int(answer(*given, **options))

    def get_help(self, ctx: click.Context) -> str:
        """Answer for the run with the help of the whole program."""
        if self.name == RUN and ctx.parent is not None:
            return ctx.parent.get_help()
        return super().get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the keys before the options."""
        if self.keys:
            with formatter.section("Keys"):
                formatter.write_dl([(key.shown, key.about) for key in self.keys])
        super().format_options(ctx, formatter)


def _show_versions(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from calbench.analysis.versions import version_line

        click.echo(version_line())
        ctx.exit()


def _versions() -> click.Option:
    about = "Versions of the package, rules, metrics, prompts, suites and file formats."
    shown: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
    return click.Option(["--version"], callback=_show_versions, help=about, **shown)


def option(spelled: str, about: str) -> click.Option:
    """Return an option as the table spells it, e.g. ``-c --cfg job|hydra|all``; see its head."""
    words = spelled.split()
    flags = [word for word in words if word.startswith("-")]
    shown: dict[str, Any] = {"help": about or None, "hidden": not about}
    (value,) = words[len(flags) :] or [""]
    if value.islower() and "|" not in value:
        return click.Option([*flags, value], is_flag=True, **shown)
    if "|" in value:
        choices = value.strip("[]").split("|")
        if value.startswith("["):
            shown |= {"is_flag": False, "flag_value": choices[0]}
        return click.Option(flags, type=click.Choice(choices), **shown)
    if value:
        kind = click.Path(path_type=Path) if value in {"STORE", "FOLDER"} else str
        return click.Option(flags, type=kind, metavar=value, **shown)
    return click.Option(flags, is_flag=True, **shown)


def _overrides(given: list[str]) -> list[str]:
    """Refuse a word that is not an override: Hydra's message would be about its grammar."""
    known = {name: name for name in program.commands if name != RUN}
    known |= {name: f"+experiment={name}" for name in known_names("experiment")}
    for word in given:
        if known.get(word) == word:
            raise ConfigError(f"{word}: is a subcommand; write it first, calbench {word} ...")
        if "=" not in word and not word.startswith("~"):
            meant = [known[name] for name in nearest(word, list(known))]
            hint = f"did you mean {' or '.join(meant)}?" if meant else "see calbench --help"
            raise ConfigError(f"{printable(word)}: is neither a subcommand nor key=value; {hint}")
    return given


program = Program(
    "calbench",
    help=TABLE["commands"][RUN]["about"],
    params=[_versions()],
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
program.add_command(
    Talking(
        "help",
        callback=_show_topic,
        params=[
            click.Argument(
                ["words"],
                nargs=-1,
                metavar="[TOPIC]",
                shell_complete=lambda _ctx, _, incomplete: [
                    CompletionItem(each) for each in (*TOPICS, "all") if each.startswith(incomplete)
                ],
            )
        ],
        help="Say more: " + ", ".join(TOPICS) + ", all, or a subcommand.",
    )
)
for _name, _about in TABLE["groups"].items():
    program.add_command(Subcommands(_name, help=_about, no_args_is_help=False))
for _name, _entry in TABLE["commands"].items():
    _group, _, _own = _name.rpartition(" ")
    _parent = program.commands[_group] if _group else program
    _parent.add_command(Tabled(_own, _entry))  # type: ignore[attr-defined]
