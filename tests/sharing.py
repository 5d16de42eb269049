"""Folders that all processes of a test run share, each made once, by whoever needs it first."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

TOGETHER = {
    "tests/llm/test_dialects.py": "LiteLLM",
    "tests/llm/test_litellm_transport.py": "LiteLLM",
}
"""Files of tests that one process runs, and why: what they import takes seconds."""


def shared_folder(factory: pytest.TempPathFactory, worker_id: str, name: str) -> Path:
    """Return a folder that is the same in all processes of this test run."""
    own = factory.getbasetemp()
    return (own if worker_id == "master" else own.parent) / name


def once(root: Path, make: Callable[[], object]) -> None:
    """Make what belongs into a folder, or wait until another process has made it there."""
    root.mkdir(exist_ok=True)
    with FileLock(root / "lock"):
        if not (root / "whole").exists():
            make()
            (root / "whole").touch()
