"""The words of a command line: read, completed by the shell with names of ``conf/``, and answered.

Options and settings are written ``key=value``, like the overrides of a run.
"""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from click.shell_completion import CompletionItem

from calbench.config.groups import GROUPS, described
from calbench.errors import ConfigError, nearest
from calbench.files import printable


class Status(IntEnum):
    """The exit statuses of every command; ``calbench help status`` says what they mean."""

    DONE = 0
    DIFFERENT = 1
    MISTAKEN = 2
    EXCLUDED = 3
    BROKEN = 70
    HUNG_UP = 129
    STOPPED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143


def program_name() -> str:
    """Return how this command was called, for commands that it suggests."""
    is_module = Path(sys.argv[0]).parts[-2:] == ("calbench", "__main__.py")
    return "python -m calbench" if is_module else "calbench"


KEY_BY_GROUP = {group: f"{'+' * (group == 'experiment')}{group}" for group in GROUPS}
"""The override that chooses from a group of ``conf/``."""

GROUP_BY_KEY = {key: group for group, key in KEY_BY_GROUP.items()}


@dataclass(frozen=True, slots=True)
class Key:
    """An option of a subcommand as ``--help`` shows it, such as ``jobs=N``.

    Attributes:
        shown: key and value; a last part ``KEY`` means any key.
        about: what it does.
        is_setting: whether it overrides the configuration, as in a run.
    """

    shown: str
    about: str
    is_setting: bool = False

    @property
    def start(self) -> str:
        """The beginning of an argument with this key."""
        return self.shown.partition("=")[0].removesuffix("KEY") + ("" if self.is_open else "=")

    @property
    def is_open(self) -> bool:
        """Whether it means all keys below one."""
        return self.shown.partition("=")[0].endswith(".KEY")


@dataclass(slots=True)
class Words:
    """The arguments of a subcommand.

    Attributes:
        paths: arguments that are not options.
        options: of the subcommand, by key.
        settings: overrides of the configuration, as written.
    """

    paths: list[Path] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)

    def number(
        self, key: str, unless_given: int, *, least: int = 0, most: int | None = None
    ) -> int:
        """Return an option that is a whole number.

        Raises:
            ConfigError: it is none, or out of its range.
        """
        text = self.options.get(key, str(unless_given))
        number = int(text) if re.fullmatch(r"[0-9]{1,16}", text) else -1
        if number < least or (most is not None and number > most):
            end = "" if most is None else f" to {most}"
            raise ConfigError(
                f"{key}: a whole number from {least}{end}, got {printable(text)!r:.40}"
            )
        return number

    def path(self, key: str) -> Path | None:
        """Return an option that is a path; absent if it is not given, or empty."""
        return Path(self.options[key]) if self.options.get(key) else None

    def is_wished(self, key: str, otherwise: str = "false") -> bool:
        """Return an option that is ``true`` or ``false``.

        Raises:
            ConfigError: it is neither.
        """
        wish = self.options.get(key, otherwise)
        if wish not in {"true", "false"}:
            raise ConfigError(f"{key}: true or false, got {printable(wish)}")
        return wish == "true"


def read_words(
    arguments: Sequence[str], keys: Sequence[Key], usage: str, called: str = "calbench"
) -> Words:
    """Sort the arguments of a subcommand, and hold them against its usage.

    Args:
        arguments: as written.
        keys: what it takes.
        usage: as in the table of commands, e.g. ``RUN [OUT] out=DIR [key=value ...]``.
        called: how the subcommand is called, for errors.

    Raises:
        ConfigError: naming an argument that is neither an option nor a file, or one too many, or
            what is missing.
    """
    words = Words()
    for argument in arguments:
        name, is_given, value = argument.partition("=")
        key = next((key for key in keys if is_given and argument.startswith(key.start)), None)
        if key is not None and key.is_setting:
            words.settings.append(argument)
        elif key is not None:
            words.options[name] = value
        elif is_given and os.sep not in name and not Path(argument).exists():
            near = nearest(name, [known.start.rstrip("=.") for known in keys])
            hint = f"did you mean {near[0]}?" if near else "see --help"
            raise ConfigError(f"{printable(argument)}: is neither an option nor a file; {hint}")
        else:
            words.paths.append(Path(argument))
    _check(words, keys, usage, called)
    return words


