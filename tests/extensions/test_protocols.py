"""A protocol of another distribution plays by its name, and is named in the trace."""

import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, cast

import pytest

from calbench import evaluate, load_suite, play_game, players, score_game
from calbench.cli.jobs import sweep_of
from calbench.cli.main import answer
from calbench.config.composition import compose, for_hydra
from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.domain.messages import Decision, Message
from calbench.engine.batch import played
from calbench.errors import AgentError, CalbenchError, ConfigError
from calbench.extensions import GROUPS, Group, extension, extension_names, reading
from calbench.metrics.privacy.inference.game import learnt
from calbench.metrics.privacy.inference.rules import clues_of
from calbench.protocols.clues import Telling, Told, View
from calbench.protocols.registry import POLICIES, build_policy, policy_names
from calbench.runs.faults import closed_channels
from calbench.runs.play import execute
from calbench.runs.verification import verify_trace
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace, write_trace
from tests.cli.runs import REPO
from tests.extensions.conftest import Install
from tests.factories import make_scenario

SCENARIO = make_scenario(["E..B", ".E.E"], [(0, 1)])
PROTOCOLS = "calbench.protocols"


def bid(**settings: object) -> Trace:
    team = {"players": {"one": {"protocol": "bid", **settings}}, "seats": ["one"]}
    written = str(team).replace("'", "")
    spec = compose(["teams=[]", f"+teams.bids={written}"])
    return played(SCENARIO, spec.game_configs[-1])


@pytest.mark.usefixtures("page")
def test_protocol_plays_by_its_name_and_the_trace_says_which_one() -> None:
    trace = play_game(SCENARIO, "bid")
    (seat,) = trace.config.team.seats
    assert (seat.player, seat.kind) == ("bid", "protocol")
    assert seat.settings == {"distribution": "calbench-bid 1.0"}
    assert trace.metrics.messages == 2
    assert [agent.vps for agent in score_game(trace).agents] == [0.5, 0.5], "its evidence"
    mixed = play_game(SCENARIO, ["imap", "bid"])
    assert [seat.player for seat in mixed.config.team.seats] == ["imap", "bid"]


@pytest.mark.usefixtures("page")
def test_settings_are_the_arguments_of_its_class() -> None:
    late = bid(first=3)
    assert late.config.team.seats[0].settings == {"distribution": "calbench-bid 1.0", "first": 3}
    assert late.events != bid().events
    with pytest.raises(ConfigError, match="settings of player bid do not fit"):
        bid(last=3)


@pytest.mark.usefixtures("page")
def test_choice_of_the_command_line_seats_it_everywhere() -> None:
    (team,) = compose(["protocol=bid"]).teams
    assert (team.team_id, team.seats[0].player) == ("bid", "bid")
    (team,) = compose(["protocol=bid", "+protocol.first=2"]).teams
    assert team.seats[0].settings["first"] == 2
    (team,) = compose(["protocol=bid", "protocol.first=2"]).teams
    assert team.seats[0].settings["first"] == 2
    swept = sweep_of(for_hydra(["protocol=bid", "protocol.first=0,2"]))
    assert [Path(run.out).name for run in swept.runs] == ["first=0", "first=2"]
    assert [run.teams[0].seats[0].settings["first"] for run in swept.runs] == [0, 2]
    with pytest.raises(ConfigError, match="there is no 'bidd'; did you mean bid"):
        compose(["protocol=bidd"])


