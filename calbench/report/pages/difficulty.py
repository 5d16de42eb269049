"""The page of difficulty: how hard scenarios are, and whether that predicts anything."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calbench.analysis.tables.difficulty import UNCUT
from calbench.report.experiment import Experiment, Setting
from calbench.report.figures import difficulty
from calbench.report.pages import gallery
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Number, Row
from calbench.scenarios.difficulty import TERTILES

MEASURE_TITLES: Mapping[str, str] = {
    "excess_cost": "excess cost",
    "coordination": "coordination",
    "messages": "messages per meeting",
}

PREDICTOR_TITLES: Mapping[str, str] = {
    "feasible_fraction": "feasible fraction",
    "oracle_cost": "cost of the best schedule",
    "cost_range": "cost of the worst less the best schedule",
    "crowding": "best schedule above the cheapest slots",
    "clashes": "meetings that want the same cheapest slots",
    "greedy_excess": "first free slots above the best schedule",
    "optimal_vectors": "few optimal schedules",
}

FRACTION = "feasible_fraction"


def content(site: Site) -> Content:
    """Return the feasible fraction of every scenario, their ranges, and what difficulty does."""
    fractions = {each.title: fractions_of(each) for each in site.settings}
    names = dict.fromkeys(each.experiment.name for each in site.settings)
    figure = difficulty.difficulties(fractions, [f"{name}/games.csv" for name in names])
    experiments = dict.fromkeys((*site.on("reproduction"), *site.ranked))
    predictors = [_predictors(each) for each in experiments]
    drawn = gallery.content(site, "difficulty")
    tested = [row for each in predictors for row in each["tested"]]
    return Content(
        {
            "fractions": figure,
            "ranges": site.summary.optional("difficulty.csv"),
            "hardness": [each for each in predictors if each["effects"]],
            "tests": len(tested),
            "significant": sum(row["p_adjusted"] < row["level"] for row in tested),
            "measure_titles": MEASURE_TITLES,
            "predictor_titles": PREDICTOR_TITLES,
            **drawn.values,
        },
        figures=[figure, *drawn.figures],
    )


def fractions_of(setting: Setting) -> dict[str, list[Number]]:
    """Return the feasible fractions of a suite by third (games.csv).

    Scenarios without a fraction are left out; those without a third are listed as "all".
    """
    scenarios = {row["scenario_id"]: row for row in setting.rows("games.csv")}
    found: dict[str, list[Number]] = {third: [] for third in (*TERTILES, UNCUT)}
    for row in scenarios.values():
        if row[FRACTION] is not None:
            found[row["tertile"] or UNCUT].append(row[FRACTION])
    return {third: fractions for third, fractions in found.items() if fractions}


def _predictors(experiment: Experiment) -> dict[str, Any]:
    """Return the correlations of an experiment: of all settings together, or of the only one."""
    every = experiment.tables.optional("difficulty_effects.csv")
    effects = [row for row in every if row["no_rho"] != "few"]
    rows = experiment.tables.optional("difficulty_predictors.csv")
    return {
        "name": experiment.name,
        "title": experiment.title,
        "confidence": experiment.confidence,
        "tested": [
            {**row, "level": float(experiment.level)} for row in effects if row["p"] is not None
        ],
        "effects": [row for row in effects if row["setting"] == "all"] or effects,
        "chosen": list(_beside_fraction(rows)),
        "chosen_on": rows[0]["chosen_on"] if rows else "",
        "tested_on": rows[0]["tested_on"] if rows else (),
    }


def _beside_fraction(rows: Sequence[Row]) -> Iterable[Row]:
    """Yield the chosen predictors with the feasible fraction's correlation on the same games."""
    by_key = {(row["team"], row["measure"], row["predictor"]): row for row in rows}
    for row in rows:
        if row["is_chosen"]:
            own = by_key.get((row["team"], row["measure"], FRACTION), {})
            ends = ("rho", "rho_low", "rho_high")
            yield {**row, **{f"fraction_{name}": own.get(name) for name in ends}}
