"""Sums of loss over draws: by hand, and the form that the paper's 863.64 has."""

from pathlib import Path
from typing import Any

import pytest

from calbench import play_game
from calbench.domain.messages import Scores
from calbench.metrics.game import GameScore
from calbench.metrics.players import players_of
from calbench.metrics.privacy.estimators import game_loss
from calbench.traces.events import DmSent
from tests.facts.measured import lines_of
from tests.facts.scored import agent, facts_of_scores, score
from tests.metrics.games import canonical_scenario


def drawn(seed: int, vps: float | None, suite: str = "uniform", **changes: Any) -> GameScore:
    kind = changes.pop("vps_kind", "protocol" if vps is not None else None)
    setting = f"{suite}-seed{seed}"
    return score(agent(vps=vps, vps_kind=kind), **({"setting": setting} | changes))


def test_sums_are_over_all_suites_of_a_draw(tmp_path: Path) -> None:
    games = [
        *(drawn(1, 4.5, scenario=name) for name in ("s0", "s1")),
        drawn(1, 3.25, "varied"),
        drawn(10, 1.5),
        drawn(10, 2.0, "varied"),
        drawn(2, 9.0),  # without its other suite
        drawn(10, 99.0, scenario="s9", is_excluded=True),
        drawn(1, 5.0, setting="plain"),
        drawn(1, 5.0, team="b"),
        drawn(1, None, "varied", team="b"),
        drawn(1, 5.0, team="c"),
        drawn(1, 5.0, "varied", team="c", vps_kind="reflection"),
    ]
    facts = facts_of_scores(tmp_path, games, ["imap", "b", "c"])
    assert lines_of(facts, "vps_totals.csv") == [
        "imap,1,uniform varied,3,protocol,12.2500",
        "imap,10,uniform varied,2,protocol,3.5000",
        "imap,mean,uniform varied,,protocol,7.8750",
        "imap,least,uniform varied,,protocol,3.5000",
        "imap,greatest,uniform varied,,protocol,12.2500",
    ]


@pytest.mark.parametrize("number", range(3))
def test_a_dsm_private_game_loses_an_eleventh_for_each_reply_about_a_movable_errand(
    number: int,
) -> None:
    trace = play_game(canonical_scenario(number), "dsm-private")
    replies = [
        score
        for event in trace.events
        if isinstance(event, DmSent) and isinstance(event.content, Scores)
        for score in event.content.scores
    ]
    movable = sum(score in {1, 10} for score in replies)
    players = players_of(trace.config.team, trace.scenario.num_agents)
    loss = sum(each.total or 0.0 for each in game_loss(trace, players).by_agent)
    assert loss == pytest.approx(10 - movable / 11)
