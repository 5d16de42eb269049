"""What pages say first changes with the numbers that it is made from."""

from collections.abc import Mapping, Sequence

import pytest

from calbench.report.pages import audits, inconsistencies, paper, regret, reproduction
from calbench.report.pages.board import ratings
from calbench.report.pages.said import cohort, erring
from calbench.report.pages.said.excerpt import largest, least
from calbench.report.pages.said.standing import leaders, leaders_of
from calbench.report.pages.speech import probes
from calbench.report.sentence import Sentence, plain

Row = dict[str, str]


def texts(found: Sequence[Sentence]) -> list[str]:
    return [plain(sentence) for sentence in found]


def numbers(found: Sequence[Sentence]) -> set[str]:
    return {part.text for sentence in found for part in sentence if part.kind == "number"}


def standing(team: str, cost: str, low: str, high: str, letters: str = "") -> Row:
    name = "adjusted_excess_cost"
    return {
        "team": team, "vps_kind": "protocol", name: cost, f"{name}_low": "", f"{name}_high": "",
        f"{name}_rank_low": low, f"{name}_rank_high": high, f"{name}_letters": letters,
    }  # fmt: skip


COST = ("adjusted_excess_cost",)


def test_the_best_is_said_to_be_better_only_than_those_that_share_no_letter_with_it() -> None:
    rows = [standing("a", "0.2", "1", "1"), standing("b", "0.4", "2", "3", "a"),
            standing("c", "0.5", "2", "3", "a")]  # fmt: skip
    open_rows = [standing("a", "0.2", "1", "2", "a"), standing("b", "0.4", "1", "3", "a b"),
                 standing("c", "0.5", "2", "3", "b")]  # fmt: skip

    assert texts(leaders("Here", rows, COST)) == [
        (
            "Here, a pays least above the optimum per meeting: 0.20, significantly better than all "
            "other ranked teams."
        )
    ]
    assert texts(leaders("Here", open_rows, COST)) == [
        ("Here, a pays least above the optimum per meeting: 0.20, not significantly better than b.")
    ]


def test_teams_that_share_the_best_value_are_named_together() -> None:
    pair = [standing("a", "0.2", "1", "2", "a"), standing("b", "0.2", "1", "2", "a"),
            standing("c", "0.5", "3", "3")]  # fmt: skip
    alike = [standing(name, "0.2", "1", "3", "a") for name in "abc"]
    near = [*alike[:2], standing("c", "0.3", "1", "3", "a")]

    assert "a and b pay least" in texts(leaders("Here", pair, COST))[0]
    assert "significantly better" in texts(leaders("Here", pair, COST))[0]
    assert "not significantly better than any other" in texts(leaders("Here", near, COST))[0]
    assert texts(leaders("Here", alike, COST)) == [
        "Here, a, b and c pay least above the optimum per meeting: 0.20 each."
    ]


def test_of_teams_that_share_a_value_only_what_they_share_is_said() -> None:
    wide = {**standing("a", "0.2", "1", "3", "a"), "adjusted_excess_cost_low": "0.1",
            "adjusted_excess_cost_high": "0.3"}  # fmt: skip
    sure = {**standing("b", "0.2", "1", "2", "b"), "adjusted_excess_cost_low": "0.19",
            "adjusted_excess_cost_high": "0.21"}  # fmt: skip
    rows = [wide, sure, standing("c", "0.5", "2", "3", "a")]

    assert texts(leaders("Here", rows, COST)) == [
        "Here, a and b pay least above the optimum per meeting: 0.20 each."
    ]
    both = [wide, {**wide, "team": "b"}, rows[2]]
    assert (
        "0.20 (0.10 to 0.30) each, not significantly better than any"
        in (texts(leaders("Here", both, COST))[0])
    )


def test_excess_cost_is_said_per_agent_and_game() -> None:
    row = {"team": "a", "excess_cost": "0.2", "excess_cost_rank_low": "1",
           "excess_cost_rank_high": "1", "excess_cost_letters": ""}  # fmt: skip

    assert "per agent and game" in texts(leaders("Here", [row], ("excess_cost",)))[0]


def test_unranked_teams_and_absent_numbers_do_not_compete() -> None:
    rows = [standing("idle", "0.0", "", ""), standing("a", "0.2", "1", "1"),
            standing("none", "", "", "")]  # fmt: skip

    assert "a pays" in texts(leaders("Here", rows, COST))[0]
    assert leaders("Here", [rows[0], rows[2]], COST) == []
    assert leaders_of("Here", [], COST) == []


