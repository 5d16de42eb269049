"""Strangers' files, read by every command: they name code, paths, templates and shells in vain."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.errors import OutputError
from calbench.runs.play import execute
from tests.cli.runs import REPO, SMALL, environment, python
from tests.extensions.distributions import install
from tests.factories import as_written

pytestmark = pytest.mark.heavy

MODULE = "calbench_stolen"
"""A module that is installed, with entry points of each group, and that notes where it ran."""

NAMED = "stolen"
"""What its entry points are called."""

TEXTS = (
    f"__import__('{MODULE}')",
    "{{ cycler.__init__.__globals__.os.system('touch {canary}') }}",
    "{% include '/etc/passwd' %} ${oc.env:HOME} ${jndi:x} %(x)s {0.__class__}",
    "!!python/object/apply:os.system ['touch {canary}']",
    "$(touch {canary}) `touch {canary}` ; touch {canary} | sh",
    "=HYPERLINK(\"http://host.invalid\") @SUM(1) +cmd|' /C touch {canary}'!A0",
    "(a+)+$ [ ( * \\",
    '--8<-- "/etc/passwd"\n\n# heading\n\n<script>hacked = 1</script>',
)
"""Texts for every field that takes any; the canary is a file that none of them may make."""


class Watched(NamedTuple):
    """What a command did."""

    arguments: list[str]
    status: int
    imported: list[str]
    started: list[str]
    written: list[str]


Edit = Callable[[dict[str, Any]], None]


def _custom(trace: dict[str, Any]) -> None:
    settings = {"agent": f"{MODULE}:run", "arguments": {"path": "${oc.env:HOME}"}}
    for number, seat in enumerate(trace["config"]["team"]["seats"]):
        seat.update(kind="custom", player=f"own{number}", settings=settings)


def _entry_point(trace: dict[str, Any]) -> None:
    settings = {"agent": NAMED, "arguments": {}, "distribution": f"{MODULE} 1.0"}
    for number, seat in enumerate(trace["config"]["team"]["seats"]):
        seat.update(kind="custom", player=f"own{number}", settings=settings)


def _protocol(trace: dict[str, Any]) -> None:
    settings = {"distribution": f"{MODULE} 1.0", "path": "canary"}
    for seat in trace["config"]["team"]["seats"]:
        seat.update(kind="protocol", player=NAMED, settings=settings)


def _variant(trace: dict[str, Any]) -> None:
    variant = {"name": NAMED, "version": "v1", "digest": "0" * 64, "is_nosy": False}
    for seat in trace["config"]["team"]["seats"]:
        seat.update(variant=variant)


def _model(trace: dict[str, Any]) -> None:
    for number, seat in enumerate(trace["config"]["team"]["seats"]):
        settings = {"model": f"{MODULE}/run", "api_base": "http://host.invalid"}
        seat.update(kind="model", player=f"model{number}", settings=settings)


def _versions(trace: dict[str, Any]) -> None:
    trace["config"].update(prompt_version="../../v1", label_bank="../../../v1")


def _evidence(trace: dict[str, Any]) -> None:
    sent = next(event for event in trace["events"] if event["type"] == "dm_sent")
    sent["content"] = {"kind": "own", "name": MODULE, "values": [1]}


def _team(trace: dict[str, Any]) -> None:
    trace["config"]["team"]["team_id"] = "../../escaped"


def _scenario(trace: dict[str, Any]) -> None:
    trace["scenario"]["scenario_id"] = "/escaped"


def _setting(trace: dict[str, Any]) -> None:
    trace["scenario"]["setting"] = "../escaped"


EDITS: dict[str, Edit] = {
    edit.__name__.strip("_"): edit
    for edit in (
        *(_custom, _entry_point, _protocol, _variant, _model),
        *(_versions, _evidence, _team, _scenario, _setting),
    )
}


def _spoil(value: Any, texts: Iterator[str]) -> None:
    """Put hostile texts where a trace takes any."""
    for each in value if isinstance(value, list) else value.values():
        if isinstance(each, dict | list):
            _spoil(each, texts)
    if isinstance(value, dict):
        for name in {"text", "thinking", "justification", "detail", "reason"} & set(value):
            if isinstance(value[name], str):
                value[name] = next(texts)


def _texts(canary: Path) -> Iterator[str]:
    while True:
        yield from (text.replace("{canary}", str(canary)) for text in TEXTS)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Watched]]:
    """Read strangers' files with every command, in a folder of theirs that is the current one."""
    root = tmp_path_factory.mktemp("trust")
    canary = root / "canary"
    mine = root / "run"
    execute(
        compose(
            [
                *SMALL,
                "suite.num_scenarios=1",
                "teams=[mixed-scripted]",
                "channels=dm",
                f"out={mine}",
            ]
        )
    )
    (played,) = (mine / "traces").rglob("*.json")
    theirs = root / "theirs"
    for name, edit in EDITS.items():
        trace = json.loads(played.read_text())
        edit(trace)
        _spoil(trace["events"], _texts(canary))
        path = theirs / name / "traces" / "their-team" / "game.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(as_written(trace))
    _write_others(theirs, canary)
    _install(root / "installed", canary)
    commands = [*_commands(theirs, root / "out"), *_others(theirs, root / "out")]
    (root / "commands.json").write_text(json.dumps(commands))
    (root / "tmp").mkdir()
    places = os.pathsep.join((str(root / "installed"), str(REPO)))
    ended = python(
        *("-P", "-m", "tests.cli.watched", root / "commands.json", root / "notes.json"),
        cwd=theirs,
        env=environment(PYTHONPATH=places, TMPDIR=str(root / "tmp"), PYTHONDONTWRITEBYTECODE="1"),
    )
    assert ended.status == 0, ended.err[-2000:]
    assert "Traceback" not in ended.err
    return root, [Watched(**each) for each in json.loads((root / "notes.json").read_text())]


