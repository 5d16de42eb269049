"""Reflections are read strictly, and numbers become expectations where tokens are given."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.envelope import Read
from calbench.agents.reflection import parse_reflection
from calbench.domain.ids import AgentId
from calbench.domain.replies import Beliefs, Unreadable
from calbench.llm.completion import TokenLogprob
from tests.agents.replies import completion, replies

AGENTS = tuple(AgentId(agent) for agent in range(3))
ME = AgentId(1)
GOOD = '{"beliefs": {"0": [0, -2], "2": [3, 1]}}'


def parse(text: str | None, **fields: Any) -> Read[Beliefs] | Unreadable:
    return parse_reflection(completion(text, **fields), AGENTS, ME, 2)


def read(text: str, **fields: Any) -> Beliefs:
    found = parse(text, **fields)
    assert not isinstance(found, Unreadable), found
    return found.value


def test_beliefs_are_read_in_the_order_of_agents() -> None:
    beliefs = read('{"beliefs": {"2": [3, 1], "0": [0, -2]}}')
    assert beliefs == Beliefs({"0": (0, -2), "2": (3, 1)})
    assert list(beliefs.delta) == ["0", "2"]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"beliefs": {"0": [0, 0]}}', "beliefs: the key '2' is missing"),
        ('{"beliefs": {"0": [0, 0], "1": [0, 0], "2": [0, 0]}}', "beliefs: unknown key '1'"),
        ('{"beliefs": {"0": [0, 0], "0": [1, 1]}}', "the key '0' stands twice in one object"),
        ('{"beliefs": {"0": [0], "2": [0, 0]}}', "beliefs.0: expected 2 integers, got 1"),
        ('{"beliefs": {"0": [0, 4], "2": [0, 0]}}', "beliefs.0[1]: 4 is outside -3..3"),
        (
            '{"beliefs": {"0": [0, true], "2": [0, 0]}}',
            "beliefs.0[1]: expected an integer, got a boolean",
        ),
        (
            '{"beliefs": {"0": [0, 1.0], "2": [0, 0]}}',
            "beliefs.0[1]: expected an integer, got a number with a fraction",
        ),
        ('{"beliefs": {"0": 1, "2": [0, 0]}}', "beliefs.0: expected a list, got an integer"),
        ('{"beliefs": [0, 0]}', "beliefs: expected an object, got a list"),
        (GOOD.replace("}}", '}, "thinking": ""}'), "reply: unknown key 'thinking'"),
    ],
)
def test_misshapen_beliefs_say_where(text: str, detail: str) -> None:
    assert parse(text) == Unreadable("wrong_shape", detail)


def token(text: str, **top: float) -> TokenLogprob:
    """Return a token with probabilities of alternatives; ``m`` stands for a minus."""
    named = {name.removeprefix("_").replace("m", "-"): math.log(p) for name, p in top.items()}
    return TokenLogprob(text, named.get(text, math.log(0.5)), tuple(named.items()))


def plain(text: str) -> list[TokenLogprob]:
    """Return one token a character, each certain."""
    return [TokenLogprob(letter, 0.0, ((letter, 0.0),)) for letter in text]


def expected(*numbers: TokenLogprob, of: str) -> float:
    """Return the expectation of the first number of a reply, written by these tokens."""
    head, tail = '{"beliefs": {"0": [', ', 0], "2": [0, 0]}}'
    tokens = (*plain(head), *numbers, *plain(tail))
    beliefs = read(head + of + tail, logprobs=tokens)
    assert beliefs.expected is not None
    assert beliefs.expected["2"] == (0.0, 0.0)
    return beliefs.expected["0"][0]


def test_bare_minus_beside_one_token_stands_for_the_middle_of_its_numbers() -> None:
    assert expected(token("0", _0=0.6, m=0.4), of="0") == pytest.approx(0.4 * -2)


def test_negative_number_may_be_one_token() -> None:
    number = TokenLogprob(" -2", math.log(0.5), ((" -2", math.log(0.5)), (" 1", math.log(0.5))))
    assert expected(number, of=" -2") == -0.5


def test_sampled_token_counts_even_if_not_among_the_likeliest() -> None:
    number = TokenLogprob("3", math.log(0.25), (("0", math.log(0.75)),))
    assert expected(number, of="3") == 0.75


def test_token_of_two_numbers_leaves_them_as_written() -> None:
    text = '{"beliefs": {"0": [1,-2], "2": [0, 0]}}'
    head, both, tail = text.partition("1,-2")
    tokens = (*plain(head), TokenLogprob(both, -1.0, (("0", -0.5),)), *plain(tail))
    assert read(text, logprobs=tokens).expected == {"0": (1.0, -2.0), "2": (0.0, 0.0)}


def test_tokens_that_do_not_spell_the_reply_give_no_expectation() -> None:
    assert read(GOOD, logprobs=tuple(plain(GOOD[:-1]))).expected is None
    assert read(GOOD, logprobs=()).expected is None
    assert read(GOOD).expected is None


def test_numbers_before_the_object_are_none_of_it() -> None:
    text = f"I say 3, 2, 1. {GOOD} "
    assert read(text, logprobs=tuple(plain(text))).expected == {"0": (0.0, -2.0), "2": (3.0, 1.0)}


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e308, -1e308])
def test_odd_logprobs_are_no_exception(odd: float) -> None:
    number = TokenLogprob("2", odd, (("2", odd), ("1", odd)))
    assert -3 <= expected(number, of="2") <= 3


pieces = st.sampled_from(["-", "0", "1", "-2", " 3", ",", "x", "", "2,", "[1"])
weights = st.floats(allow_nan=True, allow_infinity=True)


@given(st.data())
@settings(deadline=None)
def test_expectation_stays_within_bounds_however_a_reply_is_cut_into_tokens(
    data: st.DataObject,
) -> None:
    values = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    beliefs = {"0": data.draw(values), "2": data.draw(values)}
    text = json.dumps({"beliefs": beliefs})
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1))))
    ends = [*cuts, len(text)]
    parts = [text[start:end] for start, end in zip([0, *cuts], ends, strict=True)]
    tokens = tuple(
        TokenLogprob(
            part, data.draw(weights), tuple(data.draw(st.lists(st.tuples(pieces, weights))))
        )
        for part in parts
    )
    found = read(text, logprobs=tokens)
    assert found.delta == {target: tuple(listed) for target, listed in beliefs.items()}
    assert found.expected is not None
    assert all(-3 <= value <= 3 for listed in found.expected.values() for value in listed)


@given(replies())
def test_no_reply_gives_an_exception(text: str) -> None:
    assert isinstance(parse(text), Unreadable)


def partly(text: str, **fields: Any) -> Read[Beliefs] | Unreadable:
    return parse_reflection(completion(text, **fields), AGENTS, ME, 2, edition=2)


@pytest.mark.parametrize(
    ("text", "delta", "recovered"),
    [
        ('{"beliefs": {"0": [0, 1]}}', {"0": (0, 1)}, "partial"),
        ('{"beliefs": {"0": [0], "2": [3, 1]}}', {"2": (3, 1)}, "partial"),
        ('{"beliefs": {"0": [0, 4], "2": [3, 1]}}', {"2": (3, 1)}, "partial"),
        ('{"beliefs": {"0": null, "2": [3, 1]}}', {"2": (3, 1)}, "partial"),
        ('{"beliefs": {"1": [0, 0], "2": [3, 1]}}', {"2": (3, 1)}, "partial+surplus"),
        (f"So: {GOOD[:-2]}, " + '"9": []}}', {"0": (0, -2), "2": (3, 1)}, "prefixed+surplus"),
        (GOOD[:-1] + ', "thinking": ""}', {"0": (0, -2), "2": (3, 1)}, "surplus"),
    ],
)
def test_lists_that_can_be_read_count(
    text: str, delta: dict[str, tuple[int, ...]], recovered: str
) -> None:
    found = partly(text, logprobs=tuple(plain(text)))
    assert isinstance(found, Read)
    assert found.value == Beliefs(delta)
    assert found.recovered == recovered


@pytest.mark.parametrize(
    "text",
    ['{"beliefs": {"0": [0]}}', '{"beliefs": {}}', '{"beliefs": []}', "{}", "[]", "no", GOOD[:-1]],
)
def test_answer_without_a_readable_list_is_refused_as_before(text: str) -> None:
    assert partly(text) == parse(text)


def test_duplicate_keys_are_no_partial_answer() -> None:
    assert isinstance(partly('{"beliefs": {"0": [0, 0], "0": [1, 1], "2": [0, 0]}}'), Unreadable)


@given(st.dictionaries(st.sampled_from("012"), st.lists(st.integers(-4, 4), max_size=3)))
def test_whole_answers_are_read_alike_and_others_list_by_list(lists: dict[str, list[int]]) -> None:
    text = json.dumps({"beliefs": lists})
    whole, some = parse(text), partly(text)
    if isinstance(whole, Read):
        assert some == whole
        return
    good = {
        target: tuple(values)
        for target, values in lists.items()
        if target != "1" and len(values) == 2 and max(map(abs, values)) <= 3
    }
    assert isinstance(some, Read) == bool(good)
    assert not isinstance(some, Read) or some.value == Beliefs(good)


CHANCES = '"occupied": {"0": [50, 0], "2": [100, 65]}'
BOTH = f"{GOOD[:-1]}, {CHANCES}}}"
STATED: dict[str, tuple[int, ...]] = {"0": (50, 0), "2": (100, 65)}


def parse_both(text: str, **fields: Any) -> Read[Beliefs] | Unreadable:
    return parse_reflection(completion(text, **fields), AGENTS, ME, 2, edition=3)


def test_chances_are_read_beside_changes() -> None:
    found = parse_both(BOTH, logprobs=tuple(plain(BOTH)))
    assert isinstance(found, Read)
    assert found.recovered is None
    assert found.value.delta == read(GOOD).delta
    assert found.value.occupied == STATED
    assert found.value.expected == {"0": (0.0, -2.0), "2": (3.0, 1.0)}


def test_chances_are_in_the_order_of_agents() -> None:
    found = parse_both(BOTH.replace(CHANCES, '"occupied": {"2": [100, 65], "0": [50, 0]}'))
    assert isinstance(found, Read)
    assert list(found.value.occupied or {}) == ["0", "2"]


def test_changes_that_stand_behind_chances_have_no_expectations() -> None:
    text = f"{{{CHANCES}, {GOOD[1:]}"
    found = parse_both(text, logprobs=tuple(plain(text)))
    assert isinstance(found, Read)
    assert found.value == Beliefs(read(GOOD).delta, None, STATED)
    assert found.recovered is None


@pytest.mark.parametrize(
    ("chances", "stated", "recovered"),
    [
        ("", None, "partial"),
        (', "occupied": {"0": [50, 0]}', {"0": (50, 0)}, "partial"),
        (', "occupied": {"0": [50], "2": [100, 65]}', {"2": (100, 65)}, "partial"),
        (', "occupied": {"0": [50, 101], "2": [100, 65]}', {"2": (100, 65)}, "partial"),
        (', "occupied": {"0": [-1, 50], "2": [100, 65]}', {"2": (100, 65)}, "partial"),
        (', "occupied": {"0": [0.5, 1], "2": [true, 0]}', None, "partial"),
        (', "occupied": {"1": [50, 0], "0": [50, 0]}', {"0": (50, 0)}, "partial+surplus"),
        (', "occupied": {"0": [50, 0], "2": [100, 65], "1": []}', STATED, "surplus"),
        (', "occupied": [50, 0]', None, "partial"),
        (', "occupied": null', None, "partial"),
        (f', {CHANCES}, "thinking": ""', STATED, "surplus"),
        (', "occupied": {"0": [50, 0]}, "thinking": ""', {"0": (50, 0)}, "partial+surplus"),
    ],
)
def test_chances_that_can_be_read_count(
    chances: str, stated: dict[str, tuple[int, ...]] | None, recovered: str
) -> None:
    found = parse_both(f"{GOOD[:-1]}{chances}}}")
    assert isinstance(found, Read)
    assert found.value == Beliefs(read(GOOD).delta, None, stated)
    assert found.recovered == recovered


def test_some_changes_beside_all_chances_count() -> None:
    found = parse_both(f'{{"beliefs": {{"2": [3, 1]}}, {CHANCES}}}')
    assert isinstance(found, Read)
    assert (found.value, found.recovered) == (Beliefs({"2": (3, 1)}, None, STATED), "partial")


@pytest.mark.parametrize(
    "text",
    [
        f"{{{CHANCES}}}",
        f'{{"beliefs": {{"0": [0]}}, {CHANCES}}}',
        f'{{"beliefs": [], {CHANCES}}}',
        BOTH.replace("}}", '}, "occupied": {}}'),
        "{}",
        "no",
        BOTH[:-1],
    ],
)
def test_chances_without_a_list_of_changes_are_no_answer(text: str) -> None:
    assert isinstance(parse_both(text), Unreadable)


@given(
    st.fixed_dictionaries(
        {"beliefs": st.dictionaries(st.sampled_from("012"), st.lists(st.integers(-4, 4)))},
        optional={
            "occupied": st.dictionaries(st.sampled_from("012"), st.lists(st.integers(-1, 101)))
        },
    )
)
def test_changes_are_read_with_chances_as_without(answer: dict[str, Any]) -> None:
    both, changes = parse_both(json.dumps(answer)), partly(json.dumps(answer))
    assert isinstance(both, Read) == isinstance(changes, Read)
    if isinstance(both, Read) and isinstance(changes, Read):
        assert both.value.delta == changes.value.delta
        good = {
            target: tuple(values)
            for target, values in sorted(answer.get("occupied", {}).items())
            if target != "1" and len(values) == 2 and 0 <= min(values) <= max(values) <= 100
        }
        assert both.value.occupied == (good or None)
