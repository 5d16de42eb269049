"""Shows the site while its texts are written: `make serve`, then edit and reload.

Page data, figures and tables are those of the last build of the site, or written once. After that
only pages are: those of a template that changed, all of them if a macro did.
"""

import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from calbench.errors import CalbenchError
from calbench.pool import processors
from calbench.report import templating
from calbench.report.build import CONFIG
from calbench.report.site import Site
from calbench.report.writing import Pages, write_config, write_site
from stages import paths
from stages.publish import site

MACROS = Path(templating.__file__).parent / "templates"

PORT = "8000"
PAUSE_S = 0.5
"""Between two looks at the files [C]."""


def main(arguments: list[str]) -> None:
    """Serve the site on this machine until Ctrl-C; an argument is the port."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    shown, written = site(), paths.BUILD / "site_src"
    if not (written / CONFIG).is_file():
        with paths.pool(processors()) as pool:
            write_site(shown, written, pool)
    draft = Draft(shown, written)
    with served(written, arguments[0] if arguments else PORT) as server:
        while server.poll() is None:
            time.sleep(PAUSE_S)
            if line := draft.update():
                print(line, flush=True)


class Draft:
    """Written pages, and when their sources were edited last.

    Args:
        shown: what the pages show.
        written: the folder that ``write_site`` wrote.
    """

    def __init__(self, shown: Site, written: Path) -> None:
        self._shown = shown
        self._docs = written / "docs"
        self._sources = shown.sources / "docs"
        self._assets = shown.sources / "assets"
        self._texts = [shown.sources.parent / name for name in ("CHANGELOG.md", "CONTRIBUTING.md")]
        self._times = self._edited()
        self._pages = Pages(shown, self._docs)
        self._copy(self._times)
        self._pages.write()
        write_config(shown.sources / CONFIG, self._pages.listed, written / CONFIG)

    def update(self) -> str:
        """Write what was edited since the last call; say in one line what it was, if anything."""
        now = self._edited()
        edited = {path for path, at in now.items() if self._times.get(path) != at}
        if not edited:
            return ""
        self._times = now
        started = time.monotonic()
        try:
            names = [*self._copy(edited), *self._write(edited)]
        except CalbenchError as error:
            return str(error)
        return f"written in {time.monotonic() - started:.1f} s: {', '.join(names) or 'nothing'}"

    def _edited(self) -> dict[Path, int]:
        folders = (self._sources, self._assets, MACROS)
        found = [*self._texts, *(path for folder in folders for path in folder.rglob("*"))]
        return {path: path.stat().st_mtime_ns for path in found if path.is_file()}

    def _copy(self, edited: Iterable[Path]) -> list[str]:
        """Copy the assets among edited files; return those that are another than before."""
        copied = []
        for path in edited:
            if path.is_relative_to(self._assets):
                name = path.relative_to(self._assets)
                target = self._docs / "assets" / name
                if not target.is_file() or target.read_bytes() != path.read_bytes():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
                    copied.append(f"assets/{name.as_posix()}")
        return sorted(copied)

    def _write(self, edited: set[Path]) -> list[str]:
        """Write the pages of edited templates; all of them if a macro or a quoted text is."""
        if not edited.isdisjoint(self._texts):
            self._pages = Pages(self._shown, self._docs)
        templates = [path for path in edited if path.is_relative_to(self._sources)]
        if any(path in self._texts or path.is_relative_to(MACROS) for path in edited):
            return self._pages.write()
        return self._pages.write([path.relative_to(self._sources).as_posix() for path in templates])


@contextmanager
def served(written: Path, port: str) -> Iterator["Popen[bytes]"]:
    """Serve the written pages with MkDocs, which reloads them in the browser."""
    command = [
        sys.executable, "-P", "-m", "mkdocs", "serve", "--dirty", "--config-file",
        str(written / CONFIG), "--dev-addr", f"127.0.0.1:{port}",
    ]  # fmt: skip
    with Popen(command) as server:
        try:
            yield server
        except KeyboardInterrupt:
            pass
        finally:
            server.terminate()


if __name__ == "__main__":
    paths.answer(main)
