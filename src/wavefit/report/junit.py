"""A gate's checks as JUnit XML, which test dashboards read."""

from __future__ import annotations

from xml.etree import ElementTree

from wavefit.gate.check import Check, Gate
from wavefit.report.gate import reason
from wavefit.report.names import printable
from wavefit.report.rows import Build


def junit(gate: Gate, build: Build) -> str:
    """A suite a file, a case for each kernel and rule; what could not be read is a case with an error."""
    root = ElementTree.Element("testsuites", name="wavefit gate")
    by_file: dict[str, list[Check]] = {}
    for check in gate.checks:
        by_file.setdefault(check.row.file, []).append(check)
    for file, checks in by_file.items():
        suite = ElementTree.SubElement(root, "testsuite", name=_plain(file))
        for check in checks:
            _case(suite, check)
        _count(suite)
    if build.errors:
        suite = ElementTree.SubElement(root, "testsuite", name="not read")
        for error in build.errors:
            case = ElementTree.SubElement(suite, "testcase", classname="not read", name=_plain(error))
            ElementTree.SubElement(case, "error", message=_plain(error), type="unreadable")
        _count(suite)
    _count(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, check: Check) -> None:
    name = f"{check.row.name}: {check.budget.rule.text}"
    case = ElementTree.SubElement(suite, "testcase", classname=_plain(check.row.place), name=_plain(name))
    if check.skipped:
        ElementTree.SubElement(case, "skipped", message="not in the baseline")
    elif check.is_breach:
        kind = "undecided" if check.held is None else "breach"
        why = _plain(reason(check))
        ElementTree.SubElement(case, "failure", message=why, type=kind).text = f"{_plain(name)}\n{why}"


def _count(element: ElementTree.Element) -> None:
    for key, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(key, str(sum(1 for _ in element.iter(tag))))


def _plain(text: str) -> str:
    """Text without what XML 1.0 cannot hold: control characters, halves of pairs, noncharacters."""
    return printable(text, longest=2000)
