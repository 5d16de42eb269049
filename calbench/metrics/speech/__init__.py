"""Audits of language: what messages tell apart from slots (paper, appendices G.5 and H)."""
