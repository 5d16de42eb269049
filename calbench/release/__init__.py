"""What is published in ``data/release``, and how it is compared with what was computed."""
