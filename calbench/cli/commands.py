"""Every command with its arguments and help; the module of its name does the work."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from calbench.cli.program import RAW, RUN, Keyed, Overriding, Program, Subcommands
from calbench.cli.words import Key, completed_override, read_words
from calbench.code import PACKAGE_VERSION
from calbench.errors import ConfigError

WORKERS = (
    Key("jobs=N", "workers (one for each processor, if there is enough to do)", is_setting=True),
    Key("executor=dask", "workers of a Dask cluster (processes)", is_setting=True),
    Key("executor.address=URL", "of a Dask cluster to join", is_setting=True),
)
"""Settings of the commands that have workers."""

SETTINGS = (
    Key("measure.KEY=VALUE", "settings of the metrics, e.g. measure.vps_floor=5", is_setting=True),
    Key("analysis=NAME", "settings of the estimates, from conf/analysis", is_setting=True),
    Key("analysis.KEY=VALUE", "or one by one: analysis.permutations=9999", is_setting=True),
)
"""Settings of the commands that measure games again."""


def _show_versions(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from calbench.domain.rules import RULES_VERSION
        from calbench.metrics.measure import METRICS_VERSION
        from calbench.scenarios.models import SCHEMA_VERSION
        from calbench.traces.models import TRACE_SCHEMA_VERSION

        click.echo(
            f"calbench {PACKAGE_VERSION} (suite schema {SCHEMA_VERSION}, trace schema "
            f"{TRACE_SCHEMA_VERSION}, rules {RULES_VERSION}, metrics {METRICS_VERSION})"
        )
        ctx.exit()


versions = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
    help="Versions of the package, its file formats and rules.",
)


ABOUT = """Play a suite with teams, and measure the games.

Without arguments: a short run of a few seconds. Results go to build/runs/EXPERIMENT.

\b
  calbench +experiment=varied
  calbench +experiment=varied 'teams=[imap,tell-all]' out=DIR
  calbench suite.path=FILE.jsonl 'teams=[imap]' limits.max_turns_per_round=4 out=DIR
  calbench scenario=large-20 protocol=dsm-private
  calbench suite=varied model.name=NAME model.api_base=URL
  calbench -m suite.seed=0,1,2
"""


@click.group(
    cls=Program,
    help=ABOUT,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@versions
def program() -> None:
    """Hold the subcommands."""


def _completed(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return completed_override(incomplete, ctx.params.get("overrides") or ())


def hydra_options(command: Callable[..., int]) -> Callable[..., int]:
    """Declare Hydra's options, for checks and completion."""
    infos = click.Choice(["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"])
    for option in reversed(
        (
            click.option("-m", "--multirun", is_flag=True, help="A run for each value of key=a,b."),
            click.option(
                *("-c", "--cfg"),
                type=click.Choice(["job", "hydra", "all"]),
                help="Print the composed configuration and stop.",
            ),
            click.option("--resolve", is_flag=True, help="With --cfg: resolve interpolations."),
            click.option("-p", "--package", help="With --cfg: only this part."),
            click.option("-cd", "--config-dir", help="A folder of more configuration."),
            click.option("-i", "--info", is_flag=False, flag_value="all", type=infos, hidden=True),
            click.option("-cp", "--config-path", hidden=True),
            click.option("-cn", "--config-name", hidden=True),
            click.option("-r", "--run", is_flag=True, hidden=True),
            click.option("--hydra-help", is_flag=True, hidden=True),
            click.option("--experimental-rerun", hidden=True),
        )
    ):
        command = option(command)
    return command


def _overrides(given: tuple[str, ...]) -> list[str]:
    """Refuse a word that is not an override: Hydra's message would be about its grammar."""
    from calbench.config.groups import known_names, nearest
    from calbench.files import printable

    known = {name: name for name in program.commands if name != RUN}
    known |= {name: f"+experiment={name}" for name in known_names("experiment")}
    for word in given:
        if "=" not in word and not word.startswith("~"):
            meant = [known[name] for name in nearest(word, list(known))]
            hint = f"did you mean {' or '.join(meant)}?" if meant else "see calbench --help"
            raise ConfigError(f"{printable(word)}: is neither a subcommand nor key=value; {hint}")
    return list(given)


