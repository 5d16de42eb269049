"""Which modules play for a team, of those on which all games depend."""

from collections.abc import Mapping

import grimp

from calbench.protocols.registry import POLICIES
from calbench.traces.models import Team

PROTOCOLS = "calbench.protocols"
REGISTRY = f"{PROTOCOLS}.registry"

OF_LANGUAGE = ("calbench/agents/prompts/", "data/cohorts/", "data/label_banks/")
"""Folders whose texts only teams that use language are given."""


class Players:
    """Which modules of protocols play for a team, by what they import."""

    def __init__(self) -> None:
        graph = grimp.build_graph("calbench", "stages", cache_dir=None)
        modules = {name: make.__module__ for name, make in POLICIES.items()}
        for imported in graph.find_modules_directly_imported_by(REGISTRY):
            if any(f"{module}.".startswith(f"{imported}.") for module in modules.values()):
                graph.remove_import(importer=REGISTRY, imported=imported)
        self._shared = frozenset(graph.find_upstream_modules("stages.play"))
        self._own = {
            name: frozenset({module, *graph.find_upstream_modules(module)})
            for name, module in modules.items()
        }

    def inputs(self, team: Team, files: Mapping[str, str]) -> dict[str, str]:
        """Return what a team's games are made from, of what its experiment is made from."""
        policies = {seat.player for seat in team.seats if not seat.uses_language}
        if not policies <= self._own.keys():
            return dict(files)
        used = self._shared.union(*(self._own[name] for name in policies))
        packages = {module.rpartition(".")[0] for module in used}
        return {
            file: sha256
            for file, sha256 in files.items()
            if (team.uses_language or not _is_text_of_language(file))
            and (_module(file) is None or _module(file) in used | packages)
        }


def _module(file: str) -> str | None:
    """Return the module that a file of the protocols is; of all other files ``None``."""
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    is_protocol = file.endswith(".py") and name.startswith(f"{PROTOCOLS}.")
    return name if is_protocol else None


def _is_text_of_language(file: str) -> bool:
    return file.startswith(OF_LANGUAGE) and not file.endswith(".py")
