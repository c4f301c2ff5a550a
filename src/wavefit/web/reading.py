"""The process that reads dropped files: `main(FOLDER, ASKED)` prints one document."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from wavefit.chips import ChipNotFound
from wavefit.kernels import NoKernels
from wavefit.occupancy import BadQuestion, FitRange
from wavefit.profiles import ProfileError, confirm
from wavefit.profiles.sniff import Reader, sniff
from wavefit.report.build import build
from wavefit.report.confirm import confirm_document
from wavefit.report.document import Answer, Report
from wavefit.report.language import speaking
from wavefit.report.text import verdict

Json = dict[str, Any]
_PATHS = ("file", "source")


def report(chip: str | None, launch: Json) -> Report:
    """The kernels of the folder that the process is in."""
    return build(["."], chip=chip, **launch)


def trace(chip: str | None, compiled: bool) -> Json:
    """What profilers left in it, joined with the kernels beside."""
    return confirm_document(confirm(".", kernels="." if compiled else None, chip=chip))


def both(chip: str | None, launch: Json) -> Json:
    """A report with its verdicts and, where a file is a profiler's, what it measured.

    A file that one of the two takes is no error of the other.
    """
    found = report(chip, launch)
    measured = trace(chip, bool(found.kernels)) if any(map(_is_profile, _files())) else None
    errors = [error for error in found.errors if not (measured and isinstance(error, NoKernels))]
    kept = Report(found.kernels, tuple(errors)).to_dict()
    for row, (_, answer) in zip(kept["kernels"], found.kernels, strict=True):
        row["verdict"] = _verdict(answer)
    if measured:
        measured["errors"] = [each for each in measured["errors"] if each["kind"] != "refused"]
    return {"report": kept, "confirm": measured}


def _verdict(answer: Answer) -> str:
    if isinstance(answer, BadQuestion):
        return str(answer)
    return verdict(answer.high if isinstance(answer, FitRange) else answer)


def _files() -> list[str]:
    return [os.path.join(root, name) for root, _, names in os.walk(".") for name in names]


def _is_profile(path: str) -> bool:
    found = sniff(path)
    return isinstance(found, Reader) and found.read is not None


def main(folder: str, question: str) -> None:
    """Print the document. Ends with 2 and one line where there is none."""
    asked: Json = json.loads(question)
    os.chdir(folder)
    chip, launch = asked["chip"], asked["launch"]
    try:
        if asked["what"] == "report":
            found = report(chip, launch).to_dict()
        else:
            with speaking(asked["language"]):
                found = trace(chip, True) if asked["what"] == "confirm" else both(chip, launch)
    except (BadQuestion, ChipNotFound, ProfileError, OSError) as error:
        print(f"wavefit: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    json.dump(_bare(found), sys.stdout)


def _bare(node: Any) -> Any:
    """File names without the folder they were put in."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value.removeprefix("./") if key in _PATHS and isinstance(value, str) else _bare(value)
        for key, value in node.items()
    }
