"""Small trained models that decide what a message says: features, and whole weights (G.5)."""
