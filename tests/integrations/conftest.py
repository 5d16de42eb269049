"""The small suite and the finished run of the commands' tests."""

from tests.cli.conftest import finished, scenarios, suite

__all__ = ["finished", "scenarios", "suite"]
