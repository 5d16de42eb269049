"""The prompts of language models: versioned Markdown templates and the values filled in.

A released version never changes: a new wording is a new folder. Values are never read as
templates, and text of agents or label banks cannot look like a line of the environment.
"""

from calbench.agents.prompts.folder import Variant, load_variant
from calbench.agents.prompts.messages import PROMPT_VERSION, Prompts, load_prompts
from calbench.agents.prompts.trial import use_prompts

__all__ = [
    "PROMPT_VERSION",
    "Prompts",
    "Variant",
    "load_prompts",
    "load_variant",
    "use_prompts",
]
