"""Where a run's replies come from, by its settings."""

from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.errors import ConfigError
from calbench.runs.source import reply_source
from tests.cli.runs import SMALL

MODEL = (*SMALL, "teams=[my-model]", "model.name=openai/x", "out=here")


@pytest.mark.parametrize(
    ("mode", "path", "store"),
    [
        ("live", None, None),
        ("record", None, Path("here/replies.sqlite")),
        ("record", "r.sqlite", Path("r.sqlite")),
        ("replay", "/r.sqlite", Path("/r.sqlite")),
    ],
)
def test_store_is_where_the_settings_say(mode: str, path: str | None, store: Path | None) -> None:
    given = [] if path is None else [f"replies.path={path}"]
    source = reply_source(compose([*MODEL, f"replies.mode={mode}", *given]))
    assert source is not None
    assert (source.mode, source.store) == (mode, store)


def test_place_for_replies_that_nobody_keeps_is_refused() -> None:
    with pytest.raises(ConfigError, match="mode live keeps nothing"):
        reply_source(compose([*MODEL, "replies.mode=live", "replies.path=r.sqlite"]))
