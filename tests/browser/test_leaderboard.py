"""The leaderboard and what belongs to it, in a browser."""

import csv
import re
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.tabs import Tab, Visit

LIGHT_BYTES = 300_000
"""Most bytes that the first two pages load, the theme's included and nothing compressed."""


def rows_shown(page: Page) -> list[str]:
    names: list[str] = page.locator("#lb-board tbody th").evaluate_all(
        "cells => cells.map(cell => cell.firstChild.textContent)"
    )
    return names


def saved(page: Page) -> list[dict[str, str]]:
    """Return what the leaderboard's download holds."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    with Path(waiting.value.path()).open(newline="") as file:
        return list(csv.DictReader(file))


def board(page: Page, sorted_by: str = "adjusted_excess_cost") -> Page:
    """Wait until the leaderboard is there."""
    expect(page.locator("#lb-board")).to_have_attribute("data-ready", sorted_by)
    return page


@pytest.mark.heavy
def test_leaderboard_is_sorted_by_keyboard_and_mouse(visit: Visit) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages"))
    sorted_by = page.locator("#lb-board th[aria-sort]")

    expect(sorted_by).to_contain_text("Adjusted excess cost")
    expect(sorted_by).to_have_attribute("aria-sort", "ascending")
    assert rows_shown(page)[0] == "oracle"
    page.locator("[data-sort=messages]").focus()
    page.keyboard.press("Enter")
    expect(sorted_by).to_contain_text("Messages")
    assert page.evaluate("document.activeElement.dataset.sort") == "messages"
    values = [float(row["messages"]) for row in saved(page) if row["messages"]]
    assert values == sorted(values)
    page.locator("[data-sort=messages]").press("Enter")
    expect(sorted_by).to_have_attribute("aria-sort", "descending")
    assert rows_shown(page)[-1] == "oracle"  # it sends none, and absent comes last
    page.locator("[data-sort=team]").click()
    assert rows_shown(page) == sorted(rows_shown(page))
    page.locator("[data-sort=rank]").click()
    expect(sorted_by).to_contain_text("Rank")


@pytest.mark.heavy
def test_leaderboard_state_is_its_address(visit: Visit) -> None:
    page = board(visit("leaderboard.html"))
    page.locator(".lb-choice", has_text=re.compile("^uniform$")).click()
    page.locator("[data-sort=coordination]").click()
    page.locator("summary", has_text="Kinds").click()
    page.get_by_role("checkbox", name="reference").uncheck()
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="Excess cost", exact=True).check()
    page.get_by_role("checkbox", name="Fairness").uncheck()
    page.keyboard.press("Escape")
    page.get_by_role("checkbox", name="Numbers only").check()
    page.locator("#lb-find").fill("baseline")
    shown = page.locator("#lb-board .cb-scroll").inner_html()
    address = page.evaluate("location.hash")

    assert rows_shown(page) == ["tell-all"]
    assert "reference" in address
    assert "fairness" not in address
    page = board(visit(f"leaderboard.html{address}"), "coordination")
    assert page.locator("#lb-board .cb-scroll").inner_html() == shown
    assert page.evaluate("location.hash") == address
    page.get_by_role("button", name="Reset").click()
    board(page)
    assert page.evaluate("location.hash") == ""


@pytest.mark.heavy
def test_leaderboard_download_is_what_is_shown(visit: Visit, folder: Path) -> None:
    page = board(visit("leaderboard.html#setting=uniform&channel=private messages&find=protocol"))

    rows = saved(page)

    assert [row["team"] for row in rows] == rows_shown(page)
    with (folder / "tables" / "leaderboard.csv").open(newline="") as file:
        whole = {
            row["team"]: row
            for row in csv.DictReader(file)
            if (row["setting"], row["channel"]) == ("uniform", "private messages")
        }
    cells = page.locator("#lb-board td > data").evaluate_all("all => all.map(one => one.value)")
    fields = [name for name in rows[0] if f"{name}_low" in rows[0] and name != "rank"]
    assert cells == [row[name] for row in rows for name in fields if row[name]]
    for row in rows:
        for name in fields:
            column = name.split(".")[0]
            for part in ("", "_low", "_high", "_n"):
                assert row[f"{name}{part}"] in {whole[row["team"]][f"{column}{part}"], ""}


@pytest.mark.heavy
def test_leaderboard_switches_and_explains(visit: Visit) -> None:
    page = board(visit("leaderboard.html"))
    page.locator(".lb-choice", has_text="smollm2").click()
    assert rows_shown(page) == ["oracle", "my-model"]
    expect(page.locator("#lb-board th", has_text="US$ per game")).to_have_count(1)
    page.locator(".lb-choice", has_text=re.compile("^uniform$")).click()
    page.locator(".lb-choice", has_text="private messages, language").click()
    assert "guarded" in rows_shown(page)
    expect(page.locator("[data-sort='excess_vps.reflection']")).to_have_count(1)
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


@pytest.mark.heavy
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
    page.locator("#lb-open").check()
    shown = page.locator("#lb-comparisons .cb-scroll").inner_html()
    address = page.evaluate("location.hash")
    page = visit(f"results/comparisons.html{address}")
    expect(page.locator("#lb-comparisons")).to_have_attribute("data-ready", "messages")
    assert page.locator("#lb-comparisons .cb-scroll").inner_html() == shown


@pytest.mark.heavy
def test_picture_of_the_first_page_leads_to_its_game(visit: Visit) -> None:
    page = visit("index.html")

    expect(page.locator(".cb-picture svg title")).to_contain_text("agree on a meeting by talking")
    page.locator(".cb-picture a").click()

    expect(page.locator("#cb-traces")).to_have_attribute("data-game", re.compile("^language/"))


@pytest.mark.heavy
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
