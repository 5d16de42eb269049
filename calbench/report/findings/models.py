"""What recorded models do. Other suites have other games, so nothing is set beside it."""

from collections.abc import Sequence

from calbench.report.columns import decimal
from calbench.report.experiment import Experiment
from calbench.report.findings.contest import COST, greatest
from calbench.report.findings.finding import (
    Cell,
    Finding,
    Link,
    Part,
    Parts,
    interval,
    teams_of,
    value,
)
from calbench.report.kind import MODEL, kind_of
from calbench.report.site import Site
from calbench.report.tables import Row

SUCCESS = "coordination"

BASELINES = "privacy/vps_baselines.csv"
BEYOND = "vps_beyond_chance"
"""How far reflections tell more of calendars than the same answers in any order."""

SMALL = "smollm2"
"""Page of a model that is known to be very small."""

GROUP = ("experiment", "setting", "channel")


def recorded(site: Site) -> Finding | None:
    """Say how often the best recorded model schedules, and at what cost."""
    rows = site.summary.optional("leaderboard.csv")
    models = [row for row in rows if row[SUCCESS] and row[COST] and kind_of(row["kind"]) is MODEL]
    if not models:
        return None
    own = [row for row in models if all(row[name] == models[0][name] for name in GROUP)]
    best = greatest(own, SUCCESS)
    experiment = next(
        (each for each in site.experiments if each.name == own[0]["experiment"]), None
    )
    page = experiment.role.page if experiment else ""
    said: list[Part] = [
        *_who(best, own),
        *(" scheduled ", value(best[0], SUCCESS), "% of meetings"),
        *(interval(best[0], SUCCESS, 1) if len(best) == 1 else ()),
        *(" on ", Cell(best[0]["scenarios"]), f" {best[0]['setting']} scenarios"),
        *((", at ", value(best[0], COST), " adjusted excess cost per meeting.")
          if len(best) == 1 else (".",)),
        *_chance(experiment, best),
    ]  # fmt: skip
    links = [Link("All measures of models", f"results/{page}.html")] if page == SMALL else []
    return Finding(
        _title(best, own, page == SMALL),
        tuple(said),
        (*links, Link("Evaluate your model", "evaluate.html")),
    )


def _who(best: Sequence[Row], own: Sequence[Row]) -> Parts:
    if len(own) == 1:
        return "The recorded model ", *teams_of(best)
    each = " each" if len(best) > 1 else ""
    return *teams_of(best), f", the best of the recorded models,{each}"


def _title(best: Sequence[Row], own: Sequence[Row], is_small: bool) -> Parts:
    size = "very small " if is_small else ""
    who = f"A {size}recorded model" if len(own) == 1 else f"The best of the {size}recorded models"
    whose = "its" if len(best) == 1 else "their"
    return who, " scheduled ", value(best[0], SUCCESS), f"% of {whose} meetings"


def _chance(experiment: Experiment | None, best: Sequence[Row]) -> Parts:
    """Say that a model's reflections tell no more than chance, if their table says so."""
    if experiment is None or len(best) != 1:
        return ()
    where = {"setting": best[0]["setting"], "team": best[0]["team"]}
    row = next(iter(experiment.tables.optional(BASELINES, **where)), None)
    low, high = (row.get(f"{BEYOND}_{end}", "") if row else "" for end in ("low", "high"))
    if not low or not high or not decimal(low) <= 0 <= decimal(high):
        return ()
    return (" Its answers about others' calendars cannot be told from random ones.",)
