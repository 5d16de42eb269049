"""The parts of pages that hold numbers, each from the tables it names."""

from collections.abc import Mapping, Sequence

from calbench.analysis.measures import MEASURES
from calbench.metrics.outcomes import OUTCOMES
from calbench.report import frontier, numbers
from calbench.report.escape import html_text
from calbench.report.figures.figure import Figure, place
from calbench.report.setting import SettingResults

COST_MEASURES = frozenset(
    {"coordination", "excess_cost", "excess_cost_per_meeting", "adjusted_excess_cost"}
)
"""The measures of the first of a page's two tables."""


def headline(shown: Sequence[SettingResults]) -> str:
    """Return the home page's tables: the paper's five measures, by setting (leaderboard.csv)."""
    return "\n\n".join(
        numbers.table(
            f"{each.title}: mean and {each.results.confidence} interval over scenarios",
            [
                numbers.plain_header("Team"),
                numbers.plain_header("Games"),
                *(numbers.measure_header(name, "method.html") for name in numbers.HEADLINE),
            ],
            [
                [
                    each.team_header(row),
                    numbers.number_cell(row["games"]),
                    *(numbers.estimate_cell(row, name) for name in numbers.HEADLINE),
                ]
                for row in each.leaderboard
            ],
        )
        + f'\n\n<p><a href="results/{each.slug}.html">Every measure of {html_text(each.title)}'
        f'</a> · <a href="traces.html#{each.results.name}">its games, step by step</a></p>'
        for each in shown
    )


def counts(each: SettingResults) -> str:
    """Return in a sentence what the numbers rest on (leaderboard.csv)."""
    parts = [
        " or ".join(
            numbers.shown_number(number, None)
            for number in sorted({row[name] for row in each.leaderboard}, key=int)
        )
        for name in ("scenarios", "games")
    ]
    return (
        f"<p>{parts[0]} scenarios and {parts[1]} scored games a team. "
        f"Intervals are of {each.results.confidence}, by "
        '<a href="../method.html#bootstrap">bootstrap over scenarios</a>; '
        "n is how many agent-games count, one for each agent of each game.</p>"
    )


def measures(each: SettingResults, method_page: str) -> str:
    """Return every measure of every team, with intervals and n (leaderboard.csv)."""
    names = [measure.name for measure in MEASURES]
    halves = [
        ("Success and cost", [name for name in names if name in COST_MEASURES]),
        ("Talk, fairness and privacy", [name for name in names if name not in COST_MEASURES]),
    ]
    shown = "\n\n".join(
        numbers.table(
            title,
            [
                numbers.plain_header("Team"),
                *(numbers.measure_header(name, method_page) for name in names),
            ],
            [
                [
                    each.team_header(row),
                    *(
                        numbers.estimate_cell(row, name, each.agent_games.get((row["team"], name)))
                        for name in names
                    ),
                ]
                for row in each.leaderboard
            ],
        )
        for title, names in halves
    )
    return shown + _vps_note(each, method_page)


VPS_NOTES: Mapping[str, str] = {
    "reflection": "by the reflections of those it spoke to",
    "mixed": "in its typed seats by their messages, in the others by reflections",
    "": "not at all: nobody was asked to reflect, or no answer could be read",
}
"""How a team's VPS was measured, where it was not by typed messages alone."""


def _vps_note(each: SettingResults, method_page: str) -> str:
    """Return how VPS was measured where a team speaks in words (leaderboard.csv)."""
    teams_by_kind: dict[str, list[str]] = {}
    for row in each.leaderboard:
        if row["games"] != "0":
            teams_by_kind.setdefault(row["vps_kind"], []).append(row["team"])
    parts = [
        f"{html_text(', '.join(teams_by_kind[kind]))}: {note}"
        for kind, note in VPS_NOTES.items()
        if kind in teams_by_kind
    ]
    if not parts:
        return ""
    link = f'<a href="{method_page}#reflection">VPS</a>'
    return f"\n\n<p>How {link} was measured, where not by typed messages: {'; '.join(parts)}.</p>"


def definitions(method_page: str) -> str:
    """Return what each measure adds up and over what it runs, in one line a measure."""
    return numbers.table(
        "Definitions in short; each title leads to the whole one",
        [numbers.word_header(text) for text in ("Measure", "Definition", "Runs over", "Origin")],
        [
            [
                numbers.definition_header(measure.name, method_page),
                numbers.word_cell(measure.definition),
                numbers.word_cell(measure.denominator),
                numbers.word_cell(f"[{measure.origin}]"),
            ]
            for measure in MEASURES
        ],
    )


