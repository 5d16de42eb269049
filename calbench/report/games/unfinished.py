"""Page data of half-played games: shown as far as they are, beside experiments and in no table."""

from pathlib import Path
from typing import Any

from calbench.report.escape import write_data
from calbench.report.experiment import Unfinished
from calbench.report.games.files import write_game
from calbench.report.games.game import scenario_data
from calbench.report.games.index import GAME_COLUMNS, scenario_columns
from calbench.report.games.packing import column
from calbench.report.games.search import WordIndex
from calbench.traces.models import Trace

NOTE = "Not played to their end: shown as far as they are, and in no table."


def write_unfinished(group: Unfinished, folder: Path, words: WordIndex) -> dict[str, Any]:
    """Write page data of half-played games; return their entry of the index."""
    games = {(game.config.team.team_id, game.scenario.scenario_id): game for game in group.games}
    scenarios = list({each.scenario.scenario_id: each.scenario for each in group.games}.values())
    teams = list(dict.fromkeys(team for team, _ in games))
    kind_by_team: dict[str, str] = {}
    missing, rows = [], []
    for place, (scenario, team) in enumerate((s, team) for s in scenarios for team in teams):
        game = games.get((team, scenario.scenario_id))
        if game is None:
            missing.append(place)
            continue
        written = write_game(folder, game, group.name)
        kind_by_team.setdefault(team, written.kind)
        rows.append(_numbers(game, words.add(written.messages)))
    for scenario in scenarios:
        present = [team for team in teams if (team, scenario.scenario_id) in games]
        key = f"scenarios/{group.name}/{scenario.scenario_id}"
        write_data(folder, key, scenario_data(scenario, present))
    return {
        "name": group.name,
        "note": NOTE,
        "is_unfinished": True,
        "teams": [[team, kind_by_team[team]] for team in teams],
        "scenarios": scenario_columns(scenarios),
        "missing": missing,
        "games": dict(zip(GAME_COLUMNS, map(column, zip(*rows, strict=True)), strict=True)),
    }


def _numbers(game: Trace, texts: int) -> list[Any]:
    """Return what the finder shows: counts so far, and no score."""
    so_far = {
        "scheduled": game.metrics.rounds_scheduled,
        "cost": game.metrics.realised_cost,
        "messages": game.metrics.messages,
        "texts": texts,
    }
    return [so_far.get(name) for name in GAME_COLUMNS]
