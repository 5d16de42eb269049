"""Sweeps with ``-m``: a folder for each job, one table over all, and nothing else."""

import re
from pathlib import Path

import pytest

from calbench.cli.jobs import sweep_of
from calbench.cli.run import SHOWN
from calbench.config.composition import compose, for_hydra
from calbench.errors import ConfigError
from calbench.runs.folder import SWEEP_KEY, job_folders
from calbench.terminal import new_table, print_tables
from calbench.traces.storage import read_trace
from calbench.tree import DATA
from tests.cli.conftest import Command
from tests.cli.runs import REPO, SMALL, calbench, files, rows


def names(*overrides: str) -> list[str]:
    sweep = sweep_of(overrides)
    assert {Path(run.out).parent for run in sweep.runs} == {sweep.folder}
    return [Path(run.out).name for run in sweep.runs]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["suite.seed=0,1,2"], ["seed=0", "seed=1", "seed=2"]),
        (["channels=dm,all"], ["channels=dm", "channels=all"]),
        (
            ["teams=dsm-welfare", "teams.dsm-welfare.players.dsm.theta=0,0.1"],
            ["theta=0", "theta=0.1"],
        ),
        (
            ["suite.seed=0,1", "analysis.ratings.seed=2,3"],
            [f"suite.seed={a},analysis.ratings.seed={b}" for a in (0, 1) for b in (2, 3)],
        ),
        (["suite.seed=range(2)", "teams=imap"], ["seed=0", "seed=1"]),
        (["teams=[imap,silent],[imap]"], ["teams=imap-silent", "teams=imap"]),
        (["suite.path='a/é x.jsonl','../b'"], ["path=a-é-x.jsonl", "path=b"]),
        (["suite.path=a/b,a-b"], ["path=a-b-1", "path=a-b-2"]),
        (["suite.seed=0"], ["job"]),
    ],
)
def test_job_is_named_by_what_distinguishes_it(overrides: list[str], expected: list[str]) -> None:
    assert names(*overrides) == expected


