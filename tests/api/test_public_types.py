"""A law over all public names: each is described, and each object shows itself in few words."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

import calbench
import calbench.errors
import calbench.types
from calbench.cli.main import answer
from calbench.report.figures.swept import name_of
from calbench.runs.folder import locked
from calbench.traces.catalog import Catalog
from calbench.types import (
    Limits,
    MeetingId,
    Observation,
    Phase,
    Results,
    Schedule,
    Slot,
    Trace,
    Turn,
)
from tests.cli.runs import REPO
from tests.factories import make_scenario
from tests.metrics.games import canonical_scenario

MOST = 2000
"""Characters of an object as a notebook or an interpreter shows it."""

SCENARIO = canonical_scenario(1)


class Recorder:
    """Passes, and keeps what it sees."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Turn:
        self.seen.append(observation)
        return Turn()


@pytest.fixture(scope="module")
def results() -> Results:
    return calbench.evaluate("tell-all", [SCENARIO])


def parts(value: object, depth: int = 3) -> Iterator[object]:
    """Yield an object and what it holds."""
    yield value
    if depth and not isinstance(value, str):
        held = list(value) if isinstance(value, tuple | list) else []
        for each in [*vars(value).values()] if hasattr(value, "__dict__") else []:
            held.append(each)
        for name in getattr(value, "__dataclass_fields__", ()):
            held.append(getattr(value, name))
        for each in held[:50]:
            yield from parts(each, depth - 1)


def test_objects_show_themselves_in_few_characters(results: Results) -> None:
    recorder = Recorder()
    players: list[Any] = [recorder, *["tell-all"] * (SCENARIO.num_agents - 1)]
    trace = calbench.play_game(SCENARIO, players)
    compared = calbench.compare(results, results, a="tell-all", b="tell-all")
    made: list[Any] = [SCENARIO, trace, calbench.score_game(trace), results, compared]
    made += [*recorder.seen[-3:], *trace.config.team.seats, calbench.verify(trace)]
    public = {getattr(calbench.types, name) for name in calbench.types.__all__ if name != "PASS"}
    shown = [each for whole in made for each in parts(whole) if type(each) in public]
    assert len({type(each) for each in shown}) >= 12
    assert {type(each): len(repr(each)) for each in shown if len(repr(each)) >= MOST} == {}
    for each in made[:5]:
        assert re.match("<(table|ul|p|div)", each._repr_html_().strip())
    assert len(calbench.score_game(trace).to_frame()) == SCENARIO.num_agents
    assert list(results.to_frame()["team"]) == ["tell-all"]


def test_frame_of_a_scenario_has_a_row_for_each_item() -> None:
    scenario = make_scenario(["E2.B.", "..E3."], [(0, 1)], prior=[((0, 1), 3)])
    frame = scenario.to_frame()
    rows = frame.drop(columns=["item_id", "label"]).astype(object)
    rows = rows.where(rows.notna(), None)
    assert [*rows.itertuples(index=False, name=None)] == [
        (0, 0, "errand", 2, 10),
        (0, 2, "blocked", None, None),
        (0, 3, "meeting", 1, 1),
        (1, 2, "errand", 3, 100),
        (1, 3, "meeting", 1, 1),
    ]
    assert frame["label"].str.len().min() > 3
    assert frame["item_id"].nunique() == 4
    for described in (frame, calbench.play_game(scenario, "imap").to_frame()):
        attrs = described.attrs
        assert [*attrs["unit"]] == [*attrs["meaning"]] == [*described.columns]
        assert attrs["unit"]["cost"] == "accounting cost"


