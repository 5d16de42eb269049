"""Calls, tokens and money of language players, summed by hand."""

from collections.abc import Mapping
from pathlib import Path

from calbench.analysis.registry import Settings
from calbench.domain.usage import Usage
from calbench.facts.games import SCORES
from calbench.llm.prices import Price
from calbench.metrics.game import score_game
from calbench.metrics.usage import Tokens
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Seat, Trace
from tests.factories import make_scenario
from tests.facts.measured import facts_of, lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, player, score
from tests.llm.asking import price
from tests.metrics.games import play_team, with_outcome
from tests.metrics.language_games import paid, reflecting, reflection, seat, seated

GPT = seat("gpt", "model", model="openai/gpt")
IMAP = seat("imap", "protocol")
USAGE = Usage(input_tokens=1000, cached_tokens=400, output_tokens=50)
PRICES = {"openai/gpt": price(2.0, 0.5, 8.0)}


def settings(prices: Mapping[str, Price] = PRICES) -> Settings:
    return Settings(analysis=AnalysisSpec(), prices=prices)


def usage(
    folder: Path, *traces: Trace, prices: Mapping[str, Price] = PRICES
) -> list[dict[str, str]]:
    return table_rows(facts_of(folder, traces, facts=SCORES), "usage.csv", settings(prices))


def played(scenario_id: str, *seats: Seat, is_excluded: bool = False) -> Trace:
    """Play a game of two silent agents: a turn, a decision and four retries or none each."""
    scenario = make_scenario(["..", ".."], [(0, 1)], scenario_id=scenario_id)
    trace = paid(seated(play_team(scenario, "first-free"), *seats, team="one"), USAGE)
    estimate = Usage(input_tokens=10, cached_tokens=0, output_tokens=1, is_estimated=True)
    trace = reflecting(trace, [reflection(0, 0, {1: (0, 0)}, usage=estimate)])
    return with_outcome(trace, "provider_fault") if is_excluded else trace


def test_excluded_games_are_left_out_but_their_price_is_told(tmp_path: Path) -> None:
    lost = played("s-001", GPT, IMAP, is_excluded=True)
    (row,) = usage(tmp_path / "both", played("s-000", GPT, IMAP), lost)
    assert (row["games"], row["games_excluded"], row["calls"]) == ("1", "1", "3")
    assert row["price_usd"] == row["price_usd_excluded"] == row["price_usd_per_game"] != ""
    (only,) = usage(tmp_path / "only", lost)
    assert (only["games"], only["calls"], only["price_usd_per_game"]) == ("0", "0", "")
    assert (only["agent_games"], only["price_usd"]) == ("0", "0.000000")
    assert only["price_usd_excluded"] == row["price_usd_excluded"]


def test_an_unknown_price_is_absent_not_zero(tmp_path: Path) -> None:
    (row,) = usage(tmp_path, played("s-000", GPT, IMAP), prices={"gpt": price(1.0, 1.0, 1.0)})
    assert row["price_usd"] == row["price_usd_per_game"] == row["price_usd_excluded"] == ""
    assert row["input_tokens"] == "2010"


def test_a_price_of_zero_is_known(tmp_path: Path) -> None:
    free = {"openai/gpt": price(0.0, 0.0, 0.0)}
    (row,) = usage(tmp_path, played("s-000", GPT, IMAP), prices=free)
    assert row["price_usd"] == "0.000000"


def test_a_player_without_a_model_has_no_price(tmp_path: Path) -> None:
    free = {"local": price(0.0, 0.0, 0.0)}
    (row,) = usage(tmp_path, played("s-000", seat("local"), IMAP), prices=free)
    assert row["price_usd"] == ""


def test_typed_players_have_no_usage(tmp_path: Path) -> None:
    assert usage(tmp_path, play_team(make_scenario(["..", ".."], [(0, 1)]), "imap")) == []


def test_speakers_without_usage_have_no_row(tmp_path: Path) -> None:
    game = play_team(make_scenario(["..", ".."], [(0, 1)]), "silent")
    assert usage(tmp_path, seated(game, seat("candid"))) == []


def test_rows_by_hand(tmp_path: Path) -> None:
    """Players of two teams stand apart, in the order of teams and then by name."""
    a, b = player("a", "model", "m/a"), player("b", "scripted")
    tokens = Tokens(calls=3, estimated_calls=1, input_tokens=10, cached_tokens=4, output_tokens=2)
    twice = score(agent(b, tokens=tokens), agent(a, tokens=tokens), agent(a, tokens=tokens))
    games = [
        twice,
        score(agent(a, tokens=tokens), scenario="s1", team="other"),
        score(agent(a, tokens=tokens), scenario="s2", is_excluded=True),
    ]
    facts = facts_of_scores(tmp_path, games, ["other", "imap"])
    priced = settings({"m/a": price(100_000, 0.0, 0.0)})
    assert lines_of(facts, "usage.csv", priced) == [
        "uniform,other,a,1,1,3,10,4,2,1,0.600000,0.600000,0,0.000000",
        "uniform,imap,a,1,2,6,20,8,4,2,1.200000,1.200000,1,0.600000",
        "uniform,imap,b,1,1,3,10,4,2,1,,,0,",
    ]


def test_a_reply_of_several_recorded_calls_counts_them_all() -> None:
    trace = seated(play_team(make_scenario(["..", ".."], [(0, 1)]), "silent"), GPT)
    score = score_game(paid(trace, USAGE, keys=("first", "second")))
    tokens = score.agents[0].tokens
    assert tokens.calls == 2 * tokens.input_tokens // 1000
    assert tokens.estimated_calls == 0


def test_a_price_by_hand() -> None:
    assert price(2.0, 0.5, 8.0).usd(1000, 400, 50) == 0.0018


def test_more_cached_than_sent_is_never_a_credit() -> None:
    assert price(100_000, 1.0, 0.0).usd(1, 1_000_000, 0) == 1e-6
