"""The page of ratings: players who met in mixed teams, and how sure their order is."""

from collections.abc import Sequence

from calbench.analysis.ratings.pools import RATINGS
from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.games import kind_words
from calbench.report.results import ExperimentResults, Row, percent

METHOD = "../method.html#ratings"

POOLS = {"models": "Models, and code of one's own", "scripted": "Scripted speakers"}
"""Pools of players as the page calls them; nobody is rated against another pool."""

TITLES = {
    "coordination": "Coordination",
    "shown_excess_cost": "Shown excess cost",
    "excess_cost": "Excess cost",
    "excess_vps": "Excess VPS",
}


def ratings(experiments: Sequence[ExperimentResults]) -> str:
    """Return the standings of every pool, experiment and setting (ratings.csv)."""
    parts = []
    for results in experiments:
        rows = results.table("ratings.csv")
        confidence = percent(results.made_with.analysis.ratings.confidence)
        for pool in dict.fromkeys(row["pool"] for row in rows):
            own = [row for row in rows if row["pool"] == pool]
            title = f"{POOLS.get(pool, pool)}: {results.name}"
            parts.append(f'<h2 id="{results.name}-{html_text(pool)}">{html_text(title)}</h2>')
            if not any(row["mmr"] for row in own):
                parts.append(_nobody(own))
                continue
            for setting in dict.fromkeys(row["setting"] for row in own):
                ranked = [row for row in own if row["setting"] == setting]
                parts += [*_warnings(setting, ranked), _standings(setting, ranked, confidence)]
            parts += [_pairs(results, pool), _margins(results, pool), _links(results)]
    return "\n\n".join(part for part in parts if part) or "<p>No player was rated.</p>"


def _nobody(rows: Sequence[Row]) -> str:
    """Return why a pool has no ratings, with its games in each setting."""
    games = ", ".join(
        f"{html_text(row['player'])} in {html_text(row['setting'])} "
        f"{numbers.shown_number(row['games'], None)}"
        for row in rows
        if row["setting"] != "all"
    )
    return (
        '<p class="lb-warning">⚠ Not rated: too few of these games seated two players of the pool, '
        "and a player that meets only itself cannot be told from its company. "
        f"Games: {games}.</p>"
    )


def _standings(setting: str, rows: Sequence[Row], confidence: str) -> str:
    name = "all settings together" if setting == "all" else setting
    return _wide(
        numbers.table(
            f"{name}: skill, uncertainty and spread over orders of games",
            [
                numbers.plain_header("Player"),
                _header("Rank", f"{confidence} interval over scenarios"),
                _header("MMR", "and spread over orders"),
                *(_header(TITLES[r.name], "ordinal, mu and sigma") for r in RATINGS),
                numbers.plain_header("Games"),
                _header("Excluded", "not scored"),
            ],
            [
                [
                    _player(row, rows),
                    _rank(row),
                    _mmr(row),
                    *(_rating(row, rating.name) for rating in RATINGS),
                    numbers.number_cell(row["games"]),
                    numbers.number_cell(row["games_excluded"]),
                ]
                for row in rows
            ],
        )
    )


def _wide(table: str) -> str:
    return table.replace('class="cb-numbers"', 'class="cb-numbers lb-table"', 1)


def _header(title: str, unit: str) -> str:
    return (
        f'<th scope="col"><a href="{METHOD}">{html_text(title)}</a>'
        f'<span class="cb-unit">{html_text(unit)}</span></th>'
    )


def _player(row: Row, rows: Sequence[Row]) -> str:
    """Return a player's header; players of one name are told apart by their settings."""
    is_shared = sum(other["player"] == row["player"] for other in rows) > 1
    name = f"{row['player']} ({row['settings_digest']})" if is_shared else row["player"]
    return numbers.team_header(name, kind_words([row["kind"]]))


def _rank(row: Row) -> str:
    if not row["rank_low"]:
        return f'<td><span title="no rating">{numbers.DASH}</span></td>'
    ends = dict.fromkeys((row["rank_low"], row["rank_high"]))
    text = numbers.DASH.join(numbers.shown_number(end, None) for end in ends)
    group = numbers.shown_number(row["tie_group"], None) if row["tie_group"] else ""
    note = f'<span class="cb-range">tie group {group}</span>' if group else ""
    return f"<td>{text}{note}</td>"


def _mmr(row: Row) -> str:
    if not row["mmr"]:
        return f'<td><span title="no rating">{numbers.DASH}</span></td>'
    spread = numbers.shown_number(row["mmr_spread"], 0)
    value = numbers.shown_number(row["mmr"], 0)
    return f'<td>{value}<span class="cb-range">± {spread}</span></td>'


