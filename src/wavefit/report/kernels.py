"""A report as text: what each kernel spends, then what fits."""

from __future__ import annotations

from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, FitRange
from wavefit.report.document import Answer, Report
from wavefit.report.names import printable
from wavefit.report.rosetta import named, vendor_of
from wavefit.report.text import explain_lines, fit_lines, size_text


def report_text(report: Report, *, explain: bool = False) -> str:
    """Every kernel in turn, and a count where there are several."""
    blocks = [kernel_text(kernel, answer, explain=explain) for kernel, answer in report.kernels]
    if len(blocks) > 1:
        blocks.append(f"{len(blocks)} kernels")
    return "\n\n".join(blocks)


def kernel_text(kernel: Kernel, answer: Answer, *, explain: bool = False) -> str:
    """One kernel: name and file, what it spends, and the answer."""
    place = printable(kernel.file) + (f"[{printable(kernel.member)}]" if kernel.member else "")
    lines = [printable(kernel.name), f"  in {place}", *_spends(kernel)]
    lines += [f"  note: {printable(note)}" for note in kernel.notes]
    if isinstance(answer, BadQuestion):
        return "\n".join([*lines, f"  no answer: {answer}"])
    fits = [answer.low, answer.high] if isinstance(answer, FitRange) else [answer]
    for fit in fits:
        of = f"{fit.chip} ({fit.target})" if fit.chip else fit.target
        mode = f", {fit.mode.upper()} mode" if fit.mode else ""
        lines += ["", f"  on {of}{mode}: {size_text(fit)}"]
        lines += fit_lines(fit)
        if explain:
            lines += ["", *explain_lines(fit)]
    return "\n".join(lines)


def _spends(kernel: Kernel) -> list[str]:
    parts, vendor = [], vendor_of(kernel.target)
    if kernel.total_vgprs is not None:
        both = f" ({kernel.vgprs} regular + {kernel.agprs} accumulator)" if kernel.agprs else ""
        parts.append(f"{kernel.total_vgprs} {named('VGPRs', vendor)}{both}")
    if kernel.sgprs is not None:
        parts.append(f"{kernel.sgprs} SGPRs")
    dynamic = "unknown dynamic" if kernel.lds_dynamic is None else f"{kernel.lds_dynamic} dynamic"
    static = "unknown" if kernel.lds is None else kernel.lds
    parts.append(f"{named('LDS', vendor)} {static} static + {dynamic} bytes")
    if kernel.scratch or kernel.dynamic_stack:
        stack = " and a dynamic stack" * kernel.dynamic_stack
        parts.append(f"{named('scratch', vendor)} {kernel.scratch} bytes{stack}")
    lines = [f"  spends {', '.join(parts)}"]
    if kernel.allocated_vgprs not in (None, kernel.total_vgprs):
        scalar = f", {kernel.allocated_sgprs} SGPRs" if kernel.allocated_sgprs is not None else ""
        lines.append(f"  the descriptor allocates {kernel.allocated_vgprs} VGPRs{scalar}")
    spills = [
        f"{n} {kind}" for n, kind in ((kernel.vgpr_spills, "VGPRs"), (kernel.sgpr_spills, "SGPRs")) if n
    ]
    if spills:
        lines.append(f"  spills {' and '.join(spills)}")
    return lines
