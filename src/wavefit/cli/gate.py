"""`wavefit gate`: budgets held against every kernel of a build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from wavefit.cli.options import complain, echo_json, json_option, launch_options


@click.command("gate")
@click.argument("path")
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@click.option("--budget", "budget_file", help="A TOML file: [rules] from kernel patterns to lists of rules.")
@click.option("--baseline", help="An earlier build, or the file `wavefit report --json` wrote of it.")
@click.option("--chip", help="A product to fit on, such as MI355X; default: each kernel's own target.")
@launch_options
@click.option("--sarif", "sarif_file", help="Write the breaches as SARIF 2.1.0.")
@click.option("--junit", "junit_file", help="Write every check as JUnit XML.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@json_option
def command(
    path: str,
    rules: tuple[str, ...],
    budget_file: str | None,
    baseline: str | None,
    chip: str | None,
    sarif_file: str | None,
    junit_file: str | None,
    strict: bool,
    as_json: bool,
    **launch: Any,
) -> None:
    """Exit 1, and one line a breach, where a kernel does not keep a rule.

    \b
      wavefit gate build "occupancy >= 50%" "vgpr_spills == 0"
      wavefit gate build "waves_per_simd >= baseline" --baseline main.json
      wavefit gate build 'name =~ "gemm" -> total_vgprs <= 128 and lds <= 64K'

    A rule names a report's fields (occupancy, waves_per_simd, total_vgprs, slack.vgpr,
    limits.lds.allocated), `baseline` or baseline.FIELD, numbers (64K, 50%), "texts" and unknown; with
    -> and or not, comparisons, =~ and !~ for patterns, + - * /. What the report does not know cannot be
    decided, and is a breach. A rule with a baseline skips kernels that the baseline does not have.
    """
    from wavefit.gate import budget
    from wavefit.gate.check import gate
    from wavefit.report import gate as show
    from wavefit.report.language import speaking
    from wavefit.report.rows import load

    budgets = budget.plain(rules)
    if budget_file is not None:
        budgets += budget.read(Path(budget_file).read_bytes(), budget_file)
    if not budgets:
        raise click.UsageError("give a rule, or --budget FILE")
    build, *earlier = load((path,) if baseline is None else (path, baseline), chip, launch)
    found = gate(budgets, build.rows, earlier[0].rows if earlier else None)
    if sarif_file is not None:
        from wavefit.report.sarif import sarif

        with speaking("en"):
            written = json.dumps(sarif(found, build), indent=1)
        Path(sarif_file).write_text(written + "\n", encoding="utf-8")
    if junit_file is not None:
        from wavefit.report.junit import junit

        with speaking("en"):
            written = junit(found, build)
        Path(junit_file).write_text(written, encoding="utf-8")
    if as_json:
        echo_json(show.gate_document(found, build, baseline))
    else:
        click.echo("\n".join(show.gate_lines(found)))
    warnings = list(build.warnings())
    for line in (*show.notes(found), *warnings):
        complain(line)
    if found.breaches or (strict and warnings):
        raise click.exceptions.Exit(1)
