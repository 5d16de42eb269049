"""What the site shows: experiments, tables over several of them, and the numbers of others."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from calbench.analysis.summary import KIND_WORDS, Runs, RunTables, in_words
from calbench.analysis.summary.pool import POOL
from calbench.analysis.summary.runs import verified_word
from calbench.report.experiment import Experiment, Setting, player_of
from calbench.report.figures.style import SWEPT, Style, series_styles, styles
from calbench.report.kind import kind_of
from calbench.report.role import SETTINGS
from calbench.report.tables import Row, Tables
from calbench.traces.catalog import Catalog

# e.g. "Nobody talks [C]."; not "Nobody talks [X]."
ORIGIN = re.compile(r" \[[PRFC]\]")
"""Where a choice comes from."""

LEAKING = "leaking_messages.csv"
"""The messages that told private labels or passed them on."""

FRONT = "front.csv"
"""Who is on the Pareto front of cost and privacy."""

REGRET = "regret_by_team.csv"
"""What excess cost of teams is made of, and how often they lost the optimum."""

PAPER = "table1.csv"
"""The paper's models as printed, among the numbers of others."""

SECOND_HAND = "second_hand_leaks.csv"
"""The labels that messages passed on."""


@dataclass(frozen=True)
class Site:
    """Everything that pages are made from; what is absent has no page.

    Attributes:
        sources: the repository's ``site`` folder.
        experiments: in the order of the pages.
        summary: tables over several experiments (:mod:`calbench.analysis.summary`).
        published: numbers that the pipeline does not make.
        has_games: whether the trace browser has the published games.
        has_downloads: whether readers can take suites, tables and traces from the site.
        submitted: teams that others handed in, each with its tier and where its games are.
    """

    sources: Path
    experiments: tuple[Experiment, ...]
    summary: Tables
    published: Tables
    has_games: bool = True
    has_downloads: bool = False
    submitted: tuple[Row, ...] = ()

    def on(self, page: str) -> tuple[Experiment, ...]:
        """Return the experiments whose results a page shows."""
        return tuple(each for each in self.experiments if each.role.page == page)

    @cached_property
    def ranked(self) -> tuple[Experiment, ...]:
        """The experiments whose teams are compared: no sweeps, draws or sizes."""
        return tuple(each for each in self.experiments if each.role.is_ranked)

    @cached_property
    def played(self) -> tuple[Experiment, ...]:
        """The experiments of which the trace browser has games."""
        return tuple(each for each in self.experiments if each.role.games)

    @cached_property
    def parameters(self) -> Mapping[str, int]:
        """Millions of parameters of recorded models, by what teams call them."""
        models = self.published.optional("models.csv")
        return {player: row["parameters"] for row in models for player in row["players"]}

    @cached_property
    def unpublished(self) -> Mapping[str, str]:
        """The teams that are of runs of one's own, in order, and whether they were verified."""
        found = {
            team: is_so for each in self.experiments for team, is_so in each.unpublished.items()
        }
        return {team: verified_word(is_so) for team, is_so in sorted(found.items())}

    @cached_property
    def about(self) -> Mapping[str, str]:
        """What published teams do, with the origin of choices left out: the method page says it.

        Of teams of one name it is the one whose experiment comes first.
        """
        shown = reversed(self.experiments)
        said = {team: text for each in shown for team, text in each.about.items()}
        return {
            team: ORIGIN.sub("", text)
            for team, text in said.items()
            if team not in self.unpublished
        }

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that have a page of their own."""
        return settings_of(self.on(SETTINGS))

    @cached_property
    def views(self) -> tuple[Setting, ...]:
        """The settings of all ranked experiments: what the switch of a page of figures offers."""
        return settings_of(self.ranked)

    @cached_property
    def kind_by_team(self) -> Mapping[str, str]:
        """What each team consists of, in words (leaderboard.csv of all experiments)."""
        return {row["team"]: row["kind"] for row in self.summary.optional("leaderboard.csv")}

    def with_kinds(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows of teams with the kind of each."""
        return [{**row, "kind": self.kind_by_team.get(row["team"], "")} for row in rows]

    @cached_property
    def styles(self) -> Mapping[str, Style]:
        """How each team, player and swept setting looks in every figure."""
        protocols = [*self.on(SETTINGS), *self.on("scale")]
        names = [
            *(team for each in protocols for team in each.teams),
            *(team for each in self.on("language") for team in each.teams),
            *(team for each in self.on("erring") for team in each.teams),
            *(name for view in self.views for name in view.players),
        ]
        kinds = self._kinds
        known = {name: kind_of(kinds.get(name, "")) for name in dict.fromkeys(names)}
        return {**styles(known), **series_styles(SWEPT)}

    @property
    def _kinds(self) -> Mapping[str, str]:
        """What each team and player consists of, in words."""
        found = dict(self.kind_by_team)
        for each in self.on("scale"):
            for row in each.tables.optional("standings.csv"):
                found.setdefault(row["team"], in_words(row["kinds"], KIND_WORDS))
        for view in self.views:
            for row in view.rows("players.csv"):
                found.setdefault(player_of(row), KIND_WORDS.get(row.get("kind", ""), ""))
        return found

    def front(self, *settings: Setting) -> list[Row]:
        """Return who is on the Pareto front of settings, and who is not (front.csv)."""
        return [
            row
            for each in settings
            for row in self.summary.optional(
                FRONT, experiment=each.experiment.name, setting=each.name
            )
        ]

    @cached_property
    def links(self) -> "GameLinks":
        """The games that the trace browser has."""
        return GameLinks(self.played)

    @cached_property
    def leaking_messages(self) -> list[Row]:
        """The messages that gave labels away, of the games that the trace browser has."""
        return self.browsed(LEAKING)

    @cached_property
    def second_hand_leaks(self) -> list[Row]:
        """The labels that messages passed on, of the games that the trace browser has."""
        return self.browsed(SECOND_HAND)

    def browsed(self, name: str, **where: Any) -> list[Row]:
        """Return the rows of a table over experiments of games that the trace browser has."""
        return [
            row
            for row in self.summary.optional(name, **where)
            if self.links.has(row["experiment"], row["team"], row["scenario_id"])
        ]

    @cached_property
    def unattached(self) -> Tables:
        """The tables beside the folders of experiments, which belong to none of them."""
        return Tables(self.summary.folder.parent)

    @property
    def runs(self) -> Runs:
        """The experiments, as the tables over several of them need them."""
        return Runs(
            compared=_run_tables(self.ranked),
            browsed=_run_tables(self.on(SETTINGS)),
            scaled=_run_tables(self.on("scale")),
            drawn=_run_tables(self.on("reproduction")),
            swept=_run_tables(self.on("plane")),
            published=self.published.folder,
            pool=self.published.folder.parent / "predictive" / POOL,
        )


