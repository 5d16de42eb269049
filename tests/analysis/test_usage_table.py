import csv
from pathlib import Path

import pytest
from calbench.analysis.usage import Price, Prices

from calbench.analysis.tables import Collector
from calbench.domain.replies import Usage
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.usage import Tokens
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Seat
from tests.factories import make_scenario
from tests.metrics.games import play_team, with_outcome
from tests.metrics.language_games import paid, reflecting, reflection, seat, seated

GPT = seat("gpt", "model", model="openai/gpt")
IMAP = seat("imap", "protocol")
USAGE = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)
PRICES: Prices = {"openai/gpt": Price(input=2.0, cached=0.5, output=8.0), "unknown": None}


def write(folder: Path, scores: list[GameScore], prices: Prices | None = PRICES) -> None:
    with Collector(folder, ["one"], AnalysisSpec(bootstrap_resamples=10), prices) as tables:
        for score in scores:
            tables.add(score)
        tables.write()


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "usage.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def scored(scenario_id: str, *seats: Seat, is_lost: bool = False) -> GameScore:
    """Play a game of two silent agents: a turn, a decision and four retries or none each."""
    scenario = make_scenario(["..", ".."], [(0, 1)], scenario_id=scenario_id)
    trace = paid(seated(play_team(scenario, "first-free"), *seats, team="one"), USAGE)
    estimate = Usage(input_tokens=10, cached_tokens=0, output_tokens=1, is_estimated=True)
    trace = reflecting(trace, [reflection(0, 0, {1: (0, 0)}, usage=estimate)])
    return score_game(with_outcome(trace, "provider_fault") if is_lost else trace)


def test_usage_is_summed_by_hand(tmp_path: Path) -> None:
    write(tmp_path, [scored("s-000", GPT, IMAP), scored("s-001", GPT, IMAP)])
    (row,) = rows(tmp_path)
    assert (row["setting"], row["team"], row["player"]) == ("test", "one", "gpt")
    assert (row["games"], row["agent_games"], row["games_lost"]) == ("2", "2", "0")
    # A turn, a decision and a reflection in each game; the last is estimated.
    assert (row["calls"], row["estimated_calls"]) == ("6", "2")
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"]) == (
        *("4020", "1600", "202"),
    )
    price = (2420 * 2 + 1600 * 0.5 + 202 * 8) / 1_000_000
    assert row["price_usd"] == f"{price:.6f}"
    assert row["price_usd_per_game"] == f"{price / 2:.6f}"
    assert row["price_usd_lost"] == "0.000000"


def test_lost_games_are_left_out_but_their_price_is_told(tmp_path: Path) -> None:
    write(tmp_path, [scored("s-000", GPT, IMAP), scored("s-001", GPT, IMAP, is_lost=True)])
    (row,) = rows(tmp_path)
    assert (row["games"], row["games_lost"], row["calls"]) == ("1", "1", "3")
    assert row["price_usd"] == row["price_usd_lost"] == row["price_usd_per_game"] != ""
    write(tmp_path / "only", [scored("s-001", GPT, IMAP, is_lost=True)])
    (only,) = rows(tmp_path / "only")
    assert (only["games"], only["calls"], only["price_usd_per_game"]) == ("0", "0", "")


@pytest.mark.parametrize("prices", [None, {}, {"openai/gpt": None}])
def test_an_unknown_price_is_absent_not_zero(tmp_path: Path, prices: Prices | None) -> None:
    write(tmp_path, [scored("s-000", GPT, IMAP)], prices)
    (row,) = rows(tmp_path)
    assert row["price_usd"] == row["price_usd_per_game"] == row["price_usd_lost"] == ""
    assert row["input_tokens"] == "2010"


def test_players_may_be_priced_by_their_name(tmp_path: Path) -> None:
    write(tmp_path, [scored("s-000", seat("local"), IMAP)], {"local": Price(0.0, 0.0, 0.0)})
    assert rows(tmp_path)[0]["price_usd"] == "0.000000"


def test_typed_players_have_no_usage(tmp_path: Path) -> None:
    write(tmp_path, [score_game(play_team(make_scenario(["..", ".."], [(0, 1)]), "imap"))])
    assert rows(tmp_path) == []


def test_speakers_without_usage_have_no_row(tmp_path: Path) -> None:
    trace = seated(play_team(make_scenario(["..", ".."], [(0, 1)]), "silent"), seat("candid"))
    write(tmp_path, [score_game(trace)])
    assert rows(tmp_path) == []


def test_a_reply_of_several_recorded_calls_counts_them_all() -> None:
    trace = seated(play_team(make_scenario(["..", ".."], [(0, 1)]), "silent"), GPT)
    score = score_game(paid(trace, USAGE, keys=("first", "second")))
    tokens = score.agents[0].tokens
    assert tokens.calls == 2 * tokens.input_tokens // 1000
    assert tokens.estimated_calls == 0


def test_more_cached_than_sent_is_never_a_credit() -> None:
    price = Price(input=1_000_000.0, cached=1.0, output=0.0)
    assert price.of(Tokens(calls=1, input_tokens=1, cached_tokens=1_000_000)) == 1
