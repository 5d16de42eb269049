from calbench.analysis.sums import NOTHING, PlayerSums, SumBook, SumTable
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.estimates import ScenarioSum
from calbench.metrics.seats import Player

PLAYER = Player("x", "protocol", uses_language=False, model=None, settings_digest="")

SUMS = st.builds(
    ScenarioSum, st.floats(-1e6, 1e6, allow_nan=False), st.integers(min_value=0, max_value=99)
)
GAMES = st.dictionaries(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abcdef")),
    st.dictionaries(st.sampled_from([1, 2, 3]), SUMS),
)


@given(games=GAMES)
def test_tables_give_back_what_they_took(
    games: dict[tuple[str, str], dict[int, ScenarioSum]],
) -> None:
    numbers: dict[str, int] = {}
    tables = {team: SumTable[int](numbers) for team in "xyz"}
    for (team, scenario), sums in games.items():
        tables[team].put(scenario, sums)
    for team, table in tables.items():
        assert set(table.scenarios) == {s for t, s in games if t == team}
        for scenario in "abcdef":
            for label in (1, 2, 3):
                known = games.get((team, scenario), {}).get(label)
                assert table.get(scenario, label) == known


def test_player_adds_up_over_teams() -> None:
    sums = PlayerSums[str](PLAYER, {})
    sums.put(("uniform", 0, "red", "s1"), {"a": ScenarioSum(1.5, 2)})
    sums.put(("uniform", 1, "blue", "s1"), {"a": ScenarioSum(2.0, 3), "b": ScenarioSum(4.0, 1)})
    sums.put(("uniform", 1, "blue", "s2"), {})
    assert sums.of("s1", "a") == ScenarioSum(3.5, 5)
    assert sums.of("s1", "b") == ScenarioSum(4.0, 1)
    assert sums.of("s2", "a") == NOTHING
    assert sums.total("a") == ScenarioSum(3.5, 5)
    assert sums.labels == {"a", "b"}
    assert sums.scenarios == {"s1", "s2"}
    assert sums.teams == "red blue"


def test_book_lists_scenarios_that_add_nothing() -> None:
    book = SumBook[str]()
    book.add(("uniform", 0, "red", "s2"), PLAYER, {"a": ScenarioSum(1.0, 1)})
    book.add(("uniform", 0, "red", "s1"), PLAYER, {})
    ((setting, players, scenarios),) = book.settings()
    assert (setting, scenarios) == ("uniform", ["s1", "s2"])
    assert [player.of("s1", "a") for player in players] == [NOTHING]
