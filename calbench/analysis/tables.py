"""The tables of a run, made from game scores one by one (paper, section 4)."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from types import TracebackType
from typing import Self

from calbench.analysis.cells import row, versioned
from calbench.analysis.comparisons import Comparison, adjusted, compare_teams
from calbench.analysis.completion import CompletionBook
from calbench.analysis.dictionary import header
from calbench.analysis.estimates import Estimate, ScenarioSum, estimate_means
from calbench.analysis.first_speaker import FirstSpeakerBook
from calbench.analysis.lost import WithLostGames
from calbench.analysis.measures import MEASURES, measure_sums
from calbench.analysis.meeting_talk import MeetingTalkBook
from calbench.analysis.metric_files import numbers_of, write_metrics
from calbench.analysis.order import GameKey, GameOrder
from calbench.analysis.players import PlayerBook
from calbench.analysis.prior_moves import PriorMovesBook
from calbench.analysis.rating_tables import write_ratings
from calbench.analysis.ratings import RatingBook
from calbench.analysis.regret import RegretTables
from calbench.analysis.rows import (
    agent_rows,
    estimate_cells,
    game_row,
    line,
    meeting_rows,
    player_row,
    reply_rows,
    usage_row,
)
from calbench.analysis.spool import Places, SpooledTable
from calbench.analysis.sums import Numbers, SumTable
from calbench.analysis.usage import Prices, UsageBook
from calbench.files import write_atomically
from calbench.metrics.game import GameScore
from calbench.metrics.outcomes import OUTCOMES
from calbench.metrics.privacy.measured import VpsKind, joint_kind
from calbench.stats.spec import DEFAULT_ANALYSIS, AnalysisSpec


@dataclass(frozen=True, slots=True)
class LeaderboardRow(WithLostGames):
    """One team in one setting.

    Attributes:
        games: games scored.
        scenarios: distinct scenarios of these games.
        games_lost: games recorded and left out.
        estimates: by name of the measure; ``None`` where no agent-game counts.
        vps_kind: how its VPS was measured.
    """

    setting: str
    team: str
    games: int
    scenarios: int
    games_lost: int
    estimates: Mapping[str, Estimate | None]
    vps_kind: str | None


@dataclass(slots=True)
class _TeamTally:
    """What is kept of a team in a setting: sums by scenario, counts by outcome.

    What is only added up later stands in arrays, a number for each game; ``math.fsum`` adds
    exactly, so their order does not show.
    """

    sums: SumTable[int]
    games: int = 0
    games_lost: int = 0
    num_agent_games: int = 0
    fairness_least: "array[float]" = field(default_factory=lambda: array("d"))
    fairness_greatest: "array[float]" = field(default_factory=lambda: array("d"))
    games_sampled: int = 0
    meetings_by_outcome: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    vps_kinds: set[VpsKind | None] = field(default_factory=set)
    typed_agent_games: int = 0
    vps_by_source: dict[tuple[str, str], "array[float]"] = field(default_factory=dict)

    def add(self, scenario: str, score: GameScore) -> None:
        self.games += 1
        for result in score.meetings:
            self.meetings_by_outcome[result.outcome] += 1
        if score.is_lost:
            self.games_lost += 1
            return
        num_agents = len(score.agents)
        self.sums.put(scenario, measure_sums(score.agents))
        self.num_agent_games += num_agents
        self.fairness_least.append(score.fairness_least * num_agents)
        self.fairness_greatest.append(score.fairness_greatest * num_agents)
        self.games_sampled += score.is_fairness_sampled
        self.vps_kinds.update(agent.vps_kind for agent in score.agents)
        self.typed_agent_games += sum(agent.vps_kind == "protocol" for agent in score.agents)
        for share in score.vps_shares:
            of_source = self.vps_by_source.setdefault((share.source, share.channel), array("d"))
            of_source.append(share.vps)

    def column(self, measure: int, scenarios: Sequence[str]) -> list[ScenarioSum | None]:
        return [self.sums.get(scenario, measure) for scenario in scenarios]


class Collector:
    """Takes the scores of a run, in any order, and writes its tables in a fixed one.

    Rows of single games wait on disk; memory holds a few sums for each. Use it as a context
    manager: what is not written is dropped.
    """

    def __init__(
        self,
        folder: Path,
        teams: Sequence[str],
        spec: AnalysisSpec = DEFAULT_ANALYSIS,
        prices: Prices | None = None,
        places: Places | None = None,
    ) -> None:
        """Prepare the folder of tables.

        Args:
            folder: where the tables go; made if missing.
            teams: team ids in the order in which tables list them.
            spec: settings of the estimates.
            prices: what tokens cost, where known.
            places: of the games, shared with other tables of the run.

        Raises:
            OutputError: naming the place, if it cannot be written.
        """
        self._folder = folder
        self._spec = spec
        self._order = GameOrder(teams)
        self._prices: Prices = {} if prices is None else prices
        self._tallies: dict[tuple[str, int, str], _TeamTally] = {}
        self._numbers: dict[str, Numbers] = {}
        self._places = Places() if places is None else places
        self._players = PlayerBook()
        self._usage = UsageBook()
        self._completion = CompletionBook()
        self._first_speaker = FirstSpeakerBook()
        self._meeting_talk = MeetingTalkBook()
        self._prior_moves = PriorMovesBook()
        self._agent_games = self._spool("agent_games.csv")
        self._meetings = self._spool("meetings.csv")
        self._games = self._spool("games.csv")
        self._regret = RegretTables(folder, self._places)
        self._ratings = RatingBook()

    def _spool(self, name: str) -> SpooledTable:
        return SpooledTable(self._folder / name, header(name), self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for table in (self._agent_games, self._meetings, self._games, self._regret):
            table.close()

    def add(self, score: GameScore) -> None:
        """Take one game.

        Raises:
            ValueError: this team's game on this scenario was taken already.
            OutputError: the folder cannot be written.
        """
        key = self._order.key(score.setting, score.team_id, score.scenario_id)
        self._games.append(key, versioned(game_row(score)))
        self._meetings.append(key, versioned("".join(meeting_rows(score))))
        agents = "" if score.is_lost else "".join(agent_rows(score))
        self._agent_games.append(key, versioned(agents))
        self._tally(key).add(key[3], score)
        self._players.add(key, score)
        self._usage.add(key, score)
        self._completion.add(key, score)
        self._first_speaker.add(key, score)
        self._meeting_talk.add(key, score)
        self._prior_moves.add(key, score)
        self._regret.add(key, score)
        self._ratings.add(score)

    def _tally(self, key: GameKey) -> _TeamTally:
        team = key[:3]
        if team not in self._tallies:
            sums = SumTable[int](self._numbers.setdefault(key[0], {}))
            self._tallies[team] = _TeamTally(sums)
        return self._tallies[team]

    def write(self) -> tuple[LeaderboardRow, ...]:
        """Write every table and the metrics, each file whole or not at all.

        Returns:
            The leaderboard, by setting and order of the teams.

        Raises:
            OutputError: the folder cannot be written.
        """
        rows = tuple(self._leaderboard())
        for table in (self._agent_games, self._meetings, self._games, self._regret):
            table.write()
        tallies = [(key[0], key[2], self._tallies[key]) for key in sorted(self._tallies)]
        by_team = {(r.setting, r.team): r for r in rows}
        self._write("leaderboard.csv", (_leaderboard_row(r) for r in rows))
        self._write("outcomes.csv", (_outcome_row(by_team[s, t], tally) for s, t, tally in tallies))
        self._write(
            "sensitivity.csv", (_sensitivity_row(by_team[s, t], tally) for s, t, tally in tallies)
        )
        self._write(
            "vps_shares.csv", (text for s, t, tally in tallies for text in _shares(s, t, tally))
        )
        self._write("comparisons.csv", (comparison_row(c, self._spec) for c in self._comparisons()))
        self._write_players()
        self._write_results()
        write_ratings(self._ratings, self._folder, self._spec.ratings)
        write_metrics(self._folder, ((r.setting, r.team, numbers_of(r.estimates)) for r in rows))
        return rows

    def _write_players(self) -> None:
        rows = list(self._players.rows(self._spec))
        self._write("players.csv", map(player_row, rows))
        self._write("reply_outcomes.csv", (text for r in rows for text in reply_rows(r)))
        self._write("usage.csv", map(usage_row, self._usage.rows(self._prices)))

    def _write_results(self) -> None:
        for name, rows in (
            ("completion_regret.csv", self._completion.rows(self._spec)),
            ("first_speaker.csv", self._first_speaker.rows(self._spec)),
            ("messages_by_meeting.csv", self._meeting_talk.rows(self._spec)),
            ("prior_moves.csv", self._prior_moves.rows(self._spec)),
        ):
            self._write(name, (line(*cells) for cells in rows))

    def _write(self, name: str, lines: Iterable[str]) -> None:
        write_atomically(
            self._folder / name, (row(*header(name)) + versioned("".join(lines))).encode()
        )

    def _by_setting(self) -> Iterator[tuple[str, list[str], list[_TeamTally], list[str]]]:
        """Yield each setting with its teams, what is kept of them, and its scenarios."""
        for setting in sorted({key[0] for key in self._tallies}):
            keys = sorted(key for key in self._tallies if key[0] == setting)
            tallies = [self._tallies[key] for key in keys]
            scenarios = sorted(self._numbers[setting])
            yield setting, [key[2] for key in keys], tallies, scenarios

    def _comparisons(self) -> list[Comparison]:
        """Compare the teams of each setting, over the resamples of the leaderboard."""
        rows: list[Comparison] = []
        for setting, teams, tallies, scenarios in self._by_setting():
            columns = (
                (measure.name, [tally.column(index, scenarios) for tally in tallies])
                for index, measure in enumerate(MEASURES)
            )
            rows += compare_teams(setting, teams, columns, self._spec, _comparable(tallies))
        return adjusted(rows)

    def _leaderboard(self) -> Iterator[LeaderboardRow]:
        """Estimate setting by setting, all teams over the same resampled scenarios."""
        for setting, teams, tallies, scenarios in self._by_setting():
            columns = (
                tally.column(index, scenarios)
                for tally in tallies
                for index in range(len(MEASURES))
            )
            estimates = iter(estimate_means(columns, self._spec, setting))
            for team, tally in zip(teams, tallies, strict=True):
                yield LeaderboardRow(
                    setting=setting,
                    team=team,
                    games=tally.games - tally.games_lost,
                    scenarios=len(tally.sums.scenarios),
                    games_lost=tally.games_lost,
                    estimates={measure.name: next(estimates) for measure in MEASURES},
                    vps_kind=joint_kind(tally.vps_kinds),
                )


def _comparable(tallies: Sequence[_TeamTally]) -> Callable[[str, int, int], bool]:
    """Say of which measures two teams can be compared: of VPS only if measured alike."""
    kinds = [joint_kind(tally.vps_kinds) for tally in tallies]

    def is_comparable(measure: str, a: int, b: int) -> bool:
        return "vps" not in measure or (kinds[a] == kinds[b] and kinds[a] is not None)

    return is_comparable


def comparison_row(entry: Comparison, spec: AnalysisSpec) -> str:
    """Return a line of ``comparisons.csv``."""
    found = entry.difference
    return line(
        entry.setting,
        entry.team_a,
        entry.team_b,
        entry.measure,
        found.num_scenarios,
        found.value,
        found.low,
        found.high,
        found.p_value,
        entry.p_adjusted,
        found.resolvable_gap(spec),
        found.scenarios_needed(spec),
    )


def _leaderboard_row(entry: LeaderboardRow) -> str:
    return line(
        entry.setting,
        entry.team,
        entry.games,
        entry.scenarios,
        *estimate_cells(entry.estimates),
        entry.vps_kind,
    )


def _outcome_row(entry: LeaderboardRow, tally: _TeamTally) -> str:
    counts = tally.meetings_by_outcome
    return line(
        entry.setting,
        entry.team,
        tally.games,
        tally.games_lost,
        entry.lost_percent,
        entry.is_flagged,
        sum(counts.values()),
        *(counts[outcome] for outcome in OUTCOMES),
    )


def _sensitivity_row(entry: LeaderboardRow, tally: _TeamTally) -> str:
    count = tally.num_agent_games
    fairness = entry.estimates["fairness"]
    return line(
        entry.setting,
        entry.team,
        fsum(tally.fairness_least) / count if count else None,
        None if fairness is None else fairness.value,
        fsum(tally.fairness_greatest) / count if count else None,
        entry.games,
        tally.games_sampled,
    )


def _shares(setting: str, team: str, tally: _TeamTally) -> Iterator[str]:
    for source, channel in sorted(tally.vps_by_source):
        total = fsum(tally.vps_by_source[source, channel])
        yield line(setting, team, source, channel, total / tally.typed_agent_games)
