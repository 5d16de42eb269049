"""Builds the site's folder with MkDocs, without a network and the same way every time."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from calbench.endings import undone
from calbench.errors import CalbenchError
from calbench.folders import replaced
from calbench.report.policy import protect
from calbench.report.trimming import trim

CONFIG = "mkdocs.yml"
"""MkDocs' configuration, in the folder of the site's sources and in that of its written pages."""

SOURCE_DATE_EPOCH = "1767225600"
"""The date that MkDocs writes into pages and archives [C]: a build must not depend on today."""


def build_site(source: Path, out: Path) -> None:
    """Run ``mkdocs build --strict`` on a folder that :func:`write_site` made.

    A process of its own, since plugins keep state in the process they run in. Not ``--quiet``,
    which would silence the warnings that ``--strict`` counts.

    Args:
        source: folder with ``mkdocs.yml`` and ``docs``.
        out: folder of the built site; what is there is replaced once the new one is whole.

    Raises:
        CalbenchError: a page or a link does not fit; says what MkDocs said.
    """
    settings = {
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with replaced(out, is_marked=False) as beside:
        command = [
            # -P: nothing is imported from the current folder, which may be that of anybody's run.
            sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--clean",
            "--config-file", str(source / CONFIG), "--site-dir", str(beside),
        ]  # fmt: skip
        status, said = _run(command, {**os.environ, **settings})
        if status != 0:
            raise CalbenchError("the site cannot be built:\n" + "\n".join(said[-20:]))
        _without_sitemap(beside)
        trim(beside)
        protect(beside)  # last, for it names digests of what is in the pages


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, list[str]]:
    """Run a command; return its status and what it said. It does not outlive this process."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter on our own folder
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:

        def end() -> None:
            process.kill()
            os.waitpid(process.pid, 0)  # `process.wait` may hold a lock where it was interrupted

        with undone(end):
            said, errors = process.communicate()
    return process.returncode, [line for line in (errors + said).splitlines() if line.strip()]


def _without_sitemap(site: Path) -> None:
    """Remove the list of addresses where no page has one, and its packed copy, which has a time."""
    (site / "sitemap.xml.gz").unlink(missing_ok=True)
    sitemap = site / "sitemap.xml"
    if sitemap.is_file() and b"<loc>" not in sitemap.read_bytes():
        sitemap.unlink()
