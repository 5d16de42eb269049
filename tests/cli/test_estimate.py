"""What a run would take, said before anything is spent."""

import asyncio
from pathlib import Path

import pytest

from calbench.agents.completer import CallSite, Completer
from calbench.agents.scripted import scripted_speaker
from calbench.cli import estimate as estimating
from calbench.config.composition import compose
from calbench.config.groups import PRICES
from calbench.domain.ids import AgentId
from calbench.engine.drivers import run_async
from calbench.engine.jobs import plan_jobs
from calbench.engine.seating import seat_agents
from calbench.errors import ConfigError
from calbench.llm.completion import Completion, Request
from calbench.llm.prices import estimated_usage, read_prices, usage_bound
from calbench.runs.play import load_suites
from calbench.traces.events import DecideEnd, Reflection, TurnEnd
from calbench.traces.storage import write_trace
from tests.cli.conftest import Command

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


def test_estimate_asks_for_a_model() -> None:
    with pytest.raises(ConfigError, match="no model sits in these teams"):
        estimating.estimate(compose(["teams=[imap]"]))


@pytest.mark.heavy
def test_model_without_a_price_has_none_in_the_table(
    command: Command,
) -> None:
    own = ("model.name=mine", "model.api_base=http://localhost:1/v1")
    said = command("estimate", *SMALL, *own).out
    row = next(line for line in said.splitlines() if "mine" in line)
    assert row.split()[-3:] == ["?", "?", "?"]
    assert "2 games with models to play, 0 are in" in said


def test_estimate_refuses_in_one_line(command: Command) -> None:
    ended = command("estimate", "teams=[my-model]")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "say which model" in ended.err