def test_frame_of_a_trace_says_every_event_in_words() -> None:
    class Odd(calbench.types.Announcer):
        def act(self, observation: Observation) -> Turn:
            if observation.phase is Phase.DECISION and not observation.attempt:
                return Turn((Schedule(MeetingId(1), Slot(99)),))
            return super().act(observation)

    scenario = make_scenario(["E...", ".E.."], [(0, 1)])
    trace = calbench.play_game(scenario, [Odd()] * 2, limits=Limits())
    frame = trace.to_frame()
    assert list(frame["type"]) == [event.type for event in trace.events]
    said = {kind: list(rows["text"].dropna()) for kind, rows in frame.groupby("type")}
    assert said["dm_sent"] == ["to 1: Let us take slot 1."]
    assert said["round_start"] == ["meeting 1 of agents 0, 1"]
    assert said["batch_rejected"][0].startswith("meeting 1 into slot 99: ")
    moved = "item 105 from slot 1 to slot 0; meeting 1 into slot 1"
    assert said["batch_applied"] == ["meeting 1 into slot 1", moved]
    assert said["resolution"] == ["meeting 1: scheduled"]
    assert said["game_end"] == ["1 scheduled, 0 failed"]
    assert list(frame["cost"].dropna()) == [0, 1]
    assert set(frame["phase"].dropna()) <= {each.value for each in Phase}
    assert list(frame.loc[frame["type"] == "dm_sent", "phase"]) == ["CHEAP_TALK"]


@pytest.mark.parametrize("team", ["mediator", "candid", "mixed-erring", "sd-map"])
def test_every_kind_of_event_has_its_words(team: str) -> None:
    trace = calbench.play_game(SCENARIO, team, reflection=True, limits=Limits())
    frame = trace.to_frame()
    lacking = set(frame.loc[frame["text"].isna(), "type"])
    quiet = {"game_start", "turn_start", "turn_end", "decide_start", "decide_end"}
    assert lacking <= {*quiet, "reflection", "chances_stated", "batch_applied"}


def test_plot_has_every_row_under_a_name_of_its_own() -> None:
    published = calbench.read_results()
    frame = published.to_frame()
    rows = frame[frame["setting"] == "varied"]
    assert rows["team"].duplicated().any()  # several experiments played it
    (dots,) = calbench.plot_intervals(published, setting="varied").data
    assert len(dots.y) == rows["excess_cost"].notna().sum()
    names = [("", "", "imap"), ("table2", "", "imap"), ("", "seed=0,teams=imap", "imap")]
    found = [
        name_of(
            {"experiment": experiment or "varied", "setting": "varied", "job": job, "team": team}
        )
        for experiment, job, team in names
    ]
    assert found == ["imap", "table2 imap", "seed=0 imap"]


def test_every_public_name_is_described() -> None:
    for module in (calbench, calbench.types):
        names = [name for name in module.__all__ if not name.startswith("__")]
        assert names == sorted(names, key=lambda name: (not name.isupper(), name))
        assert set(names) <= set(dir(module))
        for name in names:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                about = inspect.getdoc(value) or ""
                assert about.endswith((".", "::", ")")) or "\n" in about, name
                assert not about.startswith(f"{name}("), name


def test_page_names_every_field_that_an_agent_is_shown() -> None:
    page = (REPO / "site/docs/extend.md").read_text().split("{#observation}")[1].split("\n## ")[0]
    assert {name for name in Observation._fields if f"`{name}`" not in page} == set()


def test_submodules_are_reached_by_name() -> None:
    code = "import calbench; print(calbench.types.Turn.__name__, calbench.errors.CalbenchError)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("Turn ")


def test_errors_are_one_family() -> None:
    classes = [each for each in vars(calbench.errors).values() if inspect.isclass(each)]
    own = [each for each in classes if each.__module__ == "calbench.errors"]
    assert len(own) > 5
    outside = [each for each in own if not issubclass(each, calbench.errors.CalbenchError)]
    assert outside == [calbench.errors.UnavailableError]  # raised by a player, not by us


