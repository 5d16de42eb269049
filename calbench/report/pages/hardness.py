"""What of the difficulty page is in no figure: predictors of what teams make of scenarios."""

from collections.abc import Iterable, Mapping
from typing import Any

from calbench.report.experiment import Experiment
from calbench.report.site import Site
from calbench.report.tables import Row

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


def shown(site: Site) -> list[dict[str, Any]]:
    """Return the correlations of every experiment with enough scenarios, draws first."""
    experiments = dict.fromkeys((*site.on("reproduction"), *site.ranked))
    found = [_of(each) for each in experiments]
    return [each for each in found if each["effects"]]


def _of(experiment: Experiment) -> dict[str, Any]:
    effects = [
        row
        for row in experiment.tables.optional("difficulty_effects.csv")
        if row["no_rho"] != "few"
    ]
    rows = experiment.tables.optional("difficulty_predictors.csv")
    return {
        "name": experiment.name,
        "title": experiment.title,
        "confidence": experiment.confidence,
        "effects": _widest(effects),
        "chosen": list(_beside_fraction(rows)),
        "chosen_on": rows[0]["chosen_on"] if rows else "",
        "tested_on": rows[0]["tested_on"].split() if rows else [],
    }


def _widest(rows: list[Row]) -> list[Row]:
    """Return the rows of all settings together, or those of the only one."""
    together = [row for row in rows if row["setting"] == "all"]
    return together or rows


def _beside_fraction(rows: list[Row]) -> Iterable[Row]:
    """Yield the chosen predictors with the feasible fraction's correlation on the same games."""
    by_key = {(row["team"], row["measure"], row["predictor"]): row for row in rows}
    for row in rows:
        if row["is_chosen"] == "true":
            own = by_key.get((row["team"], row["measure"], FRACTION), {})
            beside = {
                f"fraction_{name}": own.get(name, "") for name in ("rho", "rho_low", "rho_high")
            }
            yield {**row, **beside}
