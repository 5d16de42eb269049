"""Games as samples of inspect_ai: ``inspect eval calbench/calendars --model ...``.

The extra ``inspect`` installs it, in an environment of its own. The evaluated model sits in some
seats or in all, as language models do: with the released prompts and private labels, and it sees
what its seats see, nothing else. A sample is a scenario, and each writes the trace of its game.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from pathlib import Path
from statistics import fmean

from anyio import to_thread
from inspect_ai import Task, model, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from calbench import load_suite, play_game, read_trace, score_game, write_trace
from calbench.errors import ConfigError, Halt, UnavailableError
from calbench.types import Completion, TokenLogprob, Usage

ROLES = {
    "system": model.ChatMessageSystem,
    "user": model.ChatMessageUser,
    "assistant": model.ChatMessageAssistant,
}

FINISHED = {"max_tokens": "length", "model_length": "context_exceeded"}
"""Why a reply ended, in our words where inspect has others."""


class Guest:
    """The evaluated model as a player, asked on the event loop of its sample.

    ``model`` is its name, on the record too, and ``error`` what it raised first.
    """

    def __init__(self, asked: model.Model) -> None:
        self.model = str(asked)
        self.error: Exception | None = None
        self._asked, self._loop = asked, asyncio.get_running_loop()

    async def __call__(self, messages: Sequence[Mapping[str, str]]) -> Completion:
        """Return the model's reply, with its tokens and log-probabilities.

        Raises:
            UnavailableError: it raised; names the kind alone, since texts may hold addresses.
        """
        thread = [ROLES[m["role"]](content=m["content"]) for m in messages]
        asking = asyncio.run_coroutine_threadsafe(self._asked.generate(thread), self._loop)
        try:
            output = await asyncio.wrap_future(asking)
        except Exception as error:
            self.error = self.error or error
            is_limit, kind = isinstance(error, LimitExceededError), type(error).__name__
            reason: Halt = "budget_stop" if is_limit else "provider_fault"
            raise UnavailableError(reason, kind) from error
        return completion_of(output)


def completion_of(output: model.ModelOutput) -> Completion:
    """Return what a model said; tokens are estimated if it names none."""
    used, said = output.usage, output.choices[0].logprobs if output.choices else None
    usage = logprobs = None
    if used is not None:
        cached = used.input_tokens_cache_read or 0
        read = used.input_tokens + cached + (used.input_tokens_cache_write or 0)
        usage = Usage(input_tokens=read, cached_tokens=cached, output_tokens=used.output_tokens)
    if said is not None:
        tops = [[(t.token, t.logprob) for t in each.top_logprobs or ()] for each in said.content]
        pairs = zip(said.content, tops, strict=True)
        logprobs = tuple(TokenLogprob(t.token, t.logprob, tuple(top)) for t, top in pairs)
    ended = FINISHED.get(output.stop_reason, output.stop_reason)
    return Completion(text=output.completion, finish_reason=ended, usage=usage, logprobs=logprobs)


@solver
def playing(suite: str, seats: list[int], partner: str, traces: str, reflection: bool) -> Solver:
    """Play the sample's scenario and write its trace; what the model raised is raised then."""
    scenarios = {each.scenario_id: each for each in load_suite(suite)}

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - asks itself
        scenario, guest = scenarios[str(state.sample_id)], Guest(model.get_model())
        everybody = range(scenario.num_agents)
        team = [guest if each in (seats or everybody) else partner for each in everybody]
        play = partial(play_game, scenario, team, team_id="inspect", reflection=reflection)
        trace = await to_thread.run_sync(play)
        path = Path(traces) / f"{scenario.scenario_id}-{state.epoch}-{state.uuid}.json"
        write_trace(path, trace)
        state.metadata["trace"] = str(path)
        if guest.error is not None:
            raise guest.error
        state.output = model.ModelOutput.from_content(guest.model, repr(trace))
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def measures() -> Scorer:
    """Return means over the model's seats, nan of what was not measured or was cut short."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the rules know it
        path = state.metadata["trace"]
        trace = read_trace(path)
        if trace.is_halted:
            return Score.unscored(reason="halted", metadata={"trace": path})
        team, agents = trace.config.team, score_game(trace).agents
        guests = [each for each in agents if "model" in team.seat_of(each.agent_id).settings]
        names = ("assigned", "scheduled", "excess_cost", "messages_sent", "excess_vps")
        known = {name: [getattr(each, name) for each in guests] for name in names}
        values = {name: nan if None in of else fmean(of) for name, of in known.items()}
        return Score(value=values, explanation=repr(trace), metadata={"trace": path})

    return score


@task
def calendars(
    suite: str = "varied",
    seats: int | list[int] | None = None,
    partner: str = "imap",
    traces: str = "logs/calbench",
    reflection: bool = False,
) -> Task:
    """Play a suite with the evaluated model.

    Args:
        suite: its name or path.
        seats: of the model, agent ids; all by default.
        partner: who sits in all other seats, a player's name.
        traces: the folder of the games.
        reflection: whether the model is asked after every round what it came to believe.

    Raises:
        ConfigError: the suite or the partner is unknown, or a seat is none.
    """
    scenarios, own = load_suite(suite), [seats] if isinstance(seats, int) else list(seats or ())
    smallest = min(each.num_agents for each in scenarios)
    if not all(0 <= each < smallest for each in own):
        raise ConfigError(f"seats: {own}; agents are 0 to {smallest - 1}")
    names = [each.scenario_id for each in scenarios]
    samples = MemoryDataset([Sample(name, id=name) for name in names])
    plays = playing(suite, own, partner, traces, reflection)
    return Task(dataset=samples, solver=plays, scorer=measures())
