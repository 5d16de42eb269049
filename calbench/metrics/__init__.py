"""One game in numbers: outcomes, costs, talk, fairness and privacy (paper, section 3).

Everything is computed from a trace's events and speech acts, never from its stored numbers.
"""
