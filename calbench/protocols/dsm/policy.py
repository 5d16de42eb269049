"""DSM as a policy: who says what, and when (paper, appendix D.3).

Where the text does not define the flow [C]:

- Offers and announcements go to the other participants in ascending order, then to the outsiders
  in ascending order.
- The initiator waits for every recipient of its offers without end: it stays silent until all
  plans are scored.
- A preset without exhaustive search (Table 9) announces after a single batch, so one setting,
  ``batches``, expresses both.
- An outsider follows the first agent that sent it proposals, because it cannot know the
  initiator.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import ValidationError

from calbench.domain.actions import PASS, Action, DirectMessage, Turn
from calbench.domain.calendars import Booking, Calendar, Meeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import Channel, Message, PlanDecision, Proposals, Scores
from calbench.domain.observations import CHEAP_TALK, DECISION, VOLUNTARY, Observation
from calbench.files import first_problem
from calbench.protocols.base import First, others, own_meeting
from calbench.protocols.clues import Clue, View
from calbench.protocols.dsm.account import Negotiation, account, budget_before, negotiation
from calbench.protocols.dsm.placing import decide, volunteer
from calbench.protocols.dsm.plans import (
    OwnPlans,
    Plan,
    best_rank,
    joint_feasibility,
    offer_size,
    offers,
    outsiders,
    required,
    visible_moves,
)
from calbench.protocols.dsm.scores import scored
from calbench.protocols.dsm.settings import checked


class Offer(NamedTuple):
    """The initiator's next step: propose this batch, whose first plan has this id."""

    first_id: int
    batch: Sequence[Plan]


class Choice(NamedTuple):
    """The initiator's next step: announce this plan."""

    plan_id: int
    plan: Plan


class Dsm:
    """Score-based negotiation (Farhadi & Jennings 2021, as in appendix D.3 of the paper)."""

    speaks_first: ClassVar[First] = "initiator"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm",)

    def __init__(self, **settings: Any) -> None:
        """Take the settings of :class:`DsmSettings`.

        Raises:
            ValueError: one line that names the setting that does not fit.
        """
        try:
            self._settings = checked(settings)
        except ValidationError as error:
            raise ValueError(first_problem(error)) from error
        self._plans = OwnPlans(self._settings.depth, self._settings.targets)

    @property
    def books_first(self) -> bool:
        """Whether a single offer decides, of the initiator's first slots: about the first."""
        return self._settings.batches == "single"

    @property
    def books_cheapest(self) -> bool:
        """Whether the best sum of scores decides, which is that of the least total cost."""
        return self._settings.batches == "exhaustive"

    @property
    def books_together(self) -> bool:
        """Whether all go on until a plan suits all; a single offer is announced whether or not."""
        return self._settings.batches == "exhaustive"

    def act(self, observation: Observation) -> Turn:
        """Offer, score or announce while talking; afterwards carry out the announced plan."""
        meeting = own_meeting(observation)
        if observation.phase is CHEAP_TALK:
            return self._talk(observation, meeting)
        if observation.phase is DECISION and meeting is not None:
            if meeting.initiator == observation.agent_id:
                return self._carry_out(observation, meeting)
            return _follow(observation, meeting)
        if observation.phase is VOLUNTARY and meeting is None:
            heard = _heard_decision(observation, _proposer(observation))
            return PASS if heard is None else volunteer(observation.calendar, heard.moves)
        return PASS

    def tells(self, message: Message, view: View) -> Iterator[Clue]:
        """Yield what offers, their order and length, scores and choices tell, see :func:`told`."""
        # NumPy is for measuring; who only plays does not wait for it.
        from calbench.protocols.dsm.clues import told

        return told(message, view, self._settings)

    def _talk(self, observation: Observation, meeting: Meeting | None) -> Turn:
        if "dm" not in observation.channels:
            return PASS
        if meeting is None:
            return _answer(observation, _proposer(observation), is_participant=False)
        initiator = meeting.initiator
        if initiator == observation.agent_id:
            return self._lead(observation, meeting)
        return _answer(observation, initiator, is_participant=True)

    def _lead(self, observation: Observation, meeting: Meeting) -> Turn:
        """Offer a batch, wait for its scores, announce a plan."""
        me = observation.agent_id
        if observation.has_said(PlanDecision):
            return PASS
        talk = negotiation(observation.messages, me)
        if not talk.is_answered:
            return PASS
        responders = others(observation, meeting)
        step = self._next_step(observation.calendar, meeting, responders, talk)
        if step is None:
            return PASS
        if isinstance(step, Offer):
            recipients = (*responders, *outsiders(step.batch, meeting))
            return Turn(_proposals(step, recipients))
        recipients = required(step.plan, meeting, responders)
        if not recipients:
            return PASS
        budget = budget_before(observation.earlier, me)
        points = account(talk, step.plan_id, recipients, budget)
        return Turn(_announcements(step, recipients), points)

    def _next_step(
        self,
        calendar: Calendar,
        meeting: Meeting,
        responders: Sequence[AgentId],
        talk: Negotiation,
    ) -> Offer | Choice | None:
        """Return what the initiator does once all its offers are answered.

        Further batches follow until a plan is feasible for all or none is left. Then, or after a
        single batch, the best plan is announced, feasible or not. ``None`` if there is nothing to
        offer, or a score is missing.
        """
        settings = self._settings
        num_offered = talk.num_offered
        # Enough plans to fill the next batch, and to see whether there is one.
        count = num_offered + settings.lmax
        plans = self._plans.first(calendar, count)
        while True:
            if num_offered:
                best = best_rank(plans[:num_offered], meeting, responders, talk.scores)
                if best is None:
                    return None
                is_last = settings.batches == "single" or num_offered >= len(plans)
                if is_last or not best.is_infeasible:
                    return Choice(best.plan_id, plans[best.plan_id])
            untried = plans[num_offered:]
            size = offer_size(untried, joint_feasibility(calendar, len(responders)), settings)
            if size == 0:
                return None
            offer = Offer(num_offered, untried[:size])
            if responders or outsiders(offer.batch, meeting):
                return offer
            # Nobody has to be asked, so the batch counts as answered.
            num_offered += size

    def _carry_out(self, observation: Observation, meeting: Meeting) -> Turn:
        """Perform the initiator's part of its own decision, the whole chain of moves."""
        calendar = observation.calendar
        plan: Plan | None = None
        said = next(observation.said(PlanDecision), None)
        if said is not None:
            if not isinstance(calendar[said.slot], Booking):
                return decide(observation, meeting, said.slot, (), is_initiator=True)
            plan = self._plans.every(calendar)[said.plan_id]
        elif len(meeting.participants) == 1:
            plan = self._unannounced(observation, meeting)
        if plan is None:
            return decide(observation, meeting, None, (), is_initiator=True)
        chain = visible_moves(plan, observation.agent_id)
        return decide(observation, meeting, plan.slot, chain, is_initiator=True)

    def _unannounced(self, observation: Observation, meeting: Meeting) -> Plan | None:
        """Return the choice of an initiator that has no other participant to tell."""
        talk = negotiation(observation.messages, observation.agent_id)
        if not talk.is_answered:
            return None
        step = self._next_step(observation.calendar, meeting, (), talk)
        if not isinstance(step, Choice) or required(step.plan, meeting, ()):
            return None
        return step.plan


