"""What each part of a stage is made from: the dependencies of the stage, less what it leaves out.

``dvc.yaml`` is the only list of dependencies. Whatever is not left out here counts for every part,
so a new dependency makes everything again until somebody says that a part does not use it.
"""

from pathlib import Path

from calbench.config.spec import RunSpec
from calbench.documents import read_yaml
from calbench.domain.canonical import digest
from calbench.tree import TREE
from stages import paths
from stages.kept import contents
from stages.parts import USED, part

BY_EXPERIMENT = (paths.PARAMS, paths.SUITES, paths.TRACES, paths.FACTS)
"""Folders with a file or folder of each experiment."""

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
