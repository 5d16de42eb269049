"""A user's file: players, a protocol with evidence and likelihood, and every public function.

A test has mypy read it with the installed package alone; nothing imports it. pyright, which is in
no lock, finds nothing in its strict mode: `pip install pyright`, `pyright tests/api/user_file.py`.
"""

import asyncio
from collections.abc import Iterator, Sequence

import calbench
from calbench import (
    compare,
    evaluate,
    load_suite,
    play,
    play_game,
    plot_intervals,
    plot_plane,
    read_results,
    read_run,
    read_trace,
    rescore,
    score_game,
    verify,
    write_trace,
)
from calbench.errors import CalbenchError, ConfigError, UnavailableError
from calbench.types import (
    PASS,
    AgentId,
    CallSite,
    Completion,
    DirectMessage,
    Meeting,
    Message,
    MessageSent,
    Observation,
    Own,
    Phase,
    Player,
    Policy,
    Reply,
    Results,
    RoundTalk,
    Scenario,
    Schedule,
    Slot,
    Told,
    Trace,
    Turn,
    Update,
    Usage,
    View,
)


def shy(messages: Sequence[dict[str, str]]) -> str:
    """A function player."""
    return '{"thinking": "", "actions": []}' if messages else ""


async def counted(messages: list[dict[str, str]], site: CallSite) -> Completion:
    """One that says its tokens."""
    await asyncio.sleep(0)
    usage = Usage(input_tokens=len(messages), cached_tokens=0, output_tokens=site.agent_id)
    return Completion(text='{"thinking": "", "actions": []}', usage=usage)


class Waits:
    """A class player."""

    name = "waits"

    async def act(self, observation: Observation) -> Turn:
        await asyncio.sleep(0)
        if observation.phase is Phase.DECISION and isinstance(observation.meeting, Meeting):
            free = [slot for slot, cell in enumerate(observation.calendar) if cell is None]
            return (
                Turn((Schedule(observation.meeting.meeting_id, Slot(free[0])),)) if free else PASS
            )
        return PASS


class Bid:
    """A protocol that bids its first free slot; ``tells`` says which calendars would."""

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def act(self, observation: Observation) -> Turn:
        meeting, calendar = observation.meeting, observation.calendar
        if not isinstance(meeting, Meeting):
            return PASS
        free = [slot for slot in range(self.first, len(calendar)) if calendar[slot] is None]
        if observation.phase is Phase.CHEAP_TALK and free and not observation.has_said(Own):
            bid = Own(name="bid", values=(free[0],))
            others = [agent for agent in meeting.participants if agent != observation.agent_id]
            return Turn(tuple(DirectMessage(agent, bid) for agent in others))
        if observation.phase is Phase.DECISION:
            bids = [bid_slot(said) for said in observation.said(Own)]
            bids += [bid_slot(heard) for _, heard in observation.heard(Own)]
            if bids and max(bids) in free:
                return Turn((Schedule(meeting.meeting_id, max(bids)),))
        return PASS

    def tells(self, message: Message, view: View) -> Iterator[Told]:
        if isinstance(message.content, Own) and message.sender is not None:
            slot = bid_slot(message.content)
            not_free = tuple(float(cell != 0) for cell in view.cells)
            before = {Slot(each): not_free for each in range(self.first, min(slot, view.num_slots))}
            yield Told(message.sender, {slot: view.equal(0), **before})


def bid_slot(bid: Own) -> Slot:
    (slot,) = bid.values
    return Slot(-1 if slot is None else slot)


def bid_evidence(bid: Own, message: MessageSent, talk: RoundTalk) -> Iterator[Update]:
    if message.from_agent in talk.participants:
        yield Update(message.from_agent, message.to_agents, ((bid_slot(bid), 1.0),), 1.0)


policy: Policy = Bid()


def by_hand(scenario: Scenario) -> Trace:
    game = play(
        scenario, players="mine", seats={1: "imap", 2: Waits}, limits={"max_turns_per_round": 3}
    )
    try:
        asked = next(game)
        while True:
            asked = game.send({agent: Turn() for agent in asked})
    except StopIteration as end:
        trace: Trace = end.value
        return trace


def main() -> None:
    scenario = load_suite("varied")[0]
    team: Sequence[Player] = [shy, counted, Waits(), Bid, "imap"]
    trace = play_game(scenario, team)
    play_game(scenario, "imap")
    play_game(
        scenario,
        {0: shy, 1: "imap", 2: Bid(), 3: Bid, 4: "silent"},
        limits={"max_turns_per_round": 2},
    )
    mine: Results = evaluate(Bid, "varied", subset=2, jobs=2)
    evaluate(shy, [scenario], out="mine")
    evaluate("imap", "varied", subset=["varied-000"])
    evaluate(team, [scenario])
    evaluate([shy, shy, "imap", "imap", "imap"], [scenario])
    print(compare(mine, "published:varied", a="Bid", b="imap").to_frame()["difference"])
    figures = [plot_plane(mine), plot_intervals(mine, "excess_cost", setting="varied")]
    print(len(figures))
    score = score_game(trace)
    print(score.num_scheduled, [agent.excess_cost for agent in score.agents])
    write_trace("game.json", trace)
    print(verify(read_trace("game.json")).turns_not_checked, verify("game.json"))
    print(read_results().table("leaderboard").columns, read_run("mine").messages())
    print(
        rescore("mine", out="again").to_frame(),
        calbench.suites(),
        calbench.teams(),
        calbench.players(),
    )
    try:
        play_game(scenario, "imapp")
    except ConfigError as error:
        print(error)
    except CalbenchError as error:
        raise UnavailableError("provider_fault", str(error)) from error
    print(AgentId(0), Reply(PASS), by_hand(scenario).metrics)
