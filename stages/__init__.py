"""Thin commands, one per stage of ``dvc.yaml``. Each names its experiment as its argument."""
