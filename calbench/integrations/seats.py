"""What seats for agents elsewhere share: what they are shown, their tools, their commands.

The tools are those of the authors' protocol for agents elsewhere [R]. What they do is staged, and
judged by the rules when the turn is over.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_args

import orjson
from pydantic import ConfigDict, Field, ValidationError, create_model
from pydantic_core import to_json

from calbench import load_suite, play, types, write_trace
from calbench.errors import CalbenchError, ConfigError
from calbench.types import Phase

MOST_CALLS = 128  # of tools in a turn [R]
MOST_LETTERS = 16_384  # of a text [R]
NUMBER = (Annotated[int, Field(ge=0, lt=2**31)], ...)
WORDS = (Annotated[str, Field(max_length=MOST_LETTERS)], ...)
ACT = reduce(or_, [each for each in get_args(types.Content) if each is not types.Text])
CONTENT = (WORDS[0] | Annotated[ACT, Field(discriminator="kind")], ...)
# e.g. "1000000000000000000"; not "999": no trace holds such a number
LARGE = re.compile(r"\d{19}")
CHANNEL = (Literal["dm", "participant_groupchat", "all_agent_groupchat"], ...)
ITEM = {"item_id": NUMBER, "from_slot": NUMBER, "to_slot": NUMBER, "justification": WORDS}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_observation": {},
    "schedule": {"meeting_id": NUMBER, "slot": NUMBER, "justification": (WORDS[0], "")},
    "reschedule": ITEM,
    "list_peers": {},
    "read_inbox": {},
    "send": {"channel": CHANNEL, "content": CONTENT, "to": (NUMBER[0] | None, None)},
}
STRICT = ConfigDict(strict=True, extra="forbid")
TOOLS = {name: create_model(name, __config__=STRICT, **of) for name, of in ARGUMENTS.items()}
SCHEMAS = {name: model.model_json_schema() for name, model in TOOLS.items()}
"""The arguments of each tool."""

END = "end_turn"
"""The tool that does what was staged."""

READS = ("get_observation", "list_peers", "read_inbox")
ALLOWED = {
    Phase.CHEAP_TALK: (*READS, "send"),
    Phase.VOLUNTARY: (*READS, "reschedule"),
    Phase.DECISION: (*READS, "schedule", "reschedule"),
}
"""The tools of each phase in which an agent does something."""

Data = dict[str, Any]


def seen_data(seen: types.Observation) -> Data:
    """Return an observation as plain data: it, and nothing else, is what a seat is shown."""
    plain = {"labels": dict(seen.labels), "channels": sorted(seen.channels)}
    data: Data = orjson.loads(to_json({**seen._asdict(), **plain}))
    return data


def outcome(code: str, reason: str = "", data: Any = None, resolves: str = "immediate") -> Data:
    """Return what a tool answers; a code that is neither ``ok`` nor ``accepted`` rejects."""
    status = code if code in {"ok", "accepted"} else "rejected"
    return {"status": status, "resolves": resolves, "code": code, "reason": reason, "data": data}


class Desk:
    """A turn of a seat while it lasts: what it sees, and what its tools were called for."""

    def __init__(self, seen: types.Observation) -> None:
        self.seen, self.allowed, self._calls = seen, ALLOWED.get(seen.phase, ()), 0
        self._acts, self._why = list[Any](), list[str]()

    @property
    def turn(self) -> types.Turn:
        """What was staged; why a meeting is placed is private, and only recorded."""
        return types.Turn(tuple(self._acts), "\n".join(self._why) or None)

    def call(self, tool: str, arguments: object) -> Data:
        """Read, or stage an action; return the outcome."""
        self._calls += 1
        if self._calls > MOST_CALLS:
            return outcome("too_many_calls", f"a turn has at most {MOST_CALLS}")
        if tool not in self.allowed:
            return outcome("not_allowed", f"{tool} is not allowed in {self.seen.phase}")
        try:
            given = dict(TOOLS[tool].model_validate_json(to_json(arguments)))
        except ValidationError as error:
            each = error.errors(include_url=False, include_input=False)
            worst = max(each, key=lambda one: len(one["loc"]))  # of what it could be, the nearest
            place = [str(name) for name in worst["loc"] if str(name).replace("_", "").isalnum()]
            return outcome(worst["type"], f"{'.'.join(place)}: {worst['msg']}")
        if tool in READS:
            shown = seen_data(self.seen)
            peers = [agent for agent in self.seen.agent_ids if agent != self.seen.agent_id]
            data = {"get_observation": shown, "list_peers": peers, "read_inbox": shown["inbox"]}
            return outcome("ok", "", data[tool], "read_only")
        if tool == "send":
            return self._send(given["channel"], given["content"], given["to"])
        if tool == "schedule":
            self._why += filter(None, [given.pop("justification")])
        self._acts.append((types.Schedule if tool == "schedule" else types.Reschedule)(**given))
        return outcome("accepted", resolves="end_of_phase")

    def _send(self, channel: str, said: Any, to: int | None) -> Data:
        content = types.Text(text=said) if isinstance(said, str) else said
        act = "" if isinstance(said, str) else to_json(said).decode()
        if len(act) > MOST_LETTERS or LARGE.search(act):
            return outcome("too_large", f"a speech act has at most {MOST_LETTERS} letters as JSON")
        if (channel == "dm") != (to is not None):
            return outcome("bad_recipient", "a dm names one agent in `to`, other channels none")
        if to is not None:
            self._acts.append(types.DirectMessage(to=types.AgentId(to), content=content))
        elif channel == "participant_groupchat":
            self._acts.append(types.ParticipantMessage(content=content))
        else:
            self._acts.append(types.BroadcastMessage(content=content))
        return outcome("accepted", resolves="end_of_turn")


class Seat:
    """One seat of a game: its turn, and the trace at the end."""

    def __init__(
        self,
        name: str,
        scenario: types.Scenario,
        partners: Mapping[int, types.Player],
        **rules: Any,
    ) -> None:
        """Begin a game; arguments beside the name of who sits there are those of ``play``.

        Raises:
            ConfigError: the partners do not leave one seat.
        """
        if len({*range(scenario.num_agents)} - {*partners}) != 1:
            raise ConfigError(
                f"leave one of the seats 0 to {scenario.num_agents - 1} free of partners"
            )
        self.partners = (*partners.values(),)
        rules = {"players": name, "team": name, **rules}
        self._game = play(scenario, seats=partners, **rules)
        self.trace: types.Trace | None = None
        self.desk = Desk(next(iter(next(self._game).values())))

    @property
    def seen(self) -> types.Observation:
        """What the seat saw last."""
        return self.desk.seen

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool; return its outcome, or at the end of a turn what the seat sees next."""
        if tool != END and self.trace is None:
            return self.desk.call(tool, arguments)
        if tool != END:
            return outcome("late", "the game is over")
        if self.trace is None:
            try:
                asked = self._game.send({self.seen.agent_id: self.desk.turn})
                self.desk = Desk(asked[self.seen.agent_id])
            except StopIteration as end:
                self.trace = end.value
        return self.shown()

    def shown(self) -> dict[str, Any]:
        """Return what the seat saw last, and whether the game is over."""
        return {"is_over": self.trace is not None, **seen_data(self.seen)}


