"""A seat for a person, in a browser or a terminal: ``python -m calbench.integrations.person``.

A page or a terminal shows what the seat sees and stages what its person does, as for assistants.
Nothing is kept but the game: no name, no time, no address.
"""

import cmd
import sys
import threading
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import jinja2

from calbench import load_suite, types, write_trace
from calbench.errors import ConfigError
from calbench.integrations import seats
from calbench.integrations.loopback import Answer, RefusedError, Request, Server
from calbench.integrations.seats import END, Desk, Seat

FAREWELL_S = 5.0  # for which a browser may fetch the last page [C]
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Content-Type": "text/html; charset=utf-8",
    "Referrer-Policy": "same-origin",  # a browser that sends none says of forms that none is ours
}


# --- speech acts of typed protocols: partners that play by one read no words

FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cost_request": ("Ask what each slot costs", ()),
    "costs": ("Tell what each slot costs you (- if it cannot be)", ("costs",)),
    "decision": ("Announce the slot", ("slot",)),
    "propose": ("Propose a slot", ("slot",)),
    "reply": ("Answer a proposal", ("slot", "status")),
    "confirm": ("Confirm the slot", ("slot",)),
    "fail": ("Say that no slot is left", ()),
    "reschedule_request": ("Ask to move an old meeting", ("old_meeting_id", "slot")),
    "propose_reschedule": ("Propose its new slot", ("old_meeting_id", "slot", "target")),
    "reschedule_reply": ("Answer that", ("old_meeting_id", "target", "status")),
    "confirm_reschedule": ("Confirm its new slot", ("old_meeting_id", "target")),
    "fail_reschedule": ("Say that it stays", ("old_meeting_id",)),
    "proposals": ("Offer slots", ("plans",)),
    "scores": ("Score each plan offered, 0 (impossible) to 11", ("scores",)),
    "plan_decision": ("Announce a plan", ("plan_id", "slot")),
}
"""What a kind of speech act says, and what one fills in; the rest follows."""

LISTS = ("costs", "plans", "scores")  # of numbers, one for each
KINDS = {"imap": slice(0, 3), "tell-all": slice(1, 2), "sd-map": slice(3, 12), "dsm": slice(12, 15)}
"""Which of them a partner understands, by how its name begins."""


def understood(partners: Iterable[object]) -> tuple[str, ...]:
    """Return the kinds of speech acts that some of these partners understand."""
    names = {str(name) for name in partners}
    ours = [KINDS[each] for each in KINDS if any(name.startswith(each) for name in names)]
    return tuple(dict.fromkeys(kind for each in ours for kind in [*FORMS][each]))


def act_of(kind: str, given: Mapping[str, str], seen: types.Observation) -> dict[str, Any]:
    """Return a speech act as data, from what one filled in; what does not fit is in it as it is.

    Args:
        kind: of ``FORMS``.
        given: by the names there.
        seen: what the person sees: slots are those of its calendar, scores those of the last offer.
    """
    fields = FORMS[kind][1] if kind in FORMS else ()
    data = {name: _read(given.get(name, ""), is_list=name in LISTS) for name in fields}
    said = [_plain(message.content) for message in seen.messages]
    offers = [content["plans"] for content in said if content["kind"] == "proposals"]
    if kind in {"cost_request", "costs"}:
        data["slots"] = [*range(len(seen.calendar))]
    if kind == "scores":
        data["plan_ids"] = [plan["plan_id"] for plan in (offers or [[]])[-1]]
    if kind == "proposals":
        more: dict[str, list[Any]] = {"moves": [], "vacated": []}
        plans = enumerate(data["plans"], sum(map(len, offers)))
        data["plans"] = [{"plan_id": number, "slot": slot, **more} for number, slot in plans]
    if kind == "plan_decision":
        data["moves"] = []
    return {"kind": kind, **data}


