"""`--cluster`: its options, and what workers do for commands other than the survey."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from wavefit.experiments.run import Outcome
    from wavefit.survey.crew import Cluster
    from wavefit.tiles.rank import Tile
    from wavefit.tiles.triton import Verified

F = TypeVar("F", bound=Callable[..., Any])
CLUSTER = ("cluster", "tls_ca", "tls_cert", "tls_key")
"""The names of these options."""
_OF_TILE = ("block_m", "block_n", "block_k", "warps", "stages", "group_m", "split_k")


def cluster_options(command: F) -> F:
    """A Dask scheduler to work through, and the files of its TLS."""
    for option in reversed(
        (
            click.option("--cluster", metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786, tls://..."),
            click.option("--tls-ca", type=click.Path(exists=True), help="Its certificate authority (PEM)."),
            click.option("--tls-cert", type=click.Path(exists=True), help="Our certificate (PEM)."),
            click.option("--tls-key", type=click.Path(exists=True), help="Our key (PEM)."),
        )
    ):
        command = option(command)
    return command


def joined(
    cluster: str | None, tls_ca: str | None, tls_cert: str | None, tls_key: str | None
) -> Cluster | None:
    """The cluster asked for, None where none is. Without TLS files Dask's configuration counts."""
    given = [name for name in (tls_ca, tls_cert, tls_key) if name]
    if cluster is None:
        if given:
            raise click.UsageError("--tls-ca, --tls-cert and --tls-key belong to --cluster")
        return None
    if given and len(given) < 3:
        raise click.UsageError("--tls-ca, --tls-cert and --tls-key are given together")
    from wavefit.survey.crew import Cluster

    return Cluster(cluster, (given[0], given[1], given[2]) if given else None)


def verify(crew: Cluster, tiles: tuple[Tile, ...], problem: dict[str, Any]) -> list[Verified]:
    """Each tile compiled by a worker; in the order given."""
    rows = [{name: getattr(tile, name) for name in _OF_TILE} for tile in tiles]
    answers = crew.reader().map(verified, [tile.chip.name for tile in tiles], [problem] * len(tiles), rows)
    return [replace(answer, tile=tile) for tile, answer in zip(tiles, answers, strict=True)]


def verified(chip: str, problem: dict[str, Any], row: dict[str, int]) -> Verified:
    """One tile, by its numbers, compiled here."""
    from wavefit.tiles.rank import rank
    from wavefit.tiles.triton import verify as compiled

    (answer,) = compiled(rank(chip, **problem, candidates=[row]).tiles, problem["dtype"])
    return answer


def bench(crew: Cluster, out: Path, targets: tuple[str, ...], quick: bool) -> Outcome:
    """Each target on one worker, which compiles and, where its machine has the chip, runs; one CSV here."""
    from wavefit.experiments.build import Built
    from wavefit.experiments.run import Outcome, join

    out.mkdir(parents=True, exist_ok=True)
    built, texts, skipped = list[Built](), list[str](), list[str]()
    for said, files, text, left in crew.reader().map(benched, targets, [quick] * len(targets)):
        for name, content in files.items():
            (out / name).write_bytes(content)
        built += [replace(each, path=out / each.path.name if each.path else None) for each in said]
        texts += [text] if text else []
        skipped += left
    csv = out / "feed.csv"
    rows = join(texts, csv) if texts else 0
    return Outcome(tuple(built), csv if texts else None, rows, tuple(skipped))


def benched(target: str, quick: bool) -> tuple[tuple[Any, ...], dict[str, bytes], str, tuple[str, ...]]:
    """What one target's bench built, the files, its CSV and what did not run."""
    from wavefit.experiments import bench as run

    with TemporaryDirectory() as folder:
        done = run(Path(folder), (target,), quick=quick)
        files = {each.path.name: each.path.read_bytes() for each in done.built if each.path}
        text = done.csv.read_text(encoding="utf-8") if done.csv else ""
        return done.built, files, text, done.skipped
