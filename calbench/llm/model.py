"""A model as a configuration names it: what defines its replies, where and how it is asked."""

import os
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from calbench.domain.canonical import canonical_json
from calbench.errors import ConfigError
from calbench.llm.completion import (
    SECRET_NAME,
    SECRET_VALUE,
    ModelSpec,
    Options,
    ResponseFormat,
    Sampling,
)

_NAMES = """
anthropic azure azure_ai bedrock cerebras cohere dashscope databricks deepinfra deepseek
fireworks_ai gemini github groq hosted_vllm huggingface llamafile lm_studio mistral moonshot
nebius novita nvidia_nim ollama ollama_chat openai openai_like openrouter perplexity replicate
sambanova scaleway together_ai vertex_ai vllm watsonx xai xinference zai
"""

PROVIDERS = frozenset(_NAMES.split())
"""Prefixes by which a model's name says its provider. A name without one that comes with an
address is taken for OpenAI-compatible, as all the common servers are [C]."""

FEWEST_SECRET = 8
"""Characters of the shortest text that is taken for a key: `none` and `EMPTY` are words [C]."""

Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Endpoint(BaseModel):
    """Where a model is reached and how fast it is asked. Never part of a reply's key.

    Attributes:
        api_base: URL of an OpenAI-compatible server; absent: the provider's own.
        api_key_env: name of the environment variable that holds the key; never the key.
            Absent: LiteLLM looks where the provider's keys usually are, unless there is an
            ``api_base``, which is then asked without a key.
        location: region of Google Cloud, for models on Vertex AI, which are not all in one; absent:
            that of ``VERTEXAI_LOCATION``.
        concurrency: most calls under way at once, of all games together.
        requests_per_minute: most calls per minute; absent: no limit.
        tokens_per_minute: most tokens per minute, input and the most that the reply may hold, as
            providers count; absent: no limit.
        timeout_s: seconds after which an attempt has failed.
        max_attempts: attempts for one reply before the game ends unscored.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    api_base: str | None = None
    api_key_env: str | None = None
    location: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,64}$")] | None = None
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 8
    requests_per_minute: Amount | None = None
    tokens_per_minute: Amount | None = None
    timeout_s: Amount = 120.0
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 5

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        """Refuse a key where its name belongs; the message must not repeat what was written."""
        if self.api_key_env is not None and not _is_variable(self.api_key_env):
            raise PydanticCustomError(
                "endpoint",
                "api_key_env: expected the name of an environment variable, not a key",
            )
        if self.api_base is not None and not _is_plain_url(self.api_base):
            raise PydanticCustomError(
                "endpoint",
                "api_base: expected http(s)://HOST[:PORT][/PATH], without user, key or query",
            )
        return self

    def key(self) -> str | None:
        """Return the key itself, from the environment.

        Raises:
            ConfigError: naming the variable if it is not set.
        """
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ConfigError(
                f"the environment variable {self.api_key_env} is not set; it should hold the key "
                "of the model's provider"
            )
        return key


def _is_variable(name: str) -> bool:
    """Tell a variable's name from a key: keys are not written in capitals throughout."""
    return name.isascii() and name.isidentifier() and name == name.upper() and len(name) <= 64


