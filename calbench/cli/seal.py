"""``calbench seal``: a suite that nobody has seen, what it was when it is opened, and the gap."""

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
from calbench.cli.words import Status, Words
from calbench.config.composition import compose
from calbench.console import alert, show, tell, verdict
from calbench.errors import ConfigError, FileError, OutputError
from calbench.facts.frames import cast
from calbench.files import check_keys, first_problem, printable, read_bytes, write_atomically
from calbench.folders import check_new
from calbench.runs.measured import compare_splits
from calbench.scenarios.sealing import Commitment, Secret, problems, seal
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
    seed = words.number("seed", 0) if "seed" in words.options else None
    spec = compose(words.settings)
    if len(spec.suites) != 1 or spec.suite.path is not None:
        raise ConfigError("suite: one that is drawn by a recipe, e.g. suite=varied")
    told, secret, scenarios = seal(spec.suite, seed)
    private.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(private / ".gitignore", b"*\n")
    write_suite(private / SUITE, scenarios)
    write_atomically(private / SECRET, _written(secret))
    for name in (SUITE, SECRET):
        (private / name).chmod(0o600)
    write_atomically(out / COMMITMENT, _written(told))
    tell(f"Publish  {out / COMMITMENT}")
    tell(f"Keep     {private} to yourself until it is opened")
    tell(f"Play     calbench suite.path={private / SUITE} 'teams=[...]' out=DIR")
    verdict(f"{len(scenarios)} scenarios sealed: {told.commitment}", is_good=True)
    return Status.DONE


def check(words: Words) -> int:
    """Say whether an opened suite is the sealed one."""
    sealed, opened = words.paths
    told = _read(sealed / COMMITMENT if sealed.is_dir() else sealed, Commitment)
    secret, scenarios = _read(opened / SECRET, Secret), read_suite(opened / SUITE)
    try:
        found = list(problems(told, secret, scenarios))
    except ValidationError as error:
        raise FileError(f"{printable(str(sealed))}: recipe: {first_problem(error)}") from error
    for line in found:
        alert(f"error: {line}")
    said = "is not what was sealed" if found else f"{len(scenarios)} scenarios, as they were sealed"
    verdict(f"{opened}: {said}", is_good=not found)
    return Status.DIFFERENT if found else Status.DONE


def _read(path: Path, model: type[Note]) -> Note:
    data = read_bytes(path, MOST_BYTES)
    check_keys(printable(str(path)), data)
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise FileError(f"{printable(str(path))}: {first_problem(error, model)}") from error


def _written(note: BaseModel) -> bytes:
    return orjson.dumps(note.model_dump(mode="json"), option=orjson.OPT_INDENT_2) + b"\n"


def gap(words: Words) -> int:
    """Print how teams did on sealed games less how they did on public ones."""
    public, sealed = words.paths
    usual = dict.fromkeys([RANKING, *SHOWN])
    chosen = measure_names(words.options["measure"]) if "measure" in words.options else [*usual]
    beside = words.options.get("beside", "imap")
    spec = compose(words.settings)
    rows = compare_splits(
        public,
        sealed,
        spec,
        [name for name in NAMES if name in chosen],
        team=words.options.get("team"),
        beside=None if beside == ALONE else beside,
    )
    if out := words.options.get("out"):
        write_frames(Path(out), [cast(rows, GAPS)], GAPS)
    less = "" if beside == ALONE else f" less {beside}"
    heads = ("Measure", "Public", "Sealed", f"Gap{less}", "interval", "p", "scenarios")
    for (setting, team), found in rows.groupby(["setting", "team"], sort=False):
        table = new_table(f"{setting}: {team}", heads, wraps=True)
        for row in found.to_dict("records"):
            table.add_row(*_cells(row))
        show(table)
    judged = RANKING if RANKING in chosen else next(iter(chosen))
    ranked = rows[rows["measure"] == judged]
    level = 1 - spec.analysis.confidence
    clear = ranked[ranked["p"] < level]["team"].unique()
    who = ", ".join(clear) if len(clear) else "nobody"
    title = MEASURE_BY_NAME[judged].title
    verdict(f"A gap of {title} is shown for {who} ({100 * level:.3g}% level, each team alone)")
    return Status.DONE


def _cells(row: dict[Any, Any]) -> tuple[str, ...]:
    gap_shown = "-" if isnan(row["gap"]) else f"{row['gap']:+.2f}"
    ends = "-" if isnan(row["gap_low"]) else f"{row['gap_low']:+.2f}..{row['gap_high']:+.2f}"
    p_value = "-" if isnan(row["p"]) else f"{row['p']:.4f}"
    means = (f"{row['public']:.2f}", f"{row['sealed']:.2f}")
    counts = f"{row['scenarios_public']}, {row['scenarios_sealed']}"
    return (MEASURE_BY_NAME[row["measure"]].title, *means, gap_shown, ends, p_value, counts)
