"""The paper's tables, audits, regret and excluded games, on tables checked by hand."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.domain.messages import Text
from calbench.report import audits, judge, numbers, paper, paper_ours, telling
from calbench.report.audit_messages import browsable, most_revealing
from calbench.report.audits import Audits
from calbench.report.experiment import Experiment
from calbench.report.links import GameLinks
from calbench.report.navigation import grouped
from calbench.report.paper_ours import Ours
from calbench.report.regret import Regret
from calbench.report.regret import parts as regret_parts
from calbench.report.setting import SettingResults
from calbench.report.setting_page import WARNING, excluded_games
from calbench.report.tables import Row, Tables, read_table
from calbench.scenarios.models import Scenario
from calbench.scenarios.storage import write_suite
from calbench.traces.events import DmSent
from tests.report.language_samples import make_language
from tests.report.samples import make_results, suite_of, summary_of
from tests.report.test_numbers_on_pages import Stated

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published"

HOSTILE = "<b onclick=x>{{1}}"


def table(path: Path, lines: str) -> None:
    """Write a table; cells stand apart by spaces, a dot is empty, a plus goes on with a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for line in re.sub(r"\n\s*\+", " ", lines).strip().splitlines():
            writer.writerow(["" if cell == "." else cell for cell in line.split()])


def by_hand(folder: Path) -> Summary:
    """Write the tables behind the regret of two games: in one the optimum became unreachable."""
    table(
        folder / "regret_by_game.csv",
        """
        experiment setting team scenario_id excess slot_choice avoidable_moves failed_rounds
        + optimum cost event_index round phase agent_id least_cost_after
        uniform uniform imap uniform-000 2 0 2 0 5 7 12 1 DECISION 0 6
        uniform uniform imap uniform-001 4 0 0 4 2 6 . . . . .
        """,
    )
    table(
        folder / "regret_by_team.csv",
        """
        experiment setting team games agent_games excess excess_low excess_high slot_choice
        + slot_choice_low slot_choice_high avoidable_moves avoidable_moves_low avoidable_moves_high
        + failed_rounds failed_rounds_low failed_rounds_high games_searched
        + optimum_unreachable unreachable_share unreachable_share_low unreachable_share_high
        uniform uniform imap 2 4 1.5000 1.0000 2.0000 0.0000 . . 0.5000 0.0000 1.0000 1.0000
        + 0.0000 2.0000 2 1 0.5000 0.0945 0.9055
        """,
    )
    table(
        folder / "optimum_unreachable_by_round.csv",
        """
        experiment setting team round phase optimum_unreachable
        uniform uniform imap 1 DECISION 1
        """,
    )
    return Summary(folder)


def results(folder: Path, name: str = "uniform") -> Experiment:
    return Experiment(name, folder / "suite.jsonl", folder, folder / "traces")


@pytest.fixture(scope="module")
def suite() -> tuple[Scenario, ...]:
    return suite_of("uniform", 2)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("spoken")
    return make_language(folder, "language", "guarded", "oversharer", num_scenarios=2)


def test_regret_is_shown_as_the_tables_have_it(tmp_path: Path) -> None:
    summary = by_hand(tmp_path / "summary")
    shown = Regret([results(tmp_path)], summary, GameLinks([], NONE_SPECIAL))
    parts = regret_parts(shown)

    assert Stated(parts["split"]()).values == [
        "4", "1.5000", "1.0000", "2.0000", "0.0000", "0.5000", "0.0000", "1.0000",
        "1.0000", "0.0000", "2.0000",
    ]  # fmt: skip
    assert "mean over agent-games with 95% interval" in parts["split"]()
    assert Stated(parts["lost"]()).values == ["2", "1", "0.5000", "0.0945", "0.9055", "1"]
    assert "in round 1" in parts["lost"]()
    assert parts["worst"]() == ""
    assert Regret([results(tmp_path, "other")], summary, shown.links).experiments == []


def test_excess_of_the_split_is_the_leaderboards_with_its_interval(tmp_path: Path) -> None:
    played = make_results(tmp_path, "uniform", ["imap", "secure-sum"])
    rows = played.table("regret_by_team.csv")

    for mine, row in zip(rows, played.table("leaderboard.csv"), strict=True):
        assert mine["team"] == row["team"]
        for end in ("", "_low", "_high"):
            assert mine[f"excess{end}"] == row[f"excess_cost{end}"]


