"""Pages and page data of language agents: numbers of the tables, and no word that runs."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
import yaml

from calbench.analysis.audits.patterns import PATTERNS
from calbench.analysis.audits.tables import AuditTables
from calbench.config import compose
from calbench.errors import CalbenchError
from calbench.metrics.usage import PROBLEMS
from calbench.report import figures, language_tables
from calbench.report.games import game_data, prompt_data, shown_note
from calbench.report.language_tables import Named
from calbench.report.pages import write_site
from calbench.report.results import ExperimentResults, read_table
from calbench.report.search import bucket_of, words_of
from calbench.report.special import CHANNELS, LANGUAGE, SMOLLM2, SpecialResults
from calbench.scenarios.labels import TIERS
from calbench.traces.events import GameHalted
from calbench.traces.storage import read_trace, trace_paths
from tests.report.language_samples import HOSTILE_WORDS, make_language
from tests.report.sample_site import SampleSite
from tests.report.samples import SOURCES, make_results
from tests.report.test_search import messages_of
from tests.report.test_site_source import Numbers
from tests.report.test_special_pages import PUBLISHED, cells, figure, navigation
from tests.report.unpacking import page_data, unpacked

GAME_BYTES = 60_000
"""Most bytes of a language game, with its prompts."""


@pytest.fixture(scope="module")
def speakers(
    sample_site: SampleSite, tmp_path_factory: pytest.TempPathFactory
) -> list[ExperimentResults]:
    folder = tmp_path_factory.mktemp("language")
    _, *others = CHANNELS
    return [
        sample_site.language,
        *(make_language(folder / name, name, "oversharer") for name in others),
    ]


@pytest.fixture(scope="module")
def cohort(sample_site: SampleSite) -> ExperimentResults:
    return sample_site.cohort


@pytest.fixture(scope="module")
def protocols(
    speakers: list[ExperimentResults], tmp_path_factory: pytest.TempPathFactory
) -> ExperimentResults:
    """An experiment called like a setting, on that setting's scenarios."""
    folder = tmp_path_factory.mktemp("uniform")
    scenarios = [s for s in speakers[0].scenarios if s.setting == "uniform"]
    return make_results(folder, "uniform", ["imap", "silent"], scenarios=scenarios)


