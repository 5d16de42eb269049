"""The leaderboard and what belongs to it, in a browser."""

import csv
import re
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.tabs import DESKTOP, PHONE, Tab, Visit
from tests.report.unpacking import page_table

pytestmark = pytest.mark.heavy

LIGHT_BYTES = 300_000
"""Most bytes that the first two pages load, the theme's included and nothing compressed."""


def rows_shown(page: Page) -> list[str]:
    names: list[str] = page.locator("#lb-board tbody th[scope=row]").evaluate_all(
        "cells => cells.map(cell => cell.querySelector('.lb-name').textContent)"
    )
    return names


def saved(page: Page) -> list[dict[str, str]]:
    """Return what the leaderboard's download holds."""
    more(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    with Path(waiting.value.path()).open(newline="") as file:
        return list(csv.DictReader(file))


def more(page: Page) -> None:
    """Open the menu with all that is not in the row of controls."""
    if page.locator(".lb-menu[open]").count() == 0:
        page.locator(".lb-menu > summary").click()


def choose(page: Page, what: str, value: str) -> None:
    """Choose a setting or a channel, and wait for its rows."""
    page.locator(f"#lb-{what}").select_option(value)
    expect(page.locator("#lb-board")).to_have_attribute("data-ready", re.compile("."))


def competing(page: Page) -> list[str]:
    """Return the teams of the first table that compete."""
    names: list[str] = (
        page.locator("#lb-board table")
        .first.locator("tbody:not(.lb-apart) .lb-name")
        .all_text_contents()
    )
    return names


def board(page: Page, sorted_by: str = "adjusted_excess_cost") -> Page:
    """Wait until the leaderboard is there."""
    expect(page.locator("#lb-board")).to_have_attribute("data-ready", sorted_by)
    return page


def test_leaderboard_is_sorted_by_keyboard_and_mouse(visit: Visit) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages"))
    sorted_by = page.locator("#lb-board th[aria-sort]")

    expect(sorted_by.first).to_contain_text("Adjusted excess cost")
    expect(sorted_by.first).to_have_attribute("aria-sort", "ascending")
    assert competing(page)[0] == "imap"
    page.locator("[data-sort=messages]").first.focus()
    page.keyboard.press("Enter")
    expect(sorted_by.first).to_contain_text("Messages")
    assert page.evaluate("document.activeElement.dataset.sort") == "messages"
    order = competing(page)
    values = {row["team"]: row["messages"] for row in saved(page)}
    numbers = [float(values[team]) for team in order]
    assert numbers == sorted(numbers)
    page.locator("[data-sort=messages]").first.press("Enter")
    expect(sorted_by.first).to_have_attribute("aria-sort", "descending")
    assert competing(page) == order[::-1]
    page.locator("[data-sort=team]").first.click()
    assert competing(page) == sorted(competing(page))
    page.locator("[data-sort=rank]").first.click()
    expect(sorted_by.first).to_contain_text("Rank")


def test_what_does_not_compete_stands_apart(visit: Visit) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages&order=down"))

    pools = page.locator("#lb-board .lb-pool").all_text_contents()
    assert pools == ["Protocols, privacy by messages"]
    assert set(competing(page)) == {"imap", "mediator", "secure-sum"}
    apart = page.locator("#lb-board .lb-apart")
    expect(apart).to_have_count(1)
    expect(apart).to_contain_text("Not competing")
    assert set(apart.locator(".lb-name").all_text_contents()) == {"tell-all", "oracle"}
    head = page.locator("#lb-board thead")
    expect(head).to_contain_text("Excess VPS, by messages")
    expect(head).not_to_contain_text("by reflections")


@pytest.mark.parametrize(("size", "least"), [((1280, 800), 12), ((390, 844), 6)])
def test_rows_are_low_enough_to_be_seen_at_once(
    visit: Visit, tab: Tab, size: tuple[int, int], least: int
) -> None:
    tab.resize(size)
    page = board(visit("leaderboard.html"))
    tops: list[float] = page.locator("#lb-board tbody tr:has(.lb-name)").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().top)"
    )
    heights: list[float] = page.locator("#lb-board tbody tr:has(.lb-name)").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().height)"
    )
    tab.resize(DESKTOP)

    assert (size[1] - tops[0]) / max(heights[:3]) >= least


