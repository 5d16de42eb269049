"""Tables of several experiments together: their keys, replicates, and both of their forms."""

import io
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet

from calbench.analysis.registry import write_frames
from calbench.analysis.tables import TABLES
from calbench.analysis.together import Together, tables_together
from calbench.domain.canary import CANARY
from calbench.errors import FileError
from calbench.facts.frames import empty

GAMES = TABLES["audit_games.csv"]


def rows(replicate: int) -> pd.DataFrame:
    """Return one row of a table of games."""
    frame = empty(GAMES.with_replicates().columns).reindex([0])
    return frame.assign(setting="s", team="t", scenario_id="x", replicate=replicate)


@pytest.fixture
def together(tmp_path: Path) -> Together:
    """One experiment plays each scenario twice, the first one once."""
    for name in ("once", "twice"):
        table = GAMES.with_replicates() if name == "twice" else GAMES
        frames = [rows(replicate=each) for each in ((0, 1) if name == "twice" else (0,))]
        write_frames(tmp_path / name / GAMES.path, frames, table.columns)
    folders = {name: tmp_path / name for name in ("once", "twice")}
    (found,) = tables_together(folders, tmp_path / "summary")
    return found


def test_the_experiment_is_the_first_key_and_a_replicate_the_last(together: Together) -> None:
    table = together.table
    assert table.key == ("experiment", *GAMES.key, "replicate")
    assert [column.name for column in table.columns] == together.rows().column_names


def test_games_that_are_played_once_are_the_first_replicate(together: Together) -> None:
    found = together.rows().to_pandas()[["experiment", "replicate"]]
    assert found.to_numpy().tolist() == [["once", 0], ["twice", 0], ["twice", 1]]


def test_both_forms_have_the_same_rows_and_the_canary(together: Together, tmp_path: Path) -> None:
    together.write_parquet(tmp_path / "games.parquet")
    text = pd.read_csv(io.BytesIO(together.csv()))
    assert text.columns[-1] == CANARY
    assert text.pop(CANARY).isna().all()
    typed = pd.read_parquet(tmp_path / "games.parquet").astype(text.dtypes)
    pd.testing.assert_frame_equal(text, typed)
    assert parquet.read_metadata(tmp_path / "games.parquet").metadata[b"canary"] == CANARY.encode()


def test_a_table_without_a_key_gets_none(tmp_path: Path) -> None:
    table = TABLES["privacy/belief_evidence.parquet"]
    write_frames(tmp_path / "one" / table.path, [], table.columns)
    (found,) = tables_together({"one": tmp_path / "one"}, tmp_path / "summary")
    assert (found.table.key, found.stem) == ((), "privacy/belief_evidence")


def test_a_broken_table_is_one_line(together: Together, tmp_path: Path) -> None:
    path = tmp_path / "once" / GAMES.path
    path.write_text(path.read_text() + "one,cell\n")
    with pytest.raises(FileError, match=r"audit_games\.csv: does not read as the table"):
        together.rows()
