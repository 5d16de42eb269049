"""Models as configuration names them, and what a machine lacks to ask them."""

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from calbench.config.composition import compose
from calbench.errors import ConfigError, PreflightError
from calbench.files import first_problem
from calbench.llm.client import Source
from calbench.llm.model import PACKAGES, Endpoint, ModelConfig, check_requirements, full_name
from calbench.llm.preflight import preflight
from calbench.llm.prices import read_prices
from tests.cli.runs import SMALL, environment, python
from tests.llm.asking import model
from tests.llm.dialects.login import Credentials, Login, logged_in
from tests.llm.dialects.routes import ROUTES, with_keys
from tests.llm.dialects.server import speaking

CONF = Path(__file__).resolve().parents[2] / "conf"
FILES = sorted((CONF / "model").glob("*.yaml"))

TABLE_6 = {
    "claude-sonnet-4.6": "claude-sonnet-4-6",
    "deepseek-v4-pro": "deepseek/deepseek-v4-pro",
    "gemini-3-flash": "gemini-3-flash-preview",
    "gemini-3.1-pro": "gemini-3.1-pro-preview",
    "gpt-5.4-mini": "gpt-5.4-mini",
    "llama-4-maverick": "llama-4-maverick-17b-128e-instruct-maas",
    "qwen3.6-plus": "qwen/qwen3.6-plus",
}


@pytest.mark.heavy
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_holds_exactly_the_known_keys_and_is_named_like_its_player(path: Path) -> None:
    keys = yaml.safe_load(path.read_text())
    is_yours = path.stem == "local"
    assert (keys["name"] is None) == is_yours

    named = ["model.name=vllm/my-own"] if is_yours else []
    (config,) = compose([f"model={path.stem}", *named]).models.values()

    assert set(keys) == set(ModelConfig.model_fields)
    assert config.player == ("my-own" if is_yours else path.stem)
    assert config.spec.sampling.max_tokens == keys["max_tokens"]
    assert config.timeout_s == keys["timeout_s"]


@pytest.mark.parametrize(("player", "identifier"), TABLE_6.items())
def test_models_of_the_paper_have_their_identifiers_and_a_price(
    player: str, identifier: str
) -> None:
    config = ModelConfig.model_validate(
        yaml.safe_load((CONF / "model" / f"{player}.yaml").read_text())
    )

    assert config.spec.model.endswith(f"/{identifier}")
    price = read_prices(CONF / "prices.yaml").models[config.spec.model]
    assert 0 < price.input < price.output
    assert "check before spending" in price.source


@pytest.mark.parametrize(
    ("name", "api_base", "expected"),
    [
        ("my-model", "http://localhost:1/v1", "openai/my-model"),
        ("meta-llama/Llama-3.1-8B", "http://localhost:1/v1", "openai/meta-llama/Llama-3.1-8B"),
        ("openai/my-model", "http://localhost:1/v1", "openai/my-model"),
        ("ollama_chat/llama3", "http://localhost:1", "ollama_chat/llama3"),
        ("openai", "http://localhost:1/v1", "openai/openai"),
        ("gpt-5.4-mini", None, "gpt-5.4-mini"),
    ],
)
def test_name_gets_a_provider_when_only_an_address_is_given(
    name: str, api_base: str | None, expected: str
) -> None:
    assert full_name(name, api_base) == expected


def test_address_and_key_are_no_part_of_what_defines_replies() -> None:
    here = model(api_base="http://localhost:1/v1", api_key_env="ONE", concurrency=1)
    there = model(api_base="https://example.org/v1", api_key_env="TWO", timeout_s=1.0)

    assert here.spec == there.spec
    assert here.spec != model(temperature=0.5).spec


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({"api_key_env": "sk-canary-0123456789"}, "api_key_env: expected the name"),
        ({"api_key_env": "canary0123456789abcdef"}, "api_key_env: expected the name"),
        ({"api_base": "http://me:canary@example.org/v1"}, "api_base: expected http"),
        ({"api_base": "https://example.org/v1?key=canary"}, "api_base: expected http"),
        ({"api_base": "localhost:8000/v1"}, "api_base: expected http"),
        ({"api_base": "http://[canary"}, "api_base: expected http"),
    ],
)
def test_secret_in_the_wrong_place_is_refused_and_not_repeated(
    keys: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        model(**keys)

    line = first_problem(caught.value)
    assert line.startswith(complaint)
    assert "canary" not in line


@pytest.mark.parametrize(
    "keys",
    [
        {"max_tokens": 0},
        {"concurrency": 0},
        {"timeout_s": float("inf")},
        {"player": "a/b"},
        {"requests_per_minute": 0.0},
        {"key": "x"},
        {"name": ""},
        {"reasoning_effort": "a b"},
    ],
)
def test_impossible_value_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model(**keys)


def test_key_is_read_from_the_environment_or_its_variable_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint = Endpoint(api_key_env="CALBENCH_TEST_KEY")
    monkeypatch.delenv("CALBENCH_TEST_KEY", raising=False)

    with pytest.raises(ConfigError, match="CALBENCH_TEST_KEY is not set"):
        endpoint.key()

    monkeypatch.setenv("CALBENCH_TEST_KEY", " abc\n")
    assert endpoint.key() == "abc"
    assert Endpoint().key() is None


def test_prices_that_do_not_fit_name_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("date: 2026-01-01\nmodels:\n  a: {input: -1, output: 1, source: x}\n")

    with pytest.raises(ConfigError, match=r"prices.yaml: models.a.input"):
        read_prices(path)


def test_only_models_on_vertex_are_somewhere() -> None:
    assert model(name="vertex_ai/one", api_base=None, location="us-east5").location == "us-east5"
    for keys in ({"location": "us-east5"}, {"name": "vertex_ai/one", "location": "us/east"}):
        with pytest.raises(ValidationError):
            model(**keys)


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