@program.command(RUN, cls=Overriding, hidden=True)
@click.argument("overrides", nargs=-1, shell_complete=_completed)
@hydra_options
@versions
@click.pass_context
def run(ctx: click.Context, /, overrides: tuple[str, ...], **options: Any) -> int:
    """Play a suite with teams."""
    given = _overrides(overrides)
    from calbench.cli.run import main

    return main(ctx.meta[RAW], given, options)


@program.command(cls=Overriding)
@click.argument(
    "overrides",
    nargs=-1,
    metavar="[+experiment=NAME] [key=value ...]",
    shell_complete=_completed,
)
@hydra_options
@click.pass_context
def estimate(ctx: click.Context, /, overrides: tuple[str, ...], **options: Any) -> int:
    """Estimate the calls, tokens and price of a run beforehand.

    Takes the arguments of the run. Where games of it are on disk, their numbers are used; for the
    rest scripted speakers play a few in the models' seats. No model is asked.
    """
    given = _overrides(overrides)
    from calbench.cli.estimate import main

    return main(ctx.meta[RAW], given, options)


@program.command()
@click.option(
    "--replies",
    type=click.Path(path_type=Path),
    metavar="STORE",
    help="Also compare with these recorded replies, an SQLite file or a folder of JSON Lines.",
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The prompts of games that were played with prompts.path=FOLDER.",
)
@click.option(
    "--partial", is_flag=True, help="List the games that were begun and have no trace yet."
)
@click.option("--json", "as_json", is_flag=True, help="Everything, for programs.")
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
def verify(
    paths: tuple[Path, ...],
    replies: Path | None,
    prompts: Path | None,
    *,
    partial: bool,
    as_json: bool,
) -> int:
    """Replay traces and recompute every number in them.

    PATH is a trace file, a folder of them, or a whole run. Protocols and scripted speakers play
    again, and the prompts of models are worded anew. What a model said, thought and believed, and
    its tokens, are compared with its recorded replies if STORE names them; the last line says
    what was not checked. Exit status 1: a trace is wrong.

    Prompts of a folder of somebody's own are worded anew only if --prompts names it: a trace has
    their digest, and no path is followed.

    With --partial, PATH is a run or its reply store (*.sqlite); nothing is played again.
    """
    if prompts is not None:
        from calbench.agents.prompts import use_prompts

        use_prompts(prompts)
    if partial:
        if replies is not None or as_json:
            raise ConfigError("--partial: reads the run's own replies, and prints lines alone")
        from calbench.cli.verify import list_begun

        return list_begun(paths)
    from calbench.cli.verify import main

    return main(paths, replies=replies, as_json=as_json)


@program.command()
@click.option("--json", "as_json", is_flag=True, help="Everything, for programs.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH...]")
def prove(paths: tuple[Path, ...], as_json: bool) -> int:
    """Compare what was computed with what is published.

    Compares the results of `dvc repro` in data/ with the release in data/release: every suite,
    game and table, and names each difference. PATH: compare only these files or folders below
    data, e.g. data/tables/uniform. Exit status 1: something differs, or was not computed.
    """
    from calbench.cli.prove import main

    return main(paths, as_json=as_json)


@program.group(cls=Subcommands, no_args_is_help=False)
def replies() -> None:
    """Copy and count recorded replies: export, merge, stats.

    A store is an SQLite file; commands that read one also take a folder of JSON Lines.
    """


def _paths(name: str, *, many: bool = False) -> Callable[[Any], Any]:
    metavar = f"{name.upper()}{'...' if many else ''}"
    return click.argument(
        name,
        nargs=-1 if many else 1,
        required=True,
        type=click.Path(path_type=Path),
        metavar=metavar,
    )


@replies.command()
@_paths("store")
@_paths("folder")
def export(store: Path, folder: Path) -> int:
    """Write a store as JSON Lines.

    FOLDER gets sorted files, for git and archives.
    """
    from calbench.cli.replies import merge_all

    return merge_all(folder, [store])


@replies.command()
@_paths("into")
@_paths("sources", many=True)
def merge(into: Path, sources: tuple[Path, ...]) -> int:
    """Add replies from other stores.

    INTO is a store (*.sqlite) or a folder of JSON Lines; its replies are never replaced.
    """
    from calbench.cli.replies import merge_all

    return merge_all(into, sources)


@replies.command()
@_paths("paths", many=True)
def stats(paths: tuple[Path, ...]) -> int:
    """Count replies, by model, and what they cost."""
    from calbench.cli.replies import print_stats

    return print_stats(paths)


