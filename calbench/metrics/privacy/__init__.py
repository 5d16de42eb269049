"""What the messages of a game reveal: valuations of possible states (appendix F)."""
