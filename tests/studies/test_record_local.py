import json
from hashlib import sha256
from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.errors import ConfigError, FileError, OutputError
from calbench.llm.replies.record import Record
from calbench.llm.replies.shards import open_replies
from calbench.scenarios.storage import read_suite, write_suite
from tests.cli.runs import REPO
from tests.llm.stub_server import Answer, Asked, StubServer, served, serving
from tests.studies.local_model import ModelFile, find_model, read_models
from tests.studies.record_local import Recorded, cohort_of, forecast, record

COHORTS = REPO / "data" / "cohorts"

SERVER = {
    "owned_by": "llama-cpp-python 0",
    "threads": 2,
    "context": 8192,
    "at_once": 2,
    "conversations": 6,
}


def model_of(data: bytes) -> ModelFile:
    digest = sha256(data).hexdigest()
    return ModelFile(
        players=("smollm2",),
        name="Small",
        parameters=135,
        file="small.gguf",
        sha256=digest,
        bytes=len(data),
        origin="a test",
        licence="Apache-2.0",
    )


def experiment(folder: Path, *overrides: str) -> RunSpec:
    """A cohort's experiment with one scenario, whose replies are to be in a folder."""
    suite = folder / "suite.jsonl"
    write_suite(suite, read_suite(COHORTS / "smollm2" / "suite.jsonl")[:1])
    here = (f"suite.path={suite}", f"replies.path={folder}/spoken/replies", "teams=[smollm2]")
    return compose(["+experiment=smollm2", *here, "preflight=false", *overrides])


def recorded(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "spoken/recording-smollm2.json").read_text())
    return found


@pytest.mark.heavy
def test_more_games_ask_only_for_what_is_new(tmp_path: Path) -> None:
    model, store = model_of(b"weights"), tmp_path / "build.sqlite"
    with serving() as stub:
        record(experiment(tmp_path, "replicates=1"), model, stub.url, SERVER, store, 2)
        first = len(stub.asked)
        with open_replies(tmp_path / "spoken/replies") as replies:
            before = {each.key: each for each in replies.records()}
        assert len(before) == first
        about = recorded(tmp_path)
        assert (about["games"], about["replies"], about["sha256"]) == (1, first, model.sha256)
        assert (about["tokens_read"], about["tokens_written"]) == (10 * first, 2 * first)
        assert about["server"] == SERVER["owned_by"]
        assert (about["prompts"], about["temperature"]) == ("v2", 0.2)

        store.unlink()  # as after a whole recording
        record(experiment(tmp_path, "replicates=3"), model, stub.url, SERVER, store, 2)
        assert len(stub.asked) == 3 * first
    with open_replies(tmp_path / "spoken/replies") as replies:
        after = {each.key: each for each in replies.records()}
    assert len(after) == 3 * first
    assert before.items() <= after.items()
    about = recorded(tmp_path)
    assert about["games"] == 3

    other = {**SERVER, "owned_by": "another"}
    with serving() as stub:
        record(experiment(tmp_path, "replicates=3"), model, stub.url, other, tmp_path / "c.sqlite")
        assert not stub.asked
    assert recorded(tmp_path) == about


@pytest.mark.heavy
def test_each_model_of_a_cohort_is_recorded_by_itself(tmp_path: Path) -> None:
    small = model_of(b"weights")
    large = small.model_copy(update={"players": ("qwen-1.5b",), "name": "Large"})
    teams = "teams=[smollm2,qwen-large,silent]"
    spec = experiment(tmp_path, teams, "replicates=1")
    kept: dict[str, Record] = {}
    for model in (small, large):
        with serving() as stub:
            record(spec, model, stub.url, SERVER, tmp_path / f"{model.name}.sqlite")
        with open_replies(tmp_path / "spoken/replies") as replies:
            found = {each.key: each for each in replies.records()}
        assert kept.items() < found.items()
        assert len(stub.asked) == len(found) - len(kept)
        kept = found
    assert {path.name for path in (tmp_path / "spoken").glob("*.json")} == {
        "recording-smollm2.json", "recording-qwen-1.5b.json",
    }  # fmt: skip

    stranger = small.model_copy(update={"players": ("nobody",)})
    with serving() as stub, pytest.raises(ConfigError, match="no team seats Small"):
        record(spec, stranger, stub.url, SERVER, tmp_path / "c.sqlite")