@pytest.mark.usefixtures("page")
def test_what_it_tells_is_unknown_until_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = load_suite("uniform")[0]
    assert [each.bits for each in score_game(play_game(scenario, "bid")).agents] == [None] * 5
    text = (REPO / "site" / "docs" / "extend.md").read_text(encoding="utf-8")
    code = text.partition("{#tells}")[2].partition("    from ")[2].partition("\nIt belongs")[0]
    known: dict[str, Any] = {}
    exec(dedent("    from " + code), known)  # noqa: S102 - our own page
    policy = build_policy("bid", {"distribution": "calbench-bid 1.0"})
    monkeypatch.setattr(type(policy), "tells", known["tells"], raising=False)
    found = learnt(play_game(scenario, "bid"), rounds=1)
    participants = scenario.meetings[0].participants
    for pair in found.pairs:
        is_told = {pair.target, pair.observer} <= {*participants}
        assert (pair.certain_slots >= 1) == is_told
        assert (pair.bits_costs > 0) == is_told


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("yield 7", "7 is neither Told, Best, Total nor OneOf"),
        ("yield Told(message.sender, {99: view.equal(0)})", "slot 99 is not there; slots are 0 "),
        ("yield Told(message.sender, {-1: view.equal(0)})", "slot -1 is not there; slots are 0 "),
        ("yield Told(9, {1: view.equal(0)})", "agents (9,) are not all in the game"),
        ("yield Told(0, {1: [-1.0] * len(view.cells)})", "are not all from 0 on"),
        ("yield Told(0, {1: (1.0,)})", "weights (1.0,) are not one for each of (0, "),
        ("yield Told(0, {1: view.equal(0)}, {1: -0.5})", "weights (-0.5,) are not all from 0"),
        ("yield Best((0,), 2, (0, 99), view.cells)", "slot 99 is not there"),
        ("yield Best((0,), 2, (0, 1), view.cells)", "slot 2 is not in (0, 1)"),
        ("yield Best((0,), 0, (0, 1), (1,))", "values (1,) are not one for each of"),
        ("yield Total((0,), ((0, 1),))", "1 sums are not one for each of 16 slots"),
        ("yield OneOf(9, (0,), [[EVEN]])", "agents (9,) are not all in the game"),
        ("yield OneOf(0, (99,), [[EVEN]])", "slot 99 is not there; slots are 0 "),
        ("yield OneOf(0, (1, 1), [[EVEN, EVEN]])", "slots (1, 1) are none, or some of them are "),
        ("yield OneOf(0, (1,), [[(1.0,)]])", "ways of shape (1, 1, 1) are not (ways, 1, "),
        ("yield OneOf(0, (1,), [])", "ways of shape (0,) are not (ways, 1, "),
        ("yield OneOf(0, (1,), [[EVEN], [(1.0,)]])", "its ways are no numbers of one shape"),
        ("yield OneOf(0, (1,), [[[-1.0] + EVEN[1:]]])", "weights (-1.0,) are not all from 0 on"),
        ("yield OneOf(0, (1,), [[EVEN]], {1: (1.0,)})", "weights (1.0,) are not one for each"),
    ],
)
def test_rules_that_fail_are_named_with_their_place_and_the_message(
    page: Path, body: str, said: str
) -> None:
    file = page / "calbench_bid" / "protocol.py"
    text = file.read_text()
    rule = f"\n    def tells(self, message, view):\n        {body}\n"
    rule = rule.replace("EVEN", "([1.0] * len(view.cells) + [1.0])")
    file.write_text(f"from calbench.types import Best, OneOf, Told, Total\n{text}{rule}")
    trace = play_game(load_suite("uniform")[0], "bid")
    with pytest.raises(ConfigError) as told:
        learnt(trace)
    line = str(told.value)
    first = text.count("\n") + 3
    at = first + 1 if body == "1 / 0" else first
    assert line.startswith(f"calbench_bid.protocol, line {at}, Bid.tells(), on a bid of agent ")
    assert said in line
    assert line.endswith("; correct it, or remove it, and bits are unknown")
    assert "\n" not in line


def test_hostile_message_of_a_protocol_of_ours_says_nothing() -> None:
    view = View(AgentId(1), (AgentId(0), AgentId(1)), 3, (0, 1, None), (), lambda _: ())
    decision = Decision(slot=Slot(99))
    message = Message(AgentId(0), (AgentId(1),), "dm", MeetingId(1), decision)
    imap = build_policy("imap", {})
    found = clues_of(cast("Telling", imap), message, view, 2)
    assert not any(isinstance(clue, Told) and 99 in clue.slots for clue in found)


@pytest.mark.usefixtures("page")
def test_settings_are_refused_before_a_suite_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("calbench.runs.play.load_suites", drawn)
    monkeypatch.setattr("calbench.api.results.load_suite", drawn)
    spec = compose(["protocol=bid", "protocol.last=3", f"out={tmp_path}/run"])
    with pytest.raises(ConfigError, match=r"settings of player bid do not fit: .*last"):
        execute(spec)
    with pytest.raises(ConfigError, match="there is no 'bidd'"):
        evaluate("bidd", "varied")


