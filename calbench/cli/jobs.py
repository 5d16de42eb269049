"""The runs of a command line, composed by Hydra: one, or with ``-m`` several."""

import os
import sys
from collections.abc import Callable, Sequence

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig

from calbench.config.composition import check_choices, refusal, run_spec
from calbench.config.spec import RunSpec
from calbench.errors import CalbenchError
from calbench.tree import CONF

os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises its errors; we print them in one line


class _RefusedError(BaseException):
    """Ends Hydra's jobs without the line that it prints about an error."""


def for_each_job(
    arguments: Sequence[str], overrides: Sequence[str], task: Callable[[RunSpec], int]
) -> int:
    """Call a task with each run of a command line; return the highest status.

    Args:
        arguments: as written, with options of Hydra.
        overrides: those among them that change the configuration.
        task: what to do with a run; returns a status.

    Raises:
        CalbenchError: one line about what is wrong; later runs are not started.
    """
    check_choices(overrides)
    statuses = [0]
    refused: list[CalbenchError] = []

    def job(config: DictConfig) -> None:
        try:
            statuses.append(task(run_spec(config)))
        except CalbenchError as error:
            refused.append(error)
            raise _RefusedError from error

    before, sys.argv = sys.argv, [sys.argv[0], *arguments]
    try:
        hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")(job)()
    except HydraException as error:
        raise refusal(error) from error
    except _RefusedError:
        pass  # raised below, where its own cause is kept: a traceback of the user's code
    finally:
        sys.argv = before
    if refused:
        raise refused[0]
    return max(statuses)
