"""The page of scripted speakers: language agents that no model stands behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.report import figures, numbers, sections
from calbench.report import language_tables as tables
from calbench.report.escape import html_text
from calbench.report.games import shown_note
from calbench.report.language_tables import METHOD, Named
from calbench.report.results import ExperimentResults, Row, confidence_of
from calbench.report.setting import SettingResults
from calbench.report.special import CHANNELS, GAMES_SHOWN, LANGUAGE, SMOLLM2, SpecialResults

PLANE = ("excess_vps", "adjusted_excess_cost", "coordination")


@dataclass(frozen=True)
class Language:
    """The experiments of scripted speakers, and what stands beside them.

    Attributes:
        special: has the experiments of :data:`CHANNELS`, at least one.
        others: experiments whose teams are drawn beside them on the same scenarios.
        kind_by_team: of the others' teams.
    """

    special: SpecialResults
    others: Sequence[ExperimentResults]
    kind_by_team: Mapping[str, str]

    @cached_property
    def channels(self) -> tuple[Named, ...]:
        """The experiments there are, by the name of their channel."""
        return tuple(Named(CHANNELS[each.name], each) for each in self.special.of_channels())

    @cached_property
    def settings(self) -> tuple[SettingResults, ...]:
        """Every setting of every channel."""
        return tuple(
            SettingResults(results, setting, tables.kind_by_team(results))
            for _, results in self.channels
            for setting in results.settings
        )

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams of all channels."""
        return tuple(dict.fromkeys(team for _, each in self.channels for team in each.teams))

    @cached_property
    def on_planes(self) -> dict[str, list[tuple[SettingResults, Row]]]:
        """What each plane shows, by setting: private messages, and protocols on its scenarios."""
        planes: dict[str, list[tuple[SettingResults, Row]]] = {}
        for each in self.settings:
            if each.results.name == LANGUAGE:
                beside = [
                    SettingResults(other, each.setting, self.kind_by_team)
                    for other in self.others
                    if _digests(other, each.setting) == _digests(each.results, each.setting)
                ]
                planes[each.setting] = [
                    *((each, row) for row in each.leaderboard),
                    *(
                        (found, row)
                        for found in beside
                        for row in found.leaderboard
                        if self.kind_by_team.get(row["team"]) == "protocol"
                    ),
                ]
        return planes


def _digests(results: ExperimentResults, setting: str) -> list[str]:
    return [each.play_digest for each in results.scenarios if each.setting == setting]


def planes(language: Language, styles: Mapping[str, figures.Style]) -> dict[str, figures.Figure]:
    """Return the cost-privacy plane of each setting, by setting."""
    return {
        setting: figures.plane(
            f"plane-language-{setting}",
            f"speakers and protocols, {setting}",
            [row for _, row in shown],
            styles,
            list(dict.fromkeys(f"{each.results.name}/leaderboard.csv" for each, _ in shown)),
            confidence=confidence_of(each.results for each, _ in shown),
        )
        for setting, shown in language.on_planes.items()
    }


def parts(language: Language, drawn: Mapping[str, figures.Figure]) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    return {
        "played": lambda: _played(language),
        "leaderboards": lambda: "\n\n".join(
            _channel(language, named) for named in language.channels
        ),
        "planes": lambda: _planes(language, drawn),
        "confidence": lambda: confidence_of(each for _, each in language.channels),
        "calibration": lambda: tables.calibration(language.channels),
        "replies": lambda: tables.replies(language.channels),
        "tokens": lambda: tables.tokens(language.channels),
        "traces": lambda: games_link(language.special.named(LANGUAGE)),
        "downloads": lambda: sections.table_links(
            [name for _, results in language.channels for name in tables.downloads(results)]
        ),
    }


def home_line(language: Language) -> str:
    """Return the home page's line on language agents; nothing if there are none."""
    pages = []
    if language.channels:
        pages.append('<a href="results/language.html">scripted speakers</a>')
    if language.special.named(SMOLLM2) is not None:
        pages.append('<a href="results/smollm2.html">a very small model</a>')
    if not pages:
        return ""
    return (
        f"<p>Agents can also talk in plain language: see {' and '.join(pages)}, which are not "
        'ranked with the teams above, and <a href="evaluate.html">how to evaluate a model of '
        "your own</a>.</p>"
    )


def games_link(results: ExperimentResults | None) -> str:
    """Return a link to an experiment's games in the trace browser, and which of them it has."""
    if results is None:
        return ""
    note = shown_note(results, GAMES_SHOWN[results.name])
    return (
        f'<p><a href="../traces.html#{results.name}">Step through these games</a>: messages, '
        f"thoughts, exact prompts and reflections. {html_text(note)}</p>"
    )


def _played(language: Language) -> str:
    """Return what was played in each channel (leaderboard.csv)."""
    return numbers.table(
        "What was played",
        [
            numbers.plain_header("Channel"),
            *(numbers.word_header(text) for text in ("Setting", "Teams")),
            *(numbers.plain_header(text) for text in ("Scenarios", "Games scored a team")),
        ],
        [
            [
                f'<th scope="row">{html_text(CHANNELS[each.results.name].capitalize())}</th>',
                numbers.word_cell(each.setting),
                numbers.word_cell(", ".join(row["team"] for row in each.leaderboard)),
                *(_range_cell(each.leaderboard, name) for name in ("scenarios", "games")),
            ]
            for each in language.settings
        ],
    )


def _range_cell(rows: Sequence[Row], name: str) -> str:
    counts = sorted({row[name] for row in rows}, key=int)
    return f"<td>{' or '.join(numbers.shown_number(count, None) for count in counts)}</td>"


def _channel(language: Language, named: Named) -> str:
    """Return a channel's leaderboards; by player too, where one sat in several teams."""
    shown = [
        f'<h3 id="{named.results.name}">{html_text(named.title.capitalize())}</h3>',
        *(
            tables.team_measures(
                each,
                f"{named.title.capitalize()}, {each.setting}: "
                f"mean and {named.results.confidence} interval over scenarios",
            )
            for each in language.settings
            if each.results is named.results
        ),
    ]
    if any(" " in row["teams"] for row in named.results.table("players.csv")):
        shown.append(tables.player_measures(named))
    return "\n\n".join(shown)


def _planes(language: Language, drawn: Mapping[str, figures.Figure]) -> str:
    """Return the planes with their tables, which name how each VPS was measured."""
    shown = []
    for setting, found in language.on_planes.items():
        rows = [
            [
                each.team_header(row),
                numbers.word_cell(tables.vps_words(row)),
                *(numbers.estimate_cell(row, name) for name in PLANE),
            ]
            for each, row in found
        ]
        head = [
            numbers.plain_header("Team"),
            numbers.word_header("VPS measured by"),
            *(numbers.measure_header(name, METHOD) for name in PLANE),
        ]
        shown += [
            f'<h3 id="plane-{html_text(setting)}">{html_text(setting)}</h3>',
            figures.place(drawn[setting], "../", has_table=False),
            numbers.table(f"The same numbers, {setting}", head, rows),
        ]
    return "\n\n".join([*shown, sections.figure_scripts("../")])
