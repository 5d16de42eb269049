"""``calbench submit``: results handed in, checked, and asked again."""

import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from calbench.cli.words import Status, Words, names
from calbench.console import alert, show, tell, verdict
from calbench.errors import ConfigError
from calbench.files import printable
from calbench.submissions.again import ask_again
from calbench.submissions.check import CANNOT_SHOW, Checked, check
from calbench.submissions.prepare import prepare
from calbench.terminal import new_table

HEADS = ("Team", "Part", "games", "cut short", "coordination of all, %", "US$")


def write_prepared(words: Words) -> int:
    """Write a submission, and say its id and what to do next."""
    (run,), options = words.paths, words.options
    out = Path(options["out"])
    keys = {"contact": "contact", "name": "name", "date": "date", "model": "says_model"}
    said = {name: options[key] for key, name in keys.items() if key in options}
    found_id = prepare(
        run,
        out,
        said,
        names(options.get("teams", "")),
        Path(options["replies"]) if "replies" in options else None,
        with_source=words.is_wished("source"),
    )
    tell(f"Check   calbench submit check {out}")
    verdict(f"{out}: {found_id}", is_good=True)
    return Status.DONE


SHARE = "0.05"
"""Share of replies that are asked again [C]: 60 of a model's 1,200 on 45 scenarios of five."""


def ask_sample_again(words: Words) -> int:
    """Ask for a sample of replies again, and say whether they are of one model."""
    (folder,), options = words.paths, words.options
    out = Path(options.get("out") or f"build/again/{folder.resolve().name}")
    text = options.get("share", SHARE)
    share = float(text) if re.fullmatch(r"[01]?\.?[0-9]{1,9}", text) else 0.0
    if not 0 < share <= 1:
        raise ConfigError(f"share: a number above 0 and up to 1, got {printable(text)!r:.40}")
    report = ask_again(folder, share, words.settings, out)
    tell(
        f"{report.sampled} of {report.replies} replies of {report.model} asked again: "
        f"{report.exact} have the same text"
    )
    verdict(f"{folder}: {report}", is_good=report.agrees)
    return Status.DONE if report.agrees else Status.DIFFERENT


def print_checked(words: Words, *, as_json: bool = False) -> int:
    """Check submissions, and say of each what holds and what nothing shows."""
    found = [check(path, words.options.get("id", "")) for path in words.paths]
    if as_json:
        data = [each.as_data() for each in found]
        print(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode())
    for each in found:
        _say(each, as_json=as_json)
    return Status.DIFFERENT if any(each.problems for each in found) else Status.DONE


def _say(checked: Checked, *, as_json: bool) -> None:
    for problem in checked.problems:
        alert(f"error: {checked.name}: {problem}")
    if checked.tier is None:
        verdict(f"{printable(checked.name)}: refused", is_good=False, is_beside=as_json)
        return
    if not as_json:
        show(new_table(checked.name, HEADS, _rows(checked), left=2, wraps=True))
        tell(f"Id      {checked.id}")
        tell(f"Tier    {checked.tier}: {checked.reason}")
        if checked.tier:
            tell(f"Unshown {CANNOT_SHOW[checked.tier]}")
        for line in checked.remarks:
            tell(f"Note    {line}")
    verdict(f"{checked.name}: {checked.tier}", is_good=True, is_beside=as_json)


def _rows(checked: Checked) -> Iterator[tuple[str, ...]]:
    for row in checked.standings:
        cost = "-" if row.cost_usd is None else f"{row.cost_usd:.2f}"
        counts = (str(row.expected), str(len(row.halted)), f"{row.coordination:.1f}", cost)
        yield row.team, row.part, *counts
