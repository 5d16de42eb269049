"""The release in ``data/release``, and its comparison with what was computed."""
