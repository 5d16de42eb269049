"""From facts to tables: estimates with their uncertainty, and what the columns mean."""
