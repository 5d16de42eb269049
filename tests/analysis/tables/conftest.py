"""Facts of games that were played, for all tables whose numbers are computed a second time."""

import pytest

from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from tests.analysis.tables.sample import TEAMS, played
from tests.facts.measured import facts_of_games


@pytest.fixture(scope="session")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """Write them once; tables only read."""
    return facts_of_games(tmp_path_factory.mktemp("facts"), played(), TEAMS, SCORES)
