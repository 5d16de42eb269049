"""The panels of the cost-privacy plane: results whose numbers may share axes, and the card.

Losses of privacy that different instruments measured cannot be compared, and costs on different
scenarios neither, so a panel has one setting, one channel and one instrument. The paper's models
played the same tasks as everybody on the canonical suites: one panel has all of them, coordination
against cost; their loss of privacy, by reflections in mixed teams, has a panel apart.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from calbench.analysis.measures import MIXED, privacy_measure
from calbench.analysis.summary.same_tasks import OURS
from calbench.analysis.summary.same_tasks import PAPER as THEIRS
from calbench.errors import FileError
from calbench.files import read_bytes
from calbench.report.columns import COST, MEASURE_BY_NAME, VPS
from calbench.report.kind import (
    DEGENERATE,
    MODEL,
    PUBLISHED,
    SCRIPTED,
    TYPED,
    VPS_KIND_NAMES,
    Kind,
    kind_of,
)
from calbench.report.kind import MIXED as SEVERAL
from calbench.report.plane import TALL, Drawing, Point, Value, drawn
from calbench.report.site import FRONT, PAPER, Site
from calbench.report.tables import Row, cell_of, grouped
from calbench.report.templating import environment

THEIR_COST = "excess_cost"
"""The measure of cost that the paper prints, which leaves out the cost of failures."""

BOARD = "leaderboard.csv"

SAME = "same_tasks.csv"
"""Everybody on the paper's own tasks, in the measures of its release."""

COORDINATION = "coordination"

ON_TASKS = "Protocols and the paper's models"
"""Title of the panel of those on the paper's tasks."""

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
        across: column of the other axis.
        setting: of its scenarios.
        channel: who received a message.
        instrument: how privacy loss was measured, in words.
        scenarios: how many, if known.
        rows: what is drawn, rows of the table.
        drawing: where.
    """

    key: str
    title: str
    cost: str
    across: str
    setting: str
    channel: str
    instrument: str
    scenarios: int | None
    rows: Sequence[Row]
    drawing: Drawing

    @property
    def is_published(self) -> bool:
        """Whether all its numbers are the paper's."""
        return all(mark.kind is PUBLISHED for mark in self.drawing.marks)

    @property
    def is_of_tasks(self) -> bool:
        """Whether it sets coordination against cost, on the paper's own tasks."""
        return self.across == COORDINATION

    @property
    def axis(self) -> str:
        """What the other axis shows."""
        if self.is_of_tasks:
            return "Meetings placed, %"
        return f"{MEASURE_BY_NAME[self.across].title} by {self.instrument}"

    @property
    def is_adjusted(self) -> bool:
        """Whether its cost counts failed meetings."""
        return self.cost == COST

    @property
    def has_front(self) -> bool:
        """Whether some of its players are marked as best."""
        return any(mark.is_on_front for mark in self.drawing.marks)

    @property
    def has_silence(self) -> bool:
        """Whether it shows the cost of saying nothing."""
        return self.drawing.silence is not None

    @property
    def has_degenerate(self) -> bool:
        """Whether it shows players that do not compete."""
        return any(mark.kind is DEGENERATE for mark in self.drawing.marks)


def first_rows(site: Site) -> Sequence[Row]:
    """Return the rows of the first panel that is not the paper's; none without such a panel."""
    groups = _groups(site)
    return next((groups[group] for group in _chosen(groups)), ())


def panels(site: Site) -> list[Panel]:
    """Return the home page's panels: by messages, by words, recorded models, tasks, the paper's.

    Teams of a model among others leave room for the names of models beside each other.
    """
    groups = {group: _unmixed(rows) for group, rows in _groups(site).items()}
    every = _drawn(site, groups)
    chosen = _chosen(groups)
    keys: list[str] = []
    for key, group in zip(("messages", "words", "models"), chosen, strict=False):
        named = "models" if _has_models(groups[group]) and group[2] != TYPED else key
        keys.append(f"{named}{len(keys)}" if named in keys else named)
    found = [replace(every[group], key=key) for key, group in zip(keys, chosen, strict=True)]
    setting = chosen[0][0] if chosen else ""
    return [*found, *on_tasks(site, setting), *_published(site, setting)]


def panels_by_group(site: Site) -> dict[Group, Panel]:
    """Return a panel for each setting, channel and instrument in which somebody competes.

    Those of the same scenarios and channel have the same axis of cost.
    """
    return _drawn(site, _groups(site))


