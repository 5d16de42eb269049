"""The page that says where excess cost comes from, and when the optimum was lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calbench.report import numbers, sections
from calbench.report.escape import html_text
from calbench.report.links import GameLinks
from calbench.report.regret_rows import (
    GAME_COLUMNS,
    ROUND_COLUMNS,
    SPLIT,
    TEAM_COLUMNS,
    RegretRows,
    all_games,
)
from calbench.report.results import Row
from calbench.report.special import titled, write_table

WORST = 3
"""Games of a team that the page names [C]."""

TITLES = {
    "excess": "Excess cost",
    "slot_choice": "Slot choice",
    "avoidable_moves": "Avoidable moves",
    "failed_rounds": "Failed rounds",
}


@dataclass(frozen=True)
class Regret:
    """The excess of the experiments that are compared, and how to reach their games."""

    rows: Sequence[RegretRows]
    links: GameLinks

    def write(self, tables: Path) -> None:
        """Write the tables that the page works out."""
        write_table(
            tables / "regret_by_team.csv", (r for e in self.rows for r in e.teams), TEAM_COLUMNS
        )
        write_table(
            tables / "optimum_lost_by_round.csv",
            (row for each in self.rows for row in each.rounds),
            ROUND_COLUMNS,
        )
        write_table(tables / "regret_by_game.csv", all_games(self.rows), GAME_COLUMNS)


def parts(regret: Regret) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    sources = [
        f"{each.results.name}/{name}.csv"
        for each in regret.rows
        for name in ("regret", "optimum_lost")
    ]
    made = ("regret_by_team.csv", "optimum_lost_by_round.csv", "regret_by_game.csv")
    return {
        "split": lambda: _by_experiment(regret, _split),
        "lost": lambda: _by_experiment(regret, _lost),
        "worst": lambda: _by_experiment(regret, _worst),
        "downloads": lambda: sections.table_links([*made, *sources]),
    }


def _by_experiment(regret: Regret, shown: Callable[[Regret, RegretRows], str]) -> str:
    return "\n\n".join(text for each in regret.rows if (text := shown(regret, each)))


def _place(row: Row) -> list[str]:
    return [f'<th scope="row">{html_text(row["team"])}</th>', numbers.word_cell(row["setting"])]


PLACE_HEADERS = (numbers.plain_header("Team"), numbers.word_header("Setting"))


def _interval_cell(row: Row, name: str, digits: int) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not low or not high:
        return numbers.number_cell(row[name], digits)
    return numbers.range_cell(row[name], low, high, digits)


def _split(regret: Regret, each: RegretRows) -> str:
    """Return the parts of every team's excess (regret_by_team.csv)."""
    del regret
    return numbers.table(
        f"{titled(each.results)}: excess cost and its parts, accounting cost, "
        "mean over agent-games with 95% interval",
        [
            *PLACE_HEADERS,
            numbers.plain_header("Agent-games"),
            *(numbers.plain_header(TITLES[part]) for part in SPLIT),
        ],
        [
            [
                *_place(row),
                numbers.number_cell(row["agent_games"]),
                *(_interval_cell(row, part, 3) for part in SPLIT),
            ]
            for row in each.teams
        ],
    )


def _lost(regret: Regret, each: RegretRows) -> str:
    """Return how often the optimum was lost, and in which round (the two smaller tables)."""
    del regret
    rounds = sorted({row["round"] for row in each.rounds}, key=int)
    counts = {
        (row["setting"], row["team"], row["round"], row["phase"]): row["optimum_lost"]
        for row in each.rounds
    }
    return numbers.table(
        f"{titled(each.results)}: games in which the optimum went out of reach, and when",
        [
            *PLACE_HEADERS,
            *(numbers.plain_header(text) for text in ("Games searched", "Lost", "Share of 1")),
            *(numbers.plain_header(f"in round {number}") for number in rounds),
        ],
        [
            [
                *_place(row),
                *(numbers.number_cell(row[name]) for name in ("games_searched", "optimum_lost")),
                _interval_cell(row, "lost_share", 3),
                *(_round_cell(counts, (row["setting"], row["team"], each)) for each in rounds),
            ]
            for row in each.teams
        ],
    )


def _round_cell(counts: dict[tuple[str, str, str, str], str], place: tuple[str, str, str]) -> str:
    """Return how many games lost it in a round, phase by phase."""
    found = [(key[3], count) for key, count in counts.items() if key[:3] == place]
    if not found:
        return f'<td><span title="none">{numbers.DASH}</span></td>'
    lines = [
        f'{numbers.shown_number(count, None)} <span class="cb-range">{html_text(_phase(phase))}'
        "</span>"
        for phase, count in found
    ]
    return f"<td>{''.join(lines)}</td>"


def _phase(phase: str) -> str:
    """Return a phase's name, or where a meeting had failed."""
    return phase.lower()


def _worst(regret: Regret, each: RegretRows) -> str:
    """Return the games of every team that paid most above the optimum (regret_by_game.csv)."""
    rows = [
        [
            *_place(game),
            f'<td class="cb-word">{_link(regret.links, game)}</td>',
            *(numbers.number_cell(game[name]) for name in (*SPLIT, "cost", "optimum")),
            f'<td class="cb-word">{_loss(regret.links, game)}</td>',
        ]
        for games in each.games.values()
        for game in _most(regret.links, games)
    ]
    if not rows:
        return ""
    return numbers.table(
        f"{titled(each.results)}: games of the trace browser with the greatest excess, by team; "
        "accounting cost, summed over agents",
        [
            *PLACE_HEADERS,
            numbers.word_header("Game"),
            *(numbers.plain_header(TITLES[part]) for part in SPLIT),
            *(numbers.plain_header(text) for text in ("Paid", "Optimum")),
            numbers.word_header("The optimum was lost at"),
        ],
        rows,
    )


def _most(links: GameLinks, games: Sequence[Row]) -> list[Row]:
    shown = [
        game
        for game in games
        if (numbers.decimal(game["excess"]) > 0 or game["event_index"])
        and links.has(game["experiment"], game["team"], game["scenario_id"])
    ]
    shown.sort(key=lambda game: (-numbers.decimal(game["excess"]), game["scenario_id"]))
    return shown[:WORST]


def _link(links: GameLinks, game: Row) -> str:
    return links.game(game["experiment"], game["team"], game["scenario_id"])


def _loss(links: GameLinks, game: Row) -> str:
    """Return the event after which the optimum was out of reach, linked."""
    if not game["event_index"]:
        return "never"
    place = game["experiment"], game["team"], game["scenario_id"]
    rest = (
        f"from then on at least {numbers.shown_number(game['least_cost_after'], None)}"
        if game["least_cost_after"]
        else "from then on not all meetings could be scheduled"
    )
    when = f"round {numbers.shown_number(game['round'], None)}, {_phase(game['phase'])}"
    return f"{links.game(*place, game['event_index'])}: {when}; {rest}"
