"""The recipes of CONTRIBUTING as edits of files: one example of each."""

from pathlib import Path

Edit = tuple[str, str, str]
"""File, what is there, and what takes its place; nothing is there: a new file."""

MEASURE: tuple[Edit, ...] = (
    (
        "calbench/metrics/moves.py",
        "",
        '''"""What agents moved."""

from collections.abc import Iterable

from calbench.domain.actions import Reschedule
from calbench.traces.events import BatchApplied, Event


def items_moved_by_agent(events: Iterable[Event], num_agents: int) -> tuple[int, ...]:
    """Return how many moves of each agent were applied."""
    counts = [0] * num_agents
    for event in events:
        if isinstance(event, BatchApplied):
            counts[event.agent_id] += sum(isinstance(a, Reschedule) for a in event.actions)
    return tuple(counts)
''',
    ),
    (
        "calbench/metrics/game.py",
        "    messages_sent: int\n",
        "    messages_sent: int\n    items_moved: int\n",
    ),
    (
        "calbench/metrics/game.py",
        "            messages_sent=sent[agent],\n",
        "            messages_sent=sent[agent],\n            items_moved=moved[agent],\n",
    ),
    (
        "calbench/metrics/game.py",
        "    sent = messages_sent_by_agent(events, num_agents)\n",
        (
            "    sent = messages_sent_by_agent(events, num_agents)\n"
            "    moved = items_moved_by_agent(events, num_agents)\n"
        ),
    ),
    (
        "calbench/metrics/game.py",
        "from calbench.metrics.optimum import ",
        (
            "from calbench.metrics.moves import items_moved_by_agent\n"
            "from calbench.metrics.optimum import "
        ),
    ),
    (
        "calbench/facts/games.py",
        "    messages_sent (count, messages; P): a group message counts once\n",
        (
            "    messages_sent (count, messages; P): a group message counts once\n"
            "    items_moved (count, moves): applied, voluntary ones too\n"
        ),
    ),
    (
        "calbench/analysis/measures.py",
        '    Measure(\n        "fairness",\n',
        """    Measure(
        "moves",
        "Moves",
        "moves per meeting",
        "lower",
        "talk",
        "items moved / S",
        "agent-games with S > 0",
        "C",
        _per("items_moved", "scheduled"),
        margin=0.1,
        reason="one move in ten meetings",
    ),
    Measure(
        "fairness",
""",
    ),
    (
        "site/docs/method.md",
        "| [Fairness](#fairness) |",
        (
            "| [Moves](#moves) | 0.1 moves per meeting | one move in ten meetings |\n"
            "| [Fairness](#fairness) |"
        ),
    ),
    (
        "site/docs/method.md",
        "### Fairness {#fairness}\n",
        (
            "### Moves {#moves}\n\n    mean of items moved / S\n\n"
            "Runs over agent-games with S > 0. [C]\n\n"
            "### Fairness {#fairness}\n"
        ),
    ),
)

FACT: tuple[Edit, ...] = (
    (
        "calbench/facts/batches.py",
        "",
        '''"""Facts of batches: every one that was applied."""

from calbench.domain.actions import Reschedule
from calbench.facts.columns import columns
from calbench.facts.fact import Fact
from calbench.traces.events import BatchApplied

BATCHES = Fact(
    "batches",
    lambda game: [event for event in game.trace.events if isinstance(event, BatchApplied)],
    columns("""
    agent_id round
    moves (count, moves): in the batch
    """),
    {"moves": lambda batch: sum(isinstance(each, Reschedule) for each in batch.actions)},
)
''',
    ),
    (
        "calbench/analysis/scoring.py",
        "from calbench.facts.beliefs import ",
        "from calbench.facts.batches import BATCHES\nfrom calbench.facts.beliefs import ",
    ),
    (
        "calbench/analysis/scoring.py",
        "TALK: tuple[Fact, ...] = (",
        "TALK: tuple[Fact, ...] = (BATCHES, ",
    ),
)

TABLE: tuple[Edit, ...] = (
    (
        "calbench/analysis/tables/batches.py",
        "",
        '''"""Batches of teams."""

import pandas as pd

from calbench.analysis.registry import Settings, table
from calbench.facts.storage import Facts


@table(
    "batches.csv",
    """
    setting team
    batches (count, batches): applied in scored games
    moves (count, moves): in these batches
    """,
    key="setting team",
    needs="batches",
)
def batches(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many batches of every team were applied, and what they moved."""
    del settings
    rows = facts.of_games("batches").assign(batches=1)
    return rows.groupby(["setting", "team"], sort=False)[["batches", "moves"]].sum().reset_index()
''',
    ),
)