PATHS: list[Callable[[str], object]] = [
    calbench.read_trace,
    calbench.read_run,
    calbench.read_results,
    calbench.verify,
    lambda path: calbench.rescore(path, out="x"),
    lambda path: calbench.compare(path, path),
    lambda path: calbench.evaluate("imap", [SCENARIO], out=path),
    lambda path: calbench.write_trace(path, calbench.play_game(SCENARIO, "imap")),
]
"""Every public function that is given a path."""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: calbench.play_game("varied", "imap"), "scenario: 'varied' is of type str"),  # type: ignore[arg-type]
        (lambda: calbench.score_game("imap.json"), "give a trace, such as read_trace(FILE)"),  # type: ignore[arg-type]
        (lambda: calbench.load_suite(SCENARIO), "give a name or a file's path"),  # type: ignore[arg-type]
        (lambda: calbench.evaluate("imap", SCENARIO), "suite: Scenario"),  # type: ignore[arg-type]
        (lambda: calbench.evaluate("imap", [SCENARIO] * 2), "two scenarios have the id"),
        (lambda: calbench.evaluate("imap", [SCENARIO], jobs=0), "jobs: 0 is no number"),
        *[
            (lambda subset=each: calbench.evaluate("imap", [SCENARIO], subset=subset), "subset: ")
            for each in (0, -1, 2.5, [], [1])
        ],
        (lambda: calbench.evaluate("imap", [SCENARIO], out="~nobody-of-all/x"), "no such user"),
        (lambda: calbench.rescore(out="nowhere"), "paths: there is none"),
        (lambda: calbench.compare("varied", "."), "such run; did you mean published:varied?"),
        (lambda: calbench.compare("imaginary", "."), "such run; name its folder, or a published"),
        (lambda: calbench.play_game(SCENARIO, {1: "imap"}), "agent 0: has no player"),
        *[
            (
                lambda call=call: call(limits={"max_turns": 3}),
                "limits: max_turns: is not a known key; did you mean max_turns_per_round?",
            )
            for call in (
                partial(calbench.play_game, SCENARIO, "imap"),
                partial(calbench.play, SCENARIO),
                partial(calbench.evaluate, "imap", [SCENARIO]),
            )
        ],
        (lambda: calbench.play_game(SCENARIO, b"imap"), "team: b'imap' is of type bytes"),  # type: ignore[arg-type]
        (lambda: calbench.play_game(SCENARIO, ["imap"] * 5, team_id="x" * 99), "team_id: "),
        (lambda: calbench.play(SCENARIO, system_prompts=[1, 2, 3, 4, 5]), "system_prompts: 1; "),  # type: ignore[list-item]
        (lambda: calbench.play(SCENARIO, system_prompts="abcde"), "system_prompts: 'abcde'; "),
        (lambda: calbench.evaluate("imap", [SCENARIO], jobs=True), "jobs: True is of type bool"),
        *[
            (lambda call=call, path=path: call(path), "is no path; name a file or a folder")
            for call in PATHS
            for path in ("", "a\0b")
        ],
        *[
            (lambda call=call: call("x" * 5000), "cannot be reached (File name too")
            for call in PATHS
        ],
        (lambda: calbench.load_suite("x" * 5000), "there is no suite"),
        (lambda: calbench.load_suite("x" * 5000 + ".jsonl"), "cannot be reached (File name too"),
        (lambda: calbench.write_trace(".", calbench.play_game(SCENARIO, "imap")), "cannot be writ"),
    ],
)
def test_argument_that_does_not_fit_is_told_in_one_line(call: Any, said: str) -> None:
    with pytest.raises(calbench.errors.CalbenchError, match=re.escape(said)) as told:
        call()
    assert "\n" not in str(told.value)


def test_call_that_does_not_fit_names_the_function(results: Results) -> None:
    with pytest.raises(TypeError, match=r"^rescore\(\): missing a required argument: 'out'$"):
        calbench.rescore("x")  # type: ignore[call-arg]
    with pytest.raises(calbench.errors.ConfigError, match="there is no table 3 "):
        results.table(3)  # type: ignore[arg-type]


FUNCTIONS = [getattr(calbench, name) for name in calbench.__all__ if name != "__version__"]

