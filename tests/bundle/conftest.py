"""A small checkout in which the pipeline ran, and its bundle; made once in a test run."""

import json
import shutil
from pathlib import Path

import pytest

from calbench.bundle.folder import write_bundle
from calbench.cli.stores import pack
from tests.report.samples import make_results, site_of
from tests.sharing import once, shared_folder

REPO = Path(__file__).parents[2]
TEAMS = {"uniform": ("imap", "silent"), "varied": ("imap", "tell-all")}


def make_checkout(top: Path) -> None:
    """Play two small experiments, and lay everything out as the pipeline does."""
    played = [make_results(top / "played" / name, name, teams) for name, teams in TEAMS.items()]
    site_of(played, top / "played" / "src")
    for folder in ("suites", "traces", "tables"):
        (top / "data" / folder).mkdir(parents=True)
    for each in played:
        shutil.copyfile(each.suite, top / "data" / "suites" / f"{each.name}.jsonl")
        shutil.copytree(each.folder, top / "data" / "tables" / each.name)
        pack(each.traces, top / "data" / "traces" / each.name)
    shutil.copytree(top / "played" / "src-summary", top / "data" / "tables" / "summary")
    replies = top / "data" / "cohorts" / "small" / "replies"
    replies.mkdir(parents=True)
    (replies / "replies-0.jsonl").write_text('{"digest":"0"}\n')
    (top / "data" / "cohorts" / ".hidden").touch()
    schemas = top / "build" / "site" / "schemas"
    schemas.mkdir(parents=True)
    (schemas / "trace.schema.json").write_text("{}\n")
    (top / "build" / "site" / "index.html").write_text("<!doctype html>\n")
    (top / "build" / "site" / ".calbench-site").touch()
    (top / "build" / "sbom.json").write_text("{}\n")
    (top / "build" / "parts").mkdir()
    parts = {each.name: {"role": each.role.model_dump(), "about": {}} for each in played}
    (top / "build" / "parts" / "publish.json").write_text(json.dumps(parts))
    (top / "site" / "notebooks").mkdir(parents=True)
    for name in ("CITATION.cff", "LICENSE", "requirements.lock", "site/notebooks/bundle.ipynb"):
        shutil.copyfile(REPO / name, top / name)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    root = shared_folder(tmp_path_factory, worker_id, "bundle")

    def make() -> None:
        make_checkout(root / "top")
        write_bundle(root / "top", root / "out")

    once(root, make)
    return root / "top"


@pytest.fixture(scope="session")
def bundle(checkout: Path) -> Path:
    return checkout.parent / "out"
