"""``python -m calbench`` is ``calbench``."""

from calbench.cli.main import main

if __name__ == "__main__":
    main()