def holds_secret(value: object, name: str = "") -> bool:
    """Whether a value, at any depth, looks like a key or password; a variable's name does not."""
    if isinstance(value, Mapping):
        return any(holds_secret(each, str(key)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return any(holds_secret(each, name) for each in value)
    if not isinstance(value, str) or not value or _is_variable(value):
        return False
    return bool(SECRET_VALUE.search(value) or SECRET_NAME.search(name))


def _is_plain_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain and port != 0


_REPLIES = tuple(name for name in ModelSpec.model_fields if name not in {"model", "sampling"})
"""Keys of a model that :class:`ModelSpec` has as they are."""


def _bare(name: str) -> str:
    return re.sub("[-_]", "", name).lower()


_NO_OPTIONS = """
account account_id additional_drop_params api_base api_key audio best_of callbacks candidate_count
deployment_id drop_params enable_search engine failure_callback fallbacks function_call functions
include_server_side_tool_invocations logprobs max_completion_tokens max_gen_len max_new_tokens
max_output_tokens max_retries max_token_count max_tokens max_tokens_to_sample messages mock_delay
mock_response mock_tool_calls modalities model model_id models n n_predict num_predict num_retries
num_return_sequences organization organization_id parallel_tool_calls plugins prediction project
project_id reasoning_effort response_format response_modalities safety_identifier search_parameters
seed service_tier space_id speed stream stream_options success_callback temperature timeout
tool_choice tools top_logprobs top_p user user_id watsonx_credentials web_search_options
wx_credentials
"""
NO_OPTIONS = frozenset(_NO_OPTIONS.split())
"""Names that no option has at any depth, in whatever case and with or without underscores: those
of other keys, and of what would ask another model, as somebody else, for another kind of reply, for
more than one or for a dearer one. What else is LiteLLM's own is refused when it is loaded."""

_BARE_NO_OPTIONS = frozenset(map(_bare, NO_OPTIONS))

# e.g. whole "base_url", "aws_region_name"; not "web_search_options", "extrapolate"
ELSEWHERE = re.compile(
    r"(aws|azure|gcs|s3|vertex|extra)[-_].+|(.+_)?(base|endpoint|host|proxy|url)"
)
"""Names of where and as whom a model is asked, which is no part of a reply's key."""


class ModelConfig(Endpoint):
    """One file of ``conf/model/``, flat: one key is one override.

    ``player`` names the model in teams and tables. ``name`` is the identifier as LiteLLM
    spells it. ``prompts`` is the version that it is asked with where a run names none; absent: the
    run's. ``options`` are the provider's own parameters, as LiteLLM takes them, in JSON; absent:
    none. The other keys are those of :class:`Sampling`, :class:`ModelSpec` and :class:`Endpoint`.
    """

    player: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    name: Annotated[str, Field(pattern=r"^[!-~]+$", max_length=200)]
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    reflection_max_tokens: Annotated[int, Field(ge=1)] | None = None
    seed: int | None = None
    reasoning_effort: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    response_format: ResponseFormat = "none"
    logprobs: bool = False
    replicate: Annotated[int, Field(ge=0)] = 0
    options: Options = None
    is_tied: bool = True
    prompts: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")] | None = None

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if self.location is not None and not self.name.startswith("vertex_ai/"):
            raise PydanticCustomError("location", "location: only models on Vertex AI have one")
        return self

    @model_validator(mode="after")
    def _sends_what_is_the_providers(self) -> Self:
        if self.options is None:
            return self
        for name in _names(self.options):
            if _bare(name) in _BARE_NO_OPTIONS or ELSEWHERE.fullmatch(name):
                raise PydanticCustomError(
                    "options", "options: {name} is not the provider's own", {"name": name}
                )
        written = canonical_json(self.options)
        for name, value in os.environ.items():
            is_key = name == self.api_key_env or name.upper().endswith(("_KEY", "_TOKEN"))
            key = value.strip()
            if is_key and len(key) >= FEWEST_SECRET and canonical_json(key)[1:-1] in written:
                raise PydanticCustomError(
                    "options", "options: hold the key of {name}; leave it there", {"name": name}
                )
        return self

    @property
    def spec(self) -> ModelSpec:
        """What defines the model's replies."""
        return ModelSpec(
            model=full_name(self.name, self.api_base),
            sampling=Sampling(**{name: getattr(self, name) for name in Sampling.model_fields}),
            **{name: getattr(self, name) for name in _REPLIES},
        )


def _names(options: object) -> Iterator[str]:
    """Yield the names of options at every depth."""
    if isinstance(options, dict):
        yield from options
        options = list(options.values())
    if isinstance(options, list):
        for each in options:
            yield from _names(each)


def full_name(name: str, api_base: str | None) -> str:
    """Return a model's name with its provider: of a bare server, ``openai/<name>``.

    A server whose model is itself called ``openai/...`` wants ``openai/openai/...``.
    """
    has_provider = "/" in name and name.split("/", 1)[0] in PROVIDERS
    return name if has_provider or api_base is None else f"openai/{name}"


PACKAGES = {
    "bedrock": ("boto3", "boto3"),
    "vertex_ai": ("google.auth", "google-auth"),
    "vllm": ("vllm", "vllm"),
}
"""Module and package that LiteLLM needs beyond its own, by provider; they are in no lock."""


def check_requirements(config: ModelConfig) -> None:
    """Refuse a model whose provider cannot be asked from this machine.

    Raises:
        ConfigError: naming the package or the environment variable that is missing.
    """
    provider = config.spec.model.split("/", 1)[0]
    module, package = PACKAGES.get(provider, (None, ""))
    if module is not None and not _is_installed(module):
        raise ConfigError(
            f"its provider {provider} needs a package that is not installed: pip install {package}"
        )
    config.key()


def _is_installed(module: str) -> bool:
    """Whether a module can be imported; it is not."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its parent is missing, or was imported in an odd way
        return False
