"""Audits of language: patterns, own slots, private labels and honesty, by team and player."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from calbench.analysis.estimates import ENDS, estimated_shares
from calbench.analysis.registry import Settings, table
from calbench.facts.columns import SCENARIO, SETTING, TEAM, chosen, count, text
from calbench.facts.speech import CASES, LEAKS, SECOND_HAND
from calbench.facts.storage import Facts
from calbench.metrics.speech.cases import NAMES_BY_KIND
from calbench.metrics.speech.honesty import KINDS
from calbench.metrics.speech.patterns import PATTERNS
from calbench.metrics.speech.rules import NAMES as LABELS
from calbench.scenarios.labels import TIERS
from calbench.stats.proportions import fisher_p_value
from calbench.stats.resampling import adjusted_p_values

WHO = ["setting", "team", "player"]
"""Key of :func:`spoken`."""

_GROUPS = ["setting", "team_place", "team", "player"]

_PLAYER = text("player", "player that sent or did it; empty: the whole team")
_MESSAGES = count("messages", "messages", "text messages sent; a group message counts once", "P")
_COUNT = count("count", "see unit", "number found; a message may show several patterns", "P")


@lru_cache(maxsize=1)
def _by_game(facts: Facts) -> pd.DataFrame:
    """Return the counts of every player in every game; the player of a whole team is empty."""
    names = ("setting", "team_place", "team", "scenario_id")
    return _with_all_tiers(facts.of_games("speech", names).fillna({"player": ""}))


@lru_cache(maxsize=1)
def spoken(facts: Facts) -> pd.DataFrame:
    """Return the counts of every player, summed over its games; first its whole team.

    Columns are those of the fact ``speech``, of all tiers too, and ``games``, their number; the
    player of a whole team is absent.
    """
    groups = _by_game(facts).drop(columns="scenario_id").groupby(_GROUPS)
    sums = groups.sum().drop(columns="game").assign(games=groups.size())
    listed = sums.astype("int64").reset_index()
    return listed.assign(player=listed["player"].where(listed["player"] != "", None))


def with_rates(
    facts: Facts,
    settings: Settings,
    name: str,
    sources: Mapping[str, Mapping[str, str]],
    successes: str,
    trials: str,
) -> pd.DataFrame:
    """Return rows of :func:`spoken`, unfolded, with a ``rate`` and its interval over scenarios.

    Args:
        facts: of a run.
        settings: of the estimates.
        name: as in :func:`unfolded`.
        sources: as in :func:`unfolded`.
        successes: column of the numerator.
        trials: column of the denominator: of each of ``sources``, or ``messages``.
    """
    games = _by_game(facts)
    parts, wholes = (
        pd.DataFrame(
            {f"{value}/rate": games[columns.get(part, part)] for value, columns in sources.items()}
        ).astype("float64")
        for part in (successes, trials)
    )
    shares = estimated_shares(games, ["team", "player"], parts, wholes, settings.analysis)
    shares = shares.assign(player=shares["player"].where(shares["player"] != "", None))
    rows = spoken(facts).merge(shares, "left", WHO)
    rated = {
        value: {**columns, **{f"rate{end}": f"{value}/rate{end}" for end in ENDS}}
        for value, columns in sources.items()
    }
    return unfolded(rows, name, rated)


def unfolded(
    rows: pd.DataFrame, name: str, sources: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Return several rows for each row, one per value of a new column.

    Args:
        rows: with :data:`WHO`, ``games`` and ``messages``, which every new row repeats.
        name: of the new column.
        sources: by its value, in the order of rows: further new columns, and the columns of
            ``rows`` with their values.
    """
    repeated = np.repeat(np.arange(len(rows)), len(sources))
    found = rows[[*WHO, "games", "messages"]].iloc[repeated].reset_index(drop=True)
    own = {
        new: np.stack([rows[columns[new]] for columns in sources.values()], axis=1).ravel()
        for new in next(iter(sources.values()))
    }
    return found.assign(**own, **{name: np.tile([*sources], len(rows))})


_PATTERN = text("pattern", "; ".join(f"{p.name}: {p.detector} [{p.origin}]" for p in PATTERNS), "P")


