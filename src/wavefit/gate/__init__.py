"""Builds held against each other and against budgets, on the rows of reports.

`rows` types a report's kernels, `pairs` finds the same kernel in two builds, `diff` says what changed.
A rule is text (`parser`), then a tree (`rule`), then true, false or unknown of a kernel (`evaluate`);
`budget` says which rules are for which kernels, `check` holds them all. `schema` has that of each document.
"""
