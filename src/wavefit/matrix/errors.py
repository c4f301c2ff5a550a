"""What can be asked that has no answer here, each with what could be asked instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MatrixError(LookupError):
    """A question about matrix instructions that the tables cannot answer; one line says why."""

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class InstructionNotFound(MatrixError):
    """No instruction of the target has this name; `near` holds the closest names."""

    def __init__(self, name: str, target: str, names: Iterable[str]) -> None:
        self.name, self.near = name, near(name, names)
        super().__init__(f"{target} has no matrix instruction {name!r}{_hint(self.near)}")


class TypeNotFound(MatrixError):
    """No such element type, or none on this target; `near` holds what there is."""

    def __init__(self, name: str, has: Iterable[str], target: str | None = None) -> None:
        self.name = name
        if target is None:
            self.near = near(name, has)
            super().__init__(f"unknown element type {name!r}{_hint(self.near)}")
        else:
            self.near = tuple(has)
            super().__init__(
                f"no matrix instruction of {target} for {name} is in the tables; "
                f"they have {', '.join(self.near)}"
            )


class NoMatrix(MatrixError):
    """The target has no matrix unit, or nothing is public about it."""

    def __init__(self, target: str, has: str, note: str) -> None:
        what = "has no matrix instructions" if has == "none" else "matrix instructions are not known"
        super().__init__(f"{target} {what}: {note}" if has == "none" else f"{target}: {what} ({note})")


class NotKnown(MatrixError):
    """The instruction or chip exists, and the asked number is not public."""


class Refused(MatrixError):
    """A tile, layout or compiler option that does not apply, with the reason."""


def _restored(kind: type[MatrixError], args: tuple[object, ...], state: dict[str, object]) -> MatrixError:
    """An error that comes from another process, as it was raised there."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def near(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The closest names, at most four."""
    known = list(dict.fromkeys(names))
    found = difflib.get_close_matches(name.lower(), known, n=4, cutoff=0.5)
    found += [other for other in known if name.lower() in other and other not in found]
    return tuple(found[:4])


def _hint(names: tuple[str, ...]) -> str:
    return f"; did you mean {', '.join(names)}?" if names else ""
