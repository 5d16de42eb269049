from collections import Counter

import pytest

from calbench.domain.randomness import Stream, derived_seed, stream


def test_stream_draws_the_same_numbers_on_every_platform() -> None:
    drawn = stream(7, "errands", 0)
    assert [drawn.below(100) for _ in range(8)] == [67, 29, 6, 17, 52, 59, 10, 6]


def test_stream_shuffles_the_same_way_on_every_platform() -> None:
    drawn = stream(7, "errands", 0)
    assert drawn.shuffled(range(8)) == [3, 4, 1, 6, 7, 0, 2, 5]
    assert drawn.sample("abcdef", 3) == ["e", "b", "f"]
    assert drawn.choice("abcdef") == "c"


def test_derived_seed_is_the_same_on_every_platform() -> None:
    assert derived_seed(7, "errands", 0) == 5947621378679255961
    assert derived_seed() == 2858069222894195974


def test_derived_seed_differs_when_any_name_its_type_or_the_order_does() -> None:
    names: list[tuple[int | str, ...]] = [
        (7, "errands", 0),
        (7, "errands", 1),
        (8, "errands", 0),
        (7, "meetings", 0),
        ("errands", 7, 0),
        ("7", "errands", 0),
        (7, "errands"),
        (7, "errands0"),
        (7, "err", "ands", 0),
        (70, "errands"),
    ]
    assert len({derived_seed(*name) for name in names}) == len(names)


def test_derived_seed_fits_into_63_bits() -> None:
    seeds = [derived_seed(number) for number in range(500)]
    assert max(seeds).bit_length() == 63
    assert min(seeds) >= 0


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 16, 100])
def test_stream_draws_every_integer_below_a_bound_equally_often(bound: int) -> None:
    drawn = stream(0, "below", bound)
    draws = 2000 * bound
    counts = Counter(drawn.below(bound) for _ in range(draws))
    assert set(counts) == set(range(bound))
    # Chi-square has mean bound-1 and variance 2(bound-1): six deviations never happen.
    distance = sum((count - 2000) ** 2 / 2000 for count in counts.values())
    assert distance <= bound - 1 + 6 * (2 * (bound - 1)) ** 0.5


def test_stream_shuffles_into_every_order_equally_often() -> None:
    drawn = stream(0, "orders")
    counts = Counter("".join(drawn.shuffled("abcd")) for _ in range(24 * 500))
    assert len(counts) == 24
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) <= 23 + 6 * 46**0.5


def test_stream_draws_distinct_items_when_sampling() -> None:
    drawn = stream(3, "sample")
    samples = [drawn.sample(range(10), 4) for _ in range(200)]
    assert all(len(set(sample)) == 4 for sample in samples)
    assert {item for sample in samples for item in sample} == set(range(10))


def test_stream_leaves_the_items_alone_when_shuffling() -> None:
    items = list(range(20))
    shuffled = Stream(1).shuffled(items)
    assert items == list(range(20))
    assert shuffled != items
    assert sorted(shuffled) == items


def test_streams_of_two_purposes_do_not_disturb_each_other() -> None:
    alone = stream(5, "a").shuffled(range(50))
    one, other = stream(5, "a"), stream(5, "b")
    assert other.shuffled(range(50)) != alone
    assert one.shuffled(range(50)) == alone
