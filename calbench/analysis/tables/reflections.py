"""How language agents report that their beliefs moved, by pair and round, and how often rightly.

The four tables of protocol-semantic evidence (appendix F.5) do not include language.
``reflections.parquet`` has a row for each reflection and target, also the unreadable ones, and
``reflection_calibration.csv`` one for each setting and team, as has ``vps_baselines.csv``, with
what V would be without knowledge; ``stated_chances.csv`` has one for each player of a team, with
how right stated chances are.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from calbench.analysis.estimates import estimated_means
from calbench.analysis.measures import joint_kind, readable_shares
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.leaderboard import READABILITY
from calbench.domain.replies import CERTAIN
from calbench.facts.beliefs import BINS, MAGNITUDES, NUMBERS, REFLECTIONS, WIDTH
from calbench.facts.columns import SLOTS, Column, count, estimated, number
from calbench.facts.storage import GAME, Facts
from calbench.stats.sums import Floats

STEPS = "steps of 1 to 3"
DIRECTIONS = ("toward", "away")
MOVES = tuple(f"{direction}_{size}" for direction in DIRECTIONS for size in MAGNITUDES)
"""Columns with numbers of movements, by direction and size."""

SIZES = {"": MAGNITUDES, **{f"_{size}": (size,) for size in MAGNITUDES}}
"""Sizes that are counted together, by the suffix of their columns."""


@table(
    "privacy/reflections.parquet",
    """
    trace_path game_id but_moves
    """,
    key="trace_path round target_agent observer_agent",
    needs="reflections",
    but_moves=(column for column in REFLECTIONS.columns if column.name not in MOVES),
)
def reflections(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every reflection of every scored game, one row per target."""
    for rows in facts.batches("reflections"):
        yield facts.named(rows, ("trace_path", "game_id"))


def _precision(name: str, which: str) -> tuple[Column, ...]:
    return estimated(name, "", f"share of {which} toward the truth", which, "C")


