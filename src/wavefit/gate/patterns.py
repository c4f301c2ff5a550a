"""`=~`: patterns against hostile names, in a process of their own that a clock ends.

Python's own `re` backtracks: `(a+)+$` takes twice as long with each letter more that does not match, and
one second at 22 on a slow machine. A linear-time engine (RE2) would be a second dialect of patterns, and
has no wheels for musl. So all patterns of a gate meet all texts in one child, started only where a rule
has a pattern.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping

from wavefit.gate.rule import BadRule

SECONDS = 5.0
"""For every pattern on every text together; ten patterns on 20,000 names took 0.6 on a slow machine."""

_CHILD = """
import json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
except Exception:
    pass
asked = json.loads(sys.stdin.buffer.read())
for pattern in asked["patterns"]:
    try:
        search = re.compile(pattern).search
        found = [search(text) is not None for text in asked["texts"]]
    except Exception as why:
        found = str(why) or type(why).__name__
    print(json.dumps(found), flush=True)
"""


def matches(
    patterns: Iterable[str], texts: Iterable[str], seconds: float = SECONDS
) -> Mapping[tuple[str, str], bool]:
    """Whether each pattern is found in each text. Raises BadRule for a bad one, and for a slow one."""
    patterns, texts = sorted(set(patterns)), sorted(set(texts))
    if not patterns or not texts:
        return {}
    found: dict[tuple[str, str], bool] = {}
    answers = _answers(json.dumps({"patterns": patterns, "texts": texts}).encode(), seconds)
    late = f"gives no answer (limit {seconds:g} seconds); make it simpler"
    for at, pattern in enumerate(patterns):
        answer = answers[at] if at < len(answers) else late
        if isinstance(answer, str):
            raise BadRule(f"pattern {pattern!r}: {answer}")
        found.update(zip(((pattern, text) for text in texts), answer, strict=True))
    return found


def _answers(asked: bytes, seconds: float) -> list[str | list[bool]]:
    """One answer a pattern, as far as the child came."""
    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    try:
        said = subprocess.run(command, input=asked, capture_output=True, timeout=seconds).stdout
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
    return [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]
