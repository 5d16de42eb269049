"""Versions of what a number depends on; the page *Versions* says what raises which."""

from collections.abc import Mapping

from calbench.agents.prompts.templates import versions as prompt_versions
from calbench.code import PACKAGE_VERSION
from calbench.domain.rules import RULES_VERSION
from calbench.metrics.measure import METRICS_VERSION
from calbench.scenarios.models import SCHEMA_VERSION
from calbench.traces.models import TRACE_SCHEMA_VERSION

SUITES: Mapping[str, str] = {
    "uniform": "91490890a3b710cb4ad735bc745e51f5cf781503c384db3594c150b76c5ea4c5",
    "varied": "16a7a90c90a8767ff50f18301a48f25e15d600201279b78065e413343bf190d2",
}
"""SHA-256 of the canonical suites as ``dvc repro`` writes them; a test compares the release's."""

SHORT = 12
"""Digits of a digest in a line of text [C]: as many as tell some hundred suites apart."""


def versions() -> dict[str, str | int]:
    """Return the versions of package, rules, metrics, prompts and file formats, by name."""
    return {
        "metrics": METRICS_VERSION,
        "package": PACKAGE_VERSION,
        "prompts": " ".join(prompt_versions()),
        "rules": RULES_VERSION,
        "suite_schema": SCHEMA_VERSION,
        "trace_schema": TRACE_SCHEMA_VERSION,
    }


def version_line() -> str:
    """Return all versions and the digests of the canonical suites in one line."""
    found = versions()
    suites = " ".join(f"{name} {digest[:SHORT]}" for name, digest in SUITES.items())
    return (
        f"calbench {found['package']} (rules {found['rules']}, metrics {found['metrics']}, "
        f"prompts {found['prompts']}, suites {suites}, suite schema {found['suite_schema']}, "
        f"trace schema {found['trace_schema']})"
    )
