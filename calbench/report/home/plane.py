"""The cost-privacy plane of the home page: panels whose numbers may not share an axis.

Losses of privacy that different instruments measured cannot be compared, and costs on different
scenarios neither, so a panel has one setting, one channel and one instrument. What the paper
printed is of its own games and measures, and has a panel apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from calbench.analysis.measures import MIXED
from calbench.report.columns import COST, VPS, decimal
from calbench.report.figures.instruments import TYPED, named
from calbench.report.home.panel import Drawing, Point, Value, drawn, front_of
from calbench.report.kind import DEGENERATE, MODEL, PUBLISHED, kind_of
from calbench.report.site import FRONT, PAPER, Site
from calbench.report.tables import Row

THEIR_COST = "excess_cost"
"""What the paper prints: it leaves out what failures cost."""

BOARD = "leaderboard.csv"

UNPUBLISHED = "not published"
"""What tables say of teams of runs of one's own."""

Group = tuple[str, str, str]
"""Setting, channel and instrument."""


@dataclass(frozen=True)
class Panel:
    """A panel with what is said of it.

    Attributes:
        key: part of the ids of its elements.
        title: which players it shows.
        cost: column of its upward axis.
        setting: of its scenarios.
        channel: who received a message.
        instrument: how privacy loss was measured, in words.
        scenarios: how many, as a cell; empty if unknown.
        rows: what is drawn, rows of the table.
        drawing: where.
    """

    key: str
    title: str
    cost: str
    setting: str
    channel: str
    instrument: str
    scenarios: str
    rows: Sequence[Row]
    drawing: Drawing

    @property
    def is_published(self) -> bool:
        """Whether its numbers are the paper's."""
        return self.cost == THEIR_COST

    @property
    def has_front(self) -> bool:
        """Whether some of its players are marked as best."""
        return any(mark.is_on_front for mark in self.drawing.marks)

    @property
    def has_degenerate(self) -> bool:
        """Whether it shows players that do not compete."""
        return any(mark.kind is DEGENERATE for mark in self.drawing.marks)


def first_rows(site: Site) -> Sequence[Row]:
    """Return the rows of the first panel that is not the paper's; none without such a panel."""
    groups = _groups(site.summary.optional(BOARD))
    return next((groups[group] for group in _chosen(groups)), ())


def panels(site: Site) -> list[Panel]:
    """Return the panels of a site: by messages, by words, recorded models, and the paper's."""
    groups = _groups(site.summary.optional(BOARD))
    chosen = _chosen(groups)
    keys = ("messages", "words", "models")
    named_keys = [
        "models" if _has_models(groups[group]) and group[2] != TYPED else key
        for key, group in zip(keys, chosen, strict=False)
    ]
    points = {group: _points(site, group, groups[group]) for group in chosen}
    found = [
        _panel(key, group, groups[group], points)
        for key, group in zip(_distinct(named_keys), chosen, strict=True)
    ]
    return [*found, *_published(site, chosen[0][0] if chosen else "")]


def _groups(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the rows that can be drawn by what may be compared, a reader's own ones first."""
    found: dict[Group, list[Row]] = {}
    for row in rows:
        if row[COST] and row[VPS] and row["vps_kind"] != MIXED:
            found.setdefault((row["setting"], row["channel"], row["vps_kind"]), []).append(row)
    competing = {
        group: own
        for group, own in found.items()
        if any(kind_of(row["kind"]) is not DEGENERATE for row in own)
    }
    is_own = {
        group: any(UNPUBLISHED in row["kind"] for row in own) for group, own in competing.items()
    }
    return {group: competing[group] for group in sorted(competing, key=lambda g: not is_own[g])}


def _chosen(groups: dict[Group, list[Row]]) -> list[Group]:
    """Return the groups that have a panel: at most one typed, one in words, one of models."""
    typed = next((group for group in groups if group[2] == TYPED), None)
    setting = typed[0] if typed else next(iter(groups), ("",))[0]
    in_words = [group for group in groups if group[2] != TYPED]
    words = next((group for group in in_words if group[0] == setting), None)
    if words is None:
        words = next(iter(in_words), None)
    models = next((group for group in in_words if _has_models(groups[group])), None)
    return list(dict.fromkeys(group for group in (typed, words, models) if group is not None))


def _has_models(rows: Iterable[Row]) -> bool:
    return any(kind_of(row["kind"]) is MODEL for row in rows)


def _distinct(keys: Sequence[str]) -> list[str]:
    return [f"{key}{place}" if key in keys[:place] else key for place, key in enumerate(keys)]


def _points(site: Site, group: Group, rows: Sequence[Row]) -> list[Point]:
    setting, channel, kind = group
    where = {"setting": setting, "channel": channel, "vps_kind": kind}
    competing = [row for row in rows if kind_of(row["kind"]) is not DEGENERATE]
    is_contest = len(competing) > 1
    front = front_of(site.summary.optional(FRONT, **where)) if is_contest else frozenset()
    return [_point(row, front) for row in rows]


def _panel(
    key: str, group: Group, rows: Sequence[Row], points: Mapping[Group, Sequence[Point]]
) -> Panel:
    """Return a panel; those of the same scenarios have the same axis of cost."""
    setting, channel, kind = group
    kinds = dict.fromkeys(kind_of(row["kind"]).name for row in rows)
    kinds.pop(DEGENERATE.name, None)
    beside = [point for other, own in points.items() if other[0] == setting for point in own]
    return Panel(
        key,
        _listed(list(kinds)),
        COST,
        setting,
        channel,
        "messages" if kind == TYPED else named(kind),
        rows[0]["scenarios"],
        rows,
        drawn(points[group], beside),
    )


def _published(site: Site, setting: str) -> list[Panel]:
    """Return the panel of the paper's models, on the setting of the first panel if it has that."""
    rows = [row for row in site.published.optional(PAPER) if row[THEIR_COST] and row[VPS]]
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    if not settings:
        return []
    own = setting if setting in settings else settings[0]
    rows = [row for row in rows if row["setting"] == own]
    points = [
        Point(row["player"], PUBLISHED, _printed(row[VPS]), _printed(row[THEIR_COST]))
        for row in rows
    ]
    drawing = drawn(points, is_from_zero=False)
    return [Panel("paper", PUBLISHED.name, THEIR_COST, own, "", "reflections", "", rows, drawing)]


def _point(row: Row, front: frozenset[str]) -> Point:
    return Point(
        row["team"], kind_of(row["kind"]), _value(row, VPS), _value(row, COST), row["team"] in front
    )


def _value(row: Row, measure: str) -> Value:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    return _float(row[measure]), _float(low) if low else None, _float(high) if high else None


def _printed(cell: str) -> Value:
    return _float(cell), None, None


def _float(cell: str) -> float:
    return float(decimal(cell))


def _listed(names: Sequence[str]) -> str:
    first, *others = names
    return " and ".join([first, *(name[:1].lower() + name[1:] for name in others)])
