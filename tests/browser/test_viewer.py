"""The view of one game: what each sees, what was given away, and two games at once."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from calbench.domain.actions import Turn
from calbench.domain.calendars import Booking, Item
from calbench.domain.observations import Observation
from calbench.engine.drivers import run
from calbench.metrics.privacy.inference.game import learnt
from calbench.protocols.base import Policy
from calbench.protocols.registry import build_policy
from calbench.traces.storage import read_trace
from tests.browser.tabs import Visit, more, opened, until
from tests.report.samples import play, suite_of
from tests.report.unpacking import page_data, page_table

pytestmark = pytest.mark.heavy


HEARSAY = """([game, event, label, path]) => new Promise(done =>
    calbench.games.load(...game, found => {
    found.ledger.labels[label][0] = "<img src=x onerror=hacked>";
    found.ledger.words[event][found.ledger.words[event].length - 1].push(path);
    done();
}))"""
"""Makes the last label of a message one that it passes on, and hostile."""


TELL = """([game, told, outcome]) => new Promise(done =>
    calbench.games.load(...game, found => {
    found.ledger.bits = { told: told, outcome: outcome };
    done();
}))"""
"""Says what each message of a game told."""


def go_to(page: Page, event: int) -> None:
    """Move the open game to an event."""
    page.get_by_role("slider", name="Event").fill(str(event))
    expect(page.locator("#cb-traces")).to_have_attribute("data-event", str(event))


def test_game_is_stepped_by_round_and_keys_are_listed(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)
    place = page.locator(".cb-place")
    expect(page.locator("#cb-traces")).to_contain_text("channel: private messages · at most")

    page.keyboard.press("]")
    more(page)
    page.get_by_label("Step by").select_option("round")
    page.get_by_role("button", name="Next round").click()
    expect(place).to_contain_text("round 1")
    page.keyboard.press("]")
    expect(place).to_contain_text("round 2, M2 · resolution")
    page.keyboard.press("[")
    expect(place).to_contain_text("round 1, M1 · resolution")
    page.get_by_role("button", name="Previous round").click()
    expect(place).not_to_contain_text("round 1")
    expect(page.locator(".cb-help")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator(".cb-help")).to_contain_text("play or pause")
    page.get_by_role("button", name="Keys").click()
    expect(page.locator(".cb-help")).to_be_hidden()


def test_game_plays_and_pauses(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)
    more(page)
    page.get_by_label("Step by").select_option("round")
    page.get_by_label("Speed").select_option("20")

    page.get_by_role("button", name="Play", exact=True).click()

    expect(page.locator(".cb-event")).to_contain_text("The game ends")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    more(page)
    page.get_by_label("Step by").select_option("event")
    page.get_by_label("Speed").select_option("0.5")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(" ")
    opened(page, "varied/imap/varied-001", 0)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_optimum_stands_beside_and_where_it_became_unreachable_is_one_click_away(
    visit: Visit,
) -> None:
    page = visit("traces.html#varied/silent/varied-000/5")
    opened(page, "varied/silent/varied-000", 5)

    assert page.locator(".cb-optimum td.cb-meeting").count() == 15
    expect(page.locator(".cb-costs tbody tr")).to_have_count(6)
    expect(page.locator(".cb-track-unreachable")).to_have_count(1)
    page.get_by_role("button", name="Go to where the optimum became unreachable").click()
    expect(page.locator(".cb-unreachable")).to_contain_text(
        "a meeting could no longer be scheduled"
    )
    expect(page.locator(".cb-event")).to_contain_text("is resolved: no batch")
    at = page.locator("#cb-traces").get_attribute("data-event")
    expect(page.locator(".cb-unreachable")).to_contain_text(f"at event {at}:")
    more(page)
    page.locator("#cb-optimum").uncheck()
    expect(page.locator(".cb-optimum")).to_have_count(0)


def test_messages_are_shown_by_channel_and_over_rounds(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/99999")
    expect(page.locator(".cb-event")).to_contain_text("The game ends")
    last_round = page.locator(".cb-message").count()

    more(page)
    page.select_option("#cb-scope", "game")
    expect(page.locator(".cb-round")).to_have_count(5)
    every = page.locator(".cb-message").count()
    assert every > last_round
    options = page.locator("#cb-channel option").evaluate_all("os => os.map(o => o.value)")
    counts = []
    for channel in options[1:]:
        page.select_option("#cb-channel", channel)
        counts.append(page.locator(".cb-message").count())
    assert all(counts)
    assert sum(counts) == every
    until(page, "location.hash.includes(';talk=game;channel=dm%20')")


def test_ledger_adds_up_to_the_games_loss_in_the_table(visit: Visit, folder: Path) -> None:
    for experiment, team, scenario in (
        ("varied", "imap", "varied-001"),
        ("uniform", "mediator", "uniform-000"),
        ("uniform", "secure-sum", "uniform-001"),
        ("language", "candid", "uniform-000"),
        ("language", "mixed-scripted", "varied-001"),
    ):
        total = sum(
            float(row["vps"])
            for row in page_table(folder, f"{experiment}/agent_games.csv")
            if (row["team"], row["scenario_id"]) == (team, scenario)
        )
        page = visit(f"traces.html#{experiment}/{team}/{scenario}/99999;talk=game")
        page.locator("#cb-ledger summary").click()

        expect(page.locator(".cb-ledger tbody tr").first).to_be_visible()
        shown = float(page.locator(".cb-vps").get_attribute("data-vps") or "nan")
        assert shown == pytest.approx(total, abs=1e-3)
        assert total > 1


def test_bits_of_messages_add_up_to_those_of_the_game(
    visit: Visit, traces: dict[str, Path]
) -> None:
    """The page has no facts of these games, so it is told what they would say."""
    for experiment, team, scenario in (
        ("varied", "imap", "varied-001"),
        ("uniform", "mediator", "uniform-000"),
        ("language", "candid", "uniform-000"),
    ):
        found = learnt(read_trace(traces[experiment] / team / f"{scenario}.json"))
        outcome = sum(pair.outcome_bits for pair in found.pairs)
        pairs = [value for pair in found.told.items() for value in pair]
        page = visit(f"traces.html#{experiment}/{team}/{scenario}/0")
        opened(page, f"{experiment}/{team}/{scenario}", 0)
        page.evaluate(TELL, [[experiment, team, scenario], pairs, outcome])
        page.goto(page.url.replace("/0", "/99999;talk=game"))
        page.locator("#cb-ledger summary").click()

        expect(page.locator(".cb-bits")).to_be_visible()
        bits = sum(found.told.values())
        expect(page.locator("#cb-ledger")).to_contain_text(f"bits are {bits - outcome:.2f},")
        column = page.locator(".cb-ledger thead th").all_inner_texts().index("Bits") + 1
        cells = page.locator(f".cb-ledger tbody td:nth-child({column})").all_inner_texts()
        told = [float(cell.replace("\N{MINUS SIGN}", "-")) for cell in cells if cell]
        assert sum(told) == pytest.approx(bits, abs=1e-6)
        shown = float(page.locator(".cb-bits").get_attribute("data-bits") or "nan")
        assert shown == pytest.approx(bits, abs=0.005)
        assert len([each for each in told if each]) >= 5


def test_link_that_is_followed_at_once_is_not_written_over(visit: Visit) -> None:
    """The address follows the game a little later, and the browser says later that it changed."""
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)
    page.evaluate(
        """new Promise(done => {
            const slider = document.querySelector("#cb-traces input[type=range]");
            slider.value = 3;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            history.pushState(null, "", "#uniform/mediator/uniform-000/5");
            setTimeout(() => { dispatchEvent(new HashChangeEvent("hashchange")); done(); }, 500);
        })"""
    )

    opened(page, "uniform/mediator/uniform-000", 5)
    assert page.url.partition("#")[2] == "uniform/mediator/uniform-000/5"


def test_beliefs_move_with_the_game(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)
    page.locator("#cb-heat summary").click()
    moved = page.locator(".cb-heat td:not(.cb-unmoved)")
    expect(page.locator(".cb-heat tbody tr")).to_have_count(4)
    expect(moved).to_have_count(0)

    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(page.locator(".cb-heat caption")).to_contain_text("What agent")
    # The initiator asked two others for every slot; each of them heard the decision from it.
    initiator = page.locator(".cb-grid tr", has_text="initiator").locator("th").inner_text()[6]
    page.select_option("#cb-observer", initiator)
    expect(moved).to_have_count(32)
    other = page.locator(".cb-grid tr", has_text="participant").first.locator("th").inner_text()[6]
    page.select_option("#cb-observer", other)
    expect(moved).to_have_count(1)
    expect(moved.first).to_have_text("1.00")
    expect(page.locator("#cb-heat")).to_contain_text("By the meaning of typed messages")


def test_leaks_and_claims_are_marked_where_they_stand(visit: Visit, folder: Path) -> None:
    name = "language/oversharer/varied-000"
    game = page_data(folder / "pagedata", f"games/{name}")
    ledger = game["ledger"]
    event, spans = next(
        (int(event), spans)
        for event, spans in ledger["words"].items()
        if isinstance(spans, list) and isinstance(spans[-1][2], int)
    )
    start, end, label = spans[-1]
    page = visit(f"traces.html#{name}/{event}")
    opened(page, name, event)

    message = page.locator(f'.cb-message[data-event="{event}"]')
    expect(message.locator("mark.cb-leak").last).to_contain_text(
        game["events"][event]["content"]["text"][start:end]
    )
    text, tier, _ = ledger["labels"][label]
    hearers = ", ".join(map(str, game["events"][event]["to_agents"]))
    expect(message.locator(".cb-tag--leak").last).to_have_text(
        f"tells agent {hearers} the private label “{text}” ({tier})"
    )
    expect(message.locator(".cb-tag", has_text="own slots: availability")).to_have_count(1)
    assert message.locator(".cb-claim").count() > 2

    # No speaker here passes labels on, so this page is made to hold that one does.
    told = [[0, 1, [2]], [2, event, [3, 4]]]
    page.evaluate(HEARSAY, [name.split("/"), event, label, told])
    go_to(page, event + 1)
    go_to(page, event)
    expect(message.locator(".cb-tag--leak").last).to_have_text(
        f"passes on second-hand to agent {hearers} the private label "
        f"“<img src=x onerror=hacked>” ({tier}), on the path agent 0 told 2 (event 1), "
        f"agent 2 told 3, 4 (event {event})"
    )
    page.locator("#cb-ledger summary").click()
    for place in (message, page.locator(".cb-ledger tr.cb-now")):
        expect(place.locator(".cb-path").last).to_have_text("path: agent 0 → agent 2 → 3, 4")
    message.locator(".cb-path").last.get_by_text("agent 0").click()
    opened(page, name, 1)


def test_two_games_stand_side_by_side(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)

    more(page)
    page.select_option("#cb-beside", "silent")
    second = page.locator(".cb-second")
    expect(second.locator("h3").first).to_have_text("silent (degenerate baseline)")
    for _ in range(4):  # the first ends before the first round
        page.keyboard.press("]")
    expect(page.locator(".cb-place").first).to_contain_text("round 3, M3 · resolution")
    expect(second.locator(".cb-place")).to_contain_text("round 3, M3 · resolution")
    expect(second.locator(".cb-outcomes")).to_contain_text("no batch")
    assert page.locator(".cb-grid").count() == 2

    page.get_by_role("button", name="Previous round of the second game").click()
    expect(second.locator(".cb-place")).to_contain_text("round 2")
    expect(page.locator(".cb-place").first).to_contain_text("round 3")
    page.get_by_role("button", name="Next event of the second game").click()
    shown = second.locator(".cb-place").inner_text()
    more(page)
    moment = page.get_by_role("link", name="Link to this moment").get_attribute("href")
    assert re.search(r";beside=silent;event2=\d+$", moment or "")
    until(page, "moment => location.hash === moment", moment)
    address = page.evaluate("location.hash")
    page = visit(f"traces.html{address}")
    expect(page.locator(".cb-second .cb-place")).to_have_text(shown)
    page.get_by_label("step both games by round").check()
    expect(page.locator(".cb-second .cb-place")).to_contain_text("round 3")

    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = [page.locator(".cb-grid").nth(place).bounding_box() for place in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    more(page)
    page.select_option("#cb-beside", "")
    expect(page.locator(".cb-grid")).to_have_count(1)


class Watched:
    """A policy that remembers what it was shown."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Turn:
        self.seen.append(observation)
        return self._policy.act(observation)


