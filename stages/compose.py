"""conf/ -> build/params/<experiment>.yaml: the configuration of every experiment on the site.

The same by stage is in build/parts/<stage>.yaml, on which the stages depend.
"""

import shutil

from calbench.config.composition import composed, run_spec
from calbench.config.groups import known_names
from calbench.config.spec import RunSpec, write_params
from calbench.errors import ConfigError
from stages import paths
from stages.parts import write_parts


def main(_: list[str]) -> None:
    """Compose every experiment that says what it is for on the site."""
    shutil.rmtree(paths.PARAMS, ignore_errors=True)
    found = [composed([f"+experiment={name}"]) for name in known_names("experiment")]
    specs = [whole(run_spec(each)) for each in found if each.site is not None]
    for spec in specs:
        write_params(paths.params(spec.name), spec)
    write_parts(specs)


def whole(spec: RunSpec) -> RunSpec:
    """Return an experiment of the site, which plays its whole suite.

    Raises:
        ConfigError: it would play a part of it.
    """
    if spec.subset is not None:
        raise ConfigError(
            f"conf/experiment/{spec.name}.yaml: subset is for runs of your own; leave it out of "
            "an experiment of the site"
        )
    return spec


if __name__ == "__main__":
    paths.answer(main)
