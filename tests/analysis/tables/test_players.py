"""Players over all seats that they took, in whatever teams; how their replies were read."""

from pathlib import Path

import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.analysis.tables.leaderboard import COST_RATIO, READABILITY
from calbench.domain.messages import Text
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.metrics.usage import PROBLEMS, ReplyCounts
from calbench.stats.spec import AnalysisSpec
from calbench.traces.events import BatchRejected, DecideEnd
from calbench.traces.models import Seat, Trace
from tests.analysis.tables.sample import SETTINGS, SPEC, TEAMS, played
from tests.factories import make_scenario
from tests.facts.measured import facts_of, facts_of_games, lines_of, table_rows
from tests.facts.scored import IMAP as TYPED
from tests.facts.scored import agent, facts_of_scores, player, score
from tests.metrics.games import book, decide, dm, move, play_scripts, talk, with_outcome
from tests.metrics.language_games import noted, reflecting, reflection, seat, seated

FEW = Settings(analysis=AnalysisSpec())
IMAP, TALKER, GUEST = seat("imap", "protocol"), seat("talker"), seat("guest")


def game(scenario_id: str, team: str, *seats: Seat) -> Trace:
    """Agents 0 and 1 meet in slot 0, for which agent 0 pays 2 and says two things; 2 is free."""
    scenario = make_scenario(["E2...", "....", "...."], [(0, 1)], scenario_id=scenario_id)
    scripts = {
        0: talk(dm(1, Text(text="a")), dm(1, Text(text="b"))) | decide(move(101, 0, 3), book(1, 0)),
        1: decide(book(1, 0)),
    }
    return seated(play_scripts(scenario, scripts), *seats, team=team)


def mixed_games() -> list[Trace]:
    """Talker pays and meets in ``one``; in ``two`` the guest pays and the talker has no meeting.

    The best schedule costs nothing, so E is 2, 0, 0 in both, with gaps 4/3, 2/3, 2/3.
    """
    answer = [reflection(0, 2, {0: (3, 3, 3, 3), 1: (-3, -3, -3, -3)})]
    first = reflecting(game("s-000", "one", TALKER, IMAP, GUEST), answer)
    return [first, game("s-001", "two", GUEST, IMAP, TALKER)]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of(tmp_path_factory.mktemp("facts"), mixed_games(), ["one", "two"], facts=SCORES)


def by_player(facts: Facts, path: str = "players.csv") -> dict[str, dict[str, str]]:
    return {row["player"]: row for row in table_rows(facts, path, FEW)}


def test_players_carry_every_seat_they_took(mixed: Facts) -> None:
    table = by_player(mixed)
    assert list(table) == ["guest", "imap", "talker"]
    talker, guest = table["talker"], table["guest"]
    assert (talker["teams"], talker["kind"]) == ("one two", "scripted")
    assert (talker["games"], talker["agent_games"], talker["scenarios"]) == ("2", "2", "2")
    assert (talker["games_excluded"], talker["excluded_percent"]) == ("0", "0.0000")
    assert talker["coordination"] == "100.0000"  # in the other game it has no meeting
    assert talker["excess_cost"] == "1.0000"
    assert talker["excess_cost_per_meeting"] == talker["messages"] == "2.0000"
    assert talker["fairness"] == "1.0000"  # of 4/3 and 2/3
    assert table["imap"]["fairness"] == "0.6667"
    assert (guest["coordination"], guest["messages"]) == ("100.0000", "2.0000")


def test_vps_of_a_player_runs_over_the_games_in_which_it_was_measured(mixed: Facts) -> None:
    table = by_player(mixed)
    # Once the talker's slots 0 and 3 were taken: 2 of 4 answers go toward the truth, below 5.
    assert (table["talker"]["excess_vps"], table["talker"]["vps_kind"]) == ("0.0000", "reflection")
    assert (table["guest"]["excess_vps"], table["guest"]["vps_kind"]) == ("", "")
    assert (table["imap"]["excess_vps"], table["imap"]["vps_kind"]) == ("0.0000", "protocol")


