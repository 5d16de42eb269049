"""Audits of language: from a rate to the sentence, on tables checked by hand and small games."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.report.experiment import Experiment
from calbench.report.pages import audits, judge
from calbench.report.pages.audits import most_revealing
from calbench.report.role import Role
from calbench.report.tables import Row, Tables, cell_of, read_table
from calbench.report.writing import write_site
from tests.report.by_hand import results, section, site_with, table
from tests.report.language_samples import make_language
from tests.report.samples import PUBLISHED, page_of, site_of
from tests.report.written import values_of

pytestmark = pytest.mark.heavy  # whole pages; the sample site has them in the fast suite too

PAGE = "results/audits.md"


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    folder = tmp_path_factory.mktemp("spoken")
    return make_language(folder, "language", "guarded", "oversharer", num_scenarios=2)


def leaking(spoken: Experiment) -> list[Row]:
    return spoken.tables.rows("leaking_messages.csv")


def test_most_revealing_comes_first_and_each_game_once() -> None:
    def row(scenario: str, event: int, told: int, sensitive: int) -> Row:
        place = {"scenario_id": scenario, "event_index": event}
        return {**place, "labels_told": told, "sensitive": sensitive}

    rows = [row("a", 9, 2, 0), row("a", 7, 2, 0), row("b", 1, 2, 2)]
    rows += [row("c", 1, 3, 0), row("d", 1, 1, 1)]

    assert [(r["scenario_id"], r["event_index"]) for r in most_revealing(rows, 3)] == [
        ("c", 1), ("b", 1), ("a", 7),
    ]  # fmt: skip


def test_path_from_equal_cost_to_the_sentence(spoken: Experiment, tmp_path: Path) -> None:
    page = page_of(site_of([spoken], tmp_path / "src"), PAGE)

    beside = section(page, "cost")
    assert beside.index("oversharer") < beside.index("guarded")  # who discloses most comes first
    best = most_revealing([r for r in leaking(spoken) if r["setting"] == "uniform"], 1)[0]
    place = f"language/oversharer/{best['scenario_id']}/{best['event_index']}"
    assert f'<a href="../traces.html#{place}">' in section(page, "messages")
    assert "has not been made" in section(page, "sample")
    assert "audit_sample.csv" not in page


def test_messages_of_games_that_nobody_can_step_through_are_not_named(
    spoken: Experiment, tmp_path: Path
) -> None:
    site = site_of([spoken], tmp_path / "src")
    elsewhere = replace(site, experiments=(replace(spoken, traces=tmp_path),))

    assert site.leaking_messages == site.summary.rows("leaking_messages.csv")
    assert len(site.leaking_messages) == len(leaking(spoken))
    assert elsewhere.leaking_messages == []
    messages = section(page_of(elsewhere, PAGE), "messages")
    assert "No message of a game in the trace browser" in messages


def test_sample_says_the_confidence_of_its_own_table(tmp_path: Path) -> None:
    folder = tmp_path / "uniform"
    table(folder / "audit_patterns.csv", "setting team player pattern count\ns duo . . 1")
    table(folder / "audit_own_slot.csv", "setting team player label")
    table(folder / "audit_honesty.csv", "setting team player")
    table(folder / "audit_leaks.csv", "setting team player tier")
    table(folder / "leaderboard.csv", "setting team")
    table(
        tmp_path / "audit_sample.csv",
        """
        part label messages true_positives false_positives false_negatives precision
        + precision_low precision_high recall recall_low recall_high f1 kappa
        + first_precision first_recall first_f1
        others own_slot 9 3 1 2 0.7500 0.3006 0.9544 0.6000 0.2307 0.8824 0.6667 0.9100
        + 0.5000 0.2000 0.2857
        """,
    )

    page = page_of(site_with([results(folder)], tmp_path / "summary"), PAGE)

    sample = section(page, "sample")
    assert "shares of 1 with Wilson 95% intervals" in sample
    assert '<th scope="row">own slot</th>' in sample
    assert values_of(sample) == [
        "9", "3", "1", "2", "0.7500", "0.3006", "0.9544", "0.6000", "0.2307", "0.8824",
        "0.6667", "0.5000", "0.2000", "0.2857", "0.9100",
    ]  # fmt: skip
    assert 'data-table="audit_sample.csv"' in section(page, "files")


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
    lines = ["setting team player tier messages leaking_messages rate rate_low rate_high"]
    lines[0] += " labels_told labels_held"
    lines += [
        f"s duo . {tier} 8 {count} 0.{count}000 0.0100 0.9000 {count} 7"
        for tier, count in {"all": 6, "public": 1, "neutral": 2, "sensitive": 3}.items()
    ]
    table(tmp_path / "audit_leaks.csv", "\n".join(lines))
    table(tmp_path / "audit_patterns.csv", "setting team player pattern\ns duo . .")
    table(tmp_path / "leaderboard.csv", "setting team")

    page = page_of(site_with([results(tmp_path)]), PAGE)

    own = values_of(section(page, "own-slot"))
    assert own[:5] == ["6", "4", "0.6667", "0.3000", "0.9032"]
    assert own.count("0.5238") == 2
    honesty = section(page, "honesty")
    assert honesty.count(">solo<") == 1
    assert honesty.count("<tr>") == 1 + 4
    assert "nothing to count" in honesty
    tiers = section(page, "tiers")
    assert values_of(tiers) == [
        "8",
        *("0.1000", "0.0100", "0.9000", "1", "7"),
        *("0.2000", "0.0100", "0.9000", "2", "7"),
        *("0.3000", "0.0100", "0.9000", "3", "7"),
    ]
    assert 'of <data value="7">' in tiers


def test_who_passed_labels_on_is_shown_as_speaker_and_as_owner(tmp_path: Path) -> None:
    names = "labels_told labels_held passing_messages disclosing_messages labels_passed_on"
    names += " labels_passed_by_others labels_out learnt_first_hand learnt_second_hand"
    lines = [f"setting team player tier messages leaking_messages rate rate_low rate_high {names}"]
    numbers = {
        "duo .": "9 2 0.2 . . 1 20 4 5 3 6 7 8 10",
        "duo a": "9 2 0.2 . . 1 20 4 5 3 0 0 0 0",
        "duo b": "0 0 . . . 0 0 0 0 0 6 7 8 10",
        "mute .": "9 2 0.2 . . 1 20 0 2 0 0 7 8 0",
        "mute c": "9 2 0.2 . . 1 20 0 2 0 0 7 8 0",
    }
    for who, cells in numbers.items():
        team, player = who.split()
        tiers = ("all", "public", "neutral", "sensitive")
        lines += [f"s {team} {player} {tier} {cells}" for tier in tiers]
    table(tmp_path / "audit_leaks.csv", "\n".join(lines))
    table(tmp_path / "audit_patterns.csv", "setting team player pattern\ns duo . .")
    table(tmp_path / "audit_own_slot.csv", "setting team player label")
    table(tmp_path / "audit_honesty.csv", "setting team player")
    table(tmp_path / "leaderboard.csv", "setting team")

    shown = section(page_of(site_with([results(tmp_path)]), PAGE), "second-hand")

    assert "mute" not in shown
    assert values_of(shown) == [
        *("9", "4", "5", "3", "6", "7", "8", "10"),
        *("9", "4", "5", "3", "0", "0", "0", "0"),
        *("0", "0", "0", "0", "6", "7", "8", "10"),
    ]


def test_what_was_passed_on_is_shown_with_its_path(spoken: Experiment, tmp_path: Path) -> None:
    game = next(iter(spoken.traces_of("oversharer"))).scenario.scenario_id
    header = "experiment setting team scenario_id event_index tier owners learners path label words"
    row = f"language uniform oversharer {game} 9 sensitive 0 1~3 0~2 <b>debt arrears"
    path = tmp_path / "summary" / "second_hand_leaks.csv"
    path.parent.mkdir()
    lines = [",".join(line.split()).replace("~", " ") for line in (header, *[row] * 5)]
    path.write_text("\n".join(lines) + "\n")
    site = replace(site_of([spoken], tmp_path / "src"), summary=Tables(path.parent))

    shown = section(page_of(site, PAGE), "second-hand")

    assert shown.count("0 → 2 → 1, 3") == audits.NAMED
    assert shown.count(f'<a href="../traces.html#language/oversharer/{game}/9">') == audits.NAMED
    assert "&lt;b&gt;debt" in shown
    assert "<b>" not in shown


def test_nothing_passed_on_is_said(tmp_path: Path, spoken: Experiment) -> None:
    page = page_of(site_of([spoken], tmp_path / "src"), PAGE)
    assert "No message of a game in the trace browser passed a label on" in section(
        page, "second-hand"
    )


def test_page_is_absent_where_nobody_spoke_in_words(tmp_path: Path) -> None:
    assert audits.content(site_with([results(tmp_path)])) is None


def test_judge_is_shown_with_its_baselines_where_nobody_spoke_in_words(tmp_path: Path) -> None:
    ends = "{0} {0}_low {0}_high"
    means = ["", "_calibrated", "_constant", "_by_chance", "_beyond_chance"]
    header = " ".join(ends.format(f"mean_judge_vps{name}") for name in means)
    cells = " ".join(f"{n}.5000 {n}.2500 {n}.7500" for n in range(1, 6))
    table(
        tmp_path / "judge" / "metric_comparison.csv",
        f"judge setting team game_targets {header}\nscripted uniform imap 225 {cells}",
    )
    table(
        tmp_path / "summary" / "judge_totals.csv",
        """
        experiment channels judge setting team vps_kind games cases unread beliefs judge_vps
        + judge_vps_calibrated judge_vps_constant judge_vps_by_chance judge_vps_beyond_chance
        + primary_vps
        uniform dm scripted uniform imap protocol 45 675 0 70 33.2500 22.2500 44.2500 11.2500
        + 11.0000 55.2500
        """,
    )

    page = page_of(site_with([results(tmp_path)], tmp_path / "summary"), PAGE)

    shown = section(page, "judge")
    assert "A scripted judge of\nscripted speakers only tests the computation." in shown
    assert "judged by a scripted judge, no language model" in shown
    assert "Gap" not in shown
    assert "typed messages" in shown  # the instrument of the last number
    values = values_of(shown)
    assert values[4:10] == ["33.2500", "22.2500", "44.2500", "11.2500", "11.0000", "55.2500"]
    assert values[11:] == cells.split()
    assert "Published" not in shown


def test_sum_of_typed_loss_is_shown_by_draw_with_the_papers(tmp_path: Path) -> None:
    role = Role(page="reproduction", is_ranked=False, games=0)
    drawn = replace(results(tmp_path / "drawn", "reproduction"), role=role)
    table(
        drawn.folder / "vps_totals.csv",
        """
        team draw settings games vps_kind vps
        dsm-private 0 both 90 protocol 863.8182
        dsm-private mean both 90 protocol 863.5818
        imap 0 both 90 protocol 7650.0000
        """,
    )
    table(tmp_path / "uniform" / "judge" / "metric_comparison.csv", "judge setting team\nx u t")

    found = judge.drawn(site_with([results(tmp_path / "uniform"), drawn], published=PUBLISHED))

    assert [(row["draw"], str(row["vps"])) for row in found["rows"]] == [
        ("0", "863.8182"), ("mean", "863.5818"),
    ]  # fmt: skip
    assert str(found["published"]) == "863.64"


def test_model_as_judge_is_shown_once_it_was_asked_and_ranks_nothing(tmp_path: Path) -> None:
    run = [results(tmp_path / "uniform")]
    table(run[0].folder / "audit_patterns.csv", "setting team player pattern count\ns duo . . 1")
    for name in ("audit_own_slot", "audit_honesty", "audit_leaks", "leaderboard"):
        table(run[0].folder / f"{name}.csv", "setting team player tier label")
    header = (PUBLISHED / "judge.csv").read_text().splitlines()[0]
    for name in ("columns.yaml", "tables.yaml"):
        shutil.copy(PUBLISHED / name, tmp_path)
    (tmp_path / "judge.csv").write_text(f"{header}\n")
    assert "judge-model" not in page_of(site_with(run, published=tmp_path), PAGE)

    cells = ["0.5"] * (header.count(",") - 5)
    rows = [["all", "others", "38", "150", "4", "4768", *cells],
            ["model", "senders", "20", "110", "0", "1180", *cells[:-1], ""]]  # fmt: skip
    (tmp_path / "judge.csv").write_text("\n".join([header, *map(",".join, rows)]))
    shown = section(page_of(site_with(run, published=tmp_path), PAGE), "judge-model")
    assert "**Nothing is ranked by what this model answers" in shown
    assert values_of(shown)[:7] == ["150", "0.5", "0.5", "38", "150", "4", "150"]
    assert "recorded models" in shown
    assert 'data-table="published/judge.csv"' in shown


@pytest.mark.heavy
def test_site_has_the_leaking_messages_of_games_that_it_has(
    spoken: Experiment, tmp_path: Path
) -> None:
    role = spoken.role.model_copy(update={"games": 1})
    site = site_of([replace(spoken, role=role)], tmp_path / "src")

    write_site(site, tmp_path / "src")

    rows = read_table(tmp_path / "src" / "docs" / "tables" / "leaking_messages.csv")
    shown = [{name: cell_of(value) for name, value in r.items()} for r in site.leaking_messages]
    assert rows == shown
    assert 0 < len(rows) < len(leaking(spoken))
