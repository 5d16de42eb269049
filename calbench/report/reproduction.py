"""The page that sets the paper's Table 2 and the authors' release beside our numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from calbench.report import numbers, sections
from calbench.report.escape import html_text
from calbench.report.results import Row
from calbench.report.special import CAP4, REPRODUCTION, SpecialResults

METHOD = "../method.html"

COLUMNS = ("experiment", "setting", "team", "suites", "measure", "mean", "least", "greatest")
"""Of ``tables/table2.csv``, our side of the comparison."""

FAIRNESS_RANGE = ("fairness_least", "fairness", "fairness_greatest")


DRAW = re.compile(r"(.+)-seed([0-9]+)")
"""A setting that is one of several draws of a suite."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which we played a protocol of the paper's table."""

    protocol: str
    published_team: str
    label: str
    experiment: str
    team: str


VARIANTS = (
    Variant("IMAP", "imap", "ours", REPRODUCTION, "imap"),
    Variant("DSM-private", "dsm-private", "ours", REPRODUCTION, "dsm-private"),
    Variant("DSM-welfare", "dsm-welfare", "ours", REPRODUCTION, "dsm-welfare"),
    Variant(
        "DSM-welfare", "dsm-welfare", "ours, batches: single", REPRODUCTION, "dsm-welfare-single"
    ),
    Variant("SD-MAP", "sd-map", "ours, cap of 15", REPRODUCTION, "sd-map"),
    Variant("SD-MAP", "sd-map", "ours, cap of 4", CAP4, "sd-map"),
)


@dataclass(frozen=True)
class Reproduction:
    """The paper's protocols on several draws of each suite, and what others measured."""

    special: SpecialResults

    @cached_property
    def published(self) -> list[Row]:
        """What others measured."""
        return self.special.published_rows("table2.csv")

    def draws(self, table: str, variant: Variant, setting: str) -> list[tuple[str, Row]]:
        """Return a variant's rows of a table, with the seed of each draw, by seed."""
        results = self.special.named(variant.experiment)
        found = []
        for row in [] if results is None else results.table(table):
            draw = DRAW.fullmatch(row["setting"])
            if draw is not None and draw[1] == setting and row["team"] == variant.team:
                found.append((draw[2], row))
        return sorted(found, key=lambda each: int(each[0]))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings that were drawn, in the order of the leaderboard."""
        results = self.special.named(REPRODUCTION)
        rows = [] if results is None else results.table("leaderboard.csv")
        draws = [DRAW.fullmatch(row["setting"]) for row in rows]
        return tuple(dict.fromkeys(draw[1] for draw in draws if draw is not None))

    @cached_property
    def rows(self) -> list[Row]:
        """Mean, least and greatest of every measure over the draws."""
        return [
            row
            for setting in self.settings
            for variant in VARIANTS
            for table, measures in (
                ("leaderboard.csv", numbers.HEADLINE),
                ("sensitivity.csv", ("fairness_least", "fairness_greatest")),
            )
            for measure in measures
            for row in self._summary(variant, setting, table, measure)
        ]

    def _summary(self, variant: Variant, setting: str, table: str, measure: str) -> list[Row]:
        cells = [row[measure] for _, row in self.draws(table, variant, setting) if row[measure]]
        if not cells:
            return []
        values = [numbers.decimal(cell) for cell in cells]
        mean = (sum(values, Decimal(0)) / len(values)).quantize(Decimal("0.0001"))
        place = (variant.experiment, setting, variant.team, str(len(cells)), measure)
        found = (str(mean), str(min(values)), str(max(values)))
        return [dict(zip(COLUMNS, (*place, *found), strict=True))]

    def summary(self, variant: Variant, setting: str, measure: str) -> Row | None:
        """Return one row of :attr:`rows`, or ``None`` if nothing was measured."""
        place = (variant.experiment, setting, variant.team, measure)
        names = ("experiment", "setting", "team", "measure")
        return next((r for r in self.rows if tuple(r[name] for name in names) == place), None)


def comparison(results: Reproduction) -> str:
    """Return paper, release and ours, block by block (table2.csv of both kinds)."""
    return "\n\n".join(
        numbers.table(
            f"{setting}: ours are means of the suites drawn, lowest to highest below",
            [
                *(numbers.word_header(text) for text in ("Protocol", "Source")),
                *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
                numbers.word_header("Where from"),
            ],
            _block_rows(results, setting),
        )
        for setting in results.settings
    )


def _block_rows(results: Reproduction, setting: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for protocol in dict.fromkeys(variant.protocol for variant in VARIANTS):
        variants = [variant for variant in VARIANTS if variant.protocol == protocol]
        team = variants[0].published_team
        for source in ("paper", "release"):
            rows += [
                _published_row(row, protocol)
                for row in results.published
                if (row["source"], row["setting"], row["team"]) == (source, setting, team)
            ]
        for variant in variants:
            found = [results.summary(variant, setting, name) for name in numbers.HEADLINE]
            if any(found):
                cells = [_spread_cell(row) for row in found]
                rows.append([*_heads(protocol, variant.label), *cells, numbers.word_cell("")])
    return rows


def _heads(protocol: str, source: str) -> list[str]:
    return [f'<th scope="row">{html_text(protocol)}</th>', numbers.word_cell(source)]


def _published_row(row: Row, protocol: str) -> list[str]:
    cap = row["max_turns_per_round"]
    source = row["source"]
    if row["team"] == "sd-map" and cap:
        source += f", cap of {cap}" + (" as stated" if source == "paper" else "")
    return [
        *_heads(protocol, source),
        *(numbers.number_cell(row[name]) for name in numbers.HEADLINE),
        numbers.note_cell(row["note"]),
    ]


def _spread_cell(row: Row | None) -> str:
    if row is None:
        return numbers.number_cell("")
    digits = numbers.DIGITS.get(row["measure"], 2)
    return numbers.range_cell(row["mean"], row["least"], row["greatest"], digits)


def verdicts(results: Reproduction) -> str:
    """Return where each of the paper's numbers lies among ours (the tables of `comparison`)."""
    return numbers.table(
        "Where the paper's numbers lie among ours",
        [
            *(numbers.word_header(text) for text in ("Setting", "Protocol", "Variant")),
            *(
                numbers.word_header(numbers.MEASURE_BY_NAME[name].title)
                for name in numbers.HEADLINE
            ),
        ],
        [
            [
                f'<th scope="row">{html_text(setting)}</th>',
                numbers.word_cell(variant.protocol),
                numbers.word_cell(variant.label),
                *(
                    numbers.word_cell(_verdict(results, variant, setting, row, name))
                    for name in numbers.HEADLINE
                ),
            ]
            for setting in results.settings
            for variant in VARIANTS
            for row in results.published
            if row["source"] == "paper"
            if (row["setting"], row["team"]) == (setting, variant.published_team)
        ],
    )


