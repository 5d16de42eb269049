"""Players that may wait: language models, scripted speakers in their place, a user's own code.

Blind like protocols: an agent gets its briefing and its observations, nothing else.
"""
