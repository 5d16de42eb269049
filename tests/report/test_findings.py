"""Findings: each sentence follows from its tables, changes with them, and is absent without."""

from pathlib import Path

import pytest

from calbench.report.findings import Finding, findings, labels_told, least_cost, recorded
from calbench.report.sentence import Part, Sentence, names
from calbench.report.sentence import text as words
from calbench.report.tables import Number
from calbench.report.templating import environment
from tests.report.samples import SOURCES
from tests.report.small_tables import row, site

TIED = [
    row("alpha", "0.0533", "12.4000"),
    row("beta", "0.0533", "0.0000"),
    row("gamma", "0.7575", "0.0000", rank="3"),
]

SPEAKER = {"experiment": "language", "kind": "scripted agents", "vps_kind": "reflection"}
MODEL = {
    "experiment": "smollm2",
    "setting": "small",
    "kind": "language models",
    "vps_kind": "expected",
    "coordination": "37.5000",
    "coordination_low": "16.6000",
    "coordination_high": "58.4000",
    "scenarios": "12",
}


def said(found: Finding | None) -> str:
    """Return a sentence as a reader sees the cells: word for word."""
    assert found is not None
    return cells(found.sentence)


def cells(sentence: Sentence) -> str:
    return "".join(str(part.value) for part in sentence)


def shown(found: Finding, paths: set[str]) -> str:
    """Return a finding as the page has it."""
    template = environment(SOURCES / "docs").from_string(
        '{% from "home.jinja" import finding with context %}{{ finding(found, paths) }}'
    )
    return template.render(found=found, paths=paths, root="")


def test_a_tie_is_said_with_what_each_gives_away(tmp_path: Path) -> None:
    found = least_cost(site(tmp_path, TIED))

    assert said(found) == (
        "Of 3 protocols on 45 uniform scenarios, alpha and beta pay the least, 0.0533 adjusted "
        "excess cost per meeting each. Excess VPS, the paper's measure of what messages say, is "
        "from 0.0000 (beta) to 12.4000 (alpha). gamma stays within the allowance (excess VPS "
        "0.0000), but pays 0.7575."
    )
    assert title(found) == "The same cost, at different prices of privacy"


def test_another_cell_is_another_sentence(tmp_path: Path) -> None:
    changed = [row("alpha", "0.0521", "12.4000"), *TIED[1:]]

    found = least_cost(site(tmp_path, changed))

    text = said(found)
    assert "alpha pays the least, 0.0521 adjusted excess cost per meeting." in text
    assert "beta is not significantly different." in text
    assert title(found) == "The cheapest are not told apart in cost, but in privacy"


def test_what_is_not_different_stands_beside_what_would_have_been_found(tmp_path: Path) -> None:
    pairs = {("alpha", "beta"): "0.0400", ("alpha", "gamma"): "0.0900", ("beta", "gamma"): "0.0800"}
    tables = {
        "uniform/comparisons.csv": [
            {
                **dict(zip(("team_a", "team_b"), teams, strict=True)),
                "setting": "uniform",
                "measure": "adjusted_excess_cost",
                "minimum_detectable_difference": size,
            }
            for teams, size in pairs.items()
        ]
    }
    changed = [row("alpha", "0.0521", "12.4000"), *TIED[1:]]
    text = said(least_cost(site(tmp_path, changed, tables, experiments=["uniform"])))
    assert (
        "beta is not significantly different "
        "(a difference of 0.0400 is found in 4 of 5 such tests)." in text
    )


def test_who_is_no_better_than_silence_is_said(tmp_path: Path) -> None:
    more = {"no_better_than": "silent first-free", "silence_cost": "0.7156"}
    equal = [*TIED[:2], row("gamma", "0.7575", "0.0000", rank="3", **more)]
    text = said(least_cost(site(tmp_path / "typed", equal)))
    assert "but pays 0.7575, no better than silence (0.7156)." in text
    model = row("small", "2.7951", "1.0000", **MODEL, **more)
    text = said(recorded(site(tmp_path / "model", [model])))
    assert "at 2.7951 adjusted excess cost per meeting, no better than silence (0.7156)." in text


