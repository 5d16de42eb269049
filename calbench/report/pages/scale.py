"""The page that shows how each protocol changes as agents, meetings and slots grow alike."""

from collections.abc import Mapping, Sequence
from typing import Any

from calbench.report import columns
from calbench.report.experiment import Experiment, Setting
from calbench.report.figures.figure import Figure
from calbench.report.figures.lines import COLUMNS, over_agents
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

MEASURES = ("coordination", "excess_cost", "messages", "excess_vps")
"""What has a curve with intervals."""

BYTES = "scale_bytes.csv"
SPEED = "speed.csv"


def content(site: Site) -> Content | None:
    """Return curves and tables over the number of agents; no page without the experiment."""
    experiments = site.on("scale")
    if not experiments:
        return None
    (scale, *_) = experiments
    sizes = site.summary.rows(BYTES)
    agents = {row["setting"]: row["agents"] for row in sizes}
    agents = dict(sorted(agents.items(), key=lambda each: each[1]))
    leaderboard = _by_place(scale.tables.rows("leaderboard.csv"), "setting")
    drawn = {name: _curve(site, scale, name, agents, leaderboard) for name in MEASURES}
    drawn["bytes"] = _bytes(site, scale, sizes)
    speed = site.published.optional(SPEED)
    files = [f"{scale.name}/leaderboard.csv", f"{scale.name}/games.csv", BYTES]
    return Content(
        {
            "scale": scale,
            "agents": agents,
            "sizes": [_size(Setting(scale, name), size) for name, size in agents.items()],
            "teams": site.with_kinds({"team": name} for name in scale.teams),
            "drawn": drawn,
            "leaderboard": leaderboard,
            "bytes": _by_place(sizes, "setting"),
            "speed": _by_place(speed, "agents"),
            "speed_notes": list(dict.fromkeys(row["note"] for row in speed if row["note"])),
            "files": [*files, *([f"published/{SPEED}"] if speed else [])],
        },
        figures=list(drawn.values()),
    )


def _by_place(rows: Sequence[Row], place: str) -> dict[tuple[str, Any], Row]:
    return {(row["team"], row[place]): row for row in rows}


def _curve(
    site: Site,
    scale: Experiment,
    measure: str,
    agents: Mapping[str, int],
    leaderboard: Mapping[tuple[str, Any], Row],
) -> Figure:
    """Return the curves of a measure, with the intervals of the leaderboard."""
    rows = [
        _point(row, size, "scenarios", measure, f"{measure}_low", f"{measure}_high")
        for team in scale.teams
        for setting, size in agents.items()
        if (row := leaderboard.get((team, setting))) is not None and row[measure] is not None
    ]
    about = columns.MEASURE_BY_NAME[measure]
    sources = [f"{scale.name}/leaderboard.csv"]
    return over_agents(f"scale-{measure}", about.title, about.unit, rows, site.styles, sources)


def _bytes(site: Site, scale: Experiment, sizes: Sequence[Row]) -> Figure:
    """Return the curves of bytes per meeting, with the least and the greatest game."""
    rows = [
        _point(row, row["agents"], "games", "bytes_per_meeting", "least", "greatest")
        for team in scale.teams
        for row in sizes
        if row["team"] == team
    ]
    title = "Bytes per meeting"
    return over_agents("scale-bytes", title, "", rows, site.styles, [BYTES], is_log=True)


def _point(row: Row, agents: int, *names: str) -> Row:
    cells = (row["team"], agents, *(row[name] for name in names))
    return dict(zip(COLUMNS, cells, strict=True))


def _size(setting: Setting, agents: int) -> dict[str, object]:
    """Return how many meetings and scenarios a setting has."""
    games = setting.rows("games.csv", is_excluded=False)
    return {
        "setting": setting.name,
        "agents": agents,
        "meetings": sorted({row["meetings"] for row in games}),
        "scenarios": setting.counts("scenarios"),
    }
