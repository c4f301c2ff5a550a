"""The reference of the commands, from the command line's own objects: every option of every command."""

from __future__ import annotations

import inspect

import click
from tools.docs_words import code, plain, table, word

from wavefit.cli import COMMANDS, cli
from wavefit.report.language import retold, speaking


def commands(language: str) -> str:
    """A section a command: what it does, how it is called, its options."""
    with speaking(language):
        return "\n".join(_command(name, language) for name in COMMANDS)


def _command(name: str, language: str) -> str:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    context = click.Context(command, info_name=f"wavefit {name}")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    options = [each for each in command.params if isinstance(each, click.Option)]
    rows = [_option(each, language) for each in options]
    heads = [word("option", language), word("meaning", language)]
    return f"## {name}\n\n{_prose(command.help or '')}\n\n```text\n{usage}\n```\n\n{table(heads, rows)}"


def _prose(text: str) -> str:
    """The command's help; paragraphs that keep their lines (`\\b`) are shown as code."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b"):
            parts.append("```text\n" + inspect.cleandoc(part.removeprefix("\b\n")) + "\n```")
        else:
            parts.append(plain(retold(" ".join(part.split()))))
    return "\n\n".join(parts)


def _option(option: click.Option, language: str) -> tuple[str, str]:
    spelt = ", ".join([*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag else f" {_takes(option)}"
    says = [plain(retold(option.help or ""))]
    if option.required:
        says.append(f"*{word('required', language)}*")
    elif option.show_default and option.default not in (None, ""):
        says.append(f"*{word('default', language)}: {option.default}*")
    return code(spelt + takes), " ".join(says)


def _takes(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return str(option.type.name).upper().replace(" RANGE", "")
