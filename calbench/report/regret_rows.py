"""Where excess cost comes from, added up by game and team (regret.csv, optimum_lost.csv)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.cells import cell
from calbench.analysis.estimates import Estimate, ScenarioSum, estimate_means
from calbench.analysis.proportions import Proportion, wilson
from calbench.errors import FileError
from calbench.report.numbers import decimal
from calbench.report.results import ExperimentResults, Row
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec

SPLIT = ("excess", "slot_choice", "avoidable_moves", "failed_rounds")
"""Excess cost and the three parts that sum to it."""

_PLACE = ("experiment", "setting", "team")
_LOSS = ("optimum", "cost", "event_index", "round", "phase", "agent_id", "least_cost_after")

GAME_COLUMNS = (*_PLACE, "scenario_id", *SPLIT, *_LOSS)
"""Of ``tables/regret_by_game.csv``."""

TEAM_COLUMNS = (
    *_PLACE, "games", "agent_games",
    *(f"{part}{end}" for part in SPLIT for end in ("", "_low", "_high")),
    "games_searched", "optimum_lost", "lost_share", "lost_share_low", "lost_share_high",
)  # fmt: skip
"""Of ``tables/regret_by_team.csv``."""

ROUND_COLUMNS = (*_PLACE, "round", "phase", "optimum_lost")
"""Of ``tables/optimum_lost_by_round.csv``."""

DIGITS = 4
"""Decimals of means and shares [C]."""

Place = tuple[str, str]
"""Setting and team."""


@dataclass(frozen=True)
class RegretRows:
    """The excess of one experiment's games, split and added up."""

    results: ExperimentResults
    spec: AnalysisSpec = DEFAULT_ANALYSIS

    @cached_property
    def games(self) -> dict[Place, list[Row]]:
        """A row a game in the order of the suite, by setting and team."""
        sums: dict[tuple[str, str, str], Counter[str]] = {}
        for row in self.results.table("regret.csv"):
            counter = sums.setdefault((row["setting"], row["team"], row["scenario_id"]), Counter())
            for part in SPLIT:
                counter[part] += _integer(row[part])
        found: dict[Place, list[Row]] = {}
        for row in self.results.table("optimum_lost.csv"):
            key = row["setting"], row["team"], row["scenario_id"]
            split = {part: str(sums.get(key, Counter())[part]) for part in SPLIT}
            place = {name: row[name] for name in ("setting", "team", "scenario_id")}
            loss = {name: row[name] for name in (*_LOSS, "is_searched")}
            game = {"experiment": self.results.name, **place, **split, **loss}
            found.setdefault(key[:2], []).append(game)
        return found

    @cached_property
    def teams(self) -> list[Row]:
        """A row a setting and team: means over agent-games, and how often the optimum went."""
        agents: Counter[tuple[str, str]] = Counter(
            (row["team"], row["scenario_id"]) for row in self.results.table("agent_games.csv")
        )
        for team, scenario in (
            (r["team"], r["scenario_id"]) for g in self.games.values() for r in g
        ):
            if not agents[team, scenario]:
                raise FileError(
                    f"{self.results.tables / 'agent_games.csv'}: no row of team {team} on "
                    f"{scenario}, which optimum_lost.csv has; make the tables again"
                )
        settings = dict.fromkeys(setting for setting, _ in self.games)
        return [row for setting in settings for row in self._means(setting, agents)]

    def _means(self, setting: str, agents: Counter[tuple[str, str]]) -> Iterator[Row]:
        """Estimate over the leaderboard's own resamples, so that equal means have equal ends."""
        places = [place for place in self.games if place[0] == setting]
        sums = {
            (row["team"], row["scenario_id"], part): ScenarioSum(
                float(row[part]), agents[row["team"], row["scenario_id"]]
            )
            for place in places
            for row in self.games[place]
            for part in SPLIT
        }
        scenarios = sorted({scenario for _, scenario, _ in sums})
        columns = [
            [sums.get((team, scenario, part)) for scenario in scenarios]
            for _, team in places
            for part in SPLIT
        ]
        estimates = iter(estimate_means(columns, self.spec, setting))
        for place in places:
            shown: dict[str, str] = {}
            for part in SPLIT:
                found = next(estimates)
                shown |= _interval(part, found)
            count = sum(agents[place[1], row["scenario_id"]] for row in self.games[place])
            yield {
                **dict(zip(_PLACE, (self.results.name, *place), strict=True)),
                "games": str(len(self.games[place])),
                "agent_games": str(count),
                **shown,
                **self._losses(place),
            }

    def _losses(self, place: Place) -> Row:
        searched = [row for row in self.games[place] if row["is_searched"] == "true"]
        lost = sum(bool(row["event_index"]) for row in searched)
        share = wilson(lost, len(searched), self.spec)
        return {
            "games_searched": str(len(searched)),
            "optimum_lost": str(lost),
            **_interval("lost_share", share),
        }

    @cached_property
    def rounds(self) -> list[Row]:
        """How many games of each setting and team lost the optimum in which round and phase."""
        rows: list[Row] = []
        for place, games in self.games.items():
            counts = Counter(
                (_integer(row["round"]), row["phase"]) for row in games if row["event_index"]
            )
            rows += [
                dict(
                    zip(
                        ROUND_COLUMNS,
                        (self.results.name, *place, str(number), phase, str(count)),
                        strict=True,
                    )
                )
                for (number, phase), count in sorted(counts.items())
            ]
        return rows


def all_games(rows: Sequence[RegretRows]) -> Iterator[Row]:
    """Yield the rows of every experiment's games, as the table has them."""
    for each in rows:
        for games in each.games.values():
            for game in games:
                yield {name: game[name] for name in GAME_COLUMNS}


def _interval(name: str, found: Estimate | Proportion | None) -> dict[str, str]:
    value, low, high = (found.value, found.low, found.high) if found else (None, None, None)
    cells = {name: value, f"{name}_low": low, f"{name}_high": high}
    return {key: cell(number, DIGITS) for key, number in cells.items()}


def _integer(text: str) -> int:
    value = decimal(text)
    if value != int(value):
        raise FileError(f"a table holds {text!r:.40} where a whole number should stand")
    return int(value)