def test_installed_protocol_that_refuses_to_be_made_is_refused_before_a_suite_is_read(
    given: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = given("choosy", "1", {PROTOCOLS: {"choosy": "other:Choosy"}})
    (folder / "other.py").write_text(
        "class Choosy:\n    def __init__(self, k): ...\n    def act(self, seen): ...\n"
    )
    monkeypatch.setattr("calbench.api.results.load_suite", lambda *_: 1 / 0)
    with pytest.raises(ConfigError, match=r"settings of player choosy do not fit: .*'k'"):
        evaluate("choosy", "varied")


@pytest.mark.usefixtures("page")
def test_help_lists_it_with_its_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["help", "protocols"]) == 0
    assert re.search(
        r"^  bid +Of calbench-bid 1\.0, installed$", capsys.readouterr().out, re.MULTILINE
    )
    assert players()["bid"] == "Of calbench-bid 1.0, installed"


def test_game_is_verified_but_not_measured_without_the_distribution(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(tmp_path / "game.json", play_game(SCENARIO, "bid"))
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(page)])
    for module in [name for name in sys.modules if name.startswith("calbench_bid")]:
        del sys.modules[module]
    trace = read_trace(tmp_path / "game.json")
    verify_trace(trace)
    with pytest.raises(ConfigError, match="a message is a bid, and no installed distribution"):
        score_game(trace)


def test_no_trace_imports_what_it_names(page: Path, tmp_path: Path) -> None:
    write_trace(tmp_path / "game.json", play_game(SCENARIO, "bid"))
    for module in [name for name in sys.modules if name.startswith("calbench_bid")]:
        del sys.modules[module]
    (page / "calbench_bid" / "protocol.py").write_text("raise AssertionError('imported')")
    verify_trace(read_trace(tmp_path / "game.json"))
    assert not any(name.startswith("calbench_bid") for name in sys.modules)


@pytest.mark.usefixtures("page")
def test_names_are_listed_in_order_and_import_nothing(given: Install) -> None:
    given("other", "2.0", {PROTOCOLS: {"a-bid": "other:Bid", "zebra": "other:Zebra"}})
    assert extension_names("protocol") == ["a-bid", "bid", "zebra"]
    assert set(policy_names()) == {*POLICIES, "a-bid", "bid", "zebra"}
    assert not any(name.startswith(("calbench_bid", "other")) for name in sys.modules)


@pytest.mark.usefixtures("page")
def test_name_that_two_distributions_give_is_refused_when_it_is_used(given: Install) -> None:
    given("another-bid", "0.1", {PROTOCOLS: {"bid": "other:Bid"}})
    for used in (lambda: play_game(SCENARIO, "bid"), lambda: compose(["protocol=bid"])):
        with pytest.raises(ConfigError) as told:
            used()
        assert str(told.value).endswith(
            "protocol 'bid' is given by another-bid 0.1 and by calbench-bid 1.0: remove all but one"
        )
    assert play_game(SCENARIO, "imap").metrics.rounds_scheduled == 1


def test_name_of_this_package_is_refused_when_it_is_used(given: Install) -> None:
    given("shadow", "9", {PROTOCOLS: {"imap": "other:Imap"}})
    said = "protocol 'imap' is given by CalBench itself and by shadow 9: remove all but one"
    with pytest.raises(ConfigError, match=said):
        build_policy("imap", {})
    assert build_policy("silent", {}) is not None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("(", "SyntaxError"),
        ("", "AttributeError: module 'other' has no attribute 'Bid'"),
    ],
)
def test_distribution_that_cannot_be_imported_is_named_in_one_line(
    given: Install, code: str, said: str
) -> None:
    folder = given("broken", "1", {PROTOCOLS: {"broken": "other:Bid"}})
    (folder / "other.py").write_text(code)
    with pytest.raises(ConfigError) as told:
        play_game(SCENARIO, "broken")
    assert str(told.value).startswith("protocol 'broken' of broken 1 cannot be imported (")
    assert said in str(told.value)
    assert str(told.value).isprintable()


@pytest.mark.usefixtures("page")
def test_another_version_than_a_team_names_does_not_play() -> None:
    config = compose(["protocol=bid"]).game_configs[0]
    (seat,) = config.team.seats
    for settings, says in (
        ({"distribution": "calbench-bid 0.9"}, "calbench-bid 0.9"),
        ({}, "None"),
    ):
        old = seat.model_copy(update={"settings": settings})
        team = config.team.model_copy(update={"seats": (old,)})
        said = f"settings.distribution says {says}, and installed is calbench-bid 1.0"
        with pytest.raises(ConfigError, match=said):
            played(SCENARIO, config.updated(team=team))


