"""Options that several commands share, and the two parameter types they need."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Size(click.ParamType):  # type: ignore[type-arg]
    """Bytes: 32768, 32K, 48KiB, 0x8000. K is 1024."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from wavefit.report.sizes import BadSize, size

        try:
            return value if isinstance(value, int) else size(str(value))
        except BadSize as why:
            return self.fail(str(why), param, ctx)


class Threads(click.ParamType):  # type: ignore[type-arg]
    """A workgroup size, or a range of them as LOW:HIGH."""

    name = "n|low:high"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, int]:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        low, colon, high = value.partition(":")
        try:
            return (int(low), int(high)) if colon else int(low)
        except ValueError:
            return self.fail(f"{value!r} is not a workgroup size; write 256 or 64:1024", param, ctx)


class Waves(click.ParamType):  # type: ignore[type-arg]
    """Waves of unequal registers: 4x88,8x144."""

    name = "NxR,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[int, int]]:
        try:
            kinds = [part.split("x") for part in str(value).split(",")]
            return [(int(count), int(registers)) for count, registers in kinds]
        except ValueError:
            return self.fail(f"{value!r} is not COUNTxREGISTERS,...; write 4x88,8x144", param, ctx)


def spend_options(command: F) -> F:
    """What a kernel spends, given as numbers."""
    for option in reversed(
        (
            click.option(
                "--vgprs", type=int, help="Vector registers a lane (on NVIDIA: registers a thread)."
            ),
            click.option("--agprs", type=int, help="Accumulator registers a lane."),
            click.option("--total-vgprs", type=int, help="Both kinds together, instead of the two."),
            click.option("--waves", type=Waves(), help="Waves of unequal registers: 4x88,8x144."),
            click.option("--sgprs", type=int, help="Scalar registers a wave, with VCC and the like."),
            click.option("--lds", type=Size(), help="Static LDS a workgroup: 32768, 32K, 48KiB, 0x8000."),
            click.option("--scratch", type=Size(), help="Scratch bytes a work-item."),
        )
    ):
        command = option(command)
    return command


def launch_options(command: F) -> F:
    """How a kernel is started."""
    for option in reversed(
        (
            click.option("--threads", type=Threads(), help="Workgroup size, or a range 64:1024."),
            click.option("--lds-dynamic", type=Size(), help="LDS given at launch."),
            click.option("--mode", type=click.Choice(["cu", "wgp"]), help="RDNA: what a workgroup shares."),
            click.option("--wave", type=int, help="Lanes a wave: 32 or 64."),
        )
    ):
        command = option(command)
    return command


def gemm_options(command: F) -> F:
    """The size of a GEMM: C[m, n] = A[m, k] B[k, n]."""
    for name in ("--k", "--n", "--m"):
        command = click.option(name, type=int, required=True)(command)
    return command


def json_option(command: F) -> F:
    """One JSON document on standard output, nothing else there."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")(
        command
    )


def echo_json(document: dict[str, Any] | list[Any]) -> None:
    """Print one document."""
    click.echo(json.dumps(document, ensure_ascii=True))


def language_given() -> str | None:
    """The language of --lang where the command line gave it; a page speaks the browser's otherwise."""
    from click.core import ParameterSource

    from wavefit.report.language import language

    given = click.get_current_context().get_parameter_source("lang") == ParameterSource.COMMANDLINE
    return language() if given else None


def complain(text: object) -> None:
    """One line on standard error, in the language in use."""
    from wavefit.report.language import placed
    from wavefit.report.names import printable

    click.echo(f"wavefit: {printable(placed(str(text)), longest=500)}", err=True)
