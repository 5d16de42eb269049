"""Words for what is wrong with a name that somebody gave."""

from collections.abc import Sequence


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the known names nearest to an unknown one, the best first."""
    from difflib import get_close_matches

    return [name] if name in known else get_close_matches(name, known)


def meant(name: str, known: Sequence[str]) -> str:
    """Ask whether the known names nearest to an unknown one were meant; empty if none is near."""
    near = nearest(name, known)
    return f"did you mean {' or '.join(near)}?" if near else ""


def among(name: str, known: Sequence[str]) -> str:
    """Say which known names are nearest to an unknown one, or all of them if none is near."""
    return meant(name, known) or f"known are {', '.join(known)}"
