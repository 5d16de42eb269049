"""Games in shards."""

import shutil
from pathlib import Path

import pytest

from tests.traces.kept_games import game, keep


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with seven games in a shard of four frames."""
    folder = tmp_path_factory.mktemp("whole") / "traces"
    keep(folder, [game(0), game(1)], [game(2)], [game(3), game(4), game(5)], [game(6)])
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(whole, tmp_path / "run/traces"))
