"""``calbench estimate``: calls, tokens and price of a run, beforehand.

No model is asked. Where games of the run are on disk, their numbers are used; for the rest a few
games are played with scripted speakers in the models' seats, who say less than a thinking model:
the last column is what the caps on tokens allow at most.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from rich.table import Table

from calbench.agents.base import CallSite, Completer
from calbench.agents.scripted import scripted_speaker
from calbench.cli.jobs import for_each_job
from calbench.cli.words import Status
from calbench.config.groups import PRICES
from calbench.config.spec import RunSpec
from calbench.console import progress, show, tell, verdict
from calbench.domain.ids import AgentId
from calbench.domain.usage import Usage
from calbench.engine.drivers import run_async
from calbench.engine.jobs import Job, unfinished
from calbench.engine.seating import seat_agents
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.llm.completion import ChatMessage, Completion, Request
from calbench.llm.prices import NANO, Price, Prices, estimated_usage, read_prices, usage_bound
from calbench.llm.replies.shards import open_replies
from calbench.runs.play import load_suites, planned
from calbench.terminal import new_table
from calbench.traces.events import DecideEnd, Reflection, TurnEnd
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace

GAMES_SAMPLED = 3
"""Games played or read for each team and setting, spread over the suite [C]."""

STAND_IN = "candid"
"""The scripted speaker in a model's place: the one that says most [C]."""


@dataclass(slots=True)
class Take:
    """What calls take: their number, tokens, and prices in nano-dollars.

    ``repeated_tokens`` are input tokens that the previous call of the thread had too, which a
    provider's cache may hold; ``nano_cached`` is the price if it holds them all, ``nano_bound``
    what the calls cannot exceed.
    """

    calls: float = 0
    input_tokens: float = 0
    repeated_tokens: float = 0
    output_tokens: float = 0
    nano: float = 0
    nano_cached: float = 0
    nano_bound: float = 0

    def add(self, other: "Take", times: float = 1) -> None:
        """Add the numbers of another, this many times."""
        for part in fields(self):
            setattr(self, part.name, getattr(self, part.name) + times * getattr(other, part.name))


@dataclass(slots=True)
class CountingSpeaker:
    """A source of text that asks scripted speakers and counts what models would be sent.

    Attributes:
        prices: by model, where known.
        take_by_player: what was counted so far.
    """

    prices: Prices
    take_by_player: dict[str, Take] = field(default_factory=dict)
    _speakers: dict[AgentId, Completer] = field(default_factory=dict)
    _threads: dict[AgentId, tuple[ChatMessage, ...]] = field(default_factory=dict)

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Answer as the scripted speaker would, and count."""
        agent = site.agent_id
        if agent not in self._speakers:
            self._speakers[agent] = scripted_speaker(STAND_IN, agent)
        completion = await self._speakers[agent].complete(request, site)
        usage = estimated_usage(request, completion.text)
        before = Request(spec=request.spec, messages=self._threads.get(agent, ()))
        repeated = estimated_usage(before, None).input_tokens if before.messages else 0
        self._threads[agent] = request.messages
        take = self.take_by_player.setdefault(site.player, Take())
        price = self.prices.models.get(request.spec.model)
        take.add(_taken(usage, repeated, usage_bound(request, price), price))
        return completion


def _taken(usage: Usage, repeated: int, bound: Usage | None, price: Price | None) -> Take:
    """Return what one call takes; without a price, no money."""
    take = Take(1, usage.input_tokens, repeated, usage.output_tokens)
    if price is not None:
        cached = Usage(
            input_tokens=usage.input_tokens,
            cached_tokens=min(repeated, usage.input_tokens),
            output_tokens=usage.output_tokens,
        )
        take.nano, take.nano_cached = price.nano_usd(usage), price.nano_usd(cached)
        take.nano_bound = price.nano_usd(bound or usage)
    return take


def estimate(spec: RunSpec) -> tuple[dict[str, Take], int, int]:
    """Return what the games of a run still to be played would take, by player.

    Returns:
        The numbers, the games with models still to be played, and those on disk already.

    Raises:
        ConfigError: if no model sits in the run's teams.
        CalbenchError: as when the run is started.
    """
    teams = tuple(team for team in spec.teams if any(seat.kind == "model" for seat in team.seats))
    if not teams:
        raise ConfigError("no model sits in these teams: nothing is asked, and nothing is spent")
    prices = read_prices(PRICES)
    asking = spec.model_copy(update={"teams": teams})
    jobs = planned(asking, load_suites(spec.suites))
    missing = unfinished(jobs)
    is_missing = {job.path for job in missing}
    total: dict[str, Take] = {}
    samples = list(_samples(jobs, is_missing))
    with progress("sampled", len(samples)) as tick:
        for job, games in samples:
            is_played = job.path in is_missing
            taken = _played(job, prices) if is_played else _recorded(read_trace(job.path), prices)
            for player, take in taken.items():
                total.setdefault(player, Take()).add(take, games)
            tick(job.team_id)
    return total, len(missing), len(jobs) - len(missing)


def _samples(jobs: Sequence[Job], is_missing: AbstractSet[Path]) -> Iterator[tuple[Job, float]]:
    """Yield games to learn from, each with the number of missing games that it speaks for.

    Of each team and setting, they are games on disk if there are any.
    """
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.team_id, job.scenario.setting), []).append(job)
    for group in groups.values():
        open_jobs = [job for job in group if job.path in is_missing]
        finished = [job for job in group if job.path not in is_missing]
        sample = _spread(finished or open_jobs) if open_jobs else []
        for job in sample:
            yield job, len(open_jobs) / len(sample)


def _spread(jobs: Sequence[Job]) -> list[Job]:
    """Return a few games, spread over the suite, which runs from easy to hard."""
    count = min(GAMES_SAMPLED, len(jobs))
    return [jobs[(2 * place + 1) * len(jobs) // (2 * count)] for place in range(count)]


def _played(job: Job, prices: Prices) -> dict[str, Take]:
    """Play a game with scripted speakers in the models' seats; nothing of it is kept."""
    speaker = CountingSpeaker(prices)
    asyncio.run(run_async(job.scenario, job.config, seat_agents(job.scenario, job.config, speaker)))
    return speaker.take_by_player


