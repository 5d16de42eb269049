"""What one assistant did: a team beside one that differs from it in a single seat.

The *focal seat* of a game is where two teams seat different players; all others are the same, so
what differs is what its player did for its user, told, learnt, and cost the others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.estimates import scenario_sums
from calbench.analysis.measures import MEASURE_BY_NAME, Measure, team_values
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.comparisons import beside_base
from calbench.analysis.verdicts import VERDICT_COLUMNS, with_verdicts
from calbench.facts.columns import COST, UNIT, columns
from calbench.facts.frames import empty
from calbench.facts.storage import GAME, KEY, REPLICATES, Facts
from calbench.stats.sums import Ints

OWN: tuple[Measure, ...] = tuple(
    MEASURE_BY_NAME[name]
    for name in ("coordination", "excess_cost", "adjusted_excess_cost", "messages", "bits")
)
"""Measures of the board, of the focal agent alone."""

ONE_ERRAND = "one errand of cost 1 in ten games"
ONE_LABEL = "every second game has one more, or less"
ADJUSTED = MEASURE_BY_NAME["adjusted_excess_cost"]


def _found(name: str, title: str, definition: str, margin: float, reason: str) -> Measure:
    """Declare a measure of the focal agent that no other table has, in accounting cost [C]."""
    return Measure(
        name,
        title,
        COST,
        "lower",
        "cost",
        definition,
        "all games",
        "C",
        lambda games: games[name].astype("float64"),
        margin=margin,
        reason=reason,
    )


def _labels_of(name: str, title: str, definition: str) -> Measure:
    found = _found(name, title, definition, 0.5, ONE_LABEL)
    return replace(found, unit="labels per game", group="privacy")


FOUND: tuple[Measure, ...] = (
    _found(
        "cost",
        "Its user's cost",
        "what the focal agent paid in the game, including failed rounds",
        0.1,
        ONE_ERRAND,
    ),
    _found(
        "oracle_cost",
        "of this, the optimum's share",
        "its cost in the best schedule of exactly the scheduled meetings",
        0.1,
        ONE_ERRAND,
    ),
    _labels_of(
        "labels_told",
        "Own labels told",
        "pairs of its own private label and another agent that learns it in the game",
    ),
    replace(
        MEASURE_BY_NAME["bits"],
        name="bits_learnt",
        title="Bits it learnt",
        definition="what the focal agent learnt of all others' first calendars, less what the "
        "slots of common meetings alone tell",
        denominator="games in which the rules by which all others speak are known",
        value=lambda games: games["bits_learnt"].astype("float64"),
    ),
    _labels_of(
        "labels_learnt",
        "Labels it learnt",
        "distinct private labels of others that the focal agent learns in the game",
    ),
    _found(
        "others_cost",
        "Cost of all others",
        "what all other agents paid in the game together",
        0.4,
        "one errand of cost 1 of each of four others in ten games",
    ),
    replace(
        ADJUSTED,
        name="others_adjusted_excess_cost",
        title="Adjusted excess cost of the others",
        definition="mean over the other agents of adjusted excess cost, which counts failures",
        denominator="games on scenarios with a complete schedule",
        value=lambda games: games["others_adjusted_excess_cost"].astype("float64"),
    ),
)
"""Measures of the focal agent that no other table has, one value a game."""

ORDER = (
    "coordination", "cost", "oracle_cost", "excess_cost", "adjusted_excess_cost", "bits",
    "labels_told", "bits_learnt", "labels_learnt", "others_cost", "others_adjusted_excess_cost",
    "messages",
)  # fmt: skip
"""From the own user's meetings to what others pay."""

_BY_NAME = {measure.name: measure for measure in (*OWN, *FOUND)}
FOCAL: Mapping[str, Measure] = {name: _BY_NAME[name] for name in ORDER}
"""Measures of the focal agent by name, in the order of tables."""

NOBODY = -1
"""Who sits where no game was played."""


class Pair(NamedTuple):
    """Two teams that differ in one seat.

    Attributes:
        setting: of both.
        team: the one whose player is looked at.
        base: the one that it is compared with.
        seats: where they differ, ``scenario_id`` and ``agent_id``, for every common scenario.
    """

    setting: str
    team: str
    base: str
    seats: pd.DataFrame


