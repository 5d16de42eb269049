"""Tests of what is published, and of what changed in it."""
