"""What a game is about: scenarios, how they are made, and the suite files that hold them."""
