"""Every page of the site, listed once; navigation, links and files follow from this list."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from calbench.errors import CalbenchError
from calbench.report.pages import (
    audits,
    delegates,
    dictionary,
    difficulty,
    document,
    gallery,
    games,
    home,
    language,
    paper,
    privacy,
    regret,
    reproduction,
    scale,
    seats,
    sensitivity,
    setting,
)
from calbench.report.pages.board import comparisons, leaderboard, player, ratings, submissions
from calbench.report.pages.page import Content, Page
from calbench.report.role import SETTINGS
from calbench.report.site import Site

PAGES = (
    Page("index.md", "Home", "Home", content=home.content),
    Page("leaderboard.md", "Leaderboard", "Leaderboard", content=leaderboard.content),
    Page("players.md", "Players", "Leaderboard", content=player.index),
    Page("players/{name}.md", "", "", template="players/player.md", contents=player.pages),
    Page("submissions.md", "Submissions", "Leaderboard", content=submissions.content),
    Page("results/ratings.md", "Ratings", "Leaderboard", content=ratings.content),
    Page("results/comparisons.md", "Comparisons", "Leaderboard", content=comparisons.content),
    Page("results/{name}.md", "", "Results", "By experiment",
         template="results/setting.md", contents=setting.pages),
    Page("results/language.md", "Scripted speakers", "Results", "By experiment",
         content=language.content),
    Page("results/erring.md", "Speakers that make mistakes", "Results", "By experiment",
         content=language.erring,
         answers="one game for each pattern, outcome and leak that the detectors look for"),
    Page("results/probes.md", "Agents that probe for secrets", "Results", "By experiment",
         content=seats.probes),
    Page("results/focal.md", "One assistant", "Results", "By experiment",
         content=seats.focal,
         answers="what a player does for its user, tells and costs others, all else held fixed"),
    Page("results/slices.md", "Teams of several players", "Results", "By experiment",
         content=ratings.slices,
         answers="Table 1 for players of several teams, and what further games would tell"),
    Page("results/smollm2.md", "A small model: SmolLM2", "Results", "By experiment",
         content=language.cohort),
    Page("results/delegates.md", "Models by size", "Results", "By experiment",
         content=delegates.content,
         answers="whether a larger open-weight model places more, pays less and tells less"),
    Page("results/plane.md", "Cost and privacy", "Results", "Figures", content=gallery.plane_page),
    Page("results/talk.md", "Talk", "Results", "Figures", content=gallery.of("talk")),
    Page("results/cost.md", "Cost and fairness", "Results", "Figures", content=gallery.of("cost")),
    Page("results/difficulty.md", "Difficulty", "Results", "Figures",
         content=difficulty.content),
    Page("results/words.md", "What speakers say", "Results", "Figures",
         content=gallery.of("words")),
    Page("results/scale.md", "Larger games", "Results", "Figures", content=scale.content),
    Page("results/sensitivity.md", "Sensitivity of ranks", "Results", "By experiment",
         content=sensitivity.content,
         answers="whether density and blocked errands change who is better"),
    Page("results/paper.md", "The paper's tables", "Results", "Compared with the paper",
         content=paper.content,
         answers="the paper's tables, and the same measures of our games"),
    Page("results/reproduction.md", "Table 2", "Results", "Compared with the paper",
         content=reproduction.content),
    Page("results/inconsistencies.md", "Inconsistencies in the paper", "Results",
         "Compared with the paper", needs=("arithmetic.csv",),
         content=reproduction.inconsistencies),
    Page("results/audits.md", "What messages reveal", "Results", "Explained",
         content=audits.content,
         answers="who leaks most at equal cost, in which game and in which sentence"),
    Page("results/privacy.md", "Privacy, measured", "Results", "Explained",
         content=privacy.content,
         answers="what the others learn in bits, and where the paper's VPS says something else"),
    Page("results/regret.md", "Where excess cost comes from", "Results", "Explained",
         content=regret.content,
         answers="what excess cost is made of, and when the optimum became unreachable"),
    Page("traces.md", "Games", "Games", content=games.content),
    Page("method.md", "Method", "Method", content=document.method),
    Page("reproduce.md", "Reproduce", "Run it"),
    Page("evaluate.md", "Evaluate your model", "Run it"),
    Page("local.md", "A model on your own machine", "Run it"),
    Page("submit.md", "Hand in results", "Run it"),
    Page("costs.md", "Time and cost of a run", "Run it",
         needs=("terms.csv", "costs.csv", "exponents.csv")),
    Page("python.md", "Python interface", "Run it"),
    Page("interface.md", "The interface", "Run it"),
    Page("frameworks.md", "Use it from other frameworks", "Run it"),
    Page("extend.md", "Extend the benchmark", "Run it", content=document.contributing),
    Page("data.md", "Data", "About", content=dictionary.content),
    Page("data/results.md", "Teams, players and games", "About", "Columns of tables",
         content=dictionary.columns_of("results")),
    Page("data/privacy.md", "Messages and privacy", "About", "Columns of tables",
         content=dictionary.columns_of("privacy")),
    Page("data/summary.md", "Several experiments", "About", "Columns of tables",
         content=dictionary.columns_of("summary")),
    Page("data/published.md", "Numbers from elsewhere", "About", "Columns of tables",
         content=dictionary.columns_of("published")),
    Page("data/formats.md", "File formats", "About"),
    Page("glossary.md", "Glossary", "About"),
    Page("limitations.md", "Limitations and ethics", "About"),
    Page("trust.md", "Security and verification", "About", content=document.trust),
    Page("checklists/reproducibility.md", "Reproducibility", "About", "Checklists"),
    Page("checklists/data.md", "Data set", "About", "Checklists"),
    Page("checklists/evaluation.md", "Evaluation", "About", "Checklists"),
    Page("changelog.md", "Changelog", "About", content=document.changelog),
    Page("versions.md", "Versions", "About", needs=("versions.csv",), content=document.released),
    Page("cite.md", "How to cite", "About"),
    Page("licences.md", "Licences", "About"),
    Page("404.md", "", ""),
)  # fmt: skip
"""In the order of the navigation. A page without a section is not in it."""


def pages_of(site: Site, only: str = "") -> dict[Page, Content]:
    """Return the pages that a site has with what they show, in the order of :data:`PAGES`.

    Args:
        site: what to show.
        only: path of the one page that is wanted; nothing is made for others.

    Raises:
        CalbenchError: two of them would be the same file, or an experiment's page is unknown.
    """
    _check_roles(site)
    found: dict[Page, Content] = {}
    taken: set[str] = set()
    for page, content in _made(site, only):
        if page.path in taken:
            raise CalbenchError(
                f"two results would share the page {page.path}; rename an experiment"
            )
        taken.add(page.path)
        found[page] = content
    return found


def _check_roles(site: Site) -> None:
    """Refuse an experiment that no page would show."""
    groups = [page for page in PAGES if page.group and page.contents is None]
    known = {SETTINGS, *(PurePosixPath(page.path).stem for page in groups)}
    for each in site.experiments:
        if each.role.page not in known:
            raise CalbenchError(
                f"experiment {each.name}: site.page: there is no page {each.role.page!r}; known "
                f"are {', '.join(sorted(known))}"
            )


def _made(site: Site, only: str) -> Iterator[tuple[Page, Content]]:
    for page in (page for page in PAGES if all(map(site.published.has, page.needs))):
        if not _is_wanted(page, only):
            continue
        if page.contents is not None:
            for name, title, content in page.contents(site):
                if _is_wanted(named := page.named(name, title), only):
                    yield named, content()
        elif (shown := page.content(site)) is not None:
            yield page, shown


def _is_wanted(page: Page, only: str) -> bool:
    return not only or fnmatchcase(only, page.path.format(name="*"))


def navigation(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """Return the site's navigation as MkDocs reads it: sections, and groups in them."""
    entries: list[dict[str, Any]] = []
    for section in dict.fromkeys(page.section for page in pages if page.section):
        own = [page for page in pages if page.section == section]
        alone: list[dict[str, Any]] = [{page.title: page.path} for page in own if not page.group]
        groups = dict.fromkeys(page.group for page in own if page.group)
        grouped = [
            {group: [{page.title: page.path} for page in own if page.group == group]}
            for group in groups
        ]
        is_single = len(own) == 1 and own[0].title == section
        entries.append({section: own[0].path if is_single else [*alone, *grouped]})
    return entries


def see_also(pages: Mapping[Page, Content]) -> list[Page]:
    """Return the pages that say what they answer, for links from others."""
    return [page for page in pages if page.answers]