def _rating(row: Row, name: str) -> str:
    events = numbers.shown_number(row[f"{name}_events"], None)
    note = f'<span class="cb-range">{events} games</span>'
    if not row[f"{name}_ordinal"]:
        return f'<td><span title="no event">{numbers.DASH}</span>{note}</td>'
    ordinal, mu, sigma, spread = (
        numbers.shown_number(row[f"{name}_{part}"], 1)
        for part in ("ordinal", "mu", "sigma", "spread")
    )
    return (
        f'<td>{ordinal}<span class="cb-range">± {spread} over orders</span>'
        f'<span class="cb-range">{mu} and {sigma}</span>{note}</td>'
    )


def _warnings(setting: str, rows: Sequence[Row]) -> list[str]:
    """Return what makes an order of players mean less than it seems to."""
    found = []
    for row in rows:
        if row["never_met"]:
            others = ", ".join(row["never_met"].split())
            found.append(f"{row['player']} never sat in a game with: {others}.")
    parts = dict.fromkeys(row["component"] for row in rows if row["mmr"])
    if len(parts) > 1:
        found.append("No chain of games links all players; ranks across the gap mean nothing.")
    alone = [row["player"] for row in rows if not row["mmr"]]
    if alone:
        found.append(
            f"Not rated, as too few of its games had two players of the pool: {', '.join(alone)}."
        )
    text = " ".join(found)
    return [f'<p class="lb-warning">⚠ {html_text(f"{setting}: {text}")}</p>'] if found else []


def _pairs(results: ExperimentResults, pool: str) -> str:
    """Return how many games each pair shared (ratings_pairs.csv)."""
    rows = [row for row in results.table("ratings_pairs.csv") if row["pool"] == pool]
    if not rows:
        return ""
    table = numbers.table(
        "Games in which both sat",
        [
            numbers.plain_header("Player"),
            numbers.word_header("Other"),
            numbers.word_header("Setting"),
            numbers.plain_header("Games"),
            numbers.word_header("Linked by other games"),
        ],
        [
            [
                f'<th scope="row">{html_text(row["player"])}</th>',
                numbers.word_cell(row["other"]),
                numbers.word_cell(row["setting"]),
                numbers.number_cell(row["games"]),
                numbers.word_cell("yes" if row["is_linked"] == "true" else "⚠ no"),
            ]
            for row in rows
        ],
    )
    return _folded("Who met whom", table)


def _margins(results: ExperimentResults, pool: str) -> str:
    """Return the margins of each rating (ratings_margins.csv)."""
    rows = [row for row in results.table("ratings_margins.csv") if row["pool"] == pool]
    if not rows:
        return ""
    names = ("events", "median_range", "greatest_range", "margin")
    table = numbers.table(
        "Margins: gaps below them count as less than a rank",
        [
            numbers.plain_header("Rating"),
            numbers.word_header("Setting"),
            *(numbers.plain_header(name.replace("_", " ").capitalize()) for name in names),
        ],
        [
            [
                f'<th scope="row">{html_text(TITLES.get(row["rating"], row["rating"]))}</th>',
                numbers.word_cell(row["setting"]),
                *(numbers.number_cell(row[n], None if n == "events" else 2) for n in names),
            ]
            for row in rows
        ],
    )
    return _folded("Margins", table)


def _folded(title: str, table: str) -> str:
    return f"<details>\n<summary>{html_text(title)}</summary>\n{table}\n</details>"


def _links(results: ExperimentResults) -> str:
    names = ("ratings", "ratings_pairs", "ratings_margins")
    links = [f'<a href="../tables/{results.name}/{n}.csv" download>{n}.csv</a>' for n in names]
    return f"<p>{' · '.join(links)}</p>"


def unrated(experiments: Sequence[ExperimentResults]) -> str:
    """Return the order of players that are never rated (ratings_unrated.csv)."""
    parts = [
        _unrated(results.name, setting, [row for row in rows if row["setting"] == setting])
        for results in experiments
        for rows in [results.table("ratings_unrated.csv")]
        for setting in dict.fromkeys(row["setting"] for row in rows)
    ]
    return "\n\n".join(parts) or "<p>There are none.</p>"


def _unrated(experiment: str, setting: str, rows: Sequence[Row]) -> str:
    digits = {"coordination": 1, "excess_cost": 2, "excess_vps": 2}
    return numbers.table(
        f"{experiment}, {setting}: by coordination, then excess cost, then VPS",
        [
            numbers.plain_header("Player"),
            numbers.plain_header("Place"),
            *(numbers.measure_header(name, "../method.html") for name in digits),
            numbers.plain_header("Agent-games"),
        ],
        [
            [
                numbers.team_header(row["player"], kind_words([row["kind"]])),
                numbers.number_cell(row["place"]),
                *(numbers.number_cell(row[name], count) for name, count in digits.items()),
                numbers.number_cell(row["agent_games"]),
            ]
            for row in rows
        ],
    )
