"""A report as text: what each kernel spends, then what fits."""

from __future__ import annotations

from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, FitRange
from wavefit.report.document import Answer, Report
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.rosetta import named, vendor_of
from wavefit.report.text import chip_text, explain_lines, fit_lines, size_text
from wavefit.report.wrap import hung, listed


def report_text(report: Report, *, explain: bool = False) -> str:
    """Every kernel in turn, and a count where there are several."""
    blocks = [kernel_text(kernel, answer, explain=explain) for kernel, answer in report.kernels]
    if len(blocks) > 1:
        blocks.append(counted(len(blocks), "kernel"))
    return "\n\n".join(blocks)


def kernel_text(kernel: Kernel, answer: Answer, *, explain: bool = False) -> str:
    """One kernel: name and file, what it spends, and the answer."""
    place = printable(kernel.file) + (f"[{printable(kernel.member)}]" if kernel.member else "")
    name = printable(kernel.name)
    lines = [paint(name, "strong"), "  " + say("in {place}", place=place), *_spends(kernel)]
    for note in kernel.notes:
        lines += hung("  ", say("note: {note}", note=printable(retold(note))), hang=4)
    if isinstance(answer, BadQuestion):
        return "\n".join([*lines, *hung("  ", say("no answer: {why}", why=retold(str(answer))), hang=4)])
    fits = [answer.low, answer.high] if isinstance(answer, FitRange) else [answer]
    for fit in fits:
        on = say("on {chip}: {size}", chip=chip_text(fit), size=size_text(fit))
        lines += ["", *(paint(line, "strong") for line in hung("  ", on)), *fit_lines(fit)]
        if explain:
            lines += ["", *explain_lines(fit)]
    return "\n".join(lines)


def _spends(kernel: Kernel) -> list[str]:
    lines = hung("  ", say("spends {what}", what=listed(_costs(kernel))), hang=4)
    if kernel.allocated_vgprs not in (None, kernel.total_vgprs):
        taken = [counted(kernel.allocated_vgprs or 0, "VGPR")]
        if kernel.allocated_sgprs is not None:
            taken.append(counted(kernel.allocated_sgprs, "SGPR"))
        lines += hung("  ", say("the descriptor allocates {what}", what=listed(taken)), hang=4)
    spilled = ((kernel.vgpr_spills, "VGPR"), (kernel.sgpr_spills, "SGPR"))
    if spills := [counted(number, kind) for number, kind in spilled if number]:
        text = say("spills {what}", what=say(" and ").join(spills))
        lines += [paint(line, "poor") for line in hung("  ", text, hang=4)]
    return lines


def _costs(kernel: Kernel) -> list[str]:
    """Registers, LDS, scratch."""
    parts, vendor = [], vendor_of(kernel.target)
    if kernel.total_vgprs is not None:
        total = say("{count} {name}", count=kernel.total_vgprs, name=named("VGPRs", vendor))
        if kernel.agprs:
            total += say(
                " ({regular} regular + {accumulator} accumulator)",
                regular=kernel.vgprs, accumulator=kernel.agprs,
            )  # fmt: skip
        parts.append(total)
    if kernel.sgprs is not None:
        parts.append(counted(kernel.sgprs, "SGPR"))
    unknown = say("unknown")
    parts.append(
        say(
            "{lds} {static} static + {dynamic} dynamic bytes", lds=named("LDS", vendor),
            static=unknown if kernel.lds is None else kernel.lds,
            dynamic=unknown if kernel.lds_dynamic is None else kernel.lds_dynamic,
        )
    )  # fmt: skip
    if kernel.scratch or kernel.dynamic_stack:
        stack = say(" and a dynamic stack") if kernel.dynamic_stack else ""
        name = named("scratch", vendor)
        parts.append(say("{name} {bytes} bytes{stack}", name=name, bytes=kernel.scratch, stack=stack))
    return parts