@program.group(cls=Subcommands, no_args_is_help=False)
def traces() -> None:
    """Keep games in few compressed files: pack, unpack, ls, cat.

    A folder of traces holds one JSON file a game, or shards of many games: JSON Lines compressed
    with Zstandard, with an index. Every command reads both.
    """


@traces.command()
@click.option("--json", "as_json", is_flag=True, help="Everything, for programs.")
@_paths("path")
def ls(path: Path, *, as_json: bool) -> int:
    """List games, and what they take.

    PATH is a folder of a run or of traces, or a shard. A line for each game: team, scenario (with
    .r1 for its second game, and so on), game id, bytes, and whether it was halted.
    """
    from calbench.cli.traces import print_list

    return print_list(path, as_json=as_json)


@traces.command()
@click.option("--all", "is_all", is_flag=True, help="All games, a line each.")
@_paths("path")
@click.argument("name", required=False, metavar="[TEAM/SCENARIO]")
def cat(path: Path, name: str | None, *, is_all: bool) -> int:
    """Print the bytes of one game.

    PATH is a folder of a run or of traces, or a shard. What is printed are the bytes that the file
    of the game has, or would have.
    """
    from calbench.cli.traces import print_traces

    return print_traces(path, name, is_all=is_all)


def _keyed(
    name: str,
    metavar: str,
    about: str,
    *keys: Key,
    answer: str = "",
    option: click.Option | None = None,
    group: click.Group = program,
) -> None:
    """Declare a subcommand that takes paths and ``key=value``.

    Args:
        name: of the subcommand.
        metavar: its arguments in its help.
        about: the help.
        keys: what it takes.
        answer: module and function that do the work; its own module and ``main`` unless given.
        option: what it takes besides.
        group: which it belongs to.
    """
    module, _, function = (answer or f"{name}.main").partition(".")

    def callback(words: tuple[str, ...], **chosen: bool) -> int:
        read = read_words(words, keys)
        return int(getattr(import_module(f"calbench.cli.{module}"), function)(read, **chosen))

    command = Keyed(name, metavar, keys, callback=callback, help=about)
    command.params += [] if option is None else [option]
    group.add_command(command)


_keyed(
    "pack",
    "RUN out=DIR",
    """Write games as shards into a new folder.

    RUN is a folder of a run, or of traces. Nothing is replaced or removed: to go on with a run in
    this form, move its folder of traces away, and DIR into its place.
    """,
    Key("out=DIR", "a new folder for the shards"),
    answer="traces.main_pack",
    group=traces,
)

_keyed(
    "unpack",
    "RUN out=DIR",
    """Write games as files into a new folder.

    RUN is a folder of a run, or of traces, or a shard. The files are those that were packed, to the
    byte.
    """,
    Key("out=DIR", "a new folder for the files"),
    answer="traces.main_unpack",
    group=traces,
)

_keyed(
    "convert",
    "RUN out=DIR",
    """Write the games of shards of an earlier version as shards into a new folder.

    RUN is a folder of a run, or of traces. Heads and index files are not looked at, so this also
    reads the games of shards whose heads are damaged.
    """,
    Key("out=DIR", "a new folder for the shards"),
    answer="traces.main_convert",
    group=traces,
)

_keyed(
    "rescore",
    "TRACES... out=DIR [key=value ...]",
    """Write all tables of games from their traces alone.

    TRACES are trace files, folders of them, or folders of whole runs. With the settings of a run,
    its tables come out as the run wrote them. Runs that share players are scored as slices of a
    cohort: table1.csv has a row for each player over all of them.
    """,
    Key("out=DIR", "an empty folder, a new one, or one that holds nothing but tables"),
    Key("teams=[imap,silent]", "order in which tables list teams; others follow by name"),
    *WORKERS,
    Key("facts=scores", "without what grows with talk", is_setting=True),
    Key("judge=scripted", "with the tables of the scripted judge", is_setting=True),
    Key("measure=NAME", "settings of the metrics, from conf/measure", is_setting=True),
    *SETTINGS,
)

_keyed(
    "compare",
    "RUN_A RUN_B [key=value ...]",
    """Show what changed between two runs, and in which scenarios.

    Runs are folders of runs, or of traces. Teams of the same name are compared on the scenarios
    that both played to the end.
    """,
    Key("a=TEAM", "compare this team of the first run ..."),
    Key("b=TEAM", "... with this one of the second; both may be one run"),
    Key("measure=NAME", "one measure, or several as [x,y]; all of the leaderboard unless given"),
    Key("top=N", "scenarios named for each difference (3)"),
    Key("out=DIR", "write differences.csv and contributions.csv there, too"),
    *WORKERS,
    *SETTINGS,
)

