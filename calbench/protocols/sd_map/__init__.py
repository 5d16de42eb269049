"""SD-MAP: binary proposals, bumping by scheduling difficulty, repair (paper, appendix D.2)."""
