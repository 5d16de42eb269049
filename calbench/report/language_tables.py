"""Tables of players that use language, each from the CSV it names."""

from collections.abc import Sequence
from typing import NamedTuple

from calbench.facts.reflections import MAGNITUDES
from calbench.metrics.usage import PROBLEMS
from calbench.report import figures, numbers
from calbench.report.escape import html_text
from calbench.report.games import kind_words
from calbench.report.results import ExperimentResults, Row
from calbench.report.setting import SettingResults

METHOD = "../method.html"

CALIBRATION = "privacy/reflection_calibration.csv"


class Named(NamedTuple):
    """An experiment as the rows of a table name it; without a title they do not."""

    title: str
    results: ExperimentResults


def kind_by_team(results: ExperimentResults) -> dict[str, str]:
    """Return the kind of every team in words, by the players that sat in it (players.csv)."""
    kinds: dict[str, dict[str, None]] = {}
    for row in results.table("players.csv"):
        for team in row["teams"].split():
            kinds.setdefault(team, {})[row["kind"]] = None
    return {team: kind_words(found) for team, found in kinds.items()}


def team_measures(each: SettingResults, title: str) -> str:
    """Return the paper's five measures of every team with intervals and n (leaderboard.csv)."""
    return numbers.table(
        title,
        [
            numbers.plain_header("Team"),
            numbers.plain_header("Games"),
            *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
            numbers.word_header("VPS measured by"),
        ],
        [
            [
                each.team_header(row),
                numbers.number_cell(row["games"]),
                *(
                    numbers.estimate_cell(row, name, each.agent_games.get((row["team"], name)))
                    for name in numbers.HEADLINE
                ),
                numbers.word_cell(vps_words(row)),
            ]
            for row in each.leaderboard
        ],
    )


def vps_words(row: Row) -> str:
    """Return how a row's VPS was measured."""
    return figures.VPS_KIND_NAMES.get(row["vps_kind"], row["vps_kind"])


def player_measures(named: Named) -> str:
    """Return the measures of every player over all seats it took (players.csv)."""
    title = named.title.capitalize() or "All games"
    return numbers.table(
        f"{title}, by player: mean and {named.results.confidence} interval over scenarios",
        [
            numbers.plain_header("Player"),
            numbers.word_header("Setting"),
            numbers.word_header("Sat in"),
            numbers.plain_header("Agent-games"),
            *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
            numbers.word_header("VPS measured by"),
        ],
        [
            [
                numbers.team_header(row["player"], row["kind"]),
                numbers.word_cell(row["setting"]),
                numbers.word_cell(row["teams"].replace(" ", ", ")),
                numbers.number_cell(row["agent_games"]),
                *(numbers.estimate_cell(row, name) for name in numbers.HEADLINE),
                numbers.word_cell(vps_words(row)),
            ]
            for row in named.results.table("players.csv")
        ],
    )


def calibration(experiments: Sequence[Named]) -> str:
    """Return how often reflections go toward the truth (privacy/reflection_calibration.csv)."""
    rows = [
        [
            f'<th scope="row">{html_text(row["team"])}</th>',
            numbers.word_cell(", ".join(text for text in (title, row["setting"]) if text)),
            *(numbers.number_cell(row[name]) for name in ("reflections", "unread", "movements")),
            _share(row, "precision"),
            *(numbers.number_cell(row[name], 2) for name in ("mean_toward", "mean_away")),
            *(_share(row, f"precision_{size}") for size in MAGNITUDES),
        ]
        for title, results in experiments
        if (results.tables / CALIBRATION).is_file()
        for row in results.table(CALIBRATION)
    ]
    if not rows:
        return "<p>Nobody was asked to reflect, or the answers were not measured.</p>"
    return numbers.table(
        "Movements of belief that go toward the truth, as a share of 1",
        [
            numbers.plain_header("Team"),
            numbers.word_header("Games"),
            *(numbers.plain_header(text) for text in ("Reflections", "Unreadable", "Movements")),
            numbers.plain_header("Toward the truth"),
            *(numbers.plain_header(text) for text in ("Mean step toward", "Mean step away")),
            *(numbers.plain_header(f"Steps of {size}") for size in MAGNITUDES),
        ],
        rows,
    )


def replies(experiments: Sequence[Named]) -> str:
    """Return how the replies of language players were read (reply_outcomes.csv)."""
    names = ["replies", "read", "recovered", *PROBLEMS]
    return numbers.table(
        "Replies, and how they were read",
        [
            numbers.plain_header("Player"),
            *_place_headers(experiments),
            *(numbers.plain_header(name.replace("_", " ").capitalize()) for name in names),
        ],
        [
            [
                numbers.team_header(row["player"], row["kind"]),
                *_place(title, row),
                *(numbers.number_cell(row[name]) for name in names),
            ]
            for title, results in experiments
            for row in results.table("reply_outcomes.csv")
        ],
    )


NO_CALLS = "<p>No model was asked, so there are no tokens to count and nothing to pay.</p>"


def tokens(experiments: Sequence[Named]) -> str:
    """Return what was asked of models, and its price (usage.csv)."""
    names = ["calls", "input_tokens", "cached_tokens", "output_tokens", "estimated_calls"]
    rows = [
        [
            f'<th scope="row">{html_text(row["player"])}</th>',
            *_place(title, row),
            numbers.word_cell(row["team"]),
            *(numbers.number_cell(row[name]) for name in ("games", *names)),
            numbers.number_cell(row["price_usd"], 2),
        ]
        for title, results in experiments
        for row in results.table("usage.csv")
    ]
    if not rows:
        return NO_CALLS
    return numbers.table(
        "Calls, tokens and price, reflections included",
        [
            numbers.plain_header("Player"),
            *_place_headers(experiments),
            numbers.word_header("Team"),
            *(
                numbers.plain_header(name.replace("_", " ").capitalize())
                for name in ("games", *names)
            ),
            numbers.plain_header("US$"),
        ],
        rows,
    )


def downloads(results: ExperimentResults) -> list[str]:
    """Return an experiment's tables, as the site has them below ``tables``."""
    found = sorted(path.name for path in results.tables.glob("*.csv"))
    if (results.tables / CALIBRATION).is_file():
        found.append(CALIBRATION)
    return [f"{results.name}/{name}" for name in found]


def _place_headers(experiments: Sequence[Named]) -> list[str]:
    is_named = any(each.title for each in experiments)
    return [numbers.word_header(text) for text in (("Channel",) if is_named else ()) + ("Setting",)]


def _place(title: str, row: Row) -> list[str]:
    return [numbers.word_cell(text) for text in ((title,) if title else ()) + (row["setting"],)]


def _share(row: Row, name: str) -> str:
    """Return a share with its interval, if anything moved."""
    if not row[name]:
        return f'<td><span title="no movement">{numbers.DASH}</span></td>'
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if not low or not high:
        return numbers.number_cell(row[name], 3)
    return numbers.range_cell(row[name], low, high, 3)
