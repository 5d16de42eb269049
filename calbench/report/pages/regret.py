"""The page that says where excess cost comes from, and when the optimum became unreachable."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calbench.report.columns import decimal, largest_of
from calbench.report.experiment import Experiment
from calbench.report.pages.page import Content
from calbench.report.role import SETTINGS
from calbench.report.sentence import Sentence, cell, joined, said, teams, text
from calbench.report.site import REGRET, Site
from calbench.report.tables import Row

PARTS = {
    "slot_choice": "the choice of dearer slots",
    "avoidable_moves": "moves that were not needed",
    "failed_rounds": "moves for meetings that failed",
}
"""The parts of the excess, as a sentence names them."""

DIGITS = 2


def findings(rows: Sequence[Row], kinds: Mapping[str, str]) -> list[Sentence]:
    """Return who pays most and for what, and who keeps the optimum reachable, by setting.

    Args:
        rows: of ``regret_by_team.csv``, of the experiments that are to be compared.
        kinds: of teams; degenerate baselines do not compete.
    """
    counted = [row for row in rows if "degenerate" not in kinds.get(row["team"], "")]
    found: list[Sentence] = []
    for place in dict.fromkeys((row["experiment"], row["setting"]) for row in counted):
        own = [row for row in counted if (row["experiment"], row["setting"]) == place]
        pieces = [*_most(own), *_kept(own)]
        if pieces:
            words = joined(pieces, last="; ", between="; ")
            found.append(said("In the setting {setting}, {words}.", setting=place[1], words=words))
    return found


def _most(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield which team pays most above the optimum, and the largest part of it."""
    known = [row for row in rows if row.get("excess")]
    if not known:
        return
    most = max(decimal(row["excess"]) for row in known)
    if most <= 0:
        yield text("no team paid more than the optimum")
        return
    first = [row for row in known if decimal(row["excess"]) == most]
    yield said(
        "{who} paid most above the optimum, {excess} per agent and game{part}",
        who=teams(first),
        excess=cell(first[0]["excess"], DIGITS),
        part=_largest(first[0]) if len(first) == 1 else "",
    )


def _largest(row: Row) -> Sentence:
    """Return the largest part of what a team paid, or several of one size; none above 0: none."""
    parts = largest_of(row, PARTS)
    if not parts:
        return ()
    return said(
        ", of which the largest {part}, {cost}{each}, came from {names}",
        part="part" if len(parts) == 1 else "parts",
        cost=cell(row[parts[0]], DIGITS),
        each="" if len(parts) == 1 else " each",
        names=joined([text(PARTS[part]) for part in parts]),
    )


def _kept(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Yield in how few games the optimum became unreachable, if as many were searched of all."""
    known = [row for row in rows if row.get("optimum_unreachable")]
    searched = {row["games_searched"] for row in known}
    if len(searched) != 1:
        return
    counts = [int(row["optimum_unreachable"]) for row in known]
    first = [row for row, count in zip(known, counts, strict=True) if count == min(counts)]
    most = max(counts)
    yield said(
        "with {who} the optimum became unreachable {how}in {least} of {games} games{most}",
        who=teams(first),
        how="least often, " if most > min(counts) else "",
        least=cell(first[0]["optimum_unreachable"]),
        games=cell(first[0]["games_searched"]),
        most=said(", with another team in {most}", most=cell(str(most)))
        if most > min(counts)
        else "",
    )


ROUNDS = "optimum_unreachable_by_round.csv"
GAMES = "regret_by_game.csv"

SOURCES = ("regret.csv", "optimum_unreachable.csv")
"""The tables of each experiment that those over all of them are made of."""

WORST = 3
"""Games of a team that the page names [C]."""


def content(site: Site) -> Content | None:
    """Return the experiments whose excess was split; no page without any."""
    found = [each for each in site.ranked if site.summary.optional(REGRET, experiment=each.name)]
    if not found:
        return None
    made = [name for name in (REGRET, ROUNDS, GAMES) if site.summary.has(name)]
    sources = [f"{each.name}/{name}" for each in found for name in SOURCES]
    first = [each for each in found if each.role.page == SETTINGS] or found[:1]
    rows = [row for each in first for row in site.summary.rows(REGRET, experiment=each.name)]
    return Content(
        {
            "found": findings(rows, site.kind_by_team),
            "experiments": [_shown(site, each) for each in found],
            "files": [*made, *sources],
        }
    )


def _shown(site: Site, experiment: Experiment) -> dict[str, Any]:
    """Return the rows of an experiment's three tables."""
    rounds = site.summary.optional(ROUNDS, experiment=experiment.name)
    return {
        "title": experiment.title,
        "confidence": experiment.confidence,
        "rounds": sorted({row["round"] for row in rounds}, key=int),
        "phases": rounds,
        "teams": site.summary.rows(REGRET, experiment=experiment.name),
        "worst": _worst(site, site.summary.optional(GAMES, experiment=experiment.name)),
    }


def _worst(site: Site, games: Sequence[Row]) -> list[Row]:
    """Return the games of every team that paid most above the optimum, linked to the browser."""
    by_team: dict[tuple[str, str], list[Row]] = {}
    for game in games:
        place = game["experiment"], game["team"], game["scenario_id"]
        if (decimal(game["excess"]) > 0 or game["event_index"]) and site.links.has(*place):
            by_team.setdefault((game["setting"], game["team"]), []).append(game)
    for of_team in by_team.values():
        of_team.sort(key=lambda game: (-decimal(game["excess"]), game["scenario_id"]))
    return [
        {
            **site.links.to_event(game),
            "game": site.links.address(game["experiment"], game["team"], game["scenario_id"]),
        }
        for of_team in by_team.values()
        for game in of_team[:WORST]
    ]
