"""Games of a real small model -> a folder of replies in ``data/cohorts`` for each experiment.

No stage of the pipeline, which replays what this records: it needs the extra ``local``, and hours.
The replies that are there already are the beginning of a recording, so that more replicates or
scenarios, or a team that changed, only ask for what is new; remove them to ask for everything
again. A recording that is interrupted goes on where it was. The old replies are replaced only once
the new ones replay to the same games; ``recording-PLAYER.json`` beside them says what recorded
them.
"""

import json
import os
import platform
import shutil
import signal
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from calbench.config.composition import compose
from calbench.config.spec import RepliesSpec, RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played, play_jobs
from calbench.engine.jobs import Job, plan_jobs
from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import read_bytes, write_atomically
from calbench.llm.client import Totals
from calbench.llm.replies.database import remove_store
from calbench.llm.replies.shards import merge_into, open_replies, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.runs.source import opener, reply_source
from calbench.scenarios.suites import build_suites, chosen_ids, together
from calbench.traces.storage import read_trace
from stages import paths
from tests.studies.local_model import AT_ONCE, ModelFile, find_model, read_models, serving

EXPERIMENTS = ("smollm2", "smollm2-participants", "smollm2-everyone")
"""What is recorded if nothing is named; the first prompts' games are kept as they are."""

PATIENCE_S = 3600.0
"""How long a reply may take [C]: on a busy machine, some that wait for each other take minutes."""

CALIBRATION = 4
"""Games that ask the model after which the rest is estimated [C]."""


def planned(spec: RunSpec, folder: Path) -> list[Job]:
    """Return the games of an experiment, of the chosen part of its suites."""
    scenarios = together(build_suites(spec.suites))
    chosen = chosen_ids(scenarios, spec.subset)
    return plan_jobs(scenarios, spec.game_configs, folder, chosen, spec.replicates)


def _nothing(_job: Job, _totals: Totals) -> None:
    pass


def play(
    spec: RunSpec, folder: Path, on_done: Callable[[Job, Totals], None] = _nothing
) -> dict[str, bytes]:
    """Play all games; return their traces by place.

    Args:
        spec: of the experiment.
        folder: of the traces.
        on_done: is told each game that is done, and what was asked until then.

    Raises:
        OutputError: if one of them was cut short.
    """
    jobs = planned(spec, folder)
    replies = reply_source(spec, "make record-local")
    totals = Totals() if replies is None else replies.totals
    with progress("games", len(jobs)) as tick:

        def finished(game: Played) -> None:
            tick(f"{totals.calls} calls, {totals.replayed} replayed")
            if game.halt is not None:
                raise OutputError(f"{game.job.scenario.scenario_id}: the model's server failed")
            on_done(game.job, totals)

        source = opener(spec, replies)
        play_jobs(jobs, None, finished, source=source, at_once=spec.games_at_once)
    return {job.path.relative_to(folder).as_posix(): job.path.read_bytes() for job in jobs}


def asking(spec: RunSpec, url: str, store: Path, at_once: int = 1) -> RunSpec:
    """Return the run that asks the models at an address and records them."""
    there = {"api_base": url, "concurrency": at_once, "timeout_s": PATIENCE_S}
    return spec.model_copy(
        update={
            "models": {
                player: model.model_copy(update=there) for player, model in spec.models.items()
            },
            "replies": RepliesSpec(mode="record", path=str(store)),
            "games_at_once": at_once,
        }
    )


def replaying(spec: RunSpec, replies: Path) -> RunSpec:
    """Return the run that replays what was recorded."""
    return spec.model_copy(update={"replies": RepliesSpec(mode="replay", path=str(replies))})


def used_replies(folder: Path) -> frozenset[str]:
    """Return the keys of the replies in the games of a folder."""
    return frozenset(
        key
        for path in folder.rglob("*.json")
        for event in read_trace(path).events
        for key in getattr(event, "reply_keys", ())
    )


