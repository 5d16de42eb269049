"""The stages of ``dvc.yaml``, run one by one on a tiny experiment in a folder of their own."""

import csv
import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from calbench.analysis.scoring import facts_of
from calbench.config.composition import compose
from calbench.config.spec import PromptsSpec, RunSpec
from calbench.errors import ConfigError
from calbench.facts.games import SCORES
from calbench.runs.play import execute
from calbench.scenarios.storage import read_suite
from calbench.traces.catalog import Catalog, trace_paths
from stages import paths
from stages.compose import PARTS, role
from stages.paths import write_parts
from tests.cli.runs import REPO, SMALL, environment, files, python, read_params

pytestmark = pytest.mark.heavy

ORDER = ("generate", "play", "calibrate", "analyze")

Stage = Callable[..., None]


def tiny(*overrides: str) -> RunSpec:
    return compose([*SMALL, "name=tiny", "suite.setting=tiny", *overrides])


def give(*specs: RunSpec) -> None:
    """Write what the stages are given of experiments."""
    paths.LIBRARIES.parent.mkdir(exist_ok=True)
    paths.LIBRARIES.write_text("{}")
    for stage, part in PARTS.items():
        write_parts(stage, {spec.name: part(spec) for spec in specs})


@pytest.fixture
def run_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return what ``python -m stages.<name>`` does in a folder that holds the parts of `tiny`."""
    monkeypatch.chdir(tmp_path)
    give(tiny())
    shutil.copytree(REPO / "data/audit_sample", "data/audit_sample")

    def run(*names: str) -> None:
        monkeypatch.setattr("sys.argv", ["stage"])
        for name in names:
            stage = importlib.import_module(f"stages.{name}")
            stage.paths.run_stage(stage.main, ())

    return run


def test_compose_stage_writes_what_the_command_composes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for stale in ("params/gone.yaml", "parts/gone.json"):
        (tmp_path / "build" / stale).parent.mkdir(parents=True)
        (tmp_path / "build" / stale).write_text("{}")
    importlib.import_module("stages.compose").main()
    assert not Path("build/parts/gone.json").exists()
    found = {path.stem: read_params(path) for path in Path("build/params").iterdir()}
    assert len(found) == 26
    for name, spec in found.items():
        assert spec == compose([f"+experiment={name}"])
        assert spec.site is not None
    for stage in PARTS:
        given = json.loads(paths.part(stage).read_bytes())
        assert list(given) == list(json.loads(paths.part("publish").read_bytes()))
        assert set(given) == set(found)
    orders = [role(found[name]).order for name in given]
    assert orders == sorted(orders)


def test_compose_stage_refuses_what_is_for_runs_of_ones_own() -> None:
    stage = importlib.import_module("stages.compose")
    assert stage.ours(tiny("replicates=2")) == tiny("replicates=2")
    own = tiny().model_copy(update={"prompts": PromptsSpec(version="v1", path="mine")})
    with pytest.raises(ConfigError, match=r"tiny.yaml: prompts.path is for runs"):
        stage.ours(own)


def test_an_experiment_plays_the_part_of_its_suite_that_it_names(run_stage: Stage) -> None:
    give(tiny("suite.num_scenarios=3", "subset=[tiny-002]"))
    run_stage("generate")
    (scenario,) = read_suite(paths.suite("tiny"))
    assert scenario.scenario_id == "tiny-002"


def test_stages_play_and_measure_every_replicate(run_stage: Stage, tmp_path: Path) -> None:
    spec = tiny("teams=[imap,example-agent]", "replicates=2")
    give(spec)
    run_stage(*ORDER)
    lines = (tmp_path / "data/tables/tiny/games.csv").read_text().splitlines()
    rows = list(csv.DictReader(lines))
    once = [row["scenario_id"] for row in rows if row["team"] == "imap"]
    again = [(row["scenario_id"], row["replicate"]) for row in rows if row["team"] != "imap"]
    assert len(once) == spec.suite.num_scenarios
    assert again == [(name, replicate) for name in once for replicate in ("0", "1")]


@pytest.mark.slow
def test_stages_leave_nothing_of_an_experiment_that_is_no_more(
    run_stage: Stage, tmp_path: Path
) -> None:
    run_stage(*ORDER)
    first = files(tmp_path)
    give(tiny(), tiny("name=other"))
    run_stage(*ORDER)
    assert {*files(tmp_path)} > {*first}
    give(tiny())
    run_stage(*ORDER)
    assert files(tmp_path) == first


def test_calibrate_stage_measures_what_the_configuration_says(
    run_stage: Stage, tmp_path: Path
) -> None:
    run_stage("generate", "play")
    for spec in (tiny(), tiny("facts=scores"), tiny("judge=scripted")):
        give(spec)
        run_stage("calibrate")
        # Nobody is asked for chances here, so there is no file beside the reflections'; what
        # readers can infer is beside the scores of agents.
        wanted = [
            fact
            for fact in facts_of(spec.facts, spec.judge)
            if not fact.beside or fact.name == "bits_bands"
        ]
        assert set(files(tmp_path / "data/facts/tiny")) == {f"{f.name}.parquet" for f in wanted}
    assert set(SCORES) <= set(facts_of("scores")) <= set(facts_of())
    assert set(facts_of("all")) <= set(facts_of("all", "scripted"))


def test_stages_write_the_same_bytes_again_and_leave_nothing_of_an_earlier_run(
    run_stage: Stage, tmp_path: Path
) -> None:
    run_stage(*ORDER)
    first = files(tmp_path)
    kept = {"audit_sample", "libraries.json", "parts"}
    made = {"facts", "metrics", "suites", "tables", "traces"}
    assert {name.split("/")[1] for name in first} == kept | made
    for stale in (
        *("tables/tiny/gone.csv", "tables/tiny/privacy/x.csv", "facts/tiny/gone.parquet"),
        *("traces/tiny/gone/tiny-000.json", "traces/tiny/imap/tiny-777.json"),
        "traces/tiny/imap/.x.part",
    ):
        path = tmp_path / "data" / stale
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    run_stage(*ORDER)
    assert files(tmp_path) == first


def test_analyze_stage_brings_experiments_together(run_stage: Stage, tmp_path: Path) -> None:
    run_stage(*ORDER)
    made = files(tmp_path / "data/tables/summary")
    assert set(made) >= {"leaderboard.csv", "difficulty.csv", "regret_by_team.csv"}
    board = made["leaderboard.csv"].decode().splitlines()
    assert board[1].startswith("tiny,tiny,all channels,imap,protocol,3,0,3,")
    assert (tmp_path / "data/tables/audit_sample.csv").is_file()
    assert files(tmp_path / "data/metrics/tiny") == files(tmp_path / "data/tables/tiny/metrics")


def games(folder: Path) -> dict[str, bytes]:
    """Return every game of a folder, in files or in shards."""
    catalog = Catalog()
    return {path.relative_to(folder).as_posix(): catalog.read(path) for path in trace_paths(folder)}


def test_stages_and_command_write_the_same_tables_and_traces(
    run_stage: Stage, tmp_path: Path
) -> None:
    run_stage(*ORDER)
    execute(tiny(f"out={tmp_path / 'out'}"))
    assert files(tmp_path / "data/tables/tiny") == files(tmp_path / "out/tables")
    staged, run = games(tmp_path / "data/traces/tiny"), games(tmp_path / "out/traces")
    assert {name: json.loads(trace) for name, trace in staged.items()} == {
        name: json.loads(trace) for name, trace in run.items()
    }


def test_trace_has_the_same_bytes_when_its_suite_was_written_and_read(
    run_stage: Stage, tmp_path: Path
) -> None:
    run_stage("generate", "play")
    execute(tiny(f"out={tmp_path / 'out'}"))
    assert games(tmp_path / "data/traces/tiny") == games(tmp_path / "out/traces")


def test_generate_stage_writes_a_whole_suite(run_stage: Stage, tmp_path: Path) -> None:
    run_stage("generate")
    scenarios = read_suite(tmp_path / "data/suites/tiny.jsonl")
    assert [scenario.scenario_id for scenario in scenarios] == ["tiny-000", "tiny-001", "tiny-002"]
    assert all(scenario.oracle and scenario.difficulty for scenario in scenarios)


@pytest.mark.parametrize("stage", ORDER)
def test_stage_ends_with_one_line_when_its_inputs_are_missing(
    run_stage: Stage,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    stage: str,
) -> None:
    paths.part(stage).unlink()
    with pytest.raises(SystemExit) as end:
        run_stage(stage)
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: build/parts/{stage}.json: cannot be read")
    assert {name.split("/")[1] for name in files(tmp_path)} == {
        "audit_sample",
        "libraries.json",
        "parts",
    }


def test_games_of_other_teams_are_not_measured(
    run_stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    run_stage("generate", "play")
    give(tiny("teams=[imap,tell-all]"))
    with pytest.raises(SystemExit):
        run_stage("calibrate")
    assert "not the games of" in capsys.readouterr().err


def test_workers_of_this_machine_are_named_in_a_file_of_its_own(
    run_stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "executor.yaml").write_text("kind: clouds\n")
    with pytest.raises(SystemExit):
        run_stage("generate")
    assert capsys.readouterr().err.startswith("error: executor.yaml: kind: ")


@pytest.mark.heavy
def test_process_runs_a_stage_in_the_folder_it_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    give(tiny())
    (tmp_path / "data/cohorts").mkdir(parents=True)
    env = environment(PYTHONPATH=str(REPO))
    ended = python("-m", "stages.generate", cwd=tmp_path, env=env)
    assert ended.status == 0, ended.err
    assert set(files(tmp_path / "data")) == {"suites/tiny.jsonl"}
