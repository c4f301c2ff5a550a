"""The tools, spoken over the Model Context Protocol on standard input and output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from wavefit.mcp import answers
from wavefit.mcp.bounded import LONGEST_OWN, NOTICE
from wavefit.mcp.places import Places
from wavefit.report.names import printable

Json = dict[str, Any]

INSTRUCTIONS = (
    "From a compiled GPU kernel, without a GPU: how many waves fit on the chip, what binds, what the next "
    "step costs. Registers are per lane (vector) or per wave (scalar), sizes bytes. A Fit is a ceiling; "
    f"values marked est. are estimates. {NOTICE}"
)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Chip = Annotated[
    str, Field(description="A product or target: MI355X, gfx950, BW1000, H200, sm_90.", max_length=80)
]
OptionalChip = Annotated[
    str | None, Field(description="A product to fit on; default: each kernel's own target.")
]
Path = Annotated[
    str, Field(description="A file or folder inside the folders given at start.", max_length=4096)
]
Kernel = Annotated[str, Field(description="Only kernels whose name contains this.", max_length=200)]
Count = Annotated[int | None, Field(ge=0, le=1 << 40)]
Threads = Annotated[int | None, Field(ge=1, le=1 << 20, description="Work-items of a workgroup.")]
Dynamic = Annotated[int | None, Field(ge=0, le=1 << 40, description="LDS bytes given at launch.")]
Offset = Annotated[int, Field(ge=0, description="Where to go on: next_offset of the answer before.")]
Limit = Annotated[int, Field(ge=1, le=answers.MOST_ITEMS)]
Size = Annotated[int, Field(ge=1, le=1 << 30)]


def serve(folders: Sequence[str]) -> None:
    """Answers on standard input and output until the client goes. Raises NotAllowed for a bad folder."""
    server(Places.of(folders)).run("stdio")


def server(places: Places) -> MCPServer[Any]:
    """The server with every tool that this installation has; those that read files only with folders."""
    made: MCPServer[Any] = MCPServer(
        "wavefit", instructions=INSTRUCTIONS, version=version("wavefit"), log_level="WARNING"
    )
    tools: list[Callable[..., Json]] = [fit, chips, matrix]
    if places.folders:
        tools.append(_report(places))
        tools += [_advise(places)] if _has("advise") else []
    tools += [tiles] if _has("tiles") else []
    for tool in tools:
        made.add_tool(tool, annotations=READS)
    return made


def fit(
    chip: Chip,
    threads: Threads = None,
    vgprs: Count = None,
    agprs: Count = None,
    total_vgprs: Count = None,
    sgprs: Count = None,
    lds: Count = None,
    lds_dynamic: Count = None,
    scratch: Count = None,
    mode: Literal["cu", "wgp"] | None = None,
    wave: Literal[32, 64] | None = None,
    view: str = "hardware",
) -> Json:
    """How many waves fit for these numbers, what binds, the next steps and losses. A resource left out does
    not limit; without threads: the fewest and the most waves over every workgroup size."""
    numbers = {
        "threads": threads, "vgprs": vgprs, "agprs": agprs, "total_vgprs": total_vgprs, "sgprs": sgprs,
        "lds": lds, "lds_dynamic": lds_dynamic, "scratch": scratch, "mode": mode, "wave": wave,
    }  # fmt: skip
    return _said(lambda: answers.fit(chip, view, numbers))


def chips(name: Annotated[str | None, Field(max_length=80)] = None) -> Json:
    """Every Fact of one chip with unit, status and source; without a name, the names of all."""
    return _said(lambda: answers.chips(name))


def matrix(
    chip: Chip,
    type: Annotated[str | None, Field(description="fp16, bf16, fp8, int8, fp64, ...")] = None,  # noqa: A002
    instruction: Annotated[
        str | None, Field(description="Everything about this one, by its mnemonic.")
    ] = None,
    offset: Offset = 0,
    limit: Limit = 20,
) -> Json:
    """Matrix instructions: shape, types, registers, cycles, rate; and the chip's peaks in FLOP/s."""
    return _said(lambda: answers.matrix(chip, type, instruction, offset, limit))


def tiles(chip: Chip, m: Size, n: Size, k: Size, dtype: str, offset: Offset = 0, limit: Limit = 10) -> Json:
    """GEMM tiles, the best first: block sizes, warps, stages; times are est."""
    asked = {"chip": chip, "m": m, "n": n, "k": k, "dtype": dtype}
    return _said(lambda: answers.tiles(asked, offset, limit))


def _report(places: Places) -> Callable[..., Json]:
    def report(
        path: Path,
        kernel: Annotated[
            str, Field(description="Only kernels whose name contains this.", max_length=200)
        ] = "",
        chip: OptionalChip = None,
        threads: Threads = None,
        lds_dynamic: Dynamic = None,
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> Json:
        """Every kernel of a compiled file or folder: registers, LDS, scratch, spills, and its Fit."""
        launch = {"chip": chip, "threads": threads, "lds_dynamic": lds_dynamic}
        return _said(lambda: answers.report(places, path, kernel, launch, offset, limit))

    return report


def _advise(places: Places) -> Callable[..., Json]:
    def advise(
        path: Path,
        kernel: Kernel = "",
        chip: OptionalChip = None,
        threads: Threads = None,
        lds_dynamic: Dynamic = None,
        offset: Offset = 0,
        limit: Limit = 10,
    ) -> Json:
        """What to do next with the kernels of a compiled file and why, most important first."""
        launch = {"chip": chip, "threads": threads, "lds_dynamic": lds_dynamic}
        return _said(lambda: answers.advise(places, path, kernel, launch, offset, limit))

    return advise


def _has(command: str) -> bool:
    """Whether this version has a command, which answers in a process of its own."""
    return find_spec(f"wavefit.cli.{command}") is not None


def _said(answer: Callable[[], Json]) -> Json:
    """The answer, or an error of one line."""
    try:
        return answer()
    except (ValueError, LookupError, OSError) as error:
        raise ToolError(printable(" ".join(str(error).split()), LONGEST_OWN)) from None