def number(text: str) -> int | str:
    """Return what a field says; what is no number stays as it is, and is refused with its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text  # fits all that a tool takes


def _read(text: str, *, is_list: bool) -> Any:
    each = [None if part == "-" else number(part) for part in text.replace(",", " ").split()]
    return each if is_list else number(text)


def _plain(content: Any) -> dict[str, Any]:
    return asdict(content) if is_dataclass(content) else dict(content)  # type: ignore[arg-type]


def words(content: Any) -> str:
    """Return what is said as a line: its text, or the kind of a speech act with its values."""
    said = _plain(content)
    kind = said.pop("kind")
    if kind == "costs":
        pairs = zip(said["slots"], said["costs"], strict=False)
        each = [f"{slot}: {'-' if cost is None else cost}" for slot, cost in pairs]
        return f"costs of slots {', '.join(each)}"
    return str(said["text"]) if kind == "text" else " ".join([kind, *map(_pair, said.items())])


def _pair(pair: tuple[str, Any]) -> str:
    name, value = pair
    if name == "plans":
        return ", ".join(f"{plan['plan_id']} in slot {plan['slot']}" for plan in value)
    shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return f"{name.replace('_', ' ')} {shown}"


def own_costs(seen: types.Observation) -> str:
    """Return what giving each slot to a meeting would cost, as one may tell it or not."""
    is_full = None not in seen.calendar  # then nothing has a place to go
    costs = [0 if item is None else item.local_cost for item in seen.calendar]
    return " ".join("-" if is_full or cost is None else str(cost) for cost in costs)


# --- the seat, in a browser or a terminal

NUMBERS = ("to", "meeting_id", "slot", "item_id", "from_slot", "to_slot")  # fields of forms


def staged(seat: Seat, tool: str, form: Mapping[str, str]) -> Any:
    """Call a tool with the fields of a form; return its outcome if that was rejected.

    The tool ``again`` takes back what was staged, and ``tell`` sends a speech act.
    """
    if tool == "again":
        seat.desk = Desk(seat.seen)
        return None
    given: dict[str, Any] = {name: number(v) if name in NUMBERS else v for name, v in form.items()}
    if tool == "tell":
        act = act_of(form.get("kind", ""), form, seat.seen)
        tool, given = "send", {"content": act, "whom": form.get("whom", "")}
    if tool == "send":
        whom = number(form.get("whom", ""))
        given |= {"channel": whom} if isinstance(whom, str) else {"channel": "dm", "to": whom}
        given.pop("whom", None)
    if tool == "reschedule":
        item, _, start = str(given.pop("item", "")).partition("@")
        given |= {"item_id": number(item), "from_slot": number(start), "justification": ""}
    outcome = seat.call(tool, given)
    return outcome if outcome.get("status") == "rejected" else None


def page_of(seat: Seat, said: Mapping[str, Any] | None = None) -> str:
    """Return the page of a seat: what it sees, what it has staged, and forms for the rest.

    Args:
        seat: whose turn it is, or whose game is over.
        said: the outcome of the last call, if it was rejected.
    """
    text = Path(__file__).with_name("person.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True)
    environment.filters["words"] = words
    desk = seat.desk
    more: dict[str, Any] = {"phase": seat.seen.phase.name, "end": END, "said": said}
    more |= {"forms": {kind: FORMS[kind] for kind in understood(seat.partners)}, "lists": LISTS}
    more |= {"costs": own_costs(seat.seen), "allowed": desk.allowed, "turn": desk.turn}
    return environment.from_string(text).render(seen=seat.shown(), **more)


class Page(Server):
    """Serves one seat to whoever knows its address."""

    def __init__(self, seat: Seat) -> None:
        self.seat, self._said, self._lock = seat, None, threading.Lock()
        self._is_over, self._is_told = threading.Event(), threading.Event()
        super().__init__(self.answer)

    def play(self) -> types.Trace | None:
        """Say where the page is, and wait until the game is over."""
        print(f"open {self.address}", flush=True)
        self._is_over.wait()
        return self.seat.trace

    def leave(self) -> None:
        """Show the last page, if somebody still waits for it, and listen no longer."""
        self._is_told.wait(FAREWELL_S)
        self.close()

    def answer(self, asked: Request) -> Answer:
        """Answer with the page, or do what a form says and send the browser back to it."""
        if asked.path:
            raise RefusedError(404, "nothing is here")
        with self._lock:
            if asked.is_form:
                form = dict(parse_qsl(asked.body.decode(errors="replace")))
                self._said = staged(self.seat, form.pop("tool", ""), form)
                is_over, answer = self._is_over, Answer(303, headers={"Location": self.place})
            else:
                page, self._said = page_of(self.seat, self._said), None
                is_over, answer = self._is_told, Answer(200, page.encode(), HEADERS)
            if self.seat.trace is not None:
                is_over.set()
            return answer


class Terminal(cmd.Cmd):
    """The same seat in a terminal; nothing is done before ``end``."""

    prompt = "> "

    def __init__(self, seat: Seat) -> None:
        super().__init__()
        self.seat = seat
        self.do_look()

    def do_look(self, _: str = "") -> None:
        """Show what you see."""
        seen = self.seat.shown()
        print(f"agent {seen['agent_id']}, {seen['phase']}, meeting {seen['meeting']}")
        for slot, item in enumerate(seen["calendar"]):
            label = item and seen["labels"].get(str(item["item_id"]), "")
            print(f"{slot:4}", _printed({"free": not item, **(item or {}), "label": label}))
        for said in seen["messages"]:
            print(f"agent {said['sender']}:", _printed(words(said["content"])))
        kinds = understood(self.seat.partners)
        if kinds:
            print("These partners read no words, but `tell WHOM KIND VALUES`, of these kinds:")
        for kind in kinds:
            print(f"  {kind}", *map(str.upper, FORMS[kind][1]), f"  ({FORMS[kind][0]})")
        print(*["your costs:", own_costs(self.seat.seen)] * ("costs" in kinds))
        print(*[f"rejected: {_printed(seen['conflict'])}"] * bool(seen["conflict"]))

    def _stage(self, tool: str, **form: str) -> None:
        said = staged(self.seat, tool, form)
        print(f"not done: {_printed(said['reason'] or said['code'])}" if said else "staged")

    def do_say(self, line: str) -> None:
        """Say it to all who take part: say TEXT."""
        self._stage("send", whom="participant_groupchat", content=line)

    def do_all(self, line: str) -> None:
        """Say it to all agents: all TEXT."""
        self._stage("send", whom="all_agent_groupchat", content=line)

    def do_dm(self, line: str) -> None:
        """Say it to agent 2 alone: dm 2 TEXT."""
        whom, _, content = line.partition(" ")
        self._stage("send", whom=whom, content=content)

    def do_tell(self, line: str) -> None:
        """Tell all (or agent 2) what a typed protocol reads: tell all decision 9."""
        whom, kind, *values = [*line.split(maxsplit=2), "", ""][:3]
        fields = FORMS[kind][1] if kind in FORMS else ()
        parts = values[0].split(maxsplit=max(0, len(fields) - 1))
        whom = "participant_groupchat" if whom == "all" else whom
        self._stage("tell", kind=kind, whom=whom, **dict(zip(fields, parts, strict=False)))

    def do_move(self, line: str) -> None:
        """Move what is in slot 3 to slot 7: move 3 7."""
        start, _, to = line.partition(" ")
        calendar = self.seat.shown()["calendar"]
        items = {str(slot): item["item_id"] for slot, item in enumerate(calendar) if item}
        self._stage("reschedule", item=f"{items.get(start, 0)}@{start}", to_slot=to)

    def do_book(self, line: str) -> None:
        """Book this meeting in slot 7: book 7."""
        self._stage("schedule", meeting_id=str(self.seat.seen.meeting.meeting_id), slot=line)

    def do_again(self, _: str) -> None:
        """Take back what you staged."""
        self._stage("again")

    def do_end(self, _: str) -> bool:
        """Do what you staged, and show what comes next."""
        self.seat.call(END, {})
        if self.seat.trace is None:
            self.do_look()
        return self.seat.trace is not None

    def do_EOF(self, _: str) -> bool:  # noqa: N802 - its name there
        """Leave; the game is not kept."""
        return True

    def play(self) -> types.Trace | None:
        """Ask until the game is over."""
        self.cmdloop("Type `help` for what you can do.")
        return self.seat.trace


def _printed(data: Any) -> str:
    """Return what others may have written, without what steers a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(data))


