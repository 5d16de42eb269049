"""The samples of hostile text leave no field out, and none of it reaches a page or a table."""

from calbench.traces.storage import read_trace, trace_bytes
from tests.report.hostile import ATTACKS, ENDLESS, ENDLESS_IN, FIELDS, free_fields
from tests.report.sample_site import SampleSite

ELSEWHERE = {
    "DifficultyEntry.reason",
    "GameConfig.label_bank",
    "GameConfig.prompt_version",
    "OracleEntry.infeasible",
}
"""Free to the schema, yet written by this program alone; page data holds no configuration."""


def test_every_free_text_of_a_trace_is_attacked() -> None:
    assert {field.partition(".")[2] for field in free_fields() - ELSEWHERE} == FIELDS


def test_spoilt_game_holds_every_attack_and_endless_texts(sample_site: SampleSite) -> None:
    trace = read_trace(sample_site.cohort.traces / "my-model" / "smollm2-001.json")

    text = trace_bytes(trace).decode()

    assert text.count(ENDLESS) == len(ENDLESS_IN)
    for attack in ATTACKS[:5]:
        assert attack.replace('"', '\\"') in text


def test_no_hostile_word_reaches_a_page_or_a_table(sample_site: SampleSite) -> None:
    files = [
        path
        for suffix in ("html", "csv", "css", "xml")
        for path in sample_site.built.rglob(f"*.{suffix}")
    ]

    assert len(files) > 30
    for path in files:
        text = path.read_text()
        assert "hacked" not in text, path
        assert ENDLESS[:100] not in text, path


def test_search_knows_no_hostile_word(sample_site: SampleSite) -> None:
    assert "hacked" not in (sample_site.built / "search" / "search_index.js").read_text()
