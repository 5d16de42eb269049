"""What happened in games, as tidy frames: one row an observation, columns declared and typed."""