def test_header_stays_in_sight(visit: Visit, tab: Tab) -> None:
    tab.resize((1280, 300))
    page = board(visit("leaderboard.html"))
    head = page.locator("#lb-board thead th").first
    page.locator("#lb-board tbody tr").nth(1).evaluate(
        "row => scrollBy(0, row.getBoundingClientRect().top - 60)"
    )
    place = head.bounding_box()
    tab.resize(DESKTOP)

    assert place is not None
    assert place["y"] >= 40


def test_header_stays_in_sight_where_a_table_scrolls_by_itself(visit: Visit, tab: Tab) -> None:
    tab.resize(PHONE)
    page = board(visit("leaderboard.html"))
    scroll = page.locator("#lb-board .cb-scroll").first
    assert scroll.evaluate("place => { place.scrollTop = 30; return place.scrollTop; }") == 30
    head, box = page.locator("#lb-board thead th").first.bounding_box(), scroll.bounding_box()
    tab.resize(DESKTOP)

    assert head is not None
    assert box is not None
    assert abs(head["y"] - box["y"]) <= 1


def test_numbers_say_their_intervals_where_the_arrow_keys_go(visit: Visit) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages"))
    first = page.locator("#lb-board .lb-value").first
    about = page.locator("#lb-board .lb-more").first

    assert about.evaluate("node => getComputedStyle(node).clipPath") != "none"
    first.focus()
    assert about.evaluate("node => getComputedStyle(node).clipPath") == "none"
    expect(about).to_contain_text("n = ")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('td').cellIndex") == 3
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('tr').sectionRowIndex") == 1


def test_the_papers_models_are_a_table_of_their_own(visit: Visit) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages"))
    before = rows_shown(page)
    page.set_viewport_size({"width": 390, "height": 500})
    page.get_by_role("checkbox", name="Show the paper's models").check()
    theirs = page.locator("#lb-board table").last

    expect(
        page.get_by_role("heading", name="The paper's models, from the paper")
    ).to_be_in_viewport()
    expect(theirs.locator("tbody tr")).to_have_count(7)
    expect(theirs).to_contain_text("from the paper")
    heads = theirs.locator("thead th").all_text_contents()
    assert any(head.startswith("Excess cost") for head in heads)
    assert not any(head.startswith("Adjusted") for head in heads)
    assert theirs.locator(".lb-rank").count() == 0
    page.locator("[data-sort=coordination]").first.click()
    values = theirs.locator("tbody tr td:nth-child(3)").all_text_contents()
    assert [float(value) for value in values] == sorted(map(float, values), reverse=True)
    assert set(before) < set(rows_shown(page))
    assert "paper=shown" in page.evaluate("location.hash")


def test_the_papers_table_is_sorted_by_itself(visit: Visit) -> None:
    place = "leaderboard.html#setting=uniform&channel=private messages&paper=shown"
    page = board(visit(place))
    theirs = page.locator("#lb-board table").last
    costs = theirs.locator("tbody tr td:nth-child(4)")
    ours = competing(page)

    values = [float(value) for value in costs.all_text_contents()]
    assert values == sorted(values)
    expect(theirs.locator("th[aria-sort]")).to_contain_text("Excess cost")
    theirs.locator("[data-sort=paper-excess_vps]").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.sort") == "paper-excess_vps"
    expect(theirs.locator("th[aria-sort=descending]")).to_contain_text("by reflections")
    losses = [float(v) for v in theirs.locator("tbody td:nth-child(7)").all_text_contents()]
    assert losses == sorted(losses, reverse=True)
    assert competing(page) == ours
    address = page.evaluate("location.hash")
    order = rows_shown(page)
    page = board(visit(f"leaderboard.html{address}"))
    assert rows_shown(page) == order


def test_hidden_kinds_are_in_the_address_with_their_commas(visit: Visit) -> None:
    page = board(visit("leaderboard.html#without=a%252C b,reference"))

    assert "oracle" not in rows_shown(page)
    page.locator("[data-sort=team]").first.click()
    assert "without=a%252C%2520b%2Creference" in page.evaluate("location.hash")


