"""What a game records: typed events, the trace that holds them, and its file."""
