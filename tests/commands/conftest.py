"""One small suite and one finished run for all tests of the commands; never written to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calbench.__main__ import main
from calbench.config import compose
from calbench.run import execute
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suite
from tests.commands.runs import SMALL, Ended

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
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("finished") / "run"
    execute(compose([*SMALL, f"out={out}"]))
    return out


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process: all of it but the interpreter's start."""

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["calbench", *arguments])
        status: object = 0
        try:
            main()
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        return Ended(status if isinstance(status, int) else 1, said.out, said.err)

    return run