@pytest.mark.heavy
def test_sweep_of_experiments_has_one_folder() -> None:
    sweep = sweep_of(["+experiment=uniform,varied"])
    assert sweep.folder == Path("build/sweeps/uniform+varied-by-experiment")
    assert sweep_of(["suite.seed=0,1"]).folder == Path("build/sweeps/taste-by-seed")
    assert [run.name for run in sweep.runs] == ["uniform", "varied"]
    assert sweep_of(["+experiment=uniform,varied", "out=here"]).folder == Path("here")


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        (["teams=imap,nobody"], "teams: there is no 'nobody'"),
        (["suite.seed=0,x"], "suite.seed: Input should be a valid integer, got 'x'"),
        (["out=a,b"], "out: is the folder of the whole sweep; name one"),
        (["suite.seeds=0,1"], "suite.seeds: is not a known key; did you mean suite.seed?"),
        (["suite.seed=interval(0,1)"], "is no list of values to sweep over"),
        (["hydra/launcher=joblib"], "hydra/launcher: leave it out: jobs are played here"),
        (["teams=imap", "teams.imap.players.imap.x=1,2"], "imap.x: is not a known key"),
    ],
)
def test_sweep_that_does_not_fit_is_refused_before_any_job(
    overrides: list[str], problem: str, command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "sweep"
    ended = command("-m", *SMALL, f"out={out}", *overrides)
    assert ended.status == 2
    assert problem in ended.err
    assert len(ended.error_lines) == 1
    assert not out.exists()


@pytest.mark.heavy
def test_each_job_is_a_run_and_one_table_has_all(command: Command, tmp_path: Path) -> None:
    out, again = tmp_path / "josé", tmp_path / "again"
    ended = command("-m", *SMALL, "suite.seed=0,1", "teams=[silent,imap]", f"out={out}")
    assert ended.status == 0, ended.err
    jobs = job_folders(out)
    assert [job.name for job in jobs] == ["seed=0", "seed=1"]
    table = rows(out / "leaderboard.csv")
    assert [(row["job"], row["team"]) for row in table] == [
        (job, team) for job in ("seed=0", "seed=1") for team in ("silent", "imap")
    ]
    for job in jobs:
        alone = tmp_path / "alone" / job.name
        assert (
            command(*SMALL, f"suite.{job.name}", "teams=[silent,imap]", f"out={alone}").status == 0
        )
        assert files(alone) == files(job)
        assert [{"job": job.name, **row} for row in rows(alone / "tables/leaderboard.csv")] == [
            row for row in table if row["job"] == job.name
        ]
    assert (
        command("rescore", str(out), "teams=[silent,imap]", f"out={again}", SMALL[-1]).status == 0
    )
    for name in ("leaderboard.csv", "leaderboard.html"):
        assert (again / name).read_bytes() == (out / name).read_bytes()
    assert re.search(r"mean and 95%\s+interval", ended.out)
    page = (out / "leaderboard.html").read_text()
    drawn = [name for name in SHOWN if f'<div id="taste-varied-{name}"' in page]
    assert drawn == [name for name in SHOWN if any(row[name] for row in table)]


@pytest.mark.heavy
def test_same_sweep_resumes_and_a_wider_one_adds_its_jobs(command: Command, tmp_path: Path) -> None:
    def sweep(seeds: str) -> int:
        return command("-m", *SMALL, f"suite.seed={seeds}", "teams=imap", f"out={tmp_path}").status

    assert sweep("0,1") == 0
    first = files(tmp_path)
    assert sweep("0,1") == 0
    assert files(tmp_path) == first
    assert sweep("10,2") == 0
    assert [job.name for job in job_folders(tmp_path)] == ["seed=0", "seed=1", "seed=2", "seed=10"]
    assert {row["job"] for row in rows(tmp_path / "leaderboard.csv")} == {
        "seed=0",
        "seed=1",
        "seed=2",
        "seed=10",
    }


@pytest.mark.slow
def test_channels_and_players_are_swept(tmp_path: Path) -> None:
    theta = "teams.dsm-welfare.players.dsm.theta"
    channels = "channels=dm,participant_groupchat"
    small = [*SMALL, "teams=dsm-welfare", f"out={tmp_path}", channels, f"{theta}=0,0.1"]
    assert calbench("-m", *small).status == 0
    for job in job_folders(tmp_path):
        values = dict(part.split("=") for part in job.name.split(","))
        trace = read_trace(job / "traces/dsm-welfare/taste-varied-000.json")
        assert list(trace.config.channels) == [values["channels"]]
        assert trace.config.team.seats[0].settings["theta"] == float(values["theta"])
    assert len(job_folders(tmp_path)) == 4


@pytest.mark.slow
def test_sweep_of_theta_is_the_published_frontier(command: Command, tmp_path: Path) -> None:
    ended = command(
        "-m",
        "+experiment=frontier",
        "teams=[dsm-welfare]",
        "teams.dsm-welfare.players.dsm.theta=0.05,0.4",
        f"out={tmp_path}",
    )
    assert ended.status == 0, ended.err
    swept = {
        (row["job"].removeprefix("theta="), row["setting"]): row
        for row in rows(tmp_path / "leaderboard.csv")
    }
    published = rows(DATA / "release" / "tables" / "frontier" / "leaderboard.csv")
    compared = 0
    for row in published:
        theta = row["team"].removeprefix("dsm-theta-")
        if (mine := swept.get((theta, row["setting"]))) is not None:
            compared += 1
            assert {**mine, "team": row["team"]} == {**row, "job": f"theta={theta}"}
    assert compared == 4


@pytest.mark.slow
def test_sweep_leaves_nothing_but_its_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("-m", *SMALL, "teams=silent,tell-all", "out=swept").status == 0
    assert {path.name for path in tmp_path.iterdir()} == {"swept"}
    assert {path.name for path in (tmp_path / "swept").iterdir()} == {
        "teams=silent",
        "teams=tell-all",
        "leaderboard.csv",
        "leaderboard.html",
    }


@pytest.mark.heavy
def test_sweep_into_the_folder_of_a_run_is_refused(command: Command, finished: Path) -> None:
    before = files(finished)
    ended = command("-m", *SMALL, "suite.seed=0,1", f"out={finished}")
    assert ended.status == 2
    assert "holds a run; choose another folder for a sweep" in ended.err
    assert files(finished) == before


@pytest.mark.parametrize("name", ["run/traces/inner", "run/tables", "sweep"])
def test_run_among_the_files_of_another_or_in_a_sweep_is_refused(
    command: Command, tmp_path: Path, name: str
) -> None:
    for folder in ("run/traces", "run/tables", "sweep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "run/code.json").write_text("{}")
    (tmp_path / "sweep/leaderboard.csv").write_text(f"{','.join(SWEEP_KEY)}\n")
    before = files(tmp_path)
    ended = command(*SMALL, f"out={tmp_path / name}")
    assert ended.status == 2
    (line,) = ended.error_lines
    said = "holds a sweep" if name == "sweep" else f"is among the {name.split('/')[1]} of the run"
    assert f"{tmp_path / name}: {said}" in line
    assert files(tmp_path) == before


def test_long_names_leave_room_for_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    table = new_table(None, ("Job", "Team", "Coord %", "Excess", "Messages"), left=2)
    table.add_row(
        "scenario=density-090,max_turns_per_round=4", "dsm-welfare", "100.00", "0.80", "2.00"
    )
    print_tables(table)
    said = capsys.readouterr().out
    assert "…" not in said
    assert {"100.00", "0.80", "2.00", "Messages"} <= set(said.split())


def test_sweep_over_lists_of_teams() -> None:
    runs = sweep_of(for_hydra(["teams=[imap],[silent,imap]"])).runs
    found = [[team.team_id for team in run.teams] for run in runs]
    assert found == [["imap"], ["silent", "imap"]]
    with pytest.raises(ConfigError, match="teams: imap is chosen twice"):
        for_hydra(["teams=[silent],[imap,imap]"])


@pytest.mark.parametrize("name", ["model/gpt-5.4-mini.yaml", "teams/imap.yaml", "prices.yaml"])
def test_file_of_ones_own_with_the_name_of_ours_is_refused(
    command: Command, tmp_path: Path, name: str
) -> None:
    own = tmp_path / "conf" / name
    own.parent.mkdir(parents=True)
    own.write_bytes((REPO / "conf" / name).read_bytes())
    compose(["teams=imap"], tmp_path / "conf")  # a copy says the same
    own.write_text("temperature: 1\n")
    ended = command("--config-dir", str(tmp_path / "conf"), *SMALL, f"out={tmp_path / 'out'}")
    line = f"error: {own}: is not read, since conf/ has a file {name}; give yours another name"
    assert (ended.status, ended.error_lines) == (2, [line])


def test_folder_of_ones_own_is_refused_in_one_line(command: Command, tmp_path: Path) -> None:
    for given in (tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").write_text("")
        ended = command("--config-dir", str(given), "teams=next", f"out={tmp_path / 'out'}")
        assert (ended.status, ended.error_lines) == (
            2,
            [f"error: --config-dir: {given} is not a folder"],
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.heavy
def test_team_of_a_folder_of_ones_own_plays(command: Command, tmp_path: Path) -> None:
    (tmp_path / "conf" / "teams").mkdir(parents=True)
    (tmp_path / "conf" / "teams" / "next.yaml").write_text(
        "defaults:\n  - /protocol@next.players.dsm: dsm-private\n  - _self_\n"
        "next: {players: {dsm: {theta: 5.0}}, seats: [dsm]}\n"
    )
    ours = ["--config-dir", str(tmp_path / "conf"), *SMALL]
    ended = command(*ours, "teams=[next,imap]", f"out={tmp_path / 'out'}")
    assert ended.status == 0, ended.err
    trace = read_trace(tmp_path / "out/traces/next/taste-varied-000.json")
    assert trace.config.team.seats[0].settings["theta"] == 5.0
    unknown = command(*ours, "teams=[nexd]", f"out={tmp_path / 'other'}")
    assert unknown.error_lines == ["error: teams: there is no 'nexd'; did you mean next?"]
    with pytest.raises(ConfigError, match="there is no 'next'"):
        sweep_of(["teams=next"])
