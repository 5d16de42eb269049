"""Runs: played, read back from their traces, and handed out as frames."""
