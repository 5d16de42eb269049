from pathlib import Path

from calbench.analysis.versions import SUITES, versions
from calbench.release.manifest import read_manifest

RELEASE = Path(__file__).resolve().parents[2] / "data" / "release"


def test_digests_of_canonical_suites_are_those_of_the_release() -> None:
    found = read_manifest(RELEASE).suites
    assert {name: found[f"{name}.jsonl"] for name in SUITES} == SUITES


def test_release_names_its_versions() -> None:
    assert read_manifest(RELEASE).versions == versions()
