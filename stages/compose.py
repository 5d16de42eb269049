"""conf/ -> build/<experiment>/params.yaml: the configuration, resolved and typed."""

from calbench.config.composition import compose
from calbench.config.spec import write_params
from stages import paths


def main(experiments: list[str]) -> None:
    """Compose each experiment named."""
    for experiment in experiments:
        write_params(paths.params(experiment), compose([f"+experiment={experiment}"]))


if __name__ == "__main__":
    paths.answer(main)
