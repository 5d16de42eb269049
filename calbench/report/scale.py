"""The page that shows what becomes of each protocol as agents, meetings and slots grow alike."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from calbench.report import figures, numbers, sections
from calbench.report.escape import html_text
from calbench.report.results import ExperimentResults, Row, Summary
from calbench.report.special import SCALE, SpecialResults

METHOD = "../method.html"

LEADERBOARD = f"{SCALE}/leaderboard.csv"

MEASURES = ("coordination", "excess_cost", "messages", "excess_vps")
"""What has a curve with intervals."""

BYTES = "bytes"


@dataclass(frozen=True)
class Scale:
    """The scale experiment, with the number of agents of each of its settings."""

    special: SpecialResults
    results: ExperimentResults
    summary: Summary
    kind_by_team: Mapping[str, str]

    @cached_property
    def bytes_rows(self) -> list[Row]:
        """Bytes per meeting of every team and setting, with the least and greatest game."""
        return self.summary.table("scale_bytes.csv")

    @cached_property
    def agents(self) -> dict[str, int]:
        """How many agents play in each setting, the fewest first."""
        found = {row["setting"]: int(row["agents"]) for row in self.bytes_rows}
        return dict(sorted(found.items(), key=lambda each: each[1]))

    @cached_property
    def leaderboard(self) -> dict[tuple[str, str], Row]:
        """Rows of the leaderboard by team and setting."""
        rows = self.results.table("leaderboard.csv")
        return {(row["team"], row["setting"]): row for row in rows}


def curves(scale: Scale, styles: Mapping[str, figures.Style]) -> dict[str, figures.Figure]:
    """Return a figure for each measure, and one for bytes, by name."""
    found = {}
    for measure in MEASURES:
        lines = {
            team: [
                (agents, row[measure], row[f"{measure}_low"], row[f"{measure}_high"])
                for setting, agents in scale.agents.items()
                if (row := scale.leaderboard.get((team, setting))) is not None and row[measure]
            ]
            for team in scale.results.teams
        }
        about = numbers.MEASURE_BY_NAME[measure]
        found[measure] = figures.curves(
            f"scale-{measure}", about.title, about.unit, lines, styles, [LEADERBOARD]
        )
    talk = {
        team: [
            (int(row["agents"]), row["bytes_per_meeting"], row["least"], row["greatest"])
            for row in scale.bytes_rows
            if row["team"] == team
        ]
        for team in scale.results.teams
    }
    title = "Bytes per meeting"
    found[BYTES] = figures.curves(
        f"scale-{BYTES}", title, "", talk, styles, ["scale_bytes.csv"], is_log=True
    )
    return found


def parts(scale: Scale, drawn: Mapping[str, figures.Figure]) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    return {
        **{
            measure.replace("_", "-"): partial(_measure, scale, measure, drawn[measure])
            for measure in MEASURES
        },
        "bytes": lambda: _bytes(scale, drawn[BYTES]),
        "speed": lambda: _speed(scale),
        "scripts": lambda: sections.figure_scripts("../"),
        "sizes": lambda: _sizes(scale),
        "confidence": lambda: scale.results.confidence,
        "downloads": lambda: sections.table_links(
            [
                LEADERBOARD,
                f"{SCALE}/games.csv",
                "scale_bytes.csv",
                "published/speed.csv",
            ]
        ),
    }


def _headers(scale: Scale) -> list[str]:
    sizes = [
        f'<th scope="col">{numbers.shown_number(str(agents), None)} agents</th>'
        for agents in scale.agents.values()
    ]
    return [numbers.plain_header("Team"), *sizes]


def _team(scale: Scale, team: str) -> str:
    return numbers.team_header(team, scale.kind_by_team.get(team))


def _measure(scale: Scale, measure: str, drawn: figures.Figure) -> str:
    about = numbers.MEASURE_BY_NAME[measure]
    table = numbers.table(
        f"{about.title}, {about.unit}: mean and {scale.results.confidence} interval over scenarios",
        _headers(scale),
        [
            [
                _team(scale, team),
                *(
                    numbers.number_cell("")
                    if (row := scale.leaderboard.get((team, setting))) is None
                    else numbers.estimate_cell(row, measure)
                    for setting in scale.agents
                ),
            ]
            for team in scale.results.teams
        ],
    )
    link = f'<p><a href="{METHOD}#{numbers.anchor(measure)}">Definition</a></p>'
    return f"{figures.place(drawn, '../', has_table=False)}\n\n{table}\n\n{link}"


def _bytes(scale: Scale, drawn: figures.Figure) -> str:
    rows = {(row["team"], row["setting"]): row for row in scale.bytes_rows}
    table = numbers.table(
        "Bytes per meeting: mean, and the least and greatest game",
        _headers(scale),
        [
            [
                _team(scale, team),
                *(
                    numbers.number_cell("")
                    if (row := rows.get((team, setting))) is None
                    else numbers.range_cell(
                        row["bytes_per_meeting"], row["least"], row["greatest"], 0
                    )
                    for setting in scale.agents
                ),
            ]
            for team in scale.results.teams
        ],
    )
    return f"{figures.place(drawn, '../', has_table=False)}\n\n{table}"


def _speed(scale: Scale) -> str:
    """Return games per second as they were measured once (published/speed.csv)."""
    rows = scale.special.published_rows("speed.csv")
    cells = {(row["team"], row["agents"]): row["games_per_second"] for row in rows}
    table = numbers.table(
        "Games per second of processor time, in one process, no trace written",
        _headers(scale),
        [
            [
                _team(scale, team),
                *(
                    numbers.number_cell(cells.get((team, str(agents)), ""))
                    for agents in scale.agents.values()
                ),
            ]
            for team in scale.results.teams
        ],
    )
    notes = dict.fromkeys(row["note"] for row in rows if row["note"])
    return "\n\n".join([table, *(f"<p>Measured: {html_text(note)}.</p>" for note in notes)])


def _sizes(scale: Scale) -> str:
    """Return how many scenarios each size rests on (games.csv, leaderboard.csv)."""
    games = [row for row in scale.results.table("games.csv") if row["is_excluded"] != "true"]
    teams = scale.leaderboard.values()
    return numbers.table(
        "The suites",
        [
            numbers.word_header("Setting"),
            *(numbers.plain_header(text) for text in ("Agents", "Meetings", "Scenarios")),
        ],
        [
            [
                f'<th scope="row">{html_text(setting)}</th>',
                f"<td>{agents}</td>",
                _different(games, setting, "meetings"),
                _different(teams, setting, "scenarios"),
            ]
            for setting, agents in scale.agents.items()
        ],
    )


def _different(rows: Iterable[Row], setting: str, name: str) -> str:
    """Return the different cells of a setting."""
    found = sorted({row[name] for row in rows if row["setting"] == setting}, key=int)
    return f"<td>{html_text(' or '.join(found))}</td>"
