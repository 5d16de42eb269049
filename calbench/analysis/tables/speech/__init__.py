"""Tables of what agents find out by talking; importing this package registers them."""

from calbench.analysis.tables.speech import probes

__all__ = ["probes"]
