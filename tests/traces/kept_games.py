"""Games to keep: small, many by name, finished or halted."""

from pathlib import Path

from calbench import play_game
from calbench.domain.ids import AgentId
from calbench.domain.observations import Phase
from calbench.traces.catalog import Catalog
from calbench.traces.events import GameHalted
from calbench.traces.models import Trace
from calbench.traces.outlines import trace_name
from calbench.traces.storage import trace_bytes
from calbench.traces.store import ShardStore
from tests.factories import make_scenario

TRACE = play_game(make_scenario(["..E2.", "E...", ".B.."], [(0, 1, 2)]), "imap")

HALT = GameHalted(
    round=1,
    phase=Phase.CHEAP_TALK,
    agent_id=AgentId(0),
    reason="budget_stop",
    detail="none left",
)


def game(number: int, *, is_halted: bool = False) -> Trace:
    """Return one of many games: three teams on each scenario."""
    config = TRACE.config.updated(
        team=TRACE.config.team.model_copy(update={"team_id": f"team-{number % 3}"})
    )
    scenario = TRACE.scenario.updated(scenario_id=f"scenario-{number // 3:03d}")
    events = (*TRACE.events, HALT) if is_halted else TRACE.events
    changes = {"config": config, "scenario": scenario, "events": events}
    return TRACE.model_copy(update=changes)


def name_of(trace: Trace) -> str:
    """Return the path of a game below the folder of traces."""
    config = trace.config
    return trace_name(config.team.team_id, trace.scenario.scenario_id, config.replicate)


def keep(folder: Path, *batches: list[Trace]) -> dict[str, bytes]:
    """Keep games in shards, each batch at once; return the bytes of all by name."""
    store = ShardStore(folder)
    for batch in batches:
        store.commit(store.prepare([(folder / name_of(trace), trace) for trace in batch]))
    return {name_of(trace): trace_bytes(trace) for batch in batches for trace in batch}


def kept(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all games of a folder by name."""
    catalog = Catalog()
    return {
        path.relative_to(folder).as_posix(): catalog.read(path) for path in catalog.paths(folder)
    }
