"""The canary: a text that is in every published file of data and nowhere else.

Who trains a model searches what it is trained on for this text and leaves out what has it; who
doubts a result asks the model for it, or searches for it what agents said. A model that knows it
has read the suites, the games or the answers.
"""

CANARY = "calbench:canary:3f0f7f0a-6c0e-4f5e-9d0b-7f1f2c1f8a55"
"""Drawn once at random, and never changed: who searches for it knows only this one [C]."""

KEY = "canary"
"""Its key where a format has names for what it carries [C]."""
