"""From ``conf/`` to typed runs: with ``cli``, the only package that knows Hydra and OmegaConf."""
