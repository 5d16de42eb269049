"""Pages about what agents say to each other."""
