"""`measurements(path)`: every dispatch that profilers left in a file or a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wavefit.profiles.devices import Agent, Devices, merged
from wavefit.profiles.model import Measurement, Problem, ProfileError
from wavefit.profiles.sniff import Reader, sniff
from wavefit.profiles.text import Progress

MOST_PROBLEMS = 100
"""Kinds of damage told of one file; the rest is counted."""
_SAMPLES = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<!\w)\d[\w.+-]*""")
"""What differs between rows of one kind of damage: the text that is shown, and numbers."""
MOST_FILES = 100_000


def measurements(path: str | os.PathLike[str], progress: Progress | None = None) -> Measurements:
    """The Measurements of a profiler's output: one file, or every file under a folder.

    `progress` is called with a file's name, what was read of it, and its size in bytes (0 where the count
    is of dispatches). Raises ProfileError for a path that is not there.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise ProfileError(Problem(name, "no such file or folder"))
    return Measurements(name, progress)


class Measurements:
    """The Measurements under a path; each iteration reads them anew, a file at a time, none kept.

    `errors` holds what the last iteration could not read, as Problems: `refused` (a file that is no list
    of dispatches, with the reason), `empty`, or `damaged` (in part, or at all).
    """

    def __init__(self, path: str, progress: Progress | None = None) -> None:
        self.path = path
        self.errors: list[Problem] = []
        self._progress = progress

    def __iter__(self) -> Iterator[Measurement]:
        self.errors = []
        readers: list[Reader] = []
        machines = _Machines()
        for file in _files(self.path):
            found = sniff(file)
            if isinstance(found, Problem):
                self.errors.append(found)
            elif found.machine is None:
                readers.append(found)
            else:
                self.errors += machines.add(found, asked=True)
        if not os.path.isdir(self.path):
            machines.beside(self.path)
        count = 0
        for reader in readers:
            for measurement in self._read(reader, machines.of(reader.path, self.path)):
                count += 1
                yield measurement
        if not count:
            self.errors += machines.alone()

    def _read(self, reader: Reader, devices: Devices) -> Iterator[Measurement]:
        """One file: its Measurements passed on, its Problems kept up to a number."""
        assert reader.read is not None
        count, problems = 0, _Problems(reader.path)
        try:
            for found in reader.read(devices, self._progress):
                if isinstance(found, Measurement):
                    count += 1
                    yield found
                else:
                    problems.add(found)
            if not count and not problems.folded:
                problems.add(Problem(reader.path, "a header and no dispatch", "empty"))
        except ProfileError as error:
            problems.add(error.problem)
        finally:  # also where nobody reads on
            self.errors += problems.all()


@dataclass(slots=True)
class _Problems:
    """Those of one file, the same damage of many rows folded into its first row and a count."""

    file: str
    folded: dict[tuple[str, str], tuple[Problem, int]] = field(default_factory=dict)
    left_out: int = 0

    def add(self, problem: Problem) -> None:
        shape = problem.kind, _SAMPLES.sub("", problem.cause)
        if shape in self.folded:
            first, more = self.folded[shape]
            self.folded[shape] = first, more + 1
        elif len(self.folded) < MOST_PROBLEMS:
            self.folded[shape] = problem, 0
        else:
            self.left_out += 1

    def all(self) -> Iterator[Problem]:
        for first, more in self.folded.values():
            yield replace(first, more=more) if more else first
        if self.left_out:
            yield Problem(self.file, f"{self.left_out} more such rows")


@dataclass(slots=True)
class _Machines:
    """Tables of the machines, by the folder and the name they share with their traces."""

    tables: dict[str, dict[str, Devices]] = field(default_factory=dict)
    found: dict[str, list[Agent]] = field(default_factory=dict)

    def add(self, reader: Reader, asked: bool) -> list[Problem]:
        """Reads one table, which was `asked` for or stands beside. What is wrong with it is returned."""
        assert reader.machine is not None
        agents: list[Agent] = []
        problems = _Problems(reader.path)
        try:
            for item in reader.machine():
                if isinstance(item, Agent):
                    agents.append(item)
                else:
                    problems.add(item)
        except ProfileError as error:
            problems.add(error.problem)
        folder, name = os.path.split(reader.path)
        prefix = name.partition("agent_info")[0] if "agent_info" in name else name
        self.tables.setdefault(folder, {})[prefix] = Devices(agents)
        if asked:
            self.found[reader.path] = agents
        return list(problems.all())

    def beside(self, path: str) -> None:
        """Reads the tables beside a single trace, known by their names."""
        folder = os.path.dirname(path)
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            return
        for name in names:
            if "agent_info" in name or name == "sysinfo.csv":
                reader = sniff(os.path.join(folder, name))
                if isinstance(reader, Reader) and reader.machine and reader.path != path:
                    self.add(reader, asked=False)

    def of(self, path: str, root: str) -> Devices:
        """The GPUs of one trace: of the table with its name, else those of its folder, else further up."""
        folder, name = os.path.split(path)
        while True:
            here = self.tables.get(folder, {})
            named = [prefix for prefix in here if prefix and name.startswith(prefix)]
            if named:
                return here[max(named, key=len)]
            if here:
                return merged(here.values())
            if folder in ("", root) or not folder.startswith(root):
                return Devices()
            folder = os.path.dirname(folder)

    def alone(self) -> Iterator[Problem]:
        """Said of each table where there is no dispatch at all."""
        for path, agents in self.found.items():
            kinds = sorted({f"{agent.device.target}, {agent.device.units} units" for agent in agents})
            cause = f"describes a machine ({len(agents)} GPUs: {'; '.join(kinds)}), holds no dispatch"
            yield Problem(path, cause, "refused")


def _files(path: str) -> Iterator[str]:
    """The files under a path, folders sorted; links to folders are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    count = 0
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > MOST_FILES:
                raise ProfileError(Problem(path, f"more than {MOST_FILES} files; name a smaller folder"))
            yield os.path.join(folder, name)
