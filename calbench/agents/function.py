"""A completion function: the user's own source of text behind the released prompts."""

import inspect
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Protocol

from calbench.agents.blame import blaming
from calbench.agents.completer import CallSite
from calbench.agents.own import name_of
from calbench.errors import AgentError
from calbench.llm.completion import Completion, ModelSpec, Request
from calbench.llm.prices import estimated_usage

FUNCTION_SPEC: Final = ModelSpec(model="completion-function")
"""The model in a request to a function, which may itself ask any model or none."""


class CompletionFunction(Protocol):
    """A conversation in, the text of the next reply out, at once or later."""

    def __call__(self, messages: list[dict[str, str]], /) -> str | Awaitable[str]:
        """Return the reply to messages of ``role`` (system, user, assistant) and ``content``."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionCompleter:
    """Asks a function for every completion; its tokens are estimated from the texts."""

    function: CompletionFunction

    async def complete(self, request: Request, site: CallSite) -> Completion:
        """Call the function with the conversation, and wait if it asks to.

        Raises:
            AgentError: if it raises, or does not return a text.
            UnavailableError: if it says so; the game ends there, unscored.
        """
        place = f"agent {site.agent_id}, round {site.round_index}, {site.phase}"
        name = name_of(self.function)
        # New objects each time: the function may change them.
        messages = [message._asdict() for message in request.messages]
        with blaming(place, name):
            text: object = self.function(messages)
            if inspect.isawaitable(text):
                text = await text
        if not isinstance(text, str):
            raise AgentError(
                place, f"{name} returned {type(text).__name__}; return the text of the reply"
            )
        return Completion(text=text, finish_reason="stop", usage=estimated_usage(request, text))