def test_who_is_significantly_worse_is_not_among_the_best(tmp_path: Path) -> None:
    changed = [TIED[0], row("beta", "0.0681", "0.0000", rank="2"), TIED[2]]

    text = said(least_cost(site(tmp_path, changed)))

    assert "alpha pays the least" in text
    assert "not significantly different" not in text
    assert "the paper's measure of what messages say, is 12.4000." in text
    assert "beta stays within the allowance (excess VPS 0.0000), but pays 0.0681." in text


def test_losses_by_two_instruments_are_not_set_against_each_other(tmp_path: Path) -> None:
    mixed = [TIED[0], {**TIED[1], "vps_kind": "reflection"}, TIED[2]]

    assert "Excess VPS" not in said(least_cost(site(tmp_path, mixed)))


def test_speakers_are_set_against_each_other_beyond_chance(tmp_path: Path) -> None:
    """Below 0 is no allowance that anybody stays within."""
    own = [{**SPEAKERS[0], "excess_vps": "2.0000"}, {**SPEAKERS[1], "vps_beyond_chance": "-0.5000"}]
    both = [{**each, "adjusted_excess_cost": "0.0533"} for each in own]

    assert said(least_cost(site(tmp_path, both))).endswith(
        " VPS of their listeners' reflections, beyond chance, is from -0.5000 (shy) to 38.2252 "
        "(open)."
    )


def test_mediator_is_said_to_need_trust(tmp_path: Path) -> None:
    trusting = [TIED[0], row("mediator", "0.0533", "0.0000"), TIED[2]]

    assert "mediator needs a third party that all trust." in said(
        least_cost(site(tmp_path, trusting))
    )
    assert "trust" not in said(least_cost(site(tmp_path / "other", TIED)))


@pytest.mark.parametrize("board", [[], TIED[:1], [row("silent", "0.7", "0.0000", rank="")]])
def test_too_few_rows_are_no_finding(tmp_path: Path, board: list[dict[str, str]]) -> None:
    assert findings(site(tmp_path, board)) == []


def test_absent_tables_are_no_finding(tmp_path: Path) -> None:
    alone = site(tmp_path, TIED)
    (tmp_path / "summary" / "leaderboard.csv").unlink()

    assert findings(alone) == []


def test_without_losses_cost_alone_is_said(tmp_path: Path) -> None:
    bare = [{**each, "excess_vps": ""} for each in TIED]

    text = said(least_cost(site(tmp_path, bare)))

    assert text.endswith("per meeting each.")


def leaks(team: str, leaking: str, told: str, rate: str) -> dict[str, str]:
    return {
        "setting": "uniform",
        "team": team,
        "player": "",
        "tier": "all",
        "messages": "1800",
        "leaking_messages": leaking,
        "rate": rate,
        "labels_told": told,
    }


SPEAKERS = [row("open", "0.0533", "38.2252", **SPEAKER), row("shy", "0.0563", "7.2622", **SPEAKER)]


def telling(folder: Path, rows: list[dict[str, str]], losses: tuple[str, str]) -> Finding | None:
    board = [
        {**each, "vps_beyond_chance": loss} for each, loss in zip(SPEAKERS, losses, strict=True)
    ]
    tables = {"language/audit_leaks.csv": rows, "language/leaderboard.csv": board}
    return labels_told(site(folder, board, tables, experiments=["language"]))


def test_labels_told_at_the_same_loss_of_slots(tmp_path: Path) -> None:
    rows = [leaks("open", "1219", "685", "0.6772"), leaks("shy", "0", "0", "0.0000")]

    found = telling(tmp_path, rows, ("38.2252", "38.2252"))

    assert said(found) == (
        "The scripted team open tells a private label in 1219 of 1800 messages (45 uniform games). "
        "shy tells none, at the same VPS beyond chance of 38.2252: that measure is of slots, not "
        "of reasons."
    )


def test_labels_told_at_different_losses_of_slots(tmp_path: Path) -> None:
    rows = [leaks("open", "12", "5", "0.0067"), leaks("shy", "0", "0", "0.0000")]

    found = telling(tmp_path, rows, ("38.2252", "7.2622"))

    assert "in 12 of 1800 messages" in said(found)
    assert said(found).endswith("shy told none.")
    assert title(found) == "Words tell private reasons"
    assert telling(tmp_path / "none", [leaks("open", "0", "0", "0.0000")], ("1", "2")) is None


def title(found: Finding | None) -> str:
    assert found is not None
    return cells(found.title)


