"""Reference protocols: pure policies from an observation to a turn (paper, appendix D).

Blind by import contract: nothing here imports the engine, traces or scenarios. The transcript in
the observation is a protocol's only memory.
"""
