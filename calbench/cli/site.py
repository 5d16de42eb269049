"""``calbench site`` and ``calbench view``: runs of one's own on pages; ``calbench bundle``: all."""

import json
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import parse_qs, quote

from calbench.bundle.files import sizes
from calbench.bundle.folder import write_bundle
from calbench.cli.words import Status, Words
from calbench.config.composition import compose
from calbench.console import ending_on_interrupt, noting_interrupt, quiet, show, verdict
from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import check_no_link_out, printable, read_bytes
from calbench.integrations.loopback import Answer, RefusedError, Request, Server
from calbench.report.policy import LOADED
from calbench.runs.board import NOTHING, check_builders, check_out, write_board
from calbench.runs.entries import run_names
from calbench.runs.folder import job_folders
from calbench.runs.status import Followed
from calbench.submissions.again import read_reports
from calbench.submissions.board import read_submissions
from calbench.terminal import new_table
from calbench.traces.catalog import TRACES_FOLDER, trace_paths
from calbench.tree import SITE

MOST_PORT = 65_535
"""The greatest number that a port has: 16 bits."""


def main(words: Words) -> int:
    """Build the whole site, with runs beside the published results."""
    out, folder, again = Path(words.options["out"]), words.path("submissions"), words.path("again")
    spec = compose(words.settings)
    check_out(out)
    if again and not again.is_dir():
        shown = printable(str(again))
        raise FileError(f"{shown}: there is no such folder; name that of your reports")
    reports = read_reports(again or Path("build/again"))
    submitted = read_submissions(folder, reports) if folder else NOTHING
    paths = [*words.paths, *submitted]
    if not paths:
        raise ConfigError("nothing to show: name RUN..., or submissions=DIR with one that holds")
    write_board(paths, out, spec.jobs, spec.executor, submitted=submitted)
    verdict(f"{len(paths)} runs on the board: {out / 'index.html'}", is_good=True)
    return Status.DONE


def bundle(words: Words) -> int:
    """Put everything that is published into a folder, and say how large its parts are."""
    out = Path(words.options["out"])
    with ending_on_interrupt(
        lambda: "Stopped: no bundle was written; the same command starts again"
    ):
        files = write_bundle(Path(), out)
    parts = sizes(files).items()
    rows = ((name, str(count), f"{size / 1e6:.1f}") for name, (count, size) in parts)
    show(new_table(None, ("part", "files", "MB"), rows))
    total = sum(each.bytes for each in files)
    verdict(f"{len(files)} files, {total / 1e6:.1f} MB: {out / 'README.md'}", is_good=True)
    return Status.DONE


def view(words: Words, *, is_opened: bool = False) -> int:
    """Build the pages of one run or sweep, and serve them until Ctrl-C; follow one that plays."""
    paths = words.paths
    port = words.number("port", 0, most=MOST_PORT)
    is_served = words.is_wished("serve", otherwise="true")
    has_published = words.is_wished("published")
    spec = compose(words.settings)
    run_names(paths)  # refuses what is no folder
    followed = Followed(paths[0])
    is_live = is_served and followed.is_playing()
    out = _folder(words, paths[0], is_live=is_live)
    build = partial(write_board, paths, out, spec.jobs, spec.executor, has_published=has_published)
    if not is_served:
        build()
        verdict(str(out / "index.html"), is_good=True)
        return Status.DONE
    with new_server(out, port) as server:  # before the pages are built, which takes a while
        if is_live:
            check_builders()
            server.followed = followed
        else:
            build()
        serve(server, build, is_opened=is_opened)
    return Status.DONE


def _folder(words: Words, run: Path, *, is_live: bool) -> Path:
    """Return where the pages go: below a whole run or sweep, unless another folder is named.

    Raises:
        ConfigError: a folder of traces has no such place.
        FileError: it holds no trace.
    """
    if (named := words.path("out")) is not None:
        return named
    if not (is_live or (run / TRACES_FOLDER).is_dir() or job_folders(run)):
        list(trace_paths(run))  # refuses a folder without any
        raise ConfigError(f"{run}: is no whole run, so say where its pages go with out=DIR")
    check_no_link_out(run / "site")
    return run / "site"