ARGUMENTS = [
    pytest.param(each, argument, wrong, id=f"{each.__name__}-{argument}-{kind}")
    for each in FUNCTIONS
    for argument, known in inspect.signature(each).parameters.items()
    if known.kind is not inspect.Parameter.VAR_POSITIONAL
    for kind, wrong in (("number", 2.5), ("none", None), ("object", object()))
    if not (wrong is None and known.default is None)
]
"""Every public function, each of its arguments, and what none of them takes."""


@pytest.mark.parametrize(("function", "argument", "wrong"), ARGUMENTS)
def test_every_argument_of_another_type_is_refused_by_name(
    function: Callable[..., object], argument: str, wrong: object, results: Results, tmp_path: Path
) -> None:
    fit = {
        "scenario": SCENARIO,
        "team": "imap",
        "suite": [SCENARIO],
        "out": tmp_path / "out",
        "trace": calbench.play_game(SCENARIO, "silent"),
        "path": tmp_path / "x.json",
        **dict.fromkeys(("run_a", "run_b", "results"), results),
    }
    known = inspect.signature(function).parameters
    if function is calbench.load_suite:
        fit["suite"] = "varied"
    needed = {
        name: fit[name]
        for name, each in known.items()
        if name in fit and each.default is each.empty
    }
    with pytest.raises(calbench.errors.CalbenchError) as told:
        function(**{**needed, argument: wrong})
    assert "\n" not in str(told.value)
    named = "agent 0" if (function, argument) == (calbench.evaluate, "team") else argument
    assert named in str(told.value)


@pytest.mark.heavy
def test_own_player_is_evaluated_with_intervals_and_compared(results: Results) -> None:
    class Named(Recorder):
        name = "my-model-1.5"

    scenarios = [
        canonical_scenario(seed).updated(scenario_id=f"uniform-00{seed}") for seed in range(1, 4)
    ]
    scenarios.append(SCENARIO)
    own = calbench.evaluate(Named(), scenarios, jobs=2)
    (row,) = own.to_frame().to_dict("records")
    assert (row["team"], row["scenarios"]) == ("my-model-1.5", len(scenarios))
    compared = calbench.compare(results, own, a="tell-all", b="my-model-1.5")
    assert {"my-model-1.5"} == set(compared.to_frame()["team_b"])
    trace = next(own.traces[0].rglob("*.json"))
    assert isinstance(calbench.read_trace(trace), Trace)
    assert calbench.plot_intervals(own).data


@pytest.mark.heavy
def test_kept_games_are_not_played_again_and_others_in_their_places_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    passing = Recorder()
    team: list[Any] = ["tell-all"] * (SCENARIO.num_agents - 1)
    calbench.evaluate([passing, *team], [SCENARIO], out="~/run")
    asked = len(passing.seen)
    assert calbench.verify("~/run").turns_not_checked == asked
    with pytest.raises(calbench.errors.OutputError, match="an earlier state of your code"):
        calbench.evaluate([passing, *team], [SCENARIO], out="~/run")
    first = calbench.evaluate("imap", [SCENARIO], out="~/known")
    again = calbench.evaluate("imap", [SCENARIO], out="~/known")
    assert again.to_frame().equals(first.to_frame())
    assert answer(["-q", "traces", "pack", "~/known", "out=~/packed"]) == 0
    (packed,) = Catalog().paths(tmp_path / "packed")
    assert calbench.verify(packed) == calbench.verify("~/known")
    with pytest.raises(calbench.errors.FileError, match=r"none\.json: cannot be read \(No such"):
        calbench.verify(packed.with_name("none.json"))
    other = SCENARIO.updated(seed=SCENARIO.seed + 1)
    for players, scenario, limits in (
        (["silent", *team], SCENARIO, None),
        ([passing, *team], other, None),
        ([passing, *team], SCENARIO, {"max_turns_per_round": 1}),
    ):
        with pytest.raises(calbench.errors.OutputError, match="holds another game"):
            calbench.evaluate(players, [scenario], out=tmp_path / "run", limits=limits)
    assert len(passing.seen) == asked
    (trace,) = (tmp_path / "run" / "traces").rglob("*.json")
    (tmp_path / "link.json").symlink_to(trace)
    assert calbench.read_trace("~/link.json") == calbench.read_trace(trace)
    with locked(tmp_path / "run"), pytest.raises(calbench.errors.OutputError, match="another run"):
        calbench.evaluate("imap", [SCENARIO], out=tmp_path / "run")


