"""What libraries write while models are asked is counted, never shown; ours is shown."""

import logging
import sys
import threading
import types
import warnings

import pytest

from calbench.llm.noise import hushed, told

CANARY = "sk-canary-0123456789"

THEIRS = f"""
import logging, sys, warnings
def chatter():
    print("{CANARY}")
    sys.stderr.writelines(["{CANARY}"])
    warnings.warn("{CANARY}")
    for log in ("litellm.odd", "LiteLLM odd", "another"):
        logging.getLogger(log).error("{CANARY}")
"""


@pytest.fixture
def library() -> types.ModuleType:
    """Code that takes itself for LiteLLM's."""
    module = types.ModuleType("litellm.stub")
    exec(THEIRS, vars(module))  # noqa: S102 - our own text
    return module


class Late:
    def __del__(self) -> None:
        raise ValueError(CANARY)


def test_their_words_are_counted_and_ours_are_shown(
    library: types.ModuleType,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever configures logging afterwards disables the loggers there are.
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    monkeypatch.setattr(warnings, "showwarning", lambda text, *_, **__: sys.stderr.write(str(text)))
    told()
    with warnings.catch_warnings(), hushed(), hushed():
        warnings.simplefilter("always")
        library.chatter()
        thread = threading.Thread(target=library.chatter)
        thread.start()
        thread.join()
        logging.getLogger("asyncio").error(CANARY)
        Late()
        print("ours")
        warnings.warn("ours too", stacklevel=1)
        logging.getLogger("mine").error("ours as well")

    said, shown = told() or "", "".join(capfd.readouterr())
    assert CANARY not in shown + said + caplog.text
    assert "ours\n" in shown
    assert "ours too" in shown
    assert "ours as well" in caplog.text
    for kind in (
        "prints of litellm: 6",
        "log messages of litellm: 4",
        "log messages of LiteLLM: 2",
        "log messages of asyncio: 1",
        "errors at the end of objects (ValueError): 1",
    ):
        assert kind in said
    assert told() is None


def test_everything_is_as_before_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr, logging.getLogRecordFactory(), sys.unraisablehook
    with hushed():
        kept = sys.stderr
        assert kept.isatty() == before[1].isatty()

    assert before == (sys.stdout, sys.stderr, logging.getLogRecordFactory(), sys.unraisablehook)
    kept.write("late\n")  # who kept the stream can still write
    assert capfd.readouterr().err == "late\n"