def cell_text(item: Item | None) -> str:
    if item is None:
        return "·free"
    if isinstance(item, Booking):
        return f"M{item.item_id}"
    return "■" if item.blocked else f"{item.shown_cost}errand"


@pytest.mark.parametrize("agent", [0, 3])
def test_private_view_is_the_agents_observation(visit: Visit, agent: int) -> None:
    scenario = suite_of("varied", 3)[1]
    policy = build_policy("imap", {})
    assert policy is not None
    watched = [Watched(policy) for _ in range(scenario.num_agents)]
    trace = run(scenario, play(scenario, "imap").config, watched)
    questions = [
        index
        for index, event in enumerate(trace.events)
        if event.type in {"turn_start", "decide_start"} and event.agent_id == agent
    ]
    assert len(questions) == len(watched[agent].seen) > 10
    page = visit(f"traces.html#varied/imap/varied-001/0;view=agent-{agent};talk=game")
    opened(page, "varied/imap/varied-001", 0)
    expect(page.locator(".cb-grid td.cb-errand, .cb-message")).to_have_count(0)

    for index, seen in zip(questions, watched[agent].seen, strict=True):
        go_to(page, index)
        heard = page.locator(".cb-message").evaluate_all("n => n.map(m => +m.dataset.event)")
        told = [trace.events[event] for event in heard]
        known = [*seen.earlier, *seen.messages]
        assert sorted((m.from_agent, m.to_agents, repr(m.content)) for m in told) == sorted(
            (m.sender, m.recipients, repr(m.content)) for m in known
        )
        rows = page.locator(".cb-grid tbody tr")
        cells = rows.nth(agent).locator("td").all_text_contents()
        for cell, item in zip(cells[:-1], seen.calendar, strict=True):
            assert cell.replace(" ", "").startswith(cell_text(item))
        assert cells[-1] == str(seen.incurred_shown_cost)
        assert page.locator(".cb-grid td.cb-hidden").count() == 4 * len(seen.calendar)
        roles = page.locator(".cb-grid th.cb-in").all_text_contents()
        participants = getattr(seen.meeting, "participants", ())
        assert [int(role[6]) for role in roles] == sorted(participants)