def test_rows_lead_to_players_and_games(visit: Visit, folder: Path) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages"))
    links: list[str] = page.locator("#lb-board a.lb-name").evaluate_all(
        "all => all.map(one => one.getAttribute('href'))"
    )

    assert "players/imap.html" in links
    assert all((folder / link).is_file() for link in links)
    page.get_by_role("link", name="Games of imap").click()
    expect(page.locator("#cb-traces")).to_contain_text("imap")
    assert "t=imap" in page.evaluate("location.hash")


def test_leaderboard_state_is_its_address(visit: Visit) -> None:
    page = board(visit("leaderboard.html"))
    choose(page, "setting", "uniform")
    page.locator("[data-sort=coordination]").first.click()
    more(page)
    page.get_by_role("checkbox", name="reference").uncheck()
    page.get_by_role("checkbox", name="Excess cost", exact=True).check()
    page.get_by_role("checkbox", name="Fairness").uncheck()
    page.get_by_role("checkbox", name="Full rows").check()
    page.locator("#lb-find").fill("nobody of that name")
    expect(page.locator("#lb-board")).to_contain_text("No team matches the search.")
    page.locator("#lb-find").fill("baseline")
    page.keyboard.press("Escape")
    shown = page.locator("#lb-board .lb-tables").inner_html()
    address = page.evaluate("location.hash")

    assert rows_shown(page) == ["tell-all"]
    assert "reference" in address
    assert "fairness" not in address
    page = board(visit(f"leaderboard.html{address}"), "coordination")
    assert page.locator("#lb-board .lb-tables").inner_html() == shown
    assert page.evaluate("location.hash") == address
    more(page)
    page.get_by_role("button", name="Reset").click()
    board(page)
    assert page.evaluate("location.hash") == ""


def test_leaderboard_download_is_what_is_shown(visit: Visit, folder: Path) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages&find=protocol"))

    rows = saved(page)

    assert [row["team"] for row in rows] == rows_shown(page)
    whole = {
        row["team"]: row
        for row in page_table(folder, "leaderboard.csv")
        if (row["setting"], row["channel"]) == ("uniform", "private messages")
    }
    cells = page.locator("#lb-board td .lb-value > data").evaluate_all(
        "all => all.map(one => one.value)"
    )
    fields = [name for name in rows[0] if f"{name}_low" in rows[0] and name != "rank"]
    assert cells == [row[name] for row in rows for name in fields if row[name]]
    for row in rows:
        for name in fields:
            column = name.split(".")[0]
            for part in ("", "_low", "_high", "_n"):
                assert row[f"{name}{part}"] in {whole[row["team"]][f"{column}{part}"], ""}


def test_leaderboard_switches_and_explains(visit: Visit) -> None:
    page = board(visit("leaderboard.html"))
    choose(page, "setting", "smollm2")
    assert rows_shown(page) == ["my-model", "oracle"]
    expect(page.locator("#lb-board th", has_text="US$ per game")).to_have_count(1)
    choose(page, "setting", "uniform")
    choose(page, "channel", "private messages, language")
    assert "guarded" in rows_shown(page)
    expect(page.locator("[data-sort='vps_beyond_chance.reflection']")).to_have_count(1)
    expect(page.locator("[data-sort='excess_vps.protocol']")).to_have_count(0)

    page.get_by_role("button", name="About Coordination").click()
    dialog = page.locator(".lb-dialog[open]")
    expect(dialog).to_contain_text("agent-games with M > 0")
    expect(dialog).to_contain_text("[P] the paper")
    assert dialog.locator("a").first.get_attribute("href") == "method.html#coordination"
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="About ranks").click()
    expect(dialog).to_contain_text("paired permutation test")
    page.get_by_role("button", name="Close").click()
    page.locator(".lb-rank").first.click()
    expect(dialog).to_contain_text("Not told apart from")
    dialog.get_by_text("Its comparisons").click()
    expect(page.locator("#lb-comparisons")).to_have_attribute("data-ready", "adjusted_excess_cost")
    assert page.locator("#lb-group option:checked").inner_text() == "language, uniform"


def test_scripts_round_numbers_as_the_written_tables_do(visit: Visit) -> None:
    cells = [f"{sign}{n / 10_000:.4f}" for n in range(0, 30_000, 5) for sign in ("", "-")]
    cells += ["100.0000", "12.4", "3", "0.6415", "-0.2835", "2.99950"]
    page = visit("leaderboard.html")

    shown = page.evaluate("cells => cells.map(cell => calbench.rounded(cell, 3))", cells)

    wanted = [f"{Decimal(cell):.3f}" for cell in cells]
    assert [float(text) for text in shown] == [float(text) for text in wanted]
    assert {text.lstrip("-") for text in shown} == {text.lstrip("-") for text in wanted}


