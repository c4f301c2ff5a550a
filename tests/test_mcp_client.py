"""The server as an agent meets it: started by the SDK's own client, over standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gate_run import EXAMPLES, STORY, run

pytestmark = pytest.mark.heavy
pytest.importorskip("mcp", reason="needs the MCP SDK (wavefit[mcp])")

import anyio  # noqa: E402
from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402


@asynccontextmanager
async def connected(*folders: Path) -> AsyncIterator[Client]:
    """A client of a server process with these folders."""
    args = ["-m", "wavefit", "mcp", *map(str, folders)]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=args))) as client:
        yield client


def with_client(talk: Callable[[Client], Awaitable[None]], *folders: Path) -> None:
    async def session() -> None:
        with anyio.fail_after(120):
            async with connected(*folders) as client:
                await talk(client)

    anyio.run(session)


async def answer(client: Client, tool: str, **asked: Any) -> Any:
    result = await client.call_tool(tool, asked)
    assert not result.is_error, result.content
    (content,) = result.content
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


async def refusal(client: Client, tool: str, **asked: Any) -> str:
    result = await client.call_tool(tool, asked)
    assert result.is_error
    (content,) = result.content
    assert "Traceback" not in content.text
    return str(content.text)


def test_tools_and_their_promises() -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"fit", "report", "matrix", "chips"} <= set(tools)
        for tool in tools.values():
            assert tool.description
            assert tool.annotations.read_only_hint is True
        assert "untrusted" in (client.instructions or "")

    with_client(talk, STORY)


def test_without_folders_nothing_reads_files() -> None:
    async def talk(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"report", "advise"}
        assert "Unknown tool" in await refusal(client, "report", path=str(EXAMPLES))

    with_client(talk)


def test_answers_are_the_commands(tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        shown = run("fit", "--chip", "MI355X", "--vgprs", "96", "--threads", "256", "--json").document
        assert await answer(client, "fit", chip="MI355X", vgprs=96, threads=256) == shown
        assert await answer(client, "chips", name="H200") == run("chips", "H200", "--json").document
        found = await answer(client, "report", path="change", chip="MI355X")
        (kernel,) = found["kernels"]
        assert kernel["untrusted"]["name"] == "tile_sum"
        assert (kernel["total_vgprs"], kernel["fit"]["waves_per_simd"]) == (105, 4)
        matrix = await answer(client, "matrix", chip="MI355X", type="fp8", limit=3)
        assert len(matrix["instructions"]) == 3
        assert matrix["next_offset"] == 3

    with_client(talk, STORY)


def test_refusals_are_one_line() -> None:
    async def talk(client: Client) -> None:
        assert "outside the folders given at start" in await refusal(client, "report", path="/etc/passwd")
        assert "outside the folders given at start" in await refusal(client, "report", path="../../README.md")
        assert "unknown chip" in await refusal(client, "fit", chip="MI999")
        assert "did you mean" in await refusal(client, "fit", chip="MI35X")
        assert "greater than or equal to 0" in await refusal(client, "fit", chip="MI355X", vgprs=-1)
        assert "less than or equal" in await refusal(client, "report", path=".", limit=10_000)
        assert (await answer(client, "fit", chip="MI355X", vgprs=8, threads=64))["waves"] == 32  # still there

    with_client(talk, STORY)


def test_many_questions_at_once() -> None:
    async def talk(client: Client) -> None:
        found: dict[int, Any] = {}

        async def ask(vgprs: int) -> None:
            found[vgprs] = await answer(client, "fit", chip="gfx950", vgprs=vgprs, threads=256)

        async with anyio.create_task_group() as group:
            for vgprs in range(8, 264, 8):
                group.start_soon(ask, vgprs)
        assert all(found[vgprs]["limits"][0]["requested"] == vgprs for vgprs in found)
        assert len(found) == 32

    with_client(talk)