def test_the_same_name_with_other_settings_is_another_player(tmp_path: Path) -> None:
    narrow, wide = seat("dsm", "protocol", lmax=1), seat("dsm", "protocol", lmax=12)
    games = [game("s-000", team, each) for team, each in (("a", narrow), ("b", wide))]
    facts = facts_of(tmp_path, games, ["b", "a"], facts=SCORES)
    for path in ("players.csv", "scheduled_by_player.csv"):
        found = [(row["player"], row["teams"]) for row in table_rows(facts, path, FEW)]
        assert found == [("dsm", "b"), ("dsm", "a")]


def test_players_stand_with_their_first_team_then_by_name_kind_and_settings(tmp_path: Path) -> None:
    first, second = player("a", digest="1"), player("a", digest="2")
    spoken = player("a", "custom", digest="9")
    games = [
        score(agent(player("z")), agent(second), agent(first), team="two"),
        score(agent(player("b")), agent(spoken), agent(first), team="one"),
        score(agent(player("b")), agent(second), team="one", setting="another"),
    ]
    rows = table_rows(facts_of_scores(tmp_path, games, ["one", "two"]), "players.csv", FEW)
    assert [(row["setting"], row["player"], row["kind"], row["teams"]) for row in rows] == [
        ("another", "a", "protocol", "one"),
        ("another", "b", "protocol", "one"),
        ("uniform", "a", "custom", "one"),
        ("uniform", "a", "protocol", "one two"),
        ("uniform", "b", "protocol", "one"),
        ("uniform", "a", "protocol", "two"),
        ("uniform", "z", "protocol", "two"),
    ]


def test_where_each_team_has_one_player_the_rows_are_those_of_the_leaderboard(
    tmp_path: Path,
) -> None:
    facts = facts_of_games(tmp_path, played(), TEAMS, SCORES)
    settings = Settings(analysis=SPEC)
    board = table_rows(facts, "leaderboard.csv", settings)
    players = table_rows(facts, "players.csv", settings)
    own = {"team", "vps_agreed", *(column.name for column in (*READABILITY, *COST_RATIO))}
    shared = [c.name for c in TABLES["leaderboard.csv"].columns if c.name not in own]
    assert [{name: row[name] for name in shared} for row in players] == [
        {name: row[name] for name in shared} for row in board
    ]
    assert [row["player"] for row in players] == [row["team"] for row in board]
    assert [row["teams"] for row in players] == [*TEAMS] * len(SETTINGS)
    assert {row["agent_games"] for row in players} == {"30"}


def test_teams_say_how_their_loss_was_measured_and_leave_out_what_was_not(tmp_path: Path) -> None:
    games = [*mixed_games(), game("s-002", "talkers", TALKER)]
    facts = facts_of(tmp_path, games, ["one", "two", "talkers"], facts=SCORES)
    board = table_rows(facts, "leaderboard.csv", FEW)
    assert [row["vps_kind"] for row in board] == ["mixed", "protocol", ""]
    assert [row["excess_vps"] for row in board] == ["", "0.0000", ""]
    rows = table_rows(facts, "games.csv", FEW)
    assert [row["vps"] for row in rows] == ["", "", ""]  # nowhere is everybody measured
    assert [row["excess_vps"] for row in rows] == ["0.000000", "0.000000", ""]


def test_excluded_games_are_counted_in_players_and_left_out(tmp_path: Path) -> None:
    excluded = with_outcome(game("s-002", "one", TALKER, IMAP, GUEST), "budget_stop")
    found = by_player(facts_of(tmp_path / "a", [*mixed_games(), excluded], ["one"], facts=SCORES))
    talker = found["talker"]
    assert (talker["games"], talker["games_excluded"], talker["is_flagged"]) == ("2", "1", "true")
    assert (talker["excluded_percent"], talker["scenarios"]) == ("33.3333", "2")
    assert (talker["excess_cost"], talker["agent_games"]) == ("1.0000", "2")
    only = by_player(facts_of(tmp_path / "b", [excluded], facts=SCORES))["guest"]
    assert (only["games"], only["excess_cost"], only["agent_games"]) == ("0", "", "0")
    assert (only["scenarios"], only["games_excluded"], only["excluded_percent"]) == (
        "0",
        "1",
        "100.0000",
    )


def test_an_excluded_game_is_counted_once_for_who_sat_there_twice(tmp_path: Path) -> None:
    games = [
        score(agent(), agent()),
        score(agent(), agent(), scenario="s1", is_excluded=True),
        score(agent(), agent(), scenario="s2", is_excluded=True),
    ]
    (row,) = table_rows(facts_of_scores(tmp_path, games), "players.csv", FEW)
    assert [row[name] for name in ("games", "agent_games", "games_excluded")] == ["1", "2", "2"]
    assert row["excluded_percent"] == "66.6667"