WAIT_S = 0.2
"""How often it is looked for Ctrl-C [C]."""

IDLE_SHARE = 9
"""Times as long as the pages of a run that plays took to build, they are left alone: a tenth of
the time at most goes there [C]."""

LIVE, NEWS = "live", "news"
"""Place of the page that follows a run, with its files in ``site/live``, and what it asks for."""

POLICY = f"default-src 'none'; script-src 'self' 'unsafe-inline'; {LOADED}; frame-ancestors 'none'"
"""What every answer may load and who may show it; a page's own says which scripts are in it."""


class PageServer(Server):
    """Serves the files of a folder to whoever knows its address."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder  # of the pages; it need not be there yet
        self.followed: Followed | None = None
        self.pages = 0  # games of a followed run that the pages in the folder show
        super().__init__(self.answer, port)

    @property
    def first(self) -> str:
        """The address of the first page."""
        return self.address + (f"{LIVE}/" if self.followed else "")

    def answer(self, asked: Request) -> Answer:
        """Answer with a file of the folder or with news of a run, and with nothing else."""
        parts = asked.path.split("/")
        if self.followed and parts[:2] == [LIVE, NEWS]:
            after = parse_qs(asked.query).get("after", ["0"])[0]
            known = int(after) if after.isascii() and after.isdigit() and len(after) < 9 else 0
            news = {**self.followed.news(known), "pages": self.pages}
            return Answer(200, json.dumps(news).encode())
        file = self.file_of(parts)
        if file is None:
            raise RefusedError(404, "there is no such page")
        if file.name == "index.html" and parts[-1] not in {"", file.name}:
            return Answer(301, headers={"Location": f"{quote(parts[-1])}/"})
        kind, packed = guess_type(file.name)
        kind = "application/octet-stream" if packed or kind is None else kind
        try:
            body = read_bytes(file, is_found=True)
        except FileError as error:
            raise RefusedError(404, "there is no such page") from error
        return Answer(200, body, {"Content-Type": kind, "Content-Security-Policy": POLICY})

    def file_of(self, parts: list[str]) -> Path | None:
        """Return the file of a path, by its parts; none where there is none.

        Links are not followed.
        """
        folder = self.folder.resolve()
        if self.followed and parts[0] == LIVE:
            folder, parts = (SITE / LIVE).resolve(), parts[1:]
        file = folder.joinpath(*(part for part in parts if part))
        with suppress(OSError, ValueError):  # a name that no file can have
            file = file / "index.html" if file.is_dir() else file
            is_plain = file.resolve() == file and file.is_relative_to(folder)
            return file if is_plain and file.is_file() else None
        return None


def new_server(folder: Path, port: int) -> PageServer:
    """Return a server of a folder that need not be there yet; port 0 takes a free one.

    Raises:
        OutputError: the port is taken.
    """
    try:
        return PageServer(folder, port)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"port={port}: cannot be used ({reason}); choose another") from error


def serve(server: PageServer, build: Callable[[], None], *, is_opened: bool = False) -> None:
    """Serve pages until Ctrl-C; the address is printed.

    Args:
        server: of the pages.
        build: builds the pages of a run that plays, again and again until it is over.
        is_opened: whether the user's browser is opened, too.
    """
    with noting_interrupt(lambda: "Stopped") as is_interrupted:
        verdict(f"{server.first}   Ctrl-C ends it")
        if is_opened:
            webbrowser.open(server.first)
        due, followed = 0.0, server.followed
        while not is_interrupted():
            time.sleep(WAIT_S)
            is_over = followed is not None and not followed.is_playing()
            if followed is not None and (is_over or time.monotonic() >= due):
                due = time.monotonic() + IDLE_SHARE * _built_anew(server, followed, build)
            followed = None if is_over else followed


def _built_anew(server: PageServer, followed: Followed, build: Callable[[], None]) -> float:
    """Build the pages of a run that plays if it has more games; return the seconds it took."""
    began, count = time.monotonic(), len(followed.games())
    if count > server.pages:
        with quiet():
            build()
        server.pages = count
    return time.monotonic() - began
