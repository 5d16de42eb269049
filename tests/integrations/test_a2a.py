"""Seats over HTTP, with an agent that knows the protocol and nothing of this package."""

import gc
import json
import re
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from calbench import play_game, read_trace, verify, write_trace
from calbench.errors import CalbenchError
from calbench.integrations.a2a import call, join, post
from calbench.integrations.loopback import MOST_BYTES, RefusedError
from calbench.integrations.referee import Place
from calbench.integrations.seats import seen_data
from calbench.types import (
    AgentId,
    DirectMessage,
    Observation,
    Reply,
    Text,
    Trace,
    Turn,
)
from tests.cli.runs import REPO, environment, python
from tests.effort import GUARD_S
from tests.factories import make_scenario
from tests.integrations.outsider import Data, Outsider, posted

OWN, MEETINGS = "..E2.B.", [(0, 1), (0, 2)]
SECRETS = ("E.E3...", ".E..E2.")
"""The calendars of the others in two scenarios that agent 0 cannot tell apart."""

SCENARIO = make_scenario([OWN, SECRETS[0], "......"], MEETINGS)
WAITS_S = 0.5
"""For an answer, where none comes; until then the seat waits as long as it takes."""

Changed = Callable[[Outsider, Data], Data | None]


@contextmanager
def seated(
    agent: Outsider, *, seconds: float = 60, joins: bool = True, checks: bool = False
) -> Iterator[Place]:
    """Provide seat 0, in which an agent sits."""
    place = Place(0, seconds, checks=checks)
    try:
        if joins:
            assert agent.join(place.ticket)[0] == 200
        yield place
    finally:
        place.close()
        agent.close()


def played(
    change: Changed | None = None, *, partner: Any = "candid", **rules: Any
) -> tuple[Trace, Outsider, Place]:
    """Play a game; ``change`` does something in place of the agent's own answer, if it returns."""
    agent = Outsider()
    if change is not None:
        own = agent.act

        def act(push: Data) -> Data:
            said = change(agent, push)
            return own(push) if said is None else said

        agent.act = act  # type: ignore[method-assign]
    with seated(agent) as place:
        trace = play_game(SCENARIO, [place, partner, partner], team_id="a2a", **rules)
    return trace, agent, place


def holds(trace: Trace, folder: Path) -> None:
    write_trace(folder / "game.json", trace)
    verify(folder / "game.json")


def why_halted(trace: Trace) -> str:
    assert trace.halt is not None
    return trace.halt.detail


def pushes(agent: Outsider, kind: str) -> list[Data]:
    return [sent for sent in agent.sent if sent.get("kind") == kind]


def said_by(trace: Trace, agent: int) -> list[str]:
    """What an agent said, in order."""
    found = [
        event for event in trace.events if event.type == "turn_end" and event.agent_id == agent
    ]
    return [action.content.text for event in found for action in event.actions]  # type: ignore[union-attr]


def test_game_verifies_and_what_was_sent_and_answered_is_in_the_trace(tmp_path: Path) -> None:
    trace, agent, place = played()
    holds(trace, tmp_path)
    assert trace.config.team.seats[0].player == "a2a"
    kinds = [sent["kind"] for sent in agent.sent if "kind" in sent]
    assert (kinds[0], kinds[-1]) == ("register", "episode_end")
    assert kinds.count("round_start") == 2
    starts = {"turn_start", "decide_start"}
    asked = [e for e in trace.events if e.type in starts and e.agent_id == 0]  # type: ignore[union-attr]
    assert [event.prompt for event in asked] == [push["prompt"] for push in pushes(agent, "turn")]  # type: ignore[union-attr]
    (told,) = pushes(agent, "register")
    registered = [event for event in trace.events if event.type == "agent_registered"]
    assert told["prompt"] == registered[0].system_prompt
    assert set(told["action_schemas"]) >= {"schedule", "reschedule", "send"}
    assert told["config"]["num_slots"] == 6
    assert len(said_by(trace, 0)) == 2
    used = [getattr(event, "usage", None) for event in trace.events]
    counts = [(each.input_tokens, each.output_tokens) for each in used if each is not None]
    assert counts == [(7, 2)] * len(asked)
    assert place.faults == []


