import csv
from collections.abc import Sequence
from pathlib import Path

from calbench.analysis.dictionary import header
from calbench.analysis.players import PlayerBook, PlayerRow

from calbench.analysis.tables import Collector
from calbench.domain.messages import Text
from calbench.domain.randomness import stream
from calbench.metrics.game import GameScore, score_game
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Seat, Trace
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_scripts,
    play_team,
    talk,
    with_outcome,
)
from tests.metrics.language_games import noted, reflecting, reflection, seat, seated

SPEC = AnalysisSpec(bootstrap_resamples=50)
IMAP, TALKER, GUEST = seat("imap", "protocol"), seat("talker"), seat("guest")


def collect(folder: Path, games: Sequence[GameScore], teams: Sequence[str]) -> None:
    with Collector(folder, teams, SPEC) as collector:
        for game in games:
            collector.add(game)
        collector.write()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def game(scenario_id: str, team: str, *seats: Seat) -> Trace:
    """Agents 0 and 1 meet in slot 0, for which agent 0 pays 2 and says two things; 2 is free."""
    scenario = make_scenario(["E2...", "....", "...."], [(0, 1)], scenario_id=scenario_id)
    scripts = {
        0: talk(dm(1, Text(text="a")), dm(1, Text(text="b"))) | decide(move(101, 0, 3), book(1, 0)),
        1: decide(book(1, 0)),
    }
    return seated(play_scripts(scenario, scripts), *seats, team=team)


def mixed_games() -> list[GameScore]:
    """Talker pays and meets in ``one``; in ``two`` the guest pays and the talker has no meeting.

    The best schedule costs nothing, so E is 2, 0, 0 in both, with gaps 4/3, 2/3, 2/3.
    """
    answer = [reflection(0, 2, {0: (3, 3, 3, 3), 1: (-3, -3, -3, -3)})]
    first = reflecting(game("s-000", "one", TALKER, IMAP, GUEST), answer)
    second = game("s-001", "two", GUEST, IMAP, TALKER)
    return [score_game(first), score_game(second)]


def by_player(games: Sequence[GameScore]) -> dict[str, PlayerRow]:
    book_ = PlayerBook()
    for score in games:
        book_.add((score.setting, 0, score.team_id, score.scenario_id), score)
    return {entry.player.name: entry for entry in book_.rows(SPEC)}


def estimate(entry: PlayerRow, measure: str) -> tuple[float, int] | None:
    found = entry.estimates[measure]
    return None if found is None else (round(found.value, 9), found.num_agent_games)


def test_a_player_is_pooled_over_its_seats_in_all_teams_by_hand() -> None:
    table = by_player(mixed_games())
    talker, imap, guest = table["talker"], table["imap"], table["guest"]
    assert (talker.games, talker.scenarios, talker.agent_games) == (2, 2, 2)
    assert talker.teams == ("one", "two")
    assert estimate(talker, "coordination") == (100, 1)  # without a meeting it does not count
    assert estimate(talker, "excess_cost") == (1, 2)
    assert estimate(talker, "messages") == (2, 1)
    assert estimate(talker, "fairness") == (1, 2)  # gaps of 4/3 and 2/3
    assert estimate(imap, "fairness") == (round(2 / 3, 9), 2)
    assert estimate(guest, "coordination") == (100, 1)
    assert estimate(guest, "messages") == (2, 1)


def test_vps_of_a_player_runs_over_the_games_in_which_it_was_measured() -> None:
    table = by_player(mixed_games())
    # Once the talker's slots 0 and 3 were taken: 2 of 4 answers go toward the truth, below 5.
    assert estimate(table["talker"], "excess_vps") == (0, 1)
    assert table["talker"].vps_kind == "reflection"
    assert estimate(table["guest"], "excess_vps") is None
    assert table["guest"].vps_kind is None
    assert estimate(table["imap"], "excess_vps") == (0, 2)
    assert table["imap"].vps_kind == "protocol"


def test_a_seat_may_be_taken_twice_in_a_game() -> None:
    table = by_player([score_game(game("s-000", "pair", TALKER, GUEST))])
    assert table["talker"].agent_games == 2
    assert estimate(table["talker"], "excess_cost") == (1, 2)
    assert estimate(table["talker"], "coordination") == (100, 1)


def test_the_same_name_with_other_settings_is_another_player(tmp_path: Path) -> None:
    narrow, wide = seat("dsm", "protocol", lmax=1), seat("dsm", "protocol", lmax=12)
    games = [
        score_game(game("s-000", team, chosen)) for team, chosen in (("a", narrow), ("b", wide))
    ]
    collect(tmp_path, games, ["b", "a"])
    found = rows(tmp_path / "players.csv")
    assert [(row["player"], row["teams"]) for row in found] == [("dsm", "b"), ("dsm", "a")]