def test_worst_games_lead_to_the_event_that_made_the_optimum_unreachable(
    tmp_path: Path, suite: tuple[Scenario, ...]
) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    given = results(tmp_path)
    (given.traces / "imap").mkdir(parents=True)
    (given.traces / "imap" / "uniform-000.json").touch()
    links = GameLinks([given], NONE_SPECIAL)

    page = regret_parts(Regret([given], by_hand(tmp_path / "summary"), links))["worst"]()

    assert 'href="../traces.html#uniform/imap/uniform-000/12"' in page
    assert "from then on at least" in page
    assert "uniform-001" not in page  # the browser does not have it


def test_links_lead_only_to_games_that_there_are(
    tmp_path: Path, suite: tuple[Scenario, ...]
) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    links = GameLinks([results(tmp_path)], NONE_SPECIAL)

    assert links.game("uniform", "imap", "uniform-000") == "uniform-000"
    assert links.game("elsewhere", "imap", "x", "3") == "x, event 3"
    assert "<b" not in links.game("uniform", HOSTILE, HOSTILE)


def leaking(spoken: Experiment) -> list[Row]:
    rows = spoken.table("leaking_messages.csv")
    return [{**row, "experiment": spoken.name} for row in rows]


def test_messages_of_games_that_nobody_can_step_through_are_not_named(
    spoken: Experiment, tmp_path: Path
) -> None:
    special = SpecialResults([spoken], PUBLISHED)
    summary = Summary(summary_of([], tmp_path / "src", special))
    every = summary.table("leaking_messages.csv")
    elsewhere = SpecialResults([replace(spoken, traces=tmp_path)], PUBLISHED)

    assert browsable(summary, GameLinks([], special)) == every
    assert len(every) == len(leaking(spoken))
    assert browsable(summary, GameLinks([], elsewhere)) == []


def test_leaking_messages_are_those_that_the_audit_counted(spoken: Experiment) -> None:
    rows = leaking(spoken)
    counted = {
        (row["setting"], row["team"]): int(row["leaking_messages"])
        for row in spoken.table("audit_leaks.csv")
        if row["tier"] == "all" and not row["player"]
    }

    found = dict.fromkeys(counted, 0)
    for row in rows:
        found[row["setting"], row["team"]] += 1
    assert found == counted
    assert sum(counted.values()) > 10
    assert not any(row["team"] == "guarded" for row in rows)


def test_leaking_message_is_at_its_event_with_its_words(spoken: Experiment) -> None:
    rows = leaking(spoken)

    for trace in spoken.traces_of("oversharer"):
        own = [row for row in rows if row["scenario_id"] == trace.scenario.scenario_id]
        assert own
        for row in own:
            event = trace.events[int(row["event_index"])]
            assert isinstance(event, DmSent)
            assert event.from_agent == int(row["sender"])
            assert isinstance(event.content, Text)
            text = " ".join(event.content.text.split())
            told = row["words"].split(" / ")
            assert all(words in text for words in told)
            assert len(told) == int(row["labels_told"])
            assert sum(int(row[t]) for t in ("public", "neutral", "sensitive")) == len(told)


def test_most_revealing_comes_first_and_each_game_once() -> None:
    def row(scenario: str, event: str, told: str, sensitive: str) -> Row:
        place = {"team": "t", "setting": "s", "scenario_id": scenario, "event_index": event}
        return {**place, "labels_told": told, "sensitive": sensitive}

    rows = [row("a", "9", "2", "0"), row("a", "7", "2", "0"), row("b", "1", "2", "2")]
    rows += [row("c", "1", "3", "0"), row("d", "1", "1", "1")]

    shown = most_revealing(rows, "t", "s", 3)

    assert [(r["scenario_id"], r["event_index"]) for r in shown] == [
        ("c", "1"), ("b", "1"), ("a", "7"),
    ]  # fmt: skip


def test_path_from_equal_cost_to_the_sentence(spoken: Experiment, tmp_path: Path) -> None:
    special = SpecialResults([spoken], PUBLISHED)
    rows = leaking(spoken)
    shown = Audits.of([spoken], rows, GameLinks([], special))
    shown.write(tmp_path)
    parts = audits.parts(shown)

    beside = parts["beside-cost"]()
    assert beside.index("guarded") < beside.index("oversharer")
    best = most_revealing(rows, "oversharer", "uniform", 1)[0]
    place = f"language/oversharer/{best['scenario_id']}/{best['event_index']}"
    assert f'href="../traces.html#{place}"' in parts["messages"]()
    assert "has not been made" in parts["sample"]()


