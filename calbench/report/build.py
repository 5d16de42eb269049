"""Builds the site's folder with MkDocs, without a network and the same way every time."""

import os
import subprocess
import sys
from pathlib import Path

from calbench.errors import CalbenchError
from calbench.report.trimming import trim

SOURCE_DATE_EPOCH = "1767225600"
"""The date that MkDocs writes into pages and archives [C]: a build must not depend on today."""


def build_site(source: Path, out: Path) -> None:
    """Run ``mkdocs build --strict`` on a folder that :func:`write_site` made.

    A process of its own, since plugins keep state in the process they run in. Not ``--quiet``,
    which would silence the warnings that ``--strict`` counts.

    Args:
        source: folder with ``mkdocs.yml`` and ``docs``.
        out: folder of the built site; what stands there is replaced.

    Raises:
        CalbenchError: a page or a link does not fit; says what MkDocs said.
    """
    command = [
        # -P: nothing is imported from the current folder, which may be that of anybody's run.
        sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--clean",
        "--config-file", str(source / "mkdocs.yml"), "--site-dir", str(out.resolve()),
    ]  # fmt: skip
    settings = {
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONHASHSEED": "0",
    }
    done = subprocess.run(  # noqa: S603 - our own interpreter on our own folder
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise CalbenchError("the site cannot be built:\n" + "\n".join(said[-20:]))
    trim(out)
