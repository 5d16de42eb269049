"""Where result pages stand in the site's navigation: rankings first, then by question."""

from collections.abc import Mapping, Sequence
from typing import Any

GROUP_BY_PAGE: Mapping[str, str] = {
    "results/language.md": "Games",
    "results/smollm2.md": "Games",
    "results/plane.md": "Figures",
    "results/talk.md": "Figures",
    "results/cost.md": "Figures",
    "results/difficulty.md": "Figures",
    "results/words.md": "Figures",
    "results/scale.md": "Figures",
    "results/paper.md": "Beside the paper",
    "results/reproduction.md": "Beside the paper",
    "results/audits.md": "Behind the numbers",
    "results/regret.md": "Behind the numbers",
}
"""Pages that stand in a group; the pages of settings join the first one, others stand alone."""

GROUPS = ("Games", "Figures", "Beside the paper", "Behind the numbers")
"""In their order, after the pages that stand alone."""


def grouped(pages: Sequence[Mapping[str, str]], settings: Sequence[str]) -> list[dict[str, Any]]:
    """Return the entries below Results.

    Args:
        pages: each a title with the page's file, in the order of a group.
        settings: files of the pages of settings.
    """
    alone: list[dict[str, Any]] = []
    by_group: dict[str, list[dict[str, str]]] = {group: [] for group in GROUPS}
    for entry in pages:
        ((title, page),) = entry.items()
        group = GROUPS[0] if page in settings else GROUP_BY_PAGE.get(page)
        (alone if group is None else by_group[group]).append({title: page})
    for entries in by_group.values():
        entries.sort(key=_place)
    return alone + [{group: entries} for group, entries in by_group.items() if entries]


def _place(entry: Mapping[str, str]) -> int:
    """Return where a page stands in its group; pages of settings come first, as they are."""
    (page,) = entry.values()
    return list(GROUP_BY_PAGE).index(page) if page in GROUP_BY_PAGE else -1
