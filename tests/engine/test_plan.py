"""A plan: tasks that refer to games mean these games."""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.engine.batch import parts_of, planned
from calbench.engine.jobs import Job
from calbench.errors import OutputError
from tests.engine.scripts import game_config
from tests.factories import make_scenario

SCENARIOS = [
    make_scenario([".E..", "E...", "..E."], [(0, 1), (1, 2)], scenario_id=f"test-{number % 7:03}")
    for number in range(9)
]
"""Two pairs among them share a name, as scenarios of two experiments may."""

CONFIGS = [game_config(name) for name in ("imap", "silent", "first-free")]

GAMES = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 2), st.sampled_from(["one", "another"])),
    min_size=1,
    max_size=200,
    unique=True,
)


def jobs_of(games: list[tuple[int, int, str]], folder: Path) -> list[Job]:
    return [
        Job(SCENARIOS[place], CONFIGS[config], folder / run / f"{config}" / f"{place}.json")
        for place, config, run in games
    ]


@given(games=GAMES)
def test_tasks_mean_the_games_they_were_made_of(games: list[tuple[int, int, str]]) -> None:
    with TemporaryDirectory() as folder:
        jobs = jobs_of(games, Path(folder))
        parts = parts_of(jobs)
        with planned(jobs) as plan:
            found = [pickle.loads(pickle.dumps(plan.task(part))).jobs() for part in parts]  # noqa: S301
        assert found == parts
        assert list(Path(folder).iterdir()) == []


def test_a_task_is_much_shorter_than_its_scenario(tmp_path: Path) -> None:
    large = make_scenario(["." * 64] * 20, [(0, 1)] * 20, scenario_id="large-000")
    jobs = [
        Job(large, config, tmp_path / "traces" / "team" / "large-000.json") for config in CONFIGS
    ]
    with planned(jobs) as plan:
        size = len(pickle.dumps(plan.task(jobs)))
    assert size < len(large.model_dump_json()) / 4


def test_a_plan_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    jobs = [Job(SCENARIOS[0], CONFIGS[0], tmp_path / "file" / "traces" / "team" / "x.json")]
    with pytest.raises(OutputError, match="cannot be written"), planned(jobs):
        pass