def test_reply_outcomes_count_every_reply_of_language_seats(tmp_path: Path) -> None:
    trace = game("s-000", "one", TALKER, IMAP, GUEST)
    answers = [reflection(0, 2, {0: (0, 0, 0, 0), 1: (0, 0, 0, 0)})]
    read = noted(reflecting(trace, answers), 0, ["recovered", "not_json"])
    excluded = with_outcome(game("s-001", "one", TALKER, IMAP, GUEST), "provider_fault")
    facts = facts_of(tmp_path, [read, excluded], facts=SCORES)
    guest, talker = table_rows(facts, "reply_outcomes.csv")
    # Two sweeps of talk and one decision; the guest only reflects.
    assert (talker["player"], talker["replies"], talker["read"]) == ("talker", "3", "2")
    assert (talker["recovered"], talker["not_json"], talker["refused"]) == ("1", "1", "0")
    assert (guest["player"], guest["replies"], guest["read"]) == ("guest", "1", "1")


def test_answers_by_phase_count_what_was_read_and_what_was_applied(tmp_path: Path) -> None:
    trace = game("s-000", "one", TALKER, IMAP, GUEST)
    places = [place for place, each in enumerate(trace.events) if isinstance(each, DecideEnd)]
    place = next(each for each in places if getattr(trace.events[each], "agent_id", None) == 0)
    batch = trace.events[place]
    assert isinstance(batch, DecideEnd)
    refused = BatchRejected(
        round=batch.round,
        phase=batch.phase,
        agent_id=batch.agent_id,
        attempt=batch.attempt,
        conflict="taken",
        actions=(),
    )
    events = (*trace.events[: place + 1], refused, *trace.events[place + 1 :])
    spoilt = trace.model_copy(update={"events": events})
    games = [noted(spoilt, 0, ["not_json"]), game("s-001", "one", TALKER, IMAP, GUEST)]
    names = ("player", "phase", "answers", "read", "accepted", "accepted_share")
    assert [
        tuple(row[name] for name in names)
        for row in table_rows(facts_of(tmp_path, games), "answers_by_phase.csv")
    ] == [
        ("talker", "CHEAP_TALK", "4", "3", "", ""),
        ("talker", "DECISION", "2", "2", "1", "0.5000"),
    ]


def test_replies_add_up_over_seats_and_games(tmp_path: Path) -> None:
    words, fresh = player("talker", "scripted"), player("fresh", "model", "m/f")
    unread = tuple(range(1, len(PROBLEMS) + 1))
    many = ReplyCounts(replies=100, recovered=7, unread=unread)
    one = ReplyCounts(replies=1)
    games = [
        score(agent(words, replies=many), agent(words, replies=one), agent(TYPED)),
        score(agent(words, replies=one), scenario="s1", team="other"),
        score(
            agent(words, replies=many), agent(fresh, replies=one), scenario="s2", is_excluded=True
        ),
    ]
    facts = facts_of_scores(tmp_path, games)
    counts = ",".join(map(str, unread))
    zeros = ",".join(["0"] * len(PROBLEMS))
    assert lines_of(facts, "reply_outcomes.csv") == [
        f"uniform,fresh,0,0,0,{zeros},model,imap",
        f"uniform,talker,102,{102 - sum(unread)},7,{counts},scripted,imap other",
    ]


def test_meetings_by_player_by_hand(tmp_path: Path) -> None:
    words, gone = player("talker", "scripted"), player("gone", "scripted")
    games = [
        score(agent(words, scheduled=3), agent(words, scheduled=0), agent(scheduled=1)),
        score(agent(words, scheduled=2), scenario="s1", team="other"),
        score(agent(words, scheduled=50), agent(gone), scenario="s2", is_excluded=True),
    ]
    assert lines_of(facts_of_scores(tmp_path, games), "scheduled_by_player.csv") == [
        "uniform,gone,scripted,imap,0,",
        "uniform,imap,protocol,imap,1,1.0000",
        "uniform,talker,scripted,imap other,3,1.6667",
    ]
