"""Figures of the site: as Plotly data, in words, and as a table of what is drawn."""
