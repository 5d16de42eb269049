"""Many games in tables: rows, estimates with their uncertainty, and what the columns mean."""
