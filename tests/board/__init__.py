"""Runs of one's own beside the published results."""
