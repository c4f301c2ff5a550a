"""Tiles for Triton: as `triton.Config`, as pruning for `triton.autotune`, and compiled to verify the est.

    @triton.autotune(configs=configs(), key=["M", "N", "K"], prune_configs_by=prune_configs_by("H200", top=8))

Triton itself is imported only by `configs` and `verify`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wavefit.chips import Chip, Target
from wavefit.occupancy import BadQuestion, Fit, fit
from wavefit.tiles.rank import Tile, rank
from wavefit.tiles.shape import problem

NAMES = {"BLOCK_M": "block_m", "BLOCK_N": "block_n", "BLOCK_K": "block_k", "GROUP_M": "group_m"}
SPELLINGS = {
    "BLOCK_SIZE_M": "BLOCK_M", "BLOCK_SIZE_N": "BLOCK_N", "BLOCK_SIZE_K": "BLOCK_K",
    "GROUP_SIZE_M": "GROUP_M", "SPLIT_K": "SPLIT_K", "NUM_KSPLIT": "SPLIT_K",
}  # fmt: skip
_OF = {**NAMES, "SPLIT_K": "split_k"}

TYPES = {
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32",
    "float8_e4m3fn": "fp8", "float8_e4m3fnuz": "fp8", "float8_e5m2": "fp8", "float8_e5m2fnuz": "fp8",
    "int8": "int8",
}  # fmt: skip
"""Tensor types, as `str(tensor.dtype)` ends, by their name here."""


def configs(tiles: Iterable[Tile], names: Mapping[str, str] | None = None) -> list[Any]:
    """Tiles as `triton.Config`: BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, and SPLIT_K where K is split.

    `names` maps these to a kernel's own spelling.
    """
    import triton

    found = []
    for tile in tiles:
        used = NAMES if tile.split_k == 1 else _OF
        spelled = {
            (names or {}).get(name, name): getattr(tile, attribute) for name, attribute in used.items()
        }
        found.append(triton.Config(spelled, num_warps=tile.warps, num_stages=tile.stages))
    return found


def prune_configs_by(
    chip: Chip | Target | str,
    *,
    top: int = 8,
    dtype: str | None = None,
    sizes: tuple[str, str, str] = ("M", "N", "K"),
    layout: str | None = None,
) -> dict[str, Any]:
    """What `triton.autotune(prune_configs_by=...)` takes: est. that keep the `top` configs.

    Configs name their blocks BLOCK_M (or BLOCK_SIZE_M) and so on; `sizes` are the kernel's arguments for
    the problem. `dtype` is read off the first tensor argument where it is not given.
    """
    prune = early_config_prune(chip, top=top, dtype=dtype, sizes=sizes, layout=layout)
    return {
        "early_config_prune": prune,
        "perf_model": perf_model(chip, dtype=dtype, sizes=sizes, layout=layout),
        "top_k": top,
    }


def early_config_prune(
    chip: Chip | Target | str,
    *,
    top: int | None = None,
    dtype: str | None = None,
    sizes: tuple[str, str, str] = ("M", "N", "K"),
    layout: str | None = None,
) -> Callable[..., list[Any]]:
    """A function for `early_config_prune`: drops what cannot launch, keeps the `top`, best est. first.

    Where nothing can be said (a config without block sizes, a type nobody knows) all configs are kept.
    """

    def prune(given: Sequence[Any], named_args: Mapping[str, Any], **more: Any) -> list[Any]:
        rows = [candidate(config.all_kwargs()) for config in given]
        asked = _asked({**named_args, **more}, sizes, dtype)
        if asked is None or any(row is None for row in rows):
            return list(given)
        by_row: dict[tuple[tuple[str, int], ...], list[Any]] = {}
        for config, row in zip(given, rows, strict=True):
            assert row is not None
            by_row.setdefault(_key(row), []).append(config)
        unique = [dict(key) for key in by_row]
        ranked = rank(chip, **asked, candidates=unique, layout=layout).tiles
        found = [config for tile in ranked for config in by_row[_key_of(tile, unique[0])]]
        return found[:top] or list(given)

    return prune


def perf_model(
    chip: Chip | Target | str,
    *,
    dtype: str | None = None,
    sizes: tuple[str, str, str] = ("M", "N", "K"),
    layout: str | None = None,
) -> Callable[..., float]:
    """A function for `perf_model`: est. seconds of one config; infinity where it cannot launch."""

    def seconds(**arguments: Any) -> float:
        row, asked = candidate(arguments), _asked(arguments, sizes, dtype)
        if row is None or asked is None:
            return float("inf")
        found = rank(chip, **asked, candidates=[row], layout=layout).tiles
        return found[0].seconds if found else float("inf")

    return seconds


def candidate(arguments: Mapping[str, Any]) -> dict[str, int] | None:
    """A config's keyword arguments as a candidate of `rank_tiles`; None without the three block sizes."""
    found = {"warps": int(arguments.get("num_warps", 4)), "stages": int(arguments.get("num_stages", 2))}
    for name, given in arguments.items():
        known = _OF.get(SPELLINGS.get(name.upper(), name.upper()))
        if known is not None and isinstance(given, int):
            found[known] = given
    return found if {"block_m", "block_n", "block_k"} <= found.keys() else None


