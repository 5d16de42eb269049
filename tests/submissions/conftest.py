"""A submission of each kind, made once: of a recorded model, of own code, and a game cut short."""

from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.llm.completion import Completion, Provenance, Request
from calbench.llm.model import Endpoint
from calbench.runs.play import execute
from calbench.scenarios.storage import published_suite, write_suite
from calbench.submissions.prepare import prepare
from tests.cli.recording import STAND_IN, failing_after, spoken
from tests.sharing import once, shared_folder
from tests.submissions.forging import COHORT, SAID

FEW = ("analysis.permutations=99", "preflight=false", "jobs=1", "judge=null", "facts=scores")

RECORDED = (
    "+experiment=delegates",
    "subset=2",
    "teams=[qwen-large,imap]",
    f"replies.path={COHORT}",
)
"""Two games of a recorded model on the first two scenarios of a published suite, beside IMAP's."""

OWN = (
    "subset=1",
    "+teams.mine={players: {mine: {agent: 'tests.submissions.own_agents:Quiet'}}, seats: [mine]}",
    "teams=[]",
)

ASKED = ("subset=2", "teams=[my-model]", *STAND_IN, "games_at_once=1")


async def saying_who(request: Request, _endpoint: Endpoint) -> Completion:
    """Answer as a model whose server says that it is the one that was asked."""
    completion = await spoken(request)
    said = Provenance(id="r", model="stand-in", address="loopback")
    return Completion(text=completion.text, usage=completion.usage, provenance=said)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a folder with runs in ``runs`` and their submissions, which nobody changes."""
    root = shared_folder(tmp_path_factory, worker_id, "submissions")
    once(root, lambda: _make(root))
    return root


def _make(root: Path) -> None:
    runs = root / "runs"
    write_suite(root / "suite.jsonl", published_suite("smollm2"))
    few = (f"suite.path={root / 'suite.jsonl'}", *FEW)
    execute(compose([*RECORDED, *few, f"out={runs / 'recorded'}"]))
    prepare(runs / "recorded", root / "honest", SAID, replies=COHORT)
    execute(compose([*OWN, *few, f"out={runs / 'own'}"]))
    prepare(runs / "own", root / "own", {**SAID, "says_model": "some/model"})
    prepare(runs / "own", root / "sourced", SAID, with_source=True)
    execute(compose([*ASKED, *few, f"out={runs / 'asked'}"]), saying_who)
    prepare(runs / "asked", root / "asked", SAID)
    execute(compose([*ASKED, *few, f"out={runs / 'cut'}"]), failing_after(30, saying_who))
    prepare(runs / "cut", root / "cut", SAID)
    execute(compose([*ASKED, *few, f"out={runs / 'mute'}"]), failing_after(0))
    prepare(runs / "mute", root / "mute", SAID)
    gone = [each.replace("Quiet", "Gone") for each in OWN]
    execute(compose([*gone, *few, f"out={runs / 'gone'}"]))
    prepare(runs / "gone", root / "gone", SAID)
