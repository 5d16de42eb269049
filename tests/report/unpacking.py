"""Page data read back in Python: a second reader beside ``site/assets/traces/pagedata.js``."""

import csv
import gzip
import io
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from calbench.report.escape import packed_text
from calbench.report.games.index import ALPHABET


def page_data(pagedata: Path, key: str) -> Any:
    """Read a page-data file; ``games/EXPERIMENT/TEAM/SCENARIO`` is a game as the browser has it."""
    kind, *names = key.split("/")
    return page_game(pagedata, *names) if kind == "games" else file_value(pagedata / f"{key}.js")


def page_game(pagedata: Path, experiment: str, team: str, scenario: str) -> dict[str, Any]:
    """Return what is told of a game, with the events of its trace; absent fields are left out."""
    about, file = unpacked_game(pagedata, experiment, team, scenario)
    trace = json.loads(file)
    events = [_present(event) for event in trace["events"]]
    return {**about, "team": team, "scenario_id": scenario, "events": events}


def unpacked_game(
    pagedata: Path, experiment: str, team: str, scenario: str
) -> tuple[dict[str, Any], bytes]:
    """Return what is told of a game, and the file of its trace."""
    held = file_value(pagedata / "games" / experiment / f"{scenario}.js")
    shared, *lines = gzip.decompress(b64decode(held["games"])).split(b"\n")
    number = held["teams"].index(team)
    (place, about), trace = json.loads(lines[2 * number]), lines[2 * number + 1]
    if place is not None:
        trace = trace[:place] + shared + trace[place:]
    return about, trace + b"\n"


def longest_trace(file: Any) -> int:
    """Return the bytes of the longest trace in a file of games, packed alone."""
    traces = gzip.decompress(b64decode(file["games"])).split(b"\n")[2::2]
    return max(len(packed_text(trace)) for trace in traces)


def page_table(site: Path, path: str) -> list[dict[str, str]]:
    """Return the rows of a table that pages of a site link, as their script hands it out."""
    return list(csv.DictReader(io.StringIO(page_csv(site, path).decode(), newline="")))


def page_csv(site: Path, path: str) -> bytes:
    """Return its bytes; refuse one that no page links."""
    *folder, name = path.split("/", 1)
    packed = file_value(site / "pagedata" / f"{'/'.join(('tables', *folder))}.js")
    return gzip.decompress(b64decode(packed[name]))


def _present(event: dict[str, Any]) -> dict[str, Any]:
    made = {name: held for name, held in event.items() if held is not None and held is not False}
    return {**made, "content": _present(made["content"])} if "content" in made else made


def file_value(path: Path) -> Any:
    text = path.read_text(encoding="ascii")
    return json.loads(re.sub(r'^calbench\.\w+\("[^"]*",|\);\n$', "", text))


def unpacked(column: Any, count: int) -> list[Any]:
    if isinstance(column, list):
        return column
    if "all" in column:
        return [column["all"]] * count
    return [column["of"][ALPHABET.index(letter)] for letter in column["at"]]
