"""What a pool keeps of games, and that it is refused when it is something else."""

import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import COLUMNS, POOL, unpacked
from calbench.errors import CalbenchError, FileError
from calbench.metrics.authors import AuthorsScore
from tests.cli.runs import REPO
from tests.facts.scored import agent, score
from tests.studies.predictive import scenario_rows, write_pool

_NONE: dict[str, Any] = dict.fromkeys(AuthorsScore.__slots__, 0)

RELEASED = AuthorsScore(**{**_NONE, "excess": 1.25, "messages": 3.5, "fairness": 0.75})


def test_a_row_holds_the_sums_of_a_game(tmp_path: Path) -> None:
    played = score(
        agent(assigned=3, scheduled=2, excess_cost=4, messages_sent=6, burden_gap=1.5,
              excess_vps=2.25),
        agent(assigned=3, scheduled=0, excess_cost=-1, messages_sent=5, burden_gap=0.5,
              excess_vps=0.0),
        agent(assigned=0, scheduled=0, excess_cost=0, messages_sent=0, burden_gap=1.0,
              excess_vps=0.0),
        tertile="hard",
    )  # fmt: skip
    write_pool(tmp_path, scenario_rows([("one", 7, played, RELEASED)]))
    (row,) = unpacked(tmp_path / POOL, (tmp_path / POOL).read_bytes()).to_dict("records")
    assert row == {
        "experiment": "one",
        "setting": "uniform",
        "team": "imap",
        "scenario": 7,
        "tertile": "hard",
        "coordination": pytest.approx(200 / 3, abs=1e-6),
        "coordination_n": 2,
        "excess_cost": 3.75,
        "excess_cost_n": 3,
        "messages": 10.5,
        "messages_n": 3,
        "fairness": 2.25,
        "fairness_n": 3,
        "excess_vps": 2.25,
        "excess_vps_n": 3,
    }


def test_an_excluded_game_is_refused() -> None:
    with pytest.raises(CalbenchError, match="imap on s0: the game is excluded"):
        scenario_rows([("one", 0, score(agent(), is_excluded=True), RELEASED)])


@pytest.mark.parametrize(
    "content", [b"", b"setting,team\n", lzma.compress(b"setting,team\na,b\n"), lzma.compress(b"")]
)
def test_what_is_no_pool_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / POOL).write_bytes(content)
    with pytest.raises(FileError, match=r"pool\.csv\.xz: does not read as a pool; make it again$"):
        unpacked(tmp_path / POOL, (tmp_path / POOL).read_bytes())


def test_the_kept_pool_has_every_scenario_for_every_team() -> None:
    """1,800 of each setting, a third of each difficulty, the same for all."""
    path = REPO / "data" / "predictive" / POOL
    assert path.stat().st_size < 400_000
    rows = unpacked(path, path.read_bytes())
    assert list(rows.columns) == [column.name for column in COLUMNS]
    places = rows.groupby(["setting", "experiment", "team"])
    assert (places.size() == 1800).all()
    assert len(places) == 12
    assert rows.groupby(["setting", "scenario"])["tertile"].nunique().max() == 1
    assert (rows.groupby(["setting", "experiment", "team", "tertile"]).size() == 600).all()
    sums = places[[f"{name}{end}" for name in HEADLINE for end in ("", "_n")]].sum()
    vps = sums["excess_vps"] / sums["excess_vps_n"]
    assert vps["uniform", "reproduction", "imap"] == pytest.approx(12.4, abs=0.01)
    assert vps["varied", "reproduction", "dsm-private"] == 0
    assert np.isfinite(rows[list(HEADLINE)].to_numpy()).all()
