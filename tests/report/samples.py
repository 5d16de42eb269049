"""A small run on disk, and a team whose every word is an attack on the page that shows it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from calbench.analysis.output import write_all_tables
from calbench.analysis.registry import Settings
from calbench.analysis.summary import write_summary
from calbench.domain.actions import DirectMessage, Reschedule, Schedule, Turn
from calbench.domain.ids import ErrandId, Slot
from calbench.domain.messages import Text
from calbench.domain.observations import Observation, Phase
from calbench.engine.drivers import run
from calbench.engine.seating import team_of
from calbench.protocols.base import Policy, others, own_meeting
from calbench.protocols.registry import build_policy
from calbench.report.downloads import Downloads
from calbench.report.experiment import Experiment
from calbench.report.pages import PAGES
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.templating import Templates
from calbench.report.writing import write_site
from calbench.scenarios.models import Scenario
from calbench.scenarios.parameters import ScenarioShape, SuiteSpec
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suite
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import PUBLISHED as PUBLISHED_LIMITS
from calbench.traces.models import GameConfig, Trace
from calbench.traces.storage import write_trace

SOURCES = Path(__file__).resolve().parents[2] / "site"

PUBLISHED = SOURCES.parent / "data" / "published"

NOTHING = SOURCES / "nothing"
"""A folder that is not there: a site without the numbers of others."""

HOSTILE_TEXTS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script><!--",
    '<img src="x" onerror="window.hacked = 3"><svg onload="window.hacked = 4">',
    "javascript:window.hacked=5 [click](javascript:window.hacked=6) \"'`",
    "{{ 7 * 7 }} ${7 * 7} {% raw %} <%= 7 * 7 %> &lt;b&gt;",
    "left \u202eright\u202c \u2066isolated\u2069 \u200f\u061c \x07 \u2028 \u2029",
    "x" * 50_000,
)
"""Texts that must show as text; the first ones would set ``window.hacked`` if they ran."""

STRANGE_TEAMS = ("constructor", "a__team__of.64-characters." + "W" * 38)
"""Ids that a team may have: a property of every object, and the longest; they never speak."""

HALF_CHARACTERS = "\ud800 alone, \udc00 alone, \U0001f4c5 whole"


class Hostile:
    """Says one of its texts in each sweep, and gives it as the reason of every move."""

    def __init__(self, texts: Sequence[str] = HOSTILE_TEXTS) -> None:
        self._texts = texts

    def act(self, observation: Observation) -> Turn:
        meeting = own_meeting(observation)
        if meeting is None:
            return Turn()
        if observation.phase is Phase.CHEAP_TALK:
            if observation.turn_index >= len(self._texts):
                return Turn()
            text = self._texts[observation.turn_index]
            return Turn(
                (DirectMessage(to=others(observation, meeting)[0], content=Text(text=text)),), text
            )
        text = self._texts[observation.attempt % len(self._texts)]
        move = Reschedule(
            item_id=ErrandId(999), from_slot=Slot(0), to_slot=Slot(1), justification=text
        )
        free = Slot(observation.calendar.index(None))
        schedule = Schedule(meeting_id=meeting.meeting_id, slot=free)
        return Turn((move, schedule) if observation.attempt == 0 else (schedule,), text)


def suite_of(setting: str, num_scenarios: int) -> tuple[Scenario, ...]:
    return build_suite(
        SuiteSpec(
            setting=setting,
            num_scenarios=num_scenarios,
            num_candidates=3 * num_scenarios,
            density_choices=(0.6, 0.9),
            blocked_choices=(2, 4),
            scenario=ScenarioShape(pref_level=1 if setting == "uniform" else 3),
        )
    )


def play(scenario: Scenario, team: str, texts: Sequence[str] = HOSTILE_TEXTS) -> Trace:
    protocols = dict.fromkeys(("imap", "mediator", "secure-sum"), "protocol")
    kind = {**protocols, "hostile": "scripted"}.get(team, "degenerate")
    seats = (team_of(team).seats[0].model_copy(update={"kind": kind}),)
    config = GameConfig(
        team=team_of(team).model_copy(update={"seats": seats}),
        channels=("dm",),
        limits=PUBLISHED_LIMITS,
    )
    policies = [
        Hostile(texts) if team == "hostile" else _policy(team) for _ in range(scenario.num_agents)
    ]
    return run(scenario, config, policies)


def _policy(team: str) -> Policy:
    policy = build_policy("silent" if team in STRANGE_TEAMS else team, {})
    assert policy is not None
    return policy


def role_of(name: str) -> Role:
    """Return what an experiment of ``conf`` is for; another one has a page for each setting."""
    path = SOURCES.parent / "conf" / "experiment" / f"{name}.yaml"
    given = yaml.safe_load(path.read_text()).get("site") if path.is_file() else None
    return Role.model_validate(given or {})


def results_in(folder: Path, name: str) -> Experiment:
    """Name the files of an experiment that is or will be in a folder."""
    return Experiment(
        name, folder / "suite.jsonl", folder / "tables", folder / "traces", role_of(name)
    )


def make_results(
    folder: Path,
    name: str,
    teams: Sequence[str],
    *,
    num_scenarios: int = 3,
    scenarios: Sequence[Scenario] | None = None,
    confidence: float = 0.95,
) -> Experiment:
    """Play a suite and write its tables; if it is not given, its setting is called like the run."""
    results = results_in(folder, name)
    scenarios = suite_of(name, num_scenarios) if scenarios is None else scenarios
    write_suite(results.suite, scenarios)
    games = []
    for team in teams:
        for scenario in scenarios:
            path = results.traces / team / f"{scenario.scenario_id}.json"
            write_trace(path, play(scenario, team))
            games.append(Game(path, team, scenario.scenario_id))
    settings = Settings(analysis=AnalysisSpec(confidence=confidence))
    write_all_tables(games, results.folder, settings, lambda: None)
    return results


class Game(NamedTuple):
    """A game on disk."""

    path: Path
    team_id: str
    scenario_id: str
    seconds: float = 0.01


def site_of(
    experiments: Sequence[Experiment],
    out: Path,
    published: Path = NOTHING,
    sources: Path = SOURCES,
    *,
    has_downloads: bool = False,
) -> Site:
    """Write the tables over these runs beside a folder; return the site of them."""
    folder = out.with_name(f"{out.name}-summary")
    site = Site(
        sources, tuple(experiments), Tables(folder), Tables(published), has_downloads=has_downloads
    )
    write_summary(site.runs, folder)
    return site


def write_pages(
    experiments: Sequence[Experiment],
    out: Path,
    published: Path = NOTHING,
    sources: Path = SOURCES,
    *,
    has_downloads: bool = False,
) -> None:
    """Write the tables over these runs, beside the folder, and the folder of the site."""
    write_site(site_of(experiments, out, published, sources, has_downloads=has_downloads), out)


def page_of(site: Site, path: str) -> str:
    """Return the text of one page of a site."""
    page = next(each for each in PAGES if each.path == path)
    content = page.content(site)
    assert content is not None
    values = {
        "site": site,
        "page": page,
        "paths": set(),
        "explaining": [],
        "site_links": {"paper": "", "repository": ""},
        "offered": Downloads(),
        **content.values,
    }
    return Templates(site.sources / "docs").filled(page.source, page.root, values)
