"""Manners of speakers that err: what each of them does beside its talk, by seeded chance [C]."""
