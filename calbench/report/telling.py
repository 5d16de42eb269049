"""The typed messages that gave most of a calendar away, so that a VPS leads to its message."""

from collections.abc import Sequence

from calbench.report import numbers
from calbench.report.links import GameLinks
from calbench.report.results import Row
from calbench.report.setting import SettingResults


def table(found: Sequence[Row], each: SettingResults, links: GameLinks) -> str:
    """Return the most revealing messages, linked to their events (revealing_messages.csv)."""
    place = (each.results.name, each.setting)
    own = [row for row in found if (row["experiment"], row["setting"]) == place]
    if not own:
        return ""
    return numbers.table(
        "Messages that gave most away, each of another game, over all who saw them",
        [
            numbers.plain_header("Team"),
            *(numbers.word_header(text) for text in ("The message", "Kind")),
            *(numbers.plain_header(text) for text in ("Whose calendar", "VPS")),
        ],
        [
            [
                each.team_header(row),
                f'<td class="cb-word">{_link(links, row)}</td>',
                numbers.word_cell(row["source"].replace("_", " ")),
                numbers.number_cell(row["target_agent"]),
                numbers.number_cell(row["vps"], 2),
            ]
            for row in own
        ],
    )


def _link(links: GameLinks, row: Row) -> str:
    return links.game(row["experiment"], row["team"], row["scenario_id"], row["event_index"])
