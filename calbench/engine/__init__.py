"""Plays a game: the only package with access to all calendars (paper, section 3)."""
