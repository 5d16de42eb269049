"""What recorded models do, beside protocols and silence on other games."""

from collections.abc import Sequence

from calbench.report.columns import decimal
from calbench.report.findings.contest import COST, greatest, least
from calbench.report.findings.finding import (
    Cell,
    Finding,
    Link,
    Part,
    Parts,
    Team,
    interval,
    value,
)
from calbench.report.kind import MODEL, PROTOCOL, kind_of
from calbench.report.site import Site
from calbench.report.tables import Row

SUCCESS = "coordination"
SILENT = "silent"


def recorded(site: Site) -> Finding | None:
    """Say how often the best recorded model schedules and at what cost, and protocols elsewhere."""
    rows = [row for row in site.summary.optional("leaderboard.csv") if row[SUCCESS]]
    models = [row for row in rows if kind_of(row["kind"]) is MODEL and row[COST]]
    if not models:
        return None
    setting, channel = models[0]["setting"], models[0]["channel"]
    own = [row for row in models if (row["setting"], row["channel"]) == (setting, channel)]
    best = greatest(own, SUCCESS)[0]
    protocols = _protocols(rows, setting, channel)
    said: list[Part] = [
        *("The best recorded model, " if len(own) > 1 else "The recorded model ",),
        Team(best["team"]),
        *(", " if len(own) > 1 else " ", "scheduled ", value(best, SUCCESS), "% of meetings"),
        *interval(best, SUCCESS, 1),
        *(" on ", Cell(best["scenarios"]), f" {setting} scenarios, at "),
        *(value(best, COST), " adjusted excess cost per meeting."),
        *_beside(rows, protocols, setting),
    ]
    page = next(
        (each.role.page for each in site.experiments if each.name == best["experiment"]), ""
    )
    links = [Link("All measures of models", f"results/{page}.html")] if page == "smollm2" else []
    return Finding(
        _title(best, protocols, setting),
        tuple(said),
        (*links, Link("Evaluate your model", "evaluate.html")),
    )


def _protocols(rows: Sequence[Row], setting: str, channel: str) -> list[Row]:
    """Return the protocols of the models' own setting, or else of the first that has any."""
    found = [row for row in rows if kind_of(row["kind"]) is PROTOCOL and row[COST]]
    own = [row for row in found if (row["setting"], row["channel"]) == (setting, channel)]
    first = found[0] if found else {}
    return own or [
        row
        for row in found
        if (row["setting"], row["channel"]) == (first["setting"], first["channel"])
    ]


def _beside(rows: Sequence[Row], protocols: Sequence[Row], setting: str) -> Parts:
    """Return what protocols and silence reached, and whether that was on the same scenarios."""
    if not protocols:
        return ()
    first = protocols[0]
    said: list[Part] = [
        *(" Protocols scheduled ", *_between(protocols, SUCCESS), "% on "),
        *(Cell(first["scenarios"]), f" {first['setting']} scenarios, at "),
        *_between(protocols, COST),
    ]
    silence = [
        row
        for row in rows
        if row["team"] == SILENT
        and row[COST]
        and (row["setting"], row["channel"]) == (first["setting"], first["channel"])
    ]
    if silence:
        said += ["; saying nothing costs ", value(silence[0], COST), " there"]
    said.append(
        "." if first["setting"] == setting else ". The suites differ, so this is not a comparison."
    )
    return tuple(said)


def _between(rows: Sequence[Row], measure: str) -> Parts:
    low, high = least(rows, measure)[0], greatest(rows, measure)[0]
    if decimal(low[measure]) == decimal(high[measure]):
        return (value(low, measure),)
    return value(low, measure), " to ", value(high, measure)


def _title(best: Row, protocols: Sequence[Row], setting: str) -> str:
    if not protocols:
        return "What a recorded model does"
    lowest = least(protocols, SUCCESS)[0]
    is_below = decimal(best[SUCCESS]) < decimal(lowest[SUCCESS])
    if protocols[0]["setting"] != setting:
        return (
            "A recorded model scheduled less, on its own suite, than any protocol on theirs"
            if is_below
            else "A recorded model on a suite of its own"
        )
    return "A recorded model scheduled less than any protocol" if is_below else "A recorded model"