def test_comparisons_are_picked_and_reopened(visit: Visit) -> None:
    page = visit("results/comparisons.html")
    expect(page.locator("#lb-comparisons")).to_have_attribute("data-ready", "adjusted_excess_cost")
    rows = page.locator("#lb-comparisons tbody tr")

    page.locator("#lb-group").select_option(label="uniform")
    expect(rows).to_have_count(6)
    page.locator("#lb-measure").select_option("messages")
    page.locator("#lb-team").select_option("imap")
    expect(rows).to_have_count(3)
    page.locator("#lb-other").select_option("mediator")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("imap \u2212 mediator")
    links = rows.locator("th a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert links == ["../players/imap.html", "../players/mediator.html"]
    page.locator("#lb-open").check()
    shown = page.locator("#lb-comparisons .cb-scroll").inner_html()
    address = page.evaluate("location.hash")
    page = visit(f"results/comparisons.html{address}")
    expect(page.locator("#lb-comparisons")).to_have_attribute("data-ready", "messages")
    assert page.locator("#lb-comparisons .cb-scroll").inner_html() == shown


def test_picture_of_the_first_page_leads_to_its_game(visit: Visit) -> None:
    page = visit("index.html")

    expect(page.locator(".cb-picture svg title")).to_contain_text("agree on a meeting by talking")
    page.locator(".cb-picture a").click()

    expect(page.locator("#cb-traces")).to_have_attribute("data-game", re.compile("^language/"))


@pytest.mark.parametrize("name", ["index.html", "leaderboard.html"])
def test_first_pages_are_light_and_search_waits(
    visit: Visit, folder: Path, tab: Tab, name: str
) -> None:
    loaded: list[str] = []

    def note(request: Request) -> None:
        loaded.append(request.url)

    tab.page.on("request", note)
    visit(name).wait_for_load_state("networkidle")
    tab.page.remove_listener("request", note)
    sizes = {
        path: (folder / path).stat().st_size
        for url in loaded
        if url.startswith(tab.base)
        for path in [unquote(url.removeprefix(tab.base)).partition("#")[0]]
    }

    assert name in sizes
    assert sum(sizes.values()) < LIGHT_BYTES, sizes
    assert not [path for path in sizes if "search_index" in path or "/workers/" in path]


def test_the_price_of_a_failed_meeting_moves_means_and_rows(visit: Visit, folder: Path) -> None:
    page = board(visit("leaderboard.html"))
    choose(page, "setting", "smollm2")
    (row,) = [each for each in page_table(folder, "leaderboard.csv") if each["team"] == "my-model"]
    cost, failures = (float(row[name]) for name in ("adjusted_excess_cost", "failure_cost"))
    assert failures > 0
    slider = page.get_by_label("Failed meeting costs")
    value = page.locator("#lb-board tbody tr:has-text('my-model') .lb-value > data").first

    def shown() -> float:
        return float(value.get_attribute("value") or "nan")

    assert shown() == cost
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert shown() == pytest.approx(cost + 0.05 * failures, abs=1e-4)
    page.keyboard.press("Home")
    assert shown() == pytest.approx(cost - failures, abs=1e-4)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^0\.00 .* accounting cost"))
    (line,) = [each for each in saved(page) if each["team"] == "my-model"]
    moved = next(name for name in line if "0 times the price" in name)
    assert line[moved] == value.get_attribute("value")
    assert line[f"{moved.split(' ')[0]}_low"] == line["rank_low"] == ""
    address = page.evaluate("location.hash")
    assert "price=0" in address
    page = board(visit(f"leaderboard.html{address}"))
    assert shown() == pytest.approx(cost - failures, abs=1e-4)
    choose(page, "setting", "uniform")
    ranks = page.locator("#lb-board .lb-rank")  # tested at the price 1 alone
    expect(ranks).to_have_count(0)
    page.get_by_label("Failed meeting costs").fill("1")
    expect(ranks).not_to_have_count(0)
    assert "price" not in page.evaluate("location.hash")