@pytest.mark.heavy
def test_team_that_rotates_moves_as_in_a_run() -> None:
    scenarios = [
        make_scenario(["....", "E...", ".E..", "..E.", "...E"], [(0, 1)], scenario_id=f"s-{place}")
        for place in range(3)
    ]
    results = calbench.evaluate("slice-careless", scenarios, subset=["s-0", "s-2"])
    traces = [calbench.read_trace(path) for path in sorted(results.traces[0].rglob("*.json"))]
    first, third = ([seat.player for seat in each.config.team.seats] for each in traces)
    assert third == first[-2:] + first[:-2]


def test_completion_of_a_function_says_its_tokens_and_is_told_its_seat() -> None:
    sites = []

    def asked(messages: list[dict[str, str]], site: Any = None) -> calbench.types.Completion:
        assert messages[-1]["role"] == "user"
        sites.append((site.agent_id, site.phase))
        usage = calbench.types.Usage(input_tokens=9, cached_tokens=0, output_tokens=1)
        return calbench.types.Completion(text='{"thinking": "", "actions": []}', usage=usage)

    others = ["imap"] * (SCENARIO.num_agents - 1)
    trace = calbench.play_game(SCENARIO, [asked, *others])
    tokens = calbench.score_game(trace).agents[0].tokens
    assert (tokens.input_tokens, tokens.estimated_calls) == (9 * tokens.calls, 0)
    assert {agent for agent, _ in sites} == {0}


@pytest.mark.heavy
def test_sweep_is_read_as_one_run(tmp_path: Path) -> None:
    for theta in ("0.1", "0.25"):
        calbench.evaluate("imap", [SCENARIO], out=tmp_path / f"theta={theta}")
    sweep = calbench.read_run(tmp_path)
    for frame in (sweep.to_frame(), sweep.games(), sweep.messages()):
        assert list(frame.columns[:2]) == ["job", "theta"]
        assert list(frame["theta"].unique()) == [0.1, 0.25]
    assert sweep.to_frame().attrs["key"][0] == "job"
    assert calbench.verify(tmp_path).replies_checked == 0
    assert "of 2 jobs" in repr(sweep)
    (line,) = calbench.plot_intervals(sweep).data
    assert [list(map(float, line.x)), line.name] == [[0.1, 0.25], "imap"]
    assert list(line.y) == list(sweep.to_frame()["excess_cost"])
    assert line.error_y.array is not None
    drawn = [trace.name for trace in calbench.plot_plane(sweep).data]
    assert drawn == ["theta=0.1 imap", "theta=0.25 imap"]
    same = calbench.compare(sweep, sweep, a="theta=0.1", b="theta=0.25").to_frame()
    assert set(same["team_a"]) == {"theta=0.1 imap"}
    assert set(same["team_b"]) == {"theta=0.25 imap"}
    alone = calbench.evaluate("imap", [SCENARIO])
    pairs = calbench.compare(sweep, alone).to_frame()[["team_a", "team_b"]]
    assert sorted(set(pairs.itertuples(index=False, name=None))) == [
        ("theta=0.1 imap", "imap"),
        ("theta=0.25 imap", "imap"),
    ]
    with pytest.raises(calbench.errors.ConfigError, match=r"^a=theta=0.2: there is no such team"):
        calbench.compare(sweep, alone, a="theta=0.2", b="imap")
    rmtree(tmp_path / "theta=0.25" / "tables")
    with pytest.raises(calbench.errors.ConfigError, match="25: this job has no table lea"):
        calbench.read_run(tmp_path).to_frame()
