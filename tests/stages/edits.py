"""Edits of the tree: after each of them `dvc repro` has made what a fresh tree makes, to the byte.

``make edits`` tries all of them and writes the table; it takes half an hour on two cores.
"""

import csv
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from tests.cli.runs import REPO, environment
from tests.stages.sandbox import made, outputs, stages
from tests.stages.small import change_yaml, small_tree

TABLE = REPO / "tests" / "stages" / "edits.csv"
COLUMNS = ("edit", "reran", "differences")

Change = Callable[[Path], object]


@dataclass(frozen=True)
class Edit:
    """What somebody does to a tree.

    Attributes:
        name: of what is edited.
        change: does it, in the tree at a path.
        restores: whether what stages depend on is then as it was, and outputs have to be.
    """

    name: str
    change: Change
    restores: bool = False


def replaced(path: str, old: str, new: str) -> Change:
    """Return what puts a text in the place of another one, which a file must have."""

    def change(tree: Path) -> None:
        text = (tree / path).read_text()
        if old not in text:
            raise ValueError(f"{path}: does not hold {old!r}")
        (tree / path).write_text(text.replace(old, new, 1))

    return change


def appended(path: str, text: str = "# The same as before.\n") -> Change:
    def change(tree: Path) -> None:
        with (tree / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


def configured(path: str, **values: object) -> Change:
    return lambda tree: change_yaml(tree / "conf" / path, values)


def flipped(pattern: str) -> Change:
    """Return what damages a byte of the first file of a pattern."""

    def change(tree: Path) -> None:
        path = min(tree.glob(pattern))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.unlink()  # the cache may share it
        path.write_bytes(bytes(data))

    return change


def written(path: str, text: str) -> Change:
    def change(tree: Path) -> None:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)

    return change


def removed(path: str) -> Change:
    return lambda tree: shutil.rmtree(tree / path)


def another_experiment(tree: Path) -> None:
    text = (tree / "conf/experiment/uniform.yaml").read_text()
    changed = text.replace("name: uniform", "name: second").replace("order: 1", "order: 2")
    (tree / "conf/experiment/second.yaml").write_text(changed)


def another_then_none(tree: Path) -> None:
    another_experiment(tree)
    repro(tree)
    (tree / "conf/experiment/second.yaml").unlink()


def renamed_experiment(tree: Path) -> None:
    another_experiment(tree)
    (tree / "conf/experiment/uniform.yaml").unlink()


def touched(tree: Path) -> None:
    for path in (tree / "calbench").rglob("*.py"):
        os.utime(path)


UNIFORM = "experiment/uniform.yaml"

EDITS: Sequence[Edit] = (
    Edit("terms of a label bank", replaced("data/label_banks/v1.jsonl", "farmers market", "fair")),
    Edit("setting of a suite, by RunSpec.suites", replaced(
        "calbench/config/spec.py",
        "return tuple((part.setting, part) for part in parts)",
        'return tuple((f"{part.setting}-x", part) for part in parts)',
    )),
    Edit("prompt of the judge", appended("calbench/agents/prompts/judge/v1.md", "\nBe brief.\n")),
    Edit("version of the judge's prompt that tables name", replaced(
        "calbench/analysis/output.py", '"prompt": JUDGE_PROMPT', '"prompt": JUDGE_PROMPT + "x"'
    )),
    Edit("words about a team", replaced("conf/teams/imap.yaml", "in every seat", "everywhere")),
    Edit("an experiment that came and went", another_then_none, restores=True),
    Edit("another experiment", another_experiment),
    Edit("an experiment renamed", renamed_experiment),
    Edit("trained weights", replaced(
        "calbench/metrics/speech/words/weights.json", '"start":-3157', '"start":3157'
    )),
    Edit("a word list", appended("calbench/metrics/speech/words/function.txt", "slot free\n")),
    Edit("an agent of one's own", replaced(
        "calbench/agents/example.py", "{clearable(observation)[0]}", "{clearable(observation)[-1]}"
    )),
    Edit("a comment in the engine", appended("calbench/engine/decide.py")),
    Edit("a comment in a protocol", appended("calbench/protocols/imap.py")),
    Edit("the key of a game's id", replaced(
        "calbench/domain/rules.py", "RULES_VERSION = ", "RULES_VERSION = 1000 + "
    )),
    Edit("a docstring of the domain", appended("calbench/domain/calendars.py")),
    Edit("the seed of a suite", configured(UNIFORM, suite={"seed": 7})),
    Edit("the number of scenarios", configured(UNIFORM, suite={"num_scenarios": 2})),
    Edit("a team left out", configured("experiment/language.yaml", defaults=[
        {"/suite@more_suites.varied": "varied"},
        {"override /suite": "uniform"},
        {"override /teams": ["candid", "guarded"]},
    ])),
    Edit("a limit of the games", configured("limits/paper.yaml", max_turns_per_round=10)),
    Edit("a setting of the metrics", configured("measure/default.yaml", vps_floor=4.0)),
    Edit("what is measured", configured(UNIFORM, facts="scores", judge=None)),
    Edit("the judge left out", configured(UNIFORM, judge=None)),
    Edit("a confidence", configured("analysis/default.yaml", confidence=0.9)),
    Edit("the seed of the permutations", configured("analysis/default.yaml", permutation_seed=5)),
    Edit("a price", replaced("conf/prices.yaml", "input: 0.75,", "input: 0.85,")),
    Edit("a title", configured("experiment/language.yaml", site={"title": "those who speak"})),
    Edit("the order of experiments", configured("experiment/language.yaml", site={"order": 0})),
    Edit("a published number", replaced("data/published/table2.csv", "100.0,0.26", "100.0,0.27")),
    Edit("a labelled message", replaced(
        "data/audit_sample/first_judgement.csv", "others,proposal,39", "others,proposal,38"
    )),
    Edit("a recorded cohort's README", appended("data/cohorts/smollm2/README.md", "\nMore.\n")),
    Edit("a page", appended("site/docs/method.md", "\nOne more sentence.\n")),
    Edit("a template", appended("calbench/report/templates/card.jinja", "\n")),
    Edit("a style sheet", appended("site/assets/every/calbench.css", "\n/* more */\n")),
    Edit("the changelog", appended("CHANGELOG.md", "\nOne more line.\n")),
    Edit("CONTRIBUTING", appended("CONTRIBUTING.md", "\nOne more line.\n")),
    Edit("the level of compression", replaced("calbench/traces/shards.py", "EL = 6", "EL = 3")),
    Edit("a kernel of the statistics", appended("calbench/stats/letters.py")),
    Edit("a comment in a table", appended("calbench/analysis/tables/games.py")),
    Edit("a comment in a fact", appended("calbench/facts/games.py")),
    Edit("a comment in a stage", appended("stages/play.py")),
    Edit("tasks ahead of a worker", replaced("calbench/pool/tasks.py", "AHEAD = 4", "AHEAD = 2")),
    Edit("a module that nobody imports", written("calbench/engine/unused.py", '"""Nothing."""\n')),
    Edit("another version of a library locked", replaced(
        "requirements.lock", "\nnumpy==", "\nnumpy==0."
    )),
    Edit("tables removed by hand", removed("data/tables"), restores=True),
    Edit("a stale table", written("data/tables/uniform/gone.csv", "gone\n"), restores=True),
    Edit("a damaged shard", flipped("data/traces/uniform/*.zst"), restores=True),
    Edit("a damaged suite", flipped("data/suites/uniform.jsonl"), restores=True),
    Edit("nothing but times of files", touched, restores=True),
)  # fmt: skip
"""The first eleven are where something wrong was kept once."""