def test_class_says_what_its_seat_and_its_team_need(given: Install) -> None:
    folder = given("needy", "1", {PROTOCOLS: {"needy": "other:Needy"}})
    (folder / "other.py").write_text(
        "from calbench.protocols.mediator import Mediated\n"
        "class Needy(Mediated):\n    needs_mediator = needs_private_chance = True\n"
    )
    (team,) = compose(["protocol=needy"]).teams
    assert team.mediator
    assert team.seats[0].private_chance
    assert play_game(SCENARIO, "needy").metrics.rounds_scheduled == 1


def test_class_says_on_what_it_talks_and_that_it_takes_weights(given: Install) -> None:
    folder = given("weighed", "1", {PROTOCOLS: {"weighed": "other:Weighed"}})
    (folder / "other.py").write_text(
        "from calbench.protocols.degenerate import FirstFree\n"
        "class Weighed(FirstFree):\n"
        "    takes_weights = True\n"
        "    talks_on = ('dm',)\n"
        "    def __init__(self, weights):\n        self.weights = weights\n"
    )
    settings = {"distribution": "weighed 1"}
    assert getattr(build_policy("weighed", settings, (0.5, 1.5)), "weights", None) == (0.5, 1.5)
    configs = compose(["protocol=weighed", "channels=participant_groupchat"]).game_configs
    (said,) = closed_channels(configs)
    assert said.startswith("weighed talks on dm, which is closed: in team weighed it says nothing")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / 0", "P.act raised ZeroDivisionError: division by zero (other, line 3)"),
        ("return 'book it'", "P.act returned str; return a Turn or a Reply"),
    ],
)
def test_error_of_a_protocol_is_its_own(given: Install, body: str, said: str) -> None:
    folder = given("failing", "1", {PROTOCOLS: {"failing": "other:P"}})
    (folder / "other.py").write_text(f"class P:\n    def act(self, observation):\n        {body}\n")
    with pytest.raises(AgentError) as told:
        play_game(SCENARIO, "failing")
    place = "team failing, scenario test-000, agent 0, round 0"
    assert str(told.value).startswith(place)
    assert str(told.value).endswith(said)


def test_what_has_no_act_is_no_protocol(given: Install) -> None:
    folder = given("actless", "1", {PROTOCOLS: {"actless": "other:P"}})
    (folder / "other.py").write_text("class P:\n    pass\n")
    with pytest.raises(ConfigError, match="actless of actless 1 has no method act"):
        play_game(SCENARIO, "actless")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('slot')", ": KeyError: 'slot'; correct calbench_bid.evidence, line 2, "),
        ("return 7", "failed on the message of round 0, turn 0, agent 0: TypeError"),
        ("return [(0, (1,), ((2, 'yes'),), 1.0)]", ": TypeError"),
        ("return [(0, (1,), ((2, 1.5),), 1.0)]", "numbers from 0 to 1"),
        ("return [(0, (1,), ((2, float('nan')),), 1.0)]", "numbers from 0 to 1"),
        ("return [(0, (9,), ((2, 1.0),), 1.0)]", "targets and observers are the sender"),
        ("return [(0, (1,), ((4, 1.0),), 1.0)]", "slot 4 is not there; slots are 0 to 3"),
    ],
)
def test_rule_that_is_no_rule_is_told_in_one_line(page: Path, body: str, said: str) -> None:
    code = f"def bid_evidence(bid, message, talk):\n    {body}\n"
    (page / "calbench_bid" / "evidence.py").write_text(code)
    trace = play_game(SCENARIO, "bid")
    with pytest.raises(CalbenchError, match=r"^evidence bid of calbench-bid 1\.0") as told:
        score_game(trace)
    assert said in str(told.value)


@pytest.mark.parametrize("group", ["protocol", "agent", "prompt"])
def test_command_that_reads_loads_no_player_that_a_file_names(given: Install, group: Group) -> None:
    given(
        "calbench-other", "1.0", {GROUPS[group]: {"theirs": "other:Other", "imap": "other:Other"}}
    )
    with reading():
        assert extension(group, "imap", {"imap"}) is None
        with pytest.raises(
            ConfigError, match=r"'theirs' of calbench-other 1\.0 is named by a file"
        ):
            extension(group, "theirs")
    with pytest.raises(ConfigError, match="cannot be imported"):
        extension(group, "theirs")