def test_verify_words_anew_what_an_agent_was_sent(tmp_path: Path) -> None:
    """What it did is as the trace says; what it was asked follows from the game."""
    trace, _, _ = played()
    path = tmp_path / "game.json"
    write_trace(path, trace)
    assert verify(path).prompts_not_checked == 0
    assert verify(path).turns_not_checked > 0
    asked = next(event for event in trace.events if getattr(event, "prompt", None))
    changed = replace(asked, prompt="Where are the others free?")  # type: ignore[arg-type]
    events = [changed if event is asked else event for event in trace.events]
    write_trace(path, trace.model_copy(update={"events": tuple(events)}))
    with pytest.raises(CalbenchError, match=r"prompt: recorded .*Where are the others free"):
        verify(path)


def test_two_seats_decide_at_once_beside_a_typed_partner(tmp_path: Path) -> None:
    agents, both = [Outsider(), Outsider()], threading.Barrier(2)

    def waiting(own: Callable[[Data], Data]) -> Callable[[Data], Data]:
        def act(push: Data) -> Data:
            if push["turn_id"].endswith("turn.0.DECISION.0.0"):
                both.wait(GUARD_S)  # for the other's push
            return own(push)

        return act

    for agent in agents:
        agent.act = waiting(agent.act)  # type: ignore[method-assign, assignment]
    with seated(agents[0]) as one:
        two = Place(1)
        assert agents[1].join(two.ticket)[0] == 200
        trace = play_game(SCENARIO, [one, two, "imap"], team_id="a2a")
        two.close()
        agents[1].close()
    holds(trace, tmp_path)
    assert [seat.player for seat in trace.config.team.seats] == ["a2a", "a2a", "imap"]
    assert {push["seat"] for push in agents[1].sent if "seat" in push} == {1}


def dumped(secret: str) -> list[Data]:
    """All that an agent is sent that reads whatever it can; it is what its seat sees."""
    place, agent = Place(0), Outsider()
    own, asked = agent.act, place.act
    inside: list[Data] = []
    outside: list[Data] = []

    def reading(push: Data) -> Data:
        if push["kind"] == "turn":
            assert agent.call(push, "get_observation", {})["data"] == push["observation"]
            assert agent.call(push, "list_peers", {})["data"] == [1, 2]
            assert agent.call(push, "read_inbox", {})["data"] == push["inbox"]
            outside.append(push["observation"])
        return own(push)

    async def act(observation: Observation, prompt: str) -> Reply | str:
        inside.append(seen_data(observation))
        return await asked(observation, prompt)

    agent.act, place.act = reading, act  # type: ignore[method-assign]
    agent.join(place.ticket)
    scenario = make_scenario([OWN, secret, "......"], MEETINGS)
    play_game(scenario, [place, "silent", "silent"], team_id="a2a")
    place.close()
    agent.close()
    assert outside == inside
    assert len(outside) > 3
    return [plain(sent) for sent in [*agent.sent, agent.seat]]


def test_agent_is_sent_its_observation_and_nothing_else() -> None:
    """In two games that differ only in others' calendars it is sent the same."""
    one, other = map(dumped, SECRETS)
    assert one == other
    fields = {
        "protocol_version", "episode_id", "seat", "turn_id", "kind", "phase", "parent_phase",
        "deadline", "mcp", "observation", "inbox", "prompt", "capability",
    }  # fmt: skip
    assert all(set(push) == fields for push in one if push.get("kind") == "turn")
    shown = {*Observation._fields}
    assert all(set(push["observation"]) == shown for push in one if push.get("kind") == "turn")


def plain(sent: Data) -> Data:
    """What was sent, without what is drawn for each game."""
    drawn = ("deadline", "capability", "nonce", "seat_secret", "mcp", "ready_url")
    return {key: bool(value) if key in drawn else value for key, value in sent.items()}


def test_same_call_again_has_the_first_outcome_and_no_second_effect() -> None:
    outcomes: list[Data] = []

    def twice(agent: Outsider, push: Data) -> None:
        if push["turn_id"] == "0.turn.0.CHEAP_TALK.0.0":
            words = {"channel": "participant_groupchat", "content": "Hello."}
            other = {**words, "content": "Goodbye."}
            outcomes.extend(agent.call(push, "send", each, "x") for each in (words, words, other))

    trace, _, place = played(twice)
    first, again, changed = outcomes
    assert (first["status"], first["resolves"]) == ("accepted", "end_of_turn")
    assert again == first
    assert (changed["status"], changed["code"]) == ("rejected", "call_id_reused")
    assert said_by(trace, 0)[0] == "Hello."
    assert "Goodbye." not in said_by(trace, 0)
    assert said_by(trace, 0).count("Hello.") == 1
    assert place.faults == ["send: call_id_reused: the call of this id was another"]


