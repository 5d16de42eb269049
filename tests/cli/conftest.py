"""One small suite and one finished run for all tests of the commands; never written to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.runs.play import execute
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suite
from tests.cli.runs import SMALL, Ended
from tests.sharing import once, shared_folder

Command = Callable[..., Ended]


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    return build_suite(compose(SMALL).suite)


@pytest.fixture(scope="session")
def suite(scenarios: tuple[Scenario, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suite") / "small.jsonl"
    write_suite(path, scenarios)
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    root = shared_folder(tmp_path_factory, worker_id, "finished")
    out = root / "run"
    once(root, lambda: execute(compose([*SMALL, f"out={out}"])))
    return out


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process: all of it but the interpreter's start."""

    def run(*arguments: str) -> Ended:
        status = answer(arguments)
        said = capsys.readouterr()
        return Ended(status, said.out, said.err)

    return run