def _played(chosen: Namespace, _first: types.Scenario) -> None:
    """Play from this scenario on as many games as were asked for; those in ``out`` are kept."""
    if chosen.games < 1:
        raise ConfigError("--games: play at least one")
    for each in load_suite(chosen.suite)[chosen.scenario :][: chosen.games]:
        path = Path(chosen.out, f"{each.scenario_id}-{chosen.seat}.json")
        if path.exists():
            continue
        others = {*range(each.num_agents)} - {chosen.seat}
        seat = Seat("person", each, dict.fromkeys(others, chosen.partner), uses_language=True)
        place: Page | Terminal = Terminal(seat) if chosen.terminal else Page(seat)
        trace = place.play()
        if trace is None:  # the person left
            return
        write_trace(path, trace)
        if isinstance(place, Page):  # nobody need come back for the game to be kept
            place.leave()


def main() -> int:
    """Serve games to a person, and write their traces into a folder."""
    parser = seats.command("person", "person")
    parser.set_defaults(partner="candid")
    parser.add_argument("--seat", type=int, default=0, help="of the person, from 0")
    parser.add_argument("--games", type=int, default=1, help="scenarios, one after another")
    parser.add_argument("--terminal", action="store_true", help="here, instead of a page")
    return seats.run(parser, _played)


if __name__ == "__main__":
    sys.exit(main())
