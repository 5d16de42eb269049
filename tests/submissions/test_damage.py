"""Damaged submissions: whatever is in one of their files, a check ends and says so in a line."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from calbench.submissions.check import check
from calbench.submissions.folder import ENVIRONMENT, SUBMISSION, files_of
from tests.campaigns.mutations import BINARY, TEXT
from tests.conftest import Figures
from tests.effort import attacks
from tests.submissions.forging import listed

pytestmark = pytest.mark.heavy


def test_damage_is_refused_in_one_line(kept: Path, tmp_path: Path, figures: Figures) -> None:
    outcomes = Counter[str]()
    for number in range(attacks(400)):
        chance = random.Random(f"submission-{number}")
        folder = tmp_path / str(number) / "honest"
        shutil.copytree(kept / "honest", folder)
        name = chance.choice(sorted({path.parent for path in files_of(folder).values()}))
        path = chance.choice(sorted(each for each in name.iterdir() if each.is_file()))
        kinds = BINARY if path.suffix == ".zst" else TEXT
        before = path.read_bytes()
        path.write_bytes(after := kinds[chance.choice(sorted(kinds))](chance, before))
        is_diligent = path.name != SUBMISSION and chance.random() < 0.8
        if is_diligent:  # the list of files fits
            listed(folder)
        found = check(folder)
        shutil.rmtree(folder.parent)
        outcomes["refused" if found.problems else "held"] += 1
        is_said = path.name in {ENVIRONMENT, SUBMISSION}  # versions, name, contact: anybody's word
        assert found.problems or after == before or is_said, (number, path.name)
        assert (found.tier is None) == bool(found.problems)
        for problem in found.problems:
            assert problem.isprintable(), (number, path.name, problem)
            assert len(problem) < 2_000, (number, path.name, len(problem))
    figures("damaged submissions", outcomes)
    assert outcomes["refused"] > 0.9 * outcomes.total()