_keyed(
    "judge",
    "RUN... out=DIR [key=value ...]",
    """Measure what an outside reader learns from messages.

    The audit of appendix I of the paper. RUN are folders of whole runs, folders of traces, or
    trace files. Without a model the scripted judge answers: fixed rules, no language model, no key.
    """,
    Key("out=DIR", "an empty folder, a new one, or one of an earlier judge audit"),
    Key("judge=scripted", "the default"),
    Key("model=ID", "judge with one of conf/model, e.g. model=gemini-3.1-pro", is_setting=True),
    Key("model.KEY=VALUE", "or with any other: model.name=NAME, model.api_base=URL", True),
    Key("replies.mode=replay", "ask nobody (record: ask for what is missing)", is_setting=True),
    Key("replies.path=FILE", "where replies are kept (DIR/replies.sqlite)", is_setting=True),
    Key("budget.max_usd=N", "cap on the model's cost, earlier audits into DIR included", True),
    Key("games_at_once=N", "games that a model judges at the same time (16)", is_setting=True),
    *WORKERS,
    *SETTINGS,
)

_keyed(
    "audit",
    "MESSAGES.jsonl [OUT] [key=value ...]",
    """Apply the message audits to anyone's messages.

    Reads lines {"text", "labels": [{"label_id", "private_label", "terms", "tier"}]} and writes
    them with "patterns", "own_slot" and "leaks", to standard output or to OUT. "terms" may be
    empty; "known" may list labels that all recipients know. A line with "sender" and "recipients"
    tells whose its labels are and gets "second_hand" too: labels of others that it passes on, with
    their path; "conversation" keeps games apart, a label's "owners" may know it beside the sender.
    With a model, it reads each message instead of our detectors and is named as "judge"; what it
    answered unreadably is null, and nothing is second-hand.
    """,
    Key("model=ID", "read with one of conf/model, e.g. model=gemini-3.1-pro", is_setting=True),
    Key("model.KEY=VALUE", "or with any other: model.name=NAME, model.api_base=URL", True),
    Key("replies.mode=replay", "ask nobody (record: ask for what is missing)", is_setting=True),
    Key("replies.path=FILE", "where replies are kept (OUT.replies.sqlite)", is_setting=True),
    Key("budget.max_usd=N", "cap on the model's cost, earlier audits included", True),
    Key("games_at_once=N", "messages that a model reads at the same time (16)", True),
)

_keyed(
    "matchmake",
    "RUN... [key=value ...]",
    """Propose the teams to play next, from the games so far.

    RUN are folders of runs, or of traces. Prints a team file; calbench --config-dir DIR
    teams=NAME plays DIR/teams/NAME.yaml.
    """,
    Key("out=DIR/teams/NAME.yaml", "write it there instead"),
    Key("teams=N", "teams to propose (1)"),
    Key("pool=models|scripted", "whose ratings count; unless given, the first pool that played"),
    Key("setting=NAME", "setting of the ratings, or all; unless given, the last one"),
    Key("entrants=A,B", "models of conf/model, or scripted speakers, that have not played yet"),
    Key("config_dir=DIR", "more teams and models of your own; unless given, the folder of out"),
)

_keyed(
    "site",
    "RUN... out=DIR [key=value ...]",
    """Build the whole site with runs of your own beside the published results.

    RUN are folders of runs, or of traces. Runs on the published scenarios, or on some of them, are
    ranked with the published teams; others have tables of their own. Open DIR/index.html.
    """,
    Key("out=DIR", "the folder for the site: new, empty, or one of an earlier site"),
    *WORKERS,
)

_keyed(
    "view",
    "RUN [key=value ...]",
    """Show tables and games of one run in the browser.

    RUN is the folder of a run, or of traces. Builds pages of this run alone into RUN/site and
    serves them to this machine until Ctrl-C; prints the address.
    """,
    Key("port=N", "of the address; a free one unless given"),
    Key("serve=false", "build only, and print where the first page is"),
    Key("out=DIR", "another folder for the pages"),
    *WORKERS,
    answer="site.view",
    option=click.Option(["--open", "is_opened"], is_flag=True, help="Open the browser, too."),
)
