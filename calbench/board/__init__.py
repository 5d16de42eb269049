"""The board with runs of one's own: the published results and theirs in the same tables."""
