"""What a run would take, and what it says about money: before, meanwhile, and at the end."""

import asyncio
from pathlib import Path

import pytest

from calbench.agents.base import CallSite, Completer
from calbench.agents.scripted import scripted_speaker
from calbench.cli import estimate as estimating
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.domain.ids import AgentId
from calbench.engine.drivers import run_async
from calbench.engine.jobs import plan_jobs
from calbench.engine.seating import seat_agents
from calbench.errors import ConfigError
from calbench.llm.client import Mode, Source
from calbench.llm.completion import Completion, Request
from calbench.llm.prices import estimated_usage, read_prices, usage_bound
from calbench.llm.replies.record import Attempt, named
from calbench.llm.replies.store import ReplyStore
from calbench.runs.play import execute, load_suites
from calbench.runs.source import budget_line, money, reply_source, spent
from calbench.traces.events import DecideEnd, Reflection, TurnEnd
from calbench.traces.storage import write_trace
from tests.cli.conftest import Command
from tests.cli.recording import answering, recording
from tests.llm.asking import put, record, request

SMALL = ("suite.num_scenarios=2", "suite.num_candidates=2", "teams=[my-model]")


class Listening:
    """Answers as the stand-in does, with usage, and keeps every request."""

    def __init__(self) -> None:
        self.asked: list[tuple[Request, str]] = []
        self._speakers: dict[AgentId, Completer] = {}

    async def complete(self, request: Request, site: CallSite) -> Completion:
        speaker = self._speakers.setdefault(
            site.agent_id, scripted_speaker(estimating.STAND_IN, site.agent_id)
        )
        completion = await speaker.complete(request, site)
        self.asked.append((request, completion.text or ""))
        usage = estimated_usage(request, completion.text)
        return Completion(text=completion.text, finish_reason="stop", usage=usage, key="k")


@pytest.mark.heavy
def test_estimate_is_what_the_same_games_take(tmp_path: Path) -> None:
    spec = compose([*SMALL, "model=gpt-5.4-mini", f"out={tmp_path}"])
    price = read_prices(PRICES).models[spec.models["gpt-5.4-mini"].spec.model]
    asked: list[tuple[Request, str]] = []
    for job in plan_jobs(load_suites(spec.suites), spec.game_configs, tmp_path):
        listening = Listening()
        agents = seat_agents(job.scenario, job.config, listening)
        asyncio.run(run_async(job.scenario, job.config, agents))
        asked += listening.asked

    take_by_player, missing, standing = estimating.estimate(spec)

    assert (missing, standing) == (2, 0)
    (take,) = take_by_player.values()
    usages = [estimated_usage(request, text) for request, text in asked]
    assert take.calls == len(asked)
    assert take.input_tokens == sum(usage.input_tokens for usage in usages)
    assert take.output_tokens == sum(usage.output_tokens for usage in usages)
    assert take.nano == sum(price.nano_usd(usage) for usage in usages)
    assert take.nano_bound == sum(price.nano_usd(usage_bound(request)) for request, _ in asked)
    assert 0 < take.repeated_tokens < take.input_tokens
    assert take.nano_cached < take.nano < take.nano_bound


def test_estimate_reads_the_games_that_stand_and_counts_the_others(tmp_path: Path) -> None:
    spec = compose([*SMALL, "model=gpt-5.4-mini", f"out={tmp_path}"])
    jobs = plan_jobs(load_suites(spec.suites), spec.game_configs, tmp_path / "traces")
    agents = seat_agents(jobs[0].scenario, jobs[0].config, Listening())
    trace = asyncio.run(run_async(jobs[0].scenario, jobs[0].config, agents))
    write_trace(jobs[0].path, trace)
    usages = [
        event.usage
        for event in trace.events
        if isinstance(event, TurnEnd | DecideEnd | Reflection) and event.usage is not None
    ]

    take_by_player, missing, standing = estimating.estimate(spec)

    assert (missing, standing) == (1, 1)
    (take,) = take_by_player.values()
    assert take.calls == len(usages)
    assert take.input_tokens == sum(usage.input_tokens for usage in usages)


@pytest.mark.heavy
def test_model_without_a_price_has_none_in_the_table(command: Command) -> None:
    own = ("model.name=mine", "model.api_base=http://localhost:1/v1")
    said = command("estimate", *SMALL, *own).out
    row = next(line for line in said.splitlines() if "mine" in line)
    assert row.split()[-3:] == ["?", "?", "?"]
    assert "2 games with models to play, 0 are in" in said


PRICED = ("teams=[my-model]", "model.name=openai/gpt-5.4-mini", "model.api_base=null")
OWN = ("teams=[my-model]", "model.name=mine", "model.api_base=http://localhost:1/v1")
CAPPED = "budget.max_usd=15"


def source(mode: Mode = "record") -> Source:
    found = Source(mode=mode, store=Path("replies.sqlite"), prices=read_prices(PRICES))
    found.totals.spent_usd = 0.421
    return found


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ([*PRICED], "US$ 0.42"),
        ([*PRICED, CAPPED], "US$ 0.42 of 15.00"),
        ([*OWN], "US$ -"),
        ([*OWN, "+experiment=mixed5"], "US$ 0.42 and more"),
    ],
)
def test_money_is_shown_with_its_cap_or_as_unknown(overrides: list[str], said: str) -> None:
    if "+experiment=mixed5" in overrides:
        overrides = [each for each in overrides if not each.startswith("teams=")]
    spec = compose(overrides)
    assert money(spec, read_prices(PRICES), 0.421) == said
    assert spent(spec, source()) == said


