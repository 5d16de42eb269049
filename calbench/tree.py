"""The top of the tree: where ``conf``, ``data`` and ``site`` are.

In a checkout they are beside the package; an installed package has them in ``bundled``.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_BUNDLED = _PACKAGE / "bundled"

TREE = _BUNDLED if _BUNDLED.is_dir() else _PACKAGE.parent
"""The folder that has ``conf``, ``data`` and ``site``."""

CONF = TREE / "conf"
"""The configuration."""

DATA = TREE / "data"
"""Published and computed data, and label banks."""

SITE = TREE / "site"
"""Templates and assets of the site's pages."""
