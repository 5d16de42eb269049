"""What a machine lacks is named before anything is asked."""

import sys
from pathlib import Path
from typing import Any

import pytest

from calbench.config.composition import compose
from calbench.errors import ConfigError, PreflightError
from calbench.llm.client import Mode, Source, check_source
from calbench.llm.model import PACKAGES, check_requirements
from calbench.llm.preflight import preflight
from tests.cli.runs import SMALL, environment, python
from tests.llm.asking import model
from tests.llm.dialects.login import Credentials, Login, logged_in
from tests.llm.dialects.routes import ROUTES, with_keys
from tests.llm.dialects.server import speaking

VERTEX = ("claude-sonnet-4.6", "gemini-3-flash", "gemini-3.1-pro", "llama-4-maverick")
LACKING = "its provider vertex_ai needs a package that is not installed: pip install google-auth"


@pytest.fixture
def _without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no package of a provider be found, whether it is installed or not."""
    for module, _ in PACKAGES.values():
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:count]), None)


@pytest.mark.usefixtures("_without")
@pytest.mark.parametrize("provider", PACKAGES)
def test_missing_package_is_named_with_what_installs_it(provider: str) -> None:
    _, package = PACKAGES[provider]
    with pytest.raises(ConfigError, match=f"provider {provider} needs .*pip install {package}"):
        check_requirements(model(name=f"{provider}/some-model", api_base=None))


def test_package_that_is_there_and_a_server_of_ones_own_need_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_requirements(model())
    monkeypatch.setitem(PACKAGES, "vertex_ai", ("json.decoder", "nothing"))
    check_requirements(model(name="vertex_ai/some-model", api_base=None))


@pytest.mark.heavy
@pytest.mark.usefixtures("_without")
@pytest.mark.parametrize("mode", ["live", "record"])
def test_models_on_vertex_without_its_package_have_a_line_each(mode: Mode, tmp_path: Path) -> None:
    models = {name: next(iter(compose([f"model={name}"]).models.values())) for name in VERTEX}
    store = tmp_path / "run" / "replies.sqlite" if mode == "record" else None
    source = Source(mode=mode, store=store)
    with pytest.raises(PreflightError) as caught:
        preflight(models, source)

    assert [line.split(": ")[0] for line in caught.value.lines] == [f"model {m}" for m in VERTEX]
    assert all(LACKING in line for line in caught.value.lines)
    with pytest.raises(ConfigError, match=f"model claude-sonnet-4.6: {LACKING}"):
        check_source(models, source)
    assert source.totals.failed == 0  # nothing was tried
    assert not list(tmp_path.rglob("*.sqlite"))


BLOCKED = """
import sys
sys.modules["google"] = None
from calbench.cli.main import main
main()
"""


@pytest.mark.heavy
@pytest.mark.parametrize("more", [[], ["preflight=false"]])
def test_command_says_so_in_one_line_and_plays_nothing(more: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = [*SMALL, "teams=[my-model]", "model=gemini-3-flash", *more, f"out={out}"]
    ended = python("-c", BLOCKED, *arguments, env=environment())

    assert ended.status == 2
    assert "Traceback" not in ended.err
    assert sum(LACKING in line for line in ended.error_lines) == 1
    assert not out.exists()


class DefaultCredentialsError(Exception):
    """Called like the one of `google-auth`."""


class RefreshError(Exception):
    """Called like the one of `google-auth`."""

    retryable = False


def _raising(error: Exception) -> Login:
    def default(**_: Any) -> tuple[Credentials, str | None]:
        raise error

    return default


@pytest.mark.heavy
@pytest.mark.parametrize("name", VERTEX)
@pytest.mark.parametrize(
    ("kind", "login", "said"),
    [
        ("none", _raising(DefaultCredentialsError("no")), "no Google credentials can be read; run"),
        ("old", _raising(RefreshError("no")), "does not accept the credentials that are found"),
        ("placeless", lambda **_: (Credentials(), None), "set VERTEXAI_PROJECT"),
    ],
)
def test_login_that_google_does_not_take_is_told_before_anything_is_sent(
    name: str, kind: str, login: Login, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_keys(monkeypatch)
    logged_in(monkeypatch, login)
    monkeypatch.setenv("VERTEXAI_PROJECT", f"project-{kind}")  # LiteLLM keeps one login for each
    if kind == "placeless":
        monkeypatch.delenv("VERTEXAI_PROJECT")
    route = ROUTES[name]
    with speaking(route.dialect, monkeypatch) as server, pytest.raises(PreflightError) as caught:
        preflight({name: route.model()}, Source(mode="live"))

    (line,) = caught.value.lines
    assert line.startswith(f"model {name}: ")
    assert said in line
    assert not server.asked
