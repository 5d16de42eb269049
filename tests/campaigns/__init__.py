"""Seeded attacks: a tenth of each on a push; `CALBENCH_CAMPAIGN=10` plays ten times the whole."""