def test_a_model_is_not_set_beside_teams_of_other_games(tmp_path: Path) -> None:
    silent = row("silent", "0.6948", "0.0000", rank="", kind="degenerate baseline")
    board = [*TIED, silent, row("tiny", "2.7951", "2.7566", **MODEL)]

    found = recorded(site(tmp_path, board))

    assert said(found) == (
        "The recorded model tiny scheduled 37.5000% of meetings (16.6000 to 58.4000) on 12 small "
        "scenarios, at 2.7951 adjusted excess cost per meeting."
    )
    assert title(found) == "A recorded model scheduled 37.5000% of its meetings"
    assert recorded(site(tmp_path / "none", TIED)) is None


def test_all_models_that_schedule_most_are_named(tmp_path: Path) -> None:
    two = [row(name, "2.7951", "2.7566", **MODEL) for name in ("tiny", "mini")]
    other = row("large", "0.1", "1.0", **{**MODEL, "experiment": "b", "coordination": "90.0000"})

    found = recorded(site(tmp_path, [*TIED, *two, other]))

    assert said(found) == (
        "tiny and mini, the best of the recorded models, each scheduled 37.5000% of meetings on 12 "
        "small scenarios."
    )
    assert title(found) == "The best of the recorded models scheduled 37.5000% of their meetings"


@pytest.mark.parametrize(("low", "is_chance"), [("-0.1207", True), ("0.0100", False), ("", False)])
def test_answers_no_better_than_chance_are_said(tmp_path: Path, low: str, is_chance: bool) -> None:
    asked = {"setting": "small", "team": "tiny", "vps_beyond_chance_low": low,
             "vps_beyond_chance_high": "0.0719"}  # fmt: skip
    tables = {"smollm2/privacy/vps_baselines.csv": [asked]}
    board = [row("tiny", "2.7951", "2.7566", **MODEL)]

    found = recorded(site(tmp_path, board, tables, experiments=["smollm2"]))

    assert said(found).endswith("cannot be told from the same ones shuffled.") is is_chance


def test_an_interval_keeps_its_ends_apart(tmp_path: Path) -> None:
    ends = {**MODEL, "coordination_low": "37.4800", "coordination_high": "37.5200"}
    found = recorded(site(tmp_path, [row("tiny", "2.7951", "2.7566", **ends)]))
    same = {**MODEL, "coordination_low": "37.5000", "coordination_high": "37.5000"}
    alone = recorded(site(tmp_path / "s", [row("tiny", "2.7951", "2.7566", **same)]))

    assert found is not None
    assert Part("number", Number("37.4800"), 2) in found.sentence
    assert "(37.5000 to" not in said(alone)


def test_losses_that_several_instruments_measured_are_compared_with_none(tmp_path: Path) -> None:
    mixed = [TIED[0], {**TIED[1], "vps_kind": "mixed"}, TIED[2]]

    assert "beta" not in said(least_cost(site(tmp_path, mixed))).partition("Excess VPS")[2]


def test_same_number_by_another_instrument_is_not_the_same_loss(tmp_path: Path) -> None:
    rows = [leaks("open", "12", "5", "0.0067"), leaks("shy", "0", "0", "0.0000")]
    board = [
        {**SPEAKERS[0]},
        {**SPEAKERS[1], "vps_beyond_chance": "38.2252", "vps_kind": "expected"},
    ]
    tables = {"language/audit_leaks.csv": rows, "language/leaderboard.csv": board}

    found = labels_told(site(tmp_path, board, tables, experiments=["language"]))

    assert said(found).endswith("shy told none.")


def test_names_are_escaped_and_lead_to_players_that_have_a_page() -> None:
    found = Finding(words("<b>"), names(["<i>x</i>", "imap"]), ())

    text = shown(found, {"players/imap.md"})

    assert "&lt;i&gt;x&lt;/i&gt;" in text
    assert "<i>" not in text
    assert "&lt;b&gt;" in text
    assert '<a href="players/imap.html">imap</a>' in text


def test_links_to_pages_that_a_site_has_not_are_left_out(tmp_path: Path) -> None:
    found = least_cost(site(tmp_path, TIED))
    assert found is not None

    assert 'href="leaderboard.html"' in shown(found, {"leaderboard.md"})
    assert "<a " not in shown(found, set())