def test_each_instrument_of_vps_has_a_best_of_its_own() -> None:
    def row(team: str, kind: str, vps: str) -> Row:
        name = "excess_vps"
        return {"team": team, "vps_kind": kind, name: vps, f"{name}_rank_low": "1",
                f"{name}_rank_high": "1", f"{name}_letters": ""}  # fmt: skip

    rows = [row("typed", "protocol", "9.0"), row("spoken", "reflection", "3.0")]

    found = texts(leaders("Here", rows, ("excess_vps",)))

    assert ["typed" in each for each in found] == [True, False]
    assert ["spoken" in each for each in found] == [False, True]


def cost_row(team: str, rate: str, cost: str) -> Row:
    return {"setting": "s", "team": team, "rate": rate, "adjusted_excess_cost": cost}


def test_who_discloses_most_is_said_with_what_it_paid() -> None:
    rows = [cost_row("mute", "0.0000", "0.1"), cost_row("loud", "0.5", "0.3")]
    message = {
        "labels_told": "2",
        "team": "loud",
        "words": "a <b> c / a <b> / d",
        "address": "x.html",
    }

    found = audits.findings([{"title": "Games", "costs": rows}], [message])

    assert texts(found) == [
        (
            "Games, s: loud disclosed private labels most often, in a share of 0.500 of the "
            "messages, "
            "and paid 0.30 above the optimum per meeting; mute disclosed none and paid 0.10."
        ),
        (
            "The most revealing message that can be opened here, by an agent of loud, disclosed "
            "these private labels at once: “a <b> c / d”."
        ),
    ]
    assert numbers(found) == {"0.5", "0.3", "0.1"}


def test_what_was_paid_is_paired_with_who_paid_it() -> None:
    rows = [cost_row("loud", "0.5", "0.3"), cost_row("mute", "0.0000", "0.05"),
            cost_row("shy", "0.0000", "0.06"), cost_row("idle", "0.0000", "")]  # fmt: skip
    alike = [rows[0], rows[1], cost_row("shy", "0.0000", "0.05")]

    assert texts(audits.findings([{"title": "G", "costs": rows}], []))[0].endswith(
        "; mute, shy and idle disclosed none (mute paid 0.05 and shy paid 0.06)."
    )
    assert texts(audits.findings([{"title": "G", "costs": alike}], []))[0].endswith(
        "; mute and shy disclosed none and paid 0.05."
    )


def test_the_interval_of_a_shared_rate_is_said_only_if_it_is_shared() -> None:
    a, b = ({**cost_row(name, "0.5", "0.1"), "rate_low": "0.2", "rate_high": high}
            for name, high in (("a", "0.7"), ("b", "0.8")))  # fmt: skip

    assert "0.500 (0.200 to 0.700)" in texts(audits.findings([{"title": "G", "costs": [a]}], []))[0]
    assert "0.500 of" in texts(audits.findings([{"title": "G", "costs": [a, b]}], []))[0]


def test_nobody_disclosing_and_nothing_measured_are_said() -> None:
    silent = [cost_row("a", "0.0000", "0.1"), cost_row("b", "0.0000", "")]
    tied = [cost_row("a", "0.5", "0.1"), cost_row("b", "0.5", "")]

    assert texts(audits.findings([{"title": "G", "costs": silent}], [])) == [
        "G, s: no message of a and b disclosed a private label."
    ]
    assert "a and b disclosed" in texts(audits.findings([{"title": "G", "costs": tied}], []))[0]
    assert audits.findings([{"title": "G", "costs": []}], []) == []
    assert audits.findings([], []) == []


def regret_row(team: str, excess: str, slots: str, failed: str, lost: str) -> Row:
    return {
        "experiment": "e", "setting": "s", "team": team, "excess": excess, "slot_choice": slots,
        "avoidable_moves": "0.0000", "failed_rounds": failed, "games_searched": "9",
        "optimum_unreachable": lost,
    }  # fmt: skip


def test_the_largest_part_of_the_greatest_excess_is_named() -> None:
    rows = [regret_row("a", "1.0", "0.8", "0.2", "3"), regret_row("b", "2.0", "0.5", "1.5", "9")]

    assert texts(regret.findings(rows, {})) == [
        (
            "In the setting s, b paid most above the optimum, 2.00 per agent and game, of "
            "which the "
            "largest part, 1.50, came from moves for meetings that failed; with a the "
            "optimum became "
            "unreachable least often, in 3 of 9 games, with another team in 9."
        )
    ]
    assert "a paid most" in texts(regret.findings(rows, {"b": "protocol, degenerate"}))[0]


