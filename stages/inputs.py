"""What each part of a stage is made from: the dependencies of the stage, less what it leaves out.

``dvc.yaml`` is the only list of dependencies. Whatever is not left out here counts for every part,
so a new dependency makes everything again until somebody says that a part does not use it.
"""

from collections.abc import Mapping
from pathlib import Path

import grimp

from calbench.config.spec import RunSpec
from calbench.documents import read_yaml
from calbench.domain.canonical import digest
from calbench.protocols.registry import POLICIES
from calbench.traces.models import Team
from calbench.tree import TREE
from stages import paths
from stages.kept import contents
from stages.parts import USED, part

BY_EXPERIMENT = (paths.PARAMS, paths.SUITES, paths.TRACES, paths.FACTS)
"""Folders with a file or folder of each experiment."""

PROTOCOLS = "calbench.protocols"
REGISTRY = f"{PROTOCOLS}.registry"

OF_LANGUAGE = ("calbench/agents/prompts/", "data/cohorts/", "data/label_banks/")
"""Folders whose texts only teams that use language are given."""

MADE_HERE = ("build", "data")
"""Folders of the working directory; all others are where the code is."""


class Inputs:
    """The dependencies of a stage as they are now, with the digest of each file.

    Args:
        stage: its name in ``dvc.yaml``.
        tree: where the code is.
    """

    def __init__(self, stage: str, tree: Path = TREE) -> None:
        self._stage = stage
        self._files: dict[str, str] = {}
        for name in read_yaml(tree / "dvc.yaml")["stages"][stage]["deps"]:
            path = Path(name) if Path(name).parts[0] in MADE_HERE else tree / name
            for file, sha256 in contents(path).items():
                if not file.endswith(".pyc"):
                    self._files[(Path(name) / file).as_posix()] = sha256
        self._files.pop((paths.PARTS / f"{stage}.yaml").as_posix(), None)  # see `of`

    def of(self, spec: RunSpec) -> dict[str, str]:
        """Return the digests of everything that an experiment may be made from."""
        used = part(spec, self._stage) if self._stage in USED else {}
        own = {name: sha256 for name, sha256 in self._files.items() if is_own(name, spec.name)}
        return {**own, "parameters": digest(used)}

    def recipe(self, spec: RunSpec) -> str:
        """Return the digest of the same."""
        return digest(self.of(spec))


def is_own(file: str, experiment: str) -> bool:
    """Whether a file is of an experiment, or of none."""
    path = Path(file)
    for folder in BY_EXPERIMENT:
        if path.is_relative_to(folder):
            name = path.relative_to(folder).parts[0]
            return name in {experiment, f"{experiment}.jsonl", f"{experiment}.yaml"}
    return True


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
