"""What was found, in sentences that are made of published tables and change with them.

A finding is a function from a site to a sentence, or to nothing where its tables are absent or
say no such thing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calbench.analysis.measures import BEYOND, MIXED, privacy_measure
from calbench.files import shorten
from calbench.metrics.speech.conversation import BETWEEN
from calbench.report.columns import BITS, COST, MEASURE_BY_NAME, VPS
from calbench.report.experiment import BASELINES, Experiment
from calbench.report.kind import MODEL, PROTOCOL, SCRIPTED, kind_of
from calbench.report.sentence import (
    Sentence,
    cell,
    interval,
    link,
    measured,
    names,
    said,
    teams,
    text,
)
from calbench.report.site import Site
from calbench.report.tables import Row, foremost, grouped


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        title: in a few words.
        sentence: with its numbers.
        links: to the game or the table behind it; those to pages that a site lacks are not shown.
    """

    title: Sentence
    sentence: Sentence
    links: Sentence


def findings(site: Site) -> list[Finding]:
    """Return the findings that a site's tables support, for the home page."""
    made: Sequence[Callable[[Site], Finding | None]] = (least_cost, labels_told, recorded)
    return [found for make in made if (found := make(site)) is not None]


NOUNS = {PROTOCOL: "protocols", SCRIPTED: "scripted speakers", MODEL: "recorded models"}

TRUSTING = "mediator"
"""Its agents give what they know to somebody who is no player, which no measure counts."""


def contest(site: Site) -> list[Row]:
    """Return the first teams of the leaderboard that were ranked with each other, at least two."""
    rows = [
        row
        for row in site.summary.optional("leaderboard.csv")
        if row[f"{COST}_rank_low"] is not None and row[COST] is not None
    ]
    groups = grouped(rows, "experiment", "setting", "channel").values()
    found = next((own for own in groups if len(own) > 1), [])
    # Measured by several instruments, a loss compares with none.
    return [{**row, VPS: None} if row["vps_kind"] == MIXED else row for row in found]


def _loss_of(rows: Sequence[Row]) -> str:
    """Return the measure by which the privacy of rows of one instrument is compared."""
    return privacy_measure(next((row["vps_kind"] for row in rows if row["vps_kind"]), None))


def least_cost(site: Site) -> Finding | None:
    """Say who pays least, who is not shown to pay more, and what these give away."""
    rows = contest(site)
    if not rows:
        return None
    kinds = {kind_of(row["kind"]) for row in rows}
    leaders = foremost(rows, COST, largest=False)
    undecided = [r for r in rows if r not in leaders and r[f"{COST}_rank_low"] == 1]
    is_one = len(leaders) == 1
    sentence = said(
        "Of {ranked} {noun} on {scenarios} {setting} scenarios, {who} {pay} the least, {cost} "
        "adjusted excess cost per meeting{each}.{others}{privacy}",
        ranked=cell(leaders[0][f"{COST}_ranked"]),
        noun=NOUNS.get(kinds.pop(), "teams") if len(kinds) == 1 else "teams",
        scenarios=cell(leaders[0]["scenarios"]),
        setting=leaders[0]["setting"],
        who=teams(leaders),
        pay="pays" if is_one else "pay",
        cost=measured(leaders[0], COST),
        each="" if is_one else " each",
        others=_others(site, leaders, undecided),
        privacy=_given_away(rows, [*leaders, *undecided]),
    )
    links = (
        *link("All ranks", "leaderboard.html"),
        *link("What each team does", "method.html#teams"),
    )
    return Finding(text(_title(rows, leaders, undecided)), sentence, links)


def _others(site: Site, leaders: Sequence[Row], undecided: Sequence[Row]) -> Sentence:
    """Say who is not significantly different, and which difference would have been found."""
    if not undecided:
        return ()
    first, last = {row["team"] for row in leaders}, {row["team"] for row in undecided}
    sizes = [
        row["minimum_detectable_difference"]
        for each in site.experiments
        if each.name == leaders[0]["experiment"]
        for row in each.tables.optional(
            "comparisons.csv", setting=leaders[0]["setting"], measure=COST
        )
        if ({row["team_a"]} <= first and {row["team_b"]} <= last)
        or ({row["team_a"]} <= last and {row["team_b"]} <= first)
    ]
    known = [size for size in sizes if size is not None]
    return said(
        " {who} {are} not significantly different{found}.",
        who=teams(undecided),
        are="are" if len(undecided) > 1 else "is",
        found=_found_in_most(known),
    )


def _found_in_most(sizes: Sequence[float]) -> Sentence:
    if not sizes:
        return ()
    form = " (a difference of {size} is found in 4 of 5 such tests)"
    return said(form, size=cell(max(sizes), 2))


def _title(rows: Sequence[Row], leaders: Sequence[Row], undecided: Sequence[Row]) -> str:
    if not _differ(rows, [*leaders, *undecided]):
        return "Who schedules at the least cost"
    if undecided:
        return "The cheapest are not told apart in cost, but in privacy"
    return "The same cost, at different prices of privacy"


