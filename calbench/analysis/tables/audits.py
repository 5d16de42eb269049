"""Audits of language: patterns, own slots, private labels and honesty, by team and player."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
import pandas as pd

from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    SCENARIO,
    SETTING,
    TEAM,
    Column,
    chosen,
    count,
    number,
    text,
)
from calbench.facts.speech import LEAKS
from calbench.facts.storage import Facts
from calbench.metrics.speech.honesty import KINDS
from calbench.metrics.speech.own_slot import NAMES as LABELS
from calbench.metrics.speech.patterns import PATTERNS
from calbench.scenarios.labels import TIERS
from calbench.stats.multiplicity import adjusted_p_values
from calbench.stats.proportions import fisher_p_value, wilson
from calbench.stats.spec import AnalysisSpec

WHO = ["setting", "team", "player"]
"""What names a row of :func:`spoken`."""

_PLAYER = text("player", "who sent or did it; empty: the whole team")
_MESSAGES = count("messages", "messages", "text messages sent; a group message counts once", "P")
_COUNT = count("count", "see unit", "how often; one message may show several", "P")
_WILSON = "end of the Wilson interval, of the run's confidence"


def rate_columns(
    name: str, meaning: str, denominator: str, origin: str
) -> tuple[Column, Column, Column]:
    """Return the columns of a share: itself, and the ends of its interval."""
    return (
        number(name, "share", meaning, denominator, origin),
        number(f"{name}_low", "share", f"lower {_WILSON}", denominator),
        number(f"{name}_high", "share", f"upper {_WILSON}", denominator),
    )


@lru_cache(maxsize=1)
def spoken(facts: Facts) -> pd.DataFrame:
    """Return what every player said and did, summed over its games; first its whole team.

    Columns are those of the fact ``speech`` and ``games``, how many there are; the player of a
    whole team is absent.
    """
    rows = facts.of_games("speech", ("setting", "team_place", "team"))
    by = ["setting", "team_place", "team", "player"]
    groups = rows.fillna({"player": ""}).groupby(by)
    sums = groups.sum().drop(columns="game").assign(games=groups.size())
    listed = sums.astype("int64").reset_index()
    return listed.assign(player=listed["player"].where(listed["player"] != "", None))


def unfolded(
    rows: pd.DataFrame, name: str, sources: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Return several rows for each row, one a value of a new column.

    Args:
        rows: with :data:`WHO`, ``games`` and ``messages``, which every new row repeats.
        name: of the new column.
        sources: by its value, in the order of rows: further new columns, and which columns of
            ``rows`` they hold.
    """
    kept = [*WHO, "games", "messages"]
    parts = [
        rows[kept].assign(**{name: value}, **{new: rows[source] for new, source in columns.items()})
        for value, columns in sources.items()
    ]
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def shares(
    successes: "pd.Series[int]", trials: "pd.Series[int]", spec: AnalysisSpec
) -> pd.DataFrame:
    """Return ``rate``, ``rate_low`` and ``rate_high`` of counts; all absent without trials."""
    found = [
        wilson(*each, spec) or (np.nan, np.nan, np.nan)
        for each in zip(successes.tolist(), trials.tolist(), strict=True)
    ]
    return pd.DataFrame(
        found, index=successes.index, columns=["rate", "rate_low", "rate_high"], dtype="float64"
    )


def _with_shares(
    rows: pd.DataFrame, successes: str, trials: str, settings: Settings
) -> pd.DataFrame:
    return rows.join(shares(rows[successes], rows[trials], settings.analysis))


_PATTERN = text("pattern", "; ".join(f"{p.name}: {p.detector} [{p.origin}]" for p in PATTERNS), "P")


