"""`wavefit completion`: commands and options completed by the shell."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """A script for the shell to read: eval "$(wavefit completion bash)"."""
    from click.shell_completion import get_completion_class

    from wavefit.cli import cli

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(cli, {}, "wavefit", "_WAVEFIT_COMPLETE").source())