PROTOCOL: tuple[Edit, ...] = (
    (
        "calbench/protocols/wishes.py",
        "",
        '''"""Wishes: the initiator names its cheapest slot, and the meeting goes there."""

from typing import ClassVar

from calbench.domain.actions import PASS, DirectMessage, Turn
from calbench.domain.messages import Channel, Wish
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.protocols.base import First, others, own_meeting, place
from calbench.protocols.costs import cheapest_slot, local_costs


class Wishes:
    """Asks nobody."""

    speaks_first: ClassVar[First] = "initiator"
    talks_on: ClassVar[tuple[Channel, ...]] = ("dm",)

    def act(self, observation: Observation) -> Turn:
        """Say the wish once; book what was wished."""
        meeting = own_meeting(observation)
        if meeting is None:
            return PASS
        leads = observation.agent_id == meeting.initiator
        if observation.phase is DECISION:
            wishes = [*observation.said(Wish), *(wish for _, wish in observation.heard(Wish))]
            return place(observation, meeting, wishes[0].slot) if wishes else PASS
        may_speak = observation.phase is CHEAP_TALK and "dm" in observation.channels
        if not may_speak or not leads or observation.has_said(Wish):
            return PASS
        slot = cheapest_slot([local_costs(observation.calendar)])
        listeners = () if slot is None else others(observation, meeting)
        return Turn(tuple(DirectMessage(to, Wish(slot=slot)) for to in listeners))
''',
    ),
    (
        "calbench/domain/messages.py",
        "@recorded\nclass Share:\n",
        '''@recorded
class Wish:
    """The slot in which the initiator would like to meet."""

    kind: Literal["wish"] = "wish"
    slot: Slot


@recorded
class Share:
''',
    ),
    (
        "calbench/domain/messages.py",
        "    | Decision\n    | Share\n",
        "    | Decision\n    | Wish\n    | Share\n",
    ),
    (
        "calbench/protocols/registry.py",
        "from calbench.protocols.secure_sum import SecureSum\n",
        (
            "from calbench.protocols.secure_sum import SecureSum\n"
            "from calbench.protocols.wishes import Wishes\n"
        ),
    ),
    (
        "calbench/protocols/registry.py",
        '    "tell-all": TellAll,\n',
        '    "tell-all": TellAll,\n    "wishes": Wishes,\n',
    ),
    (
        "conf/protocol/wishes.yaml",
        "",
        """# Wishes: the initiator says its cheapest slot [C].
id: wishes  # of teams that are named after it
protocol: wishes
""",
    ),
    (
        "conf/teams/wishes.yaml",
        "",
        """# Wishes in every seat [C].
defaults:
  - /protocol@wishes.players.wishes: wishes
  - _self_

wishes:
  seats: [wishes]
""",
    ),
    ("calbench/metrics/privacy/evidence.py", "    Text,\n)\n", "    Text,\n    Wish,\n)\n"),
    (
        "calbench/metrics/privacy/evidence.py",
        "    Decision: decision_evidence,\n",
        "    Decision: decision_evidence,\n    Wish: decision_evidence,\n",
    ),
    (
        "site/docs/method.md",
        "### Degenerate baselines {#degenerate}\n",
        (
            "### Wishes {#wishes}\n\nThe initiator says its cheapest slot (`wish`). [C]\n\n"
            "### Degenerate baselines {#degenerate}\n"
        ),
    ),
)

FIGURE: tuple[Edit, ...] = (
    (
        "calbench/report/figures/talk.py",
        '@section("talk", "first-vps", ',
        '''@section("talk", "fair", "Fairness of those who talk", "leaderboard.csv")
def fair(setting: Setting, style_by_name: Styles) -> Figure:
    """Return the fairness of every team."""
    rows = [row for row in setting.leaderboard if row["fairness"] is not None]
    found = Series("fairness", {row["team"]: Value.of(row, "fairness") for row in rows})
    return Figure(
        finding=spread(found.values, "fairness"),
        drawn=dots(list(found.values), [found], "Fairness", style_by_name=style_by_name),
        columns=columns_of("team", measures=("fairness",)),
        rows=rows,
        height=height(len(rows)),
    )


@section("talk", "first-vps", ''',
    ),
    (
        "site/docs/results/talk.md",
        "## Look closer {#closer}\n",
        """## Fair talk {#fair}

{% call(setting) views(sections["fair"]) %}
Left is fairer in {{ setting.title }}.
{% endcall %}

## Look closer {#closer}
""",
    ),
)

PAGE: tuple[Edit, ...] = (
    (
        "site/docs/results/thrift.md",
        "",
        """# Thrift

What each team paid and said.

{{ table("Cost", [team(), word("setting"), measure("excess_cost")],
         site.summary.rows("leaderboard.csv")) }}
""",
    ),
    (
        "calbench/report/pages/__init__.py",
        '    Page("traces.md", "Games", "Games", content=games.content),\n',
        (
            '    Page("results/thrift.md", "Thrift", "Results", "Explained"),\n'
            '    Page("traces.md", "Games", "Games", content=games.content),\n'
        ),
    ),
)

EXPERIMENT: tuple[Edit, ...] = (
    (
        "conf/experiment/hopes.yaml",
        "",
        """# @package _global_
# Wishes beside what they are measured by, on two scenarios [C].
defaults:
  - override /suite: former-uniform
  - override /teams: [imap, sd-map, silent, wishes]

name: hopes
site: {page: settings, order: 11, title: High hopes, games: 1}
suite: {setting: hopes, num_scenarios: 2, num_candidates: 6}
analysis: {permutations: 99}
""",
    ),
)

RECIPES = {
    "Add a protocol": PROTOCOL,
    "Add a metric": MEASURE,
    "Add a table": TABLE,
    "Add a fact": FACT,
    "Add a figure": FIGURE,
    "Add a page": PAGE,
    "Add an experiment": EXPERIMENT,
}
"""By the title of the section."""

TESTS: tuple[Edit, ...] = (
    ("tests/conformance/test_policies.py", "    Text,\n)\n", "    Text,\n    Wish,\n)\n"),
    (
        "tests/conformance/test_policies.py",
        '    "silent": Promise((), sweeps=1),\n',
        '    "silent": Promise((), sweeps=1),\n    "wishes": Promise((Wish,), sweeps=2),\n',
    ),
)
"""What recipes say of tests: a protocol declares its vocabulary."""


def apply(root: Path, edit: Edit) -> None:
    name, old, new = edit
    path = root / name
    if not old:
        assert not path.exists()
        path.write_text(new)
        return
    text = path.read_text()
    assert text.count(old) == 1, (name, old)
    path.write_text(text.replace(old, new))
