"""Pages of players: every number of the tables, and sentences that change with them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.report.experiment import Experiment
from calbench.report.pages import navigation, pages_of
from calbench.report.pages.board.player import _front, largest
from calbench.report.pages.board.views import has_page
from calbench.report.site import Site
from calbench.report.tables import Tables
from calbench.report.writing import write_site
from tests.report.sample_site import SampleSite
from tests.report.samples import PUBLISHED, SOURCES, site_of

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def site(sample_site: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Site:
    spoken = replace(sample_site.language, about=compose(["teams=[mixed-scripted]"]).about)
    shown: list[Experiment] = [*sample_site.ordinary, spoken, sample_site.cohort]
    return site_of(shown, tmp_path_factory.mktemp("site") / "src", PUBLISHED)


@pytest.fixture(scope="module")
def docs(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("written") / "src"
    write_site(site, out)
    return out / "docs"


def test_every_team_of_the_leaderboard_has_a_page(docs: Path, site: Site) -> None:
    teams = {row["team"] for row in site.summary.rows("leaderboard.csv") if row["experiment"]}
    index = (docs / "players.md").read_text()

    assert {path.stem for path in (docs / "players").glob("*.md")} == teams
    assert {"imap", "silent", "candid", "mixed-scripted", "my-model", "hostile"} <= teams
    assert set(re.findall(r'href="players/([^"]+)\.html"', index)) == teams


def test_only_the_index_of_players_is_in_the_navigation(site: Site) -> None:
    listed = str(navigation(list(pages_of(site))))

    assert "players.md" in listed
    assert "players/" not in listed


def test_page_says_who_it_is(docs: Path) -> None:
    mixed = (docs / "players" / "mixed-scripted.md").read_text()
    assert "Scripted speakers of all styles, rotating from scenario to scenario." in mixed
    assert re.search(r"Its players: .*candid.*guarded.*oversharer", mixed)
    imap = (docs / "players" / "imap.md").read_text()
    assert "Its players" not in imap
    assert "Its messages are typed and carry no labels" in imap
    assert "No model was called." in imap
    assert "does not compete" not in imap
    assert "does not compete" in (docs / "players" / "silent.md").read_text()
    assert "No model was called." not in (docs / "players" / "my-model.md").read_text()


FRONT_HEAD = "experiment,setting,channel,vps_kind,team,is_on_front,dominated_by\n"


def test_front_is_said_only_of_teams_that_compete_there(tmp_path: Path) -> None:
    (tmp_path / "front.csv").write_text(
        FRONT_HEAD
        + "one,s,c,protocol,a,true,\none,s,c,protocol,b,false,a\none,s,c,protocol,silent,,\n"
        + "two,s,c,reflection,a,true,\ntwo,s,c,reflection,silent,,\n"
    )
    site = Site(SOURCES, (), Tables(tmp_path), Tables(tmp_path))

    def front(experiment: str, kind: str, team: str) -> bool | None:
        place = {"experiment": experiment, "setting": "s", "channel": "c", "vps_kind": kind}
        row = _front(site, {**place, "team": team})
        return row["is_on_front"] if row else None

    assert front("one", "protocol", "a") is True
    assert front("one", "protocol", "b") is False
    assert front("one", "protocol", "silent") is None
    assert front("two", "reflection", "a") is None
    assert front("two", "protocol", "a") is None


def test_secure_sum_says_on_whom_its_privacy_rests(site: Site) -> None:
    teams = ["secure-sum", "silent", "imap"]
    said = compose([f"teams=[{','.join(teams)}]"]).about
    first, *others = site.experiments
    mine = replace(first, about=said, unpublished={"imap": True})

    about = replace(site, experiments=(mine, *others)).about

    assert "imap" not in about
    assert {team: about[team] for team in ("secure-sum", "silent")} == {
        "secure-sum": "IMAP's choice from a sum of secret shares, if all follow the protocol and "
        "do not collude.",
        "silent": "Degenerate baseline: nobody says or books anything.",
    }


def test_games_are_those_of_the_table_and_are_linked(docs: Path, site: Site) -> None:
    rows = site.summary.rows("typical_games.csv", team="oversharer", setting="uniform")
    page = (docs / "players" / "oversharer.md").read_text()

    assert [row["which"] for row in rows] == ["best", "typical", "worst"]
    for row in rows:
        assert f'traces.html#language/oversharer/{row["scenario_id"]}"' in page
        assert f'<data value="{row["adjusted_excess_cost"]}">' in page
    assert "Messages that tell most labels" in page


def test_typed_team_has_a_place_and_games_and_no_labels(site: Site) -> None:
    pages = {page.path: content for page, content in pages_of(site).items()}
    values = pages["players/imap.md"].values

    assert values["planes"]
    assert not values["leaks"]
    assert {row["which"] for row in values["games"]} == {"best", "typical", "worst"}


def test_largest_part_of_excess_is_named_with_ties() -> None:
    row = {"slot_choice": 0.5, "avoidable_moves": 0.25, "failed_rounds": 0.0}

    assert largest(row) == "choice of slots"
    assert largest({**row, "avoidable_moves": 0.5}) == "choice of slots and avoidable moves"
    assert largest({**row, "failed_rounds": 0.75}) == "failed rounds"
    assert largest(dict.fromkeys(row, 0.0)) == "nothing"
    assert largest({**row, "slot_choice": None}) == "avoidable moves"
    assert largest(dict.fromkeys(row)) == "nothing"


def test_the_plane_of_a_page_is_that_of_its_games_and_names_the_team(
    docs: Path, site: Site
) -> None:
    pages = {page.path: content for page, content in pages_of(site).items()}
    for plane in pages["players/imap.md"].values["planes"]:
        rows = plane["panel"].rows
        assert {row["vps_kind"] for row in rows} == {plane["row"]["vps_kind"]}
        assert {row["setting"] for row in rows} == {plane["row"]["setting"]}
    teams = [each for path, each in pages.items() if path.startswith("players/")]
    assert all(len(p["panel"].rows) > 1 for each in teams for p in each.values["planes"])
    text = (docs / "players" / "imap.md").read_text()
    own = re.findall(r'<text class="cb-m-own"[^>]*>(.*?)</text>', text)
    assert own
    assert all("imap" in name for name in own)


@pytest.mark.parametrize(
    ("team", "expected"), [("README", False), ("index", False), ("imap", True)]
)
def test_names_of_whole_folders_have_no_page(team: str, *, expected: bool) -> None:
    assert has_page({"team": team, "experiment": "uniform"}) is expected
    assert not has_page({"team": team, "experiment": ""})
