"""Games of a real small model -> data/cohorts/smollm2/replies.

No stage of the pipeline, which replays what this records: it needs the extra ``local`` and
some minutes. What is there is replaced only once the new replies replay to the same games.
"""

import shutil
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from calbench.config.composition import compose
from calbench.config.spec import RepliesSpec, RunSpec
from calbench.console import progress, say
from calbench.engine.batch import Played, play_jobs
from calbench.engine.jobs import plan_jobs
from calbench.errors import OutputError
from calbench.llm.client import Totals
from calbench.llm.replies.shards import merge_into, open_replies
from calbench.runs.source import opener, reply_source
from calbench.scenarios.suites import build_suites
from stages import paths
from stages.local_model import serving

EXPERIMENT = "smollm2"


def play(spec: RunSpec, folder: Path) -> dict[str, bytes]:
    """Play all games; return their traces by place.

    Raises:
        OutputError: if one of them was cut short.
    """
    jobs = plan_jobs(build_suites(spec.suites), spec.game_configs, folder)
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


def main(_: list[str]) -> None:
    """Record the cohort."""
    # Whoever ends this process means its server too.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    spec = compose([f"+experiment={EXPERIMENT}"])
    target = Path(str(spec.replies.path))
    with TemporaryDirectory() as scratch:
        store, shards = Path(scratch, "replies.sqlite"), Path(scratch, "replies")
        with serving(paths.BUILD / EXPERIMENT / "server.log") as url:
            recorded = play(asking(spec, url, store), Path(scratch, "recorded"))
        with open_replies(store) as replies:
            merge_into(shards, replies)
        replay = spec.model_copy(update={"replies": RepliesSpec(mode="replay", path=str(shards))})
        if play(replay, Path(scratch, "replayed")) != recorded:
            raise OutputError("the recorded replies do not replay to the same games: a bug")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(shards, target)
    say(f"{target}: recorded; commit it with the games that `dvc repro` makes of it")


if __name__ == "__main__":
    paths.answer(main)