def keep(source: ReplyStore, keys: Collection[str], target: ReplyStore) -> None:
    """Copy some replies with the messages of their threads."""
    links = {link.digest: link for link in source.links()}
    messages = {message: (role, content) for message, role, content in source.messages()}
    with target.writing():
        for record in source.records():
            if record.key not in keys:
                continue
            place: str | None = record.thread
            while place is not None:
                link = links[place]
                target.add_message(link.message, *messages[link.message])
                target.add_link(link)
                place = link.parent
            if record.reply_schema is not None:
                target.add_message(record.reply_schema, *messages[record.reply_schema])
            target.add(record)


# --- what a recording takes


class Recorded(NamedTuple):
    """What was recorded before: games, replies, and the hours that took."""

    games: int = 0
    replies: int = 0
    hours: float = 0.0


def read_recorded(path: Path) -> Recorded:
    """Return what the note on a recording says was recorded; nothing if there is none.

    Raises:
        FileError: if it cannot be read.
    """
    if not path.exists():
        return Recorded()
    try:
        found = json.loads(read_bytes(path))
    except ValueError as error:
        raise FileError(f"{path}: no JSON: {error}") from error
    return Recorded(**{name: found[name] for name in Recorded._fields if name in found})


def forecast(before: Recorded, games: int, hours_per_reply: float, bytes_per_reply: float) -> str:
    """Return what games take, by the replies of games like them; empty if there were none.

    Args:
        before: what such games took.
        games: how many there are.
        hours_per_reply: of the server, with as many games at once.
        bytes_per_reply: in the store.
    """
    if not before.games or not before.replies:
        return ""
    replies = games * before.replies / before.games
    return (
        f"about {replies:,.0f} replies, {replies * hours_per_reply:.1f} hours and "
        f"{replies * bytes_per_reply / 1e6:.0f} MB"
    )


class Clock:
    """The hours of a recording over all its sittings, kept beside its store after every game.

    Attributes:
        has_asked: whether the model was asked anything, in this sitting or one before.
    """

    def __init__(self, store: Path, games: int, before: Recorded) -> None:
        self._path, self._store = store.with_suffix(".hours.json"), store
        self._games, self._done, self._asking = games, 0, 0
        self._earlier = before.hours
        self.has_asked = self._path.exists()
        if self.has_asked:
            self._earlier = float(json.loads(read_bytes(self._path)))
        self._start = time.monotonic()

    @property
    def hours(self) -> float:
        """Hours until now."""
        return self._earlier + (time.monotonic() - self._start) / 3600

    def finished(self, job: Job, totals: Totals) -> None:
        """Count a game; once enough of them have asked the model, say what the rest will take."""
        self._done += job.waits
        self.has_asked = self.has_asked or totals.calls > 0
        if self.has_asked:
            write_atomically(self._path, json.dumps(self.hours).encode())
        self._asking += totals.calls > 0
        left = self._games - self._done
        if self._asking != CALIBRATION or not totals.calls or not left:
            return
        here = Recorded(self._done, totals.calls + totals.replayed)
        per_reply = (time.monotonic() - self._start) / 3600 / totals.calls
        size = sum(path.stat().st_size for path in self._store.parent.glob(f"{self._store.name}*"))
        say(f"{left} games left: {forecast(here, left, per_reply, size / here.replies)}")

    def remove(self) -> None:
        """Forget the hours: the next recording begins anew."""
        self._path.unlink(missing_ok=True)


def processor() -> str:
    """Return the class of this machine's processor."""
    cores, machine = os.cpu_count() or 1, platform.machine().replace("_", "-").lower()
    flags = Path("/proc/cpuinfo")
    text = flags.read_text() if flags.exists() else ""
    known = [name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in text]
    return f"{cores} cores, {machine}" + (f" with {known[0]}" if known else "")


