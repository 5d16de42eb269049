"""The plane of the home page: which results it shows, where they are drawn, and its card."""