def focal_pairs(agents: pd.DataFrame) -> Iterator[Pair]:
    """Yield all teams of a setting that differ in exactly one seat on every common scenario.

    Both play on the same channels within the same limits, and by the same prompts if both speak.
    The base is the earlier one in the order of tables; teams with a model come behind the others.
    Pairs of teams are compared as arrays: O(teams^2 * scenarios * agents).

    Args:
        agents: agent-games with ``setting``, ``team``, ``scenario_id``, ``agent_id``, ``player``,
            ``settings_digest``, ``kind``, ``uses_language``, and their games' ``rules_digest``,
            ``channels`` and ``limits``.
    """
    for setting, own in agents.groupby("setting", sort=True):
        scenario, scenarios = pd.factorize(own["scenario_id"], sort=True)
        team, teams = pd.factorize(own["team"])
        player = pd.factorize(own["player"] + " " + own["settings_digest"])[0]
        agent = own["agent_id"].to_numpy(dtype=np.int64)
        seated = np.full((len(teams), len(scenarios), agent.max(initial=-1) + 1), NOBODY)
        seated[team, scenario, agent] = player
        rules = own.groupby("team", sort=False)[
            ["channels", "limits", "rules_digest", "uses_language"]
        ].first()
        has_model = own["kind"].eq("model").groupby(team).any()
        for base, other in combinations(np.argsort(has_model, kind="stable"), 2):
            seats = _focal_seats(seated[base], seated[other])
            if seats is not None and _are_alike(rules.iloc[base], rules.iloc[other]):
                places = pd.DataFrame(
                    {"scenario_id": scenarios[seats[0]], "agent_id": seats[1].astype("int64")}
                )
                yield Pair(str(setting), str(teams[other]), str(teams[base]), places)


def _focal_seats(base: Ints, other: Ints) -> tuple[Ints, Ints] | None:
    """Return scenario and agent of the seats that differ, one on each that both teams played."""
    is_common = ((base != NOBODY) & (other != NOBODY)).any(axis=1)
    differs = (base != other) & is_common[:, np.newaxis]
    if not is_common.any() or (differs.sum(axis=1) != is_common).any():
        return None
    scenario, agent = np.nonzero(differs)
    return scenario, agent


def _are_alike(base: "pd.Series[str]", other: "pd.Series[str]") -> bool:
    names = ["channels", "limits"]
    if base["uses_language"] and other["uses_language"]:
        names.append("rules_digest")
    return bool((base[names] == other[names]).all())


@lru_cache(maxsize=1)
def _seats(facts: Facts) -> pd.DataFrame:
    """Return every agent-game with the measures of its agent, as if it were the focal one."""
    agents = facts.of_games("agents", [*KEY, "rules_digest", "channels", "limits"])
    own = team_values(facts)
    names = [GAME, *KEY, "agent_id", "player", "settings_digest", "kind", "uses_language",
             "rules_digest", "channels", "limits", "cost", "oracle_cost"]  # fmt: skip
    names += [REPLICATES] * (REPLICATES in agents)
    rows = agents[names].assign(**{measure.name: own[measure.name] for measure in OWN})
    rows["others_cost"] = rows.groupby(GAME)["cost"].transform("sum") - rows["cost"]
    adjusted = rows.groupby(GAME)["adjusted_excess_cost"]
    counted = adjusted.transform("count") - rows["adjusted_excess_cost"].notna()
    rest = adjusted.transform("sum") - rows["adjusted_excess_cost"].fillna(0.0)
    rows["others_adjusted_excess_cost"] = rest / counted.where(counted > 0)
    at = pd.MultiIndex.from_frame(rows[[GAME, "agent_id"]])
    heard = facts.frame("hearings")
    for name, side in (("labels_told", "owner"), ("labels_learnt", "listener")):
        counts = heard.groupby([GAME, side]).size()
        rows[name] = counts.reindex(at, fill_value=0).to_numpy(dtype=np.float64)
    rows["bits_learnt"] = _bits_learnt(facts).reindex(at).to_numpy(dtype=np.float64)
    return rows