def _install(folder: Path, canary: Path) -> None:
    package = folder / MODULE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"open({str(canary)!r}, 'w').close()\nrun = print\n")
    groups = ("protocols", "agents", "prompts", "evidence")
    points = {f"calbench.{group}": {NAMED: f"{MODULE}:run"} for group in groups}
    install(folder, MODULE, "1.0", points)


def _write_others(theirs: Path, canary: Path) -> None:
    """Write a suite, replies and messages, and modules called like libraries."""
    texts = [next(_texts(canary)), *TEXTS]
    labels = [{"label_id": text, "private_label": text, "terms": texts, "tier": text}
              for text in texts]  # fmt: skip
    lines = [json.dumps({"text": text, "labels": labels}) for text in texts]
    (theirs / "messages.jsonl").write_text("\n".join(lines) + "\n")
    (theirs / "replies").mkdir()
    (theirs / "replies" / "messages-00.jsonl").write_text(
        json.dumps({"digest": "../../../x", "role": "user", "content": TEXTS[1]}) + "\n"
    )
    (theirs / "suite.jsonl").write_text(json.dumps({"scenario_id": "../../x", "path": "/"}) + "\n")
    for name in ("numpy", "mkdocs", "yaml", "multiprocessing", "litellm", "pyarrow", MODULE):
        (theirs / f"{name}.py").write_text(f"open({str(canary)!r}, 'w').close()\n")


def _commands(theirs: Path, out: Path) -> Iterator[list[str]]:
    for name in EDITS:
        run = str(theirs / name)
        yield ["verify", run]
        yield ["rescore", run, f"out={out / name / 'rescored'}"]
        yield ["judge", run, f"out={out / name / 'judged'}"]
        yield ["compare", run, str(theirs / "model"), f"out={out / name / 'compared'}"]
        yield ["scan", run, f"out={out / name / 'scanned'}"]
        yield ["matchmake", run, f"out={out / name / 'teams' / 'next.yaml'}"]
    yield ["view", str(theirs / "custom"), "serve=false", f"out={out / 'pages'}", "jobs=2"]
    yield ["view", str(theirs / "setting"), "serve=false", f"out={out / 'other'}", "jobs=1"]


def _others(theirs: Path, out: Path) -> Iterator[list[str]]:
    yield ["audit", str(theirs / "messages.jsonl"), str(out / "audited.jsonl")]
    yield ["replies", "merge", str(out / "merged"), str(theirs / "replies")]
    yield ["replies", "export", str(theirs / "replies"), str(out / "exported")]
    yield ["replies", "stats", str(theirs / "replies")]
    yield [*SMALL[-1:], f"suite.path={theirs / 'suite.jsonl'}", f"out={out / 'played'}"]
    yield ["estimate", f"suite.path={theirs / 'suite.jsonl'}", f"out={out / 'estimated'}"]


def test_no_file_reaches_code_or_a_shell(watched: tuple[Path, list[Watched]]) -> None:
    root, commands = watched
    assert not (root / "canary").exists()
    for each in commands:
        assert not [name for name in each.imported if MODULE in name], each.arguments
        assert not [name for name in each.imported if name == NAMED], each.arguments


