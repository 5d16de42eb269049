"""The page on evaluating a model: its commands compose and it names what there is."""

import re

import pytest

from calbench.config.composition import compose
from calbench.report.pages import PAGES, navigation
from tests.report.samples import SOURCES

COMMANDS = [
    found[1].split()
    for line in (SOURCES / "docs" / "evaluate.md").read_text().splitlines()
    if (found := re.match(r"    calbench(?: estimate)? ((?:\+|\S+=|').*)", line))
    and "next.yaml" not in line
]


@pytest.mark.parametrize("overrides", COMMANDS, ids=" ".join)
def test_every_command_to_evaluate_a_model_composes(overrides: list[str]) -> None:
    spec = compose([word.strip("'") for word in overrides])

    assert spec.teams


def test_page_on_evaluation_names_what_there_is() -> None:
    text = (SOURCES / "docs" / "evaluate.md").read_text()

    (pages,) = (entry["Use it"] for entry in navigation(PAGES) if "Use it" in entry)
    assert {"Evaluate your model": "evaluate.md"} in pages
    assert len(COMMANDS) > 8
    for model in (SOURCES.parent / "conf" / "model").glob("*.yaml"):
        assert model.stem in text
    for experiment in ("mixed5", "nosy", "adversarial", "dspy"):
        assert f"+experiment={experiment}" in text
