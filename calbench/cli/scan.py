"""``calbench scan``: what to look at before a run is believed; no verdict."""

import os
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import quote

import jinja2
import orjson

from calbench.cli.words import Status, Words, program_name
from calbench.console import say, show, tell, verdict
from calbench.endings import pruned
from calbench.errors import FileError, OutputError
from calbench.files import STORE, check_no_link, printable, shorten, write_atomically
from calbench.folders import claimed
from calbench.llm.replies.shards import open_replies
from calbench.report.policy import protected
from calbench.runs.entries import run_names
from calbench.runs.folder import job_folders
from calbench.runs.scan import RULES, Finding, Scan, scan
from calbench.terminal import new_table
from calbench.traces.catalog import TRACES_FOLDER, Catalog, traces_folder

PAGE, DATA = "scan.html", "scan.json"
"""Files of ``out``."""

GAMES = "traces.html"
"""Page of the games among the pages of a run."""

MARK = "<!doctype html><!-- calbench scan -->"
"""How a page begins that may be replaced."""


def main(words: Words, *, replies: Path | None = None, as_json: bool = False) -> int:
    """Look through the games of a run; print what was found, and write it where it is asked for."""
    (run,) = words.paths
    out, named = words.path("out"), words.path("site")
    site = named or run / "site"
    if out is not None:
        _check(run, out)
    if named is not None and not (site / GAMES).is_file():
        raise FileError(
            f"{printable(str(site))}: has no pages of a run ({GAMES}); build them with "
            f"{program_name()} view RUN serve=false, or leave site= out"
        )
    if replies is None and (own := run / STORE).is_file():
        check_no_link(own)
        replies = own
    with nullcontext() if replies is None else open_replies(replies) as store:
        found = scan([run], store)
    data = orjson.dumps(found.as_data(), option=orjson.OPT_INDENT_2)
    if out is not None:
        with pruned(out), claimed(out):
            _check(run, out)
            write_atomically(out / PAGE, page(found, run, site, out).encode())
            write_atomically(out / DATA, data + b"\n")
    if replies is None:
        say("without recorded replies: unreadable ones are not read, and who answered is not known")
    if as_json:
        print(data.decode())
    else:
        _show(found)
    total = sum(found.counts.values())
    where = "" if out is None else f": {out / PAGE}"
    verdict(f"{total} findings in {found.games} games, to be looked at{where}", is_beside=as_json)
    return Status.DONE


def _check(run: Path, out: Path) -> None:
    """Refuse a place where another page is, or games are.

    Raises:
        OutputError: naming it.
    """
    path = out / PAGE
    if path.is_file() and not path.read_bytes().startswith(MARK.encode()):
        raise OutputError(f"{path}: is there already, and is no scan; name another folder")
    above = {out.resolve(), *out.resolve().parents}
    of_games = {
        each for each in above if each.name == TRACES_FOLDER and Catalog().holds_traces(each)
    }
    if not job_folders(run):
        of_games.add(traces_folder(run).resolve())
    if above & of_games:
        raise OutputError(f"{printable(str(out))}: is in a folder of games; name another folder")


def _show(found: Scan) -> None:
    """Print a row for each rule that found something, and name those that found nothing."""
    first = {each.rule: each for each in reversed(found.findings)}
    table = new_table(None, ("Rule", "First", "Findings", "Games"), left=2, wraps=True)
    for name in RULES:
        if name in first:
            said = f"{_place(first[name])}: {shorten(first[name].quote, 100)}"
            table.add_row(name, said, str(found.counts[name]), str(found.games_by_rule[name]))
    show(table)
    tell(f"Nothing by {', '.join(name for name in RULES if name not in first)}")


def _place(finding: Finding) -> str:
    agent = "" if finding.agent_id is None else f", agent {finding.agent_id}"
    return f"{finding.team}/{Path(finding.path).stem}, event {finding.event}{agent}"


def page(found: Scan, run: Path, site: Path, out: Path) -> str:
    """Return a page of the findings, with links to the events where the run has pages.

    Args:
        found: what was found.
        run: of which; its pages know it by this name.
        site: folder of its pages, which may not be there.
        out: folder of this page.
    """
    has_site = (site / GAMES).is_file()
    (name,) = run_names([run]) if run.is_dir() else [run.stem]
    games = Path(os.path.relpath(site / GAMES, out)).as_posix()
    findings: dict[str, list[Finding]] = {rule: [] for rule in RULES}
    for each in found.findings:
        findings[each.rule].append(each)
    text = Path(__file__).with_name("scan.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, keep_trailing_newline=True)
    filled = environment.from_string(text).render(
        name=printable(name),
        program=program_name(),
        found=found,
        findings=findings,
        rules=RULES,
        games=f"{quote(games)}#{quote(name, safe='')}" if has_site else "",
        place=_place,
        address=_address,
    )
    return protected(f"{MARK}{filled}")


def _address(finding: Finding) -> str:
    """Return which event of a run's games a finding is of, as their page knows it."""
    parts = (finding.team, Path(finding.path).stem, str(finding.event))
    return "/".join(quote(part, safe="") for part in parts)