def server_of(url: str) -> dict[str, Any]:
    """Return what the server at an address says of itself."""
    with urllib.request.urlopen(f"{url}/models") as response:  # noqa: S310 - our own server
        (found,) = json.load(response)["data"]
    return dict(found)


def described(
    spec: RunSpec, model: ModelFile, server: Mapping[str, Any], replies: Path, hours: float
) -> dict[str, Any]:
    """Return what recorded some replies, for people who record others."""
    asked = next(iter(spec.models.values()))
    with open_replies(replies) as store:
        usages = [
            each.usage
            for each in store.records()
            if each.usage is not None and each.model in names_in(spec)
        ]
    prompts = {spec.prompts.version_of(team.team_id)[0] for team in spec.teams}
    sampling = ("temperature", "top_p", "max_tokens", "seed")
    return {
        "model": model.name,
        "sha256": model.sha256,
        "server": server["owned_by"],
        **{name: server[name] for name in ("threads", "context", "at_once", "conversations")},
        "processor": processor(),
        "prompts": " and ".join(sorted(prompts)),
        **{name: getattr(asked, name) for name in sampling},
        "games": len([job for job in planned(spec, Path()) if job.waits]),
        "replies": len(usages),
        "tokens_read": sum(usage.input_tokens for usage in usages),
        "tokens_written": sum(usage.output_tokens for usage in usages),
        "hours": round(hours, 2),
    }


# --- recording


def record(
    spec: RunSpec,
    model: ModelFile,
    url: str,
    server: Mapping[str, Any],
    store: Path,
    at_once: int = 1,
) -> None:
    """Replace what a model says in an experiment by its replies at an address.

    Games without it are not played, and the replies of other models are kept.

    Args:
        spec: of the experiment.
        model: that is asked.
        url: where it is asked.
        server: what the server says of itself.
        store: where replies are kept until all games are played.
        at_once: how many games are played at once.

    Raises:
        OutputError: if a game was cut short, or if the new replies do not replay.
    """
    spec = with_model(spec, model)
    target = Path(str(spec.replies.path))
    noted = target.with_name(f"recording-{model.players[0]}.json")
    take_over(target, store)
    before = recorded_before(noted, target, spec)
    with TemporaryDirectory() as scratch:
        asked, again, shards = (Path(scratch, name) for name in ("asked", "again", "replies"))
        jobs = planned(spec, asked)
        say(f"{spec.name}: {plan_line(jobs, store, before)}")
        clock = Clock(store, sum(job.waits for job in jobs), before)
        games = play(asking(spec, url, store, at_once), asked, clock.finished)
        take_over(target, store)  # another model of the cohort may have been recorded meanwhile
        with open_replies(store) as replies, ReplyStore.in_memory() as used:
            others = {each.key for each in replies.records() if each.model not in names_in(spec)}
            keep(replies, used_replies(asked) | others, used)
            write_shards(shards, used)
        if play(replaying(spec, shards), again) != games:
            raise OutputError("the recorded replies do not replay to the same games: a bug")
        about = described(spec, model, server, shards, clock.hours)
        put_in_place(target, shards)
        if clock.has_asked:  # otherwise it is as it was, and so is what it says of itself
            write_atomically(noted, f"{json.dumps(about, indent=1)}\n".encode())
        clock.remove()
    say(f"{target}: recorded")


