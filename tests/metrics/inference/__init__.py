"""Tests of the informed reader."""