def command(module: str, out: str) -> argparse.ArgumentParser:
    """Return the command of a module that plays one game, with what all of them take."""
    parser = argparse.ArgumentParser(prog=f"python -m calbench.integrations.{module}")
    parser.add_argument("--suite", default="varied", help="name or path")
    parser.add_argument("--scenario", type=int, default=0, help="its place in the suite, from 0")
    parser.add_argument("--partner", default="imap", help="who sits in all other seats")
    parser.add_argument("--out", default=out, help="the trace, once the game is over")
    return parser


def run(
    parser: argparse.ArgumentParser,
    played: Callable[[argparse.Namespace, types.Scenario], types.Trace | None],
) -> int:
    """Play and write the trace, if the game came to an end; return the exit status.

    It is 0, 1 if ``played`` added to ``faults`` of what was chosen, 2 after a mistake, 3 if
    the game was cut short, and 130 after Ctrl-C.
    """
    chosen = parser.parse_args(namespace=argparse.Namespace(faults=[]))
    try:
        suite = load_suite(chosen.suite)
        if not 0 <= chosen.scenario < len(suite):
            raise ConfigError(f"--scenario {chosen.scenario}: known are 0 to {len(suite) - 1}")
        trace = played(chosen, suite[chosen.scenario])
        if trace is not None:
            write_trace(chosen.out, trace)
    except CalbenchError as error:
        parser.exit(2, f"{error}\n")
    except KeyboardInterrupt:
        return 130
    halt = trace and trace.halt
    for line in [*chosen.faults, *([f"cut short: {halt.detail}"] if halt else [])]:
        print(line, file=sys.stderr)
    return 1 if chosen.faults else 3 if halt else 0
