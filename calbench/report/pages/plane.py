"""The cost-privacy plane of every setting, with DSM between its presets as lines."""

from typing import Any

from calbench.report.figures.frontier import lines_of
from calbench.report.figures.plane import plane_of
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import Site


def content(site: Site) -> Content:
    """Return the plane of each setting, and its numbers."""
    planes = [_plane(site, each) for each in site.settings]
    return Content(
        {
            "planes": planes,
            "has_lines": any(each["swept"] for each in planes),
            "swept_by": site.on("plane"),
        },
        figures=[each["figure"] for each in planes],
    )


def _plane(site: Site, setting: Setting) -> dict[str, Any]:
    return {
        "setting": setting,
        "figure": plane_of(site, setting),
        "rows": site.with_kinds(setting.leaderboard),
        "swept": [
            {**row, "swept": line.name, "value": label}
            for line in lines_of(site, setting)
            for label, row in line.points
        ],
    }