def _verdict(
    results: Reproduction, variant: Variant, setting: str, published: Row, measure: str
) -> str:
    """Say where a published number lies, itself known to half of its last digit only."""
    ours = results.summary(variant, setting, measure)
    if ours is None or not published[measure]:
        return "not known"
    value = numbers.decimal(published[measure])
    half = Decimal((0, (5,), int(value.as_tuple().exponent) - 1))

    def holds(low: str, high: str) -> bool:
        return numbers.decimal(low) - half <= value <= numbers.decimal(high) + half

    if holds(ours["least"], ours["greatest"]):
        return "among ours"
    for _, row in results.draws("leaderboard.csv", variant, setting):
        low, high = row[f"{measure}_low"], row[f"{measure}_high"]
        if low and high and holds(low, high):
            return "in an interval"
    return "below ours" if value < numbers.decimal(ours["least"]) else "above ours"


def seeds(results: Reproduction) -> str:
    """Return every draw by itself, with its intervals (leaderboard.csv of the experiments)."""
    return "\n\n".join(
        numbers.table(
            f"{setting}, suite by suite: mean and 95% interval over its scenarios",
            [
                numbers.word_header("Protocol"),
                numbers.word_header("Variant"),
                numbers.plain_header("Suite's seed"),
                *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
            ],
            [
                [
                    *_heads(variant.protocol, variant.label),
                    f"<td>{html_text(seed)}</td>",
                    *(numbers.estimate_cell(row, name) for name in numbers.HEADLINE),
                ]
                for variant in VARIANTS
                for seed, row in results.draws("leaderboard.csv", variant, setting)
            ],
        )
        for setting in results.settings
    )


def ties(results: Reproduction) -> str:
    """Return how far fairness moves over optimal schedules, mean of the draws (table2.csv)."""
    return numbers.table(
        "Fairness against other optimal schedules, means of the suites drawn",
        [
            *(numbers.word_header(text) for text in ("Setting", "Protocol", "Variant")),
            *(numbers.plain_header(text) for text in ("least", "canonical", "greatest")),
        ],
        [
            [
                f'<th scope="row">{html_text(setting)}</th>',
                numbers.word_cell(variant.protocol),
                numbers.word_cell(variant.label),
                *(_mean_cell(results.summary(variant, setting, name)) for name in FAIRNESS_RANGE),
            ]
            for setting in results.settings
            for variant in VARIANTS
            if results.summary(variant, setting, "fairness") is not None
        ],
    )


def _mean_cell(row: Row | None) -> str:
    return numbers.number_cell("" if row is None else row["mean"], numbers.DIGITS["fairness"])


def parts(results: Reproduction) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    special = results.special
    names = [name for name in (REPRODUCTION, CAP4) if special.named(name) is not None]
    tables = [f"{name}/{table}.csv" for name in names for table in ("leaderboard", "sensitivity")]
    return {
        "comparison": lambda: comparison(results),
        "verdicts": lambda: verdicts(results),
        "seeds": lambda: seeds(results),
        "ties": lambda: ties(results),
        "downloads": lambda: sections.table_links(["table2.csv", "published/table2.csv", *tables]),
    }
