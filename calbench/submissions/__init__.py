"""Results that others hand in: a folder with games and replies, its check, and asking again."""
