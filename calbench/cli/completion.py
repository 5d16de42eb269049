"""Names of ``conf/`` for the shell's completion and for ``--help``."""

from collections.abc import Iterator, Sequence

from click.shell_completion import CompletionItem

from calbench.cli.words import Key
from calbench.config.groups import GROUPS, described

KEY_BY_GROUP = {group: f"{'+' * (group == 'experiment')}{group}" for group in GROUPS}
"""The override that chooses from a group of ``conf/``."""

GROUP_BY_KEY = {key: group for group, key in KEY_BY_GROUP.items()}


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
    return [*_starts(keys, incomplete), CompletionItem(incomplete, type="file")]


def _starts(keys: Sequence[Key], incomplete: str) -> Iterator[CompletionItem]:
    for key in keys:
        if incomplete and key.start.startswith(incomplete):
            yield CompletionItem(key.start, help=key.about)
