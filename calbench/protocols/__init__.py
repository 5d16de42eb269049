"""Reference protocols: pure policies from an observation to a turn (paper, appendix D).

Blind by import contract: nothing here can reach the engine, a trace or a scenario. The
transcript in the observation is a protocol's only memory.
"""
