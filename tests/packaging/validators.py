"""What the tools of others say of a bundle: ``make validate-bundle DIR=build/bundle``.

They do not resolve beside the lock, so each part runs in an environment of its own, without
CalBench: ``python tests/packaging/validators.py PART DIR [TABLE...]``. The first line that is wrong
is printed and the exit status is 1.
"""

import importlib.util
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def _check_tables(names: Sequence[str]) -> str:
    from frictionless import Package

    package = Package("datapackage.json")
    rows = 0
    chosen = [each for each in package.resources if not names or each.name in names]
    for each in chosen:
        start = time.perf_counter()
        report: Any = each.validate()
        if not report.valid:
            found = report.flatten(["type", "message"])
            sys.exit(f"{each.name}: {len(found)} errors, {found[:3]}")
        rows += report.tasks[0].stats.get("rows", 0)
        print(each.name, rows, f"{time.perf_counter() - start:.1f} s", flush=True)
    return f"frictionless: {len(chosen)} resources valid, {rows} rows"


def _check_croissant(names: Sequence[str]) -> str:
    import mlcroissant

    data = mlcroissant.Dataset("croissant.json")
    if data.metadata.ctx.issues.errors:
        sys.exit(f"croissant.json: {data.metadata.ctx.issues.report()}")
    rows = 0
    chosen = [each for each in data.metadata.record_sets if not names or each.id in names]
    for each in chosen:
        rows += sum(1 for _ in data.records(each.id))
        print(each.id, rows, flush=True)
    warnings = len(data.metadata.ctx.issues.warnings)
    return (
        f"mlcroissant: 0 errors, {warnings} warnings; {len(chosen)} record sets read, {rows} rows"
    )


def _check_datasets(names: Sequence[str]) -> str:
    from datasets import get_dataset_config_names, load_dataset

    found = get_dataset_config_names(top := str(Path.cwd()))
    rows = 0
    chosen = [each for each in found if not names or each in names]
    for each in chosen:
        loaded: Any = load_dataset(top, each, split="train")
        rows += loaded.num_rows
        print(each, rows, flush=True)
    return f"datasets: {len(chosen)} tables loaded by name, {rows} rows"


def _check_crate(names: Sequence[str]) -> str:
    """Validate for RO-Crate 1.1; the names it takes from the net are those that ro-crate-py has."""
    import json

    import requests
    import rocrate
    from rocrate_validator import models, services
    from rocrate_validator.utils.http import HttpRequester

    known = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"

    def answer(*_: Any, **__: Any) -> Any:
        found = requests.Response()
        found.status_code, found._content = 200, known.read_bytes()
        found.headers["Content-Type"] = "application/ld+json"
        return found

    HttpRequester.get = answer
    severity = models.Severity[names[0] if names else "REQUIRED"]
    found = services.validate(
        models.ValidationSettings(
            rocrate_uri=".", profile_identifier="ro-crate-1.1", requirement_severity=severity
        )
    )
    if issues := found.get_issues():
        sys.exit("\n".join(f"{each.check.identifier}: {each.message}" for each in issues))
    entities = len(json.loads(Path("ro-crate-metadata.json").read_bytes())["@graph"])
    return f"roc-validator: 0 issues of severity {severity.name}, {entities} entities"


def _check_readers(_: Sequence[str]) -> str:
    """Run the Python of the card whose packages are here."""
    card = Path("README.md").read_text(encoding="utf-8")
    done = []
    for code in re.findall(r"```python\n(.*?)```", card, re.DOTALL):
        wanted = re.findall(r"^(?:from|import) ([\w, ]+?)(?: import .*)?$", code, re.MULTILINE)
        names = [name for each in wanted for name in each.split(", ")]
        if all(importlib.util.find_spec(name) for name in names):
            exec(code, {})  # noqa: S102 - the lines that the card shows
            done.append(names[-1])
    return f"readers of the card: {', '.join(done)}"


PARTS: dict[str, Callable[[Sequence[str]], str]] = {
    "frictionless": _check_tables,
    "mlcroissant": _check_croissant,
    "datasets": _check_datasets,
    "rocrate": _check_crate,
    "readers": _check_readers,
}


if __name__ == "__main__":
    part, folder, *tables = sys.argv[1:]
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    os.chdir(Path(folder))
    print(PARTS[part](tables))
