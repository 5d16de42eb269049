"""A person's seat: a game in a browser and one in a terminal, and what they are shown."""

import getpass
import html
import http.client
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import sync_playwright

from calbench import load_suite, read_run, read_trace, rescore, score_game, verify, write_trace
from calbench.integrations.person import Page, Terminal, main, page_of, staged
from calbench.integrations.seats import Seat
from calbench.types import (
    AgentId,
    DirectMessage,
    Meeting,
    Observation,
    ParticipantMessage,
    Scenario,
    Text,
    Trace,
    Turn,
)
from tests.browser.tabs import ARGUMENTS, CHROMIUM
from tests.cli.runs import calbench
from tests.effort import GUARD_S
from tests.factories import make_scenario

HOSTILE = '<script>alert(1)</script> "\x1b[2J" &amp; {{ seen }}'


def seat_at(scenario: Scenario, partner: object = "candid") -> Seat:
    partners = dict.fromkeys(range(1, scenario.num_agents), partner)
    return Seat("person", scenario, partners, uses_language=True)  # type: ignore[arg-type]


@pytest.fixture
def scenario() -> Scenario:
    return load_suite("varied")[0]


@pytest.fixture
def page(scenario: Scenario) -> Iterator[Page]:
    with Page(seat_at(scenario)) as server:
        yield server


