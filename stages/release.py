"""Suites, traces and tables -> data/release: what is published of them.

No stage of the pipeline: a release is made on purpose, ``make release``, and then committed.
"""

from calbench.console import say
from calbench.release.pack import PACK, write_pack
from calbench.release.writer import write_release
from stages import paths
from stages.parts import read_parts
from stages.publish import Shown


def main(_: list[str]) -> None:
    """Publish what is in ``data``."""
    parts = read_parts("publish", Shown)
    ranked = [name for name, part in parts.items() if part.role.is_ranked]
    made = write_release(paths.DATA, paths.RELEASE)
    write_pack(paths.DATA, paths.RELEASE / PACK, ranked)
    games = sum(each.games for each in made.traces.values())
    say(
        f"{paths.RELEASE}: {len(made.tables)} tables, {games} games, {len(made.suites)} suites; "
        f"of {len(made.files)} other files the checksum"
    )


if __name__ == "__main__":
    paths.answer(main)
