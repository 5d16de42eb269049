"""conf/ -> build/parts/<stage>.json: what each stage is given of every experiment on the site.

Whole configurations are in build/params/<experiment>.yaml, for ``dvc params``.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from calbench.config.composition import composed, run_spec
from calbench.config.groups import PRICES, known_names
from calbench.config.spec import RunSpec, write_params
from calbench.errors import ConfigError
from calbench.llm.prices import read_prices
from calbench.report.role import Role
from stages import paths

READ = (Path("conf"),)
"""What it reads beside its code and its part."""


def main() -> None:
    """Compose every experiment that says what it is for on the site."""
    shutil.rmtree(paths.PARAMS, ignore_errors=True)
    shutil.rmtree(paths.PARTS, ignore_errors=True)
    specs = site_experiments()
    if not specs:
        raise ConfigError("conf/experiment: holds no experiment of the site")
    for spec in specs:
        write_params(paths.PARAMS / f"{spec.name}.yaml", spec)
    for stage, part in PARTS.items():
        paths.write_parts(stage, {spec.name: part(spec) for spec in specs})


def site_experiments() -> list[RunSpec]:
    """Return the experiments on the site, in the order of its pages."""
    found = [composed([f"+experiment={name}"]) for name in known_names("experiment")]
    specs = [ours(run_spec(each)) for each in found if each.site is not None]
    return sorted(specs, key=lambda spec: (role(spec).order, spec.name))


def ours(spec: RunSpec) -> RunSpec:
    """Return an experiment of the site, which plays with our prompts.

    Raises:
        ConfigError: it would play with others.
    """
    if spec.prompts.path is not None:
        raise ConfigError(
            f"conf/experiment/{spec.name}.yaml: prompts.path is for runs of your own; leave it out "
            "of an experiment of the site"
        )
    return spec


def role(spec: RunSpec) -> Role:
    """Return what an experiment is for on the site."""
    return spec.site or Role()


def drawn(spec: RunSpec) -> dict[str, Any]:
    """Return the suites of an experiment, each with its setting, and the part that is played."""
    suites = [[name, suite.model_dump(mode="json")] for name, suite in spec.suites]
    return {"suites": suites, **spec.model_dump(mode="json", include={"subset"})}


def played(spec: RunSpec) -> dict[str, Any]:
    """Return the games of an experiment, and where the replies of its models are."""
    return {
        "configs": [config.model_dump(mode="json") for config in spec.game_configs],
        "replicates": spec.replicates,
        "replies": spec.replies.path,
    }


def measured(spec: RunSpec) -> dict[str, Any]:
    """Return how the games of an experiment are measured; rows are in the order of teams."""
    return {
        "teams": [team.team_id for team in spec.teams],
        **spec.model_dump(mode="json", include={"measure", "facts", "judge"}),
    }


def estimated(spec: RunSpec) -> dict[str, Any]:
    """Return how the tables of an experiment are made, and which go together."""
    prices = read_prices(PRICES).models
    return {
        **spec.model_dump(mode="json", include={"measure", "analysis"}),
        "prices": {name: price.model_dump(mode="json") for name, price in prices.items()},
        **role(spec).model_dump(mode="json", include={"page", "is_ranked", "games"}),
    }


def shown(spec: RunSpec) -> dict[str, Any]:
    """Return what an experiment is for on the site, and what its teams do."""
    return {"role": role(spec).model_dump(mode="json"), "about": spec.about}


PARTS: Mapping[str, Callable[[RunSpec], dict[str, Any]]] = {
    "generate": drawn,
    "play": played,
    "calibrate": measured,
    "analyze": estimated,
    "publish": shown,
}
"""What each stage is given of an experiment."""


if __name__ == "__main__":
    paths.run_stage(main, READ)
