"""A seat for a person in a terminal, and what its commands and a page's forms do."""

import cmd
from collections.abc import Mapping
from typing import Any

from calbench import types
from calbench.integrations.acts import FORMS, act_of, number, own_costs, words
from calbench.integrations.seats import END, Desk, Seat

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
            print(f"{slot:4}", _plain({"free": not item, **(item or {}), "label": label}))
        for said in seen["messages"]:
            print(f"agent {said['sender']}:", _plain(words(said["content"])))
        if self.seat.understood:
            print("These partners read no words, but `tell WHOM KIND VALUES`, of these kinds:")
        for kind in self.seat.understood:
            print(f"  {kind}", *map(str.upper, FORMS[kind][1]), f"  ({FORMS[kind][0]})")
        print(*["your costs:", own_costs(self.seat.seen)] * ("costs" in self.seat.understood))
        print(*[f"rejected: {_plain(seen['conflict'])}"] * bool(seen["conflict"]))

    def _stage(self, tool: str, **form: str) -> None:
        said = staged(self.seat, tool, form)
        print(f"not done: {_plain(said['reason'] or said['code'])}" if said else "staged")

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


def _plain(data: Any) -> str:
    """Return what others may have written, without what steers a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(data))
