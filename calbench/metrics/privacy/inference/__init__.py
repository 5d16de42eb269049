"""What agents learn of each other, in bits: an informed reader of a game's messages [C]."""
