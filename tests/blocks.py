"""The code blocks of pages, run: what they show is what they print.

    ```console            each line that begins with `$ ` is a command; what follows is all that it prints,
                          a line `...` standing for lines left out
    ```python             one namespace a page; `expression  # -> value` shows the value

A comment before a block says what is special: `<!-- heavy -->` (needs Triton, LLVM's tools or a browser),
`<!-- in FOLDER -->` (a copy of this folder is where it runs), `<!-- exits 1 -->`, `<!-- not run: REASON -->`;
several with a semicolon between. `python -m tools.docs_outputs` writes the outputs anew.
"""

from __future__ import annotations

import ast
import contextlib
import contextvars
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
LEFT_OUT = "..."
_BLOCK = re.compile(
    r"(?:^[ ]*<!-- (?P<marks>[^\n]*?) -->\n\n?)?"
    r"^(?P<indent>[ ]*)```(?P<kind>console|python)\b[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_SHOWN = re.compile(r"# -> (.*)$")


class Failed(AssertionError):
    """A block that did not run, or not as it says."""


@dataclass(frozen=True)
class Block:
    """One block of a page: where its text stands, and how it runs."""

    page: Path
    kind: str
    text: str
    start: int
    end: int
    indent: str
    heavy: bool = False
    folder: str = "."
    exits: int = 0
    not_run: str = ""

    @property
    def place(self) -> str:
        """`page.md:LINE`, of the block's first line."""
        line = self.page.read_text(encoding="utf-8").count("\n", 0, self.start) + 1
        return f"{self.page.name}:{line}"


def pages() -> list[Path]:
    """Every page whose blocks are run: the site's and the READMEs."""
    return sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that run, and those that say why they do not."""
    found = []
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        marks = [mark.strip() for mark in (match["marks"] or "").split(";")]
        told = {word: rest for word, _, rest in (mark.partition(" ") for mark in marks)}
        found.append(
            Block(
                page, match["kind"], textwrap.dedent(match["text"]), match.start("text"), match.end("text"),
                match["indent"], "heavy" in told, told.get("in", "."), int(told.get("exits", 0)),
                told.get("not", "").removeprefix("run: "),
            )
        )  # fmt: skip
    return found


class Session:
    """A page being read from top to bottom: a folder with the repository's own in it, and one namespace."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.space = folder, dict[str, Any]()
        self.made = set[str]()
        for name in ("docs", "examples", "tests"):
            (folder / name).symlink_to(ROOT / name)
        tools = folder / ".bin"
        tools.mkdir()
        for name, module in (("wavefit", "-m wavefit"), ("python", "")):
            script = tools / name
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
            script.chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WAVEFIT_")}
        self.environment = {**kept, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "PATH": path}

    def replay(self, block: Block) -> str:
        """The block's text as it should read, after running it. Raises Failed."""
        return self._console(block) if block.kind == "console" else self._python(block)

    def _place(self, block: Block) -> Path:
        if block.folder == ".":
            return self.folder
        place = self.folder / Path(block.folder).name
        if block.folder not in self.made:
            shutil.copytree(ROOT / block.folder, place)
            self.made.add(block.folder)
        return place

    def _console(self, block: Block) -> str:
        made = []
        place = self._place(block)
        for command, shown in _commands(block.text):
            code, printed, errors = self._run(" ".join(command.replace("\\\n", " ").split("\n")), place)
            if code != block.exits:
                raise Failed(f"{block.place}: `{command}` ended with {code}: {errors or printed[-500:]}")
            made += [f"$ {command}", *aligned(shown, printed.splitlines())]
        return "".join(f"{line}\n" for line in made)

    def _run(self, command: str, place: Path) -> tuple[int, str, str]:
        if _needs_no_shell(command):
            return contextvars.copy_context().run(_inside, shlex.split(command), place, self.environment)
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, encoding="utf-8", cwd=place,
            env=self.environment, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def _python(self, block: Block) -> str:
        lines = block.text.split("\n")
        with _within(self._place(block), self.environment):
            for node in ast.parse(block.text).body:
                last = (node.end_lineno or node.lineno) - 1
                wanted = _SHOWN.search(lines[last])
                value = self._value(node, block, raises=wanted is not None)
                if wanted:
                    lines[last] = lines[last][: wanted.start()] + f"# -> {value}".rstrip()
        return "\n".join(lines)

    def _value(self, node: ast.stmt, block: Block, *, raises: bool) -> str:
        """What a statement shows: its value, what it prints, or the error it ends with."""
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                if isinstance(node, ast.Expr):
                    code = compile(ast.Expression(node.value), block.place, "eval")
                    value = eval(code, self.space)
                    return printed.getvalue().strip() or repr(value)
                exec(compile(ast.Module([node], []), block.place, "exec"), self.space)
        except Exception as error:
            if not raises:
                raise Failed(f"{block.place}: {type(error).__name__}: {error}") from error
            return f"{type(error).__name__}: {error}"
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        return repr(self.space[target.id]) if isinstance(target, ast.Name) else ""


def aligned(shown: list[str], printed: list[str]) -> list[str]:
    """What a block should show of what was printed, lines left out where it left some out."""
    if LEFT_OUT not in shown:
        return printed
    made: list[str] = []
    start = 0
    for number, part in enumerate(_parts(shown)):
        at_end = number == shown.count(LEFT_OUT)
        first = _best(part, printed, start, pinned=number == 0, at_end=at_end)
        made += [*([LEFT_OUT] if number else []), *printed[first : first + len(part)]]
        start = first + len(part)
    return made


def _parts(shown: list[str]) -> list[list[str]]:
    """The runs of lines between those that are left out."""
    found: list[list[str]] = [[]]
    for line in shown:
        if line == LEFT_OUT:
            found.append([])
        else:
            found[-1].append(line)
    return found


def _best(part: list[str], printed: list[str], start: int, *, pinned: bool, at_end: bool) -> int:
    """Where a run of lines stands in what was printed: at its edge, or where it is most alike."""
    if pinned:
        return 0
    last = max(len(printed) - len(part), start)
    if at_end:
        return last

    def alike(first: int) -> float:
        window = printed[first : first + len(part)]
        return sum(SequenceMatcher(None, a, b).ratio() for a, b in zip(part, window, strict=False))

    return max(range(start, last + 1), key=alike)


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block with what is shown under it."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        elif command.endswith("\\") and not shown:
            command += f"\n{line}"
        else:
            shown.append(line)
    if command:
        yield command, shown


def _needs_no_shell(command: str) -> bool:
    """Whether a command is `wavefit` with plain or quoted words: no pipe, no file, nothing to expand."""
    parts = shlex.shlex(command, posix=True, punctuation_chars="|&;<>()")
    parts.whitespace_split = True
    operators = [part for part in parts if set(part) <= set("|&;<>()")]
    return command.startswith("wavefit ") and not operators and not set("$`*?\n") & set(command)


def _inside(words: list[str], place: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """`wavefit WORDS` in this process, as `main` runs it with pipes for its output: ten times as fast."""
    from wavefit.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = None
    with (
        _within(place, environment), mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
    ):  # fmt: skip
        try:
            main()
        except SystemExit as end:
            code = end.code
    printed, errors = (stream.buffer.getvalue().decode() for stream in (out, err))
    return (code if isinstance(code, int) else 0), printed, errors


@contextlib.contextmanager
def _within(place: Path, environment: dict[str, str]) -> Iterator[None]:
    here, before = Path.cwd(), dict(os.environ)
    try:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(environment)
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
