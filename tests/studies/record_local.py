"""Games of a real small model -> data/cohorts/smollm2, a folder of replies for each experiment.

No stage of the pipeline, which replays what this records: it needs the extra ``local`` and about
an hour. A recording that is interrupted goes on where it was; the replies that are there are
replaced only once the new ones replay to the same games.
"""

import shutil
import signal
import sys
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from calbench.config.composition import compose
from calbench.config.spec import RepliesSpec, RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played, play_jobs
from calbench.engine.jobs import plan_jobs
from calbench.errors import OutputError
from calbench.llm.client import Totals
from calbench.llm.replies.database import BESIDE
from calbench.llm.replies.shards import open_replies, write_shards
from calbench.llm.replies.store import ReplyStore
from calbench.runs.source import opener, reply_source
from calbench.scenarios.suites import build_suites, together
from calbench.traces.storage import read_trace
from stages import paths
from tests.studies.local_model import serving

COHORT = "smollm2"

EXPERIMENTS = (COHORT, f"{COHORT}-participants", f"{COHORT}-everyone")
"""What is recorded, in this order; the first prompts' games are kept as they are."""


def play(spec: RunSpec, folder: Path) -> dict[str, bytes]:
    """Play all games; return their traces by place.

    Raises:
        OutputError: if one of them was cut short.
    """
    jobs = plan_jobs(
        together(build_suites(spec.suites)), spec.game_configs, folder, replicates=spec.replicates
    )
    replies = reply_source(spec, "make record-local")
    totals = Totals() if replies is None else replies.totals
    with progress("games", len(jobs)) as tick:

        def finished(game: Played) -> None:
            tick(f"{totals.calls} calls, {totals.replayed} replayed")
            if game.is_halted:
                raise OutputError(f"{game.job.scenario.scenario_id}: the model's server failed")

        source = opener(spec, replies)
        play_jobs(jobs, None, finished, source=source, at_once=spec.games_at_once)
    return {job.path.relative_to(folder).as_posix(): job.path.read_bytes() for job in jobs}


def asking(spec: RunSpec, url: str, store: Path) -> RunSpec:
    """Return the run that asks the models at an address and records them."""
    return spec.model_copy(
        update={
            "models": {
                player: model.model_copy(update={"api_base": url})
                for player, model in spec.models.items()
            },
            "replies": RepliesSpec(mode="record", path=str(store)),
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


def record(spec: RunSpec, url: str, store: Path) -> None:
    """Replace the replies of an experiment by what the model at an address says now.

    Raises:
        OutputError: if a game was cut short, or if the new replies do not replay.
    """
    target = Path(str(spec.replies.path))
    with TemporaryDirectory() as scratch:
        asked, again, shards = (Path(scratch, name) for name in ("asked", "again", "replies"))
        games = play(asking(spec, url, store), asked)
        with open_replies(store) as replies, ReplyStore.in_memory() as used:
            keep(replies, used_replies(asked), used)
            write_shards(shards, used)
        if play(replaying(spec, shards), again) != games:
            raise OutputError("the recorded replies do not replay to the same games: a bug")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(shards, target)
    say(f"{target}: recorded")


def main(names: list[str]) -> None:
    """Record the experiments of the cohort, or those that are named."""
    # Whoever ends this process means its server too.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    specs = [compose([f"+experiment={name}"]) for name in names or EXPERIMENTS]
    begun = paths.BUILD / COHORT
    begun.mkdir(parents=True, exist_ok=True)
    with serving(begun / "server.log") as url:
        for spec in specs:
            record(spec, url, begun / f"{spec.name}.sqlite")
    for spec in specs:  # the next recording begins anew
        for end in BESIDE:
            (begun / f"{spec.name}.sqlite{end}").unlink(missing_ok=True)
    say("commit them with the games that `dvc repro` makes of them")


if __name__ == "__main__":
    paths.answer(main)
