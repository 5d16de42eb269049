"""The command: ``python -m calbench [+experiment=NAME] [key=value ...]``.

``--help`` and ``--version`` are answered before anything heavy is imported.
"""

import sys
from pathlib import Path

from calbench import __version__

CONF = Path(__file__).resolve().parents[1] / "conf"

HELP = """\
Usage: python -m calbench [+experiment=NAME] [key=value ...]

Without arguments: a taste of a few seconds. Results go to build/runs/<experiment>.

  python -m calbench +experiment=varied
  python -m calbench +experiment=varied 'teams=[imap,tell-all]' out=DIR
  python -m calbench suite.path=FILE.jsonl 'teams=[imap]' limits.max_turns_per_round=4 out=DIR
  python -m calbench +experiment=uniform 'teams=[my-model]' model.name=NAME model.api_base=URL
  python -m calbench.estimate +experiment=uniform 'teams=[my-model]' model=gpt-5.4-mini
  python -m calbench.verify PATH...
  python -m calbench.rescore TRACES... out=DIR
  python -m calbench.compare RUN_A RUN_B
  python -m calbench.judge RUN out=DIR [model=ID]
  python -m calbench prove [PATH...]

Choices:
  +experiment=  {experiments}
  suite=        {suites}
  channels=     {channels}
  model=        {models}
  teams=        {teams}

Often changed (all of it stands in conf/):
  out=DIR                       folder of traces and tables; a run goes on where it was
  jobs=N                        processes to play in (1)
  suite.path=FILE.jsonl         play anyone's suite file
  suite.seed=N                  another draw of the suite (0)
  limits.max_turns_per_round=N  sweeps of talk in a round (15)
  budget.max_usd=N              cap on what models may cost, resumed parts included
  games_at_once=N               games with models in them, at the same time (16)
  --cfg job                     print the composed configuration and stop
  --version                     versions of package, file formats and rules
"""

GROUPS = ("experiment", "suite", "channels", "limits", "model", "measure", "analysis")
"""Groups of ``conf/`` from which a command line chooses a file."""

STOPPED = "Stopped before a game was played; the same command starts again"


def main() -> None:
    """Answer quick questions, or hand over to Hydra."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["prove"]:
        sys.exit(_prove(arguments[1:]))
    if {"-h", "--help"} & set(arguments):
        print(_help(), end="")
        return
    if "--version" in arguments:
        print(_versions())
        return
    unknown = _unknown_choice(arguments)
    if unknown is not None:
        print(f"error: {unknown}", file=sys.stderr)
        sys.exit(2)
    try:
        from calbench.command import launch
        from calbench.console import ending_on_interrupt
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        sys.exit(130)
    with ending_on_interrupt(lambda: STOPPED):
        launch()


def _prove(arguments: list[str]) -> int:
    from calbench.prove import main

    return main(arguments)


def _names(group: str) -> str:
    return ", ".join(sorted(path.stem for path in (CONF / group).glob("*.yaml")))


def _unknown_choice(arguments: list[str]) -> str | None:
    """Name a group's file that does not exist: Hydra answers some of them with a traceback."""
    if {"-m", "--multirun"} & set(arguments):
        return None  # a list of choices, which Hydra takes apart
    for argument in arguments:
        key, is_given, choice = argument.partition("=")
        group = key.removeprefix("+")
        if is_given and group in GROUPS and choice not in _names(group).split(", "):
            return f"{group}: there is no {choice!r}; known are {_names(group)}"
    return None


def _help() -> str:
    return HELP.format(
        experiments=_names("experiment"),
        suites=_names("suite"),
        channels=_names("channels"),
        models=_names("model"),
        teams=_names("team"),
    )


def _versions() -> str:
    from calbench.domain.rules import RULES_VERSION
    from calbench.metrics.measure import METRICS_VERSION
    from calbench.scenarios.models import SCHEMA_VERSION
    from calbench.traces.models import TRACE_SCHEMA_VERSION

    return (
        f"calbench {__version__} (suite schema {SCHEMA_VERSION}, trace schema "
        f"{TRACE_SCHEMA_VERSION}, rules {RULES_VERSION}, metrics {METRICS_VERSION})"
    )


if __name__ == "__main__":
    main()
