"""Addresses of games in the trace browser, for the games that it has."""

from collections.abc import Sequence
from urllib.parse import quote

from calbench.report.experiment import Experiment
from calbench.report.tables import Row


class GameLinks:
    """Knows which games the trace browser has; nothing links to the others."""

    def __init__(self, played: Sequence[Experiment]) -> None:
        """Take the experiments of which the trace browser has games."""
        self._played = {each.name: each for each in played}
        self._shown = {each.name: {s.scenario_id for s in each.shown} for each in played}

    def has(self, experiment: str, team: str, scenario_id: str) -> bool:
        """Return whether the trace browser has this game."""
        return (
            scenario_id in self._shown.get(experiment, ())
            and (self._played[experiment].traces / team / f"{scenario_id}.json").is_file()
        )

    def address(self, experiment: str, team: str, scenario_id: str, event: str = "") -> str:
        """Return the address of a game from the site's root; empty if the browser has it not.

        Args:
            experiment: its name.
            team: who played.
            scenario_id: what was played.
            event: index of the event at which the browser opens it; the first if empty.
        """
        if not self.has(experiment, team, scenario_id):
            return ""
        parts = [experiment, team, scenario_id, *([event] if event else [])]
        return "traces.html#" + "/".join(quote(part, safe="") for part in parts)

    def to_event(self, row: Row) -> Row:
        """Return the row of an event with its ``address``, and with its place as ``event``."""
        place = (row["experiment"], row["team"], row["scenario_id"], row["event_index"])
        event = f"{row['scenario_id']}, event {row['event_index']}"
        return {**row, "address": self.address(*place), "event": event}