def unseen_texts(game: dict[str, Any], agent: int | None, at: int) -> set[str]:
    """Return the words and thoughts of a game that an agent has not seen at an event."""
    seen: set[str] = set()
    unseen: set[str] = set()
    read: set[int] = set()
    for event in game["events"][: at + 1]:
        if event["type"] == "turn_start" and event["agent_id"] == agent:
            read.update(event["inbox"])
    for index, event in enumerate(game["events"]):
        text = (event.get("content") or {}).get("text") or event.get("thinking")
        if not text:
            continue
        author = event.get("from_agent", event.get("agent_id"))
        is_seen = (author == agent and index <= at) or index in read
        (seen if is_seen else unseen).add(text)
    return {text for text in unseen if not any(text in other for other in seen)}


def test_private_view_holds_nothing_that_the_agent_did_not_see(visit: Visit, folder: Path) -> None:
    name = "language/oversharer/varied-000"
    game = page_data(folder / "pagedata", f"games/{name}")
    last = len(game["events"]) - 1
    page = visit(f"traces.html#{name}/{last}")
    opened(page, name, last)
    for details in ("The exact prompt", "Its system prompt"):
        page.locator("details").filter(has_text=details).evaluate("node => { node.open = true; }")
    for agent in (0, 2, None):
        view = "outsider" if agent is None else f"agent-{agent}"
        more(page)
        page.select_option("#cb-view", view)
        page.select_option("#cb-scope", "game")
        for at in range(5, last, last // 5):
            go_to(page, at)
            html = page.locator(".cb-viewer").evaluate("node => node.textContent")
            unseen = unseen_texts(game, agent, at)
            assert len(unseen) > 3
            for text in unseen:
                assert text not in html, (view, at)
            shown = page.locator(".cb-stage").inner_text()
            assert "optimum" not in shown
            secrets = ".cb-optimum, .cb-plan, .cb-track i, .cb-costs, .cb-outcomes, .cb-leak"
            assert page.locator(secrets).count() == 0
            foreign = page.locator(".cb-grid tbody tr:not(:has(td.cb-free)) td:not(.cb-sum)")
            assert set(foreign.evaluate_all("n => n.map(c => c.firstChild.data)")) <= {
                "?", "(M1)", "(M2)", "(M3)", "(M4)", "(M5)",
            }  # fmt: skip
    more(page)
    page.select_option("#cb-view", "all")
    expect(page.locator(".cb-costs")).to_have_count(1)


def test_outsider_sees_only_what_is_said_to_all(visit: Visit) -> None:
    page = visit("traces.html#uniform/tell-all/uniform-002/99999;view=outsider;talk=game")
    expect(page.locator(".cb-viewer")).to_contain_text("An outsider has no seat")

    expect(page.locator(".cb-message")).to_have_count(0)  # tell-all writes private messages
    expect(page.locator(".cb-grid td.cb-hidden")).to_have_count(80)
    expect(page.locator(".cb-place")).to_contain_text("its participants unknown to this agent")
    until(page, "location.hash.endsWith(';view=outsider;talk=game')")


def test_hostile_words_stay_text_in_ledger_and_side_by_side(visit: Visit) -> None:
    page = visit(
        "traces.html#smollm2/my-model/smollm2-000/99999;talk=game;view=%3Cscript%3E"
        ";beside=%3Cimg%20src%3Dx%3E;channel=%3Cb%3E;event2=-1;%00=1"
    )
    expect(page.locator(".cb-event")).to_contain_text("The game ends")
    expect(page.locator("#cb-view")).to_have_value("all")
    expect(page.locator("#cb-beside")).to_have_value("")
    page.locator("#cb-ledger summary").click()
    page.locator("#cb-heat summary").click()

    expect(page.locator(".cb-ledger tbody tr").first).to_be_visible()
    more(page)
    page.select_option("#cb-view", "agent-0")
    assert "<script>window.hacked" in page.locator(".cb-talk").inner_text()
    expect(page.locator(".cb-ledger")).to_have_count(0)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0
    page.evaluate("location.hash = '#hostile/hostile/hostile-000/99999;talk=game'")
    expect(page.locator(".cb-viewer h2")).to_have_text("hostile on hostile-000")
    expect(page.locator(".cb-ledger")).to_contain_text("<script>window.hacked = 1</script>")
    assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("name", ["..%2F..%2Fassets/x/y", "a/../b", "%2E%2E/x/y", "a%2Fb/c/d"])
def test_names_with_slashes_or_dots_alone_load_nothing(visit: Visit, name: str) -> None:
    page = visit(f"traces.html#{name}/1")

    expect(page.get_by_role("alert")).to_contain_text("This site does not have the game")