def _recorded(trace: Trace, prices: Prices) -> dict[str, Take]:
    """Return what a game on disk took; its cached tokens are those the provider counted."""
    taken: dict[str, Take] = {}
    for event in trace.events:
        if isinstance(event, TurnEnd | DecideEnd | Reflection) and event.usage is not None:
            seat = trace.config.team.seat_of(event.agent_id)
            price = prices.models.get(str(seat.settings.get("model")))
            take = _taken(event.usage, event.usage.cached_tokens, None, price)
            taken.setdefault(seat.player, Take()).add(take)
    return taken


def estimate_table(take_by_player: dict[str, Take], unpriced: Sequence[str]) -> Table:
    """Return the estimate as the terminal shows it."""
    heads = ("Player", "Calls", "Input", "Repeated", "Output", "US$", "Cached", "At most")
    table = new_table("Still to be asked", heads)
    for player, take in sorted(take_by_player.items()):
        tokens = (take.input_tokens, take.repeated_tokens, take.output_tokens)
        prices = (take.nano, take.nano_cached, take.nano_bound)
        table.add_row(
            player,
            f"{take.calls:,.0f}",
            *(f"{each / 1000:,.0f}k" for each in tokens),
            *("?" if player in unpriced else f"{each / NANO:,.2f}" for each in prices),
        )
    return table


def _verdict(take_by_player: dict[str, Take], unpriced: Sequence[str], missing: int) -> str:
    """Return the estimate in one line; money only if every price is known."""
    whole = Take()
    for take in take_by_player.values():
        whole.add(take)
    what = f"{missing} games with models to play, about {whole.calls:,.0f} calls"
    if unpriced:
        return f"{what}; the price of {', '.join(unpriced)} is unknown"
    return f"{what}: about US$ {whole.nano / NANO:,.2f}, at most {whole.nano_bound / NANO:,.2f}"


def main(overrides: Sequence[str], options: Mapping[str, Any]) -> int:
    """Estimate what Hydra composes of a command line, given the seconds of a call if it says so."""
    given, text = None, options.get("seconds_per_call")
    if text is not None:
        with suppress(ValueError):
            given = float(text)
        if given is None or not 0 < given < inf:
            shown = printable(text)
            raise ConfigError(f"seconds_per_call={shown}: expected seconds, more than 0")
    return for_each_job(overrides, options, partial(_print_estimate, given=given))


def seconds_by_player(spec: RunSpec, players: Iterable[str]) -> dict[str, float]:
    """Return the mean time of a reply that is recorded, its preflight's too, in seconds.

    Raises:
        FileError: the replies are damaged.
    """
    path = spec.store
    times: dict[str, list[float]] = {}
    if path is not None and path.exists():
        with open_replies(path, must_be_whole=False) as store:
            for record in store.records():
                times.setdefault(record.model, []).append(record.attempts[-1].latency_s)
    means = {model: sum(found) / len(found) for model, found in times.items()}
    models = {player: spec.models[player].spec.model for player in players}
    return {player: means[model] for player, model in models.items() if model in means}


def minutes(
    spec: RunSpec, take_by_player: Mapping[str, Take], seconds: Mapping[str, float], games: int
) -> float:
    """Return how long the calls take: one at a time in a game, within the limits of each model.

    Args:
        spec: of the run.
        take_by_player: what is asked.
        seconds: of a call, by player.
        games: to be played.
    """
    longest = sum(take.calls * seconds[player] for player, take in take_by_player.items())
    longest /= max(1, min(spec.games_at_once, games))
    for player, take in take_by_player.items():
        model = spec.models[player]
        longest_reply = max(model.max_tokens, model.reflection_max_tokens or 0)
        tokens = take.input_tokens + take.calls * longest_reply
        longest = max(
            longest,
            take.calls * seconds[player] / model.concurrency,
            60 * take.calls / (model.requests_per_minute or inf),
            60 * tokens / (model.tokens_per_minute or inf),
        )
    return longest / 60


def _print_estimate(spec: RunSpec, given: float | None = None) -> int:
    take_by_player, missing, finished = estimate(spec)
    seconds = (
        seconds_by_player(spec, take_by_player)
        if given is None
        else dict.fromkeys(take_by_player, given)
    )
    known = read_prices(PRICES).models
    unpriced = sorted(p for p in take_by_player if spec.models[p].spec.model not in known)
    show(estimate_table(take_by_player, unpriced))
    tell(f"{missing} games with models to play, {finished} are in {spec.out}/traces already.")
    tell("Repeated: input of the call before, which a cache may hold (Cached: its price then).")
    tell("Prices: conf/prices.yaml (? where it has none), each with its source: check them.")
    cap = "Set a cap with budget.max_usd=N; what" if spec.budget.max_usd is None else "What"
    tell(f"{cap} the run has recorded is never paid for again.")
    if set(seconds) >= set(take_by_player):
        needed = minutes(spec, take_by_player, seconds, missing)
        where = "recorded replies" if given is None else "seconds_per_call"
        tell(f"About {needed:,.0f} minutes, by the time of a call in {where}.")
    else:
        tell("Minutes: with seconds_per_call=N, or once a call is recorded, as the preflight's is.")
    verdict(_verdict(take_by_player, unpriced, missing))
    return Status.DONE
