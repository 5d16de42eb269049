from dataclasses import asdict

from calbench.domain.actions import BroadcastMessage, ParticipantMessage
from calbench.domain.canonical import canonical_json
from calbench.domain.messages import Text
from calbench.metrics.usage import message_bytes, messages_sent_by_agent
from tests.factories import make_scenario
from tests.metrics.games import dm, play_scripts, talk

HELLO = Text(text="hello")


def test_group_messages_count_once_for_their_sender() -> None:
    scenario = make_scenario(["..", "..", "..", ".."], [(0, 1, 2)])
    trace = play_scripts(
        scenario,
        {
            0: talk(BroadcastMessage(content=HELLO), dm(1, HELLO)),
            1: talk(ParticipantMessage(content=HELLO)),
            3: talk(dm(0, HELLO), dm(1, HELLO)),
        },
    )
    assert messages_sent_by_agent(trace.events, 4) == (2, 1, 0, 2)


def test_refused_messages_do_not_count() -> None:
    scenario = make_scenario(["..", ".."], [(0, 1)])
    trace = play_scripts(scenario, {0: talk(dm(0, HELLO), dm(7, HELLO), dm(1, Text(text=" ")))})
    assert messages_sent_by_agent(trace.events, 2) == (0, 0)


def test_bytes_are_those_of_canonical_json_and_a_group_message_counts_once() -> None:
    said = Text(text="am 3. f\u00fcr alle \U0001f4c5")
    scenario = make_scenario(["..", "..", "..", ".."], [(0, 1, 2)])
    trace = play_scripts(
        scenario, {0: talk(BroadcastMessage(content=said), dm(1, HELLO)), 1: talk(dm(7, HELLO))}
    )
    sent = [canonical_json(asdict(content)).encode() for content in (said, HELLO)]
    assert message_bytes(trace.events) == sum(map(len, sent))
