"""The page that sets the paper's Table 2 and the authors' release beside our numbers."""

from collections.abc import Callable

from calbench.report import numbers, places, sections
from calbench.report.draws import VARIANTS, Reproduction
from calbench.report.escape import html_text
from calbench.report.results import Row, confidence_of

METHOD = "../method.html"

FAIRNESS_RANGE = ("fairness_least", "fairness", "fairness_greatest")


def comparison(results: Reproduction) -> str:
    """Return paper, release and ours, block by block (table2.csv of both kinds)."""
    return "\n\n".join(_comparison(results, setting) for setting in results.settings)


def _comparison(results: Reproduction, setting: str) -> str:
    """Return the block of a setting; without numbers of others it says nothing of their source."""
    has_others = any(row["setting"] == setting for row in results.published)
    header = [
        *(numbers.word_header(text) for text in ("Protocol", "Source")),
        *(numbers.measure_header(name, METHOD) for name in numbers.HEADLINE),
        *([numbers.word_header("Where from")] if has_others else []),
    ]
    return numbers.table(
        f"{setting}: ours are means of the suites drawn, lowest to highest below",
        header,
        [row[: len(header)] for row in _block_rows(results, setting)],
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
            found = [results.summed_up(variant, setting, name) for name in numbers.HEADLINE]
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
    digits = numbers.digits_of(row["measure"])
    return numbers.range_cell(row["mean"], row["least"], row["greatest"], digits)


def seeds(results: Reproduction) -> str:
    """Return every draw by itself, with its intervals (leaderboard.csv of the experiments)."""
    confidence = confidence_of(results.experiments)
    return "\n\n".join(
        numbers.table(
            f"{setting}, suite by suite: mean and {confidence} interval over its scenarios",
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
                *(_mean_cell(results.summed_up(variant, setting, name)) for name in FAIRNESS_RANGE),
            ]
            for setting in results.settings
            for variant in VARIANTS
            if results.summed_up(variant, setting, "fairness") is not None
        ],
    )


def _mean_cell(row: Row | None) -> str:
    return numbers.number_cell("" if row is None else row["mean"], numbers.digits_of("fairness"))


def parts(results: Reproduction) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page."""
    tables = [
        f"{each.name}/{table}.csv"
        for each in results.experiments
        for table in ("leaderboard", "sensitivity")
    ]
    return {
        "comparison": lambda: comparison(results),
        "verdicts": lambda: places.shown(results.summary.table("table2_places.csv")),
        "confidence": lambda: confidence_of(results.experiments),
        "seeds": lambda: seeds(results),
        "ties": lambda: ties(results),
        "downloads": lambda: sections.table_links(
            ["table2.csv", "table2_places.csv", "published/table2.csv", *tables]
        ),
    }
