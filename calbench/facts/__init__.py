"""What happened in games, as tidy frames: one row per observation, declared and typed columns."""
