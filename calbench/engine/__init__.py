"""Plays a game: the only place that holds all calendars at once (paper, section 3)."""