def _drawn(site: Site, groups: dict[Group, list[Row]]) -> dict[Group, Panel]:
    points = {group: _points(site, group, rows) for group, rows in groups.items()}
    return {
        group: _panel(
            group,
            rows,
            drawn(
                points[group],
                [p for g, own in points.items() if g[:2] == group[:2] for p in own],
                silence=silence_of(rows),
                is_log1p=group[2] == TYPED,
            ),
        )
        for group, rows in groups.items()
    }


def silence_of(rows: Iterable[Row]) -> float | None:
    """Return what saying nothing costs on the games of the first row that knows it."""
    known = (row.get("silence_cost") for row in rows)
    return next((cost for cost in known if cost is not None), None)


def _groups(site: Site) -> dict[Group, list[Row]]:
    """Return the rows that can be drawn by what may be compared, a reader's own ones first."""
    rows = [
        row
        for row in site.summary.optional(BOARD)
        if None not in (row[COST], row[privacy_measure(row["vps_kind"])])
        and row["vps_kind"] != MIXED
    ]
    found = {
        group: own
        for group, own in grouped(rows, "setting", "channel", "vps_kind").items()
        if any(kind_of(row["kind"]) is not DEGENERATE for row in own)
    }
    own = {g: any(UNPUBLISHED in row["kind"] for row in rows) for g, rows in found.items()}
    return {group: found[group] for group in sorted(found, key=lambda group: not own[group])}


def _chosen(groups: dict[Group, list[Row]]) -> list[Group]:
    """Return the groups that have a panel: at most one typed, one in words, one of models."""
    typed = next((group for group in groups if group[2] == TYPED), None)
    setting = typed[0] if typed else next(iter(groups), ("",))[0]
    in_words = [group for group in groups if group[2] != TYPED]
    words = next((group for group in in_words if group[0] == setting), None)
    if words is None:
        words = next(iter(in_words), None)
    counts = {group: sum(map(_is_model, groups[group])) for group in in_words}
    most = max(counts.values(), default=0)  # of models: those of several sizes, if any were played
    models = next((group for group in in_words if counts[group] == most > 0), None)
    return list(dict.fromkeys(group for group in (typed, words, models) if group is not None))


def _has_models(rows: Iterable[Row]) -> bool:
    return any(map(_is_model, rows))


def _unmixed(rows: list[Row]) -> list[Row]:
    """Return the rows without teams of several kinds, if models are beside them."""
    if not _has_models(rows):
        return rows
    return [row for row in rows if kind_of(row["kind"]) is not SEVERAL]


def _is_model(row: Row) -> bool:
    return kind_of(row["kind"]) is MODEL


def _points(site: Site, group: Group, rows: Sequence[Row]) -> list[Point]:
    where = dict(zip(("setting", "channel", "vps_kind"), group, strict=True))
    competing = [row for row in rows if kind_of(row["kind"]) is not DEGENERATE]
    front = {row["team"] for row in site.summary.optional(FRONT, **where) if row["is_on_front"]}
    return [
        Point(
            row["team"],
            kind_of(row["kind"]),
            _value(row, privacy_measure(group[2])),
            _value(row, COST),
            is_on_front=len(competing) > 1 and row["team"] in front,
        )
        for row in rows
    ]


def _value(row: Row, measure: str) -> Value:
    return row[measure], row[f"{measure}_low"], row[f"{measure}_high"]


def _panel(group: Group, rows: Sequence[Row], drawing: Drawing) -> Panel:
    setting, channel, kind = group
    kinds = dict.fromkeys(kind_of(row["kind"]).name for row in rows)
    kinds.pop(DEGENERATE.name, None)
    first, *others = kinds
    return Panel(
        "-".join(group).replace(" ", "-"),
        " and ".join([first, *(name[:1].lower() + name[1:] for name in others)]),
        COST,
        privacy_measure(kind),
        setting,
        channel,
        "messages" if kind == TYPED else VPS_KIND_NAMES[kind],
        rows[0]["scenarios"],
        rows,
        drawing,
    )