def test_nothing_is_said_of_money_where_no_model_is_asked() -> None:
    assert spent(compose(["teams=[imap]"]), None) == ""
    assert spent(compose([*PRICED]), source("replay")) == ""


@pytest.mark.parametrize(
    ("overrides", "mode", "said"),
    [
        ([*PRICED, CAPPED], "record", "Budget: at most US$ 15.00, 0.42 spent before"),
        (
            [*PRICED],
            "record",
            (
                "Budget: no cap (budget.max_usd=N sets one), US$ 0.42 spent before; "
                "`estimate` forecasts more"
            ),
        ),
        (
            [*OWN],
            "record",
            "Budget: no cap, and the price of mine is unknown: its cost is not counted",
        ),
        ([*PRICED], "replay", "Budget: nothing is spent, replies come from replies.sqlite"),
    ],
)
def test_budget_is_said_before_the_first_call(overrides: list[str], mode: Mode, said: str) -> None:
    assert budget_line(compose(overrides), source(mode)) == said


@pytest.mark.heavy
def test_run_says_its_budget_first_and_what_the_folder_cost_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = (*PRICED[1:], CAPPED, "suite.num_candidates=3")
    first = execute(recording(str(tmp_path), *few, "suite.num_scenarios=3"), answering)
    lines = capsys.readouterr().err.splitlines()
    (budget,) = [line for line in lines if line.startswith("Budget: ")]
    assert budget == "Budget: at most US$ 15.00, 0.00 spent before"
    games = [line for line in lines if line.startswith("games ")]
    assert lines.index(budget) < lines.index(games[0])
    calls = first.totals.calls + first.totals.replayed  # two games may ask the same
    assert games[-1].startswith(f"games 3/3 gpt-5.4-mini, {calls} of about {calls} calls, ")
    assert games[-1].endswith(f", US$ {first.totals.spent_usd:.2f} of 15.00")
    assert first.money == f"US$ {first.totals.spent_usd:.2f} of 15.00"

    for trace in (tmp_path / "traces" / "gpt-5.4-mini").glob("*-002.json"):
        trace.unlink()
    again = execute(recording(str(tmp_path), *few, "suite.num_scenarios=3"), answering)
    (budget,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("Budget: ")]
    assert budget == f"Budget: at most US$ 15.00, {first.totals.spent_usd:.2f} spent before"
    assert again.money == first.money


# --- where replies come from

PLAYED = (*SMALL, "model.name=openai/x", "out=here")


@pytest.mark.parametrize(
    ("mode", "path", "store"),
    [
        ("live", None, None),
        ("record", None, Path("here/replies.sqlite")),
        ("record", "r.sqlite", Path("r.sqlite")),
        ("replay", "/r.sqlite", Path("/r.sqlite")),
    ],
)
def test_store_is_where_the_settings_say(mode: str, path: str | None, store: Path | None) -> None:
    given = [] if path is None else [f"replies.path={path}"]
    source = reply_source(compose([*PLAYED, f"replies.mode={mode}", *given]))
    assert source is not None
    assert (source.mode, source.store) == (mode, store)


def test_place_for_replies_that_nobody_keeps_is_refused() -> None:
    with pytest.raises(ConfigError, match="mode live keeps nothing"):
        reply_source(compose([*PLAYED, "replies.mode=live", "replies.path=r.sqlite"]))


def test_minutes_are_bounded_by_games_calls_at_once_and_limits() -> None:
    takes = {"my-model": estimating.Take(calls=600, input_tokens=60_000)}
    seconds = {"my-model": 6.0}

    def needed(*overrides: str, games: int = 45) -> float:
        own = ("model.player=my-model", "games_at_once=10", "model.concurrency=64")
        return estimating.minutes(compose([*PRICED, *own, *overrides]), takes, seconds, games)

    assert needed() == pytest.approx(600 * 6 / 10 / 60)
    assert needed(games=2) == pytest.approx(600 * 6 / 2 / 60)
    assert needed("model.concurrency=4") == pytest.approx(600 * 6 / 4 / 60)
    assert needed("model.requests_per_minute=20") == pytest.approx(30)
    assert needed("model.tokens_per_minute=10000", "model.max_tokens=900") == pytest.approx(60)


@pytest.mark.heavy
def test_minutes_are_said_by_the_time_that_is_given(command: Command, tmp_path: Path) -> None:
    few = [*SMALL, *PRICED[1:], "games_at_once=2", f"out={tmp_path}", "seconds_per_call=60"]
    ended = command("estimate", *few)
    calls = int(ended.out.split(", about ")[1].split(" calls")[0])
    assert f"About {calls / 2:,.0f} minutes, by the time of a call in seconds_per_call" in ended.out
    assert "Set a cap with budget.max_usd=N; what the run has recorded is never" in ended.out
    assert "Set a cap" not in command("estimate", *few, CAPPED).out
    wrong = command("estimate", *few, "seconds_per_call=0")
    assert (wrong.status, wrong.out) == (2, "")
    assert "seconds_per_call=0: expected seconds, more than 0" in wrong.err


def test_time_of_a_call_is_that_of_recorded_replies(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with ReplyStore.open(path) as store:
        for place, text in enumerate(("a", "b")):
            asked = named(request(text, model="openai/gpt-5.4-mini"))
            attempt = Attempt(status=200, latency_s=1.0 + place)
            put(store, asked, record(asked, attempts=(attempt,)))
    spec = compose([*PRICED, "model.player=my-model", f"replies.path={path}"])
    assert estimating.seconds_by_player(spec, ["my-model"]) == {"my-model": 1.5}
