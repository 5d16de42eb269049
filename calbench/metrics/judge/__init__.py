"""The judge audit: what an outside reader learns from delivered messages (paper, appendix I)."""