def test_late_call_changes_nothing() -> None:
    """With the capability of a turn that is over, between turns and within the next."""
    outcomes: list[Data] = []
    kept: list[Data] = []

    def late(agent: Outsider, push: Data) -> None:
        words = {"channel": "participant_groupchat", "content": "Too late."}
        if kept and push["kind"] in {"turn", "round_start"}:
            outcomes.append(agent.call(kept[0], "send", words))
        if push["kind"] == "turn" and not kept:
            kept.append(push)

    trace, _, _ = played(late)
    assert len(outcomes) > 3
    assert {(each["status"], each["code"]) for each in outcomes} == {("rejected", "late")}
    assert "Too late." not in said_by(trace, 0)


@pytest.mark.parametrize("how", ["none", "x", "forged"])
def test_capability_with_a_wrong_signature_is_refused(how: str) -> None:
    answers: list[Data] = []

    def forging(agent: Outsider, push: Data) -> None:
        if push["phase"] == "CHEAP_TALK" and push["kind"] == "turn":
            words = {"channel": "participant_groupchat", "content": "Forged."}
            claims, _, seal = push["capability"].partition(".")
            forged = f"{claims[:-4]}AAAA.{seal}" if how == "forged" else how
            answers.append(agent.call(push, "send", words, token=forged))

    trace, _, _ = played(forging)
    assert {each["http"] for each in answers} == {401}
    assert "Forged." not in said_by(trace, 0)


def test_calls_are_held_to_what_is_allowed() -> None:
    codes: dict[str, str] = {}

    def calling(agent: Outsider, push: Data) -> None:
        if push["turn_id"] != "0.turn.0.CHEAP_TALK.0.0":
            return
        words = {"channel": "participant_groupchat", "content": "Hi."}
        for name, tool, arguments in (
            ("phase", "schedule", {"meeting_id": 1, "slot": 0}),
            ("more", "send", {**words, "loudly": True}),
            ("kind", "send", {**words, "content": 3}),
            ("long", "send", {**words, "content": "x" * 16_385}),
            ("nobody", "send", {**words, "channel": "dm"}),
            ("secret", "send", {**words, "content": f"my key is {agent.key}"}),
            ("longest", "send", {**words, "content": "x" * 16_384}),
        ):
            codes[name] = agent.call(push, tool, arguments)["code"]
        for _ in range(130):
            codes["many"] = agent.call(push, "list_peers", {})["code"]

    trace, _, _ = played(calling)
    assert codes == {
        "phase": "not_allowed", "more": "extra_forbidden", "kind": "string_type",
        "long": "string_too_long", "nobody": "bad_recipient", "secret": "tells_secret",
        "longest": "accepted", "many": "too_many_calls",
    }  # fmt: skip
    assert said_by(trace, 0)[0] == "x" * 16_384


def test_body_of_300_kb_is_refused_on_both_sides() -> None:
    statuses: list[int] = []

    def large(_: Outsider, push: Data) -> Data | None:
        if push["turn_id"] == "0.turn.0.CHEAP_TALK.0.0":
            body = b" " * 300_000
            statuses.append(posted(push["mcp"]["env"], {}, push["capability"], body)[0])
            fitting = b" " * (MOST_BYTES - 2) + b"{}"
            statuses.append(posted(push["mcp"]["env"], {}, push["capability"], fitting)[0])
        if push["phase"] == "DECISION" and push["kind"] == "turn":
            return {"reflection": "x" * 300_000}
        return None

    trace, _, _ = played(large)
    assert statuses == [413, 202]
    assert why_halted(trace) == "a2a: seat 0: turn: the answer is late or too long"


