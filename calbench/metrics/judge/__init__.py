"""The judge audit: what an outside reader learns from delivered messages (appendix I)."""
