"""Audits of language: what messages told beside slots (paper, appendix G.5 and H)."""
