"""Small tables by hand, for tests of sentences and pictures that are made of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from calbench.analysis.measures import privacy_measure
from calbench.report.experiment import Experiment
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables, csv_bytes
from tests.report.samples import SOURCES

MEASURES = ("coordination", "adjusted_excess_cost", "fairness", "vps_beyond_chance", "excess_vps")

COLUMNS = (
    *("experiment", "setting", "channel", "team", "kind", "games", "scenarios", "vps_kind"),
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    *(f"adjusted_excess_cost_{end}" for end in ("rank_low", "rank_high", "ranked")),
    *("silence_cost", "no_better_than"),
)

PROTOCOL = {
    "experiment": "uniform",
    "setting": "uniform",
    "channel": "private messages",
    "kind": "protocol",
    "games": "45",
    "scenarios": "45",
    "vps_kind": "protocol",
    "coordination": "100.0000",
    "adjusted_excess_cost_ranked": "3",
}


def row(
    team: str, cost: str, loss: str, rank: str = "1", fairness: str = "0.5000", **more: str
) -> dict[str, str]:
    """Return a row of the leaderboard over several experiments; a protocol's if nothing else.

    The loss is that by which its instrument is compared.
    """
    own = {
        "team": team,
        "adjusted_excess_cost": cost,
        privacy_measure(more.get("vps_kind", "protocol")): loss,
        "fairness": fairness,
        "adjusted_excess_cost_rank_low": rank,
        "adjusted_excess_cost_rank_high": rank,
    }
    return {**dict.fromkeys(COLUMNS, ""), **PROTOCOL, **own, **more}


def write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Write a table with the columns of its first row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(csv_bytes(list(rows[0]) if rows else list(COLUMNS), rows))


def site(
    folder: Path,
    board: Sequence[Mapping[str, str]],
    tables: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    published: Path | None = None,
    experiments: Sequence[str] = (),
) -> Site:
    """Return a site of a leaderboard and other tables, without games.

    Args:
        folder: where the tables are written.
        board: rows of the leaderboard over several experiments.
        tables: others, by their path; those of experiments are in folders of their own.
        published: folder of what others printed.
        experiments: names of those that the site has.
    """
    write(folder / "summary" / "leaderboard.csv", board)
    for name, rows in (tables or {}).items():
        write(folder / name, rows)
    found = [
        Experiment(name, folder / "no.jsonl", folder / name, folder / "no", Role(games=0))
        for name in experiments
    ]
    theirs = Tables(published or folder / "nothing")
    return Site(SOURCES, tuple(found), Tables(folder / "summary"), theirs)
