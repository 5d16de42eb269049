"""Plays a game: the only package that holds all calendars of a running game (section 3)."""
