"""The paper's tables and ours, on tables checked by hand."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.report.pages import paper
from calbench.report.role import Role
from calbench.report.tables import read_table
from tests.report.by_hand import HOSTILE, results, section, site_with, table
from tests.report.samples import PUBLISHED, page_of
from tests.report.written import values_of

PAGE = "results/paper.md"

DASH = '<span title="no agent-game counts">\N{EN DASH}</span>'


def test_published_numbers_are_apart_from_ours(tmp_path: Path) -> None:
    table(
        tmp_path / "completion_regret.csv",
        """
        setting player kind teams seats full_seats mean_excess mean_excess_low mean_excess_high
        + nonzero_regret nonzero_regret_low nonzero_regret_high positive_regret
        + positive_regret_low positive_regret_high mean_excess_shown mean_excess_shown_low
        + mean_excess_shown_high
        uniform mine scripted team-a 30 20 0.7777 0.5000 0.9000 0.5000 0.3000 0.7000 0.4000
        + 0.2000 0.6000 7.1111 5.0000 9.0000
        """,
    )

    page = page_of(site_with([results(tmp_path)], published=PUBLISHED), PAGE)

    published, mine = section(page, "table-11").split('aria-label="Ours')
    assert '<div class="cb-published">' in published
    assert values_of(published) == [
        row[name]
        for row in read_table(PUBLISHED / "table11.csv")
        for name in ("seats", "full_seats", "mean_excess", "nonzero_regret_percent")
        if row[name]
    ]
    assert values_of(mine)[:6] == ["30", "20", "7.1111", "5.0000", "9.0000", "0.7777"]
    assert "Claude" not in mine
    assert "36,858 DMs" in section(page, "table-14")
    for number in (16, 17):
        assert "Ours:" not in section(page, f"table-{number}")


def test_every_number_that_we_have_of_the_paper_is_shown(tmp_path: Path) -> None:
    table(
        tmp_path / "players.csv",
        """
        setting player kind teams agent_games vps_kind coordination coordination_low
        + coordination_high excess_cost excess_cost_low excess_cost_high messages messages_low
        + messages_high fairness fairness_low fairness_high excess_vps excess_vps_low
        + excess_vps_high
        uniform a protocol a 5 protocol 9.1000 . . 9.2000 . . 9.3000 . . 9.4000 . . 9.5000 . .
        varied a protocol a 5 protocol 9.1000 . . 9.2000 . . 9.3000 . . 9.4000 . . 9.5000 . .
        """,
    )
    table(
        tmp_path / "summary" / "scheduled_by_player.csv",
        """
        experiment setting player teams scheduled
        uniform uniform a a 2.5000
        uniform varied a a 2.2500
        """,
    )

    page = page_of(site_with([results(tmp_path)], tmp_path / "summary", PUBLISHED), PAGE)

    shown = {*values_of(page)}
    assert {"2.5000", "2.2500", "9.5000"} <= shown
    for name in (
        "table1",
        "table11",
        "table12",
        "table13",
        "table15",
        "table16",
        "appendix_c",
        "appendix_g5",
    ):
        for row in read_table(PUBLISHED / f"{name}.csv"):
            cells = [cell for cell in row.values() if cell.replace(".", "").isdigit()]
            assert {*cells} <= shown, name
    assert page.count("(arXiv 2605.09823v2, Table ") >= 8


def test_initiators_have_a_table_beside_that_of_first_speakers(tmp_path: Path) -> None:
    table(
        tmp_path / "first_speaker.csv",
        """
        setting player kind teams quantity first_mean first_mean_low first_mean_high
        + subsequent_mean subsequent_mean_low subsequent_mean_high pairs difference difference_low
        + difference_high p p_adjusted
        uniform a protocol a shown_excess_cost 1.1000 . . 1.2000 . . 5 0.1100 . . 0.2100 0.3100
        """,
    )
    table(
        tmp_path / "initiator.csv",
        """
        setting player kind teams quantity initiator_mean initiator_mean_low initiator_mean_high
        + others_mean others_mean_low others_mean_high pairs difference difference_low
        + difference_high p p_adjusted
        uniform a protocol a vps 2.1000 . . 2.2000 . . 6 0.1200 . . 0.2200 0.3200
        """,
    )

    page = page_of(site_with([results(tmp_path)], published=PUBLISHED), PAGE)

    first, leading = section(page, "table-12").split('<h3 id="initiator">')
    ours = first.split('aria-label="Ours')[1]
    assert values_of(ours) == ["1.1000", "1.2000", "5", "0.1100", "0.2100", "0.3100"]
    assert "excess, shown cost" in ours
    assert values_of(leading) == ["2.1000", "2.2000", "6", "0.1200", "0.2200", "0.3200"]
    assert 'data-table="uniform/initiator.csv"' in section(page, "files")


def test_page_is_absent_without_the_numbers_of_others(tmp_path: Path) -> None:
    assert paper.content(site_with([results(tmp_path)])) is None


def test_hostile_published_cells_are_escaped(tmp_path: Path) -> None:
    shutil.copytree(PUBLISHED, tmp_path / "published")
    (tmp_path / "published" / "table14.csv").write_text(
        f"source,property,value,note\npaper,{HOSTILE},{HOSTILE},n\npaper,a,1,m\n"
    )

    page = page_of(site_with([results(tmp_path)], published=tmp_path / "published"), PAGE)

    shown = section(page, "table-14")
    assert "<b " not in shown
    assert shown.count("&lt;b onclick=x&gt;&#123;&#123;1") == 2
    assert '<td class="cb-word">m</td>' in shown  # where each is from, as they differ


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

    page = page_of(site_with([results(tmp_path)], published=PUBLISHED), PAGE)

    shown = section(page, "talk")
    assert values_of(shown) == [
        "2.5000", "2.0000", "3.0000", "1.5000", "1.0000", "2.0000", "0.2500",
    ]  # fmt: skip
    assert "meeting 0" in shown
    assert shown.count(DASH) == 1


@pytest.mark.heavy
def test_patterns_are_those_of_the_first_experiment_of_a_page(tmp_path: Path) -> None:
    given = [results(tmp_path / name, name) for name in ("first", "second")]
    speaking = [
        replace(each, role=Role(page="language", title=f"speakers, {each.name}", games=0))
        for each in given
    ]
    for each in given:
        table(
            each.folder / "audit_patterns.csv",
            f"""
            setting team player pattern games messages count rate
            uniform {each.name}-team . confirmation_tax 3 40 7 0.1750
            """,
        )
        table(each.folder / "leaderboard.csv", f"setting team\nuniform {each.name}-team")

    page = page_of(site_with(speaking, published=PUBLISHED), PAGE)
    apart = page_of(site_with(given, published=PUBLISHED), PAGE)

    shown = section(page, "table-15")
    assert "Ours: Speakers, first, uniform; count and rate" in shown
    assert "second-team" not in shown
    assert '<data value="7">7</data><span class="cb-range"><data value="0.1750">' in shown
    assert "second-team" in section(apart, "table-15")
    assert "second-team" in section(page, "table-14")


JUDGED = """
judge setting team unit statistic value value_low value_high value_interval scenarios p_value
{judge} uniform talkers cell union_cells 14400 . . . 45 .
{judge} uniform talkers cell directional_agreement 0.9988 0.9971 0.9999 t 45 0.0001
{judge} uniform guarded cell kappa 1.0000 . . same 45 .
"""

SUMMED = """
experiment channels judge setting team vps_kind games cases unread beliefs judge_vps
+ judge_vps_calibrated judge_vps_constant judge_vps_by_chance judge_vps_beyond_chance primary_vps
uniform dm {judge} uniform talkers reflection 45 675 0 70 33.2500 22.2500 44.2500 11.2500 11.0000
+ 55.2500
uniform dm {judge} uniform guarded reflection 45 675 0 70 33.7500 22.2500 44.2500 11.2500 11.0000
+ 55.2500
"""


@pytest.mark.parametrize("judge", ["scripted", "some-model"])
def test_judge_is_beside_the_paper_only_if_a_model_judged_models(
    tmp_path: Path, judge: str
) -> None:
    table(tmp_path / "judge" / "judge_agreement.csv", JUDGED.format(judge=judge))
    summary = tmp_path / "summary"
    table(summary / "judge_totals.csv", SUMMED.format(judge=judge))
    kinds = "team,kind\ntalkers,language models\nguarded,scripted agents\n"
    (summary / "leaderboard.csv").write_text(kinds)

    page = page_of(site_with([results(tmp_path)], summary, PUBLISHED), PAGE)

    shown = section(page, "table-16"), section(page, "table-17")
    assert all("stands alone" in each for each in shown)
    if judge == "scripted":
        assert not any("Ours:" in each for each in shown)
        assert "judge_agreement.csv" not in page
        return
    sums, agreement = (values_of(each[each.index("Ours:") :]) for each in shown)
    assert sums[4:] == ["33.2500", "22.2500", "44.2500", "11.2500", "11.0000", "55.2500"]
    assert agreement == ["14400", "0.9988", "0.9971", "0.9999", "0.0001"]
    assert 'data-table="uniform/judge/judge_agreement.csv"' in section(page, "files")