@pytest.mark.parametrize("answer", [{"turn_id": "another"}, None])
def test_no_show_ends_the_episode(answer: Data | None, tmp_path: Path) -> None:
    """Nobody plays in its place."""
    agent = Outsider()
    own, released = agent.act, threading.Event()
    with seated(agent) as place:

        def act(push: Data) -> Data:
            if push["kind"] == "round_start" and answer is None:
                place._seconds = WAITS_S
            if push["kind"] != "turn":
                return own(push)
            return answer or {"late": released.wait(GUARD_S)}

        agent.act = act  # type: ignore[method-assign]
        trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
        place._seconds = GUARD_S
        released.set()
    holds(trace, tmp_path)
    assert trace.halt is not None
    assert (trace.halt.reason, trace.halt.agent_id) == ("provider_fault", 0)
    why = "the answer is to another turn" if answer else "no answer in time"
    assert trace.halt.detail == f"a2a: seat 0: turn: {why}"
    assert not [e for e in trace.events if getattr(e, "agent_id", None) == 0 and "end" in e.type]
    assert len(pushes(agent, "episode_end")) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.0 302 Found\r\nlocation: /\r\n\r\n", "answered with status 302"),
        (b"HTTP/1.0 500 No\r\n\r\n", "answered with status 500"),
        (b"HTTP/1.0 200 OK\r\n\r\n[]", "the body is no object of JSON"),
        (b"nonsense", "no answer in time"),
        (b"", "no answer in time"),
    ],
)
def test_what_is_no_answer_ends_the_episode(answer: bytes, why: str) -> None:
    agent = Outsider()
    own = agent.answered

    def answered(handler: Any, path: str, headers: Any, body: bytes) -> None:
        if headers["x-a2a-id"].startswith("0.turn"):
            handler.wfile.write(answer)
        else:
            own(handler, path, headers, body)

    agent.answered = answered  # type: ignore[method-assign]
    with seated(agent) as place:
        trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
    assert why_halted(trace) == f"a2a: seat 0: turn: {why}"


def test_answer_that_comes_byte_by_byte_is_cut_off_at_the_deadline() -> None:
    """Each byte is in time; the whole answer is not."""
    agent = Outsider()
    own = agent.answered
    cut = threading.Event()
    with seated(agent) as place:

        def answered(handler: Any, path: str, headers: Any, body: bytes) -> None:
            if headers["x-a2a-id"].startswith("0.round_start"):
                place._seconds = WAITS_S
            if not headers["x-a2a-id"].startswith("0.turn"):
                own(handler, path, headers, body)
                return
            end = time.monotonic() + GUARD_S
            try:
                while time.monotonic() < end:
                    handler.wfile.write(b"x")
                    time.sleep(WAITS_S / 20)
            except OSError:
                cut.set()

        agent.answered = answered  # type: ignore[method-assign]
        trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
        place._seconds = GUARD_S
        assert cut.wait(GUARD_S / 2)
    assert why_halted(trace).startswith("a2a: seat 0: turn: ")


def test_push_that_would_be_too_long_leaves_out_what_the_tools_show() -> None:
    chat = "x" * 16_384
    sizes: list[tuple[bool, int]] = []

    class Chatty:
        def act(self, observation: Observation) -> Turn:
            if observation.phase == "CHEAP_TALK" and observation.turn_index < 2:
                return Turn((DirectMessage(to=AgentId(0), content=Text(text=chat)),) * 30)
            return Turn()

    def reading(agent: Outsider, push: Data) -> None:
        if push["kind"] == "turn":
            heard = agent.call(push, "read_inbox", {})["data"]
            sizes.append((push["inbox"] is None, len(heard)))
            push["observation"] = agent.call(push, "get_observation", {})["data"]

    trace, _, _ = played(reading, partner=Chatty(), uses_language=True)
    assert trace.halt is None
    assert (True, 30) in sizes
    assert (False, 0) in sizes


def test_empty_answer_ends_the_turn(tmp_path: Path) -> None:
    agent = Outsider()
    own = agent.answer

    def empty(path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Data]:
        status, said = own(path, headers, body)
        return status, said if path.endswith("hello") else {}

    agent.answer = empty  # type: ignore[method-assign]
    with seated(agent) as place:
        trace = play_game(SCENARIO, [place, "silent", "silent"], team_id="a2a")
    holds(trace, tmp_path)
    assert trace.halt is None


def test_nobody_joins(tmp_path: Path) -> None:
    with seated(Outsider(), seconds=0.1, joins=False) as place:
        trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
    holds(trace, tmp_path)
    assert why_halted(trace) == "a2a: seat 0: nobody joined in time"


