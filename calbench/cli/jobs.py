"""The runs of a command line, composed by Hydra: one, or with ``-m`` several."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import hydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from calbench.config.composition import (
    BROKEN,
    broken,
    composed,
    for_hydra,
    initialized,
    refusal,
    run_spec,
)
from calbench.config.spec import RunSpec
from calbench.console import say
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.runs.folder import SWEEP_KEY, SWEEP_TABLE, has_columns
from calbench.traces.catalog import TRACES_FOLDER
from calbench.tree import CONF

os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises its errors; we print them in one line


def for_each_job(
    overrides: Sequence[str],
    options: Mapping[str, Any],
    task: Callable[[RunSpec], int],
    task_in_sweep: Callable[[RunSpec], int] | None = None,
    whole: "Callable[[Sweep, int], None]" = lambda _sweep, _status: None,
) -> int:
    """Call a task with each run of a command line; return the highest status.

    Args:
        overrides: that change the configuration, as written.
        options: of the command line, as read.
        task: what to do with a run; returns a status.
        task_in_sweep: what to do with a run that is one of several; the same if absent.
        whole: what to do with a sweep whose jobs are done, with its status.

    Raises:
        CalbenchError: one line about what is wrong; later runs are not started.
    """
    given = options.get("config_dir")
    if given is not None and not Path(given).is_dir():
        raise ConfigError(f"--config-dir: {printable(given)} is not a folder")
    config_dir = None if given is None else Path(given)
    if own := [each for each in map(_key, overrides) if each.startswith("hydra/")]:
        raise ConfigError(
            f"{own[0]}: leave it out: jobs are played here, their games on a cluster: executor=dask"
        )
    words = for_hydra(overrides, config_dir)
    is_shown = any(map(options.get, ("cfg", "info")))
    if options.get("multirun"):
        if is_shown:
            raise ConfigError(
                "--multirun: plays; --cfg and --info show the configuration of one run"
            )
        sweep = sweep_of(words, config_dir)
        _check_folder(sweep.folder)
        status = 0
        for number, run in enumerate(sweep.runs, start=1):
            say(f"job {number} of {len(sweep.runs)}: {Path(run.out).name}")
            status = max(status, (task_in_sweep or task)(_found(run)))
        whole(sweep, status)
        return status
    if is_shown:
        _show(words, options, config_dir)
        return 0
    return task(_found(run_spec(composed(words, config_dir))))


def _found(spec: RunSpec) -> RunSpec:
    """Let the code that a run names be found in the current folder, too.

    Behind everything installed, and for no other command: a folder of somebody else's that is the
    current one must not replace a library.
    """
    named = (seat.settings.get("agent") for team in spec.teams for seat in team.seats)
    here = str(Path.cwd())
    if any(":" in str(path) for path in named) and here not in sys.path:
        sys.path.append(here)
    return spec


def _check_folder(folder: Path) -> None:
    """Refuse a sweep's folder that holds a run, or a table of others in the place of its own."""
    table = folder / SWEEP_TABLE
    if (folder / TRACES_FOLDER).exists():
        raise ConfigError(f"{folder}: holds a run; choose another folder for a sweep, out=DIR")
    if table.exists() and not has_columns(table, SWEEP_KEY):
        raise ConfigError(
            f"{table}: is no table over a sweep; choose another folder for a sweep, out=DIR"
        )


def _show(words: Sequence[str], options: Mapping[str, Any], config_dir: Path | None) -> None:
    """Let Hydra print what it composes, as its options say."""
    named = ("cfg", "info", "package", "config_dir")
    flags = [f"--{name.replace('_', '-')}={options[name]}" for name in named if options.get(name)]
    flags += ["--resolve"] if options.get("resolve") else []
    before, sys.argv = sys.argv, [sys.argv[0], *flags, *words]
    try:
        of_conf = hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")
        of_conf(lambda _: None)()  # it asks for a task, and does none where it prints
    except HydraException as error:
        raise refusal(error, words, config_dir) from error
    except BROKEN as error:
        raise broken(error, config_dir) from error
    finally:
        sys.argv = before


# --- sweeps: each job is a run in a folder of its own

SWEEPS = Path("build/sweeps")
"""Where sweeps go unless ``out=`` says otherwise."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep.

    Attributes:
        folder: of all its jobs.
        runs: one for each job, in the order in which they are played; each in a folder of its
            own below that of the sweep, named by what distinguishes it from the others.
    """

    folder: Path
    runs: tuple[RunSpec, ...]


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
    names = _job_names([[word for word in job if _key(word) in swept] for job in jobs])
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
        with initialized(config_dir) as (loader, _):
            parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(overrides))
            values = {each.get_key_element(): _values(each) for each in parsed}  # the last counts
            jobs = [list(job) for job in product(*values.values())]
    except HydraException as error:
        raise refusal(error, (), config_dir) from error
    swept = (_key(each.get_key_element()) for each in parsed if each.is_sweep_override())
    return jobs, frozenset(swept)


def _values(override: Override) -> list[str]:
    """Return what an override is in each job, in the order of Hydra's sweeper."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{printable(key)}: is no list of values to sweep over; write {printable(key)}=1,2"
        )
    return [f"{key}={value}" for value in override.sweep_string_iterator()]


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


def _job_names(jobs: Sequence[Sequence[str]]) -> list[str]:
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
