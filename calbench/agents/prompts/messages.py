"""The messages of a game, built from templates (paper, appendix A.2, A.3, Table 4)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, NamedTuple

from calbench.agents.prompts.folder import own_templates
from calbench.agents.prompts.rendering import (
    belief_lengths,
    belief_shape,
    calendar_lines,
    free_slots,
    meeting_line,
    message_lines,
    movable_items,
    numbers,
    printable,
    refusal_lines,
)
from calbench.agents.prompts.templates import Templates, principals, read_templates
from calbench.domain.calendars import Errand, Meeting
from calbench.domain.canary import LINE
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.observations import (
    CHEAP_TALK,
    DECISION,
    REFLECTION,
    VOLUNTARY,
    Briefing,
    Observation,
)
from calbench.domain.replies import Unreadable
from calbench.errors import ConfigError

EXAMPLE_ITEM = ErrandId(100)
"""Number of the item in an example [C]: errands are numbered from 101."""


class Example(NamedTuple):
    """Slots, recipient and meeting that the examples for one agent name.

    Attributes:
        first: a slot.
        second: another one; the same if a calendar has one slot only.
        recipient: the next agent; absent if there is no other.
        meeting_id: of the last meeting of the game.
    """

    first: Slot
    second: Slot
    recipient: AgentId | None
    meeting_id: MeetingId


def example_of(briefing: Briefing) -> Example:
    """Return what the examples for an agent name: slots, agents and meetings that its game has [C].

    Of S slots and n agents the k-th agent reads of slot ``k S // n`` and of the one after it,
    with the last followed by the first. This follows from the shape of the game and the agent's
    number alone, so it tells nothing of any calendar. The slots of two agents differ as long as
    there are enough of them: agents that copy an example instead of the slot that was agreed do
    not meet by it.
    """
    ids = briefing.agent_ids
    place = ids.index(briefing.agent_id)
    first = place * briefing.num_slots // len(ids)
    after = ids[(place + 1) % len(ids)]
    return Example(
        Slot(first),
        Slot((first + 1) % briefing.num_slots),
        None if after == briefing.agent_id else after,
        MeetingId(briefing.num_meetings),
    )


PROMPT_VERSION = "v1"
"""The version that new games are played with. A released version never changes."""

RECIPIENT_OF_V1 = 8
"""Of the direct message in the example of ``v1``, whatever agents a game has [C]: that example is
from another game, as it says."""


@cache
def load_prompts(version: str, digest: str | None = None) -> "Prompts":
    """Return the prompts of one version.

    Args:
        version: its name.
        digest: of the templates, if they are those of a folder that this process uses, whatever
            that is called: folders are renamed.

    Raises:
        ConfigError: listing the known versions, if it is not one of them.
    """
    if digest is None:
        return Prompts(read_templates(version))
    found = own_templates(digest)
    if found is None:
        raise ConfigError(
            f"prompts {printable(version)}: stand in a folder, with the digest {digest[:12]}...; "
            "name it, as prompts.path=FOLDER or --prompts FOLDER"
        )
    return Prompts(found._replace(version=version))


TOGETHER: Final = (
    ". Valid batches are held back; they are applied together, and only if every participant "
    "ends with one and no batch, rejected ones included, moves a blocked item of its author"
)
"""The rule of ``limits.commit=team``, behind the number of retries; no template has it [R]."""


def _message_cap(briefing: Briefing) -> str:
    """Return how many messages may be sent in a round, by all agents and by each."""
    cap, own = briefing.message_cap, briefing.agent_cap
    shown = "no limit" if cap is None else f"at most {cap}"
    return shown if own is None else f"{shown}; by each agent: at most {own}"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Builds each message from an observation and nothing else.

    Rounds count from 1 in prompts [C], as meetings do.
    """

    templates: Templates

    @property
    def edition(self) -> int:
        """How replies are asked for and read: as under ``v1``, ``v2`` or ``v3``.

        A folder's templates are of the third if their reflection asks for chances, else of the
        second, whatever a trace calls them.
        """
        if self.templates.folder is None and self.templates.version == "v1":
            return 1
        return 3 if self.templates.takes("reflection", "chances") else 2

    def system(self, briefing: Briefing, variant_text: str | None = None) -> str:
        """Return the system prompt of nine sections; canary and variant follow word for word."""
        example, users = example_of(briefing), principals()
        base = self.templates.fill(
            "system",
            {
                "schedule_example": partial(
                    self.templates.fill,
                    "parts/schedule_example",
                    first=example.first,
                    meeting_id=example.meeting_id,
                ),
                "move_example": partial(self._move_example, example),
                # By the agent's number alone [C]: it tells nothing of a scenario.
                "principal": lambda: users[briefing.agent_id % len(users)],
            },
            agent_id=briefing.agent_id,
            agent_ids=numbers(briefing.agent_ids),
            num_slots=briefing.num_slots,
            last_slot=briefing.num_slots - 1,
            num_meetings=briefing.num_meetings,
            max_turns=briefing.max_turns_per_round,
            decision_retries=f"{briefing.decision_retries}"
            + (TOGETHER if briefing.commits_together else ""),
            message_cap=_message_cap(briefing),
            channels=self._channels(briefing),
            talk_example=self._talk_example(briefing, example),
        )
        told = (base, LINE if briefing.canary else None, variant_text)
        return "\n\n".join(part for part in told if part is not None)

    def message(
        self,
        observation: Observation,
        *,
        is_first: bool = False,
        unreadable: Unreadable | None = None,
    ) -> str:
        """Return the message for the phase of the observation.

        Args:
            observation: what the agent may know.
            is_first: whether the agent is asked for the first time in this round.
            unreadable: why its previous reply could not be read.
        """
        phase = observation.phase
        if phase is REFLECTION:
            return self._reflection(observation)
        notices = self._notices(observation, unreadable)
        if phase is CHEAP_TALK:
            return self._talk(observation, notices, is_first=is_first)
        if phase is DECISION and observation.attempt:
            return self._retry(observation, notices)
        return self._decide("voluntary" if phase is VOLUNTARY else "decision", observation, notices)

    def _talk(self, observation: Observation, notices: str, *, is_first: bool) -> str:
        """Return the round start, an outsider's first message, or a later turn's message."""
        news = {
            "round": observation.round_index + 1,
            "budget": self._budget(observation),
            "notices": notices,
            "last_turn": "" if observation.turns_left else self.templates.fill("parts/last_turn"),
        }
        if not is_first:
            inbox = self._inbox(observation) or self.templates.fill("parts/empty_inbox")
            return self.templates.fill("turn", inbox=inbox, **news)
        takes_part = isinstance(observation.meeting, Meeting)
        return self.templates.fill(
            "round_start" if takes_part else "outsider",
            _options(observation),
            meeting=meeting_line(observation.meeting, observation.labels),
            calendar=calendar_lines(observation.calendar, observation.labels),
            cost=observation.incurred_shown_cost,
            inbox=self._inbox(observation),
            **news,
        )

    def _decide(self, name: str, observation: Observation, notices: str) -> str:
        """Return the question for a participant's batch, or for an outsider's moves."""
        worked = {"worked": partial(self._worked, observation)}
        return self.templates.fill(
            name,
            {**_options(observation), **worked},
            round=observation.round_index + 1,
            meeting=meeting_line(observation.meeting, observation.labels),
            calendar=calendar_lines(observation.calendar, observation.labels),
            notices=notices,
        )

    def _retry(self, observation: Observation, notices: str) -> str:
        """Return the question after a rejected batch, with the exact conflict."""
        return self.templates.fill(
            "retry",
            _options(observation),
            round=observation.round_index + 1,
            attempt=observation.attempt,
            retries=observation.decision_retries,
            conflict=printable(observation.conflict or "not given"),
            meeting_id=observation.meeting.meeting_id,
            notices=notices,
        )

    def _reflection(self, observation: Observation) -> str:
        """Return the measurement after a round (appendix F.3)."""
        others = [agent for agent in observation.agent_ids if agent != observation.agent_id]
        num_slots = len(observation.calendar)
        return self.templates.fill(
            "reflection",
            {
                "shape": partial(belief_shape, others, num_slots),
                "lengths": partial(belief_lengths, others, num_slots),
                "chances": partial(belief_lengths, others, num_slots),
            },
            round=observation.round_index + 1,
            others=numbers(others),
            num_slots=num_slots,
            last_slot=num_slots - 1,
        )

    def _budget(self, observation: Observation) -> str:
        turn = observation.turn_index + 1
        left = observation.turns_left
        return self.templates.fill("parts/budget", turn=turn, turns=turn + left, left=left)

    def _inbox(self, observation: Observation) -> str:
        if not observation.inbox:
            return ""
        lines = message_lines(observation.inbox, observation.meeting.meeting_id)
        return self.templates.fill("parts/inbox", messages=lines)

    def _notices(self, observation: Observation, unreadable: Unreadable | None) -> str:
        parts = []
        if unreadable is not None:
            problem = unreadable.problem.replace("_", " ")
            detail = printable(unreadable.detail)
            parts.append(self.templates.fill("parts/unreadable", problem=problem, detail=detail))
        if observation.refusals:
            lines = refusal_lines(observation.refusals)
            parts.append(self.templates.fill("parts/refusals", refusals=lines))
        return "\n\n".join(parts)

    def _channels(self, briefing: Briefing) -> str:
        is_open = _open_channels(briefing)
        if not is_open:
            return self.templates.fill("parts/no_channel")
        lines = [self.templates.fill(f"parts/tool_{channel}") for channel in is_open]
        closed = [f"`{channel}`" for channel in CHANNELS if channel not in is_open]
        if closed and "parts/closed_channels" in self.templates.text_by_name:
            names = ", ".join(closed)
            lines.append("\n" + self.templates.fill("parts/closed_channels", channels=names))
        return "\n".join(lines)

    def _talk_example(self, briefing: Briefing, example: Example) -> str:
        is_open = _open_channels(briefing)
        is_alone = example.recipient is None and self.edition > 1  # v1 never changes
        if not is_open or is_alone:
            return self.templates.fill("parts/talk_example_none")
        action: dict[str, object] = {"type": is_open[0]}
        if is_open[0] == "dm":
            action["to"] = RECIPIENT_OF_V1 if self.edition == 1 else example.recipient
        slots = {"first": lambda: example.first, "second": lambda: example.second}
        action["content"] = self.templates.fill("parts/talk_example_text", slots)
        return self.templates.fill("parts/talk_example", action=json.dumps(action))

    def _worked(self, observation: Observation) -> str:
        """Return how a decision is made on the agent's own calendar [C], with a move if one can be.

        In words: of a batch in JSON, which can be carried out, a model of 1.5 billion parameters
        copied 13 of 13, whatever was agreed. Of the slots that it could be about, agents take
        another each, by their number alone, so that it does not lead those together who copy it.
        """
        calendar, place = observation.calendar, observation.agent_ids.index(observation.agent_id)
        free = [slot for slot, item in enumerate(calendar) if item is None]
        # A placed meeting would break if one agent alone moved it.
        moves = [
            (slot, item)
            for slot, item in enumerate(calendar)
            if isinstance(item, Errand) and item.is_movable
        ]
        if not free:
            return ""
        to = free[place % len(free)]
        if not moves:
            return self.templates.fill("parts/worked_free", slot=to)
        slot, item = moves[place % len(moves)]
        return self.templates.fill("parts/worked_move", slot=slot, item_id=item.item_id, to=to)

    def _move_example(self, example: Example) -> str:
        if example.first == example.second:
            return ""
        return self.templates.fill(
            "parts/move_example",
            first=example.first,
            second=example.second,
            item_id=EXAMPLE_ITEM,
            meeting_id=example.meeting_id,
        )


def _options(observation: Observation) -> Mapping[str, Callable[[], object]]:
    """Return what a batch can be made of, for templates that show it."""
    return {
        "free": partial(free_slots, observation.calendar),
        "movable": partial(movable_items, observation.calendar),
        "meeting_id": lambda: observation.meeting.meeting_id,
    }


def _open_channels(briefing: Briefing) -> list[Channel]:
    return [channel for channel in CHANNELS if channel in briefing.channels]