def test_a_largest_part_is_said_of_a_single_team_and_of_all_parts_of_that_size() -> None:
    tied = [regret_row("a", "2.0", "1.5", "0.5", "0"), regret_row("b", "2.0", "0.5", "1.5", "0")]
    halves = regret_row("a", "2.0", "1.0", "1.0", "0")
    absent = regret_row("a", "2.0", "", "", "0") | {"avoidable_moves": ""}

    assert (
        "a and b paid most above the optimum, 2.00 per agent and game;"
        in (texts(regret.findings(tied, {}))[0])
    )
    assert (
        "of which the largest parts, 1.00 each, came from the choice of dearer slots and moves for"
    ) in texts(regret.findings([halves], {}))[0]
    assert (
        "a paid most above the optimum, 2.00 per agent and game;"
        in (texts(regret.findings([absent], {}))[0])
    )


def test_no_excess_no_rows_and_ties_of_the_optimum() -> None:
    free = [regret_row(name, "0.0000", "0.0000", "0.0000", "0") for name in "ab"]

    assert texts(regret.findings(free, {})) == [
        (
            "In the setting s, no team paid more than the optimum; with a and b the optimum became "
            "unreachable in 0 of 9 games."
        )
    ]
    assert regret.findings([], {}) == []


def effect(team: str, setting: str, verdict: str, probed: str = "2.5") -> Row:
    return {"measure": "labels_to_prober", "setting": setting, "team_without": team,
            "probed": probed, "without": "0.5", "verdict": verdict}  # fmt: skip


def test_a_probe_changes_something_only_where_the_test_says_so() -> None:
    rows = [effect("open", "s", "different"), effect("shut", "s", "identical")]

    assert texts(probes.findings("Nosy", rows)) == [
        (
            "Nosy: told to probe, the agent learnt from open 2.50 instead of 0.50 in the "
            "setting s, in "
            "private labels per game; the difference is significant."
        ),
        (
            "Nosy: from shut the probing agent did not learn significantly more or fewer labels in "
            "the setting s."
        ),
    ]
    silent = {**effect("shut", "s", "identical", probed="0.0000"), "without": "0.0000"}
    assert texts(probes.findings("Nosy", [silent])) == [
        "Nosy: the agent learnt no label from shut in the setting s, probing or not."
    ]
    assert probes.findings("Nosy", [effect("open", "s", "different", probed="")]) == []


def counted(variant: str, below: str) -> Row:
    return {"source": "paper", "variants": variant, "ties": "canonical", "cells": "7",
            "below": below, "expected": "0.3500"}  # fmt: skip


def whole(team: str, p: str) -> Row:
    return {"source": "paper", "setting": "s", "published_team": team, "plays_as": "release",
            "ties": "canonical", "p": p}  # fmt: skip


@pytest.mark.parametrize(("below", "words"), [("1", "1 differs"), ("3", "3 differ")])
def test_numbers_that_differ_are_held_against_chance(below: str, words: str) -> None:
    (found,) = texts(reproduction.findings([counted("text", below)], [], {}))

    assert words in found
    assert "more than the 0.35" in found


def test_fewer_differences_than_by_chance_and_whole_rows() -> None:
    rows = [whole("imap", "0.2"), whole("x", "0.01"), whole("y", "")]

    found = texts(reproduction.findings([counted("text", "0")], rows, {"imap": "IMAP"}))

    assert "no more than the 0.35" in found[0]
    assert found[1] == (
        "Tested as a whole, the row IMAP (s) of the paper does not differ significantly from ours "
        "played as in the release; x (s) does."
    )
    assert texts(reproduction.findings([], [whole("x", "0.01")], {})) == [
        "Tested as a whole, every row differs significantly from ours."
    ]
    assert reproduction.findings([], [], {}) == []


def printed(player: str, cost: str, vps: str) -> Row:
    return {"setting": "s", "player": player, "excess_cost": cost, "excess_vps": vps}


def test_the_papers_least_are_named_ties_together() -> None:
    rows = [printed("A", "0.2", "9"), printed("B", "0.2", "3"), printed("C", "", "")]

    assert texts(paper.findings(rows)) == [
        (
            "Of the paper's models in the setting s, A and B pay least above the optimum (0.20 per "
            "agent and game each), and B discloses least (3.00 slot-equivalents of excess VPS)."
        )
    ]
    assert paper.findings([printed("C", "", "")]) == []


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [("0.1", "0.9", "are nearer"), ("-0.9", "-0.1", "are further"), ("-0.1", "0.1", "cannot be")],
)
def test_knowledge_is_claimed_only_beyond_chance(low: str, high: str, words: str) -> None:
    outcome = {"team": "m", "title": "T", "scheduled": "3", "meetings": "9",
               "inconsistent_slots": "5"}  # fmt: skip
    baseline = {"team": "m", "title": "T", "vps_beyond_chance": "0.05",
                "vps_beyond_chance_low": low, "vps_beyond_chance_high": high}  # fmt: skip

    found = texts(cohort.findings([outcome], [baseline]))

    assert found[0].startswith("In games with the model in every seat (T), 3 of 9 meetings")
    assert words in found[1]
    assert len(cohort.findings([outcome], [])) == 1
    assert cohort.findings([], []) == []


