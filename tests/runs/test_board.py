"""Two invented models and a protocol, played and put beside the published results.

One model speaks, the other gives no readable reply. The site is built from the packed results, as
where the pipeline has not run.
"""

import csv
import gzip
import json
import re
import signal
import socket
import urllib.request
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from calbench import load_suite
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.agents.scripted.talk import STYLES
from calbench.cli.main import answer
from calbench.config.composition import compose
from calbench.domain.usage import Usage
from calbench.llm.completion import Completion, Request
from calbench.llm.model import Endpoint
from calbench.runs.play import execute
from calbench.scenarios.storage import write_suite
from tests.browser.tabs import ARGUMENTS, CHROMIUM, DESKTOP
from tests.cli.recording import STAND_IN
from tests.cli.runs import REPO, SMALL, calbench, files, started
from tests.effort import GUARD_S
from tests.report.unpacking import file_value, page_csv, page_table

pytestmark = pytest.mark.heavy

CELLS = re.compile(r"<tr>\s*(<th scope=\"row\">.*?)</tr>", re.DOTALL)


@dataclass(frozen=True)
class Board:
    """Runs, the names of their teams on the site, and the site."""

    speaking: Path
    mumbling: Path
    whole: Path
    speaker: str
    mumbler: str
    site: Path

    def rows(self, table: str, **where: str) -> list[dict[str, str]]:
        found = page_table(self.site, table)
        return [row for row in found if all(row[key] == cell for key, cell in where.items())]

    def page_rows(self, page: str, team: str) -> list[str]:
        """Return the rows of tables on a page that are of a team, as HTML."""
        text = (self.site / page).read_text(encoding="utf-8")
        return [row for row in CELLS.findall(text) if row.startswith(f'<th scope="row">{team} <')]


SPEAKING, MUMBLING = "speaking-1", "mumbling-1"

THOUGHT = "<script>window.hacked = 1</script>"
"""What the first one thinks at every turn; the other says nothing else."""


async def answering(request: Request, _endpoint: Endpoint) -> Completion:
    """Answer as one of the models; no price is known of either."""
    text = THOUGHT
    if request.spec.model.endswith(SPEAKING):
        reply = json.loads(ScriptedSpeaker(STYLES["guarded"], 0).reply(request.messages))
        text = json.dumps({**reply, "thinking": THOUGHT} if "thinking" in reply else reply)
    usage = Usage(input_tokens=100, cached_tokens=0, output_tokens=10)
    return Completion(text=text, finish_reason="stop", usage=usage)


def play(out: Path, *overrides: str) -> None:
    execute(compose([*overrides, f"out={out}"]), answering)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    root = tmp_path_factory.mktemp("board")
    part, every = root / "part.jsonl", root / "uniform.jsonl"
    write_suite(part, load_suite("varied")[:3])
    write_suite(every, load_suite("uniform"))
    runs = speaking, mumbling, whole = [root / name for name in ("speaking", "mumbling", "whole")]
    few = ("teams=[my-model]", *STAND_IN, "preflight=false", f"suite.path={part}")
    for out, model in ((speaking, SPEAKING), (mumbling, MUMBLING)):
        play(out, *few, f"model.name=openai/{model}")
    play(whole, "+experiment=uniform", "teams=[imap]", f"suite.path={every}")
    assert answer(["site", *map(str, runs), f"out={root / 'site'}"]) == 0
    return Board(speaking, mumbling, whole, SPEAKING, MUMBLING, root / "site")


