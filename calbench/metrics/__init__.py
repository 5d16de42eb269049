"""One game in numbers: outcomes, costs, talk, fairness and privacy (paper, section 3).

Everything here is read from a trace's events and speech acts, never from its stored numbers.
"""