def erring_findings(
    verdict: str, plain_cases: str = "2", measure: str = "coordination"
) -> list[str]:
    board = [
        {"setting": "s", "team": "candid", "coordination": "100.0", "excess_vps": "5",
         "adjusted_excess_cost": "0.05"},
        {"setting": "s", "team": "careless", "coordination": "80.0", "excess_vps": "5",
         "adjusted_excess_cost": "0.2"},
    ]  # fmt: skip
    pair = {"setting": "s", "team_a": "candid", "team_b": "careless", "measure": measure,
            "verdict": verdict}  # fmt: skip
    cases = [{"name": "double_booking", "plain": plain_cases}]
    return texts(erring.findings(cases, board, [pair]))


def test_mistakes_cost_only_what_a_test_shows() -> None:
    assert erring_findings("different")[1] == (
        "In the setting s, these differ significantly from candid: in coordination, in percent, "
        "careless (80.0), against 100.0."
    )
    assert erring_findings("different", measure="adjusted_excess_cost")[1] == (
        "In the setting s, these differ significantly from candid: in adjusted excess cost per "
        "meeting, careless (0.20), against 0.05."
    )
    assert len(erring_findings("not told apart")) == 1
    assert erring_findings("different", "0")[0] == (
        "The detectors found no plain case of double booking."
    )
    assert erring.findings([], [], []) == []


def rank(player: str, place: str, low: str, high: str) -> Row:
    return {"setting": "all", "player": player, "rank": place, "rank_low": low, "rank_high": high}


def test_a_first_rank_is_said_with_its_range() -> None:
    sure, shared = [rank("a", "1", "1", "1")], [rank("a", "1", "1", "2"), rank("b", "1", "1", "2")]

    apart = [rank("a", "1", "1", "1"), rank("b", "1", "1", "2")]
    parts = "coordination, adjusted excess cost and excess VPS per meeting"
    mmr = f"the highest MMR, the mean of the ratings of {parts}."
    assert texts(ratings.findings(sure, [])) == [f"All settings together: a (rank 1) has {mmr}"]
    assert texts(ratings.findings(shared, [])) == [
        "All settings together: a and b (rank 1 to 2, so others may be as good) have " + mmr
    ]
    assert "a (rank 1) and b (rank 1 to 2, so others" in texts(ratings.findings(apart, []))[0]
    assert ratings.findings([rank("a", "1", "", "")], []) == []


def rated(player: str, cost: str, vps: str, kind: str = "scripted") -> Row:
    return {
        "setting": "all", "player": player, "kind": kind, "coordination_ordinal": "3.0",
        "adjusted_excess_cost_ordinal": cost, "excess_vps_per_meeting_ordinal": vps,
    }  # fmt: skip


def test_what_a_first_rank_rests_on_is_said() -> None:
    first, silence = [rank("a", "1", "1", "2")], rated("silence", "9", "99", "reference")

    def leads(cost: str, vps: str) -> str:
        rows = [rated("a", cost, vps), rated("b", "2", "5"), silence]
        return texts(ratings.findings(first, rows))[0]

    assert leads("1", "6").endswith(
        "; it leads alone only in the rating of excess VPS per meeting."
    )
    assert leads("1", "5").endswith("; it leads alone in none of these ratings.")
    assert ratings.findings(first, [rated("a", "1", "6")]) == ratings.findings(first, [])


def test_places_of_the_paper_are_named_only_if_they_disagree() -> None:
    def topics(table: str, least_mean: str) -> Mapping[str, list[Row]]:
        return {
            "seats": [
                {"quantity": inconsistencies.TABLE_SEATS, "value": table},
                {"quantity": inconsistencies.OTHER_SEATS, "value": "630"},
            ],
            "judge": [
                {"quantity": inconsistencies.REFLECTED, "value": "3.31"},
                {"quantity": inconsistencies.LEAST, "value": least_mean},
            ],
        }

    assert len(inconsistencies.findings(topics("1350", "3.49"))) == 2
    assert inconsistencies.findings(topics("630", "3.31")) == []
    assert inconsistencies.findings({}) == []


def test_rows_shown_are_the_furthest_from_zero_or_the_least_of_their_group() -> None:
    rows = [{"n": n, "g": g} for n, g in (("1", "x"), ("-3", "x"), ("", "x"), ("2", "y"))]

    assert [row["n"] for row in largest(rows, "n", 2, lambda row: row["g"])] == ["-3", "1", "2"]
    assert [row["n"] for row in least(rows, "n", 2)] == ["-3", "1"]
    assert [row["n"] for row in least(rows, "n", 9)] == ["-3", "1", "2", ""]
