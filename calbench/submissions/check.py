"""The check of a submission: what holds, what is proven, and what nothing in it can show."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isclose
from pathlib import Path
from typing import Any, Literal, NamedTuple

from calbench.analysis.measures import MEASURES
from calbench.analysis.scoring import ALL_FACTS, measure_games
from calbench.analysis.tables import TABLES
from calbench.code import PACKAGE
from calbench.config.composition import compose
from calbench.console import progress
from calbench.errors import FileError
from calbench.files import printable, shorten
from calbench.folders import scratch_folder
from calbench.runs.identity import published_parts
from calbench.runs.published import settings_of
from calbench.runs.recorded import consistent, read_games
from calbench.runs.seats import modules_of, package_digest
from calbench.runs.verification import is_known
from calbench.submissions.examine import (
    Examined,
    examine,
    ids_of,
    parts_of,
    players_of,
    settings_digest,
    write_replies,
)
from calbench.submissions.folder import (
    REPLIES_FOLDER,
    Environment,
    Part,
    Seated,
    Submission,
    digest_of,
    read_submission,
    source_digest,
)
from calbench.traces.catalog import TRACES_FOLDER, trace_paths

Tier = Literal["replayed with replies", "replayed without replies", "not verifiable"]
"""How much of a submission is proven, from most to least."""

CANNOT_SHOW: Mapping[Tier, str] = {
    "replayed with replies": (
        "that a provider gave these replies: a store with plausible ids can be forged, and a "
        "person or another model may have written it; calbench submit ask-again asks a sample"
    ),
    "replayed without replies": (
        "what was said: words, tokens and beliefs are the traces' word alone, and whoever wrote "
        "them kept to the rules"
    ),
    "not verifiable": (
        "who played: moves are by the rules and the numbers follow from them, but own code made "
        "them, and nobody else has it"
    ),
}
"""What a submission of each tier cannot show, whoever checks it."""

NUMBERS_DIFFER = 1e-4
"""Least difference between numbers that is one [C]: tables have four decimals."""


class Standing(NamedTuple):
    """A team in one setting, as the board shows it.

    Attributes:
        team: its name in the submission.
        setting: in which it played.
        part: of which suite, and how many of its scenarios, in words.
        expected: games of the part, those that were cut short among them.
        halted: games that a provider, the budget or an agent without an answer cut short.
        coordination: percent of meetings scheduled in all games of the part; those of games that
            were cut short count as failed.
        cost_usd: of its models' replies; absent without a price.
    """

    team: str
    setting: str
    part: str
    expected: int
    halted: Sequence[str]
    coordination: float
    cost_usd: float | None


@dataclass(frozen=True)
class Checked:
    """What came of a check.

    Attributes:
        name: of the folder.
        id: SHA-256 of ``submission.json``; empty if it could not be read.
        problems: why it is refused, a line each; none: it holds.
        tier: how much is proven; absent where it is refused.
        reason: why it is of this tier.
        remarks: what a reader should know beside.
        standings: its teams by setting.
        submission: what it says of itself; absent if it could not be read.
        environment: with what it was played; likewise.
    """

    name: str
    id: str = ""
    problems: Sequence[str] = ()
    tier: Tier | None = None
    reason: str = ""
    remarks: Sequence[str] = ()
    standings: Sequence[Standing] = ()
    submission: Submission | None = None
    environment: Environment | None = None

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        held = ("name", "id", "tier", "reason")
        return {
            **{name: getattr(self, name) for name in held},
            "cannot_show": CANNOT_SHOW[self.tier] if self.tier else None,
            "problems": list(self.problems),
            "remarks": list(self.remarks),
            "standings": [each._asdict() for each in self.standings],
            "submission": None
            if self.submission is None
            else self.submission.model_dump(mode="json"),
            "environment": None if self.environment is None else self.environment.model_dump(),
        }


def check(folder: Path, expected_id: str = "") -> Checked:
    """Check a submission: nothing in it is imported, followed or believed.

    Args:
        folder: of the submission.
        expected_id: the id that was announced, if one was.

    Raises:
        FileError: there is no such folder.
    """
    if not folder.is_dir():
        raise FileError(f"{printable(str(folder))}: there is no such folder; name a submission's")
    name = folder.resolve().name
    try:
        submission, found_id, environment = read_submission(folder)
        paths = list(trace_paths(folder / TRACES_FOLDER))
        has_replies = any(each.startswith(f"{REPLIES_FOLDER}/") for each in submission.files)
        found = examine(paths, folder / REPLIES_FOLDER if has_replies else None)
    except (FileError, OSError) as error:
        return Checked(name, problems=[str(error)])
    parts = parts_of(found)
    problems = [*found.problems]
    if submission.name != name:
        problems.append(f"name: is {submission.name}, and its folder is called {printable(name)}")
    if expected_id and expected_id != found_id:
        problems.append(f"id: is {found_id}, not the one that was announced")
    if found.unused:
        problems.append(f"{REPLIES_FOLDER}: {found.unused} replies were used by no game")
    problems += _unlike(submission, found, parts, () if found.problems else paths)
    if has_replies and not problems:
        problems += _unlike_replies(folder, submission, found)
    if problems:
        return Checked(name, found_id, problems, submission=submission, environment=environment)
    tier, reason = _tier(folder, submission, found)
    return Checked(
        name,
        found_id,
        (),
        tier,
        reason,
        [*_remarks(submission, found, has_replies=has_replies)],
        [*standings_of(found, parts)],
        submission,
        environment,
    )


def derived(found: Examined, parts: Mapping[str, Part], paths: Sequence[Path]) -> dict[str, Any]:
    """Return what a submission says of its games, by the names of its keys; no paths: no numbers.

    Raises:
        FileError: a game is no trace.
    """
    numbers = {"numbers": numbers_of(paths)} if paths else {}
    return {
        "suites": dict(parts),
        "settings": settings_digest(found.configs),
        "players": players_of(found),
        **numbers,
    }


def _unlike(
    submission: Submission, found: Examined, parts: Mapping[str, Part], paths: Sequence[Path]
) -> Iterator[str]:
    """Yield a line for each thing that a submission says of its games and that is not so."""
    for key, value in derived(found, parts, paths).items():
        yield from _differences(key, getattr(submission, key), value)
    for team in sorted(submission.code):
        config = found.configs.get(team)
        if config is None:
            yield f"code.{team}: there is no such team"
        elif (modules := modules_of(config.team)) != {*submission.code[team]}:
            yield f"code.{team}: its seats are of {', '.join(sorted(modules))}"


def _differences(place: str, said: Any, is_so: Any) -> Iterator[str]:
    """Yield where what was said differs from what is so, numbers beyond rounding."""
    if isinstance(said, Part | Seated) and isinstance(is_so, Part | Seated):
        said, is_so = said.model_dump(), is_so.model_dump()
    if isinstance(said, Mapping) and isinstance(is_so, Mapping):
        for key in sorted({*said, *is_so}):
            yield from _differences(f"{place}.{key}", said.get(key), is_so.get(key))
    elif isinstance(said, tuple) and isinstance(is_so, tuple) and len(said) == len(is_so):
        for number, (one, other) in enumerate(zip(said, is_so, strict=True)):
            yield from _differences(f"{place}.{number}", one, other)
    elif isinstance(said, float) and isinstance(is_so, float):
        if not isclose(said, is_so, rel_tol=0, abs_tol=NUMBERS_DIFFER):
            yield f"{printable(place)}: says {said:.4f}, the games say {is_so:.4f}"
    elif said != is_so:
        shown = [shorten(printable(str(each)), 80) for each in (said, is_so)]
        yield f"{printable(place)}: says {shown[0]}, the games say {shown[1]}"


def _unlike_replies(folder: Path, submission: Submission, found: Examined) -> Iterator[str]:
    """Yield the files of replies that hold more than games used, or in another order."""
    with scratch_folder("replies") as scratch:
        write_replies(folder / REPLIES_FOLDER, found, scratch / REPLIES_FOLDER)
        files = (scratch / REPLIES_FOLDER).glob("*")
        own = {f"{REPLIES_FOLDER}/{path.name}": digest_of(path) for path in files}
    said = {n: d for n, d in submission.files.items() if n.startswith(f"{REPLIES_FOLDER}/")}
    for name in sorted({*own, *said}):
        if own.get(name) != said.get(name):
            yield f"{name}: is not what `calbench submit prepare` writes of these games"


def _tier(folder: Path, submission: Submission, found: Examined) -> tuple[Tier, str]:
    """Return how much of a submission that holds is proven, and why no more."""
    total = found.verified
    seats = {team: config.team.seats for team, config in found.configs.items()}
    everybody = chain.from_iterable(seats.values())
    has_own = any(seat.kind != "model" and not is_known(seat) for seat in everybody)
    if total.turns_not_checked or has_own:
        turns = f"{total.turns_not_checked} turns are of own code"
        lacking = [each for each in _without_source(folder, submission, found) if each]
        if lacking:
            return "not verifiable", f"{turns}, and the source of {', '.join(lacking)} is not here"
        return "replayed without replies", f"{turns}, whose source is here and was not run"
    lacks = {
        "replies are not here": total.replies_not_checked,
        "prompts are not known": total.prompts_not_checked,
    }
    reasons = [f"{count} {what}" for what, count in lacks.items() if count]
    reasons += [
        f"{count} replies say that {printable(said)} answered, {printable(asked)} was asked"
        for (asked, said), count in sorted(found.said.items())
    ]
    answered = {team for teams in found.teams_by_key.values() for team in teams}
    models = {team for team, own in seats.items() if any(seat.kind == "model" for seat in own)}
    if mute := sorted(models - answered):
        reasons.append(f"no model of {', '.join(mute)} gave a reply")
    if reasons:
        return "replayed without replies", "; ".join(reasons)
    checked = f"{total.replies_checked} replies are what the games hold"
    played = "no model sits in it: all of its players played again"
    return "replayed with replies", checked if total.replies_checked else played


def _without_source(folder: Path, submission: Submission, found: Examined) -> Iterator[str]:
    """Yield what of own code is not in a submission as its run noted it."""
    for team, config in sorted(found.configs.items()):
        modules = modules_of(config.team) - {PACKAGE.name}
        noted = submission.code.get(team, {})
        if not modules and any(seat.kind == "custom" for seat in config.team.seats):
            yield f"who played {team}"  # a person, or an agent elsewhere
        for module in sorted(modules):
            if noted.get(module) is None or source_digest(folder, module) != noted[module]:
                yield module


def _remarks(submission: Submission, found: Examined, *, has_replies: bool) -> Iterator[str]:
    """Yield what a reader should know beside the tier."""
    halted = [
        f"{team} on {game.scenario_id} ({game.halt})"
        for (team, _), own in sorted(found.games.items())
        for game in own
        if game.halt
    ]
    if halted:
        yield (f"cut short, which counts as failed in the coordination of all: {', '.join(halted)}")
    if has_replies and found.silent:
        yield f"{found.silent} replies do not say which model answered"
    if submission.says_model is not None:
        yield f"own code asks {submission.says_model}, in its author's words"
    here = package_digest()
    if any(code.get(PACKAGE.name, here) != here for code in submission.code.values()):
        yield "it was played with other code of CalBench than checked it"
    if unknown := sorted({*found.configs} - {*submission.code}):
        yield f"the code that played {', '.join(unknown)} was not noted"


def standings_of(found: Examined, parts: Mapping[str, Part]) -> Iterator[Standing]:
    """Yield how each team stands in each setting of a published suite."""
    for (team, setting), own in sorted(found.games.items()):
        part = parts.get(setting)
        if part is None:
            continue
        whole, count = len(published_parts()[part.suite][setting]), len(ids_of(part, setting))
        times = found.replicates[team, setting]
        shares = [100 * game.scheduled / game.meetings for game in own if game.meetings]
        expected = count * times
        yield Standing(
            team,
            setting,
            f"{count} of {whole} scenarios of {part.suite}{f', {times} times' * (times > 1)}",
            expected,
            [f"{game.scenario_id}: {game.halt}" for game in own if game.halt],
            sum(shares) / max(expected, len(shares)),
            found.cost_usd.get(team),
        )


def numbers_of(paths: Iterable[Path]) -> dict[str, dict[str, dict[str, float]]]:
    """Compute the leaderboard's measures of some games, by team and setting.

    Means are over games that were played to their end; how many those are stands beside them.

    Raises:
        FileError: a game is no trace.
    """
    spec = compose([])
    games = consistent(read_games(paths))
    games.sort(key=lambda game: (game.team_id, game.setting, game.scenario_id, game.file))
    with scratch_folder("submission") as scratch, progress("measured", len(games)) as tick:
        facts = measure_games(games, scratch / "facts", spec.measure, tick, None, ALL_FACTS)
        table = TABLES["leaderboard.csv"]
        table.write(facts, settings_of(spec), scratch)
        rows = table.read(scratch).to_dict("records")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        measures = ("games", "scenarios", *(measure.name for measure in MEASURES))
        own = {name: float(row[name]) for name in measures if row[name] == row[name]}
        found.setdefault(row["team"], {})[row["setting"]] = own
    return found
