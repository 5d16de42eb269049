"""Links from a number to the game behind it, for the games that the trace browser has."""

from collections.abc import Sequence
from urllib.parse import quote

from calbench.report.escape import html_text
from calbench.report.results import ExperimentResults
from calbench.report.special import CHANNELS, GAMES_SHOWN, SMOLLM2, SpecialResults


def playing(
    experiments: Sequence[ExperimentResults], special: SpecialResults
) -> list[ExperimentResults]:
    """Return the experiments whose teams are compared: no sweeps, draws or sizes."""
    named = [special.named(name) for name in (*CHANNELS, SMOLLM2)]
    return [*experiments, *filter(None, named)]


class GameLinks:
    """Knows which games the trace browser has; of the others nothing is linked."""

    def __init__(self, experiments: Sequence[ExperimentResults], special: SpecialResults) -> None:
        """Take the experiments that are browsed whole, and those of which some games are."""
        shown = [*experiments, *filter(None, map(special.named, GAMES_SHOWN))]
        self._traces = {results.name: results.traces for results in shown}
        self._scenarios = {
            results.name: {s.scenario_id for s in results.spread(GAMES_SHOWN.get(results.name))}
            for results in shown
        }

    def covers(self, results: ExperimentResults) -> bool:
        """Whether the trace browser has games of an experiment."""
        return results.name in self._traces

    def has(self, experiment: str, team: str, scenario_id: str) -> bool:
        """Whether the trace browser has this game."""
        return (
            scenario_id in self._scenarios.get(experiment, ())
            and (self._traces[experiment] / team / f"{scenario_id}.json").is_file()
        )

    def game(self, experiment: str, team: str, scenario_id: str, event: str = "") -> str:
        """Return a game's name, linked to the trace browser if that has it.

        Args:
            experiment: its name.
            team: who played.
            scenario_id: what was played.
            event: index of the event at which the browser opens it; the first if empty.
        """
        words = html_text(scenario_id if not event else f"{scenario_id}, event {event}")
        if not self.has(experiment, team, scenario_id):
            return words
        place = [experiment, team, scenario_id, *([event] if event else [])]
        address = "/".join(quote(name, safe="") for name in place)
        return f'<a href="../traces.html#{html_text(address)}">{words}</a>'
