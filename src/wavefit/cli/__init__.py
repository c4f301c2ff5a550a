"""The command line: one small file a command, loaded when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from itertools import pairwise

import click

from wavefit.report.language import LANGUAGES, placed, preferred, speaking
from wavefit.report.names import printable
from wavefit.report.paint import can_show, painting, shows_colour

COMMANDS = {
    "fit": "one what-if: how many waves fit, what binds, what the next step costs",
    "report": "every kernel in the files: spend, limits, what binds, next steps",
    "survey": "trees, libraries, wheels, caches: one row a kernel, and a summary",
    "views": "the same kernel or numbers under every view, and where they disagree",
    "matrix": "matrix instructions: shape, registers, cycles, rate; peaks; layouts",
    "feed": "is the matrix unit (or the memory) kept busy; measured against the model",
    "bench": "writes and, where the chip is present, runs the ILP x occupancy experiment",
    "confirm": "theory beside measurement, each difference with its reason",
    "code": "decoded loops: matrix chains, loads, waits, what one iteration costs",
    "advise": "what to do next and why, or that there is nothing to do",
    "tiles": "ranked GEMM tiles: what each spends, fits and takes; --verify compiles them",
    "order": "tile order, group size, die mapping: cache traffic and a picture",
    "chips": "what is known of a chip, with sources",
    "diff": "two builds side by side: what changed, which cliffs were crossed, the most harm first",
    "gate": "budgets held against every kernel of a build; exit 1 on a breach; SARIF and JUnit",
    "serve": "the local page: calculator with curves, dropped files, matrix instructions, feed, tiles",
    "schema": "the JSON Schema of each document that the commands print",
    "mcp": "the same answers for coding agents, over the Model Context Protocol",
    "doctor": "which optional parts are here: LLVM's tools, Triton, a GPU, versions",
    "completion": "the line that completes commands and options in bash, zsh or fish",
}


SILENT = ("mcp", "completion")
"""Commands that print nothing for people."""


def lang_option() -> click.Option:
    """`--lang`, which every command takes; `main` has already looked for it, since errors speak it too."""
    words = "Of texts: en or zh; default: WAVEFIT_LANG, on a terminal the locale. JSON is never translated."
    return click.Option(["--lang"], type=click.Choice(LANGUAGES), expose_value=False, help=words)


class Lazy(click.Group):
    """A group that imports a command's file only when it is used, so that the rest costs no start-up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = importlib.import_module(f"wavefit.cli.{name}").command
        assert isinstance(command, click.Command)
        if name not in SILENT and all(option.name != "lang" for option in command.params):
            command.params.append(lang_option())
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=2)
            hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(COMMANDS)}"
            ctx.fail(f"no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"wavefit {version('wavefit')}")
        ctx.exit()


@click.group(
    cls=Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show it."
)
@click.option("--debug", is_flag=True, help="Print a traceback where something breaks.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """How many waves of a compiled GPU kernel fit, what stops the next one and by how much. No GPU needed."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


cli.params.append(lang_option())


def main() -> None:
    """Run a command. Exit 0: done, 1: a gate or check failed, 2: bad usage or nothing could be read."""
    debug = "--debug" in sys.argv[1:]
    argv = [arg for arg in sys.argv[1:] if arg != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no error
    with speaking(_language(argv)), painting(shows_colour(sys.stdout)):
        code = _run(argv, debug)
    sys.exit(code if isinstance(code, int) else 0)


def _run(argv: list[str], debug: bool) -> object:
    """What the command returned or ended with; an error becomes one line."""
    try:
        return cli.main(args=argv, prog_name="wavefit", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        return 130
    except SystemExit as end:  # click's own way out where the reader of our output went away
        return 0 if "PacifyFlush" in type(sys.stdout).__name__ else end.code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if debug:
            raise
        click.echo(f"wavefit: {_one_line(error)}", err=True)
        return 2


def _language(argv: Sequence[str]) -> str:
    """--lang, else what is preferred; English beside JSON, and where the terminal cannot show Chinese."""
    if "--json" in argv or not can_show(sys.stdout, "中"):
        return "en"
    asked = dict(pairwise(argv)).get("--lang")
    asked = next((arg[7:] for arg in argv if arg.startswith("--lang=")), asked)
    return asked if asked in LANGUAGES else preferred(os.environ, terminal=sys.stdout.isatty())


def _one_line(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    elif type(error).__module__.startswith("wavefit."):
        text = str(error)
    else:
        text = f"internal error, please report: {type(error).__name__}: {error} (--debug shows where)"
    return printable(placed(" ".join(text.split())), longest=500)
