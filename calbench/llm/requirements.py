"""What this machine has to have before a model can be asked: packages, and keys by their names."""

from importlib.util import find_spec

from calbench.errors import ConfigError
from calbench.llm.model import ModelConfig

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
