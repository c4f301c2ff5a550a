"""The JSON routes. Each answers with a document that `wavefit schema` describes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from wavefit.web import answers
from wavefit.web.ask import DropAsked, FeedAsked, FitAsked, LayoutAsked, MatrixAsked, SweepAsked, TilesAsked
from wavefit.web.openapi import ERROR_REF, Responses, documents
from wavefit.web.uploads import uploaded
from wavefit.web.worker import read

Json = dict[str, Any]
DOCUMENTS = (
    "fit-1", "fit-range-1", "chip-1", "chips-1", "matrix-1", "layout-1", "feed-1", "feed-sweep-1", "tiles-1",
    "report-1", "confirm-1", "stairs-1",
)  # fmt: skip
"""What the routes answer with, by the names of their schemas."""

router = APIRouter(prefix="/api")


@router.get("/fit", responses=documents("fit-1", "fit-range-1"))
def fit(asked: Annotated[FitAsked, Query()]) -> Json:
    """How many waves fit for these numbers, what binds, the next steps and losses."""
    return answers.fit_of(asked).to_dict()


@router.get("/stairs", responses=documents("stairs-1"))
def stairs(asked: Annotated[FitAsked, Query()]) -> Json:
    """Waves a SIMD for every amount of each resource, all others as they are: the curves of the page."""
    return answers.stairs_document(asked)


@router.get("/chips", responses=documents("chips-1"))
def chips() -> Json:
    """The names of all products and targets."""
    return answers.chips_document()


@router.get("/chips/{name}", responses=documents("chip-1"))
def chip(name: Annotated[str, Path(min_length=1, max_length=80)]) -> Json:
    """Every Fact of one chip with unit, status and source."""
    return answers.chips_document(name)


@router.get("/matrix", responses=documents("matrix-1"))
def matrix(asked: Annotated[MatrixAsked, Query()]) -> Json:
    """Matrix instructions: shape, types, registers, cycles, rate; and the chip's peaks."""
    return answers.matrix_of(asked)


@router.get("/layout", responses=documents("layout-1"))
def layout(asked: Annotated[LayoutAsked, Query()]) -> Json:
    """Every element of one operand: its register, lane and bits."""
    return answers.layout_of(asked)


@router.get("/feed", responses=documents("feed-1"))
def feed(asked: Annotated[FeedAsked, Query()]) -> Json:
    """Is the matrix unit kept busy, est."""
    return answers.feed_of(asked)


@router.get("/feed/curves", responses=documents("feed-sweep-1"))
def curves(asked: Annotated[SweepAsked, Query()]) -> Json:
    """The same over chains a wave and waves a SIMD."""
    return answers.sweep_of(asked)


@router.get("/tiles", responses=documents("tiles-1"))
def tiles(asked: Annotated[TilesAsked, Query()]) -> Json:
    """GEMM tiles, the shortest est. time first."""
    return answers.tiles_of(asked)


FILES: Json = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "Each with its name; a name may hold folders.",
                        }
                    },
                }
            }
        },
    }
}
_REFUSALS: Responses = {
    status: {"description": why, "content": {"application/json": {"schema": ERROR_REF}}}
    for status, why in {
        400: "No file, or no whole form.",
        408: "Took too long to send.",
        413: "Too many bytes or files.",
        415: "Not multipart/form-data.",
        507: "No room on the disk.",
    }.items()
}


@router.post("/report", responses={**documents("report-1"), **_REFUSALS}, openapi_extra=FILES)
async def report(request: Request, asked: Annotated[DropAsked, Query()]) -> Json:
    """The kernels of the files that are sent, with their Fits. Nothing is kept."""
    return await from_files(request, "report", asked)


@router.post("/confirm", responses={**documents("confirm-1"), **_REFUSALS}, openapi_extra=FILES)
async def confirm(request: Request, asked: Annotated[DropAsked, Query()]) -> Json:
    """Theory beside the measurement of a profiler's files, joined with the kernels sent along."""
    return await from_files(request, "confirm", asked)


async def from_files(request: Request, what: str, asked: DropAsked, language: str = "en") -> Json:
    """Take the files of a request in, have the worker read them, throw them away."""
    state = request.app.state
    launch = {"threads": asked.threads, "lds_dynamic": asked.lds_dynamic}
    question = {"what": what, "chip": asked.chip, "launch": launch, "language": language}
    async with uploaded(request, state.bounds) as folder, state.workers:
        return await read(folder, question, state.bounds, request.is_disconnected)
