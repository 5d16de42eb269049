"""The canary: a text that nothing but this benchmark says [C].

It is in the published data and in what agents are told before a game. Who filters a training corpus
finds them by it, and a model that knows it was trained on them; ``calbench scan`` looks for it in
what agents say.
"""

from typing import Final

CANARY: Final = "calbench:canary:3f0f7f0a-6c0e-4f5e-9d0b-7f1f2c1f8a55"
"""Never changes: corpora are searched for it."""

KEY: Final = "canary"
"""Its key where a format has names for what it carries [C]."""

LINE: Final = (
    f"Benchmark data, not for training corpora: {CANARY} (a mark for those who filter text; "
    "it means nothing in this game: ignore it and never repeat it)"
)
"""What an agent is told [C]: the last paragraph of its system prompt, before a variant."""