@table(
    "privacy/reflection_calibration.csv",
    f"""
    setting team
    reflections (count, reflections): about one target each
    unread (count, reflections): of these, not readable
    movements (count, movements): integers other than 0, by slot
    precision
    mean_toward (number, {STEPS}): mean |movement| // movements toward the truth
    mean_away (number, {STEPS}): mean |movement| // movements away from the truth
    by_size
    """,
    key="setting team",
    needs="reflections",
    precision=_precision("precision", "movements"),
    by_size=(
        column
        for size in MAGNITUDES
        for column in (
            count(f"movements_{size}", "movements", f"of these, by {size}"),
            *_precision(f"precision_{size}", f"movements by {size}"),
        )
    ),
)
def reflection_calibration(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Share of movements toward the truth, by setting, team and size of the movement."""
    games = _moves_by_game(facts)
    teams = games.groupby(["setting", "team"], sort=False)[["reflections", "unread", *MOVES]].sum()
    means = {f"mean_{direction}": _mean_size(teams, direction) for direction in DIRECTIONS}
    toward, away = (_moves_of_sizes(games, direction) for direction in DIRECTIONS)
    shares = estimated_means(
        games,
        ["team"],
        toward,
        settings.analysis,
        weights=toward + away,
        bounds=dict.fromkeys(map(str, toward), (0.0, 1.0)),
    )
    rows = teams.assign(**means).reset_index().merge(shares, on=["setting", "team"])
    return rows.assign(**{f"movements{end}": rows[f"precision{end}_n"] for end in SIZES})


MEASURED = "agent-games of language agents whose loss was measured"
BASELINES = {
    "vps": "V, before any floor",
    "vps_by_chance": "mean of V over all permutations of each observer's answers of a round",
    "vps_beyond_chance": "V - vps_by_chance",
    "vps_constant": "V if all who were asked had answered +1 for every slot",
    "vps_agreed": "part of V that is about the agreed slots, by the meetings' participants",
}
"""Means that are compared, with what they are."""


@table(
    "privacy/vps_baselines.csv",
    """
    setting team vps_kind
    agent_games (count, agent-games): whose loss was measured
    readability baselines
    """,
    key="setting team",
    needs="reflections",
    readability=READABILITY,
    baselines=(
        column
        for name, meaning in BASELINES.items()
        for column in estimated(name, SLOTS, f"mean of: {meaning}", MEASURED, "C")
    ),
)
def vps_baselines(facts: Facts, settings: Settings) -> pd.DataFrame:
    """What reflection-calibrated VPS would be without any message, and what it rests on."""
    agents = facts.of_games("agents").query("uses_language and reflections_asked > 0")
    names = [*BASELINES, "vps_kind"]
    if agents.empty:
        return pd.DataFrame(columns=["setting", "team", *names])
    values = agents[list(BASELINES)].astype("float64")
    found = estimated_means(agents, ["team"], values, settings.analysis)
    kinds = agents.groupby(["setting", "team"], sort=False)["vps_kind"].agg(joint_kind)
    rows = readable_shares(agents, ["team"]).merge(kinds.reset_index(), on=["setting", "team"])
    rows = rows.merge(found, on=["setting", "team"])
    return rows.assign(agent_games=rows["vps_n"])


SQUARE = "squared distance of the stated chance from 1 if the slot is occupied, else 0"
LISTED = "slots of the lists of chances that were read"


def _bin(least: int) -> tuple[Column, Column, Column]:
    """Return the columns of a bin of stated chances."""
    last = CERTAIN if least == BINS[-1] else least + WIDTH - 1
    which = f"slots with a chance of {least} to {last}%"
    return (
        count(f"slots_{least}", "slots", f"with a stated chance of {least} to {last}%"),
        number(f"stated_{least}", "", "mean stated chance", which),
        number(f"found_{least}", "share", "that are occupied", which),
    )


@table(
    "privacy/stated_chances.csv",
    """
    setting team player
    answers (count, lists): of chances that were read, about one target each
    slots (count, slots): in these lists
    occupied (number, share): base rate: occupied when the question was asked // slots
    score
    base
    bins
    """,
    key="setting team player",
    needs="chances",
    score=estimated("brier", "", f"Brier score: mean {SQUARE}", LISTED),
    base=estimated("brier_base", "", "the same of whoever always states the base rate", LISTED),
    bins=(column for least in BINS for column in _bin(least)),
)
def stated_chances(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How right stated chances are, with which reflections since prompts v3 come, by player."""
    games, by = _chances_by_game(facts), ["team", "player"]
    counted = ["answers", "slots", "occupied", *BIN_NUMBERS]
    teams = games.groupby(["setting", *by], sort=False)
    rows = teams[counted].sum().reset_index()
    rows["occupied"] /= rows["slots"]
    slots, occupied = games["slots"], games["occupied"]
    base = teams["occupied"].transform("sum") / teams["slots"].transform("sum")
    errors = pd.DataFrame(
        {
            "brier": games["squared"] / CERTAIN**2,
            "brier_base": occupied * (1 - base) ** 2 + (slots - occupied) * base**2,
        }
    )
    found = estimated_means(
        games,
        by,
        errors,
        settings.analysis,
        weights=pd.DataFrame(dict.fromkeys(errors, slots)),
        bounds=dict.fromkeys(map(str, errors), (0.0, 1.0)),
    )
    for least in BINS:
        own = rows[f"slots_{least}"].where(rows[f"slots_{least}"] > 0)
        rows[f"stated_{least}"] = rows[f"stated_{least}"] / own / CERTAIN
        rows[f"found_{least}"] = rows[f"found_{least}"] / own
    return rows.merge(found, on=["setting", *by])


BIN_NUMBERS = tuple(f"{name}_{least}" for least in BINS for name in NUMBERS)
"""Columns of the facts with what bins count."""


def _chances_by_game(facts: Facts) -> pd.DataFrame:
    """Return what lists of chances add up to, by game and player."""
    columns = ("occupied", "squared", *BIN_NUMBERS)
    players = facts.frame("agents").set_index([GAME, "agent_id"])["player"]
    found = []
    for batch in facts.batches("chances", ("observer_agent", *columns)):
        lists = batch[list(columns)].astype("int64")
        seats = pd.MultiIndex.from_frame(batch[[GAME, "observer_agent"]])
        slots = lists[[f"slots_{least}" for least in BINS]].sum(axis=1)
        lists = lists.assign(answers=1, slots=slots)
        by = [batch[GAME], pd.Series(players.loc[seats].to_numpy(), batch.index, name="player")]
        found.append(lists.groupby(by, sort=False).sum())
    return facts.named(pd.concat(found).reset_index())


def _moves_by_game(facts: Facts) -> pd.DataFrame:
    """Return the numbers of reflections and of movements of each kind, by game."""
    found = []
    for batch in facts.batches("reflections", ("is_readable", *MOVES)):
        rows = batch.assign(reflections=1, unread=~batch["is_readable"])
        counts = rows[["reflections", "unread", *MOVES]].astype("Int64").fillna(0)
        found.append(counts.groupby(rows[GAME], sort=False).sum())
    return facts.named(pd.concat(found).reset_index())


def _mean_size(moves: pd.DataFrame, direction: str) -> Floats:
    counts = moves[[f"{direction}_{size}" for size in MAGNITUDES]].to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        means: Floats = counts @ np.array(MAGNITUDES, dtype=np.float64) / counts.sum(axis=1)
    return means


def _moves_of_sizes(games: pd.DataFrame, direction: str) -> pd.DataFrame:
    """Return the numbers of movements in a direction, by sizes that are counted together."""
    return pd.DataFrame(
        {
            f"precision{end}": games[[f"{direction}_{size}" for size in sizes]].sum(axis=1)
            for end, sizes in SIZES.items()
        }
    )
