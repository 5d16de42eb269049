"""Runs of one's own: their games are measured, and their teams get names that no other has."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from calbench.analysis.scoring import FACT_BY_NAME, measure_games
from calbench.console import progress
from calbench.errors import FileError
from calbench.facts.storage import Facts
from calbench.files import printable
from calbench.metrics.measure import MeasureSpec
from calbench.pool import Pool
from calbench.report.experiment import checked_id
from calbench.runs.folder import job_folders
from calbench.runs.recorded import RecordedGame, consistent, read_games, team_rank
from calbench.runs.slices import renamed_trace, run_name, team_of_run
from calbench.runs.verification import verified_teams
from calbench.traces.catalog import Catalog
from calbench.traces.outlines import trace_name

Place = tuple[str, str, str]
"""Setting, channels and limits: only games of one place are compared."""

PLACE = ["setting", "channels", "limits"]
"""Their columns."""

SAME_GAME = [*PLACE, "scenario_id", "scenario_digest"]
"""Columns of what two teams have in common whose games are compared."""


@dataclass(frozen=True)
class Entry:
    """The games of a team of a run in one setting.

    Attributes:
        run: its number among the runs.
        team: name on the site.
        own: name in the run.
        place: setting, channels and limits.
        digests: what defines a game on each scenario that the team played, by scenario id.
        is_verified: whether all games of the team in the run hold; not looked at is not verified.
    """

    run: int
    team: str
    own: str
    place: Place
    digests: Mapping[str, str]
    is_verified: bool = False


@dataclass(frozen=True)
class Run:
    """A run of one's own, measured.

    Attributes:
        name: of its folder.
        traces: folder with ``<team>/<scenario_id>.json``, teams by their names on the site.
        facts: of its games.
        entries: its teams by setting.
    """

    name: str
    traces: Path
    facts: Facts
    entries: Sequence[Entry]


def read_runs(
    named: Mapping[str, Path],
    taken: Collection[str],
    scratch: Path,
    measure: MeasureSpec,
    pool: Pool | None = None,
    *,
    is_verifying: bool = False,
) -> list[Run]:
    """Measure the games of runs.

    A team whose name a published team or one of another run has gets the name of its run behind
    its own: ``my-model.run-a``.

    Args:
        named: folders of runs, or of traces, by the names of the runs.
        taken: names of published teams.
        scratch: folder for games and facts.
        measure: settings of the metrics.
        pool: where games are measured; ``None`` measures them here.
        is_verifying: whether games are verified, too, which takes as long as playing them.

    Raises:
        FileError: a folder holds no game, or a game is no trace.
    """
    games = [consistent(read_games([path], pool)) for path in named.values()]
    count = Counter(team for own in games for team in {game.team_id for game in own})
    found = []
    for number, (name, own) in enumerate(zip(named, games, strict=True)):
        names = {
            team: team_of_run(team, name) if count[team] > 1 or team in taken else team
            for team in {game.team_id for game in own}
        }
        folder, catalog = scratch / str(number), Catalog()
        staged = [_staged(game, names[game.team_id], folder / "traces", catalog) for game in own]
        rank = team_rank()
        staged.sort(key=lambda game: (*rank(game.team_id), game.scenario_id))
        with progress("tables", len(staged)) as tick:
            every = tuple(FACT_BY_NAME.values())
            facts = measure_games(staged, folder / "facts", measure, tick, pool, every)
        holds = verified_teams(own, pool) if is_verifying else {}
        verified = {names[team] for team, is_so in holds.items() if is_so}
        own_names = {site: team for team, site in names.items()}
        entries = [
            Entry(number, str(team), own_names[str(team)], place, digests, team in verified)
            for team, games_of_team in facts.games.groupby("team", sort=False)
            for place, digests in scenarios_of(games_of_team).items()
        ]
        found.append(Run(name, folder / "traces", facts, entries))
    return found


def scenarios_of(games: pd.DataFrame) -> dict[Place, dict[str, str]]:
    """Return the scenarios of games, by setting, channels and limits, with their digests by id."""
    found: dict[Place, dict[str, str]] = {}
    for *place, scenario_id, digest in games[SAME_GAME].itertuples(index=False):
        found.setdefault((*place,), {})[scenario_id] = digest
    return found


def run_names(paths: Iterable[Path]) -> dict[str, Path]:
    """Return runs by a name for each, that of its folder; those of one name are numbered.

    A sweep stands for its jobs.

    Raises:
        FileError: a path is no folder.
    """
    named: dict[str, Path] = {}
    for path in (job for each in paths for job in job_folders(each) or [each]):
        if not path.is_dir():
            why = "is a file" if path.exists() else "there is no such folder"
            raise FileError(f"{path}: {why}; name the folder of a run, or of traces")
        name = run_name(path)
        same = sum(each == name or each.startswith(f"{name}--") for each in named)
        named[f"{name}--{same + 1}" if same else name] = path
    return named


def _staged(game: RecordedGame, team: str, folder: Path, catalog: Catalog) -> RecordedGame:
    """Put a game where its name on the site says; with that name in it if it is another."""
    scenario_id = checked_id(game.scenario_id, "scenario")
    path = folder / trace_name(checked_id(team, "team"), scenario_id, game.replicate)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        raise FileError(
            f"{game.file}: {printable(game.team_id)} played {printable(game.scenario_id)} in two "
            "settings; name the runs apart"
        )
    data = catalog.read(game.path)
    path.write_bytes(data if team == game.team_id else renamed_trace(game.path, data, team))
    return replace(game, file=str(path), team_id=team)