@pytest.fixture(scope="module")
def docs(
    speakers: list[ExperimentResults],
    cohort: ExperimentResults,
    protocols: ExperimentResults,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    out = tmp_path_factory.mktemp("site") / "src"
    write_site(SOURCES, [protocols], out, SpecialResults([*speakers, cohort], PUBLISHED))
    return out / "docs"


def page(docs: Path, name: str) -> str:
    return (docs / "results" / f"{name}.md").read_text()


def data(docs: Path, key: str) -> Any:
    return page_data(docs / "pagedata", key)


def rows_of(docs: Path, experiment: str, table: str) -> list[dict[str, str]]:
    return [dict(row) for row in read_table(docs / "tables" / experiment / table)]


@pytest.mark.parametrize("name", ["language", "smollm2"])
def test_every_number_stands_in_a_table_beside_it(docs: Path, name: str) -> None:
    shown = Numbers(page(docs, name)).found

    assert len(shown) > 30
    assert {value for value, _ in shown} <= cells(docs / "tables")
    assert "calbench:" not in page(docs, name)


def test_every_estimate_of_every_channel_is_shown_with_its_kind(
    docs: Path, speakers: list[ExperimentResults]
) -> None:
    text = page(docs, "language")

    for experiment in speakers:
        for row in experiment.table("leaderboard.csv"):
            assert row["vps_kind"] == "reflection"
            assert f'<data value="{row["excess_vps"]}">' in text
            assert f'<data value="{row["excess_vps_high"]}">' in text
        for row in experiment.table("privacy/reflection_calibration.csv"):
            assert f'<data value="{row["precision"]}">' in text
    assert text.count("scripted agents</span>") == 2 * (2 * 4 + 2)  # leaderboards and planes
    assert "protocol</span>" in text
    assert "language models</span>" not in text
    assert language_tables.NO_CALLS in text


def test_mixed_teams_are_also_listed_by_player(docs: Path) -> None:
    text = page(docs, "language")

    assert text.count("<caption>Private messages, by player: mean") == 1
    assert text.count("<caption>To all agents, by player") == 0
    players = rows_of(docs, LANGUAGE, "players.csv")
    assert {row["teams"] for row in players} == {
        f"{name} mixed-scripted" for name in ("candid", "guarded", "oversharer")
    }
    assert all(f'<data value="{row["messages"]}">' in text for row in players)


def test_plane_says_how_each_vps_was_measured(docs: Path) -> None:
    drawn = {trace["name"]: trace for trace in figure(docs, "plane-language-uniform")["data"]}

    assert {"imap", "candid"} < set(drawn)
    assert "silent" not in drawn
    for name in ("imap", "candid"):
        assert drawn[name]["marker"]["symbol"].endswith("-open") == (name == "candid")
    assert drawn["VPS by typed messages"]["marker"]["symbol"] == "circle"
    assert drawn["by reflections"]["marker"]["symbol"] == "circle-open"
    varied = figure(docs, "plane-language-varied")
    assert "candid" in {trace["name"] for trace in varied["data"]}
    assert "by reflections" in varied["layout"]["xaxis"]["title"]["text"]


class Plots(HTMLParser):
    """Collects the figures of a page: key, alternative text, downloads, captions of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "figure":
            self.found.append({name: [] for name in ("key", "alt", "file", "details", "table")})
        elif self.found and "data-figure" in values:
            self.found[-1]["key"].append(values["data-figure"])
            self.found[-1]["alt"].append(values["aria-label"])
        elif self.found and "download" in values:
            self.found[-1]["file"].append(values["href"])
        elif self.found and tag in {"details", "table"}:
            self.found[-1][tag].append(tag)


def numbers_in(words: str) -> set[float]:
    return {float(text) for text in re.findall(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])", words)}


def test_every_figure_has_words_from_its_numbers_a_file_and_a_table(docs: Path) -> None:
    pages = {path.stem: Plots(path.read_text()).found for path in (docs / "results").glob("*.md")}

    assert {name for name, found in pages.items() if found} == set(pages) - {
        "audits", "comparisons", "paper", "ratings", "regret", "smollm2",
    }  # fmt: skip
    keys = []
    for name, found in pages.items():
        for plot in found:
            (key,), (alt,) = plot["key"], plot["alt"]
            keys += [key] if name not in {"uniform", "plane"} else []
            assert (docs / "pagedata" / f"{key}.js").is_file()
            assert plot["file"][0] == f"../tables/{key}.csv"
            assert all((docs / "results" / each).resolve().is_file() for each in plot["file"])
            assert plot["details"]
            if name in figures.PAGES and key != "figures/difficulty":
                assert plot["table"]
                rows = read_table(docs / "tables" / f"{key}.csv")
                held = {cell for row in rows for cell in row.values()}
                for name_in_words in {row.get("player", "") for row in rows} - {""}:
                    alt = alt.replace(name_in_words, "")
                known = {float(cell) for cell in held if re.fullmatch(r"-?[0-9.]+", cell)}
                said = numbers_in(alt.partition(". ")[2].replace("below 0.05", ""))
                assert said <= known | set(range(1, 6)), key  # meetings, and how many more
    assert len(keys) == len(set(keys)) > 100


@pytest.mark.parametrize("key", [name for names in figures.PAGES.values() for name in names])
def test_plotly_knows_every_property_of_the_figures(docs: Path, key: str) -> None:
    drawn = data(docs, f"figures/{key}-language-uniform")

    assert len(go.Figure(drawn).data) == len(drawn["data"]) > 0


def test_sections_of_figures_show_one_view_of_each_at_first(docs: Path) -> None:
    for name in figures.PAGES:
        text = page(docs, name)
        views = re.findall(r'<section class="(cb-view[^"]*)" data-view="([^"]*)"', text)

        first = views[0][1]
        assert len(views) % len(figures.PAGES[name]) == 0
        for style, key in views:
            assert ("cb-shown" in style) == (key == first)
    assert 'id="leaks-language-uniform"' in page(docs, "words")
    assert page(docs, "talk").count("as the paper prints it") > 4


def test_protocols_on_other_scenarios_are_not_put_beside(
    speakers: list[ExperimentResults], tmp_path: Path
) -> None:
    elsewhere = make_results(tmp_path / "uniform", "uniform", ["imap"])

    write_site(SOURCES, [elsewhere], tmp_path / "src", SpecialResults(speakers, PUBLISHED))

    drawn = figure(tmp_path / "src" / "docs", "plane-language-uniform")["data"]
    assert {trace["name"] for trace in drawn} == {
        "candid", "guarded", "oversharer", "mixed-scripted",
    }  # fmt: skip


def test_plane_of_typed_teams_names_them_and_nothing_else(docs: Path) -> None:
    drawn = figure(docs, "plane-uniform")

    assert [trace["name"] for trace in drawn["data"]] == ["imap", "silent"]
    assert drawn["layout"]["xaxis"]["title"]["text"].startswith("Excess VPS (slot")
    assert all("-open" not in trace["marker"]["symbol"] for trace in drawn["data"])


def test_cohort_page_says_what_became_of_the_meetings(
    docs: Path, cohort: ExperimentResults
) -> None:
    (row,) = cohort.table("outcomes.csv")
    text = page(docs, "smollm2")

    share = row["scheduled"] if int(row["scheduled"]) else "None"
    assert f"{share} of its {row['meetings']} meetings in {row['games']} games w" in text
    ends = {
        "no_batch": "without a valid batch",
        "inconsistent_slots": "not in one slot",
        "provider_fault": "lost to a fault of the provider",
    }
    assert int(row["provider_fault"]) > 0
    for outcome, words in ends.items():
        assert (f"{row[outcome]} {words}" in text) == (row[outcome] != "0")
    assert "no better than chance" in text.replace("\n", " ")
    assert "language models</span>" in text


def test_cohort_without_a_meeting_says_none_and_why(
    cohort: ExperimentResults, tmp_path: Path
) -> None:
    tables = copied(cohort.tables, tmp_path / "tables")
    (row,) = cohort.table("outcomes.csv")
    path = tables / "outcomes.csv"
    missed = {
        **row,
        "no_batch": str(int(row["no_batch"]) + int(row["scheduled"])),
        "scheduled": "0",
    }
    path.write_text(f"{','.join(missed)}\n{','.join(missed.values())}\n")
    changed = ExperimentResults(SMOLLM2, cohort.suite, tables, cohort.traces)

    write_site(SOURCES, [], tmp_path / "src", SpecialResults([changed], PUBLISHED))

    text = page(tmp_path / "src" / "docs", "smollm2")
    assert f"None of its {row['meetings']} meetings in {row['games']} games was scheduled." in text
    assert "They ended so: " in text
    assert f"{missed['no_batch']} without a valid batch" in text


def copied(source: Path, target: Path) -> Path:
    target.mkdir()
    for path in source.glob("*.csv"):
        (target / path.name).write_bytes(path.read_bytes())
    return target


def test_replies_and_tokens_are_those_of_the_tables(docs: Path, cohort: ExperimentResults) -> None:
    text = page(docs, "smollm2")
    (replies,) = cohort.table("reply_outcomes.csv")
    (usage,) = cohort.table("usage.csv")

    assert int(replies["not_json"]) > 0
    assert int(replies["recovered"]) > 0
    for cell in (*(replies[name] for name in ("replies", "read", *PROBLEMS)), usage["calls"]):
        assert f'<data value="{cell}">' in text
    assert f'<data value="{usage["price_usd"]}">' in text
    assert f'<data value="{usage["cached_tokens"]}">' in text


def test_pages_are_in_the_navigation_and_on_the_home_page(docs: Path) -> None:
    pages = [next(iter(entry.values())) for entry in navigation(docs.parent)]
    home = (docs / "index.md").read_text()

    games = ["results/uniform.md", "results/language.md", "results/smollm2.md"]
    assert [page for page in pages if page in games] == games
    assert 'href="results/language.html"' in home
    assert 'href="results/smollm2.html"' in home


def test_pages_are_absent_with_their_experiments(
    protocols: ExperimentResults, tmp_path: Path
) -> None:
    write_site(SOURCES, [protocols], tmp_path / "src")

    docs = tmp_path / "src" / "docs"
    assert not (docs / "results" / "language.md").exists()
    assert not (docs / "results" / "smollm2.md").exists()
    assert "language.html" not in (docs / "index.md").read_text()
    assert not (docs / "pagedata" / "prompts").exists()


def test_calibration_that_was_not_made_is_said_to_be_missing(
    speakers: list[ExperimentResults], tmp_path: Path
) -> None:
    tables = copied(speakers[0].tables, tmp_path / "tables")
    bare = ExperimentResults(LANGUAGE, speakers[0].suite, tables, speakers[0].traces)

    assert "<table" not in language_tables.calibration([Named("x", bare)])
    assert "privacy" not in " ".join(language_tables.downloads(bare))


def test_games_of_equal_settings_keep_apart(docs: Path) -> None:
    index = data(docs, "index")["experiments"]

    assert [entry["name"] for entry in index] == ["uniform", "language", "smollm2"]
    folder = docs / "pagedata" / "games"
    assert (folder / "uniform" / "imap" / "uniform-000.js").is_file()
    assert (folder / "language" / "candid" / "uniform-000.js").is_file()
    assert (docs / "pagedata" / "scenarios" / "language" / "uniform-000.js").is_file()
    assert not (folder / "language-everyone").exists()
    assert [kind for _, kind in index[1]["teams"]] == ["scripted agents"] * 4
    assert [kind for _, kind in index[2]["teams"]] == ["language models"]


def test_only_so_many_scenarios_of_a_setting_are_shown_and_that_is_said(
    speakers: list[ExperimentResults],
) -> None:
    shown = speakers[0].spread(2)

    assert [s.scenario_id for s in shown] == [
        "uniform-000", "uniform-001", "varied-000", "varied-001",
    ]  # fmt: skip
    assert speakers[0].spread(99) == speakers[0].scenarios
    assert shown_note(speakers[0], 2).startswith("4 of 6 scenarios are shown here")
    assert shown_note(speakers[0], None) == shown_note(speakers[0], 3) == ""


def test_page_data_of_a_language_game_is_small(docs: Path) -> None:
    sizes = [
        [
            path.stat().st_size
            for path in sorted((docs / "pagedata" / kind / LANGUAGE).rglob("*.js"))
        ]
        for kind in ("games", "prompts")
    ]

    assert [len(each) for each in sizes] == [4 * 6, 4 * 6]
    assert max(map(sum, zip(*sizes, strict=True))) < GAME_BYTES


def test_prompts_are_word_for_word_those_of_the_trace(speakers: list[ExperimentResults]) -> None:
    trace = read_trace(speakers[0].traces / "guarded" / "uniform-000.json")
    prompts = prompt_data(trace)
    assert prompts is not None

    for index, event in enumerate(trace.events):
        prompt = getattr(event, "system_prompt", None) or getattr(event, "prompt", None)
        runs = prompts["prompts"].get(str(index))
        assert (runs is None) == (prompt is None)
        if runs is not None:
            pairs = zip(runs[::2], runs[1::2], strict=True)
            lines = [line for at, count in pairs for line in prompts["lines"][at : at + count]]
            assert "".join(lines) == prompt
    assert len(prompts["lines"]) == len(set(prompts["lines"]))
    assert "Constraints" not in json.dumps(game_data(trace, LANGUAGE))


def test_hostile_words_of_a_model_are_data_and_never_markup(docs: Path) -> None:
    folder = docs / "pagedata"
    files = [*(folder / "games" / SMOLLM2).rglob("*"), *(folder / "prompts" / SMOLLM2).rglob("*")]
    scripts = [path.read_text() for path in files if path.is_file()]

    assert len(scripts) == 6
    assert not any("<" in script for script in scripts)
    said = data(docs, "games/smollm2/my-model/smollm2-000")["events"]
    texts = "\n".join(e["content"]["text"] for e in said if e["type"] == "dm_sent")
    assert any(words in texts for words in HOSTILE_WORDS)
    for name in ("language", "smollm2"):
        assert "window.hacked" not in page(docs, name)


def test_halted_games_are_marked(docs: Path, cohort: ExperimentResults) -> None:
    halted = read_trace(cohort.traces / "my-model" / "smollm2-002.json")
    (entry,) = [e for e in data(docs, "index")["experiments"] if e["name"] == SMOLLM2]

    assert unpacked(entry["games"]["halted"], 3) == [None, None, True]
    assert any(isinstance(event, GameHalted) for event in halted.events)
    events = data(docs, "games/smollm2/my-model/smollm2-002")["events"]
    (event,) = [event for event in events if event["type"] == "game_halted"]
    assert event["detail"] == "<script>window.hacked = 1</script>"


def test_notes_reflections_and_tokens_reach_the_browser(docs: Path) -> None:
    events = data(docs, "games/smollm2/my-model/smollm2-000")["events"]

    kinds = {event["kind"] for event in events if event["type"] == "reply_note"}
    assert {"not_json", "recovered"} <= kinds
    reflections = [event for event in events if event["type"] == "reflection"]
    assert {len(each["delta_by_target"]) for each in reflections} == {4}
    assert reflections[0]["usage"]["input_tokens"] == 100
    turn = next(event for event in events if event["type"] == "turn_end")
    assert turn["usage"]["cached_tokens"] == 40


def test_setting_page_never_takes_the_place_of_another(
    protocols: ExperimentResults, tmp_path: Path
) -> None:
    tables = copied(protocols.tables, tmp_path / "tables")
    for path in tables.glob("*.csv"):
        path.write_text(re.sub(r"^uniform,", "language,", path.read_text(), flags=re.MULTILINE))
    named = ExperimentResults("language", protocols.suite, tables, protocols.traces)

    with pytest.raises(CalbenchError, match=r"results/language\.md"):
        write_site(SOURCES, [named], tmp_path / "src")


def test_every_way_to_measure_vps_has_a_name() -> None:
    for kind in ("protocol", "reflection", "mixed", ""):
        assert figures.VPS_KIND_NAMES[kind]


COMMANDS = [
    line.split()[3:]
    for line in (SOURCES / "docs" / "evaluate.md").read_text().splitlines()
    if re.match(r"    python -m calbench(\.estimate)? ", line) and "next.yaml" not in line
]


@pytest.mark.parametrize("overrides", COMMANDS, ids=" ".join)
def test_every_command_to_evaluate_a_model_composes(overrides: list[str]) -> None:
    spec = compose([word.strip("'") for word in overrides])

    assert spec.teams


def test_page_on_evaluation_names_what_there_is() -> None:
    text = (SOURCES / "docs" / "evaluate.md").read_text()
    config = yaml.safe_load((SOURCES / "mkdocs.yml").read_text())

    (pages,) = (entry["Use it"] for entry in config["nav"] if "Use it" in entry)
    assert {"Evaluate your model": "evaluate.md"} in pages
    assert len(COMMANDS) > 8
    for model in (SOURCES.parent / "conf" / "model").glob("*.yaml"):
        assert model.stem in text
    for experiment in ("mixed5", "nosy", "adversarial", "dspy"):
        assert f"+experiment={experiment}" in text


def test_audits_of_games_add_up_to_the_tables_of_audits(
    docs: Path, speakers: list[ExperimentResults], tmp_path: Path
) -> None:
    tables = AuditTables(tmp_path, speakers[0].teams)
    for path in trace_paths(speakers[0].traces):
        tables.add(read_trace(path))
    tables.write()
    counts: Counter[tuple[str, ...]] = Counter()
    for row in rows_of(docs, LANGUAGE, "audit_games.csv"):
        told = {tier: int(row[f"told_{tier}"]) for tier in TIERS}
        assert sum(told.values()) == int(row["labels_told"])
        for name in (*told, *(pattern.name for pattern in PATTERNS)):
            value = told[name] if name in told else int(row[name])
            counts[row["setting"], row["team"], name] += value

    assert sum(counts.values()) > 0
    for table, what, how_often in (
        ("audit_patterns.csv", "pattern", "count"),
        ("audit_leaks.csv", "tier", "labels_told"),
    ):
        for found in read_table(tmp_path / table):
            if not found["player"] and found[what] != "all":
                count = counts[found["setting"], found["team"], found[what]]
                assert count == int(found[how_often])


def test_index_says_what_the_audits_found(docs: Path) -> None:
    index = data(docs, "index")
    entry = index["experiments"][-2]
    audits = {
        (row["team"], row["scenario_id"]): row for row in rows_of(docs, LANGUAGE, "audit_games.csv")
    }
    teams = [team for team, _ in entry["teams"]]
    places = [(team, scenario) for scenario in entry["scenarios"]["id"] for team in teams]
    games = {name: unpacked(each, len(places)) for name, each in entry["games"].items()}

    assert entry["name"] == LANGUAGE
    assert audits.keys() == set(places)
    for number, place in enumerate(places):
        row = audits[place]
        assert games["told"][number] == int(row["labels_told"])
        told = [tier for tier in index["tiers"] if row[f"told_{tier}"] != "0"]
        highest = games["tier"][number]
        assert told[-1:] == ([index["tiers"][highest - 1]] if highest else [])
        shown = {
            n for bit, n in enumerate(index["patterns"]) if games["patterns"][number] >> bit & 1
        }
        assert shown == {name for name in index["patterns"] if row[name] != "0"}
    assert len(set(games["told"])) > 1


def test_lost_and_typed_games_have_no_audit(docs: Path) -> None:
    typed, _, lost = data(docs, "index")["experiments"]

    assert typed["games"]["told"] == {"all": None}
    assert unpacked(lost["games"]["told"], 3)[2] is None
    assert [row["scenario_id"] for row in rows_of(docs, SMOLLM2, "audit_games.csv")] == [
        "smollm2-000",
        "smollm2-001",
    ]
    assert not (docs / "tables" / "uniform" / "audit_games.csv").exists()


def test_words_lead_to_messages_by_number(docs: Path) -> None:
    index = data(docs, "index")
    said = []
    for entry in index["experiments"]:
        texts = unpacked(
            entry["games"]["texts"], len(entry["scenarios"]["id"]) * len(entry["teams"])
        )
        places = [(s, team) for s in entry["scenarios"]["id"] for team, _ in entry["teams"]]
        for (scenario, team), count in zip(places, texts, strict=True):
            events = data(docs, f"games/{entry['name']}/{team}/{scenario}")["events"]
            of_game = [e["content"]["text"] for e in events if "text" in e.get("content", {})]
            assert len(of_game) == count
            said += of_game

    assert len(said) > 100
    for word in ("easy", "window", "divorce", "slots"):
        found = set()
        if bucket_of(word) in index["buckets"]:
            file = data(docs, f"search/{bucket_of(word)}")
            postings = dict(zip(file["words"], file["messages"], strict=True))
            found = set(messages_of(postings.get(word, "")))
        assert found == {number for number, text in enumerate(said) if word in words_of(text)}
