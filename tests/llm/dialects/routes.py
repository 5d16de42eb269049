"""The models of ``conf/model`` and the dialects in which they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pytest

from calbench.config.composition import compose
from calbench.llm.model import ModelConfig
from tests.llm.dialects.chat import DeepSeek, OpenAI, OpenRouter, VertexLlama
from tests.llm.dialects.contents import Gemini, VertexGemini
from tests.llm.dialects.dialect import KEY, Dialect
from tests.llm.dialects.login import logged_in
from tests.llm.dialects.messages import Anthropic, VertexClaude


@cache
def _composed(*overrides: str) -> ModelConfig:
    (config,) = compose(list(overrides)).models.values()
    return config


@dataclass(frozen=True)
class Route:
    """A model, as the command line names it, and the dialect of its provider."""

    overrides: Sequence[str]
    dialect: Dialect

    def model(self, *more: str) -> ModelConfig:
        """Return the model's configuration, with further overrides."""
        return _composed(*self.overrides, *more)


def _direct(model: str, name: str, key: str) -> tuple[str, ...]:
    return f"model={model}", f"model.name={name}", f"model.api_key_env={key}"


ROUTES = {
    "gpt-5.4-mini": Route(["model=gpt-5.4-mini"], OpenAI()),
    "deepseek-v4-pro": Route(["model=deepseek-v4-pro"], OpenRouter()),
    "qwen3.6-plus": Route(["model=qwen3.6-plus"], OpenRouter()),
    "claude-sonnet-4.6": Route(["model=claude-sonnet-4.6"], VertexClaude()),
    "gemini-3-flash": Route(["model=gemini-3-flash"], VertexGemini()),
    "gemini-3.1-pro": Route(["model=gemini-3.1-pro"], VertexGemini()),
    "llama-4-maverick": Route(["model=llama-4-maverick"], VertexLlama()),
    "anthropic": Route(
        _direct("claude-sonnet-4.6", "anthropic/claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
        Anthropic(),
    ),
    "gemini": Route(
        (
            *_direct("gemini-3-flash", "gemini/gemini-3-flash-preview", "GEMINI_API_KEY"),
            "model.logprobs=false",  # there LiteLLM knows of no alternatives to a token
        ),
        Gemini(),
    ),
    "deepseek": Route(
        _direct("deepseek-v4-pro", "deepseek/deepseek-v4-pro", "DEEPSEEK_API_KEY"), DeepSeek()
    ),
}
"""By name: the paper's seven as they are configured, and three at their makers' own address."""


def with_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the key of every provider, and log in at Google."""
    for provider in ("OPENAI", "OPENROUTER", "ANTHROPIC", "GEMINI", "DEEPSEEK"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)
    monkeypatch.setenv("VERTEXAI_PROJECT", "dry-run")
    monkeypatch.setenv("VERTEXAI_LOCATION", "global")
    logged_in(monkeypatch)
