"""``calbench site``: the whole site, with runs of one's own beside the published results."""

import os

from calbench.board.board import write_board
from calbench.cli.words import Words, whole_number
from calbench.files import printable


def main(words: Words) -> int:
    """Build the site."""
    out = words.folder("out", "the folder for the site, new or empty")
    paths = words.some_paths("no run is named: give the folders of runs")
    write_board(paths, out, jobs=whole_number(words, "jobs", os.cpu_count() or 1, least=1))
    print(f"Site     {printable(str(out / 'index.html'))}")
    return 0
