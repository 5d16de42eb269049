"""The method page states the constants that the code uses."""

import re
from fractions import Fraction
from inspect import signature
from math import exp
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from calbench.agents.prompts.folder import variants
from calbench.agents.prompts.templates import principals
from calbench.agents.reflection import MOST_CHANGE
from calbench.agents.schemas import MOST_MESSAGES
from calbench.agents.scripted import STYLES
from calbench.agents.scripted.speaker import EVEN, PER_CHANGE
from calbench.analysis.certainties import CERTAINTIES, Certainty
from calbench.analysis.measures import FLAGGED_BELOW, MEASURES, RANKED_FROM, Measure
from calbench.analysis.rating_pools import RATINGS
from calbench.analysis.tables.leaderboard import EXCLUDED_LIMIT_PERCENT
from calbench.analysis.tables.privacy import PRIORS
from calbench.domain.replies import CERTAIN, Problem
from calbench.domain.sharing import MODULUS
from calbench.llm.client import GRACE_S
from calbench.llm.litellm_transport import TOP_LOGPROBS
from calbench.llm.preflight import MOST_ATTEMPTS, MOST_SECONDS, MOST_TOKENS
from calbench.llm.prices import BYTES_PER_TOKEN, TOKENS_PER_MESSAGE, TOKENS_PER_REQUEST
from calbench.llm.provider import FIRST_BACKOFF_S, LONGEST_BACKOFF_S, LONGEST_RETRY_AFTER_S
from calbench.metrics.authors import RATED_MARGINS
from calbench.metrics.measure import MeasureSpec
from calbench.metrics.outcomes import OUTCOMES
from calbench.metrics.privacy.reflection import GREATEST_MOVEMENT
from calbench.metrics.speech.detectors import BOUND, UNIT
from calbench.oracle.count import MOST_COUNTED_MEETINGS
from calbench.protocols.registry import POLICIES
from calbench.report.templating import Templates
from calbench.scenarios.labels import KINDS, MAX_CHARS, TIERS, read_label_bank
from calbench.scenarios.models import GREATEST_COST
from calbench.scenarios.parameters import RECIPE, ScenarioParameters, ScenarioShape, SuiteSpec
from calbench.scenarios.sampling import FIRST_ERRAND_ID, MAX_PLACEMENTS
from calbench.stats.agreement import LEAST_CORRELATED, LEAST_UNITS, MOST_DEALT, REACHED
from calbench.stats.differences import FEWEST_PAIRED
from calbench.stats.intervals import FEWEST_UNITS, MOST_ALIKE, MOST_REACHED
from calbench.stats.plackett_luce import constants
from calbench.stats.spec import TAIL_SHARE, AnalysisSpec, RatingSpec
from calbench.traces.events import Event
from calbench.traces.models import PUBLISHED, Limits
from tests.report.samples import SOURCES
from tests.studies.coverage import DRAWS, GOAL
from tests.studies.detectors import FOLDS, LEAST, OTHERS_COUNT, RULED_SHARE, STRENGTH

TEXT = (SOURCES / "docs" / "method.md").read_text()

ROWS = {
    cells[1].strip(): cells[2].strip()
    for line in TEXT[TEXT.index("{#constants}") :].splitlines()
    if len(cells := line.split("|")) == 5
}

SIZES = [sum(label.kind == kind for label in read_label_bank("v1").labels) for kind in KINDS]


