"""Every command of ``commands.toml``; the module that an entry names does the work."""

import tomllib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from calbench.cli.program import RAW, RUN, Keyed, Overriding, Program, Subcommands
from calbench.cli.words import Key, completed_override, read_words
from calbench.code import PACKAGE_VERSION
from calbench.errors import ConfigError

TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("commands.toml").read_text())


def _show_versions(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from calbench.domain.rules import RULES_VERSION
        from calbench.metrics.measure import METRICS_VERSION
        from calbench.scenarios.models import SCHEMA_VERSION
        from calbench.traces.models import TRACE_SCHEMA_VERSION

        click.echo(
            f"calbench {PACKAGE_VERSION} (suite schema {SCHEMA_VERSION}, trace schema "
            f"{TRACE_SCHEMA_VERSION}, rules {RULES_VERSION}, metrics {METRICS_VERSION})"
        )
        ctx.exit()


def _versions() -> click.Option:
    about = "Versions of the package, its file formats and rules."
    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_versions,
        help=about,
    )


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


def _overrides(given: tuple[str, ...]) -> list[str]:
    """Refuse a word that is not an override: Hydra's message would be about its grammar."""
    from calbench.config.groups import known_names, nearest
    from calbench.files import printable

    known = {name: name for name in program.commands if name != RUN}
    known |= {name: f"+experiment={name}" for name in known_names("experiment")}
    for word in given:
        if "=" not in word and not word.startswith("~"):
            meant = [known[name] for name in nearest(word, list(known))]
            hint = f"did you mean {' or '.join(meant)}?" if meant else "see calbench --help"
            raise ConfigError(f"{printable(word)}: is neither a subcommand nor key=value; {hint}")
    return list(given)


def _completed(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return completed_override(incomplete, ctx.params.get("overrides") or ())


def _answering(entry: Mapping[str, Any]) -> Callable[..., int]:
    module, _, name = entry["calls"].partition(".")
    answer: Callable[..., int] = getattr(import_module(f"calbench.cli.{module}"), name)
    return answer


def _of_runs(name: str, entry: Mapping[str, Any]) -> click.Command:
    """Return a command whose arguments are those of a run."""

    def callback(overrides: tuple[str, ...], **options: Any) -> int:
        given = _overrides(overrides)
        raw = click.get_current_context().meta[RAW]
        return int(_answering(entry)(raw, given, options))

    overrides = click.Argument(
        ["overrides"],
        nargs=-1,
        metavar="[+experiment=NAME] [key=value ...]",
        shell_complete=_completed,
    )
    options = [option(*each) for each in TABLE["commands"][RUN]["options"].items()]
    options += [_versions()] * (name == RUN)
    return Overriding(
        name,
        callback=callback,
        params=[overrides, *options],
        help=entry["about"],
        hidden=name == RUN,
    )


def _keyed(name: str, entry: Mapping[str, Any]) -> click.Command:
    """Return a command that takes paths, options and ``key=value``."""
    shared = [TABLE["shared"][each] for each in entry.get("shared", ())]
    settings = [*entry.get("settings", {}).items(), *(each for s in shared for each in s.items())]
    keys = [Key(*each) for each in entry.get("keys", {}).items()]
    keys += [Key(shown, about, is_setting=True) for shown, about in settings]

    def callback(words: tuple[str, ...], **options: Any) -> int:
        called = click.get_current_context().command_path
        return int(_answering(entry)(read_words(words, keys, entry["usage"], called), **options))

    options = [option(*each) for each in entry.get("options", {}).items()]
    return Keyed(
        name, entry["usage"], keys, callback=callback, help=entry["about"], options=options
    )


program = Program(
    "calbench",
    help=TABLE["commands"][RUN]["about"],
    params=[_versions()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    often_changed=[Key(*each) for each in TABLE["commands"][RUN]["keys"].items()],
)
for _name, _about in TABLE["groups"].items():
    program.add_command(Subcommands(_name, help=_about, no_args_is_help=False))
for _name, _entry in TABLE["commands"].items():
    _group, _, _own = _name.rpartition(" ")
    _command = (_keyed if "usage" in _entry else _of_runs)(_own, _entry)
    (program.commands[_group] if _group else program).add_command(_command)  # type: ignore[attr-defined]