@table(
    "audit_patterns.csv",
    """
    setting team player pattern
    level (text; P): message, or social: of several agents
    unit (text): what is counted
    games (count, games): games scored in which it took part
    messages count
    rate (number, share): count per message or per game // messages, else games
    """,
    key="setting team player pattern",
    needs="speech",
    of=[_PLAYER, _PATTERN, _MESSAGES, _COUNT],
)
def audit_patterns(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How often messages and games show each behaviour pattern of the paper."""
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
    f"""
    setting team player
    label (text; P): one of {", ".join(LABELS)}
    messages
    count (count, messages; P): messages with this label
    rate (share; P, patterns C): count / messages // messages
    others_messages (count, messages): of all other players of the setting
    others_rate (number, share): the same for these // others_messages
    p_value (number): Fisher's exact test that both rates are equal; messages of one game are
        dependent
    p_corrected (number): Benjamini-Hochberg over all rows of the table
    """,
    key="setting team player label",
    needs="speech",
    of=[_PLAYER, _MESSAGES],
)
def audit_own_slot(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How often players tell about their own slots, and all other players of the setting."""
    sources = {name: {"count": name} for name in LABELS}
    rows = with_rates(facts, settings, "label", sources, "count", "messages")
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


_TIER_SOURCES = {
    tier: {
        "leaking_messages": f"leaking_{tier}",
        "labels_told": f"told_{tier}",
        "labels_held": f"held_{tier}",
        "passing_messages": f"passing_{tier}",
        "disclosing_messages": f"disclosing_{tier}",
        "labels_passed_on": f"passed_{tier}",
        "labels_passed_by_others": f"passed_by_others_{tier}",
        "labels_out": f"out_{tier}",
        "learnt_first_hand": f"learnt_{tier}",
        "learnt_second_hand": f"learnt_on_{tier}",
    }
    for tier in ("all", *TIERS)
}


@table(
    "audit_leaks.csv",
    """
    setting team player
    tier (text; P): of the labels told: public, neutral, sensitive, or all
    messages
    leaking_messages (count, messages; P, detector C): messages that tell a label to an agent that
        may not know it
    rate (share): leaking_messages / messages // messages
    labels_told (count, labels): distinct labels told, summed over games
    labels_held (count, labels): labels of the player's items, summed over games
    passing_messages (count, messages): second-hand: messages that pass on a label of another to an
        agent to which it is news
    disclosing_messages (count, messages): total: messages that tell a label or pass one on; one
        that does both counts once
    labels_passed_on (count, labels): as speaker: distinct labels of others that the player passed
        on, summed over games
    labels_passed_by_others (count, labels): as owner: of labels_held, those that an agent learnt
        second-hand
    labels_out (count, labels): as owner, total: of labels_held, those that an agent learnt which
        may not know them, from whomever
    learnt_first_hand (count, pairs): as owner: pairs of such a label and an agent that learnt it
        from one of its owners
    learnt_second_hand (count, pairs): as owner: the same from anybody else; an agent learns a label
        once, from who is first
    """,
    key="setting team player tier",
    needs="speech",
    of=[_PLAYER, _MESSAGES],
)
def audit_leaks(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many messages leak a private label, by tier: the player's own, and those of others."""
    return with_rates(facts, settings, "tier", _TIER_SOURCES, "leaking_messages", "messages")


_SECOND_HAND = ("passed", "passed_by_others", "out", "learnt", "learnt_on")
"""Columns of labels of which those of the tiers add up to all."""


def _with_all_tiers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with leaking messages, and labels told, held and so on, of all tiers."""
    totals = {
        f"{name}_all": rows[[f"{name}_{tier}" for tier in TIERS]].sum(axis="columns")
        for name in ("told", "held", *_SECOND_HAND)
    }
    return rows.assign(leaking_all=rows["semantic_label_leakage"], **totals)


@table(
    "audit_honesty.csv",
    f"""
    setting team player
    claim (text; C): what was said about a slot: {", ".join(KINDS)}
    claims (count, claims): slots with this claim
    true_claims (count, claims): of these, true of the calendar when sent
    rate (share): true_claims / claims // claims
    """,
    key="setting team player claim",
    needs="speech",
    of=[_PLAYER],
)
def audit_honesty(facts: Facts, settings: Settings) -> pd.DataFrame:
    """How many claims about the speaker's own slots were true when they were made."""
    sources: dict[str, dict[str, str]] = {
        kind: {"claims": f"claims_{kind}", "true_claims": f"true_{kind}"} for kind in KINDS
    }
    return with_rates(facts, settings, "claim", sources, "true_claims", "claims")


@table(
    "audit_pattern_rates.csv",
    """
    setting team player pattern messages count
    rate (share): count / messages // messages
    """,
    key="setting team player pattern",
    needs="speech",
    of=[_PLAYER, _PATTERN, _MESSAGES, _COUNT],
)
def audit_pattern_rates(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Share of messages that show each pattern, for patterns counted by message."""
    sources = {p.name: {"count": p.name} for p in PATTERNS if p.unit == "messages"}
    return with_rates(facts, settings, "pattern", sources, "count", "messages")


@table(
    "audit_games.csv",
    """
    setting team scenario_id
    labels_told (count, labels): distinct private labels told, as in audit_leaks.csv
    tiers patterns
    labels_passed_on (count, labels): distinct labels of others passed on, by each agent
    learnt_second_hand (count, pairs): as in audit_leaks.csv, over all agents
    """,
    key="setting team scenario_id",
    needs="speech",
    tiers=(count(f"told_{tier}", "labels", f"of these, of tier {tier}") for tier in TIERS),
    patterns=(
        count(each.name, each.unit, f"how often found: {each.detector}") for each in PATTERNS
    ),
)
def audit_games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Results of the audits by game, all its players together."""
    rows = facts.of_games("speech")
    whole = _with_all_tiers(rows[rows["player"].isna()])
    return whole.rename(
        columns={
            "told_all": "labels_told",
            "passed_all": "labels_passed_on",
            "learnt_on_all": "learnt_second_hand",
        }
    )


@table(
    "leaking_messages.csv",
    """
    setting team scenario_id leaks
    """,
    key="setting team scenario_id event_index",
    needs="leaks",
    leaks=LEAKS.columns,
)
def leaking_messages(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every message that tells private labels or passes them on, and with which words."""
    return map(facts.named, facts.batches("leaks"))


@table(
    "second_hand_leaks.csv",
    (SETTING, TEAM, SCENARIO, *SECOND_HAND.columns),
    key="setting team scenario_id event_index item",
    needs="second_hand",
)
def second_hand_leaks(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every label that a message passes on, of whom, to whom, and on which path it came."""
    return map(facts.named, facts.batches("second_hand"))


_NAMED = chosen(CASES.columns, "kind name")
_COUNTS = (
    count("games", "games", "scored games with a case"),
    *chosen(CASES.columns, "found plain"),
)
_PLACE = (SCENARIO, *chosen(CASES.columns, "event_index round agents"))

_ORDER = {
    each: place
    for place, each in enumerate((kind, n) for kind, names in NAMES_BY_KIND.items() for n in names)
}


@table(
    "audit_cases.csv",
    (SETTING, TEAM, *_NAMED, *_COUNTS, *_PLACE),
    key="setting team kind name",
    needs="cases",
)
def audit_cases(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How often each pattern, outcome, tier and statement was found, and the first plain case.

    The case is of the first scenario by its id that has a plain one, else of the first that has
    one; of a team's several games on it, of the first.
    """
    found = _first(facts, ["setting", "team", "kind", "name"])
    return found.sort_values(["setting", "team_place", "order"], kind="stable")


@table(
    "audit_first_cases.csv",
    (*_NAMED, *_COUNTS, SETTING, TEAM, *_PLACE),
    key="kind name",
    needs="cases",
)
def audit_first_cases(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Likewise over all settings and teams; of several teams on the scenario, the first's case."""
    return _first(facts, ["kind", "name"]).sort_values("order", kind="stable")


def _first(facts: Facts, groups: Sequence[str]) -> pd.DataFrame:
    """Return a row for each group of cases: the one to show, with the sums of its group."""
    rows = facts.of_games(
        "cases", ("setting", "team_place", "team", "scenario_id", "replicate")
    ).sort_values("game", kind="stable")
    order = [_ORDER[each] for each in zip(rows["kind"], rows["name"], strict=True)]
    rows = rows.assign(order=order, is_plain=rows["plain"] > 0)
    by_group = rows.groupby(list(groups))
    sums = by_group[["found", "plain"]].sum().assign(games=by_group.size()).reset_index()
    shown = rows.sort_values(
        ["is_plain", "scenario_id", "team_place", "replicate"],
        ascending=[False, True, True, True],
        kind="stable",
    ).drop_duplicates(list(groups))
    return shown.drop(columns=["found", "plain"]).merge(sums, on=list(groups))