def ask(page: Page, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
    """Return status and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", page.server_port, timeout=GUARD_S)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_page_is_for_who_knows_its_address(page: Page) -> None:
    assert ask(page, "GET", page.place)[0] == 200
    assert ask(page, "GET", "/")[0] == 404
    assert ask(page, "GET", page.place[:-2] + "/")[0] == 404
    assert ask(page, "GET", page.place, Host=f"evil.example:{page.server_port}")[0] == 404
    assert ask(page, "POST", "/", "tool=end_turn")[0] == 404
    assert page.seat.seen.turn_index == 0


def test_forms_stage_and_take_back_and_say_what_is_wrong(page: Page) -> None:
    said = urlencode({"tool": "send", "content": "Slot 9?", "whom": "3"})
    assert ask(page, "POST", page.place, said)[0] == 303
    assert page.seat.desk.turn.actions == (DirectMessage(AgentId(3), Text(text="Slot 9?")),)
    assert "Say to agent 3: Slot 9?" in ask(page, "GET", page.place)[1]
    assert ask(page, "POST", page.place, "tool=schedule&meeting_id=1&slot=3")[0] == 303
    assert "Not done: schedule is not allowed in" in ask(page, "GET", page.place)[1]
    assert "Not done" not in ask(page, "GET", page.place)[1]
    ask(page, "POST", page.place, "tool=again")
    assert not page.seat.desk.turn.actions


@pytest.mark.parametrize("form", ["tool=nothing", "tool=send&whom=x", "tool=reschedule&item=a@b"])
def test_odd_forms_stage_nothing(page: Page, form: str) -> None:
    assert ask(page, "POST", page.place, form)[0] == 303
    assert page.seat.desk.turn.actions == ()
    assert "Not done" in ask(page, "GET", page.place)[1]


class Hostile:
    """Says what no page may take for its own."""

    def act(self, seen: Observation) -> Turn:
        """Say it once in every meeting of its own."""
        is_new = seen.phase.name == "CHEAP_TALK" and not seen.turn_index
        said = (ParticipantMessage(content=Text(text=HOSTILE)),)
        return Turn(said if is_new and isinstance(seen.meeting, Meeting) else ())


def test_what_others_say_is_text_on_the_page_and_in_the_terminal(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    seat = seat_at(scenario, Hostile())
    shown = page_of(seat)
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "{{ seen }}" in shown
    Terminal(seat)
    printed = capsys.readouterr().out
    assert "<script>alert(1)</script>" in printed
    assert "\x1b" not in printed


SMALL = make_scenario(["..E2.B.", "E.E3...", "......"], [(0, 1), (0, 2)])
"""Agent 0 is to lead both meetings."""

LED = {
    "imap": ["cost_request", "decision {slot}"],
    "sd-map": ["propose {slot}", "confirm {slot}"],
    "dsm-private": ["proposals {slot} 5", "plan_decision 0 {slot}"],
}
"""What whoever leads among a protocol tells in turn, as one types it in the terminal."""


def lines_of(partner: str) -> str:
    """Return what a person types who leads both meetings, into slots 1 and 3."""
    lines = list[str]()
    for slot in (1, 3):
        for told in LED[partner]:
            lines += [f"tell all {told.format(slot=slot)}", "end"]
        lines += ["end", f"book {slot}", "end"]
    return "\n".join(lines)


def check_is_led(trace: Trace | None, folder: Path) -> None:
    """Check that a person placed both meetings, in a game that is kept, replayed and measured."""
    assert trace is not None
    path = folder / "game.json"
    write_trace(path, trace)
    assert verify(path).turns_not_checked
    score = score_game(read_trace(path))
    assert [(agent.assigned, agent.scheduled) for agent in score.agents] == [(2, 2), (1, 1), (1, 1)]
    person, partner, _ = score.agents
    assert (person.player.name, person.vps_kind, person.vps) == ("person", None, None)  # unknown
    assert partner.messages_sent > 0
    measured = rescore(path, out=folder / "measured")
    assert len(measured.table("agent_games")) == 3


@pytest.mark.parametrize("partner", ["imap", "sd-map", "dsm-private"])
def test_person_leads_meetings_among_a_protocol_in_the_terminal(
    partner: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(lines_of(partner)))
    check_is_led(Terminal(seat_at(SMALL, partner)).play(), tmp_path)
    printed = capsys.readouterr().out
    assert "These partners read no words" in printed
    assert "not done" not in printed


def test_forms_are_of_what_partners_understand() -> None:
    assert "read no words" not in page_of(seat_at(SMALL))
    shown = page_of(seat_at(SMALL, "imap"))
    assert "read no words" in shown
    assert 'value="0 0 10 0 - 0"' in shown, "own costs, to be told or changed"
    kinds = re.findall(r'name="kind" value="(\w+)"', shown)
    assert kinds == ["cost_request", "costs", "decision"]
    mixed = Seat("person", SMALL, {1: "imap", 2: "candid"}, uses_language=True)
    assert re.findall(r'name="kind" value="(\w+)"', page_of(mixed)) == kinds
    assert "Add message" in page_of(mixed)


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"kind": "decision", "slot": "soon"}, "content.decision.slot: Input should be a valid"),
        ({"kind": "costs", "costs": "1 x"}, "content.costs.costs.1: Input should be a valid"),
        ({"kind": "text", "text": "Hello."}, "content: Input should be a valid string"),
        ({"kind": "costs", "costs": "1 " * 9999}, "a speech act has at most 16384 letters"),
        ({}, "content: Input should be a valid string"),
    ],
)
def test_speech_act_that_does_not_fit_is_refused(form: dict[str, str], why: str) -> None:
    seat = seat_at(SMALL, "imap")
    said = staged(seat, "tell", {"whom": "participant_groupchat", **form})
    assert said["status"] == "rejected"
    assert why in said["reason"]
    assert not seat.desk.turn.actions


def test_speech_act_is_the_content_of_a_message_for_assistants_too() -> None:
    seat = seat_at(SMALL, "imap")
    message = {"channel": "dm", "to": 1, "content": {"kind": "decision", "slot": 3}}
    assert seat.call("send", message)["status"] == "accepted"
    assert seat.desk.turn.actions[0].content.slot == 3  # type: ignore[union-attr]
    large = {**message, "content": {"kind": "decision", "slot": 10**18}}
    assert seat.call("send", large)["code"] == "too_large"


def labels_of(scenario: Scenario, agent: int) -> Mapping[Any, str]:
    """Return the labels that whoever sits there is shown."""
    others = {*range(scenario.num_agents)} - {agent}
    return Seat("person", scenario, dict.fromkeys(others, "silent"), uses_language=True).seen.labels


def test_no_page_holds_what_an_agent_does_not_see(scenario: Scenario) -> None:
    """Labels and ids of others' errands are nowhere, in no phase, to the end."""
    seat, pages = seat_at(scenario), list[str]()
    while seat.trace is None:
        pages.append(page_of(seat))
        staged(seat, "end_turn", {})
    text = html.unescape("\n".join([*pages, page_of(seat)]))
    own, *others = [labels_of(scenario, agent) for agent in range(scenario.num_agents)]
    hidden = {item: label for each in others for item, label in each.items() if item not in own}
    assert len(hidden) > 20
    assert all(label in text for label in own.values())
    assert not [label for label in {*hidden.values()} - {*own.values()} if label in text]
    errands = {errand.errand_id for agent, _, errand in scenario.errands if agent}
    assert not [item for item in errands if re.search(rf"\b{item}\b", text)]


@pytest.mark.heavy
def test_terminal_plays_a_game_that_verifies_and_keeps_it(tmp_path: Path) -> None:
    lines = ["help", "look", "say Slot 9 would be easy for me.", "dm 3 Slot 9?", "again", "say Hm."]
    lines += ["book 0", "move 2 0", *["end"] * 60]
    command = [sys.executable, "-m", "calbench.integrations.person", "--terminal"]
    command += ["--out", str(tmp_path), "--games", "1"]
    typed = "\n".join(lines)
    ran = subprocess.run(
        command, input=typed, capture_output=True, text=True, timeout=GUARD_S, check=False
    )
    (trace,) = tmp_path.glob("*.json")
    assert ran.returncode == 0, ran.stderr
    assert "not done: schedule is not allowed" in ran.stdout
    assert verify(trace).turns_not_checked
    before = trace.read_bytes()
    subprocess.run(command, input="", capture_output=True, timeout=GUARD_S, check=True)
    assert trace.read_bytes() == before


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
def test_game_in_a_browser_is_scored_as_every_team(
    scenario: Scenario, tmp_path: Path, size: tuple[int, int]
) -> None:
    server, found = Page(seat_at(scenario)), list[Trace | None]()

    def serve() -> None:
        found.append(server.play())
        server.leave()

    beside = threading.Thread(target=serve, daemon=True)
    beside.start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
        complaints = list[str]()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto(server.address)
        width = tab.evaluate("document.documentElement.scrollWidth")
        assert width <= size[0]
        tab.get_by_label("Say").fill("Slots 0, 7, 9 and 10 would be easy for me.")
        tab.keyboard.press("Tab")
        tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        tab.get_by_text("Say to all who take part: Slots 0, 7").wait_for()
        for _ in range(200):
            if tab.get_by_role("heading", name="The game is over").count():
                break
            book = tab.get_by_role("button", name="Add booking")
            settled = re.findall(r"agree on slot (\d+)", tab.locator("ul.said").first.inner_text())
            if book.count() and settled:
                tab.get_by_label("Book meeting").select_option(settled[-1])
                with tab.expect_navigation():  # what is asked next is asked of the next page
                    book.click()
            with tab.expect_navigation():
                tab.get_by_role("button", name="end the turn").click()
        browser.close()
    beside.join(30)
    assert complaints == []
    (trace,) = found
    assert trace is not None
    write_trace(tmp_path / "game.json", trace)
    assert read_trace(tmp_path / "game.json") == trace
    assert verify(tmp_path / "game.json").turns_not_checked
    assert score_game(trace).team_id == "person"


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["desktop", "phone"])
def test_person_leads_meetings_among_a_protocol_in_a_browser(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """By the keyboard alone: a field is gone to, filled in and sent with Enter."""
    server = Page(seat_at(SMALL, "imap"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
        tab.goto(server.address)
        assert tab.evaluate("document.documentElement.scrollWidth") <= size[0]
        tab.screenshot(path=tmp_path / "page.png", full_page=True)

        def press(name: str) -> None:
            tab.get_by_role("button", name=name).focus()
            tab.keyboard.press("Enter")

        for slot in ("1", "3"):
            press("Add: cost request")
            press("Do this, end the turn")
            tab.locator("ul.said").first.get_by_text("costs of slots 0:").wait_for()
            tab.get_by_label("slot", exact=True).first.focus()
            tab.keyboard.type(slot)
            tab.keyboard.press("Enter")
            tab.get_by_text(f"decision slot {slot}").wait_for()
            press("Do this, end the turn")
            press("Do nothing, end the turn")
            tab.get_by_label("Book meeting").focus()
            tab.keyboard.type(slot)
            press("Add booking")
            press("Do this, end the turn")
        tab.get_by_role("heading", name="The game is over").wait_for()
        browser.close()
    server.leave()
    check_is_led(server.seat.trace, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seat", "9"], "leave one of the seats 0 to 4 free of partners"),
        (["--games", "0"], "--games: play at least one"),
    ],
)
def test_mistake_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["person", "--terminal", "--out", str(tmp_path), *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines() == [said]


def test_who_leaves_the_terminal_ends_all_games_and_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("say Hello\n"))
    monkeypatch.setattr(
        sys, "argv", ["person", "--terminal", "--games", "3", "--out", str(tmp_path)]
    )
    assert main() == 0
    assert not [*tmp_path.iterdir()]


def playing_on(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run the command with a person who only ends turns, over HTTP, and then looks no more."""

    def play(page: Page) -> Trace | None:
        while page.seat.trace is None:
            ask(page, "POST", page.place, "tool=end_turn")
        return page.seat.trace

    monkeypatch.setattr(Page, "play", play)
    monkeypatch.setattr("calbench.integrations.person.FAREWELL_S", 0.1)
    monkeypatch.setattr(sys, "argv", ["person", *words])
    assert main() == 0


def test_game_is_kept_though_nobody_fetches_the_last_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing_on(monkeypatch, "--games", "2", "--out", str(tmp_path))
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.heavy
def test_games_of_a_person_are_replayed_measured_and_shown_under_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games, scores, pages = (str(tmp_path / name) for name in ("games", "scores", "pages"))
    playing_on(monkeypatch, "--partner", "imap", "--games", "3", "--out", games)
    found = [*Path(games).iterdir()]
    assert len(found) == 3
    kept = [path.read_text(encoding="utf-8") for path in found]
    told = (getpass.getuser(), socket.gethostname(), "127.0.0.1", str(tmp_path))
    assert not [name for name in told for text in kept if f'"{name}' in text]
    assert calbench("verify", games).status == 0
    assert calbench("rescore", games, f"out={scores}").status == 0
    assert {*read_run(scores).table("leaderboard")["team"]} == {"person"}
    assert calbench("view", games, f"out={pages}", "serve=false").status == 0
    assert (Path(pages) / "players" / "person.html").is_file()