def settings_of(experiments: Iterable[Experiment]) -> tuple[Setting, ...]:
    """Return every setting of some experiments."""
    return tuple(Setting(each, name) for each in experiments for name in each.settings)


def _run_tables(experiments: Iterable[Experiment]) -> list[RunTables]:
    return [
        RunTables(
            each.name, each.folder, each.is_joint, each.unpublished, each.part, each.role.games
        )
        for each in experiments
    ]


class GameLinks:
    """Knows which games the trace browser has; nothing links to the others."""

    def __init__(self, played: Sequence[Experiment]) -> None:
        """Take the experiments of which the trace browser has games."""
        self._played = {each.name: each for each in played}
        self._catalog = Catalog()
        self._shown = {each.name: {s.scenario_id for s in each.shown} for each in played}

    def has(self, experiment: str, team: str, scenario_id: str) -> bool:
        """Return whether the trace browser has this game."""
        return scenario_id in self._shown.get(experiment, ()) and self._catalog.has(
            self._played[experiment].traces / team / f"{scenario_id}.json"
        )

    def address(
        self, experiment: str, team: str, scenario_id: str, event: int | None = None
    ) -> str:
        """Return the address of a game from the site's root; empty if the browser has it not.

        Args:
            experiment: its name.
            team: who played.
            scenario_id: what was played.
            event: index of the event at which the browser opens it, if not the first.
        """
        if not self.has(experiment, team, scenario_id):
            return ""
        parts = [experiment, team, scenario_id, *([] if event is None else [str(event)])]
        return "traces.html#" + "/".join(quote(part, safe="") for part in parts)

    def to_event(self, row: Row) -> Row:
        """Return the row of an event with its ``address``, and with its place as ``event``.

        Of a team's several games on a scenario the browser has the first.
        """
        place = (row["experiment"], row["team"], row["scenario_id"], row["event_index"])
        event = f"{row['scenario_id']}, event {row['event_index']}"
        address = "" if row.get("replicate") else self.address(*place)
        return {**row, "address": address, "event": event}
