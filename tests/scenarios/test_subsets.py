"""Subsets: parts of one suite, the smaller within the larger, thirds in balance."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import ConfigError
from calbench.scenarios.difficulty import TERTILES, tertile_choice
from calbench.scenarios.models import DifficultyEntry, Scenario, Tertile
from calbench.scenarios.storage import published_suite, suite_names
from calbench.scenarios.suites import chosen_ids, subset_order
from tests.factories import make_scenario

PLAIN = make_scenario(["..", ".."], [(0, 1)])


def scored(name: str, tertile: Tertile | None, setting: str = "s") -> Scenario:
    difficulty = DifficultyEntry(
        feasible_count=1, feasible_fraction=0.5, tertile=tertile, reason=None
    )
    return PLAIN.model_copy(
        update={"scenario_id": name, "setting": setting, "difficulty": difficulty}
    )


def bare(count: int, setting: str = "s") -> list[Scenario]:
    """Return a suite without difficulty, as files from elsewhere may be."""
    return [
        PLAIN.model_copy(update={"scenario_id": f"{setting}-{place:03d}", "setting": setting})
        for place in range(count)
    ]


def drawn(count: int, setting: str = "s") -> list[Scenario]:
    """Return a suite with tertiles, as they are drawn."""
    chosen = tertile_choice([1.0] * count, count)
    return [
        scored(f"{setting}-{place:03d}", tertile, setting)
        for place, (_, tertile) in enumerate(chosen)
    ]


sizes = st.integers(1, 100)
suites = sizes.map(drawn) | sizes.map(bare)


def third_of(suite: Sequence[Scenario], name: str) -> str:
    """Return the third of a scenario, counted independently: sizes differ by one, larger first."""
    place = next(n for n, each in enumerate(suite) if each.scenario_id == name)
    size, rest = divmod(len(suite), 3)
    first = size + (rest > 0)
    second = first + size + (rest > 1)
    return TERTILES[(place >= first) + (place >= second)]


@given(suites)
def test_order_names_every_scenario_once(suite: list[Scenario]) -> None:
    assert sorted(subset_order(suite)) == [each.scenario_id for each in suite]


@given(suites)
def test_thirds_of_every_subset_differ_by_at_most_one(suite: list[Scenario]) -> None:
    counts: Counter[str] = Counter(dict.fromkeys(TERTILES, 0))
    for name in subset_order(suite):
        counts[third_of(suite, name)] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


@given(st.lists(sizes, min_size=1, max_size=3), st.data())
def test_smaller_subset_is_part_of_every_larger_one_in_each_setting(
    counts: list[int], data: st.DataObject
) -> None:
    whole = [each for n, count in enumerate(counts) for each in drawn(count, f"setting{n}")]
    larger = data.draw(st.integers(1, min(counts)))
    smaller = data.draw(st.integers(1, larger))
    few, many = chosen_ids(whole, smaller), chosen_ids(whole, larger)
    assert few <= many <= chosen_ids(whole, None)
    for size, ids in ((smaller, few), (larger, many)):
        per_setting = Counter(each.setting for each in whole if each.scenario_id in ids)
        assert set(per_setting.values()) == {size}


@given(st.lists(st.sampled_from([*TERTILES, None]), min_size=1, max_size=30))
def test_any_tertiles_of_a_file_give_an_order(tertiles: list[Tertile | None]) -> None:
    suite = [scored(f"x{place:02d}", tertile) for place, tertile in enumerate(tertiles)]
    order = subset_order(suite)
    assert sorted(order) == [each.scenario_id for each in suite]
    if None not in tertiles:
        left = Counter(map(str, tertiles))
        counts = Counter(dict.fromkeys(left, 0))
        for name in order:
            counts[str(tertiles[int(name[1:])])] += 1
            growing = [counts[each] for each in left if counts[each] < left[each]]
            assert not growing or max(counts.values()) - min(growing) <= 1


@given(suites, st.integers(0, 99))
def test_order_of_a_setting_does_not_depend_on_other_settings(
    suite: list[Scenario], place: int
) -> None:
    others = bare(7, "other")
    count = min(len(suite), 7)
    cut = place % (len(suite) + 1)
    mixed = [*suite[:cut], *others, *suite[cut:]]
    own = {name for name in chosen_ids(mixed, count) if name.startswith("s-")}
    assert own == set(subset_order(suite)[:count])


def test_order_by_hand() -> None:
    assert subset_order(bare(9)) == [f"s-{n:03d}" for n in (1, 4, 7, 0, 3, 6, 2, 5, 8)]
    assert subset_order(bare(4)) == [f"s-{n:03d}" for n in (0, 2, 3, 1)]
    tertiles: list[Tertile] = ["hard", "easy", "hard", "medium"]
    suite = [scored(f"x{n}", tertile) for n, tertile in enumerate(tertiles)]
    assert subset_order(suite) == ["x1", "x3", "x0", "x2"]


@pytest.mark.parametrize("name", [each for each in suite_names() if each in {"uniform", "varied"}])
def test_pilot_of_a_canonical_suite_is_the_middle_of_each_third(name: str) -> None:
    suite = published_suite(name)
    assert sorted(chosen_ids(suite, 3)) == [f"{name}-{n:03d}" for n in (17, 22, 27)]
    assert len(chosen_ids(suite, 45)) == 45


def test_ids_are_chosen_over_all_settings() -> None:
    whole = [*bare(3, "a"), *bare(3, "b")]
    assert chosen_ids(whole, ("b-002", "a-000")) == {"a-000", "b-002"}


@pytest.mark.parametrize(
    ("subset", "line"),
    [
        (4, "subset=4: setting b has 3 scenarios; choose at most 3"),
        (
            ("a-004", "b-02"),
            "subset: there is no scenario 'b-02'; the nearest are b-002, a-002, b-000",
        ),
        (
            ("a\x1b[2J",),
            r"subset: there is no scenario 'a\x1b[2J'; the nearest are a-002, a-000, a-001",
        ),
    ],
)
def test_what_the_suites_do_not_have_is_refused_in_one_line(
    subset: int | tuple[str, ...], line: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        chosen_ids([*bare(5, "a"), *bare(3, "b")], subset)
    assert str(refusal.value) == line
