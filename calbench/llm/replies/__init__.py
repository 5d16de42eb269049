"""Recorded replies: a database that is only added to, and the same as text for git."""
