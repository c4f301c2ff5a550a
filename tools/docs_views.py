"""The reference of the views: each authority, and what it does otherwise than the hardware."""

from __future__ import annotations

from tools.docs_words import code, plain, table, word

from wavefit.occupancy.views import VIEWS


def views(language: str) -> str:
    """A table a view: by resource, the rule that is not the hardware's."""
    heads = [
        word(each, language) for each in ("view", "authority", "resource", "differs from the hardware view")
    ]
    rows: list[list[str]] = []
    for view in VIEWS.values():
        for resource, rule in view.differs.items():
            first = not rows or rows[-1][-1] != view.name
            rows.append([code(view.name) if first else "", view.authority if first else "",
                         resource or "", plain(rule), view.name])  # fmt: skip
    return table(heads, [row[:-1] for row in rows])