def _key(row: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(row.items()))


def _key_of(tile: Tile, like: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((name, getattr(tile, name)) for name in sorted(like))


def _asked(
    arguments: Mapping[str, Any], sizes: tuple[str, str, str], dtype: str | None
) -> dict[str, Any] | None:
    """The problem that a launch's arguments state, None if they do not."""
    values = [arguments.get(name) for name in sizes]
    known = dtype or next((_type(value) for value in arguments.values() if hasattr(value, "dtype")), None)
    if known is None or not all(isinstance(value, int) for value in values):
        return None
    return {"m": values[0], "n": values[1], "k": values[2], "dtype": known}


def _type(tensor: Any) -> str | None:
    return TYPES.get(str(tensor.dtype).rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Verified:
    """A Tile as the compiler made it: registers, spills and LDS of the compiled kernel, and its Fit.

    `error` holds the compiler's first line where there is no kernel; the rest is None then.
    """

    tile: Tile
    lds: int | None = None
    registers: int | None = None
    spills: int | None = None
    fit: Fit | None = None
    error: str | None = None


BACKENDS = {"AMD": "hip", "NVIDIA": "cuda"}
"""Triton's backend by vendor; of others, the public Triton has none."""

_POINTERS = {
    "fp16": "*fp16", "bf16": "*bf16", "fp32": "*fp32", "int8": "*i8", "fp8": "*fp8e4nv",
    "mxfp8": "*fp8e4nv", "mxfp4": "*u8",
}  # fmt: skip
_FORMATS = {"mxfp8": ("e4m3", 1), "mxfp4": ("e2m1", 2)}


def verify(tiles: Sequence[Tile], dtype: str, *, layout: str = "TN") -> list[Verified]:
    """Each tile compiled for its chip's target, without a GPU; in the order given.

    Needs Triton. Raises BadQuestion where the target has no public Triton backend or no kernel of this type.
    """
    if not tiles:
        return []
    target = tiles[0].chip.target
    if target.vendor not in BACKENDS:
        raise BadQuestion(f"{target.name}: the public Triton compiles nothing for {target.vendor}; est. only")
    problem(1, 1, 1, dtype)
    if dtype not in _POINTERS:
        raise BadQuestion(f"no kernel of type {dtype} to compile; there are {', '.join(_POINTERS)}")
    return [_compiled(tile, target, dtype, layout) for tile in tiles]


def _compiled(tile: Tile, target: Target, dtype: str, layout: str) -> Verified:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import compile as build

    backend = BACKENDS[target.vendor]
    arch: Any = target.name if backend == "hip" else int(target.name.rpartition("_")[2])
    try:
        made = build(
            _source(tile, target, dtype, layout),
            target=GPUTarget(backend, arch, target.default_wave),
            options={"num_warps": tile.warps, "num_stages": tile.stages},
        )
    except Exception as error:  # whatever a compiler raises is an answer about this tile
        first = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        return Verified(tile, error=first[:200])
    return _read(tile, made.asm["hsaco" if backend == "hip" else "cubin"], int(made.metadata.shared))


def _read(tile: Tile, binary: bytes, shared: int) -> Verified:
    """The kernel in a compiled binary, with the LDS that Triton gives at launch."""
    from wavefit.kernels import kernels

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tile.bin"
        path.write_bytes(binary)
        found = next(iter(kernels(str(path))))
    if isinstance(found, Exception):
        return Verified(tile, lds=shared, error=str(found))
    resident = fit(found, chip=tile.chip, threads=tile.threads, lds_dynamic=shared)
    assert isinstance(resident, Fit)
    return Verified(tile, shared, found.total_vgprs, found.vgpr_spills, resident)


def _source(tile: Tile, target: Target, dtype: str, layout: str) -> Any:
    """The kernel of this type with the tile's constants, pointers and strides known to be aligned."""
    from triton.compiler import ASTSource

    from wavefit.tiles import gemm

    scaled = dtype in _FORMATS
    kernel = gemm.gemm_mx if scaled else gemm.gemm
    constants: dict[str, Any] = {name: getattr(tile, attribute) for name, attribute in NAMES.items()}
    if scaled:
        constants["FORMAT"], constants["PACK"] = _FORMATS[dtype]
    ones = ("stride_ak", "stride_cn", "stride_bk" if layout == "TN" else "stride_bn")
    constants |= dict.fromkeys(ones, 1)
    pointer = _POINTERS[dtype]
    if dtype == "fp8" and "fnuz" in str(target.facts["tile.fp8"].value if "tile.fp8" in target.facts else ""):
        pointer = "*fp8e4b8"
    out = pointer if dtype in {"fp16", "fp32"} else "*bf16"
    types = {"a": pointer, "b": pointer, "c": out, "scale_a": "*u8", "scale_b": "*u8"}
    names = list(kernel.arg_names)
    signature = {name: "constexpr" if name in constants else types.get(name, "i32") for name in names}
    return ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={(at,): [["tt.divisibility", 16]] for at, name in enumerate(names) if name not in constants},
    )
