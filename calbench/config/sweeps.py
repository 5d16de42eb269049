"""The jobs of a sweep, ``-m key=a,b``: each is a run in a folder of its own."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from calbench.config.composition import composed, hydra, refusal, run_spec
from calbench.config.spec import RunSpec
from calbench.errors import ConfigError

SWEEPS = Path("build/sweeps")
"""Where sweeps go unless ``out=`` says otherwise."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep.

    Attributes:
        folder: of all its jobs.
        runs: one for each job, in the order in which they are played; each in a folder of its
            own below that of the sweep.
    """

    folder: Path
    runs: tuple[RunSpec, ...]

    def name(self, run: RunSpec) -> str:
        """Return the name of a job: what distinguishes it from the others."""
        return Path(run.out).name


def sweep_of(overrides: Sequence[str], config_dir: Path | None = None) -> Sweep:
    """Return the jobs of a command line with ``-m``, all of them composed and checked.

    Args:
        overrides: as Hydra reads them.
        config_dir: a folder of more configuration.

    Raises:
        ConfigError: one line about the first job that does not fit.
    """
    jobs, swept = _jobs(overrides, config_dir)
    if "out" in swept:
        raise ConfigError("out: is the folder of the whole sweep; name one")
    runs = [run_spec(composed(job, config_dir)) for job in jobs]
    names = _names([[word for word in job if _key(word) in swept] for job in jobs])
    is_chosen = any(_key(word) == "out" for word in overrides)
    experiments = "+".join(dict.fromkeys(run.name for run in runs))
    by = "+".join(sorted({key.rpartition(".")[2] for key in swept})) or "nothing"
    folder = Path(runs[0].out) if is_chosen else SWEEPS / f"{experiments}-by-{by}"
    return Sweep(
        folder,
        tuple(
            run.model_copy(update={"out": str(folder / name)})
            for run, name in zip(runs, names, strict=True)
        ),
    )


def _jobs(
    overrides: Sequence[str], config_dir: Path | None
) -> tuple[list[list[str]], frozenset[str]]:
    """Return the overrides of each job, as Hydra's sweeper splits them, and the swept keys."""
    try:
        with hydra(config_dir):
            loader = GlobalHydra.instance().config_loader()
            parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(overrides))
            (jobs,) = BasicSweeper.split_arguments(parsed, max_batch_size=None)
    except HydraException as error:
        raise refusal(error, (), config_dir) from error
    return jobs, frozenset(_swept(parsed))


def _swept(overrides: Iterable[Override]) -> Iterable[str]:
    return (_key(each.get_key_element()) for each in overrides if each.is_sweep_override())


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


def _names(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Return a folder's name for each job: the values of its swept keys.

    A key is shortened to its last part, unless two swept keys end in the same one.
    """
    lasts = Counter(_key(word).rpartition(".")[2] for word in jobs[0])
    names = []
    for job in jobs:
        parts = []
        for word in job:
            key, last = _key(word), _key(word).rpartition(".")[2]
            value = word.partition("=")[2].strip("'\"")
            shown = re.sub(r"[^\w.+-]+", "-", value).strip("-.") or "empty"
            parts.append(f"{last if lasts[last] == 1 else key}={shown}"[:80])
        names.append(",".join(parts) or "job")
    counts, seen = Counter(names), Counter[str]()
    for place, name in enumerate(names):
        if counts[name] > 1:
            seen[name] += 1
            names[place] = f"{name}-{seen[name]}"
    return names