def outcomes(each: SettingResults) -> str:
    """Return how meetings ended (outcomes.csv)."""
    names = ["games", "games_excluded", "excluded_percent", "meetings", *OUTCOMES]
    return numbers.table(
        "How meetings ended",
        [
            numbers.plain_header("Team"),
            *(numbers.plain_header(name.replace("_", " ").capitalize()) for name in names),
        ],
        [
            [
                each.team_header(row)
                if row["is_flagged"] != "true"
                else each.team_header(row).replace("</th>", " ⚠ many games excluded</th>"),
                *(
                    numbers.number_cell(row[name], 1 if name == "excluded_percent" else None)
                    for name in names
                ),
            ]
            for row in each.rows("outcomes.csv")
        ],
    )


def sensitivity(each: SettingResults) -> str:
    """Return how far fairness moves over optimal ties (sensitivity.csv)."""
    return numbers.table(
        "Fairness against other optimal schedules",
        [
            numbers.plain_header(text)
            for text in ("Team", "least", "canonical", "greatest", "games", "of these sampled")
        ],
        [
            [
                each.team_header(row),
                *(
                    numbers.number_cell(row[name], 3)
                    for name in ("fairness_least", "fairness", "fairness_greatest")
                ),
                *(numbers.number_cell(row[name]) for name in ("games", "games_sampled")),
            ]
            for row in each.rows("sensitivity.csv")
        ],
    )


def leaks(each: SettingResults) -> str:
    """Return which messages gave how much away (vps_shares.csv)."""
    rows = each.rows("vps_shares.csv")
    if not rows:
        return "<p>No message gave anything away.</p>"
    return numbers.table(
        "VPS by kind of message and channel, before the floor, mean over agent-games",
        [
            *(numbers.word_header(text) for text in ("Team", "Message", "Channel")),
            numbers.plain_header("VPS"),
        ],
        [
            [
                each.team_header(row),
                numbers.word_cell(row["source"].replace("_", " ")),
                numbers.word_cell(row["channel"].replace("_", " ")),
                numbers.number_cell(row["vps"], 2),
            ]
            for row in rows
        ],
    )


def figure(plane: Figure, root: str) -> str:
    """Return a page's only figure, whose numbers it has in a table, with the scripts it needs."""
    return f"{place(plane, root, has_table=False)}\n{figure_scripts(root)}"


def figure_scripts(root: str) -> str:
    """Return what draws the figures of a page; once is enough."""
    return (
        f'<link rel="stylesheet" href="{root}assets/figures.css">\n'
        f'<script src="{root}assets/vendor/plotly.min.js" defer></script>\n'
        f'<script src="{root}assets/figures.js" defer></script>'
    )


def planes(
    shown: Sequence[SettingResults],
    figures: Mapping[str, Figure],
    lines: Mapping[str, Sequence[frontier.Line]],
) -> str:
    """Return the cost-privacy plane of every setting with its tables; both are by slug."""
    names = ("excess_vps", "adjusted_excess_cost")
    parts = []
    for each in shown:
        head = f'<h2 id="{each.slug}">{html_text(each.title)}</h2>\n'
        found = lines.get(each.slug, ())
        head += place(figures[each.slug], "../", has_table=False)
        table = numbers.table(
            f"The same numbers, {each.title}",
            [
                numbers.plain_header("Team"),
                *(numbers.measure_header(name, "../method.html") for name in names),
                numbers.measure_header("coordination", "../method.html"),
            ],
            [
                [
                    each.team_header(row),
                    *(numbers.estimate_cell(row, name) for name in (*names, "coordination")),
                ]
                for row in each.leaderboard
            ],
        )
        parts.append(f"{head}\n{table}")
        if found:
            parts.append(frontier.table(each.title, found, (*names, "coordination")))
    return "\n\n".join([*parts, figure_scripts("../")])


def downloads(each: SettingResults) -> str:
    """Return links to the tables, as they are."""
    folder = f"../tables/{each.results.name}"
    names = sorted(path.name for path in each.results.tables.glob("*.csv"))
    return _links({name: f"{folder}/{name}" for name in names})


def table_links(names: Sequence[str]) -> str:
    """Return links to tables of several folders."""
    return _links({name: f"../tables/{name}" for name in names})


def _links(place_by_name: Mapping[str, str]) -> str:
    links = [
        f'<a href="{html_text(place)}" download>{html_text(name)}</a>'
        for name, place in place_by_name.items()
    ]
    return f"<p>{' · '.join(links)}</p>"