def numbers(rows: Sequence[dict[str, str]], *names: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_part_of_a_suite_is_compared_on_its_scenarios_with_ranks_of_all(board: Board) -> None:
    channel = "all channels, 3 of 45 scenarios"
    rows = board.rows("leaderboard.csv", setting="varied", channel=channel)

    own = [row for row in rows if "not published" in row["kind"]]
    assert [row["team"] for row in own] == [board.speaker, board.mumbler]
    assert {"imap", "silent", "candid", "oracle"} < {row["team"] for row in rows}
    assert {row["games"] for row in rows if row["team"] != "oracle"} == {"3"}
    (speaker, _) = own
    imap = next(row for row in rows if row["team"] == "imap")
    assert speaker["coordination_ranked"] == imap["coordination_ranked"]
    assert int(imap["coordination_ranked"]) > 10
    pairs = board.rows("varied-3-of-45/comparisons.csv", team_b=board.speaker, measure="messages")
    assert {"imap", "candid"} <= {row["team_a"] for row in pairs}


def test_model_without_a_price_has_calls_and_no_price(board: Board) -> None:
    for team in (board.speaker, board.mumbler):
        (row,) = board.rows("leaderboard.csv", team=team)
        assert int(row["calls"]) > 0
        assert (row["price_usd"], row["price_usd_per_game"]) == ("", "")


def test_model_of_which_nothing_could_be_read_is_not_ranked(board: Board) -> None:
    (row,) = board.rows("leaderboard.csv", team=board.mumbler)
    assert row["excess_vps"] == ""
    assert row["coordination"] == row["excess_cost"] == ""
    assert row["kind"] == "language models, no reply could be read, not published, verified"
    assert row["coordination_rank_low"] == row["coordination_ranked"] == ""


def test_pages_show_the_models_and_say_that_they_are_not_published(board: Board) -> None:
    for page in ("index.html", "results/varied-3-of-45.html", "results/plane.html"):
        for team in (board.speaker, board.mumbler):
            assert any("not published" in row for row in board.page_rows(page, team)), page
    for page in ("index.html", "leaderboard.html", "results/plane.html", "results/talk.html"):
        text = (board.site / page).read_text(encoding="utf-8")
        assert text.count("<strong>Not published:</strong>") == 1, page
        assert f"{board.mumbler} (verified), {board.speaker} (verified)." in text
    drawn = board.rows("figures/plane-varied-3-of-45-reflection.csv")
    assert board.speaker in {row["team"] for row in drawn}


def test_published_team_played_again_is_beside_the_published_one(board: Board) -> None:
    rows = board.rows("uniform/leaderboard.csv")
    published, own = ([row for row in rows if row["team"] == t] for t in ("imap", "imap.whole"))
    assert len(rows) == 14
    assert numbers(published, "excess_cost", "fairness_low") == numbers(
        own, "excess_cost", "fairness_low"
    )
    (kind,) = {row["kind"] for row in board.rows("leaderboard.csv", team="imap.whole")}
    assert kind == "protocol, not published, verified"
    with (REPO / "data/release/tables/uniform/leaderboard.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert row in rows


def test_other_views_are_what_is_published(board: Board) -> None:
    for name in ("language", "language-everyone", "varied", "smollm2"):
        shown = page_csv(board.site, f"{name}/leaderboard.csv")
        release = REPO / "data" / "release" / "tables" / name / "leaderboard.csv"
        assert shown == release.read_bytes()


def test_texts_of_a_model_stay_text(board: Board) -> None:
    scripts = [
        path
        for path in board.site.rglob("*")
        if path.suffix in {".html", ".js"} and b"<script>window.hacked" in path.read_bytes()
    ]
    assert scripts == []
    games = (board.site / "pagedata" / "games").rglob("*.js")
    held = [(path.parent.name, file_value(path)) for path in games]
    said = [
        gzip.decompress(b64decode(file["games"]))
        for experiment, file in held
        if board.speaker in {*file["teams"], experiment}
    ]
    assert any(b"window.hacked" in lines for lines in said)


@pytest.mark.slow
def test_same_inputs_give_the_same_bytes(board: Board, tmp_path: Path) -> None:
    runs = map(str, (board.speaking, board.mumbling, board.whole))
    assert calbench("site", *runs, "jobs=1", f"out={tmp_path / 'again'}").status == 0
    first, again = files(board.site), files(tmp_path / "again")
    assert first.keys() == again.keys()
    assert [name for name in first if first[name] != again[name]] == []


def test_browser_shows_both_models_on_home_leaderboard_and_plane(board: Board) -> None:
    if CHROMIUM is None:
        pytest.skip("no Chromium found")
    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
        page.on("pageerror", lambda error: wrong.append(str(error)))
        home = f"{board.site.as_uri()}/"
        page.goto(f"{home}index.html")
        page.get_by_role("row").filter(has_text=board.speaker).first.wait_for()
        page.goto(f"{home}leaderboard.html")
        page.select_option("#lb-setting", "varied")
        page.select_option("#lb-channel", "all channels, 3 of 45 scenarios")
        row = page.locator("#lb-board tr").filter(has_text=board.speaker)
        assert "not published" in row.inner_text()
        assert re.search(r"of \d+", row.inner_text())
        other = page.locator("#lb-board tr").filter(has_text=board.mumbler)
        assert "\N{EN DASH}" in other.inner_text()
        page.goto(f"{home}results/plane.html#varied-3-of-45")
        page.locator("svg text").filter(has_text=board.speaker).first.wait_for(state="attached")
        assert page.evaluate("window.hacked") is None
        browser.close()
    assert wrong == []


def test_one_run_is_built_and_served_to_this_machine(board: Board) -> None:
    process = started("view", str(board.speaking))
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}leaderboard.html") as answer:  # noqa: S310
            text = answer.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(GUARD_S) == 0
    finally:
        process.kill()
        process.communicate()
    assert "Not published" not in text
    assert "silent" not in text
    assert b"3,3" in page_csv(board.speaking / "site", "varied/leaderboard.csv")
    assert not (board.speaking / "site" / "pagedata" / "tables" / "uniform.js").exists()


@pytest.mark.slow
def test_unreadable_run_can_be_viewed_and_its_place_is_printed(board: Board) -> None:
    ended = calbench("view", str(board.mumbling), "serve=false")
    assert ended.status == 0, ended.err
    assert ended.out == f"{board.mumbling / 'site' / 'index.html'}\n"
    assert calbench("view", str(board.mumbling), "serve=false").status == 0  # once more


def test_port_that_is_taken_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    execute(compose([*SMALL, "teams=example-agent", "subset=1", f"out={run}"]))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        capsys.readouterr()
        told = answer(["-q", "view", str(run), f"port={port}", "jobs=1"])
    said = capsys.readouterr()
    assert (told, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert line.startswith(f"error: port={port}: cannot be used")


def test_sweep_is_shown_with_a_team_for_each_job_and_all_its_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = tmp_path / "sweep"
    team = [*SMALL, "teams=example-agent", "subset=1"]
    for replicates in (1, 2):
        out = sweep / f"replicates={replicates}"
        execute(compose([*team, f"replicates={replicates}", f"out={out}"]))
    assert answer(["-q", "view", str(sweep), "serve=false", "jobs=1"]) == 0
    assert capsys.readouterr().out == f"{sweep / 'site' / 'index.html'}\n"
    rows = page_table(sweep / "site", "leaderboard.csv")
    found = {row["team"]: (row["games"], row["scenarios"]) for row in rows}
    assert {team: each for team, each in found.items() if team != "oracle"} == {
        "example-agent.replicates-1": ("1", "1"),
        "example-agent.replicates-2": ("2", "1"),
    }
    assert answer(["-q", "verify", str(sweep)]) == 0  # its pages are no traces
    assert capsys.readouterr().out.startswith("3 of 3 traces hold")
