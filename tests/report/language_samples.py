"""Small runs in plain language: scripted speakers, and a made-up model that often fails."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from calbench.agents.base import CallSite, Completer
from calbench.agents.scripted import STYLES
from calbench.agents.scripted.speaker import ScriptedSpeaker
from calbench.analysis.output import write_all_tables
from calbench.analysis.registry import Settings
from calbench.config.composition import compose
from calbench.config.spec import RunSpec
from calbench.domain.usage import Usage
from calbench.engine.batch import play_jobs
from calbench.engine.jobs import Job, plan_jobs
from calbench.errors import UnavailableError
from calbench.llm.completion import Completion, Request
from calbench.report.experiment import Experiment
from calbench.scenarios.storage import write_suite
from calbench.scenarios.suites import build_suites, chosen_ids, together
from tests.llm.asking import price
from tests.report.hostile import spoil
from tests.report.samples import HOSTILE_TEXTS, results_in

MODEL = "openai/tiny"

HOSTILE_WORDS = HOSTILE_TEXTS[:5]

FORMER = (
    "suite=former-uniform",
    "suite.setting=uniform",
    "suite@more_suites.varied=former-varied",
    "more_suites.varied.setting=varied",
    "subset=null",
)
"""Suites of the canonical settings that can be small."""


@dataclass(frozen=True)
class Tiny:
    """Talks like a candid speaker, in hostile words; every few replies cannot be read.

    Attributes:
        halts: the game in which it gives out in the second round.
    """

    halts: str

    async def complete(self, request: Request, site: CallSite) -> Completion:
        if site.game_id == self.halts and site.round_index == 1:
            raise UnavailableError("provider_fault", HOSTILE_TEXTS[0])
        text = ScriptedSpeaker(STYLES["candid"], seed=0).reply(request.messages)
        return Completion(
            text=self._spoilt(text, len(request.messages) // 2),
            finish_reason="stop",
            usage=Usage(input_tokens=100, cached_tokens=40, output_tokens=7),
            key="0" * 64,
        )

    def _spoilt(self, text: str, turn: int) -> str:
        words = HOSTILE_WORDS[turn % len(HOSTILE_WORDS)]
        reply = json.loads(text)
        if "actions" not in reply:
            return text
        if turn % 7 == 3:
            return f"I would rather write {words}"
        reply["thinking"] = words
        for action in reply["actions"]:
            if action["type"] == "dm":
                action["content"] += f" {words}"
        return f"Sure! {json.dumps(reply)}" if turn % 3 == 2 else json.dumps(reply)


def make_language(
    folder: Path, name: str, *teams: str, num_scenarios: int | None = 3, confidence: float = 0.95
) -> Experiment:
    """Play a few scenarios of one of the language experiments, with all its teams or these.

    Without a number of scenarios it is played whole.
    """
    suites = () if num_scenarios is None else ("suite", "more_suites.varied")
    spec = compose(
        [
            f"+experiment={name}",
            *(["channels=dm"] if name == "language" else []),
            *([f"teams=[{','.join(teams)}]"] if teams else []),
            *(FORMER if suites else ()),
            *(part for suite in suites for part in _few(suite, num_scenarios or 0)),
            "analysis.permutations=99",
            f"analysis.confidence={confidence}",
        ]
    )
    return _played(folder, spec)


def make_cohort(
    folder: Path,
    num_scenarios: int = 3,
    *others: str,
    name: str = "smollm2",
    player: str = "my-model",
    everywhere: bool = True,
    channels: str = "dm",
) -> Experiment:
    """Play a few scenarios with :class:`Tiny` in every seat, if wanted, beside further teams.

    The last game is halted; in the one before every text is an attack.
    """
    teams = (*others, "my-model") if everywhere else others
    spec = compose(
        [
            f"name={name}",
            f"channels={channels}",
            "limits=paper",
            "suite=former-uniform",
            "suite.setting=smollm2",
            *_few("suite", num_scenarios),
            f"teams=[{','.join(teams)}]",
            "prompts.version=v3",
            f"model.name={MODEL}",
            f"model.player={player}",
            "analysis.permutations=99",
        ]
    )
    return _played(folder, spec, ["smollm2-001"] if num_scenarios > 2 else [])


def _few(suite: str, num_scenarios: int) -> tuple[str, str]:
    return f"{suite}.num_scenarios={num_scenarios}", f"{suite}.num_candidates={3 * num_scenarios}"


def _played(folder: Path, spec: RunSpec, spoilt: Sequence[str] = ()) -> Experiment:
    results = results_in(folder, spec.name)
    whole = together(build_suites(spec.suites))
    chosen = chosen_ids(whole, spec.subset)
    scenarios = [scenario for scenario in whole if scenario.scenario_id in chosen]
    write_suite(results.suite, scenarios)
    jobs = plan_jobs(scenarios, spec.game_configs, results.traces)
    has_model = any(job.waits for job in jobs)
    play_jobs(jobs, None, _ignore, source=(lambda: nullcontext(_tiny(jobs))) if has_model else None)
    for scenario_id in spoilt:
        for team in spec.teams:
            spoil(results.traces / team.team_id / f"{scenario_id}.json")
    prices = {MODEL: price(1.0, 0.5, 2.0)}
    write_all_tables(jobs, results.folder, Settings(spec.measure, spec.analysis, prices), _tick)
    return results


def _tiny(jobs: list[Job]) -> Completer:
    return Tiny(jobs[-1].game_id)


def _ignore(game: object) -> None:
    del game


def _tick() -> None:
    """Do nothing."""