def test_audit_tables_show_rates_tests_and_no_player_twice(tmp_path: Path) -> None:
    table(
        tmp_path / "audit_own_slot.csv",
        """
        setting team player label messages count rate rate_low rate_high others_messages
        + others_rate p_value p_corrected
        s duo . proposal 10 5 0.5000 0.2366 0.7634 0 . . .
        s duo a proposal 4 1 0.2500 0.0456 0.6994 6 0.6667 0.5238 0.9000
        s duo b proposal 6 4 0.6667 0.3000 0.9032 4 0.2500 0.5238 0.9000
        """,
    )
    table(
        tmp_path / "audit_honesty.csv",
        """
        setting team player claim claims true_claims rate rate_low rate_high
        s solo . free 3 2 0.6667 0.2077 0.9385
        s solo solo free 3 2 0.6667 0.2077 0.9385
        s duo . free 0 0 . . .
        s duo a free 0 0 . . .
        s duo b free 0 0 . . .
        """,
    )
    table(tmp_path / "audit_patterns.csv", "setting team player\ns duo .")
    parts = audits.parts(Audits.of([results(tmp_path)], [], GameLinks([], NONE_SPECIAL)))

    own = Stated(parts["own-slot"]()).values
    assert own[:5] == ["4", "1", "0.2500", "0.0456", "0.6994"]
    assert own.count("0.5238") == 2
    honesty = parts["honesty"]()
    assert honesty.count("solo") == 1
    assert honesty.count("<tr>") == 1 + 4
    assert "nothing to count" in honesty


def test_published_numbers_stand_apart_from_ours(tmp_path: Path) -> None:
    table(
        tmp_path / "completion_regret.csv",
        """
        setting player kind teams seats full_seats mean_excess mean_excess_low mean_excess_high
        + nonzero_regret nonzero_regret_low nonzero_regret_high positive_regret
        + positive_regret_low positive_regret_high
        uniform mine scripted team-a 30 20 0.7777 0.5000 0.9000 0.5000 0.3000 0.7000 0.4000
        + 0.2000 0.6000
        """,
    )
    special = SpecialResults([], PUBLISHED)
    ours = Ours([results(tmp_path)], Summary(tmp_path))
    parts = paper.parts(paper.Paper(special, ours, Audits.of([], [], GameLinks([], special))))

    published, mine = parts["table-11"]().split("</div>\n</div>")
    assert published.startswith('<div class="cb-published">')
    assert Stated(published).values == [
        row[name]
        for row in read_table(PUBLISHED / "table11.csv")
        for name in ("seats", "full_seats", "mean_excess", "nonzero_regret_percent")
        if row[name]
    ]
    assert Stated(mine).values[:3] == ["30", "20", "0.7777"]
    assert "Claude" not in mine
    assert "36,858 DMs" in parts["table-14"]()
    assert "<data" not in judge.agreement(ours.experiments)


def test_hostile_published_cells_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "table14.csv").write_text(
        f"source,property,value,note\npaper,{HOSTILE},{HOSTILE},n\n"
    )
    special = SpecialResults([], tmp_path)
    parts = paper.parts(
        paper.Paper(special, Ours([], Summary(tmp_path)), Audits.of([], [], GameLinks([], special)))
    )

    assert "<b " not in parts["table-14"]()
    assert "&lt;b onclick=x&gt;&#123;&#123;1" in parts["table-14"]()


def test_talk_has_a_column_for_every_meeting_and_a_dash_for_none(tmp_path: Path) -> None:
    table(
        tmp_path / "messages_by_meeting.csv",
        """
        setting player kind teams meeting_index role messages messages_low messages_high
        uniform imap protocol imap 0 first 2.5000 2.0000 3.0000
        uniform imap protocol imap 1 first 1.5000 1.0000 2.0000
        uniform imap protocol imap 1 outsider 0.2500 . .
        """,
    )

    shown = paper_ours.talk(Ours([results(tmp_path)], Summary(tmp_path)))

    assert Stated(shown).values == [
        "2.5000", "2.0000", "3.0000", "1.5000", "1.0000", "2.0000", "0.2500",
    ]  # fmt: skip
    assert "meeting 0" in shown
    assert numbers.DASH in shown