def put_in_place(target: Path, source: Path) -> None:
    """Put a copy of a folder in the place of another, which is whole until the copy is."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def names_in(spec: RunSpec) -> set[str]:
    """Return what providers call the models of a run."""
    return {each.spec.model for each in spec.models.values()}


def recorded_before(noted: Path, target: Path, spec: RunSpec) -> Recorded:
    """Return what recording a model took until now: by its note, else by how long replies took."""
    if not target.is_dir():
        return Recorded()
    if (found := read_recorded(noted)).replies:
        return found
    with open_replies(target) as store:
        own = [record for record in store.records() if record.model in names_in(spec)]
    seconds = sum(attempt.latency_s for record in own for attempt in record.attempts)
    return Recorded(0, len(own), seconds / 3600)


def take_over(target: Path, store: Path) -> None:
    """Add to a store what is recorded already, if anything is."""
    if target.is_dir():
        with open_replies(target) as old:
            merge_into(store, old)


def with_model(spec: RunSpec, model: ModelFile) -> RunSpec:
    """Return an experiment with the teams alone in which a model sits, with a variant or without.

    Raises:
        ConfigError: if there is none, or if others sit there that would have to be asked as well.
    """
    players = set(model.players)
    known = {name: each.player for name, each in spec.models.items()}
    seats = [
        {known[seat.player] for seat in team.seats if seat.kind == "model"} for team in spec.teams
    ]
    mine = [(team, own) for team, own in zip(spec.teams, seats, strict=True) if own & players]
    if not mine:
        raise ConfigError(f"{spec.name}: no team seats {model.name} ({', '.join(model.players)})")
    if strangers := set().union(*(own for _, own in mine)) - players:
        raise ConfigError(f"{spec.name}: {', '.join(sorted(strangers))}: another model's file")
    models = {name: each for name, each in spec.models.items() if each.player in players}
    return spec.model_copy(update={"teams": tuple(team for team, _ in mine), "models": models})


def plan_line(jobs: Sequence[Job], store: Path, before: Recorded) -> str:
    """Return what is about to be recorded, and what that will take if it is known."""
    known = 0
    if store.exists():
        with open_replies(store) as replies:
            known = replies.count()
    games = sum(job.waits for job in jobs)
    per_reply = before.hours / max(before.replies, 1)
    size = store.stat().st_size / known if known else 0.0
    told = forecast(before, games, per_reply, size)
    then = f"{told} in all" if told else f"what that takes is estimated after {CALIBRATION} games"
    return f"{games} games with a model, {known:,} replies recorded; {then}"


def cohort_of(specs: Sequence[RunSpec]) -> Path:
    """Return the folder of the cohort in which experiments have their replies.

    Raises:
        ConfigError: if they replay nothing, or belong to several cohorts.
    """
    for spec in specs:
        if spec.replies.mode != "replay" or spec.replies.path is None:
            raise ConfigError(f"{spec.name}: replays no recorded replies")
    folders = {Path(str(spec.replies.path)).parents[1] for spec in specs}
    if len(folders) > 1:
        raise ConfigError(f"several cohorts: {', '.join(sorted(map(str, folders)))}")
    return folders.pop()


def main(words: list[str]) -> None:
    """Record the experiments that are named, or those of SmolLM2."""
    parser = ArgumentParser("record_local", description=__doc__)
    parser.add_argument("experiments", nargs="*", default=EXPERIMENTS)
    parser.add_argument("--file", type=Path, help="the model, a GGUF file")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="games at once")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args(words)
    # Whoever ends this process means its server too.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    specs = [compose([f"+experiment={name}"]) for name in given.experiments]
    cohort = cohort_of(specs)
    model, python, file = find_model(read_models(cohort), given.file)
    begun = paths.BUILD / cohort.name
    begun.mkdir(parents=True, exist_ok=True)
    seats = max(job.scenario.num_agents for spec in specs for job in planned(spec, Path()))
    options = {
        "threads": given.threads,
        "at_once": given.at_once,
        "conversations": given.at_once * seats,
    }
    stores: list[Path] = []
    with serving(python, file, begun / "server.log", **options) as url:
        server = server_of(url)
        for spec in specs:
            store = begun / f"{spec.name}-{model.players[0]}.sqlite"
            record(spec, model, url, server, store, given.at_once)
            stores.append(store)
    for store in stores:  # the next recording begins anew
        remove_store(store)
    say("commit them with the games that `dvc repro` makes of them")


if __name__ == "__main__":
    paths.answer(main)