def suite_default(name: str) -> object:
    return SuiteSpec.model_fields[name].default


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("scenarios of a canonical suite", suite_default("num_scenarios")),
        (
            "candidates of a canonical suite; for the thirds of sampled ones",
            f"{RECIPE['num_candidates']}; {suite_default('num_candidates')}",
        ),
        ("first errand id", FIRST_ERRAND_ID),
        ("attempts to place all meetings", MAX_PLACEMENTS),
        ("tiers of labels", ", ".join(TIERS)),
        ("labels for errands; for meetings, bank `v1`", "; ".join(map(str, SIZES))),
        ("longest label, characters", MAX_CHARS),
        ("most meetings with an exact feasible count", MOST_COUNTED_MEETINGS),
        ("sweeps of talk per round, `max_turns_per_round`", PUBLISHED.max_turns_per_round),
        ("retries of a batch, `decision_retries`", PUBLISHED.decision_retries),
        (
            "these in `limits=paper`: sweeps; retries; messages per agent",
            f"{Limits().max_turns_per_round}; {Limits().decision_retries}; unlimited",
        ),
        ("modulus of secure sum", f"2^40 - {2**40 - MODULUS}"),
        ("prior belief", MeasureSpec().belief_prior),
        ("movement of a reflection that counts as one slot", GREATEST_MOVEMENT),
        ("most ways to split an optimum, before sampling", MeasureSpec().fairness_sample_limit),
        ("share of excluded games that flags a team", f"{EXCLUDED_LIMIT_PERCENT:.0f}%"),
        ("greatest cost in a file", GREATEST_COST),
        ("change of belief in a reflection", f"-{MOST_CHANGE} to {MOST_CHANGE}"),
        ("stated chance of prompts `v3`, percent", f"0 to {CERTAIN}"),
        ("users that agents act for under prompts `v3`", len(principals())),
        (
            "scripted speakers' chance of what was not mentioned; for each step of a change",
            f"{EVEN}; {PER_CHANGE}",
        ),
        ("change of belief by a judge", f"-{MOST_CHANGE} to {MOST_CHANGE}"),
        ("most scenarios in the test of a judge's direction", f"{MOST_DEALT:,}"),
        (
            "fewest scenarios of an interval of agreement; of correlations; share that is reached",
            f"{LEAST_UNITS}; {LEAST_CORRELATED}; {REACHED:.0%}",
        ),
        ("messages per turn that a JSON Schema allows", MOST_MESSAGES),
        ("bytes per token, where a provider counts none", BYTES_PER_TOKEN),
        (
            "most tokens beside the text, per message; per request",
            f"{TOKENS_PER_MESSAGE}; {TOKENS_PER_REQUEST}",
        ),
        ("first and longest back-off, seconds", f"{FIRST_BACKOFF_S:.0f}; {LONGEST_BACKOFF_S:.0f}"),
        ("longest wait a provider may ask for, seconds", f"{LONGEST_RETRY_AFTER_S:.0f}"),
        ("likeliest tokens asked for in reflections", TOP_LOGPROBS),
        ("seconds for calls under way when a run ends", f"{GRACE_S:.0f}"),
        (
            "preflight: tokens of the reply; attempts; seconds of each",
            f"{MOST_TOKENS}; {MOST_ATTEMPTS}; {MOST_SECONDS:.0f}",
        ),
        (
            "share of readable reflections below which VPS is flagged; not ranked",
            f"{FLAGGED_BELOW:.0%}; {RANKED_FROM:.0%}",
        ),
        ("priors of the sensitivity of VPS", ", ".join(map(str, PRIORS))),
        ("orders of games over which ratings are averaged", RatingSpec().orders),
        (
            "resamples behind rank intervals; orders of each",
            f"{RatingSpec().resamples}; {RatingSpec().orders_per_resample}",
        ),
        (
            "MMR of a new player; points per unit of ordinal",
            f"{RatingSpec().mmr_start:.0f}; {RatingSpec().mmr_scale:.0f}",
        ),
        ("shown costs", ", ".join(map(str, ScenarioShape().shown_costs))),
    ],
)
def test_constant_is_that_of_the_code(constant: str, value: object) -> None:
    assert ROWS[constant].replace(",", "") == str(value).replace(",", "")


def test_detectors_are_trained_as_the_page_says() -> None:
    share = Fraction(RULED_SHARE)
    odds = exp(BOUND / UNIT)

    assert ROWS[
        "training of detectors: weight of others' messages; share of ours with rules; inverse "
        "strength of L2"
    ] == f"{OTHERS_COUNT:g}; {share}; {STRENGTH:g}".replace("0.", ".")
    assert ROWS[
        "training of detectors: fewest messages of a feature; parts of cross-validation"
    ] == (f"{LEAST}; {FOLDS}")
    assert ROWS["probability from which a detector gives a label"] == f"{odds / (1 + odds):.1g}"[1:]


def test_intervals_and_floor_are_those_of_the_code() -> None:
    spec = AnalysisSpec()

    assert ROWS["interval; fewest scenarios"] == f"{spec.confidence:.0%}; {FEWEST_UNITS}"
    assert ROWS["suites drawn to measure coverage; its goal"] == f"{DRAWS:,}; {GOAL:.0%}"
    assert ROWS["share of scenarios with one value: t interval; stretched to it"] == (
        f"{MOST_ALIKE:.0%}; {MOST_REACHED:.0%}"
    )
    assert ROWS["of the tail, what is left beyond each end of a t interval"] == str(TAIL_SHARE)
    assert ROWS["random permutations of a permutation test"] == f"{spec.permutations:,}"
    assert ROWS["power of the minimum detectable difference; fewest scenarios"] == (
        f"{spec.power:.0%}; {FEWEST_PAIRED}"
    )
    assert ROWS["VPS floor"].startswith(f"{MeasureSpec().vps_floor:.0f} slots")


def test_ratings_start_as_the_library_does() -> None:
    start = constants()
    stated = ROWS["skill and uncertainty of a new player, beta, kappa, tau"].split(", ")

    assert [float(Fraction(value)) for value in stated] == pytest.approx(
        [start.mu, start.sigma, start.beta, start.kappa, start.tau]
    )


def test_weights_and_ties_of_the_authors_are_those_of_the_code() -> None:
    rated = [rating for rating in RATINGS if rating.weight]
    row = ROWS["weights of `mmr_authors`; tolerances; most margins of excess"]
    weights, tolerances, most = row.split("; ")

    assert [float(each) for each in weights.split(", ")] == [each.weight for each in rated]
    assert [float(each) for each in tolerances.replace("1 or 2", "1").split(", ")] == [
        each.tolerance for each in rated
    ]
    assert most == str(RATED_MARGINS)


