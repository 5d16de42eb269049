import pickle

import orjson
import pytest
from pydantic import TypeAdapter

from calbench.domain.actions import DirectMessage, Schedule
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Propose


def test_frequent_values_are_the_same_in_order_and_by_name() -> None:
    named = DirectMessage(to=AgentId(1), content=Propose(slot=Slot(3)))
    assert DirectMessage(AgentId(1), Propose(Slot(3))) == named
    assert repr(named) == "DirectMessage(type='dm', to=1, content=Propose(kind='propose', slot=3))"


def test_equal_frequent_values_are_one_in_a_set() -> None:
    assert (
        len({Schedule(MeetingId(1), Slot(2)), Schedule(meeting_id=MeetingId(1), slot=Slot(2))}) == 1
    )


def test_tag_of_a_frequent_value_is_never_taken_in_order() -> None:
    with pytest.raises(TypeError):
        Propose(Slot(3), "propose")  # type: ignore[call-arg]


def test_frequent_values_survive_the_way_to_another_process() -> None:
    action = DirectMessage(AgentId(1), Propose(Slot(3)))
    assert pickle.loads(pickle.dumps(action)) == action  # noqa: S301


def test_a_frequent_value_that_was_read_has_its_fields_in_the_order_of_one_that_was_made() -> None:
    made = DirectMessage(AgentId(1), Propose(Slot(3)))
    read = TypeAdapter(DirectMessage).validate_json(orjson.dumps(made))
    assert read == made
    assert orjson.dumps(read) == orjson.dumps(made)
    assert list(vars(read)) == ["type", "to", "content"]