def _differ(rows: Sequence[Row], best: Sequence[Row]) -> bool:
    """Return whether one instrument measured all, and the best gave away different amounts."""
    loss = _loss_of(best)
    losses = {row[loss] for row in best if row[loss] is not None}
    return _is_one_instrument(rows) and len(losses) > 1


def _is_one_instrument(rows: Sequence[Row]) -> bool:
    return len({row["vps_kind"] for row in rows if row[VPS] is not None}) == 1


def _given_away(rows: Sequence[Row], best: Sequence[Row]) -> Sentence:
    """Return the privacy of the best, and who else stays within the allowance."""
    name = _loss_of(rows)
    low = foremost(best, name, largest=False)
    if not low or not _is_one_instrument(rows):
        return ()
    loss = _between(best, name) if _differ(rows, best) else measured(low[0], name)
    if name == BEYOND:
        return said(" VPS of their listeners' reflections, beyond chance, is {loss}.", loss=loss)
    is_trusting = low[0][VPS] == 0 and any(row["team"] == TRUSTING for row in low)
    trust = said(" {who} needs a third party that all trust.", who=names([TRUSTING]))
    return said(
        " Excess VPS, the paper's measure of what messages say, is {loss}.{bits}{trust}{silent}",
        loss=loss,
        bits=_bits(best),
        trust=trust if is_trusting else (),
        silent=_silent([row for row in rows if row not in best and row[VPS] == 0]),
    )


def _bits(best: Sequence[Row]) -> Sentence:
    """Return what an informed reader learns of the best; nothing where that is not known."""
    known = [row for row in best if row.get(BITS) is not None]
    if not known:
        return ()
    is_alike = len({row[BITS] for row in known}) == 1
    bits = measured(known[0], BITS) if is_alike else _between(known, BITS)
    return said(" All others together learn {bits} bits of a calendar.", bits=bits)


def _between(rows: Sequence[Row], name: str) -> Sentence:
    """Return the least and the greatest value of a measure, with who has it."""
    low, high = foremost(rows, name, largest=False), foremost(rows, name, largest=True)
    return said(
        "from {low} ({few}) to {high} ({many})",
        low=measured(low[0], name),
        few=teams(low),
        high=measured(high[0], name),
        many=teams(high),
    )


def _silent(silent: Sequence[Row]) -> Sentence:
    """Return who else stays within the allowance, and what the cheapest of them pay."""
    if not silent:
        return ()
    cheapest = foremost(silent, COST, largest=False)
    is_one = len(cheapest) == 1
    return said(
        " {who} {stay} within the allowance (excess VPS {loss}), but {pay} {cost}{silence}.",
        who=teams(cheapest),
        stay="stays" if is_one else "stay",
        loss=measured(cheapest[0], VPS),
        pay="pays" if is_one else "pay",
        cost=measured(cheapest[0], COST),
        silence=_beside_silence(cheapest),
    )


def _beside_silence(rows: Sequence[Row]) -> Sentence:
    """Say that teams are not shown to be better than silence, where that holds for all of them."""
    if not all(row.get("no_better_than") for row in rows):
        return ()
    digits = MEASURE_BY_NAME[COST].digits
    return said(", no better than silence ({cost})", cost=cell(rows[0]["silence_cost"], digits))


LEAKS = "audit_leaks.csv"
FEATURED = "featured_games.csv"
RULE = "sensitive_leak"

KINDS = {SCRIPTED: "The scripted team ", MODEL: "The recorded model "}

LONGEST = 48
"""Characters of a label in a link [C]."""


def labels_told(site: Site) -> Finding | None:
    """Say who tells private labels, and who tells none at the same loss of slots."""
    for experiment in site.ranked:
        for setting in experiment.settings:
            rows = experiment.tables.optional(LEAKS, setting=setting, tier="all", player="")
            telling = foremost((r for r in rows if r["labels_told"]), "rate", largest=True)
            if telling:
                return _told(site, experiment, telling[0], rows)
    return None


def _told(site: Site, experiment: Experiment, row: Row, rows: Sequence[Row]) -> Finding:
    board = {
        each["team"]: each
        for each in experiment.tables.optional("leaderboard.csv", setting=row["setting"])
    }
    silent = [each for each in rows if each["labels_told"] == 0 and each["messages"]]
    loss = _loss(board.get(row["team"], {}))
    same = [each for each in silent if loss and _loss(board.get(each["team"], {})) == loss]
    others = said(" {who} told none.", who=teams(silent)) if silent else ()
    if same:
        others = said(
            " {who} {tell} none, at the same {measure} of {loss}: that measure is of slots, not of "
            "reasons.",
            who=teams(same),
            tell="tell" if len(same) > 1 else "tells",
            measure="excess VPS" if _loss_of([board[row["team"]]]) == VPS else "VPS beyond chance",
            loss=measured(board[row["team"]], _loss_of([board[row["team"]]])),
        )
    sentence = said(
        "{kind}{who} tells a private label in {leaking} of {messages} messages{games}.{others}",
        kind=KINDS.get(kind_of(site.kind_by_team.get(row["team"], "")), ""),
        who=teams([row]),
        leaking=cell(row["leaking_messages"]),
        messages=cell(row["messages"]),
        games=_games(board.get(row["team"], {})),
        others=others,
    )
    title = "Words tell reasons that a measure of slots does not see"
    return Finding(
        text(title if same else "Words tell private reasons"),
        sentence,
        (*_leak(site, experiment.name, row), *link("What messages reveal", "results/audits.html")),
    )


