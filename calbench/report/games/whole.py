"""A game's whole trace for the download: the bytes of its file, packed so that a script holds them.

Page data says of a game what the browser draws. The file that ``calbench verify`` accepts stands
beside it, read only when somebody asks for it: nothing has to be put together again.
"""

from base64 import b64encode
from pathlib import Path

from calbench.report.archive import gzipped
from calbench.report.escape import write_data


def write_whole(folder: Path, name: str, trace: bytes) -> None:
    """Write a trace's file for the download.

    Args:
        folder: where page data goes.
        name: experiment, team and scenario.
        trace: bytes of the file.
    """
    write_data(folder, f"traces/{name}", b64encode(gzipped(trace)).decode("ascii"))
