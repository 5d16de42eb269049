"""Scripted speakers: stand-ins for a language model that need no key [C].

They read the very prompts a model reads and write the very envelope, in plain English.
"""

from calbench.agents.scripted.speaker import GOALS, SCRIPTED_SPEC, scripted_speaker
from calbench.agents.scripted.talk import STYLES

__all__ = ["GOALS", "SCRIPTED_SPEC", "STYLES", "scripted_speaker"]
