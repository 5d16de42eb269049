"""A model as judge: it is asked once, and what its answers are worth is computed by hand here."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.agents.judging import JudgeCase
from calbench.domain.ids import AgentId, MeetingId
from calbench.domain.messages import Message, Text
from calbench.errors import CalbenchError
from calbench.llm.replies.shards import open_replies
from calbench.metrics.judge.cases import RoundCase, Verdict
from calbench.runs.source import auditing_spec
from tests.llm.stub_server import Answer, Asked, StubServer, chat, served
from tests.studies import judge
from tests.studies.judge import DRAWN, REPLIES, SETTINGS, TABLE, Heard, asked, drawn, record
from tests.studies.judge_agreement import Judged, table
from tests.studies.record_local import replaying


def case(text: str, game: str = "game", number: int = 0) -> RoundCase:
    """Agent 1 tells agent 0; slots 1 and 2 of agent 1 are taken, and slot 0 of agent 2."""
    message = Message(AgentId(1), (AgentId(0),), "dm", MeetingId(1), Text(text=text))
    agents = tuple(map(AgentId, range(3)))
    found = JudgeCase(agents[0], agents, 4, MeetingId(1), agents[:2], (message,))
    taken = ((False,) * 4, (False, True, True, False), (True, False, False, False))
    return RoundCase(game, number, found, taken)


TOLD = "Slot 1 is impossible for me. Slot 3 is free for me."
"""The rules answer 0, 3, 0, -3 about agent 1 and nothing about agent 2."""


def verdict(found: RoundCase, *deltas: tuple[int, ...]) -> Verdict:
    by_target = dict(zip(map(AgentId, (1, 2)), deltas, strict=True)) if deltas else None
    return Verdict(found, by_target, None if deltas else "no_json", None, "key")


def test_draw_is_the_same_in_every_order_and_asks_nothing_twice() -> None:
    found = [
        Heard("model", "s", case(f"text {number % 30}", f"game {number}")) for number in range(60)
    ]
    some = drawn(found, 20, "name")
    assert some == drawn(found[::-1], 20, "name")
    assert len({each.case.case for each in some}) == 20
    assert some != drawn(found, 20, "another")


def rows(judged: list[Judged]) -> dict[tuple[str, str], Mapping[Any, Any]]:
    return {(row["messages_of"], row["about"]): row for row in table(judged).to_dict("records")}


def test_numbers_by_hand() -> None:
    found = rows(
        [
            Judged("scripted", "a", verdict(case(TOLD), (0, 2, 1, 1), (0, 0, 0, 0))),
            Judged("model", "b", verdict(case(TOLD), (0, 3, 0, -3), (0, 0, -3, 0))),
            Judged("model", "b", verdict(case(TOLD))),
        ]
    )
    kinds = ("all", "scripted", "model")
    assert [*found] == [(kind, about) for kind in kinds for about in ("others", "senders")]
    assert [*found["all", "others"]] == [*pd.read_csv(TABLE).columns]
    counts = ("scenarios", "cases", "unread", "cells")
    assert [found["all", "others"][name] for name in counts] == [2, 3, 1, 16]
    assert [found["model", "senders"][name] for name in counts] == [1, 2, 1, 4]

    row = found["scripted", "senders"]  # signs of the rules are 0 + 0 -, of the model 0 + + +
    assert (row["same"], row["direction"], row["occupied_share"]) == (0.5, 0.5, 0.5)
    assert row["kappa"] == pytest.approx((2 / 4 - 5 / 16) / (1 - 5 / 16))
    assert (row["rules_moved_share"], row["model_moved_share"]) == (0.5, 0.75)
    assert (row["rules_mean"], row["model_mean"]) == (0, 1)
    assert (row["rules_toward_share"], row["model_toward_share"]) == (1, 2 / 3)
    # All 6 steps of the rules are right, by chance 3; 3 of 4 of the model's, by chance 2.
    assert row["rules_beyond_chance"] == pytest.approx(1)
    assert row["model_beyond_chance"] == pytest.approx(1 / 3)

    row = found["model", "others"]
    assert (row["same"], row["direction"]) == (7 / 8, 1)
    assert row["model_beyond_chance"] == pytest.approx((9 - (3 * 3 + 6 * 5) / 8) / 3)


def test_interval_is_over_scenarios_and_absent_where_they_are_few() -> None:
    def row(scenarios: int) -> Mapping[Any, Any]:
        answers = [(0, 2, 1, 1), (0, 3, 0, -3), (1, 1, 0, 0)]
        found = [
            Judged("model", f"s{at % scenarios}", verdict(case(TOLD), answers[at % 3], (0,) * 4))
            for at in range(40)
        ]
        return rows(found)["model", "others"]

    many, few = row(20), row(9)
    assert many["kappa_low"] < many["kappa"] < many["kappa_high"]
    assert many["kappa"] == few["kappa"]
    assert pd.isna([few[name] for name in ("kappa_low", "same_high", "direction_low")]).all()


def test_nothing_that_could_be_read_is_no_number() -> None:
    found = rows([Judged("model", "a", verdict(case(TOLD)))])
    assert (found["all", "others"]["unread"], found["all", "others"]["cells"]) == (1, 0)
    assert found["scripted", "senders"]["cases"] == 0


class Outsider(StubServer):
    """Finds slot 0 of everybody occupied, and after so many answers breaks off."""

    whole = 100

    def answer_to(self, asked: Asked) -> Answer:
        if len(self.asked) >= self.whole:
            return Answer(status=400)
        (question,) = asked.body["messages"]
        others = re.search(r"^Other agents: (.*)$", question["content"], re.MULTILINE)
        assert others is not None
        assert asked.body["max_tokens"] == 512
        assert "beliefs" in str(asked.body["response_format"])
        beliefs = {other: [3, 0, 0, 0] for other in others[1].split(", ")}
        return Answer(chat(json.dumps({"beliefs": beliefs})))


@pytest.mark.heavy
def test_cases_are_asked_once_and_read_again_without_a_model(tmp_path: Path) -> None:
    cases = [case(f"Slot {number} is free for me.", number=number) for number in range(4)]
    store, target = tmp_path / "store.sqlite", tmp_path / "replies"
    server = Outsider()
    server.whole = 2
    with served(server), pytest.raises(CalbenchError, match="2 of 4 cases are judged"):
        record(cases, server.url, store, target, 1)
    assert not target.exists()
    server = Outsider()
    with served(server):
        record(cases, server.url, store, target, 2)
    assert len(server.asked) == 2
    with open_replies(target) as replies:
        assert replies.count() == 4
    replayed = replaying(auditing_spec(SETTINGS), target)
    found = [each.delta_by_target for each in asked(cases, replayed)]
    assert found == [dict.fromkeys((AgentId(1), AgentId(2)), (3, 0, 0, 0))] * 4

    store.unlink()  # as after a whole recording
    cases = [*cases[1:], case("Slot 1 is hard for me.")]
    server = Outsider()
    with served(server):
        record(cases, server.url, store, target, 2)
    assert len(server.asked) == 1
    with open_replies(target) as replies:
        assert replies.count() == 4, "what the draw left out is gone"
    with pytest.raises(CalbenchError, match="judge --file FILE"):
        asked([case("New.")], replayed)


@pytest.mark.heavy
@pytest.mark.skipif(not REPLIES.is_dir(), reason="no model has judged yet: --file of the study")
def test_published_table_follows_from_the_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = pd.read_csv(TABLE)
    monkeypatch.setattr(judge, "TABLE", tmp_path / "judge.csv")
    judge.main([])
    pd.testing.assert_frame_equal(pd.read_csv(judge.TABLE), kept, atol=2e-4)
    drawn_cases = kept[kept["messages_of"] == "all"]["cases"]
    assert set(drawn_cases) == {sum(DRAWN.values())}
