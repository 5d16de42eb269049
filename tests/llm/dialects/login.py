"""Stands in for Google's package `google-auth`, which is in no lock: a login that always works."""

import enum
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from tests.llm.dialects.dialect import KEY


class TokenState(enum.Enum):
    """How good a token is, as the package counts."""

    FRESH = 1
    STALE = 2
    INVALID = 3


class Credentials:
    """A login whose token is the key."""

    quota_project_id = "dry-run"
    expired = False
    valid = True
    token_state = TokenState.FRESH

    def __init__(self) -> None:
        self.token: str | None = None

    def refresh(self, _request: Any) -> None:
        """Fetch the token; the package would ask Google."""
        self.token = KEY


def _default(scopes: Sequence[str] = (), **_: Any) -> tuple[Credentials, str]:
    assert list(scopes) == ["https://www.googleapis.com/auth/cloud-platform"]
    return Credentials(), "dry-run"


Login = Callable[..., tuple[Credentials, str | None]]


def logged_in(monkeypatch: pytest.MonkeyPatch, default: Login = _default) -> None:
    """Put the stand-in where the package would be; ``default`` finds the login."""
    parts: dict[str, dict[str, Any]] = {
        "google": {},
        "google.auth": {"default": default},
        "google.auth.credentials": {"TokenState": TokenState, "Credentials": Credentials},
        "google.auth.transport": {},
        "google.auth.transport.requests": {"Request": object},
    }
    for name, members in parts.items():
        module = ModuleType(name)
        module.__path__ = []
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, child = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], child, module, raising=False)
