"""Numbers of a submission, computed from its games: the leaderboard's, and how its teams stand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calbench.analysis.measures import MEASURES
from calbench.analysis.scoring import ALL_FACTS, measure_games
from calbench.analysis.tables import TABLES
from calbench.config.composition import compose
from calbench.console import progress
from calbench.folders import scratch_folder
from calbench.runs.identity import published_parts
from calbench.runs.published import settings_of
from calbench.runs.recorded import recorded_games
from calbench.submissions.examine import Examined, ids_of
from calbench.submissions.folder import Part

LEADERBOARD = "leaderboard.csv"


class Standing(NamedTuple):
    """A team in one setting, as the board shows it.

    Attributes:
        team: its name in the submission.
        setting: in which it played.
        part: of which suite, and how many of its scenarios, in words.
        expected: games of the part, those that were cut short among them.
        halted: games that a provider, the budget or an agent without an answer cut short.
        coordination: percent of meetings scheduled in all games of the part; those of games that
            were cut short count as failed.
        cost_usd: of its models' replies; absent without a price.
    """

    team: str
    setting: str
    part: str
    expected: int
    halted: Sequence[str]
    coordination: float
    cost_usd: float | None


def standings_of(found: Examined, parts: Mapping[str, Part]) -> Iterator[Standing]:
    """Yield how each team stands in each setting of a published suite."""
    for (team, setting), own in sorted(found.games.items()):
        part = parts.get(setting)
        if part is None:
            continue
        whole, count = len(published_parts()[part.suite][setting]), len(ids_of(part, setting))
        times = found.replicates[team, setting]
        shares = [100 * game.scheduled / game.meetings for game in own if game.meetings]
        expected = count * times
        yield Standing(
            team,
            setting,
            f"{count} of {whole} scenarios of {part.suite}{f', {times} times' * (times > 1)}",
            expected,
            [f"{game.scenario_id}: {game.halt}" for game in own if game.halt],
            sum(shares) / max(expected, len(shares)),
            found.cost_usd.get(team),
        )


def numbers_of(paths: Iterable[Path]) -> dict[str, dict[str, dict[str, float]]]:
    """Compute the leaderboard's measures of some games, by team and setting.

    Means are over games that were played to their end; how many those are stands beside them.

    Raises:
        FileError: a game is no trace.
    """
    spec = compose([])
    games = recorded_games(paths)
    games.sort(key=lambda game: (game.team_id, game.head.setting, game.scenario_id, game.file))
    with scratch_folder("submission") as scratch, progress("measured", len(games)) as tick:
        facts = measure_games(games, scratch / "facts", spec.measure, tick, None, ALL_FACTS)
        table = TABLES[LEADERBOARD]
        table.write(facts, settings_of(spec), scratch)
        rows = table.read(scratch).to_dict("records")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        measures = ("games", "scenarios", *(measure.name for measure in MEASURES))
        own = {name: float(row[name]) for name in measures if row[name] == row[name]}
        found.setdefault(row["team"], {})[row["setting"]] = own
    return found
