"""The summary of a survey as text, and how far it is."""

from __future__ import annotations

import sys
import time

from wavefit.kernels.bounds import size_text
from wavefit.report.language import counted, say
from wavefit.report.paint import paint
from wavefit.report.wrap import hung
from wavefit.survey import Summary
from wavefit.survey.pieces import total_size

_MOST = 12


def summary_text(summary: Summary, out: str | None) -> str:
    """How many kernels, by target and by what binds, and those to look at."""
    kernels, files = counted(summary.kernels, "kernel"), counted(len(summary.files), "file")
    title = say("{kernels} in {files}", kernels=kernels, files=files)
    if summary.duplicates:
        title += say(", {number} more are copies", number=summary.duplicates)
    lines = [paint(title, "strong")]
    for head, counts in (("by target", summary.by_target), ("by what binds", summary.by_binding)):
        lines += ["", "  " + say(head), *_counts(counts.most_common(), summary.kernels)]
    lines.append("")
    for number, text in (
        (summary.spilling, say("spill registers")),
        (summary.cannot_launch, say("cannot launch at the size they are surveyed at")),
        (summary.near, say("are within {near} vector registers of one workgroup more", near=summary.within)),
    ):
        lines += hung(f"  {number:>9}  ", text)
    if summary.no_fit:
        lines += hung(f"  {summary.no_fit:>9}  ", say("have no Fit: target or workgroup size not known"))
    if out:
        lines += ["", "  " + say("one row a kernel in {place}", place=out)]
    return "\n".join(lines)


def _counts(counts: list[tuple[str, int]], total: int) -> list[str]:
    lines = [f"  {count:>9}  {count / total:6.1%}  {name}" for name, count in counts[:_MOST]]
    rest = sum(count for _, count in counts[_MOST:])
    others = say("{number} others", number=len(counts) - _MOST)
    return lines + ([f"  {rest:>9}  {rest / total:6.1%}  {others}"] if rest else [])


class Bar:
    """One line on the terminal: bytes done of all, and an estimate of what is left."""

    def __init__(self, paths: list[str]) -> None:
        self._total = total_size(paths, urls=True)
        self._done, self._begin = 0, time.monotonic()

    def __call__(self, done_now: int) -> None:
        self._done += done_now
        passed = time.monotonic() - self._begin
        share = self._done / self._total if self._total else 1
        left = say(", about {time} s left", time=f"{passed / share - passed:.0f}") if 0 < share < 1 else ""
        done = say("{done} of {total}", done=size_text(self._done), total=size_text(self._total))
        sys.stderr.write(f"\r{done}{left}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        """Clears the line."""
        sys.stderr.write("\r\x1b[K")
