"""Games that are measured where they are played have the facts of their traces."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from calbench.analysis.scoring import ALL_FACTS, add_measured, measure_games
from calbench.config.composition import compose
from calbench.errors import CalbenchError
from calbench.facts.storage import FactsWriter
from calbench.metrics.measure import DEFAULT_MEASURE
from calbench.runs import play as runs
from calbench.runs.measuring import MeasuringStore
from calbench.traces.models import Trace
from calbench.traces.storage import write_trace
from calbench.traces.store import FILES, Batch
from tests.cli.runs import files
from tests.report.samples import Game, play, suite_of

TEAMS = ("imap", "tell-all")
NAMES = tuple(fact.name for fact in ALL_FACTS)


def played(traces: Path) -> list[tuple[Path, Trace]]:
    return [
        (traces / team / f"{scenario.scenario_id}.json", play(scenario, team))
        for scenario in suite_of("varied", 2)
        for team in TEAMS
    ]


def games_of(games: Sequence[tuple[Path, Trace]]) -> list[Game]:
    return [Game(path, path.parent.name, path.stem) for path, _ in games]


def test_games_measured_where_played_and_from_disk_are_those_of_one_run(tmp_path: Path) -> None:
    games = played(tmp_path / "traces")
    with FactsWriter(tmp_path / "facts", ALL_FACTS, TEAMS) as writer:
        store = MeasuringStore(FILES, DEFAULT_MEASURE, NAMES, writer)
        worker = pickle.loads(pickle.dumps(store))  # noqa: S301
        store.commit(worker.prepare(games[:2]))
        store.commit(worker.prepare(games[2:3]))
        for path, trace in games[3:]:  # played earlier
            write_trace(path, trace)
        store.check(None)
        rest = [game for game in games_of(games) if game.path not in store.paths]
        add_measured(writer, rest, DEFAULT_MEASURE, lambda: None, None, ALL_FACTS)
        writer.write()

    assert [game.path for game in rest] == [games[3][0]]
    ordered = sorted(games_of(games), key=lambda game: TEAMS.index(game.team_id))
    measure_games(ordered, tmp_path / "again", DEFAULT_MEASURE, lambda: None)
    assert files(tmp_path / "facts") == files(tmp_path / "again")


class Forgetful:
    """Keeps another game than it is given."""

    def prepare(self, traces: Sequence[tuple[Path, Trace]]) -> Batch:
        _, other = traces[-1]
        return FILES.prepare([(path, other) for path, _ in traces])

    def commit(self, batch: Batch) -> None:
        FILES.commit(batch)


def test_trace_that_is_not_the_game_that_was_measured_is_an_error(tmp_path: Path) -> None:
    games = played(tmp_path / "traces")
    with FactsWriter(tmp_path / "facts", ALL_FACTS, TEAMS) as writer:
        store = MeasuringStore(Forgetful(), DEFAULT_MEASURE, NAMES, writer)
        store.commit(store.prepare(games))
        with pytest.raises(CalbenchError, match="not the game that was played and measured"):
            store.check(None)


@pytest.mark.heavy
def test_tables_of_many_games_are_made_elsewhere_and_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = ["suite=former-uniform", "suite.num_scenarios=2", "suite.num_candidates=2"]
    found = []
    for name, most in (("here", 10_000), ("elsewhere", 0)):
        monkeypatch.setattr(runs, "MOST_GAMES", most)
        spec = compose([*suite, "teams=[imap,tell-all]", "jobs=2", f"out={tmp_path / name}"])
        found.append(files(runs.execute(spec).tables))
    assert found[0] == found[1]
    assert "leaderboard.csv" in found[0]
