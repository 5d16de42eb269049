"""Short campaigns of attacks, seeded; `CALBENCH_CAMPAIGN=10` plays ten times as many."""