def on_tasks(site: Site, setting: str) -> list[Panel]:
    """Return the panel of the paper's tasks of a setting, if ours and its models are there.

    Scripted speakers are among its rows and not drawn: they lie on protocols. Nor are baselines
    that place fewer meetings than any player: they would leave the others no room. The settings of
    a protocol between its presets lie too near to each other for names and bars.
    """
    rows = site.summary.optional(SAME, setting=setting)
    competing = [row for row in rows if _kind(row) is not DEGENERATE]
    if {row["source"] for row in competing} != {OURS, THEIRS}:
        return []
    least = min(row[COORDINATION] for row in competing)
    settings = {each.name for each in site.on("plane")}
    points = []
    for row in rows:
        if _kind(row) is SCRIPTED or row[COORDINATION] < least:
            continue
        is_named = row["experiment"] not in settings
        across, up = _value(row, COORDINATION), _value(row, THEIR_COST)
        if not is_named:
            across, up = (across[0], None, None), (up[0], None, None)
        points.append(Point(row["player"], _kind(row), across, up, is_named=is_named))
    drawing = drawn(points, is_from_zero=False, is_log1p=False, height=TALL)
    names = ("tasks", ON_TASKS, THEIR_COST, COORDINATION)
    return [Panel(*names, setting, "", "", None, rows, drawing)]


def _kind(row: Row) -> Kind:
    return PUBLISHED if row["source"] == THEIRS else kind_of(row["kind"])


def _published(site: Site, setting: str) -> list[Panel]:
    """Return the panel of the paper's models, on the setting of the first panel if it has that."""
    by_setting = grouped(
        (row for row in site.published.optional(PAPER) if None not in (row[THEIR_COST], row[VPS])),
        "setting",
    )
    if not by_setting:
        return []
    own = setting if setting in by_setting else next(iter(by_setting))
    rows = by_setting[own]
    points = [
        Point(row["player"], PUBLISHED, (row[VPS], None, None), (row[THEIR_COST], None, None))
        for row in rows
    ]
    drawing = drawn(points, is_from_zero=False)
    names = ("paper", PUBLISHED.name, THEIR_COST, VPS)
    return [Panel(*names, own, "", "reflections", None, rows, drawing)]


CARD = "card.png"
"""Below the site's ``assets``."""

DIGEST = "card.json"
"""Beside it."""

WIDTH, HEIGHT = 1200, 630
"""In pixels, as other sites expect it [R]."""

QUESTION = (
    "Can agents with private",
    "calendars agree on",
    "meetings without giving",
    "their calendars away,",
    "and what does it cost?",
)
"""In lines of the picture."""

KEPT = ("team", "kind", "setting", "channel", "vps_kind", "scenarios")
"""Columns of which the picture shows something, beside cost and privacy."""


def card_fits(site: Site) -> bool:
    """Return whether there is a card, and its numbers are those of a site."""
    path = site.sources / "assets" / DIGEST
    return path.is_file() and _noted(path) == digest(site) != ""


def digest(site: Site) -> str:
    """Return the digest of the numbers that a card of a site would show; empty without any."""
    cells = [
        [
            cell_of(each)
            for each in (
                *(row[name] for name in KEPT),
                *_value(row, COST),
                *_value(row, privacy_measure(row["vps_kind"])),
            )
        ]
        for row in first_rows(site)
    ]
    if not cells:
        return ""
    return sha256(json.dumps(cells).encode()).hexdigest()


def card(site: Site) -> str:
    """Return the card as SVG.

    Raises:
        FileError: there is nothing to draw.
    """
    panel = _cut(site)
    if panel is None:
        raise FileError(f"{site.summary.folder}: has no team to draw")
    template = environment(site.sources / "docs").get_template("card.jinja")
    values = {"panel": panel, "lines": QUESTION, "width": WIDTH, "height": HEIGHT}
    return template.render({"root": "", **values})


def note(site: Site) -> str:
    """Return the content of the file beside the card."""
    return json.dumps({"sha256": digest(site)}, indent=2) + "\n"


def _cut(site: Site) -> Panel | None:
    """Return the first panel as the card has it: without what is only on the page."""
    found = next((panel for panel in panels(site) if not panel.is_published), None)
    if found is None:
        return None
    marks = [replace(mark, is_on_front=False) for mark in found.drawing.marks]
    return replace(found, drawing=replace(found.drawing, marks=marks, front=(), silence=None))


def _noted(path: Path) -> str:
    try:
        return str(json.loads(read_bytes(path))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: is not what `make card` writes") from error
