"""What recorded models do. Other suites have other games, so nothing is set beside it."""

from collections.abc import Sequence

from calbench.report.columns import COST, decimal
from calbench.report.experiment import BASELINES, Experiment
from calbench.report.findings.contest import Finding, greatest
from calbench.report.kind import MODEL, kind_of
from calbench.report.sentence import Sentence, cell, interval, link, measured, said, teams, text
from calbench.report.site import Site
from calbench.report.tables import Row

SUCCESS = "coordination"

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
    is_one = len(best) == 1
    sentence = said(
        "{who} scheduled {share}% of meetings{interval} on {scenarios} {setting} scenarios{cost}."
        "{chance}",
        who=_who(best, own),
        share=measured(best[0], SUCCESS),
        interval=interval(best[0], SUCCESS, 1) if is_one else (),
        scenarios=cell(best[0]["scenarios"]),
        setting=best[0]["setting"],
        cost=_cost(best[0]) if is_one else (),
        chance=_chance(experiment, best),
    )
    links = link("All measures of models", f"results/{page}.html") if page == SMALL else ()
    return Finding(
        _title(best, own, page == SMALL),
        sentence,
        (*links, *link("Evaluate your model", "evaluate.html")),
    )


def _who(best: Sequence[Row], own: Sequence[Row]) -> Sentence:
    if len(own) == 1:
        return said("The recorded model {who}", who=teams(best))
    each = " each" if len(best) > 1 else ""
    return said("{who}, the best of the recorded models,{each}", who=teams(best), each=each)


def _cost(row: Row) -> Sentence:
    return said(", at {cost} adjusted excess cost per meeting", cost=measured(row, COST))


def _title(best: Sequence[Row], own: Sequence[Row], is_small: bool) -> Sentence:
    model = f"{'very small ' if is_small else ''}recorded model"
    return said(
        "{who} scheduled {share}% of {whose} meetings",
        who=f"A {model}" if len(own) == 1 else f"The best of the {model}s",
        share=measured(best[0], SUCCESS),
        whose="its" if len(best) == 1 else "their",
    )


def _chance(experiment: Experiment | None, best: Sequence[Row]) -> Sentence:
    """Say that a model's reflections tell no more than chance, if their table says so."""
    if experiment is None or len(best) != 1:
        return ()
    where = {"setting": best[0]["setting"], "team": best[0]["team"]}
    row = next(iter(experiment.tables.optional(BASELINES, **where)), None)
    low, high = (row.get(f"{BEYOND}_{end}", "") if row else "" for end in ("low", "high"))
    if not low or not high or not decimal(low) <= 0 <= decimal(high):
        return ()
    return text(" Its answers about others' calendars cannot be told from random ones.")
