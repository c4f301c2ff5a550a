"""`wavefit serve`: the local page."""

from __future__ import annotations

import click

_MIB = 1 << 20


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--open", "browse", is_flag=True, help="Open it in a browser.")
@click.option("--max-upload", type=click.IntRange(1), default=256, show_default=True, help="MiB a drop.")
@click.option(
    "--max-memory", type=click.IntRange(512), default=4096, show_default=True, help="MiB of memory."
)
@click.option("--max-seconds", type=click.IntRange(1), default=60, show_default=True, help="To read it.")
def command(host: str, port: int, browse: bool, max_upload: int, max_memory: int, max_seconds: int) -> None:
    """The local page: calculator, two chips, report of dropped files, matrix instructions, feed, tiles.

    Only who has the printed address gets in: it holds a token, good until the server ends. Needs the extra
    wavefit[web].
    """
    try:
        from wavefit.web.serve import serve
        from wavefit.web.worker import Bounds
    except ImportError as missing:
        if (missing.name or "").partition(".")[0].startswith("wavefit"):
            raise
        raise click.ClickException("needs the web libraries: pip install 'wavefit[web]'") from None
    bounds = Bounds(upload=max_upload * _MIB, memory=max_memory * _MIB, seconds=max_seconds)
    serve(host, port, bounds=bounds, ready=_ready, browse=browse)


def _ready(address: str) -> None:
    click.echo(address)
    click.echo("wavefit: the address is for you alone; Ctrl-C ends it", err=True)
