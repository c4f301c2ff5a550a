"""The summary of a survey as text, and how far it is."""

from __future__ import annotations

import sys
import time

from wavefit.kernels.bounds import Bounds, size_text
from wavefit.occupancy.result import BadQuestion
from wavefit.survey import Summary
from wavefit.survey.pieces import Piece, pieces

_SCALE = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MOST = 12


def bounds(unpacked: str | None) -> Bounds | None:
    """Bounds with another limit for one packed stream, written as `8G`. Raises BadQuestion."""
    if unpacked is None:
        return None
    text = unpacked.strip().lower().removesuffix("b").removesuffix("i")
    number, unit = text.rstrip("kmgt"), text.lstrip("0123456789")
    if not number.isdigit() or unit not in _SCALE:
        raise BadQuestion(f"{unpacked!r} is not a size; write 512M or 8G")
    return Bounds(unpacked=int(number) * _SCALE[unit])


def summary_text(summary: Summary, out: str | None) -> str:
    """How many kernels, by target and by what binds, and those to look at."""
    files = f"{len(summary.files)} file{'s' * (len(summary.files) != 1)}"
    lines = [f"{summary.kernels} kernels in {files}"]
    if summary.duplicates:
        lines[0] += f", {summary.duplicates} more are copies"
    lines += ["", "  by target", *_counts(summary.by_target.most_common(), summary.kernels)]
    lines += ["", "  by what binds", *_counts(summary.by_binding.most_common(), summary.kernels)]
    lines += [
        "",
        f"  {summary.spilling:>9}  spill registers",
        f"  {summary.cannot_launch:>9}  cannot launch at the size they are surveyed at",
        f"  {summary.near:>9}  are within {summary.within} vector registers of one workgroup more",
    ]
    if summary.no_fit:
        lines.append(f"  {summary.no_fit:>9}  have no Fit: target or workgroup size not known")
    if out:
        lines += ["", f"  one row a kernel in {out}"]
    return "\n".join(lines)


def _counts(counts: list[tuple[str, int]], total: int) -> list[str]:
    lines = [f"  {count:>9}  {count / total:6.1%}  {name}" for name, count in counts[:_MOST]]
    rest = sum(count for _, count in counts[_MOST:])
    return lines + ([f"  {rest:>9}  {rest / total:6.1%}  {len(counts) - _MOST} others"] if rest else [])


class Bar:
    """One line on the terminal: bytes done of all, and an estimate of what is left."""

    def __init__(self, paths: list[str]) -> None:
        self._total = sum(piece.size for piece in pieces(paths, 1) if isinstance(piece, Piece))
        self._done, self._begin = 0, time.monotonic()

    def __call__(self, piece: Piece) -> None:
        self._done += piece.size
        passed = time.monotonic() - self._begin
        share = self._done / self._total if self._total else 1
        left = f", about {passed / share - passed:.0f} s left" if 0 < share < 1 else ""
        sys.stderr.write(f"\r{size_text(self._done)} of {size_text(self._total)}{left}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        """Clears the line."""
        sys.stderr.write("\r\x1b[K")