def test_joining_is_refused_until_everything_fits() -> None:
    place, agent = Place(0), Outsider()
    ticket = place.ticket
    assert 32 <= len(ticket["join_ticket"]) <= 256
    assert agent.join({**ticket, "join_ticket": "x" * 43})[0] == 401
    assert agent.join(ticket, protocol_versions=["a2a-turns/2"])[0] == 400
    assert agent.join(ticket, protocol_versions=7)[0] == 400
    assert agent.join(ticket, callback_url="http://example.org:80/")[0] == 400
    assert agent.join(ticket, callback_url="http://127.0.0.1.example.org:80/")[0] == 400
    assert agent.join(ticket, callback_url="https://127.0.0.1:80/")[0] == 400
    assert agent.sent == []
    end, place._end = place._end, 0.0
    assert agent.join(ticket)[0] == 410, "expired"
    place._end = end
    assert posted(ticket["join_url"].replace("join", "ready"), {}, "")[0] == 401
    assert agent.join(ticket)[0] == 200
    assert [set(sent) for sent in agent.sent] == [
        {"protocol_version", "episode_id", "seat", "turn_id", "deadline", "nonce"}
    ], "nothing of the game"
    assert agent.join(ticket)[0] == 410
    place.close()
    agent.close()


def test_hello_that_is_not_accepted_is_no_seat() -> None:
    agent = Outsider()
    own = agent.answer
    agent.answer = lambda *given: (200, {**own(*given)[1], "accept": False})  # type: ignore[method-assign]
    with seated(agent, joins=False) as place:
        assert agent.join(place.ticket)[0] == 403
    assert agent.seat == {}


def test_reading_and_bodies_that_no_trace_could_hold_are_refused() -> None:
    place = Place(0)
    url = place.ticket["join_url"]
    with pytest.raises(RefusedError) as refused:
        post(url, b'{"join_ticket": "\\ud800"}', {})
    assert refused.value.status == 400
    with pytest.raises(urllib.error.HTTPError) as unread, closing(urlopen(url)):  # noqa: S310
        pass
    with unread.value:
        assert unread.value.code == 405
    place.close()


def test_reflection_is_read_as_that_of_a_model(tmp_path: Path) -> None:
    def reflecting(_: Outsider, push: Data) -> Data | None:
        if push["kind"] != "reflect":
            return None
        others = {str(agent): [1] * 6 for agent in (1, 2)}
        return {"reflection": {"beliefs": others}}

    trace, _, _ = played(reflecting, reflection=True)
    holds(trace, tmp_path)
    found = [e for e in trace.events if e.type == "reflection" and e.agent_id == 0]
    assert [event.delta_by_target["1"] for event in found] == [(1,) * 6, (1,) * 6]


def test_secrets_reach_no_trace(tmp_path: Path) -> None:
    trace, agent, place = played()
    write_trace(tmp_path / "game.json", trace)
    data = (tmp_path / "game.json").read_text()
    secrets = [agent.key, place.ticket["join_ticket"], place.ticket["join_url"]]
    secrets += [push["capability"] for push in pushes(agent, "turn")]
    assert not [secret for secret in secrets if secret in data]
    assert str(agent.url) not in data


def joining(place: Place, act: Any) -> threading.Thread:
    """Take a seat with our own side of the protocol."""
    thread = threading.Thread(target=join, args=[place.ticket, act], daemon=True)
    thread.start()
    return thread


def test_own_side_refuses_what_is_forged_and_plays(tmp_path: Path) -> None:
    place, outcomes = Place(0, checks=True), list[Data]()

    def act(push: Data, call: Any) -> Any:
        if push["kind"] == "turn" and not outcomes:
            outcomes.append(call("send", channel="dm", to=1, content="Hello."))
            outcomes.append(call("get_observation"))
        return {"beliefs": {}} if push["kind"] == "reflect" else None

    thread = joining(place, act)
    trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a", reflection=True)
    place.close()
    thread.join(GUARD_S)
    assert not thread.is_alive()
    assert place.faults == []
    holds(trace, tmp_path)
    assert {each["status"] for each in outcomes} == {"accepted", "ok"}
    assert said_by(trace, 0)[0] == "Hello."


def test_agent_that_checks_nothing_does_not_conform() -> None:
    agent = Outsider()
    agent.answer = lambda path, _, body: (  # type: ignore[method-assign, assignment]
        200,
        {"nonce": json.loads(body)["nonce"], "accept": True} if path.endswith("hello") else {},
    )
    with seated(agent, checks=True) as place:
        play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
    assert place.faults == [
        "a push with a wrong signature was accepted",
        "a push with headers of another turn was accepted",
        "a push with a body of 300 kB was accepted",
    ]


