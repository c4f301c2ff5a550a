"""Writes the outputs that pages show anew, from real runs: `make docs-outputs`, or pages by name.

python -m tools.docs_outputs [--light] [PAGE...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests import blocks


def refreshed(page: Path, *, heavy: bool) -> str:
    """The page's text with every output as it is now."""
    text = page.read_text(encoding="utf-8")
    made, done = [], 0
    with tempfile.TemporaryDirectory() as folder:
        session = blocks.Session(Path(folder))
        for block in blocks.blocks(page):
            if block.not_run or (block.heavy and not heavy):
                continue
            lines = session.replay(block).splitlines(keepends=True)
            made += [text[done : block.start], *(f"{block.indent}{line}".rstrip(" ") for line in lines)]
            done = block.end
    return "".join([*made, text[done:]])


def main() -> int:
    """Rewrite the pages that changed; exit 1 when a block did not run as it says."""
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    wanted.add_argument("--light", action="store_true", help="leave blocks that need heavy tools as they are")
    wanted.add_argument("pages", nargs="*", type=Path)
    asked = wanted.parse_args()
    failed = 0
    for page in [path.resolve() for path in asked.pages] or blocks.pages():
        try:
            new = refreshed(page, heavy=not asked.light)
        except blocks.Failed as error:
            failed += 1
            print(error, file=sys.stderr)
            continue
        if new != page.read_text(encoding="utf-8"):
            page.write_text(new, encoding="utf-8")
            print(f"changed: {page.relative_to(blocks.ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
