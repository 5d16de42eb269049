"""What the messages of a game give away: valuations of possible states (appendix F)."""
