"""Ratings of players that met in games, from the frame of agents (appendix E)."""
