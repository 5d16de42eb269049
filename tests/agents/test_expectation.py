"""Expectations from token log-probabilities, against enumeration of all numbers.

A speaker writes each number of a reply by a known distribution over -3..3. Its server is imitated
with real tokenisers: a place's alternatives are the tokens with which the replies with any other
number go on there, and their probabilities follow from the distribution.
"""

import importlib.util
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.reflection import MIDDLE, expectations
from calbench.llm.completion import TokenLogprob
from tests.effort import examples

NUMBERS = tuple(range(-3, 4))
STYLES = {
    "spaced": '{{"beliefs": {{"0": [{}, {}], "2": [{}, {}]}}}}',
    "dense": '{{"beliefs":{{"0":[{},{}],"2":[{},{}]}}}}',
    "lines": '{{\n "beliefs": {{\n  "0": [\n   {},\n   {}],\n  "2": [\n   {},\n   {}]\n }}\n}}',
}
TOKENISERS = ("cl100k_base", "o200k_base", "p50k_base", "anthropic")

Distribution = Sequence[float]
"""Probabilities of -3..3."""


def bundled() -> Path:
    """Return the folder of tokenisers that LiteLLM brings."""
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "litellm_core_utils" / "tokenizers"


@cache
def tokeniser(name: str) -> Callable[[str], tuple[str, ...]]:
    """Return what cuts a text into its tokens."""
    if name == "anthropic":
        from tokenizers import Tokenizer

        model = Tokenizer.from_file(str(bundled() / "anthropic_tokenizer.json"))
        return lambda text: tuple(
            text[start:end] for start, end in model.encode(text, add_special_tokens=False).offsets
        )
    import tiktoken

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(bundled()))
        encoding = tiktoken.get_encoding(name)
    return lambda text: tuple(encoding.decode([each]) for each in encoding.encode(text))


def served(
    cut: Callable[[str], tuple[str, ...]],
    style: str,
    numbers: Sequence[int],
    distributions: Sequence[Distribution],
    top: int = 10,
) -> list[TokenLogprob]:
    """Return the tokens of a reply with their likeliest alternatives, as a server gives them."""
    tokens = cut(style.format(*numbers))
    alternatives: list[dict[str, float]] = [{} for _ in tokens]
    for place, chances in enumerate(distributions):
        paths = {
            number: cut(style.format(*numbers[:place], number, *numbers[place + 1 :]))
            for number in NUMBERS
        }
        for index in range(len(tokens)):
            going = {n: path for n, path in paths.items() if path[:index] == tokens[:index]}
            total = sum(chances[n + 3] for n in going)
            if len({path[index] for path in going.values()}) > 1 and total > 0:
                for number, path in going.items():
                    share = chances[number + 3] / total
                    alternatives[index][path[index]] = (
                        alternatives[index].get(path[index], 0.0) + share
                    )
    return [
        TokenLogprob(
            token,
            math.log(found[token]) if found else 0.0,
            tuple(
                (text, math.log(chance))
                for text, chance in sorted(found.items(), key=lambda each: -each[1])[:top]
                if chance > 0
            ),
        )
        for token, found in zip(tokens, alternatives, strict=True)
    ]


def enumerated(chances: Distribution) -> float:
    return sum(number * chance for number, chance in zip(NUMBERS, chances, strict=True))


def found(
    name: str, style: str, numbers: Sequence[int], distributions: Sequence[Distribution]
) -> tuple[float, ...]:
    return expectations(served(tokeniser(name), STYLES[style], numbers, distributions), 0, numbers)


def halves(chances: Distribution, number: int) -> tuple[float, float]:
    """Return the probability of the sign that was not written, and the size of its numbers."""
    other = range(3) if number >= 0 else range(3, 7)
    mass = sum(chances[each] for each in other)
    size = sum(abs(NUMBERS[each]) * chances[each] for each in other)
    return mass, size / mass if mass else 0.0


# From certain to spread out, the mass on either sign or on both.
SPREAD = (0.05, 0.15, 0.2, 0.25, 0.2, 0.1, 0.05)
POSITIVE = (0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4)
NEGATIVE = (0.4, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", TOKENISERS)
def test_expectation_is_the_enumerated_one(name: str, style: str) -> None:
    """Masses on both signs: where the reply shows either sign, the expectation is exact."""
    numbers = (2, -2, 0, -1)
    assert found(name, style, numbers, [SPREAD] * 4) == pytest.approx(
        [enumerated(SPREAD)] * 4, abs=1e-6
    )
    one_sided = [POSITIVE, NEGATIVE, POSITIVE, NEGATIVE]
    assert found(name, style, numbers, one_sided) == pytest.approx(
        [enumerated(each) for each in one_sided], abs=1e-6
    )


chances = st.lists(st.integers(0, 20), min_size=7, max_size=7).map(
    lambda weights: [each / max(1, sum(weights)) for each in weights]
)


@settings(deadline=None, max_examples=examples(15))
@given(st.data(), st.sampled_from(TOKENISERS), st.sampled_from(sorted(STYLES)))
def test_expectation_is_off_by_no_more_than_the_sign_that_was_not_written(
    data: st.DataObject, name: str, style: str
) -> None:
    """Of the other sign, a server gives the probability, but not its numbers."""
    distributions = [data.draw(chances.filter(lambda each: sum(each) > 0)) for _ in range(4)]
    numbers = [
        data.draw(st.sampled_from([n for n in NUMBERS if each[n + 3] > 0]))
        for each in distributions
    ]
    values = found(name, style, numbers, distributions)
    for value, number, each in zip(values, numbers, distributions, strict=True):
        mass, _ = halves(each, number)
        assert abs(value - enumerated(each)) <= mass * (3 if number < 0 else 2) + 1e-6
    one = found(name, style, numbers[:1] * 4, [distributions[0]] * 4)
    mass, size = halves(distributions[0], numbers[0])
    middle = MIDDLE["" if numbers[0] < 0 else "-"]
    for value in one:  # no other sign in the reply: its middle, or its numbers
        off = abs(value - enumerated(distributions[0]))
        assert off == pytest.approx(mass * abs(size - middle), abs=1e-6) or off < 1e-6


@pytest.mark.parametrize("name", TOKENISERS)
def test_likeliest_tokens_alone_are_renormalised(name: str) -> None:
    """Of the two likeliest, the expectation is over these two."""
    tokens = served(tokeniser(name), STYLES["spaced"], (3, 3, 3, 3), [POSITIVE] * 4, top=2)
    assert expectations(tokens, 0, (3, 3, 3, 3)) == pytest.approx(
        [(3 * 0.4 + 2 * 0.3) / 0.7] * 4, abs=1e-6
    )


def test_plus_is_a_sign_too() -> None:
    """A reply with ``+1`` is no JSON, but that it nearly was written tells of the belief."""
    text = "[ 1,0]"
    tokens = [TokenLogprob(each, 0.0, ((each, 0.0),)) for each in text]
    tokens[2] = TokenLogprob("1", math.log(0.5), (("1", math.log(0.5)), ("+2", math.log(0.5))))
    assert expectations(tokens, 0, (1, 0)) == (1.5, 0.0)
    tokens[1] = TokenLogprob(" ", math.log(0.5), ((" ", math.log(0.5)), (" +", math.log(0.5))))
    assert expectations(tokens, 0, (1, 0))[0] == pytest.approx(0.5 * 1.5 + 0.5 * 0.75)
