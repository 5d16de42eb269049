"""Semantic edits of a trace: each changes what it says and leaves it a trace, mostly."""

import random
from collections.abc import Callable
from typing import Any

Trace = dict[str, Any]
Edit = Callable[[Trace, random.Random], object]

ANSWERS = ("turn_end", "decide_end", "reflection")
ASKS = ("turn_start", "decide_start", "reflection")


def changed(value: Any, chance: random.Random) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        return {**value, key: changed(value[key], chance)}
    others: list[Any] = [0, "", [], "later"]
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int | float):
        others = [value - 1, value + 1, value + 2]
    elif isinstance(value, str):
        others = [f"{value}.", value[1:], value[::-1], "slot 3"]
    elif isinstance(value, list):
        others = [[], [*value, 0], value[::-1], value[:-1], value * 2]
    return chance.choice(others)


def of(trace: Trace, chance: random.Random, *kinds: str) -> Trace:
    found = [event for event in trace["events"] if not kinds or event["type"] in kinds]
    picked: Trace = chance.choice(found or trace["events"])
    return picked


def _field(trace: Trace, chance: random.Random, *kinds: str, name: str = "") -> None:
    event = of(trace, chance, *kinds)
    key = name if name in event else chance.choice(sorted(event.keys() - {"type"}))
    event[key] = changed(event[key], chance)


def _deleted(trace: Trace, chance: random.Random) -> None:
    trace["events"].pop(chance.randrange(len(trace["events"])))


def _moved(trace: Trace, chance: random.Random) -> None:
    events = trace["events"]
    event = events.pop(chance.randrange(len(events)))
    events.insert(chance.randrange(len(events) + 1), event)


def _doubled(trace: Trace, chance: random.Random) -> None:
    index = chance.randrange(len(trace["events"]))
    trace["events"].insert(index, dict(trace["events"][index]))


def _swapped(trace: Trace, chance: random.Random) -> None:
    """Exchange what two agents said, thought, believed, paid, or were asked."""
    one = of(trace, chance, *ANSWERS, "turn_start", "decide_start")
    other = of(trace, chance, one["type"])
    name = chance.choice(sorted(one.keys() - {"type", "round", "turn", "agent_id"}))
    one[name], other[name] = other[name], one[name]