def test_size_is_that_of_the_code() -> None:
    shape = ScenarioShape()

    assert ROWS["agents, slots, meetings, participants"] == (
        f"{shape.num_agents}, {shape.num_slots}, {shape.num_meetings}, "
        f"{shape.participants_per_meeting}"
    )


@pytest.mark.parametrize("parameter", sorted(ScenarioParameters.model_fields))
def test_every_parameter_is_named(parameter: str) -> None:
    section = TEXT[TEXT.index("{#parameters}") : TEXT.index("{#suites}")]

    assert f"`{parameter}`" in section


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_named(outcome: str) -> None:
    assert f"| `{outcome}` |" in TEXT


@pytest.mark.parametrize("team", POLICIES)
def test_every_player_has_a_section_or_a_row_of_the_baselines(team: str) -> None:
    assert f"{{#{team}}}" in TEXT or f"| `{team}` |" in TEXT


@pytest.mark.parametrize("problem", get_args(Problem))
def test_every_problem_of_a_reply_is_named(problem: str) -> None:
    assert f"| `{problem}` |" in TEXT


@pytest.mark.parametrize("event", get_args(Event))
def test_every_type_of_event_is_named(event: type) -> None:
    section = TEXT[TEXT.index("{#traces}") : TEXT.index("{#constants}")]

    assert f"`{signature(event).parameters['type'].default}`" in section


@pytest.mark.parametrize("style", STYLES)
def test_every_scripted_speaker_is_described(style: str) -> None:
    section = TEXT[TEXT.index("{#scripted}") : TEXT.index("{#measures}")]

    assert f"`{style}`" in section
    assert f"| `{style}` |" in (SOURCES / "docs" / "results" / "language.md").read_text()


def test_no_place_of_the_page_has_two_headings() -> None:
    anchors = re.findall(r"\{#([a-z0-9-]+)\}", TEXT)

    assert len(anchors) == len(set(anchors))


@pytest.mark.parametrize("variant", variants())
def test_every_prompt_variant_is_named(variant: str) -> None:
    section = TEXT[TEXT.index("{#prompts}") : TEXT.index("{#envelope}")]

    assert f"`{variant}`" in section


def test_pseudocode_names_every_limit_of_play() -> None:
    section = TEXT[TEXT.index("{#algorithm}") : TEXT.index("{#observation}")]
    of_protocols = {"sd_model"}

    for name in Limits.model_fields.keys() - of_protocols:
        assert re.search(rf"`{name}(?:=\w+)?`", section), name
    for choice in get_args(Limits.model_fields["commit"].annotation):
        assert f"`commit={choice}`" in section


def test_environment_is_three_drawings_that_are_told_in_words_too() -> None:
    template = Templates(SOURCES / "docs").macros("")
    figure = template["environment"]()
    tree = ET.fromstring(str(figure))  # noqa: S314 - made here
    drawings = list(tree.iter("{http://www.w3.org/2000/svg}svg"))
    ids = {node.get("id") for node in tree.iter() if node.get("id")}

    assert len(drawings) == 3
    for drawing in drawings:
        assert drawing.get("role") == "img"
        assert {drawing.get("aria-labelledby"), drawing.get("aria-describedby")} <= ids
        title, told = drawing[0], drawing[1]
        assert title.tag.endswith("title")
        assert told.tag.endswith("desc")
        assert title.text
        assert told.text


FOLD = re.compile(r"\n\n((?:.+\n)+)\n<details[^>]*>\n<summary>.*</summary>\n\n((?:.+\n)+)")
"""What stands before a fold, and what it begins with."""

WHOLE = re.compile(r"[.?!)\]}]$|^(?:\||<|    |\{%|#)")
"""The last line of what ends there: ``[P].``, a row of a table; and not ``in a game is``."""


@pytest.mark.parametrize("path", sorted((SOURCES / "docs").rglob("*.md")), ids=str)
def test_no_sentence_and_no_formula_crosses_a_fold(path: Path) -> None:
    for before, inside in FOLD.findall(path.read_text()):
        last = before.rstrip().rpartition("\n")[2]
        assert WHOLE.search(last), f"a fold cuts {last!r}"
        assert not re.match(r"[a-z]|    |[-*] [a-z]", inside), f"a fold begins with {inside[:60]!r}"


def test_every_constant_has_an_origin() -> None:
    table = TEXT[TEXT.index("{#constants}") : TEXT.index("{#deviations}")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]

    assert len(rows) > 15
    for row in rows:
        assert re.search(r"\[[PRFC]", row.split("|")[3]), row


@pytest.mark.parametrize("measure", MEASURES, ids=lambda each: each.name)
def test_margins_stand_with_their_reasons(measure: Measure) -> None:
    link = f"[{measure.title}](#{measure.name.replace('_', '-')})"
    assert f"| {link} | {measure.margin:g} {measure.unit} | {measure.reason} |" in TEXT


@pytest.mark.parametrize("exact", CERTAINTIES, ids=lambda each: f"{each.player}-{each.reason}")
def test_exact_values_stand_with_their_reasons(exact: Certainty) -> None:
    names = ", ".join(f"`{name}`" for name in exact.measures)
    assert f"| `{exact.player}` | {names} | {exact.value:g} | {exact.reason} |" in TEXT