def test_where_each_team_has_one_player_the_rows_are_those_of_the_leaderboard(
    tmp_path: Path,
) -> None:
    games = [
        score_game(play_team(canonical_scenario(seed, f"uniform-{seed:03d}"), team))
        for team in ("imap", "tell-all")
        for seed in range(4)
    ]
    collect(tmp_path, games, ["tell-all", "imap"])
    board, players = rows(tmp_path / "leaderboard.csv"), rows(tmp_path / "players.csv")
    shared = [name for name in header("leaderboard.csv") if name != "team"]
    assert [{name: row[name] for name in shared} for row in players] == [
        {name: row[name] for name in shared} for row in board
    ]
    assert [row["player"] for row in players] == [row["team"] for row in board]
    assert {row["agent_games"] for row in players} == {"20"}


def test_agent_games_name_setting_and_player(tmp_path: Path) -> None:
    collect(tmp_path, mixed_games(), ["one", "two"])
    found = rows(tmp_path / "agent_games.csv")
    assert [(row["setting"], row["player"], row["kind"], row["vps_kind"]) for row in found] == [
        ("test", "talker", "scripted", "reflection"),
        ("test", "imap", "protocol", "protocol"),
        ("test", "guest", "scripted", ""),
        ("test", "guest", "scripted", ""),
        ("test", "imap", "protocol", "protocol"),
        ("test", "talker", "scripted", ""),
    ]
    assert [row["vps"] for row in found] == ["2.0000", "0.0000", "", "", "0.0000", ""]
    assert [row["excess_vps"] for row in found] == ["0.0000", "0.0000", "", "", "0.0000", ""]


def test_teams_say_how_their_loss_was_measured_and_leave_out_what_was_not(tmp_path: Path) -> None:
    talkers = score_game(game("s-002", "talkers", TALKER))
    collect(tmp_path, [*mixed_games(), talkers], ["one", "two", "talkers"])
    board = rows(tmp_path / "leaderboard.csv")
    assert [row["vps_kind"] for row in board] == ["mixed", "protocol", ""]
    assert [row["excess_vps"] for row in board] == ["0.0000", "0.0000", ""]
    games = rows(tmp_path / "games.csv")
    assert [row["vps"] for row in games] == ["", "", ""]  # nowhere is everybody measured
    assert [row["excess_vps"] for row in games] == ["0.0000", "0.0000", ""]


def test_shares_run_over_typed_agents(tmp_path: Path) -> None:
    played = play_team(canonical_scenario(3), "imap")
    alone = score_game(played).agents[0].vps
    seats = [IMAP, *[TALKER] * 4]
    collect(tmp_path, [score_game(seated(played, *seats, team="one"))], ["one"])
    shares = rows(tmp_path / "vps_shares.csv")
    assert sum(float(row["vps"]) for row in shares) == alone


def test_lost_games_are_counted_in_players_and_left_out(tmp_path: Path) -> None:
    games = mixed_games()
    lost = score_game(with_outcome(game("s-002", "one", TALKER, IMAP, GUEST), "budget_stop"))
    collect(tmp_path, [*games, lost], ["one", "two"])
    found = {row["player"]: row for row in rows(tmp_path / "players.csv")}
    talker = found["talker"]
    assert (talker["games"], talker["games_lost"], talker["is_flagged"]) == ("2", "1", "true")
    assert talker["lost_percent"] == "33.3333"
    assert talker["excess_cost"] == "1.0000"
    collect(tmp_path / "only", [lost], ["one"])
    only = rows(tmp_path / "only" / "players.csv")[0]
    assert (only["games"], only["excess_cost"], only["agent_games"]) == ("0", "", "0")


def test_reply_outcomes_count_every_reply_of_language_seats(tmp_path: Path) -> None:
    trace = game("s-000", "one", TALKER, IMAP, GUEST)
    answers = [reflection(0, 2, {0: (0, 0, 0, 0), 1: (0, 0, 0, 0)})]
    score = score_game(noted(reflecting(trace, answers), 0, ["recovered", "not_json"]))
    lost = score_game(with_outcome(game("s-001", "one", TALKER, IMAP, GUEST), "provider_fault"))
    collect(tmp_path, [score, lost], ["one"])
    guest, talker = rows(tmp_path / "reply_outcomes.csv")
    # Two sweeps of talk and one decision; the guest only reflects.
    assert (talker["player"], talker["replies"], talker["read"]) == ("talker", "3", "2")
    assert (talker["recovered"], talker["not_json"], talker["refused"]) == ("1", "1", "0")
    assert (guest["player"], guest["replies"], guest["read"]) == ("guest", "1", "1")


def test_bytes_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    seats = (TALKER, GUEST, IMAP)
    games = [
        score_game(game(f"s-{number:03d}", team, *seats[turn:], *seats[:turn]))
        for number in range(4)
        for turn, team in enumerate(("one", "two", "three"))
    ]
    collect(tmp_path / "a", games, ["one", "two", "three"])
    collect(tmp_path / "b", stream(0, "order").shuffled(games), ["one", "two", "three"])
    for name in ("players.csv", "reply_outcomes.csv", "usage.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