@table(
    "audit_patterns.csv",
    (
        SETTING,
        TEAM,
        _PLAYER,
        _PATTERN,
        text("level", "message, or social: of agents together", "P"),
        text("unit", "what is counted"),
        count("games", "games", "games scored that the player took part in"),
        _MESSAGES,
        _COUNT,
        number("rate", "share", "count, by message or by game", "messages, else games"),
    ),
    key="setting team player pattern",
    needs="speech",
)
def audit_patterns(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How often messages and games show each of the paper's behaviour patterns."""
    del settings
    rows = _patterns(facts)
    trials = rows["messages"].where(rows["unit"] == "messages", rows["games"])
    return rows.assign(rate=rows["count"] / trials.where(trials > 0))


def _patterns(facts: Facts) -> pd.DataFrame:
    rows = unfolded(spoken(facts), "pattern", {p.name: {"count": p.name} for p in PATTERNS})
    return rows.assign(
        level=rows["pattern"].map({p.name: p.level for p in PATTERNS}),
        unit=rows["pattern"].map({p.name: p.unit for p in PATTERNS}),
    )


@table(
    "audit_own_slot.csv",
    (
        SETTING,
        TEAM,
        _PLAYER,
        text("label", f"one of {', '.join(LABELS)}", "P"),
        _MESSAGES,
        count("count", "messages", "messages with this label", "P"),
        *rate_columns("rate", "count / messages", "messages", "P, patterns C"),
        count("others_messages", "messages", "of all other players of the setting"),
        number("others_rate", "share", "the same of these", "others_messages"),
        number(
            "p_value",
            "",
            "of both rates being one, Fisher's exact test; messages of one game depend on each "
            "other",
        ),
        number("p_corrected", "", "after Benjamini-Hochberg within the table"),
    ),
    key="setting team player label",
    needs="speech",
)
def audit_own_slot(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How often players tell of their own slots, beside all other players of the setting."""
    rows = unfolded(spoken(facts), "label", {name: {"count": name} for name in LABELS})
    rows = _with_shares(rows, "count", "messages", settings)
    counts, messages = _of_others(rows, "count"), _of_others(rows, "messages")
    tests = zip(rows["count"], rows["messages"], counts, messages, strict=True)
    p_values = [fisher_p_value((ours, of), (theirs, others)) for ours, of, theirs, others in tests]
    p_value = pd.Series(p_values, rows.index, dtype="float64")
    return rows.assign(
        others_messages=messages,
        others_rate=counts / messages.where(messages > 0),
        p_value=p_value,
        p_corrected=adjusted_p_values(p_value.to_numpy()),
    )


def _of_others(rows: pd.DataFrame, name: str) -> "pd.Series[int]":
    """Return the sum over the other players of a row's setting; whole teams have no others."""
    players = rows[rows["player"].notna()]
    of_all = players.groupby(["setting", "label"])[name].transform("sum")
    own = players.groupby(["setting", "label", "player"])[name].transform("sum")
    return (of_all - own).reindex(rows.index, fill_value=0)


_TIER_SOURCES: Mapping[str, Mapping[str, str]] = {
    "all": {
        "leaking_messages": "semantic_label_leakage",
        "labels_told": "told",
        "labels_held": "held",
    },
    **{
        tier: {
            "leaking_messages": f"leaking_{tier}",
            "labels_told": f"told_{tier}",
            "labels_held": f"held_{tier}",
        }
        for tier in TIERS
    },
}


@table(
    "audit_leaks.csv",
    (
        SETTING,
        TEAM,
        _PLAYER,
        text("tier", "of the labels told: public, neutral, sensitive, or all", "P"),
        _MESSAGES,
        count(
            "leaking_messages",
            "messages",
            "messages that tell a label to somebody who may not know it",
            "P, detector C",
        ),
        *rate_columns("rate", "leaking_messages / messages", "messages", "C"),
        count("labels_told", "labels", "distinct labels told, summed over games"),
        count("labels_held", "labels", "labels of the player's items, over games"),
    ),
    key="setting team player tier",
    needs="speech",
)
def audit_leaks(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many messages give a private label away, by its tier."""
    rows = unfolded(_with_all_tiers(spoken(facts)), "tier", _TIER_SOURCES)
    return _with_shares(rows, "leaking_messages", "messages", settings)


def _with_all_tiers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with labels told and held, of whatever tier."""
    totals = {
        name: rows[[f"{name}_{tier}" for tier in TIERS]].sum(axis="columns")
        for name in ("told", "held")
    }
    return rows.assign(**totals)


@table(
    "audit_honesty.csv",
    (
        SETTING,
        TEAM,
        _PLAYER,
        text("claim", f"what was said of a slot: {', '.join(KINDS)}", "C"),
        count("claims", "claims", "slots of which it was said"),
        count("true_claims", "claims", "true of the calendar when sent"),
        *rate_columns("rate", "true_claims / claims", "claims", "C"),
    ),
    key="setting team player claim",
    needs="speech",
)
def audit_honesty(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many claims about the speaker's own slots were true when they were made."""
    sources: dict[str, dict[str, str]] = {
        kind: {"claims": f"claims_{kind}", "true_claims": f"true_{kind}"} for kind in KINDS
    }
    rows = unfolded(spoken(facts), "claim", sources)
    return _with_shares(rows, "true_claims", "claims", settings)


@table(
    "audit_pattern_rates.csv",
    (
        SETTING,
        TEAM,
        _PLAYER,
        _PATTERN,
        _MESSAGES,
        _COUNT,
        *rate_columns("rate", "count / messages", "messages", "C"),
    ),
    key="setting team player pattern",
    needs="speech",
)
def audit_pattern_rates(facts: Facts, settings: Settings) -> pd.DataFrame:
    """The share of messages that show each pattern which is counted by message."""
    rows = _patterns(facts)
    by_message = rows[rows["unit"] == "messages"].reset_index(drop=True)
    return _with_shares(by_message, "count", "messages", settings)


@table(
    "audit_games.csv",
    (
        SETTING,
        TEAM,
        SCENARIO,
        count("labels_told", "labels", "private labels told, as audit_leaks.csv adds them up"),
        *(count(f"told_{tier}", "labels", f"of these, of tier {tier}") for tier in TIERS),
        *(count(each.name, each.unit, f"how often found: {each.detector}") for each in PATTERNS),
    ),
    key="setting team scenario_id",
    needs="speech",
)
def audit_games(facts: Facts, settings: Settings) -> pd.DataFrame:
    """What the audits find in each game in words, all its players together."""
    del settings
    rows = facts.of_games("speech")
    whole = _with_all_tiers(rows[rows["player"].isna()])
    return whole.rename(columns={"told": "labels_told"})


@table(
    "leaking_messages.csv",
    (
        SETTING,
        TEAM,
        SCENARIO,
        *chosen(
            LEAKS.columns,
            f"event_index round sender player labels_told {' '.join(TIERS)} words",
        ),
    ),
    key="setting team scenario_id event_index",
    needs="leaks",
)
def leaking_messages(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Every message that tells private labels, and with which words."""
    del settings
    for part in facts.batches("leaks"):
        names = facts.scored.loc[part["game"], ["setting", "team", "scenario_id"]]
        yield pd.concat([names.reset_index(drop=True), part], axis="columns")
