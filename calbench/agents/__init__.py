"""Players that may wait: language models, and scripted speakers in their place.

Blind like protocols: an agent is handed its briefing and its observations, nothing else.
"""
