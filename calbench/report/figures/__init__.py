"""Figures of the site: as Plotly data, in words, and as a table of what is drawn."""

from calbench.report.figures.curves import curves
from calbench.report.figures.difficulty import difficulties
from calbench.report.figures.figure import Figure, place
from calbench.report.figures.gallery import PAGES, Gallery, names_of
from calbench.report.figures.plane import VPS_KIND_NAMES, plane
from calbench.report.figures.style import COLOURS, Style, styles
from calbench.report.figures.views import View, views

__all__ = [
    "COLOURS",
    "PAGES",
    "VPS_KIND_NAMES",
    "Figure",
    "Gallery",
    "Style",
    "View",
    "curves",
    "difficulties",
    "names_of",
    "place",
    "plane",
    "styles",
    "views",
]
