"""`wavefit mcp`: the same answers for coding agents."""

from __future__ import annotations

import click


@click.command("mcp")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
def command(folders: tuple[str, ...]) -> None:
    """A server of the Model Context Protocol on standard input and output.

    Tools that read files read only inside these folders, after resolving links; without one there are none.
    Needs the extra wavefit[mcp].
    """
    try:
        from wavefit.mcp.server import serve
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise click.ClickException("needs the MCP SDK: pip install 'wavefit[mcp]'") from None
    serve(folders)
