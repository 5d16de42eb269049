"""``calbench site`` and ``calbench view``: runs of one's own on pages."""

from pathlib import Path

from calbench.board.board import write_board
from calbench.board.entries import run_names
from calbench.board.serving import serve
from calbench.board.unfinished import has_store
from calbench.cli.status import Status
from calbench.cli.words import Words, whole_number
from calbench.config.composition import compose
from calbench.console import verdict
from calbench.errors import ConfigError
from calbench.files import printable

MOST_PORT = 65_535


def main(words: Words) -> int:
    """Build the whole site, with runs beside the published results."""
    out = words.folder("out", "the folder for the site, new or empty")
    paths = words.some_paths("no run is named: give the folders of runs")
    spec = compose(words.settings)
    write_board(paths, out, spec.jobs, spec.executor)
    verdict(f"{len(paths)} runs on the board: {out / 'index.html'}", is_good=True)
    return Status.DONE


def view(words: Words, *, is_opened: bool = False) -> int:
    """Build the pages of one run, and serve them until Ctrl-C."""
    paths = words.some_paths("no run is named: give the folder of a run")
    if len(paths) > 1:
        raise ConfigError("view shows one run; calbench site RUN... out=DIR shows several")
    port = whole_number(words, "port", 0, least=0, most=MOST_PORT)
    wish = words.options.get("serve", "true")
    if wish not in {"true", "false"}:
        raise ConfigError(f"serve: true or false, got {printable(wish)}")
    spec = compose(words.settings)
    run_names(paths)  # refuses what is no folder
    out = _folder(words, paths[0])
    write_board(paths, out, spec.jobs, spec.executor, has_published=False)
    if wish == "false":
        verdict(str(out / "index.html"), is_good=True)
    else:
        serve(out, port, is_opened=is_opened)
    return Status.DONE


def _folder(words: Words, run: Path) -> Path:
    """Return where the pages go: below a whole run, unless another folder is named.

    Raises:
        ConfigError: a folder of traces has no such place.
    """
    if words.options.get("out"):
        return Path(words.options["out"])
    if not run.is_dir() or not ((run / "traces").is_dir() or has_store(run)):
        raise ConfigError(f"{run}: is no whole run, so say where its pages go with out=DIR")
    return run / "site"
