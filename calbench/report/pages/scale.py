"""The page that shows how each protocol changes as agents, meetings and slots grow alike."""

from collections.abc import Mapping, Sequence

from calbench.report import columns
from calbench.report.experiment import Experiment
from calbench.report.figures.curves import curves
from calbench.report.figures.figure import Figure
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
    agents = dict(sorted(agents.items(), key=lambda each: int(each[1])))
    leaderboard = _by_place(scale.tables.rows("leaderboard.csv"), "setting")
    drawn = {name: _curve(site, scale, name, agents, leaderboard) for name in MEASURES}
    drawn["bytes"] = _bytes(site, scale, sizes)
    speed = site.published.optional(SPEED)
    files = [f"{scale.name}/leaderboard.csv", f"{scale.name}/games.csv", BYTES]
    return Content(
        {
            "scale": scale,
            "agents": agents,
            "sizes": [_size(scale, *each) for each in agents.items()],
            "teams": [
                {"team": name, "kind": site.kind_by_team.get(name, "")} for name in scale.teams
            ],
            "drawn": drawn,
            "leaderboard": leaderboard,
            "bytes": _by_place(sizes, "setting"),
            "speed": _by_place(speed, "agents"),
            "speed_notes": list(dict.fromkeys(row["note"] for row in speed if row["note"])),
            "files": [*files, *([f"published/{SPEED}"] if speed else [])],
        },
        figures=list(drawn.values()),
    )


def _by_place(rows: Sequence[Row], place: str) -> dict[tuple[str, str], Row]:
    return {(row["team"], row[place]): row for row in rows}


def _curve(
    site: Site,
    scale: Experiment,
    measure: str,
    agents: Mapping[str, str],
    leaderboard: Mapping[tuple[str, str], Row],
) -> Figure:
    """Return the curves of a measure, with the intervals of the leaderboard."""
    lines = {
        team: [
            (int(size), row[measure], row[f"{measure}_low"], row[f"{measure}_high"])
            for setting, size in agents.items()
            if (row := leaderboard.get((team, setting))) is not None and row[measure]
        ]
        for team in scale.teams
    }
    about = columns.MEASURE_BY_NAME[measure]
    sources = [f"{scale.name}/leaderboard.csv"]
    return curves(f"scale-{measure}", about.title, about.unit, lines, site.styles, sources)


def _bytes(site: Site, scale: Experiment, rows: Sequence[Row]) -> Figure:
    """Return the curves of bytes per meeting, with the least and the greatest game."""
    lines = {
        team: [
            (int(row["agents"]), row["bytes_per_meeting"], row["least"], row["greatest"])
            for row in rows
            if row["team"] == team
        ]
        for team in scale.teams
    }
    title = "Bytes per meeting"
    return curves("scale-bytes", title, "", lines, site.styles, [BYTES], is_log=True)


def _size(scale: Experiment, setting: str, agents: str) -> dict[str, object]:
    """Return how many meetings and scenarios a setting has."""
    games = scale.tables.rows("games.csv", setting=setting, is_excluded="false")
    teams = scale.tables.rows("leaderboard.csv", setting=setting)
    return {
        "setting": setting,
        "agents": agents,
        "meetings": sorted({row["meetings"] for row in games}, key=int),
        "scenarios": sorted({row["scenarios"] for row in teams}, key=int),
    }
