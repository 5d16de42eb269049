"""``calbench seal``: a suite that nobody has seen, what it was when it is opened, and the gap."""

import shlex
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from calbench.analysis.measures import MEASURE_BY_NAME
from calbench.analysis.registry import write_frames
from calbench.analysis.split_gap import GAPS
from calbench.cli.compare import NAMES, measure_names
from calbench.cli.run import RANKING, SHOWN
from calbench.cli.words import Status, Words, program_name
from calbench.config.composition import compose
from calbench.console import alert, show, tell, verdict
from calbench.endings import pruned
from calbench.errors import ConfigError, FileError, GenerationError, OutputError
from calbench.facts.frames import cast
from calbench.files import (
    check_keys,
    first_problem,
    printable,
    read_bytes,
    write_atomically,
    written_atomically,
)
from calbench.folders import check_new, claimed
from calbench.runs.folder import has_columns
from calbench.runs.measured import compare_splits
from calbench.scenarios.sealing import SEEDS, Commitment, Secret, problems, seal
from calbench.scenarios.storage import read_suite, write_suite
from calbench.terminal import new_table

COMMITMENT, SECRET, SUITE = "commitment.json", "secret.json", "suite.jsonl"

MOST_BYTES = 2**20
"""Size of a commitment or a secret [C]."""

ALONE = "none"
"""Names no reference."""

Note = TypeVar("Note", bound=BaseModel)


def draw(words: Words) -> int:
    """Draw a suite, publish the commitment, and keep the secret."""
    out, private = Path(words.options["out"]), Path(words.options["private"])
    for folder in (out, private):
        check_new(folder)
    if private.resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{printable(str(private))}: would be published with {out}")
    if any(each.startswith("suite.seed=") for each in words.settings):
        raise ConfigError("suite.seed: of a sealed suite it is the secret; give it as seed=N")
    spec = compose(words.settings)
    if len(spec.suites) != 1 or spec.suite.path is not None:
        raise ConfigError("suite: one that is drawn by a recipe, e.g. suite=varied")
    most = SEEDS[spec.suite.recipe] - 1
    seed = words.number("seed", 0, most=most) if "seed" in words.options else None
    is_new = not private.exists()
    with pruned(out), pruned(private), claimed(private):
        if is_new:
            private.chmod(0o700)
        with written_atomically(out / COMMITMENT) as beside:  # it is last in its place
            told, secret, scenarios = seal(spec.suite, seed)
            write_atomically(private / ".gitignore", b"*\n")
            write_suite(private / SUITE, scenarios)
            write_atomically(private / SECRET, _written(secret))
            for name in (SUITE, SECRET):
                (private / name).chmod(0o600)
            beside.write_bytes(_written(told))
    tell(f"Publish  {out / COMMITMENT}")
    tell(f"Keep     {private} to yourself until it is opened")
    path = shlex.quote(f"suite.path={private / SUITE}")
    tell(f"Play     {program_name()} {path} 'teams=[...]' out=DIR")
    verdict(f"{len(scenarios)} scenarios sealed: {told.commitment}", is_good=True)
    return Status.DONE


def check(words: Words) -> int:
    """Say whether an opened suite is the sealed one."""
    sealed, opened = words.paths
    path = sealed / COMMITMENT if sealed.is_dir() else sealed
    told = _read(path, Commitment)
    secret, scenarios = _read(opened / SECRET, Secret), read_suite(opened / SUITE)
    try:
        found = list(problems(told, secret, scenarios))
    except (ValidationError, GenerationError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else error
        raise FileError(f"{printable(str(path))}: recipe: {why}") from error
    for line in found:
        alert(f"error: {line}")
    said = "is not what was sealed" if found else f"{len(scenarios)} scenarios, as they were sealed"
    verdict(f"{opened}: {said}", is_good=not found)
    return Status.DIFFERENT if found else Status.DONE


def _read(path: Path, model: type[Note]) -> Note:
    data = read_bytes(path, MOST_BYTES)
    try:
        note = model.model_validate_json(data)
    except ValidationError as error:
        raise FileError(f"{printable(str(path))}: {first_problem(error, model)}") from error
    check_keys(printable(str(path)), data)
    return note


def _written(note: BaseModel) -> bytes:
    return orjson.dumps(note.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"


def gap(words: Words) -> int:
    """Print how teams did on sealed games less how they did on public ones."""
    public, sealed = words.paths
    usual = dict.fromkeys([RANKING, *SHOWN])
    chosen = measure_names(words.options.get("measure", "")) or tuple(usual)
    beside = words.options.get("beside", "imap")
    out = words.path("out")
    if out is not None:
        _check_table(out)
    spec = compose(words.settings)
    rows = compare_splits(
        public,
        sealed,
        spec,
        [name for name in NAMES if name in chosen],
        team=words.options.get("team"),
        beside=None if beside == ALONE else beside,
    )
    if out is not None:
        _check_table(out)
        write_frames(out, [cast(rows, GAPS)], GAPS)
    less = "" if beside == ALONE else f" less {beside}"
    heads = ("Measure", "Public", "Sealed", f"Gap{less}", "interval", "p", "scenarios")
    for (setting, team), found in rows.groupby(["setting", "team"], sort=False):
        cells = map(_cells, found.to_dict("records"))
        show(new_table(f"{setting}: {team}", heads, cells, wraps=True))
    judged = RANKING if RANKING in chosen else next(iter(chosen))
    ranked = rows[rows["measure"] == judged]
    level = 1 - spec.analysis.confidence
    clear = ranked[ranked["p"] < level]["team"].unique()
    who = ", ".join(clear) if len(clear) else "nobody"
    title = MEASURE_BY_NAME[judged].title
    verdict(f"A gap of {title} is shown for {who} ({100 * level:.3g}% level, each team alone)")
    return Status.DONE


def _check_table(out: Path) -> None:
    """Refuse a place where anything but an earlier table of gaps is.

    Raises:
        OutputError: naming it.
    """
    names = [column.name for column in GAPS]
    if out.exists() and not (out.suffix == ".csv" and has_columns(out, names)):
        raise OutputError(
            f"{printable(str(out))}: is there already, and is no table of gaps; name another file"
        )


def _cells(row: dict[Any, Any]) -> tuple[str, ...]:
    gap_shown = "-" if isnan(row["gap"]) else f"{row['gap']:+.2f}"
    ends = "-" if isnan(row["gap_low"]) else f"{row['gap_low']:+.2f}..{row['gap_high']:+.2f}"
    p_value = "-" if isnan(row["p"]) else f"{row['p']:.4f}"
    means = (f"{row['public']:.2f}", f"{row['sealed']:.2f}")
    counts = f"{row['scenarios_public']}, {row['scenarios_sealed']}"
    return (MEASURE_BY_NAME[row["measure"]].title, *means, gap_shown, ends, p_value, counts)
