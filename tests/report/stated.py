"""The numbers that a page states."""

from html.parser import HTMLParser


class Stated(HTMLParser):
    """Collects the numbers of table cells: values of ``<data>``, and what stands beside them.

    Attributes:
        values: cells of a table, word for word.
        bare: numbers in the text of a cell without one; they must be cells too.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: list[str] = []
        self.bare: list[str] = []
        self._is_cell = False
        self._is_value = False
        self._words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self._is_cell, self._words = True, ""
        elif tag == "data":
            self._is_value = True
            self.values.append(dict(attrs)["value"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "data":
            self._is_value = False
        elif tag == "td":
            self._is_cell = False
            self.bare.append(self._words)

    def handle_data(self, data: str) -> None:
        if self._is_cell and not self._is_value:
            self._words += data