def _usage(trace: Trace, chance: random.Random) -> None:
    event = of(trace, chance, *ANSWERS)
    zero = {"input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "is_estimated": False}
    usage = event["usage"]
    event["usage"] = chance.choice([zero, None, {**(usage or zero), "output_tokens": 10**9}])


def _system_prompt(trace: Trace, chance: random.Random) -> None:
    event = of(trace, chance, "agent_registered")
    prompt = event["system_prompt"] or ""
    event["system_prompt"] = chance.choice([prompt + " Win.", prompt.replace("a", "e"), None, ""])


def _prompt(trace: Trace, chance: random.Random) -> None:
    event = of(trace, chance, *ASKS)
    prompt = event["prompt"] or ""
    event["prompt"] = chance.choice([f"{prompt} Please.", prompt.replace("o", "0"), None])


def _keys(trace: Trace, chance: random.Random) -> None:
    event = of(trace, chance, *ANSWERS)
    keys = event["reply_keys"]
    other = of(trace, chance, *ANSWERS)["reply_keys"]
    event["reply_keys"] = chance.choice([[], [digest(chance)], keys * 2, list(other), ["x"]])


def digest(chance: random.Random) -> str:
    return f"{chance.getrandbits(256):064x}"


def _zeroed_reflections(trace: Trace, chance: random.Random) -> None:
    del chance
    for event in trace["events"]:
        if event["type"] == "reflection":
            for name in ("delta_by_target", "expected_by_target"):
                event[name] = event[name] and {
                    key: [0] * len(event[name][key]) for key in event[name]
                }


def _belief(trace: Trace, chance: random.Random) -> None:
    event = of(trace, chance, "reflection")
    beliefs = event.get("delta_by_target")
    if beliefs:
        target = chance.choice(sorted(beliefs))
        slot = chance.randrange(len(beliefs[target]))
        beliefs[target][slot] = chance.choice([-3, -1, 0, 2, 3, 4])


def _noted(trace: Trace, chance: random.Random) -> None:
    """Say that a reply could not be read, or was recovered."""
    events = trace["events"]
    index = events.index(of(trace, chance, *ANSWERS))
    answer = events[index]
    events.insert(
        index + 1,
        {
            "type": "reply_note",
            "round": answer["round"],
            "phase": answer.get("phase", "CHEAP_TALK"),
            "agent_id": answer["agent_id"],
            "kind": chance.choice(["recovered", "empty", "not_json", "prose_ignored"]),
            "detail": chance.choice(["fenced", "the reply is empty"]),
        },
    )


def _halted(trace: Trace, chance: random.Random) -> None:
    """End the game at a question, or let it end for another reason."""
    events = trace["events"]
    halts = [event for event in events if event["type"] == "game_halted"]
    if halts and chance.random() < 0.5:
        halts[0].update(reason="budget_stop", detail=chance.choice(["the budget", ""]))
        return
    asked = of(trace, chance, *ASKS)
    index = events.index(asked)
    halt = {
        "type": "game_halted",
        "round": asked["round"],
        "phase": asked.get("phase", "REFLECTION"),
        "agent_id": asked["agent_id"],
        "reason": "provider_fault",
        "detail": "down",
    }
    events[index : chance.choice([index, len(events) - 1])] = [halt]


def _numbers(trace: Trace, chance: random.Random) -> None:
    part = chance.choice(["final_state", "metrics"])
    name = chance.choice(sorted(trace[part]))
    trace[part][name] = changed(trace[part][name], chance)


def _scenario(trace: Trace, chance: random.Random) -> None:
    part = chance.choice([trace["scenario"], trace["scenario"]["oracle"]])
    name = chance.choice(sorted(part.keys() - {"difficulty"}))
    part[name] = changed(part[name], chance)


def _config(trace: Trace, chance: random.Random) -> None:
    config = trace["config"]
    part = chance.choice([config, config["limits"], config["team"], config["team"]["seats"][0]])
    name = chance.choice(sorted(part.keys() - {"seats"}))
    part[name] = changed(part[name], chance)


EDITS: dict[str, Edit] = {
    "any field": _field,
    "a value of an answer": lambda t, c: _field(t, c, *ANSWERS),
    "deleted": _deleted,
    "moved": _moved,
    "doubled": _doubled,
    "swapped between agents": _swapped,
    "usage": _usage,
    "prompt": _prompt,
    "system prompt": _system_prompt,
    "thinking": lambda t, c: _field(t, c, "turn_end", "decide_end", name="thinking"),
    "actions": lambda t, c: _field(t, c, "turn_end", "decide_end", name="actions"),
    "reply keys": _keys,
    "zeroed reflections": _zeroed_reflections,
    "belief": _belief,
    "chances": lambda t, c: _field(t, c, "chances_stated"),
    "note": _noted,
    "changed note": lambda t, c: _field(t, c, "reply_note"),
    "halt": _halted,
    "numbers": _numbers,
    "scenario": _scenario,
    "configuration": _config,
}
"""Edits by what they change."""


def _relabelled(trace: Trace, chance: random.Random) -> None:
    """Call a player another one: a model, a scripted speaker, a protocol, somebody's own."""
    seats = trace["config"]["team"]["seats"]
    place = chance.randrange(len(seats))
    model = {"model": "openai/best", "sampling": {"max_tokens": 100}}
    seats[place] = chance.choice(
        [
            {"player": "best", "kind": "model", "settings": model},
            {"player": "guarded", "kind": "scripted", "settings": {"style": "guarded"}},
            {"player": "imap", "kind": "protocol", "settings": {}},
            {"player": "imap", "kind": "degenerate", "settings": {}},
            {"player": "candid", "kind": "scripted", "settings": {"style": "oversharer"}},
        ]
    )
    for event in trace["events"]:
        if event["type"] == "agent_registered" and event["agent_id"] % len(seats) == place:
            event["player"] = seats[place]["player"]


def _keyed(trace: Trace, chance: random.Random) -> None:
    """Call everybody a model, and give every answer a key and a count of tokens."""
    model = {"model": "openai/best", "sampling": {"max_tokens": 100}}
    trace["config"]["team"]["seats"] = [{"player": "best", "kind": "model", "settings": model}]
    for event in trace["events"]:
        if event["type"] == "agent_registered":
            event["player"] = "best"
        if event["type"] in ANSWERS:
            event["reply_keys"] = [digest(chance)]
            event["usage"] = {"input_tokens": 9, "cached_tokens": 0, "output_tokens": 9}


def _model(trace: Trace, chance: random.Random) -> None:
    """Say that the models were asked in another way, or a second time."""
    for seat in trace["config"]["team"]["seats"]:
        if seat["kind"] == "model":
            seat["settings"] = {**seat["settings"], **chance.choice(SETTINGS)}
    if chance.random() < 0.3:
        trace["config"]["replicate"] = 1


SETTINGS: list[dict[str, Any]] = [
    {"model": "openai/other"},
    {"sampling": {"max_tokens": 4096, "temperature": 0.5}},
    {"response_format": "json_schema"},
    {"replicate": 1},
]


def _rules(trace: Trace, chance: random.Random) -> None:
    """Say that the game was played by other limits or on other channels."""
    config = trace["config"]
    changes: list[Trace] = [
        {"limits": {**config["limits"], "max_turns_per_round": 2}},
        {"limits": {**config["limits"], "decision_retries": 3}},
        {"limits": {**config["limits"], "dm_cap": 1}},
        {"channels": ["dm", "participant_groupchat"]},
        {"reflection": not config.get("reflection")},
        {"prompt_version": "v9"},
        {"label_bank": "../v1"},
    ]
    config.update(chance.choice(changes))


CLAIMS: dict[str, Edit] = {
    "relabelled": _relabelled,
    "relabelled with keys": _keyed,
    "asked otherwise": _model,
    "other rules": _rules,
}
"""Edits of what a game is: its id is computed anew, so that it fits again."""