def test_judge_that_is_a_script_is_called_one(tmp_path: Path) -> None:
    table(
        tmp_path / "judge" / "judge_agreement.csv",
        """
        judge setting team unit statistic value low high scenarios p_value
        scripted uniform candid cell union_cells 14400 . . 45 .
        scripted uniform candid cell directional_agreement 0.9988 0.9971 1.0000 45 0.0001
        scripted uniform guarded cell union_cells 99 . . 45 .
        """,
    )
    given = results(tmp_path / "tables")
    (tmp_path / "judge").rename(tmp_path / "moved")
    (tmp_path / "tables").mkdir()
    (tmp_path / "moved").rename(tmp_path / "tables" / "judge")

    shown = judge.agreement([given])
    judge.write([given], tmp_path / "site")

    assert "a scripted judge, no language model" in shown
    assert Stated(shown).values == ["14400", "99", "0.9988", "0.9971", "1.0000", "0.0001"]
    assert judge.downloads([given]) == ["uniform/judge/judge_agreement.csv"]
    assert (tmp_path / "site" / "uniform" / "judge" / "judge_agreement.csv").is_file()


def test_most_revealing_messages_lead_to_their_events(
    tmp_path: Path, suite: tuple[Scenario, ...]
) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    (tmp_path / "traces" / "imap").mkdir(parents=True)
    (tmp_path / "traces" / "imap" / "uniform-000.json").touch()
    given = results(tmp_path)
    place = {"experiment": "uniform", "setting": "uniform", "team": "imap"}
    told = {"event_index": "9", "target_agent": "2", "source": "costs", "vps": "1.0000"}
    rows = [
        {**place, **told, "scenario_id": "uniform-000"},
        {**place, **told, "scenario_id": "uniform-001", "vps": "0.2500"},
        {**place, **told, "experiment": "varied", "scenario_id": "uniform-000"},
    ]

    shown = telling.table(
        rows, SettingResults(given, "uniform", {}), GameLinks([given], NONE_SPECIAL)
    )

    assert Stated(shown).values == ["2", "1.0000", "2", "0.2500"]
    assert shown.count('href="../traces.html#uniform/imap/uniform-000/9"') == 1
    assert "uniform-001, event 9" in shown


def test_excluded_games_are_named_and_flagged(tmp_path: Path, suite: tuple[Scenario, ...]) -> None:
    write_suite(tmp_path / "suite.jsonl", suite)
    outcomes = """
        setting team games games_excluded excluded_percent is_flagged
        uniform imap 2 0 0.0000 false
        uniform silent 1 1 50.0000 true
        """
    table(tmp_path / "outcomes.csv", outcomes)
    table(
        tmp_path / "games.csv",
        """
        setting scenario_id team is_excluded
        uniform uniform-000 imap false
        uniform uniform-000 silent true
        """,
    )
    (tmp_path / "traces" / "silent").mkdir(parents=True)
    (tmp_path / "traces" / "silent" / "uniform-000.json").touch()
    each = SettingResults(results(tmp_path), "uniform", {})

    shown = excluded_games(each)

    assert WARNING in shown
    assert "imap" not in shown
    assert 'href="../traces.html#uniform/silent/uniform-000"' in shown
    assert Stated(shown).values == ["1", "50.0000"]
    table(tmp_path / "outcomes.csv", outcomes.replace("1 1 50.0000 true", "1 0 0.0000 false"))
    assert "No game was excluded" in excluded_games(each)


def test_navigation_is_grouped_and_keeps_what_it_does_not_know() -> None:
    pages = [
        {"uniform": "results/uniform.md"},
        {"Table 2": "results/reproduction.md"},
        {"Ratings": "results/ratings.md"},
        {"Language agents": "results/language.md"},
    ]

    assert grouped(pages, ["results/uniform.md"]) == [
        {"Ratings": "results/ratings.md"},
        {"Games": [{"uniform": "results/uniform.md"}, {"Language agents": "results/language.md"}]},
        {"Beside the paper": [{"Table 2": "results/reproduction.md"}]},
    ]