def repro(tree: Path) -> list[str]:
    """Run ``dvc repro`` in a tree; return the stages that ran, but for the one that always does."""
    command = [sys.executable, "-m", "dvc", "repro"]
    ended = run(command, cwd=tree, env=environment(), capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError(ended.stdout + ended.stderr)
    ran = [line.split("'")[1] for line in ended.stdout.splitlines() if "Running stage" in line]
    return [stage for stage in ran if stage != "libraries"]


def bare(folder: Path) -> Path:
    """Return a small tree as of a fresh clone, with the settings of DVC that ours has."""
    tree = small_tree(folder)
    (tree / ".dvc").mkdir()
    config = (REPO / ".dvc/config").read_text()
    (tree / ".dvc/config").write_text(config.replace("[core]\n", "[core]\n    no_scm = true\n"))
    return tree


def prepared(folder: Path) -> Path:
    """Return a small tree with all outputs, as ``dvc repro`` left it."""
    tree = bare(folder)
    repro(tree)
    return tree


def digests(tree: Path) -> dict[str, str]:
    """Return the SHA-256 of every output of the stages."""
    outs = [out for stage in stages(tree) for out in outputs(tree, stage)]
    return {name: hashlib.sha256(data).hexdigest() for name, data in made(tree, outs).items()}


def tried(edit: Edit, base: Path) -> tuple[list[str], list[str]]:
    """Return the stages that an edit reran, and the outputs that are not those of a fresh tree."""
    with TemporaryDirectory() as place:
        kept = shutil.copytree(base, Path(place) / "kept", symlinks=True)
        edit.change(kept)
        ran = repro(kept)
        if edit.restores:
            return ran, different(kept, base)
        ignored = shutil.ignore_patterns("__pycache__", "build", "dvc.lock", ".dvc")
        fresh = shutil.copytree(kept, Path(place) / "fresh", ignore=ignored)
        for name in ("suites", "traces", "facts", "tables", "metrics"):
            shutil.rmtree(fresh / "data" / name)
        shutil.copytree(
            base / ".dvc", fresh / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp")
        )
        repro(fresh)
        return ran, different(kept, fresh)


def different(tree: Path, other: Path) -> list[str]:
    """Return the outputs that are not the same in two trees."""
    here, there = digests(tree), digests(other)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def kept_rows() -> dict[str, dict[str, str]]:
    """Return the rows of the table, by the name of the edit."""
    with TABLE.open(newline="") as file:
        return {row["edit"]: row for row in csv.DictReader(file)}


def write_rows(rows: Mapping[str, dict[str, str]]) -> None:
    """Write the table, in the order of the edits."""
    with TABLE.open("w") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows[edit.name] for edit in EDITS if edit.name in rows)


def main() -> None:
    """Try the edits that are named, or all of them, and put what they did into the table."""
    chosen = [edit for edit in EDITS if not sys.argv[1:] or edit.name in sys.argv[1:]]
    rows = kept_rows()
    with TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        base = prepared(Path(place) / "base")
        results = pool.map(lambda edit: tried(edit, base), chosen)
        for edit, (ran, unlike) in zip(chosen, results, strict=True):
            values = (edit.name, " ".join(ran), str(len(unlike)))
            rows[edit.name] = dict(zip(COLUMNS, values, strict=True))
            write_rows(rows)
            print(f"{edit.name}: reran {' '.join(ran) or 'nothing'}; {len(unlike)} differ")
            for name in unlike[:5]:
                print(f"  {name}")


if __name__ == "__main__":
    main()
