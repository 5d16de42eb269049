"""The way in for submissions: what GitHub runs is what anybody runs, and the page's steps work."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from calbench.cli.main import answer
from calbench.config.composition import compose
from tests.cli.runs import REPO, Ended
from tests.submissions.forging import said

GITHUB = REPO / ".github"

PAGE = (REPO / "site" / "docs" / "submit.md").read_text(encoding="utf-8")

STEPS = re.findall(r"^    (\S.*)$", PAGE, re.MULTILINE)


def steps(workflow: str) -> list[dict[str, Any]]:
    document = yaml.safe_load((GITHUB / "workflows" / workflow).read_text(encoding="utf-8"))
    assert document["permissions"] == {"contents": "read"}
    (job,) = document["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def test_continuous_integration_runs_what_everybody_runs() -> None:
    assert [step["run"] for step in steps("ci.yml") if "run" in step] == [".ci/run"]
    assert (REPO / ".ci" / "run").stat().st_mode & 0o111


def test_submissions_are_checked_by_the_code_they_are_handed_to() -> None:
    checkout, *_, fetch, check = steps("submission.yml")
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert fetch["run"] == 'git fetch --quiet origin "pull/$NUMBER/head"'
    assert check["run"] == '.ci/submissions "$BASE" FETCH_HEAD'


def test_forms_and_links_of_the_repository_fit() -> None:
    for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= form.keys()
            ids = [each["id"] for each in form["body"]]
            assert len(ids) == len({*ids})
            assert all(each["attributes"]["label"] for each in form["body"])
    for path in (GITHUB / "SECURITY.md", REPO / "data" / "submissions" / "README.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).is_file(), link


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone, with what is not committed yet of the script."""
    folder = tmp_path / "clone"
    git("clone", "-q", "--no-tags", str(REPO), str(folder), cwd=tmp_path)
    shutil.copy(REPO / ".ci" / "submissions", folder / ".ci" / "submissions")
    git("config", "user.email", "a@example.com", cwd=folder)
    git("config", "user.name", "a", cwd=folder)
    committed(folder, "script")
    return folder


def git(*words: str, cwd: Path) -> None:
    subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


def committed(folder: Path, what: str) -> None:
    git("add", "-A", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", what, cwd=folder)


def checked(folder: Path, *words: str) -> Ended:
    done = subprocess.run(
        [".ci/submissions", *words], cwd=folder, check=False, capture_output=True, text=True
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.heavy
def test_handed_in_folders_are_checked_and_no_others(kept: Path, clone: Path) -> None:
    submissions = clone / "data" / "submissions"
    shutil.copytree(kept / "asked", submissions / "asked")
    committed(clone, "an earlier one")
    assert "no submission differs" in checked(clone, "HEAD").out
    shutil.copytree(kept / "honest", submissions / "honest")
    (submissions / "README.md").write_text("other words")
    committed(clone, "an honest one")
    ended = checked(clone, "HEAD~1")
    assert (ended.status, "honest: replayed with replies" in ended.out) == (0, True), ended.err
    assert "asked" not in ended.out
    said(submissions / "honest", settings="0" * 64)
    committed(clone, "a forged one")
    ended = checked(clone, "HEAD~1", "HEAD")
    assert ended.status == 1
    assert "error: honest: settings: says 0000" in ended.err
    shutil.rmtree(submissions / "asked")
    shutil.rmtree(submissions / "honest")
    committed(clone, "both are withdrawn")
    assert "no submission differs" in checked(clone, "HEAD~1").out
    (submissions / "linked").symlink_to("/etc")
    committed(clone, "a link")
    ended = checked(clone, "HEAD~1")
    assert (ended.status, "no folder of a submission: linked" in ended.err) == (1, True)


@pytest.mark.heavy
def test_every_step_of_the_page_works(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [shlex.split(step)[1:] for step in STEPS if step.startswith("calbench ")]
    estimate, play, view, prepare, check, ask, site = words
    assert len(STEPS) == 8
    assert (estimate[0], view) == ("estimate", ["view", "runs/mine"])
    for overrides in (estimate[1:], play):
        assert [team.team_id for team in compose(overrides).teams] == ["gpt-5.4-mini"]
    shutil.copytree(kept / "runs" / "asked", tmp_path / "runs" / "mine")
    assert answer(prepare) == 0
    assert answer(check) == 0
    assert "mine: replayed with replies" in capsys.readouterr().out
    assert answer(ask) == 2
    assert "openai/gpt-5.4-mini gave none of the replies" in capsys.readouterr().err
    assert (*site[1:],) == ("submissions=data/submissions", "out=board")
