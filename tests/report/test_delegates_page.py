"""The page on models of several sizes: numbers, failures and games are those of the tables."""

import re
from collections import Counter
from html import escape
from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from tests.report.language_samples import make_cohort
from tests.report.language_site import page
from tests.report.samples import PUBLISHED, write_pages
from tests.report.written import text_rows

pytestmark = pytest.mark.heavy

MODEL, SIZE = "qwen-1.5b", "1544"
AMONG = "qwen-1.5b-among-imap"
TEAMS = "candid", "silent", "my-model-among-protocols"


@pytest.fixture(scope="module")
def delegates(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("delegates")
    return make_cohort(folder, 2, *TEAMS, name="delegates", player=MODEL)


@pytest.fixture(scope="module")
def text(delegates: Experiment, tmp_path_factory: pytest.TempPathFactory) -> str:
    source = tmp_path_factory.mktemp("site") / "src"
    write_pages([delegates], source, PUBLISHED)
    return page(source / "docs", "delegates")


def section(text: str, anchor: str) -> str:
    """Return what is below a heading, up to the next."""
    return re.split(r"^## ", text.partition(f"{{#{anchor}}}")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_models_stand_with_their_size_before_teams_without_one(text: str) -> None:
    rows = section(text, "sizes")
    places = [rows.index(each) for each in (f'value="{SIZE}"', ">candid ", ">silent ")]
    assert places == sorted(places)
    assert rows.count("no model") == 2


def test_meetings_without_agreement_are_counted_of_those_that_came_about(
    text: str, delegates: Experiment
) -> None:
    (ends,) = text_rows(delegates.tables, "outcomes.csv", team=MODEL)
    cases = text_rows(delegates.tables, "audit_cases.csv", team=MODEL)
    (line,) = re.findall(rf">{MODEL}[ <].*", section(text, "sizes"))
    counts = {row["name"]: row["found"] for row in cases}
    found = counts.get("placed_without_agreement", "0")
    shown = rf'"{found}">{found}</data><span class="cb-range">of <data value="{ends["scheduled"]}"'
    assert shown in line


def test_meetings_that_are_moved_away_later_are_counted_once(
    text: str, delegates: Experiment
) -> None:
    rounds = text_rows(delegates.tables, "meetings.csv", team=MODEL)
    left = {(row["scenario_id"], each) for row in rounds for each in row["broken_meetings"].split()}
    (line,) = re.findall(rf">{MODEL}[ <].*", section(text, "sizes"))
    shown = re.findall(r'<data value="(\d+)">\d+</data><span class="cb-range">of ', line)
    assert shown[1] == str(len(left))


def test_differences_are_those_that_a_model_is_part_of(text: str, delegates: Experiment) -> None:
    rows = section(text, "pairs")
    for row in text_rows(delegates.tables, "comparisons.csv"):
        is_alone = "among" not in row["team_a"] + row["team_b"]
        if row["measure"] == "coordination" and is_alone:
            is_shown = f'<data value="{row["difference"]}">' in rows
            assert is_shown or MODEL not in {row["team_a"], row["team_b"]}
    assert MODEL in rows


def test_model_among_others_is_beside_teams_without_one(text: str, delegates: Experiment) -> None:
    (team,) = (
        row["team"]
        for row in text_rows(delegates.tables, "leaderboard.csv")
        if "among" in row["team"]
    )
    assert team not in section(text, "sizes")
    assert team not in section(text, "pairs")
    among = section(text, "among")
    found = {
        frozenset({row["team_a"], row["team_b"]}): row["difference"]
        for row in text_rows(delegates.tables, "comparisons.csv")
        if row["measure"] == "coordination"
    }
    for other in ("candid", "silent"):
        assert f'<data value="{found[frozenset({team, other})]}">' in among


def test_meetings_of_the_model_and_of_the_others_are_those_of_the_games(
    text: str, delegates: Experiment
) -> None:
    seat = {
        row["scenario_id"]: row["agent_id"]
        for row in text_rows(delegates.tables, "agent_games.csv", team=AMONG)
        if row["kind"] == "model"
    }
    counts = Counter(
        (seat[row["scenario_id"]] in row["participants"].split(), row["outcome"] == "scheduled")
        for row in text_rows(delegates.tables, "meetings.csv", team=AMONG)
    )
    rows = section(text, "among").partition("meetings that came about")[2]
    (line,) = re.findall(rf">{AMONG}[ <].*", rows.partition("</table>")[0])
    shown = [
        number
        for is_own in (True, False)
        for number in (counts[is_own, True], counts[is_own, True] + counts[is_own, False])
    ]
    assert re.findall(r'<data value="(\d+)">', line) == list(map(str, shown))
    assert shown[1]
    assert shown[3]


def test_failures_are_counted_with_a_way_to_the_first(text: str, delegates: Experiment) -> None:
    rows = section(text, "failures")
    found = [
        row
        for row in text_rows(delegates.tables, "audit_cases.csv")
        if row["name"] in {"unilateral_displacement", "ambiguous_consensus"}
    ]
    assert found
    for row in found:
        assert f"{row['scenario_id']}, event {row['event_index']}" in rows


def test_labels_told_are_those_of_the_table(text: str, delegates: Experiment) -> None:
    rows = section(text, "failures").partition("Private labels told")[2]
    found = text_rows(delegates.tables, "audit_leaks.csv")
    own = {row["team"]: row for row in found if row["tier"] == "all" and not row["player"]}
    assert MODEL in own
    for team, row in own.items():
        (line,) = re.findall(rf">{team}[ <].*", rows)
        told = [f'<data value="{row[name]}">' for name in ("labels_told", "labels_held")]
        assert re.search(".*of ".join(told), line)


def test_stated_chances_are_those_of_the_table(text: str, delegates: Experiment) -> None:
    rows = section(text, "chances")
    found = text_rows(delegates.tables, "privacy/stated_chances.csv")
    assert {row["team"] for row in found} >= {MODEL, AMONG}
    for row in found:
        lines = re.findall(rf">{row['team']}[ <].*", rows)
        (line,) = [each for each in lines if f'cb-word">{row["player"]}<' in each]
        for name in ("answers", "occupied", "brier", "brier_base"):
            assert f'<data value="{row[name]}"' in line


def test_best_typical_and_worst_game_are_opened(text: str) -> None:
    rows = section(text, "examples")
    for which in ("best", "worst"):
        assert f">{which}<" in rows
    assert f"traces.html#delegates/{MODEL}/" in rows


def test_suite_without_a_model_in_every_seat_shows_all_its_teams_together(
    tmp_path: Path, delegates: Experiment
) -> None:
    name = "delegates-paper"
    paper = make_cohort(tmp_path, 2, *TEAMS, name=name, player=MODEL, everywhere=False)
    write_pages([delegates, paper], tmp_path / "src", PUBLISHED)
    text = page(tmp_path / "src" / "docs", "delegates")
    assert section(text, "sizes").count("<table") == 1
    among = section(text, "among").partition(escape(paper.title))[2]
    for team in ("candid", "silent", AMONG):
        assert f">{team}" in among
    assert f"traces.html#{name}/{AMONG}/" in section(text, "examples")


def test_same_games_in_another_channel_stand_beside_each_other(
    tmp_path: Path, delegates: Experiment
) -> None:
    name = "delegates-everyone"
    shared = make_cohort(
        tmp_path, 2, "candid", name=name, player=MODEL, channels="all_agent_groupchat"
    )
    write_pages([delegates, shared], tmp_path / "src", PUBLISHED)
    text = page(tmp_path / "src" / "docs", "delegates")
    assert section(text, "sizes").count("<table") == 1
    rows = section(text, "channels")
    assert "candid" not in rows
    lines = re.findall(rf">{MODEL}[ <].*", rows)
    for each, line in zip((delegates, shared), lines, strict=True):
        (row,) = text_rows(each.tables, "leaderboard.csv", team=MODEL)
        assert escape(each.title) in line
        assert f'<data value="{row["messages"]}">' in line


@pytest.fixture(scope="module")
def asked_again(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Experiment]:
    """Return the page of one model by two prompts, and in one seat among two kinds of partners."""
    folder = tmp_path_factory.mktemp("asked")
    teams = (
        "qwen-large",
        "qwen-1_5b-v2",
        "qwen-large-among-imap",
        "qwen-large-among-speakers",
        "candid",
    )
    played = make_cohort(
        folder, 2, *teams, "qwen-0_5b-among-imap", name="delegates", everywhere=False
    )
    write_pages([played], folder / "src", PUBLISHED)
    return page(folder / "src" / "docs", "delegates"), played


def test_model_by_other_prompts_stands_beside_itself_and_not_among_the_sizes(
    asked_again: tuple[str, Experiment],
) -> None:
    text, played = asked_again
    for anchor in ("sizes", "pairs", "among"):
        assert f"{MODEL}-v2" not in section(text, anchor)
    rows = section(text, "prompts")
    pairs = text_rows(played.tables, "comparisons.csv", measure="coordination")
    (own,) = (row for row in pairs if {row["team_a"], row["team_b"]} == {MODEL, f"{MODEL}-v2"})
    assert f'<data value="{own["difference"]}">' in rows
    assert rows.count(f">{MODEL}-v2") > 1
    assert "candid" not in rows


def test_teams_with_one_model_are_compared_where_their_partners_are_the_same(
    asked_again: tuple[str, Experiment],
) -> None:
    text, _ = asked_again
    rows = section(text, "among").partition("differences to teams without a model")[2]
    named = re.findall(r"qwen-[\w.]+-among-\w+", rows)
    lines = [set(re.findall(r"qwen-[\w.]+-among-\w+|candid", line)) for line in rows.splitlines()]
    assert {AMONG, "qwen-0.5b-among-imap"} in lines
    assert {AMONG, "candid"} in lines
    assert {AMONG, "qwen-1.5b-among-speakers"} not in lines
    assert "qwen-1.5b-among-speakers" in named
