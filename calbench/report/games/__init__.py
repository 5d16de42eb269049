"""Page data of the trace browser: games, their ledgers, an index of all, words to search."""