def _check(words: Words, keys: Sequence[Key], usage: str, called: str) -> None:
    paths = [part for part in usage.split() if "=" not in part and not part.startswith("...")]
    needed = [part for part in paths if not part.startswith("[")]
    if len(words.paths) < len(needed):
        missing = needed[len(words.paths)]
        raise ConfigError(f"{missing} is missing; see {called} --help")
    if len(words.paths) > len(paths) and not any("..." in part for part in paths):
        extra = printable(str(words.paths[len(paths)]))
        raise ConfigError(f"{extra}: is one too many; usage: {called} {usage}")
    given = {part.partition("=")[0] for part in usage.split() if part[0] != "[" and "=" in part}
    for key in keys:
        if key.start.rstrip("=") in given and not words.options.get(key.start.rstrip("=")):
            raise ConfigError(f"{key.shown} is missing: {key.about}")


# e.g. whole "out=~/x", "prompts.path=~ada", "~/run"; not "~teams", "out=x~", "a=b~/c"
_HOME = re.compile(r"(?P<key>[\w.+-]+=)?(?P<path>~[\w.-]*(?(key)(/.*)?|/.*))")


def at_home(argument: str) -> str:
    """Return an argument with the folder of its user in place of ``~``.

    A shell puts it there only where nothing is before it, not in ``out=~/x``.

    Raises:
        ConfigError: there is no such user.
    """
    found = _HOME.fullmatch(argument)
    if found is None:
        return argument
    path = os.path.expanduser(found["path"])  # noqa: PTH111 - a path of Hydra's is a text
    if path == found["path"]:
        raise ConfigError(f"{printable(argument)}: there is no such user; name the whole path")
    return f"{found['key'] or ''}{path}"


def names(value: str) -> tuple[str, ...]:
    """Return the names in a list of the command line, ``[a,b]`` or ``a,b``."""
    return tuple(name.strip() for name in value.strip("[]").split(",") if name.strip())


def completed_override(incomplete: str, earlier: Sequence[str]) -> list[CompletionItem]:
    """Return the completions of an override of a run.

    Args:
        incomplete: the beginning of the word.
        earlier: the words before it. bash splits ``suite=va`` at the sign into three.
    """
    key, sign, value = incomplete.partition("=")
    written = f"{key}{sign}"
    if earlier and earlier[-1] == "=":
        key, value, written = earlier[-2], incomplete, ""
    elif earlier and earlier[-1] in GROUP_BY_KEY:
        key, value, written = earlier[-1], incomplete, ""
    elif not sign:
        return [
            CompletionItem(f"{each}={name}", help=about)
            for each, group in GROUP_BY_KEY.items()
            if each.startswith(key)
            for name, about in described(group).items()
        ]
    if key not in GROUP_BY_KEY:
        return [CompletionItem(incomplete, type="file")]
    listed = max(value.rfind("["), value.rfind(",")) + 1  # the complete part of a list
    return [
        CompletionItem(f"{written}{value[:listed]}{name}", help=about)
        for name, about in described(GROUP_BY_KEY[key]).items()
        if name.startswith(value[listed:])
    ]


def completed_word(
    keys: Sequence[Key], incomplete: str, earlier: Sequence[str]
) -> list[CompletionItem]:
    """Return the completions of a word of a subcommand: paths, its options, models."""
    if incomplete.startswith("model=") or tuple(earlier[-2:]) == ("model", "="):
        return completed_override(incomplete, earlier)
    meant = [key for key in keys if incomplete and key.start.startswith(incomplete)]
    starts = [CompletionItem(key.start, help=key.about) for key in meant]
    return [*starts, CompletionItem(incomplete, type="file")]