def test_only_the_builder_of_pages_is_started(watched: tuple[Path, list[Watched]]) -> None:
    _, commands = watched
    started = [(each.arguments[0], line) for each in commands for line in each.started]
    assert {name for name, _ in started} <= {"view"}
    assert all("'-P', '-m', 'mkdocs'" in line for _, line in started)


def test_nothing_is_written_beside_out(watched: tuple[Path, list[Watched]]) -> None:
    root, commands = watched
    for each in commands:
        places = {Path(name) for name in each.written} - {Path(os.devnull), root / "theirs"}
        beside = [
            place
            for place in places
            if not any(place.is_relative_to(root / name) for name in ("out", "tmp"))
        ]
        assert beside == [], each.arguments


def test_what_can_be_read_is_read(watched: tuple[Path, list[Watched]]) -> None:
    """The attacks reach their readers: a campaign of refusals alone would prove little."""
    _, commands = watched
    status = {tuple(Path(part).name for part in each.arguments[:2]): each.status
              for each in commands}  # fmt: skip
    for name in ("custom", "entry_point", "protocol", "model", "variant"):
        assert status["rescore", name] == 0, name
    assert {name for name in EDITS if status["matchmake", name] == 0} == {"versions"}
    assert not (watched[0] / "out" / "custom" / "teams").exists()
    assert status["view", "custom"] == 0
    assert status["audit", "messages.jsonl"] == 0


def test_modules_of_the_current_folder_replace_no_library(tmp_path: Path) -> None:
    installed = tmp_path / "bin" / "calbench"
    installed.parent.mkdir()
    main = "from calbench.cli.main import main\n\nif __name__ == '__main__':\n    main()\n"
    installed.write_text(main)
    theirs, canary = tmp_path / "theirs", tmp_path / "canary"
    execute(compose([*SMALL, "suite.num_scenarios=2", "teams=[silent]", f"out={theirs}"]))
    _write_others(theirs, canary)
    install(theirs, MODULE, "1.0", {"calbench.protocols": {NAMED: f"{MODULE}:run"}})
    (theirs / "mine.py").write_text(
        "from calbench.agents.example import Announcer\n\n\nclass Mine(Announcer):\n    pass\n"
    )
    mine = "+teams.mine={players: {mine: {agent: 'mine:Mine'}}, seats: [mine]}"
    env = environment(PYTHONPATH=str(REPO), PYTHONDONTWRITEBYTECODE="1")
    for command in (
        ["view", ".", "serve=false", f"out={tmp_path / 'pages'}", "jobs=2"],
        ["matchmake", ".", f"out={tmp_path / 'teams' / 'next.yaml'}"],
        [*SMALL, "suite.num_scenarios=2", "teams=[]", mine, f"out={tmp_path / 'run'}", "jobs=2"],
    ):
        ended = python(installed, *command, cwd=theirs, env=env)
        assert ended.status == (2 if command[0] == "matchmake" else 0), ended.err
        assert not canary.exists(), command


def test_links_in_a_strangers_folder_lead_no_write_out_of_it(tmp_path: Path) -> None:
    run, mine = tmp_path / "run", tmp_path / "mine"
    execute(compose([*SMALL, "suite.num_scenarios=1", "teams=[silent]", f"out={run}"]))
    (trace,) = (run / "traces").rglob("*.json")
    trace.unlink()
    mine.mkdir()
    (mine / "kept").write_text("kept")
    link = trace.with_name(f".{trace.name}.part")
    link.symlink_to(mine / "kept")
    with pytest.raises(OutputError, match="is a link, and nothing is written there"):
        execute(compose([*SMALL, "suite.num_scenarios=1", "teams=[silent]", f"out={run}"]))
    link.unlink()
    for name in ("site", ".site.part"):
        (run / name).symlink_to(mine)
        assert answer(["view", str(run), "serve=false", "jobs=1"]) == 2
        (run / name).unlink()
    assert {path.name: path.read_text() for path in mine.iterdir()} == {"kept": "kept"}


def test_command_to_copy_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("a b; touch stolen")
    run = folder / "run"
    run.mkdir(parents=True)
    assert answer([*SMALL, "suite.num_scenarios=1", "teams=[mixed-scripted]", f"out={run}"]) == 0
    said = capsys.readouterr().out.splitlines()
    (shown,) = [line for line in said if line.startswith("Show")]
    assert shlex.split(shown)[-1] == str(run)
    file = folder / "teams" / "next.yaml"
    assert answer(["matchmake", str(run), f"out={file}"]) == 0
    said = capsys.readouterr().err.splitlines()
    (play,) = [line for line in said if line.startswith("play it with")]
    assert shlex.split(play.partition(": ")[2])[-3:] == ["--config-dir", str(folder), "teams=next"]
