"""The page on what agents learn: bits by an informed reader, beside the paper's VPS."""

from collections.abc import Iterator, Mapping
from typing import Any

from calbench.metrics.privacy.inference.bits import WIDTH
from calbench.report.experiment import Setting
from calbench.report.pages.page import Content
from calbench.report.site import Site, settings_of
from calbench.report.tables import Row

MECHANISMS: Mapping[str, str] = {
    "tell-all": "Overstates: beliefs begin anew with every meeting, so the same calendar counts "
    "again in each.",
    "imap": "Overstates by the same: an initiator is told again what it knows. A decision also "
    "tells responders that no cheaper slot suits all, which VPS does not count.",
    "dsm-welfare": "Understates: what is left out of an offer has no room, or comes later in its "
    "order, and counts nothing. In varied games a score of 1 is a slot that has room, and moves "
    "the belief to 1/11, away from the truth.",
    "dsm-private": "Understates the offer: no slot with a smaller number is free.",
    "sd-map": "Understates most: slots are proposed in order, so each proposal says that all "
    "before it are impossible, and the next one that somebody refused.",
    "secure-sum": "Understates memory: totals of several meetings together say whose slot it was.",
    "mediator": "Overstates: half a slot about each other participant for every announcement, of "
    "which the meeting itself tells nearly all.",
}
"""Where VPS differs from what a reader can infer, by team of the published settings."""


def content(site: Site) -> Content | None:
    """Return teams by bits in every setting; no page where nothing was inferred."""
    settings = [each for each in settings_of(site.ranked) if _known(each)]
    if not settings:
        return None
    return Content(
        {
            "settings": [
                {"title": each.title, "rows": site.with_kinds(_by_bits(each))} for each in settings
            ],
            "mechanisms": list(_mechanisms(site, settings[0])),
            "first": settings[0].title,
            "reliability": [row for each in settings for row in _reliability(site, each)],
            "files": [each.source(name) for each in settings for name in _files(each)],
        }
    )


RELIABILITY = "privacy/bits_reliability.csv"


def _files(setting: Setting) -> list[str]:
    has_bands = setting.experiment.tables.has(RELIABILITY)
    return ["leaderboard.csv", *([RELIABILITY] if has_bands else [])]


def _reliability(site: Site, setting: Setting) -> list[dict[str, Any]]:
    """Return each team's bands; what is said of one that is too far off, and what not."""
    rows = setting.experiment.tables.optional(RELIABILITY, setting=setting.name)
    return [
        {
            **row,
            "title": setting.title,
            "chances": f"{row['band']}\N{EN DASH}{row['band'] + WIDTH}%",
            "holds": {True: "yes", False: "no"}.get(row["holds_identity"], "no interval"),
        }
        for row in site.with_kinds(rows)
    ]


def _known(setting: Setting) -> list[Row]:
    return [row for row in setting.leaderboard if row["bits"] is not None]


def _by_bits(setting: Setting) -> list[Row]:
    return sorted(_known(setting), key=lambda row: row["bits"])


def _mechanisms(site: Site, setting: Setting) -> Iterator[dict[str, Any]]:
    """Yield the teams of a setting whose mechanism is explained, with their numbers and a game."""
    rows = {row["team"]: row for row in _known(setting)}
    name = setting.experiment.name
    scenario = f"{setting.name}-000"
    for team, why in MECHANISMS.items():
        if team in rows:
            has_game = site.links.has(name, team, scenario)
            address = site.links.address(name, team, scenario) if has_game else ""
            yield {**rows[team], "why": why, "game": "a game", "address": address}
