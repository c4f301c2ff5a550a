"""What an agent may have read: files inside the folders given at start, after resolving links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

MOST_FILES = 10_000
"""Of one folder."""


class NotAllowed(ValueError):
    """A path outside the folders, or one that cannot be read. One line."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders, resolved."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, folders: Sequence[str]) -> Places:
        """Raises NotAllowed for what is not a folder."""
        for folder in folders:
            if not os.path.isdir(folder):
                raise NotAllowed(f"{folder}: not a folder")
        return cls(tuple(map(os.path.realpath, folders)))

    def readable(self, path: str) -> str:
        """The resolved path of a file or folder, from which no link leads outside. Raises NotAllowed.

        A path that is not absolute counts from each of the folders in turn.
        """
        within = [found for folder in self.folders if (found := self._inside(os.path.join(folder, path)))]
        if not within:  # whether or not there is such a file: of what is outside nothing is said
            raise NotAllowed(f"{path}: outside the folders given at start")
        found = next(filter(os.path.exists, within), None)
        if found is None:
            raise NotAllowed(f"{path}: no such file")
        if os.path.isdir(found):
            self._whole(found)
        elif self._inside(os.path.splitext(found)[0] + ".json") is None:
            raise NotAllowed(f"{path}: its side file (.json) leads outside the folders given at start")
        return found

    def _inside(self, path: str) -> str | None:
        """The resolved path where it is inside one of the folders."""
        try:
            found = os.path.realpath(path)
            inside = (os.path.commonpath([folder, found]) == folder for folder in self.folders)
            return found if any(inside) else None
        except (OSError, ValueError):  # a NUL, another drive, links in a circle
            return None

    def _whole(self, folder: str) -> None:
        """Readers follow links: a folder with one that leads outside is not read."""
        files = 0
        for root, folders, names in os.walk(folder):  # does not enter links
            files += len(names)
            if files > MOST_FILES:
                raise NotAllowed(f"{folder}: more than {MOST_FILES} files; name a folder inside it")
            for name in (*folders, *names):
                link = os.path.join(root, name)
                if os.path.islink(link) and self._inside(link) is None:
                    raise NotAllowed(
                        f"{link} leads outside the folders given at start; name a folder without it"
                    )
