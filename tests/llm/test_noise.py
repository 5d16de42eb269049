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
    print("{CANARY}", file=sys.stderr)
    sys.stderr.writelines(["{CANARY}"])
    warnings.warn("{CANARY}")
    logging.getLogger("litellm.odd").error("{CANARY}")
    logging.getLogger("asyncio").error("{CANARY}")
    logging.getLogger("another").error("{CANARY}")
class Late:
    def __del__(self):
        raise ValueError("{CANARY}")
"""


@pytest.fixture
def library() -> types.ModuleType:
    """Code that takes itself for LiteLLM's."""
    module = types.ModuleType("litellm.stub")
    exec(THEIRS, vars(module))  # noqa: S102 - our own text
    return module


@pytest.mark.filterwarnings("default")
def test_their_words_are_counted_and_not_shown(
    library: types.ModuleType,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever configures logging afterwards disables the loggers there are.
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    told()
    with hushed(), hushed():
        library.chatter()
        library.Late()
        thread = threading.Thread(target=library.chatter)
        thread.start()
        thread.join()
        print("ours")
        print("ours too", file=sys.stderr)

    said = told() or ""
    shown = "".join(capfd.readouterr())
    assert CANARY not in shown + said + caplog.text
    assert "ours\n" in shown
    assert "ours too\n" in shown
    for kind in (
        "prints of litellm: 6",
        "log messages of litellm: 2",
        "log messages of asyncio: 2",
    ):
        assert kind in said
    assert "warnings of litellm (UserWarning): " in said
    assert "errors at the end of objects (ValueError): 1" in said
    assert told() is None


def test_everything_is_as_before_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr, warnings.showwarning, sys.unraisablehook
    with hushed():
        kept = sys.stderr
        assert kept.isatty() == before[1].isatty()

    assert before == (sys.stdout, sys.stderr, warnings.showwarning, sys.unraisablehook)
    kept.write("late\n")  # who kept the stream can still write
    assert capfd.readouterr().err == "late\n"


@pytest.mark.filterwarnings("default")
def test_words_and_logs_of_the_user_are_shown(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    told()
    with hushed():
        with pytest.warns(UserWarning, match="ours"):
            warnings.warn("ours", stacklevel=1)
        logging.getLogger("mine").error("ours")

    assert "ours" in caplog.text
    assert told() is None
    assert capfd.readouterr().out == ""