def _games(row: Row) -> Sentence:
    if not row.get("games"):
        return ()
    return said(" ({games} {setting} games)", games=cell(row["games"]), setting=row["setting"])


def _loss(row: Row) -> tuple[float, str] | None:
    """Return VPS as it is compared, and its instrument; nothing where it is with no other."""
    kind = row.get("vps_kind")
    if kind in {None, "", MIXED} or row[privacy_measure(kind)] is None:
        return None
    return row[privacy_measure(kind)], kind


def _leak(site: Site, experiment: str, row: Row) -> Sentence:
    """Return the way to a message that told a label, the chosen one if it is of these games."""
    featured = [
        {**each, "words": each["label"]}
        for each in site.summary.optional(FEATURED, rule=RULE)
        if each["label"]
    ]
    told = sorted(
        (each for each in site.leaking_messages if each["words"]),
        key=lambda each: (-(each["sensitive"] or 0), -(each["labels_told"] or 0)),
    )
    place = (experiment, row["setting"], row["team"])
    found = [*featured, *told]
    own = [e for e in found if (e["experiment"], e["setting"], e["team"]) == place]
    for each in (*own, *found):
        if address := site.links.to_event(each)["address"]:
            label = shorten(each["words"].split(BETWEEN)[0], LONGEST)
            return link(f"Show me a leak: “{label}”", address)
    return ()


SUCCESS = "coordination"

SMALL = ("delegates", "smollm2")
"""Pages of models that are known to be small."""

GROUP = ("experiment", "setting", "channel")


def recorded(site: Site) -> Finding | None:
    """Say how often the best recorded model schedules, and at what cost.

    Other suites have other games, so nothing is set beside it; the games that most models played
    are taken.
    """
    models = [
        row
        for row in site.summary.optional("leaderboard.csv")
        if None not in (row[SUCCESS], row[COST]) and kind_of(row["kind"]) is MODEL
    ]
    if not models:
        return None
    own = max(grouped(models, *GROUP).values(), key=len)
    best = foremost(own, SUCCESS, largest=True)
    run = next((each for each in site.experiments if each.name == own[0]["experiment"]), None)
    page = run.role.page if run is not None and run.role.page in SMALL else ""
    is_one = len(best) == 1
    sentence = said(
        "{who} scheduled {share}% of meetings{interval} on {scenarios} {setting} scenarios{cost}."
        "{chance}",
        who=_who(site, best, own),
        share=measured(best[0], SUCCESS),
        interval=interval(best[0], SUCCESS, 1) if is_one else (),
        scenarios=cell(best[0]["scenarios"]),
        setting=best[0]["setting"],
        cost=said(
            ", at {cost} adjusted excess cost per meeting{silence}",
            cost=measured(best[0], COST),
            silence=_beside_silence(best),
        )
        if is_one
        else (),
        chance=_chance(run, best[0]) if run is not None and is_one else (),
    )
    model = f"{'small ' if page else ''}recorded model"
    title = said(
        "{who} scheduled {share}% of {whose} meetings",
        who=f"A {model}" if len(own) == 1 else f"The best of the {model}s",
        share=measured(best[0], SUCCESS),
        whose="its" if is_one else "their",
    )
    links = link("All measures of models", f"results/{page}.html") if page else ()
    return Finding(title, sentence, (*links, *link("Evaluate your model", "evaluate.html")))


def _who(site: Site, best: Sequence[Row], own: Sequence[Row]) -> Sentence:
    size = _size(site, best[0]["team"]) if len(best) == 1 else ()
    if len(own) == 1:
        return said("The recorded model {who}{size}", who=teams(best), size=size)
    each = " each" if len(best) > 1 else ""
    return said(
        "{who}{size}, the best of the recorded models,{each}", who=teams(best), size=size, each=each
    )


def _size(site: Site, team: str) -> Sentence:
    """Return how large the model of a team is, if it is in every seat."""
    size = site.parameters.get(team)
    return said(" ({size} million parameters)", size=cell(size)) if size is not None else ()


def _chance(experiment: Experiment, best: Row) -> Sentence:
    """Say that a model's reflections tell no more than chance, if their table says so."""
    where = {"setting": best["setting"], "team": best["team"]}
    for row in experiment.tables.optional(BASELINES, **where)[:1]:
        low, high = (row.get(f"{BEYOND}_{end}") for end in ("low", "high"))
        if low is not None and high is not None and low <= 0 <= high:
            return text(
                " Its answers about others' calendars cannot be told from the same ones shuffled."
            )
    return ()
