"""Published and computed tables -> the numbers that changed between them.

No stage of the pipeline: run it once before a release that changes published numbers, with
``make changes``, and commit what it writes. The argument says with what to compare: a revision of
git, whose ``data/release`` is read, or a folder with a release or tables. Without one it is the
last commit that changed ``data/release/manifest.json``.
"""

import io
import lzma
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from calbench.console import say
from calbench.errors import ConfigError
from calbench.files import write_atomically
from calbench.folders import scratch_folder
from calbench.metrics.measure import METRICS_VERSION
from calbench.release.changes import changes, numbers
from calbench.release.manifest import MANIFEST
from calbench.release.overview import by_column, headline, markdown
from calbench.release.writer import CHANGES
from stages import paths

PUBLISHED = paths.DATA / "published"


def main(arguments: list[str]) -> None:
    """Compare, and write all changes, both tables of the site, and the changelog's summary."""
    if len(arguments) > 1:
        raise ConfigError(f"{arguments[1]}: one argument at most, a revision or a folder")
    with _folder(arguments[0] if arguments else "") as folder:
        old, new = numbers(folder), numbers(paths.TABLES)
        found, shown = changes(old, new), headline(old, new)
    version = "?" if old.manifest is None else old.manifest.versions.get("metrics", "?")
    name = f"metrics-{METRICS_VERSION}"
    title = f"Metrics version {METRICS_VERSION} against {version}"
    target = paths.RELEASE / CHANGES
    target.mkdir(parents=True, exist_ok=True)
    columns = by_column(found)
    packed = lzma.compress(_csv(found), preset=9 | lzma.PRESET_EXTREME)
    write_atomically(target / f"{name}.csv.xz", packed)
    write_atomically(target / f"{name}.md", markdown(columns, title).encode())
    write_atomically(PUBLISHED / "changed_columns.csv", _csv(columns))
    write_atomically(PUBLISHED / "changed_headline.csv", _csv(shown))
    say(f"{target / name}.csv.xz: {len(found):,} changes, {len(shown):,} of headline numbers")


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


@contextmanager
def _folder(place: str) -> Iterator[Path]:
    """Provide what is compared with: a folder that is there, or the release of a revision.

    Raises:
        ConfigError: it is neither, or the revision has no release.
    """
    if place and Path(place).is_dir():
        yield Path(place)
        return
    revision = place or _git("log", "-1", "--format=%H", "--", str(paths.RELEASE / MANIFEST))
    if not (name := revision.decode().strip() if isinstance(revision, bytes) else revision):
        raise ConfigError("no commit has a release to compare with; name a revision or a folder")
    packed = _git("archive", "--format=tar", name, "--", str(paths.RELEASE))
    with scratch_folder("changes") as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield folder / paths.RELEASE


def _git(*arguments: str) -> bytes:
    """Return what git prints.

    Raises:
        ConfigError: it is not installed, or refuses, with its first line.
    """
    if (command := shutil.which("git")) is None:
        raise ConfigError("git is not installed; name a folder to compare with")
    done = subprocess.run([command, *arguments], capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise ConfigError(f"git {arguments[0]}: {reason}; name a revision or a folder")
    return done.stdout


if __name__ == "__main__":
    paths.answer(main)