def test_model_with_a_variant_is_recorded_too(tmp_path: Path) -> None:
    model, name = model_of(b"weights"), "smollm2-nosy"
    seats = "[{player: small, variant: {name: nosy, version: v2}}, silent, silent]"
    of_both = "{small: ${teams.smollm2.players.smollm2}, silent: {protocol: silent}}"
    nosy = f"+teams.{name}={{players: {of_both}, seats: {seats}}}"
    spec = experiment(tmp_path, "replicates=1", nosy)
    with serving() as stub:
        record(spec, model, stub.url, SERVER, tmp_path / "build.sqlite")
        assert any("Find Out the Reasons" in str(asked) for asked in stub.asked)


class BreakingServer(StubServer):
    """Answers so many requests, and then none."""

    whole = 5

    def answer_to(self, _asked: Asked) -> Answer:
        return Answer() if len(self.asked) < self.whole else Answer(status=400)


@pytest.mark.heavy
def test_recording_that_broke_off_goes_on_where_it_was_and_leaves_the_old_one(
    tmp_path: Path,
) -> None:
    model, store = model_of(b"weights"), tmp_path / "build.sqlite"
    spec = experiment(tmp_path, "replicates=1")
    with serving() as stub:
        record(spec, model, stub.url, SERVER, store)
        whole = len(stub.asked)
    shards = {path: path.read_bytes() for path in (tmp_path / "spoken").rglob("*.json*")}
    more, begun = experiment(tmp_path, "replicates=2"), tmp_path / "again.sqlite"
    breaking = BreakingServer()
    with served(breaking), pytest.raises(OutputError, match="server failed"):
        record(more, model, breaking.url, SERVER, begun)
    assert {path: path.read_bytes() for path in (tmp_path / "spoken").rglob("*.json*")} == shards
    with serving() as stub:
        record(more, model, stub.url, SERVER, begun)
        assert len(stub.asked) == whole - BreakingServer.whole
    assert recorded(tmp_path)["replies"] == 2 * whole
    assert not begun.with_suffix(".hours.json").exists()


def test_every_cohort_says_which_model_spoke(tmp_path: Path) -> None:
    folders = [folder for folder in sorted(COHORTS.iterdir()) if folder.is_dir()]
    models = [model for folder in folders for model in read_models(folder)]
    players = [player for model in models for player in model.players]
    assert len(set(players)) == len(players)
    assert len({model.sha256 for model in models}) == 3
    assert {model.licence for model in models} == {"Apache-2.0"}
    with pytest.raises(FileError, match=r"models\.json"):
        read_models(tmp_path)
    (tmp_path / "models.json").write_text('[{"name": 1}]')
    with pytest.raises(FileError, match=r"models\.json: "):
        read_models(tmp_path)


def test_file_has_to_be_the_model_of_the_recorded_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llama_cpp.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    file, models = tmp_path / "mine.gguf", [model_of(b"weights"), model_of(b"other")]
    with pytest.raises(ConfigError, match=r"mine\.gguf: is not a file"):
        find_model(models, file)
    for data in (b"weight", b"Weights"):
        file.write_bytes(data)
        with pytest.raises(ConfigError, match=r"is none of the models .*\(small\.gguf, 7 bytes; "):
            find_model(models, file)
    file.write_bytes(b"other")
    assert find_model(models, file)[::2] == (models[1], file)


@pytest.mark.heavy
def test_experiments_of_one_cohort_are_recorded_together(tmp_path: Path) -> None:
    smollm2, everyone = (compose([f"+experiment={name}"]) for name in ("smollm2", "smollm2-v1"))
    assert cohort_of([smollm2, everyone]) == Path("data/cohorts/smollm2")
    with pytest.raises(ConfigError, match="several cohorts"):
        cohort_of([smollm2, experiment(tmp_path)])
    with pytest.raises(ConfigError, match="replays no recorded replies"):
        cohort_of([compose(["+experiment=smollm2", "replies.mode=record"])])


def test_forecast_grows_with_the_games() -> None:
    before = Recorded(games=10, replies=200, hours=1.0)
    expected = "about 600 replies, 3.0 hours and 12 MB"
    assert forecast(before, 30, 1 / 200, 20_000) == expected
    assert not forecast(Recorded(), 30, 1 / 200, 20_000)
