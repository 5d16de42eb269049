"""``calbench focal``: one player among fixed partners, beside another player in the same seat.

Both teams play the same scenarios, and all seats move by one from scenario to scenario. What comes
of it is a run as any other, with two teams: every command reads it.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import pandas as pd
from rich.table import Table

from calbench.analysis.tables import TABLES
from calbench.analysis.tables.focal import FOCAL
from calbench.analysis.verdicts import DIFFERENT
from calbench.cli.compare import HEADS, difference_cells
from calbench.cli.jobs import for_each_job
from calbench.cli.run import report, status_of
from calbench.cli.words import Status, names, program_name
from calbench.config.spec import RunSpec
from calbench.console import show, tell, verdict
from calbench.errors import ConfigError, OutputError
from calbench.files import located, printable
from calbench.runs.play import execute
from calbench.scenarios.storage import iter_suite
from calbench.terminal import new_table
from calbench.traces.models import Team

KEYS = ("player", "partners", "base")
"""The arguments that no run has: teams, whose first seat is who they stand for."""

DEFAULTS = {"suite": "focal", "name": "focal"}
"""Choices of a run without an experiment, unless the command line makes them."""

NAMED = 3
"""Scenarios that the command names [C]: those that made the most of the difference."""

EFFECTS, GAMES = "focal_effects.csv", "focal_games.csv"

BASE = "_without"
"""End of the columns of the base."""

SAID = ("adjusted_excess_cost", "coordination", "labels_told")
"""What is said of these scenarios."""

DECIDING = "adjusted_excess_cost"
"""By which they are chosen: the cost that counts failed meetings."""


def main(overrides: Sequence[str], options: Mapping[str, Any]) -> int:
    """Play both teams, and print what the focal seat did in each.

    Raises:
        ConfigError: a key is missing, or the teams do not fit the suite.
    """
    who = {key: names(options.get(key, "")) for key in KEYS}
    if absent := [key for key in KEYS if not who[key]]:
        raise ConfigError(
            f"{absent[0]}=: names no team; for example "
            "calbench focal player=guarded base=candid partners=[candid,guarded]"
        )
    for key in ("player", "base"):
        if len(who[key]) != 1:
            raise ConfigError(f"{key}={printable(options[key])}: one team, whose first seat plays")
    chosen = [each.partition("=")[0].lstrip("+") for each in overrides]
    # Teams that the command line itself composes come behind those of files.
    inline = {key.removeprefix("teams."): None for key in chosen if key.startswith("teams.")}
    teams = dict.fromkeys([*who["base"], *who["player"], *who["partners"]])
    teams = {name: None for name in teams if name not in inline} | inline
    added = [f"teams=[{','.join(name for name in teams if name not in inline)}]"]
    if "experiment" not in chosen:
        added += [f"{key}={value}" for key, value in DEFAULTS.items() if key not in chosen]
    if "teams" in chosen:
        raise ConfigError("teams=: player, base and partners say who plays")

    def play(spec: RunSpec) -> int:
        return _play(focal_run(spec, list(teams), **who))

    return for_each_job([*overrides, *added], options, play)


def focal_run(
    spec: RunSpec,
    named: Sequence[str],
    player: Sequence[str],
    partners: Sequence[str],
    base: Sequence[str],
) -> RunSpec:
    """Return the run of two teams that differ in one seat, which moves around the table.

    Args:
        spec: a run of the teams that are named.
        named: names of these teams, in their order.
        player: the one whose first seat is the focal one.
        partners: those whose first seats are the others', repeated around the table.
        base: the one whose first seat is the focal one in the team to compare with.

    Raises:
        ConfigError: the suites have no one number of agents, or both teams would be the same.
    """
    first = {name: team.seats[0] for name, team in zip(named, spec.teams, strict=True)}
    if first[player[0]] == first[base[0]]:
        raise ConfigError(f"player={player[0]}: is the base, too; there is nothing to compare")
    others = list(islice(cycle(first[name] for name in partners), num_agents(spec) - 1))
    about = {
        f"focal-{name}"[:64]: f"{name} in one seat among {', '.join(partners)} [C]."
        for name in (*base, *player)
    }
    mediator = any(team.mediator for team in spec.teams)
    if mediator and any(seat.uses_language for seat in first.values()):
        raise ConfigError("player, base, partners: who needs a mediator sits among protocols alone")
    teams = [
        Team(team_id=team_id, seats=(first[name], *others), rotation=True, mediator=mediator)
        for team_id, name in zip(about, (*base, *player), strict=True)
    ]
    return spec.model_copy(update={"teams": tuple(teams), "about": about})


def num_agents(spec: RunSpec) -> int:
    """Return the number of agents of a run's suites.

    Raises:
        ConfigError: they differ.
    """
    found = {
        suite.scenario.num_agents
        if suite.path is None
        else next(iter_suite(located(suite.path))).num_agents
        for _, suite in spec.suites
    }
    if len(found) > 1:
        raise ConfigError(f"suites of {', '.join(map(str, sorted(found)))} agents: choose one")
    return found.pop()


def _play(spec: RunSpec) -> int:
    summary = execute(spec)
    report(spec, summary)
    effects, games = (TABLES[name].read(summary.tables) for name in (EFFECTS, GAMES))
    status = status_of(summary)
    if effects.empty:  # every game of one team was cut short
        raise OutputError(f"{spec.out}: no scenario was played to the end by both teams")
    show(*_tables(effects))
    for line in _deciding(games):
        tell(line)
    _, team = spec.teams
    verdict(
        f"{_finding(effects, spec.analysis.confidence)}: {summary.tables / EFFECTS}",
        is_good=status == Status.DONE,
    )
    tell(f"Games    {program_name()} view {shlex.quote(spec.out)}, team {team.team_id}")
    return status


def _tables(effects: pd.DataFrame) -> Iterator[Table]:
    """Yield a table for each setting: the focal seat in both teams under every measure."""
    sides = effects.rename(columns={"without": "value_a", "focal": "value_b"})
    for setting, rows in sides.fillna({"remark": ""}).groupby("setting"):
        first = rows.iloc[0]
        heads = ("Measure", first["base_player"], first["player"])
        title = f"{setting}: {first['player']} less {first['base_player']} in the same seat"
        found = (
            (FOCAL[entry["measure"]].title, *difference_cells(entry))
            for entry in rows.to_dict("records")
        )
        yield new_table(title, (*heads, "difference", *HEADS[3:]), found, wraps=True)


def _deciding(games: pd.DataFrame) -> Iterator[str]:
    """Yield the scenarios that made most of the difference, and what differed there."""
    gap = games[DECIDING] - games[f"{DECIDING}{BASE}"]
    order = games.assign(size=-gap.abs()).sort_values(["size", "scenario_id"])
    for row in order[order["size"] < 0].head(NAMED).to_dict("records"):
        parts = (
            f"{FOCAL[name].title.lower()} {row[f'{name}{BASE}']:g} -> {row[name]:g}"
            for name in SAID
        )
        yield f"Scenario {row['scenario_id']}, agent {row['agent_id']}: {', '.join(parts)}"


def _finding(effects: pd.DataFrame, confidence: float) -> str:
    """Return how many measures differ, which, and that the others may be too close to tell."""
    different = effects[effects["verdict"] == DIFFERENT]
    level = f"{100 * round(1 - confidence, 10):g}% level"
    if different.empty:
        return f"No difference is shown in {len(effects)} measures ({level})"
    named = (
        f"{FOCAL[row['measure']].title} {row['difference']:+.2f}"
        for row in different.to_dict("records")
    )
    return f"{len(different)} of {len(effects)} measures differ ({level}): {', '.join(named)}"
