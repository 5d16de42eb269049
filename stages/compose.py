"""conf/ -> build/params/<experiment>.yaml: the configuration of every experiment on the site."""

import shutil

from calbench.config.composition import compose, composed
from calbench.config.groups import known_names
from calbench.config.spec import write_params
from stages import paths


def main(_: list[str]) -> None:
    """Compose every experiment that says what it is for on the site."""
    shutil.rmtree(paths.PARAMS, ignore_errors=True)
    for name in known_names("experiment"):
        if composed([f"+experiment={name}"]).site is not None:
            write_params(paths.params(name), compose([f"+experiment={name}"]))


if __name__ == "__main__":
    paths.answer(main)
