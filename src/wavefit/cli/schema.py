"""`wavefit schema`: the JSON Schema of each document."""

from __future__ import annotations

import json

import click

from wavefit.cli.options import echo_json, json_option


@click.command("schema")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """The names of all documents, or the JSON Schema (2020-12) of one: wavefit.fit/1, or just fit."""
    from wavefit.gate.schema import names, schema

    if name is None and as_json:
        echo_json({"schema": "wavefit.schemas/1", "schemas": names()})
    elif name is None:
        click.echo("\n".join(names()))
    elif as_json:
        echo_json(schema(name))
    else:
        click.echo(json.dumps(schema(name), indent=1))