def _bits_learnt(facts: Facts) -> "pd.Series[float]":
    """Return the bits that agents learnt of all others, by game and agent; unknown if one is."""
    names = ["target_agent", "observer_agent", "bits", "outcome_bits"]
    pairs = facts.frame("pair_bits", names)
    beyond = pairs["bits"].astype("float64") - pairs["outcome_bits"].astype("float64")
    found = beyond.groupby([pairs[GAME], pairs["observer_agent"]])
    agents = facts.frame("agents", ["agent_id"]).groupby(GAME)["agent_id"].size()
    others = found.size().index.get_level_values(0).map(dict(agents)) - 1
    return found.sum(min_count=1).where(found.count() == others)


@lru_cache(maxsize=1)
def _pairs(facts: Facts) -> tuple[Pair, ...]:
    """Return the pairs of teams of a run."""
    return tuple(focal_pairs(_seats(facts)))


EFFECTS = columns(
    f"""
    setting team
    base (text): team id of the one that differs in the focal seat alone
    player (text): in the focal seat
    base_player (text): in the focal seat of the base
    measure (text; C): {"; ".join(f"{m.name}: {m.definition}" for m in FOCAL.values())}
    unit (text): {UNIT}
    scenarios (count, scenarios): those that count for both
    focal (estimate, {UNIT}): mean of the team // games that count
    without (estimate, {UNIT}): mean of the base // games that count
    difference (estimate, {UNIT}): focal minus without, over common scenarios // games that count
    verdict_columns
    """,
    verdict_columns=VERDICT_COLUMNS,
)


@table(
    "focal_effects.csv",
    EFFECTS,
    key="setting team base measure",
    needs="hearings pair_bits",
)
def focal_effects(facts: Facts, settings: Settings) -> pd.DataFrame:
    """What one assistant changed: each two teams that differ in one seat, and what that seat did.

    The seat may be another in every scenario, as it is in teams that rotate. Which seats differ is
    found in the games themselves.
    """
    rows = _seats(facts)
    found = [_effects(rows, pair, settings) for pair in _pairs(facts)]
    if not found:
        return empty(EFFECTS)
    return with_verdicts(pd.concat(found, ignore_index=True), settings.analysis)


def _sides(rows: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """Return the focal agent-games of both teams, those of the base first."""
    own = rows[(rows["setting"] == pair.setting) & rows["team"].isin([pair.team, pair.base])]
    own = own.merge(pair.seats, on=["scenario_id", "agent_id"])
    return own.sort_values("team", key=lambda teams: teams == pair.team, kind="stable")


def _effects(rows: pd.DataFrame, pair: Pair, settings: Settings) -> pd.DataFrame:
    """Compare the focal seats of a pair under every measure."""
    own = _sides(rows, pair)
    names = ["setting", "team", "scenario_id"] + [REPLICATES] * (REPLICATES in own)
    sums = scenario_sums(own[names], ["team"], own[[*FOCAL]].astype("float64"))
    remarks = [""] * len(FOCAL)
    sides = ("without", "focal")
    found = beside_base(sums, [*FOCAL.values()], remarks, settings.analysis, sides)
    players = own.groupby("team")["player"].first()
    return found.assign(
        team=pair.team,
        base=pair.base,
        player=players[pair.team],
        base_player=players[pair.base],
    )


@table(
    "focal_games.csv",
    [
        *columns("""
        setting team
        base (text): team id of the one that differs in the focal seat alone
        scenario_id
        agent_id (count): in the focal seat, from 0
        """),
        *(
            column
            for measure in FOCAL.values()
            for column in columns(f"""
            {measure.name} (number, {measure.unit}; C): mean of the team's games on the scenario
            {measure.name}_without (number, {measure.unit}; C): mean of the base's
            """)
        ),
    ],
    key="setting team base scenario_id",
    needs="hearings pair_bits",
)
def focal_games(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """What the focal seat did on every common scenario, and who sat there in the base did."""
    rows = _seats(facts)
    for pair in _pairs(facts):
        own = _sides(rows, pair)
        means = own.groupby(["team", "scenario_id", "agent_id"])[[*FOCAL]].mean()
        beside = means.loc[pair.team].join(means.loc[pair.base], rsuffix="_without").reset_index()
        yield beside.assign(setting=pair.setting, team=pair.team, base=pair.base)
