"""The overview of a survey: what binds, how many waves, who spills, who is near one workgroup more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from wavefit.report.charts.survey import (
    NEAR,
    SPILLS,
    Distributions,
    Row,
    group_name,
    limiter_name,
)
from wavefit.report.language import catalogue, counted, say, speaking
from wavefit.report.names import printable
from wavefit.report.page.frame import framed, told, top
from wavefit.report.page.pack import compressed
from wavefit.report.text import NAMES
from wavefit.survey import Summary

_SHOWN = 12
_NAME = 300


def overview(summary: Summary, found: Distributions, *, chosen: str | None = None) -> str:
    """The survey as one HTML file that needs nothing else, in both languages, which works without script.

    `summary` and `found` have counted the same Tables. `chosen` is "en" or "zh"; without it the browser's
    preference decides.
    """
    said = [{"en": english, "zh": chinese} for english, chinese in catalogue("zh").items()]
    with speaking(chosen or "en"):
        title = say(
            "Survey: {kernels} in {files}", kernels=counted(summary.kernels, "kernel"),
            files=counted(len(summary.files), "file"),
        )  # fmt: skip
        body = "\n".join((*top(), *_body(title, summary, found), "</main>"))
        return framed(
            title, body, scripts=("unpack", "words", "overview"), data=compressed({"said": said}),
            fixed=chosen is not None,
        )  # fmt: skip


def _body(title: str, summary: Summary, found: Distributions) -> Iterator[str]:
    yield f"<h1>{escape(title)}</h1>"
    yield "<dl class='spends'>"
    numbers = {
        "spill registers": summary.spilling, "cannot launch": summary.cannot_launch,
        "no answer": summary.no_fit, "more are copies": summary.duplicates,
        "could not be read": summary.errors,
    }  # fmt: skip
    for key, amount in numbers.items():
        yield f"<div>{told('dt', key)}<dd>{amount:,}</dd></div>"
    yield "</dl><div class='ways'><div>"
    yield from _section("What binds", "bound by", summary.by_binding.most_common(), limiter_name)
    yield "</div><div>"
    yield from _section("Targets", "target", summary.by_target.most_common(), str)
    yield "</div></div>"
    yield from _waves(found)
    yield "<div class='ways'><div>"
    near = [(str(at), found.near[at]) for at in range(1, NEAR + 1)]
    yield from _section("Registers to the next workgroup", "fewer VGPRs", near, str)
    yield "</div><div>"
    spills = [(group_name(at), found.spills[at]) for at in range(len(SPILLS))]
    yield from _section("Spilled vector registers", "VGPRs spilled", spills, str)
    yield "</div></div>"
    yield from _kernels("Nearest to one workgroup more", "fewer VGPRs", found.nearest)
    yield from _kernels("Most spilled registers", "VGPRs spilled", found.spilling)


def _section(head: str, what: str, counts: Sequence[tuple[str, int]], name: Any) -> Iterator[str]:
    """A table of counts, each with a bar of its share of the largest."""
    yield told("h2", head)
    if not any(count for _, count in counts):
        yield told("p", "none")
        return
    shown = list(counts[: _SHOWN if len(counts) > NEAR else NEAR])
    rest = sum(count for _, count in counts[len(shown) :])
    lines = [(_label(name(key)), count) for key, count in shown]
    lines += [(told("span", "others"), rest)] if rest else []
    most = max(count for _, count in lines)
    yield from _table(
        (what, "kernels", ""),
        (f"<th scope='row'>{text}</th>{_n(count)}{_bar(count, most)}" for text, count in lines),
    )


def _waves(found: Distributions) -> Iterator[str]:
    """Kernels by waves a SIMD (down) and by what binds (across)."""
    yield told("h2", "Waves a SIMD, by what stops the next workgroup")
    limiters, counts = found.limiters(), {(waves, name): count for waves, name, count in found.by_waves()}
    if not counts:
        yield told("p", "none")
        return
    sums = {waves: sum(counts.get((waves, name), 0) for name in limiters) for waves, _ in counts}
    most = max(sums.values())
    heads = ("waves a SIMD", *map(limiter_name, limiters), "kernels", "")
    lines = (
        f"<th scope='row'>{waves:g}</th>"
        + "".join(_n(counts.get((waves, name), 0)) for name in limiters)
        + _n(total) + _bar(total, most)
        for waves, total in sums.items()
    )  # fmt: skip
    yield from _table(heads, lines)


def _kernels(head: str, what: str, rows: Sequence[Row]) -> Iterator[str]:
    yield told("h2", head)
    if not rows:
        yield told("p", "none")
        return
    yield from _table(("kernel", "file", "target", "VGPRs", "waves a SIMD", what), map(_kernel, rows))


def _kernel(row: Row) -> str:
    place = row["file"] + (f"[{row['member']}]" if row["member"] else "")
    numbers = (row["vgprs"], row["waves_per_simd"], row["amount"])
    return (
        f"<th scope='row'>{_name(row['name'])}</th><td>{_name(place)}</td><td>{escape(row['target'])}</td>"
        + "".join(f"<td class='n'>{'-' if each is None else f'{each:g}'}</td>" for each in numbers)
    )


def _name(text: str) -> str:
    return f"<span class='name' dir='ltr'>{escape(printable(text, _NAME))}</span>"


def _label(text: str) -> str:
    return told("span", text) if text in NAMES.values() or text == "no Fit" else escape(text)


def _table(heads: Sequence[str], lines: Iterable[str]) -> Iterator[str]:
    label = " ".join(filter(None, heads))
    yield f"<div class='scroll' role='region' tabindex='0' aria-label='{escape(label)}'><table><thead><tr>"
    for at, head in enumerate(heads):
        side = ' class="n"' if at and head not in ("file", "target") else ""
        yield told("th", head, f'scope="col"{side}') if head else "<td></td>"
    yield "</tr></thead><tbody>"
    yield from (f"<tr>{line}</tr>" for line in lines)
    yield "</tbody></table></div>"


def _n(count: int) -> str:
    return f"<td class='n'>{count:,}</td>"


def _bar(count: int, most: int) -> str:
    return (
        "<td class='share'><svg class='bar' viewBox='0 0 1 1' preserveAspectRatio='none' aria-hidden='true'>"
        f"<rect class='part' width='{count / most:.6g}' height='1'/></svg></td>"
    )