def _proposals(offer: Offer, recipients: Sequence[AgentId]) -> tuple[Action, ...]:
    contents = offers(offer.batch, offer.first_id, recipients)
    return tuple(
        [DirectMessage(agent, content) for agent, content in zip(recipients, contents, strict=True)]
    )


def _announcements(choice: Choice, recipients: Sequence[AgentId]) -> tuple[Action, ...]:
    return tuple(
        [
            DirectMessage(
                to=agent,
                content=PlanDecision(
                    plan_id=choice.plan_id,
                    slot=choice.plan.slot,
                    moves=visible_moves(choice.plan, agent) if choice.plan.moves else (),
                ),
            )
            for agent in recipients
        ]
    )


def _answer(observation: Observation, proposer: AgentId | None, *, is_participant: bool) -> Turn:
    """Score the offers heard and not yet answered, one answer to each."""
    if not observation.messages or proposer is None:
        return PASS
    heard: list[Proposals] = []
    answered = 0
    for message in observation.messages:
        if message.sender == proposer:
            if isinstance(message.content, Proposals):
                heard.append(message.content)
        elif message.sender == observation.agent_id and isinstance(message.content, Scores):
            answered += 1
    if answered >= len(heard):
        return PASS
    actions: list[Action] = []
    for offer in heard[answered:]:
        scores = scored(observation.calendar, offer, is_participant=is_participant)
        actions.append(DirectMessage(proposer, scores))
    return Turn(tuple(actions))


def _proposer(observation: Observation) -> AgentId | None:
    """Return the agent that first sent this agent an offer about this meeting."""
    return next((sender for sender, _ in observation.heard(Proposals)), None)


def _heard_decision(observation: Observation, proposer: AgentId | None) -> PlanDecision | None:
    for message in observation.messages:
        if message.sender == proposer and isinstance(message.content, PlanDecision):
            return message.content
    return None


def _follow(observation: Observation, meeting: Meeting) -> Turn:
    """Perform a responder's part of the decision it heard."""
    heard = _heard_decision(observation, meeting.initiator)
    slot, moves = (None, ()) if heard is None else (heard.slot, heard.moves)
    return decide(observation, meeting, slot, moves, is_initiator=False)
