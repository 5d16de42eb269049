"""What a game is about: scenarios, how they are made, and suite files."""
