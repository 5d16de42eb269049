"""The page that says where excess cost comes from, and when the optimum became unreachable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.tables.regret import SPLIT
from calbench.report import numbers, sections
from calbench.report.escape import html_text
from calbench.report.links import GameLinks
from calbench.report.results import ExperimentResults, Row, Summary
from calbench.report.special import titled

MADE = ("regret_by_team.csv", "optimum_unreachable_by_round.csv", "regret_by_game.csv")
"""The tables that the page shows."""

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

    played: Sequence[ExperimentResults]
    summary: Summary
    links: GameLinks

    @cached_property
    def teams(self) -> dict[str, list[Row]]:
        """Means of teams, by experiment (regret_by_team.csv)."""
        return self.summary.rows_by_experiment("regret_by_team.csv")

    @cached_property
    def rounds(self) -> dict[str, list[Row]]:
        """When the optimum became unreachable, by experiment (optimum_unreachable_by_round.csv)."""
        return self.summary.rows_by_experiment("optimum_unreachable_by_round.csv")

    @cached_property
    def games(self) -> dict[str, list[Row]]:
        """Every game, by experiment (regret_by_game.csv)."""
        return self.summary.rows_by_experiment("regret_by_game.csv")

    @property
    def experiments(self) -> list[ExperimentResults]:
        """Those that have games to explain."""
        return [each for each in self.played if each.name in self.teams]


def parts(regret: Regret) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    sources = [
        f"{each.name}/{name}.csv"
        for each in regret.experiments
        for name in ("regret", "optimum_unreachable")
    ]
    made = [name for name in MADE if regret.summary.has(name)]
    return {
        "split": lambda: _by_experiment(regret, _split),
        "lost": lambda: _by_experiment(regret, _lost),
        "worst": lambda: _by_experiment(regret, _worst),
        "downloads": lambda: sections.table_links([*made, *sources]),
    }


def _by_experiment(regret: Regret, shown: Callable[[Regret, ExperimentResults], str]) -> str:
    return "\n\n".join(text for each in regret.experiments if (text := shown(regret, each)))


def _place(row: Row) -> list[str]:
    return [f'<th scope="row">{html_text(row["team"])}</th>', numbers.word_cell(row["setting"])]


PLACE_HEADERS = (numbers.plain_header("Team"), numbers.word_header("Setting"))


def _interval_cell(row: Row, name: str, digits: int) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not low or not high:
        return numbers.number_cell(row[name], digits)
    return numbers.range_cell(row[name], low, high, digits)


def _split(regret: Regret, results: ExperimentResults) -> str:
    """Return the parts of every team's excess (regret_by_team.csv)."""
    return numbers.table(
        f"{titled(results)}: excess cost and its parts, accounting cost, "
        f"mean over agent-games with {results.confidence} interval",
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
            for row in regret.teams[results.name]
        ],
    )


def _lost(regret: Regret, results: ExperimentResults) -> str:
    """Return how often the optimum became unreachable, and in which round."""
    lost = regret.rounds.get(results.name, [])
    rounds = sorted({row["round"] for row in lost}, key=int)
    counts = {
        (row["setting"], row["team"], row["round"], row["phase"]): row["optimum_unreachable"]
        for row in lost
    }
    return numbers.table(
        f"{titled(results)}: games in which the optimum went out of reach, and when",
        [
            *PLACE_HEADERS,
            *(
                numbers.plain_header(text)
                for text in ("Games searched", "Optimum unreachable", "Share of 1")
            ),
            *(numbers.plain_header(f"in round {number}") for number in rounds),
        ],
        [
            [
                *_place(row),
                *(
                    numbers.number_cell(row[name])
                    for name in ("games_searched", "optimum_unreachable")
                ),
                _interval_cell(row, "unreachable_share", 3),
                *(_round_cell(counts, (row["setting"], row["team"], each)) for each in rounds),
            ]
            for row in regret.teams[results.name]
        ],
    )


def _round_cell(counts: dict[tuple[str, str, str, str], str], place: tuple[str, str, str]) -> str:
    """Return in how many games it became unreachable in a round, phase by phase."""
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


def _worst(regret: Regret, results: ExperimentResults) -> str:
    """Return the games of every team that paid most above the optimum (regret_by_game.csv)."""
    by_team: dict[tuple[str, str], list[Row]] = {}
    for game in regret.games[results.name]:
        by_team.setdefault((game["setting"], game["team"]), []).append(game)
    rows = [
        [
            *_place(game),
            f'<td class="cb-word">{_link(regret.links, game)}</td>',
            *(numbers.number_cell(game[name]) for name in (*SPLIT, "cost", "optimum")),
            f'<td class="cb-word">{_loss(regret.links, game)}</td>',
        ]
        for games in by_team.values()
        for game in _most(regret.links, games)
    ]
    if not rows:
        return ""
    return numbers.table(
        f"{titled(results)}: games of the trace browser with the greatest excess, by team; "
        "accounting cost, summed over agents",
        [
            *PLACE_HEADERS,
            numbers.word_header("Game"),
            *(numbers.plain_header(TITLES[part]) for part in SPLIT),
            *(numbers.plain_header(text) for text in ("Paid", "Optimum")),
            numbers.word_header("The optimum became unreachable at"),
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
