"""The leaderboard and what belongs to it: players, ratings and comparisons."""