def test_what_an_agent_raises_is_raised_where_it_runs_and_ends_the_episode() -> None:
    def act(*_: Any) -> None:
        raise ValueError("mine")

    place, raised = Place(0), list[Exception]()

    def taking() -> None:
        try:
            join(place.ticket, act)
        except ValueError as error:
            raised.append(error)

    thread = threading.Thread(target=taking, daemon=True)
    thread.start()
    trace = play_game(SCENARIO, [place, "candid", "candid"], team_id="a2a")
    place.close()
    thread.join(GUARD_S)
    assert str(raised[0]) == "mine"
    assert "mine" not in why_halted(trace)


def test_ticket_of_nobody_is_refused_in_one_line() -> None:
    place = Place(0)
    with pytest.raises(RefusedError, match="answered with status 401"):
        join({**place.ticket, "join_ticket": "x"}, lambda *_: None)
    place.close()
    with pytest.raises(RefusedError, match="no answer in time"):
        join(place.ticket, lambda *_: None)


AGENT = REPO / "tests" / "integrations" / "outsider.py"


def commanded(
    folder: Path, suite: Path, agent: Path, *more: str
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """Run the command and, once there are tickets, an agent in another process; return both."""
    tickets = folder / "tickets.json"
    command = ["--suite", str(suite), "--tickets", str(tickets), "--out", str(folder / "game.json")]
    module = [sys.executable, "-m", "calbench.integrations.referee", *command, *more]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(
        module, cwd=folder, env=environment(PYTHONPATH=str(REPO)), **pipes
    ) as run:
        end = time.monotonic() + GUARD_S
        while not (tickets.exists() and tickets.read_bytes()):
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        assert tickets.stat().st_mode & 0o777 == 0o600
        played = subprocess.run(
            [sys.executable, agent, tickets, folder / "dump.json"],
            cwd=folder, env={"PYTHONPATH": str(REPO)}, timeout=GUARD_S, check=False, **pipes,
        )  # fmt: skip
        out, err = run.communicate(timeout=GUARD_S)
    assert not tickets.exists()
    return subprocess.CompletedProcess(module, run.returncode, out, err), played


@pytest.mark.heavy
def test_agent_in_another_process_plays_a_game_that_verifies(suite: Path, tmp_path: Path) -> None:
    ended, played = commanded(tmp_path, suite, AGENT, "--check", "--partner", "candid")
    assert (ended.returncode, ended.stderr.strip()) == (0, ""), ended.stderr
    assert played.returncode == 0, played.stderr
    verify(tmp_path / "game.json")
    trace = read_trace(tmp_path / "game.json")
    assert [seat.player for seat in trace.config.team.seats] == ["a2a", "candid", "candid"]
    dump = json.loads((tmp_path / "dump.json").read_text())
    secrets = [sent["capability"] for sent in dump["sent"] if sent.get("capability")]
    secrets.append(dump["seat"]["seat_secret"])
    shown = (tmp_path / "game.json").read_text() + ended.stdout + ended.stderr
    assert len(secrets) > 3
    assert not [secret for secret in secrets if secret in shown]


@pytest.mark.heavy
def test_conformance_lists_what_does_not_conform(suite: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "from tests.integrations import outsider\n"
        "outsider.signature = lambda key, *of: outsider.CHECKED\n"
        "class Any(str):\n"
        "    __ne__ = lambda *_: False\n"
        "outsider.CHECKED = Any()\n"
        "outsider.chosen = lambda seen: [('schedule', {'slot': 'first'})]\n"
        "outsider.main()\n"
    )
    ended, _ = commanded(tmp_path, suite, agent, "--check")
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert lines[0] == "seat 0: a push with a wrong signature was accepted"
    assert "seat 0: schedule: missing: meeting_id: Field required" in lines
    assert not [line for line in lines if not line.startswith("seat 0: ")]


@pytest.mark.heavy
def test_command_says_mistakes_in_one_line_and_what_cut_a_game_short(
    suite: Path, tmp_path: Path
) -> None:
    def run(*more: str) -> Any:
        module = ["-m", "calbench.integrations.referee", "--suite", str(suite)]
        env = environment(PYTHONPATH=str(REPO))
        return python(*module, "--out", tmp_path / "x.json", *more, cwd=tmp_path, env=env)

    (tmp_path / "there.json").touch()
    for arguments, line in (
        (["--scenario", "9"], "--scenario 9: known are 0 to 2"),
        (["--tickets", "there.json"], "--tickets there.json: File exists"),
        (["--partner", "nobody"], "agent 1: there is no player 'nobody'"),
        (["--seats", "0", "7"], "--seats: the agents are 0 to 2"),
    ):
        ended = run(*arguments)
        assert ended.status == 2, ended.err
        assert ended.err.startswith(line)
        assert ended.err.count("\n") == 1
    ended = run("--seconds", "0.1")
    assert (ended.status, ended.err) == (3, "cut short: a2a: seat 0: nobody joined in time\n")
    verify(tmp_path / "x.json")


@pytest.mark.heavy
def test_example_of_the_page_plays(tmp_path: Path) -> None:
    page = (REPO / "site" / "docs" / "frameworks.md").read_text()
    (block,) = re.findall(r"^    import json\n(?:(?:    .*)?\n)+", page, re.MULTILINE)
    agent = tmp_path / "agent.py"
    agent.write_text(textwrap.dedent(block))
    ended, played = commanded(tmp_path, Path("varied"), agent, "--check", "--partner", "candid")
    assert (ended.returncode, ended.stderr.strip(), played.stderr) == (0, "", "")
    verify(tmp_path / "game.json")


@pytest.mark.heavy
def test_client_of_the_library_calls_the_same_tools() -> None:
    """The authors' SDK, by which an agent written for their referee calls."""
    pytest.importorskip("mcp", reason="needs requirements-mcp.lock")
    import asyncio

    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    listed: list[str] = []
    outcomes: list[Any] = []

    async def calling(push: Data) -> None:
        headers = {"authorization": f"Bearer {push['capability']}"}
        for url in push["mcp"].values():
            async with (
                streamablehttp_client(url, headers) as (reading, writing, _),
                ClientSession(reading, writing) as me,
            ):
                await me.initialize()
                await me.send_ping()
                listed.extend(tool.name for tool in (await me.list_tools()).tools)
                if url.endswith("comm"):
                    words = {"channel": "dm", "to": 1, "content": "By the library."}
                    result = await me.call_tool("send", words, meta={"a2a/call_id": "1"})
                    outcomes.append((result.isError, result.structuredContent))

    def change(_: Outsider, push: Data) -> None:
        if push["turn_id"] == "0.turn.0.CHEAP_TALK.0.0":
            asyncio.run(calling(push))

    trace, _, place = played(change)
    assert listed == [
        "get_observation", "schedule", "reschedule", "list_peers", "read_inbox", "send",
    ]  # fmt: skip
    ((is_error, outcome),) = outcomes
    assert (is_error, outcome["status"]) == (False, "accepted")
    assert said_by(trace, 0)[0] == "By the library."
    assert place.faults == []


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:Field 'lifespan'")  # of the library's own settings
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # and streams that it leaves open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_own_side_calls_tools_of_the_library() -> None:
    """A referee like the authors', with sessions and streams, serves our calls."""
    pytest.importorskip("mcp", reason="needs requirements-mcp.lock")
    pytest.importorskip("uvicorn")
    import socket

    import uvicorn  # type: ignore[import-not-found, unused-ignore]
    from mcp.server.fastmcp import Context, FastMCP

    server, called = FastMCP("theirs"), list[Any]()

    @server.tool()  # type: ignore[untyped-decorator, unused-ignore]
    def send(channel: str, content: str, ctx: Context) -> dict[str, str]:
        called.append((channel, content, ctx.request_context.meta.model_extra["a2a/call_id"]))
        return {"status": "accepted"}

    listening = socket.create_server(("127.0.0.1", 0))
    app = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical"))
    thread = threading.Thread(target=app.run, args=[[listening]], daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    push = {"mcp": {"comm": url}, "capability": "x"}
    assert call(push, "send", channel="dm", content="Hello.") == {"status": "accepted"}
    assert call(push, "send", channel="dm", content="Again.") == {"status": "accepted"}
    assert [each[:2] for each in called] == [("dm", "Hello."), ("dm", "Again.")]
    assert called[0][2] != called[1][2]
    app.should_exit = True
    thread.join(GUARD_S)
    listening.close()
    gc.collect()  # so they are noticed here
