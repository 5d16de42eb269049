"""The site while it is edited: what changes, or one page or figure, is made, and nothing else."""

import re
import shutil
import socket
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from calbench.errors import ConfigError
from calbench.report.site import Site
from calbench.report.writing import write_site
from tests.browser.draw import draw_figure, draw_page
from tests.browser.serve import Draft, served
from tests.report.samples import PUBLISHED, SOURCES, make_results, site_of
from tests.report.test_site_source import digests

pytestmark = pytest.mark.heavy

LONGEST_S = 120
"""After which something hangs, on a busy machine too [C]."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the site's sources and of the texts beside them."""
    shutil.copytree(SOURCES, tmp_path / "tree" / "site")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copyfile(SOURCES.parent / name, tmp_path / "tree" / name)
    return tmp_path / "tree"


@pytest.fixture
def shown(tree: Path, tmp_path: Path) -> Site:
    """Return a small site."""
    results = make_results(tmp_path / "uniform", "uniform", ["imap"], num_scenarios=1)
    return site_of([results], tmp_path / "src", PUBLISHED, tree / "site")


@pytest.fixture
def written(shown: Site, tmp_path: Path) -> tuple[Draft, Path]:
    """Return a draft of it, and the folder of its pages."""
    write_site(shown, tmp_path / "src")
    return Draft(shown, tmp_path / "src"), tmp_path / "src"


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_only_what_an_edit_changes_is_written(tree: Path, written: tuple[Draft, Path]) -> None:
    draft, folder = written
    before = digests(folder)
    assert draft.update() == ""

    append(tree / "site" / "docs" / "cite.md", "\nA word more.\n")
    assert draft.update().endswith(" s: cite.md")
    append(tree / "CHANGELOG.md", "\n- A change more.\n")
    assert draft.update().endswith(" s: changelog.md")
    append(tree / "site" / "assets" / "every" / "calbench.css", "\n.more {}\n")
    assert draft.update().endswith(" s: assets/every/calbench.css")

    after = digests(folder)
    assert {name for name in after if after[name] != before.get(name)} == {
        "docs/cite.md",
        "docs/changelog.md",
        "docs/assets/every/calbench.css",
    }


def test_broken_template_is_one_line_and_can_be_mended(
    tree: Path, written: tuple[Draft, Path]
) -> None:
    draft, folder = written
    path = tree / "site" / "docs" / "cite.md"
    text = path.read_text()

    path.write_text("{{ nothing_like_it }}")
    line = draft.update()
    assert "cite.md" in line
    assert "nothing_like_it" in line
    assert "\n" not in line

    path.write_text(text + "\nMended.\n")
    assert draft.update().endswith("cite.md")
    assert "Mended." in (folder / "docs" / "cite.md").read_text()


def test_edit_is_served(tree: Path, written: tuple[Draft, Path]) -> None:
    draft, folder = written
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    with served(folder, port) as server:
        assert "How to cite" in fetched(port, "cite.html", "How to cite")
        append(tree / "site" / "docs" / "cite.md", "\nA sentence that was not there.\n")
        draft.update()
        assert "not there" in fetched(port, "cite.html", "A sentence that was not there.")

    assert server.returncode is not None


def fetched(port: str, name: str, wanted: str) -> str:
    """Return a page as soon as it holds a text, or as it is when that takes too long."""
    end, text = time.monotonic() + LONGEST_S, ""
    while wanted not in text and time.monotonic() < end:
        try:
            with urlopen(f"http://127.0.0.1:{port}/{name}", timeout=LONGEST_S) as reply:
                text = reply.read().decode()
        except URLError:
            text = ""
        time.sleep(0.2)
    return text


@pytest.mark.parametrize("path", ["results/talk.md", "results/uniform.md", "players/imap.md"])
def test_one_page_is_drawn_alone(shown: Site, tmp_path: Path, path: str) -> None:
    page = draw_page(shown, path, tmp_path / "drawn")
    built = tmp_path / "drawn" / "site"
    assert [page] == [each for each in built.rglob("*.html") if each.name != "404.html"]
    text = page.read_text()
    keys = set(re.findall(r'data-figure="([^"]*)"', text))
    assert "</article>" in text
    assert keys or path.startswith("players/")
    assert all((built / "pagedata" / f"{key}.js").is_file() for key in keys)


def test_one_figure_is_drawn_alone(shown: Site, tmp_path: Path) -> None:
    path = draw_figure(shown, "fairness-uniform", tmp_path / "drawn")
    assert path.name == "fairness-uniform.html"
    assert "imap" in path.read_text()


def test_what_cannot_be_drawn_is_one_line(shown: Site, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no page 'results/tolk.md'; known are results/talk.md"):
        draw_page(shown, "results/tolk.md", tmp_path / "drawn")
    with pytest.raises(ConfigError, match="no figure 'fairness-x'; known are fairness-uniform"):
        draw_figure(shown, "fairness-x", tmp_path / "drawn")
    assert not (tmp_path / "drawn").exists()
