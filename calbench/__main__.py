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
  python -m calbench.verify PATH...

Choices:
  +experiment=  {experiments}
  suite=        {suites}
  channels=     {channels}
  teams=        {teams}

Often changed (all of it stands in conf/):
  out=DIR                       folder of traces and tables; a run goes on where it was
  jobs=N                        processes to play in (1)
  suite.path=FILE.jsonl         play anyone's suite file
  suite.seed=N                  another draw of the suite (0)
  limits.max_turns_per_round=N  sweeps of talk in a round (15)
  --cfg job                     print the composed configuration and stop
  --version                     versions of package, file formats and rules
"""

STOPPED = "Stopped before a game was played; the same command starts again"


def main() -> None:
    """Answer quick questions, or hand over to Hydra."""
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        print(_help(), end="")
        return
    if "--version" in arguments:
        print(_versions())
        return
    try:
        from calbench.command import launch
        from calbench.console import ending_on_interrupt
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        sys.exit(130)
    with ending_on_interrupt(lambda: STOPPED):
        launch()


def _help() -> str:
    def names(group: str) -> str:
        return ", ".join(sorted(path.stem for path in (CONF / group).glob("*.yaml")))

    return HELP.format(
        experiments=names("experiment"),
        suites=names("suite"),
        channels=names("channels"),
        teams=names("team"),
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
