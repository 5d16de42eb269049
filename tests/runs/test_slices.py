"""Teams of one name in several runs: one name means one team, whatever the order of the runs."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import FileError
from calbench.runs import slices
from calbench.runs.recorded import RecordedGame
from calbench.runs.slices import pooled, told_apart
from calbench.tree import DATA

RULES = {"channels": ["dm"], "limits": {"dm_cap": 40}}


def seat(player: str, **settings: object) -> dict[str, object]:
    return {"player": player, "kind": "model", "settings": {"model": player, **settings}}


def game(
    run: str, team: str, scenario: str, *seats: dict[str, object], **rules: object
) -> RecordedGame:
    return RecordedGame(
        setting="uniform",
        team_id=team,
        scenario_id=scenario,
        scenario_digest=scenario,
        lineup=json.dumps({"rotation": True, "seats": list(seats)}),
        rules=json.dumps(RULES | rules),
        file=f"{run}/traces/{team}/{scenario}.json",
        seconds=0.01,
    )


GAMES = st.lists(
    st.builds(
        lambda run, team, scenario, player, cap: game(
            run, team, scenario, seat(player), seat("b"), limits={"dm_cap": cap}
        ),
        st.sampled_from(["x", "y", "z/x"]),
        st.sampled_from(["mixed", "mixed.x"]),
        st.sampled_from(["s1", "s2"]),
        st.sampled_from(["a", "c"]),
        st.sampled_from([40, 41]),
    ),
    unique_by=lambda game: game.file,
    max_size=6,
)


def meanings(games: list[RecordedGame]) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for each in games:
        found.setdefault(each.team_id, set()).add((each.lineup, each.rules))
    return found


@given(GAMES)
def test_one_name_means_one_team_in_any_order_or_the_runs_are_refused(
    games: list[RecordedGame],
) -> None:
    other = sorted(games, key=lambda each: each.file[::-1])
    with patch.object(slices, "_renamed", lambda game, _folder: game):
        try:
            found, lines = told_apart(games, Path("nowhere"))
        except FileError:
            with pytest.raises(FileError):
                told_apart(other, Path("nowhere"))
            return
        again, same = told_apart(other, Path("nowhere"))
    assert all(len(own) == 1 for own in meanings(found).values())
    assert lines == same
    assert sorted(each.file for each in found) == sorted(each.file for each in games)
    assert {each.file: each.team_id for each in found} == {
        each.file: each.team_id for each in again
    }
    clear = {team for team, own in meanings(games).items() if len(own) == 1}
    assert {e.team_id for e in found if e.team_id in clear} == clear
    assert len(lines) == len(meanings(games)) - len(clear)


def test_what_differs_is_named() -> None:
    games = [
        game("one", "mixed", "s1", seat("a"), seat("b")),
        game("two", "mixed", "s2", seat("a", seed=1), seat("b"), channels=["all_agent_groupchat"]),
    ]
    with patch.object(slices, "_renamed", lambda game, _folder: game):
        found, lines = told_apart(games, Path("nowhere"))
    (line,) = lines
    assert line.startswith("team mixed has other settings of players and channels in some runs: ")
    assert line.endswith("here it is mixed.one, mixed.two")
    several, over_all = pooled(found)
    assert several.startswith("2 players are called a, with other seed: each has a row")
    assert over_all.startswith("b played with other channels in some teams: its row in players")


def test_same_players_by_the_same_rules_need_no_word() -> None:
    games = [
        game("one", "first", "s1", seat("a"), seat("b")),
        game("two", "second", "s1", seat("b"), seat("c")),
    ]
    assert told_apart(games, Path("nowhere")) == (games, [])
    assert pooled(games) == []


def test_game_of_a_stranger_is_never_one_of_a_published_team(tmp_path: Path) -> None:
    published = [game(f"{DATA}/traces/varied", "imap", each, seat("imap")) for each in ("s1", "s2")]
    strange = game("theirs", "imap", "s3", seat("imap"))
    with patch.object(slices, "_renamed", lambda each, _: each):
        found, lines = told_apart([*published, strange], tmp_path)
        alone, none = told_apart(published, tmp_path)
    assert [each.team_id for each in found] == ["imap", "imap", "imap.theirs"]
    assert lines == ["team imap has other origin in some runs: here it is imap, imap.theirs"]
    assert [each.team_id for each in alone] == ["imap", "imap"]
    assert none == []
