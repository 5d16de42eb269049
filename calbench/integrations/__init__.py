"""Seats for other frameworks, by public names alone; what needs a library has an extra."""
