"""Every document that a command prints is what its schema says, and holds nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.gate_run import EXAMPLES, STORY, run
from wavefit.gate.schema import names, schema
from wavefit.isa.tools import libraries, objdumps

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests/data"
MXFP8 = EXAMPLES / "gemm_mxfp8_gfx950_128x256x128_w8.hsaco"
FIT = ("fit", "--chip", "MI355X", "--vgprs", "128", "--sgprs", "50", "--lds", "32K")
MEMORY = ("feed", "--chip", "H200", "--memory")
GEMM = ("--m", "4096", "--n", "4096", "--k", "4096")
FEED = ("feed", "--chip", "MI355X", "--instruction", "v_mfma_f32_16x16x32_bf16")


def closed(node: Any) -> Any:
    """The schema with no room for keys that it does not name."""
    if isinstance(node, dict):
        inner = {key: closed(value) for key, value in node.items()}
        if isinstance(node.get("properties"), dict) and "type" in node:
            inner.setdefault("additionalProperties", False)
        return inner
    return [closed(item) for item in node] if isinstance(node, list) else node


@cache
def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(closed(schema(name)))


COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "fit": (*FIT, "--threads", "256"),
    "fit that cannot launch": ("fit", "--chip", "gfx950", "--lds", "1M", "--threads", "64"),
    "fit of a range": (*FIT, "--threads", "64:1024"),
    "fit in a view": (*FIT, "--threads", "256", "--view", "llvm-22"),
    "fit on RDNA": ("fit", "--chip", "gfx1100", "--vgprs", "96", "--threads", "256", "--mode", "cu"),
    "fit on NVIDIA": ("fit", "--chip", "H200", "--vgprs", "128", "--lds", "64K", "--threads", "256"),
    "fit on Hygon": ("fit", "--chip", "BW1000", "--vgprs", "100", "--sgprs", "96", "--threads", "256"),
    "report": ("report", EXAMPLES),
    "report of every target": ("report", DATA / "kernels/targets"),
    "report of a range": ("report", MXFP8, "--threads", "64:512"),
    "report where some have no answer": ("report", EXAMPLES, "--chip", "MI300X"),
    "report with errors": ("report", DATA / "kernels", "--kernel", "axpy"),
    "views": ("views", "--chip", "MI355X", "--vgprs", "100", "--threads", "256"),
    "views of a file": ("views", MXFP8),
    "views on Hygon": ("views", "--chip", "BW1000", "--vgprs", "100", "--threads", "256"),
    "chips": ("chips",),
    "a product": ("chips", "MI355X"),
    "a product of Hygon": ("chips", "BW1000"),
    "a product of NVIDIA": ("chips", "H200"),
    "a target": ("chips", "gfx1250"),
    "chips, checked": ("chips", "--check"),
    "matrix": ("matrix", "MI355X"),
    "matrix of RDNA": ("matrix", "gfx1201"),
    "matrix of NVIDIA": ("matrix", "H200"),
    "layout": ("matrix", "MI355X", "--instruction", "v_mfma_f32_16x16x32_bf16", "--layout", "A"),
    "feed": (*FEED, "--ilp", "2", "--waves", "4"),
    "feed of a target": ("feed", "--chip", "gfx950", *FEED[3:], "--ilp", "1", "--waves", "1"),
    "feed, swept": (*FEED, "--sweep"),
    "memory": (*MEMORY, "--waves", "4", "--vector-bytes", "16", "--outstanding", "2"),
    "memory, swept": (*MEMORY, "--sweep"),
    "trap": (*FEED, "--trap"),
    "roofline": ("feed", "--chip", "H200", "--roofline", "bf16", "--tile", "128x256"),
    "measured": ("feed", "--chip", "H200", "--measured", DATA / "feed/mma_fma_ilp_sweep.csv"),
    "confirm": ("confirm", DATA / "profiles/ncu-h200"),
    "diff": ("diff", STORY / "main", STORY / "change"),
    "diff of strangers": ("diff", EXAMPLES, STORY / "change"),
    "gate": ("gate", STORY / "change", "waves >= baseline", "lds_dynamic == 0", "--baseline", STORY / "main"),
    "tiles": ("tiles", "--chip", "MI300X", *GEMM, "--dtype", "bf16", "--top", "3"),
    "order": ("order", "--chip", "MI300X", *GEMM),
    "code": ("code", EXAMPLES / "gemm_bf16_gfx942_128x128x64_w4.hsaco", "--chip", "MI300X"),
    "code without a loop": ("code", EXAMPLES / "softmax_gfx950_32768_w8.hsaco"),
    "advice": ("advise", MXFP8, "--chip", "MI355X"),
    "advice on spills": ("advise", EXAMPLES / "gemm_mxfp8_gfx950_256x256x128_w8.hsaco"),
    "rosetta": ("chips", "--rosetta"),
    "survey": ("survey", EXAMPLES),
    "schema": ("schema",),
    "doctor": ("doctor",),
}  # fmt: skip


@pytest.mark.parametrize("args", COMMANDS.values(), ids=COMMANDS)
def test_what_a_command_prints(args: tuple[str | Path, ...]) -> None:
    if args[0] == "code" and not (libraries() or objdumps()):
        pytest.skip("no disassembler for AMD code here")
    found = run(*args, "--json").document
    errors = [
        f"{error.json_path}: {error.message[:300]}" for error in validator(found["schema"]).iter_errors(found)
    ]
    assert not errors


def printed() -> set[str]:
    """Every document that the source names."""
    text = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "src/wavefit").rglob("*.py"))
    return set(re.findall(r'(?:"schema":|schema: str =) "(wavefit\.[a-z-]+/\d+)"', text))


def test_every_document_has_a_schema_and_every_schema_a_document() -> None:
    assert printed() == set(names())


@pytest.mark.parametrize("name", names())
def test_a_schema_is_a_schema_in_one_piece(name: str) -> None:
    whole = schema(name)
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole["title"] == name
    assert whole["properties"]["schema"] == {"const": name}
    resource = DRAFT202012.create_resource(whole)
    resolver = Registry().with_resource(whole["$id"], resource).crawl().resolver(whole["$id"])
    for at, ref in references(whole):
        resolver.in_subresource(resource).lookup(ref if ref.startswith("urn:") else at + ref)


def references(node: Any, within: str = "") -> Iterator[tuple[str, str]]:
    """Every reference, with the `$id` that it counts from."""
    if isinstance(node, dict):
        within = node.get("$id", within)
        if isinstance(node.get("$ref"), str):
            yield within, node["$ref"]
        for value in node.values():
            yield from references(value, within)
    elif isinstance(node, list):
        for item in node:
            yield from references(item, within)


@pytest.mark.parametrize("name", names())
def test_every_key_says_what_it_is(name: str) -> None:
    def unexplained(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.get("properties", {}).items():
                if not {"description", "$ref", "const", "items", "enum", "properties"} & value.keys():
                    yield key
            for value in node.values():
                yield from unexplained(value)
        elif isinstance(node, list):
            for item in node:
                yield from unexplained(item)

    assert not list(unexplained(schema(name)))


def test_a_document_of_a_later_version_of_us_is_still_valid() -> None:
    """The compatibility rule: keys may be added."""
    found = run(*FIT, "--threads", "256", "--json").document
    found["later"] = found["limits"][0]["later"] = 1
    open_validator = jsonschema.Draft202012Validator(schema("fit"))
    assert open_validator.is_valid(found)
    assert not validator("wavefit.fit/1").is_valid(found)
    del found["waves"]
    assert not open_validator.is_valid(found)


def test_schema_prints_one_and_names_near_ones() -> None:
    assert json.loads(run("schema", "wavefit.fit/1").out) == schema("fit")
    assert run("schema").out.splitlines() == names()
    done = run("schema", "fir")
    assert (done.code, done.out) == (2, "")
    assert "did you mean fit" in done.err
