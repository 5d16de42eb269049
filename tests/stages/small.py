"""A copy of the tree whose pipeline takes seconds: three experiments with few games."""

import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.cli.runs import REPO

PARTS = (
    *(".dvcignore", "CHANGELOG.md", "CONTRIBUTING.md", "dvc.yaml", "requirements.lock"),
    *("calbench", "conf", "site", "stages"),
    *(f"data/{name}" for name in ("audit_sample", "cohorts", "label_banks", "predictive")),
    "data/published",
)
"""What the pipeline reads."""

FEW: dict[str, dict[str, Any]] = {
    "uniform": {
        "defaults": [
            {"override /suite": "former-uniform"},
            {"override /teams": ["imap", "sd-map", "dsm-welfare", "silent", "example-agent"]},
        ],
        "suite": {"setting": "uniform", "num_scenarios": 3, "num_candidates": 3},
    },
    "language": {
        "defaults": [
            {"/suite@more_suites.varied": "former-varied"},
            {"override /suite": "former-uniform"},
            {"override /teams": ["candid", "guarded", "oversharer", "mixed-scripted"]},
        ],
        "suite": {"setting": "uniform", "num_scenarios": 2, "num_candidates": 2},
        "more_suites": {"varied": {"setting": "varied", "num_scenarios": 2, "num_candidates": 2}},
    },
    "smollm2-v1": {},
}
"""Experiments that are left, with what makes them small; the last one is recorded."""

QUICK = {"permutations": 19, "ratings": {"orders": 2, "resamples": 2, "orders_per_resample": 1}}
"""Settings of the estimates."""


def small_tree(folder: Path) -> Path:
    """Copy the tree into a new folder, and make its experiments few and small."""
    ignored = shutil.ignore_patterns("__pycache__", "bundled")
    for part in PARTS:
        source, target = REPO / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copyfile(source, target)
    for path in (folder / "conf/experiment").glob("*.yaml"):
        if path.stem not in FEW:
            path.unlink()
        elif change := FEW[path.stem]:
            change_yaml(path, change)
    change_yaml(folder / "conf/analysis/default.yaml", QUICK)
    return folder


def change_yaml(path: Path, change: dict[str, Any]) -> None:
    """Merge values into a document of the configuration, whose first line is Hydra's."""
    text = path.read_text()
    data = yaml.safe_load(text)
    _merge(data, change)
    path.write_text(f"{text.splitlines()[0]}\n{yaml.safe_dump(data, sort_keys=False)}")


def _merge(into: dict[str, Any], change: dict[str, Any]) -> None:
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
