"""conf/ -> build/params/<experiment>.yaml: the configuration of every experiment on the site."""

import shutil

from calbench.config.composition import compose, composed
from calbench.config.groups import known_names
from calbench.config.spec import RunSpec, write_params
from calbench.errors import ConfigError
from stages import paths


def main(_: list[str]) -> None:
    """Compose every experiment that says what it is for on the site."""
    shutil.rmtree(paths.PARAMS, ignore_errors=True)
    for name in known_names("experiment"):
        if composed([f"+experiment={name}"]).site is not None:
            write_params(paths.params(name), whole(compose([f"+experiment={name}"])))


def whole(spec: RunSpec) -> RunSpec:
    """Return an experiment of the site, which plays its whole suite once.

    Raises:
        ConfigError: it would play a part of it, or replicates.
    """
    for key, is_set in (("subset", spec.subset is not None), ("replicates", spec.replicates > 1)):
        if is_set:
            raise ConfigError(
                f"conf/experiment/{spec.name}.yaml: {key} is for runs of your own; leave it out of "
                "an experiment of the site"
            )
    return spec


if __name__ == "__main__":
    paths.answer(main)
