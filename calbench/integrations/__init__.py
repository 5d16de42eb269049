"""Seats for other frameworks; each module needs the extra of its name and public names alone."""
