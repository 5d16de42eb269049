"""The packed results of the release, and which teams are compared with them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.domain.messages import CHANNELS
from calbench.errors import FileError
from calbench.facts.storage import Facts
from calbench.pool import workers
from calbench.release.archives import unpack
from calbench.release.manifest import digest, read_manifest
from calbench.release.pack import PACK, write_pack
from calbench.report.experiment import Experiment
from calbench.report.role import Role
from calbench.runs.entries import Entry, Place, Run
from calbench.runs.published import Results, View, read_published, views_of
from tests.cli.runs import REPO, files
from tests.report.samples import make_results

DATA = REPO / "data"
RELEASE = DATA / "release"

MOST_BYTES = 380_000
"""Of a package that everybody downloads."""


def test_pack_is_small() -> None:
    assert (RELEASE / PACK).stat().st_size <= MOST_BYTES


@pytest.mark.heavy
def test_packed_results_are_those_of_the_release(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "release").symlink_to(RELEASE)
    with workers(2) as executor:
        published = read_published(data, tmp_path / "scratch", executor)

    assert not published.has_games
    manifest = read_manifest(RELEASE)
    known = manifest.tables | manifest.files
    tables = files(tmp_path / "scratch" / "tables")
    made = {name: digest(content) for name, content in tables.items() if name.endswith(".csv")}
    assert made == {name: known.get(name) for name in made}
    ranked = [each.shown.name for each in published.results if each.shown.facts is not None]
    assert ranked == [
        *("uniform", "varied", "language", "language-private", "language-everyone", "smollm2"),
        *("erring", "smollm2-participants", "smollm2-everyone", "delegates", "delegates-paper"),
        *("delegates-participants", "delegates-everyone", "delegates-paper-seats"),
    ]
    of_scores = [path for path, table in TABLES.items() if not table.needs]
    assert {f"{name}/{path}" for name in ranked for path in of_scores} <= made.keys()


@pytest.mark.heavy
def test_pack_depends_on_its_contents_alone(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "elsewhere" / "two"]
    packs = []
    for folder in folders:
        results = make_results(tmp_path / "results", "small", ["imap"], num_scenarios=2)
        shutil.copytree(results.folder, folder / "tables" / "small")
        (folder / "tables" / "summary").mkdir()
        (folder / "tables" / "summary" / "leaderboard.csv").write_text("experiment\n")
        packs.append(folder / PACK)
        write_pack(folder, packs[-1])
    first, second = (path.read_bytes() for path in packs)
    assert first == second
    unpack(packs[0], tmp_path / "unpacked")
    held = files(tmp_path / "unpacked" / "tables" / "small")
    assert held["leaderboard.csv"] == (results.folder / "leaderboard.csv").read_bytes()


def test_missing_and_broken_packs_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"board\.tar\.xz: the published results are missing"):
        read_published(tmp_path, tmp_path / "scratch")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / PACK).write_bytes(b"no archive")
    with pytest.raises(FileError, match=r"board\.tar\.xz: cannot be unpacked"):
        read_published(tmp_path, tmp_path / "scratch")


DM: Place = ("varied", " ".join(CHANNELS), "published")
CHAT: Place = ("varied", "all_agent_groupchat", "published")
TEXT: Place = ("varied", " ".join(CHANNELS), "text")
NINE = {f"varied-{number}": f"d{number}" for number in range(9)}
NOWHERE = Path("nowhere")


def few(count: int) -> dict[str, str]:
    return dict(list(NINE.items())[:count])


def published(
    name: str, page: str = "settings", **scenarios: tuple[Place, Mapping[str, str]]
) -> Results:
    shown = Experiment(name, NOWHERE, NOWHERE, NOWHERE, Role(page=page), facts=NOWHERE)
    found = Results(shown, Settings())
    vars(found)["scenarios"] = dict(scenarios.values())
    return found


VARIED = published("varied", whole=(DM, NINE))
SPEAKERS = published("language", "language", whole=(DM, NINE))
CHATTERS = published("chat", "language", whole=(CHAT, NINE))
ALL = (CHATTERS, SPEAKERS, VARIED)


def run(name: str, *entries: Entry) -> Run:
    return Run(name, NOWHERE, Facts(NOWHERE), entries)


def views(*runs: Run) -> list[View]:
    return views_of(runs, ALL)


def told(view: View) -> tuple[str, str, list[str], list[str]]:
    names = [each.shown.name for each in view.published]
    return view.name, view.title, names, [entry.team for entry in view.entries]


def test_team_on_a_whole_suite_takes_part_in_its_experiment() -> None:
    (view,) = views(run("a", Entry(0, "mine", "mine", DM, NINE)))
    assert told(view) == ("varied", "varied", ["varied", "language"], ["mine"])
    assert (view.is_whole, view.part) == (True, "")


def test_part_of_a_suite_is_a_view_with_everybody_who_played_it() -> None:
    whole, part = Entry(0, "whole", "whole", DM, NINE), Entry(1, "part", "part", DM, few(3))
    first, second = views(run("a", whole), run("b", part))
    assert told(first)[3] == ["whole"]
    assert told(second) == (
        "varied-3-of-9",
        "varied, 3 of 9 scenarios",
        ["varied", "language"],
        ["whole", "part"],
    )
    assert (second.is_whole, second.part, second.digests) == (False, "3 of 9 scenarios", few(3))


def test_parts_of_one_size_have_names_of_their_own() -> None:
    last = dict(list(NINE.items())[6:])
    found = views(run("a", Entry(0, "a", "a", DM, few(3)), Entry(0, "b", "b", DM, last)))
    assert [view.name for view in found] == ["varied-3-of-9", "varied-3-of-9-2"]


def test_other_channels_and_limits_are_other_views_with_those_who_used_them() -> None:
    chat, text = views(
        run("a", Entry(0, "mine", "mine", CHAT, NINE), Entry(0, "slow", "slow", TEXT, NINE))
    )
    name = "varied-to-all-agents"
    assert told(chat) == (name, "varied, to all agents", ["chat"], ["mine"])
    name = "varied-all-channels-limits-of-the-paper-s-text"
    title = "varied, all channels, limits of the paper's text"
    assert told(text) == (name, title, [], ["slow"])
    assert not chat.is_whole


def test_suite_of_ones_own_has_no_published_teams() -> None:
    own = Entry(0, "mine", "mine", ("own", *DM[1:]), {"own-0": "x"})
    other = Entry(1, "theirs", "theirs", ("own", *DM[1:]), {"own-0": "y"})
    first, second = views(run("a", own), run("b", other))
    assert told(first) == ("own", "own", [], ["mine"])
    assert told(second) == ("own-2", "own, b", [], ["theirs"])


def test_another_scenario_under_a_published_name_is_refused() -> None:
    changed = {**NINE, "varied-4": "other"}
    with pytest.raises(FileError, match=r"^a: varied-4 is not the published scenario"):
        views(run("a", Entry(0, "mine", "mine", DM, changed)))


def test_without_published_results_nothing_is_refused() -> None:
    (view,) = views_of([run("a", Entry(0, "mine", "mine", DM, {"varied-0": "other"}))], ())
    assert told(view) == ("varied", "varied", [], ["mine"])
