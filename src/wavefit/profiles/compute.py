"""rocprofiler-compute (once Omniperf): the tables of a workload folder, wide and long, and its side files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from wavefit.profiles.devices import Devices, sysinfo
from wavefit.profiles.dialects import dialect
from wavefit.profiles.dispatches import Tool, dispatches
from wavefit.profiles.longform import counter_rows
from wavefit.profiles.model import LDS_DISPATCH, LDS_ROUNDED, LDS_STATIC, Measurement, Problem, ProfileError
from wavefit.profiles.table import Table
from wavefit.profiles.text import head

_NAME = "rocprofiler-compute"
LARGEST_CONFIG = 1 << 18
MOST_ALIASES = 64


def long_rows(table: Table, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch and pass of a long pmc_perf. Passes follow each other, each from the start."""
    part, before = 0, -1
    for found in counter_rows(table, Tool(_NAME, LDS_DISPATCH), devices):
        if isinstance(found, Measurement):
            number = found.dispatch or 0
            if number <= before:
                part += 1
            before = number
            yield found._replace(part=part)
        else:
            yield found


DIALECTS = (
    dialect("sysinfo", "gpuarch cupergpu sepergpu", machine=sysinfo),
    dialect(
        "pmc_perf, long", "gpuid kernelname countername countervalue gridsize workgroupsize",
        read=long_rows,
    ),
    dialect(
        "pmc_perf from rocprofv3", "dispatchid kernelname ldsperworkgroup archvgpr kernelid",
        read=partial(dispatches, tool=Tool(_NAME, LDS_STATIC)),
    ),
    dialect(
        "pmc_perf from rocprof v1", "dispatchid kernelname ldsperworkgroup archvgpr obj",
        read=partial(dispatches, tool=Tool(_NAME, LDS_ROUNDED)),
    ),
    dialect(
        "rocprof v2", "dispatchid kernelname ldsperworkgroup archvgpr",
        read=partial(dispatches, tool=Tool("rocprof v2", LDS_ROUNDED)),
    ),
    dialect("dispatch list", "dispatchid kernelname gpuid", refused="a list of dispatches without sizes"),
    dialect("roofline", "device hbmbw", refused="measured peaks of the machine, no dispatch"),
)  # fmt: skip


def config(path: str) -> dict[str, Any]:
    """The scalars of a profiling_config.yaml. Raises ProfileError: too large, too many aliases, not YAML.

    Nothing in the file is executed: the loader is the safe one, and it stops at MOST_ALIASES.
    """
    try:
        import yaml
    except ImportError:
        raise ProfileError(Problem(path, "YAML, which needs PyYAML to be read", "refused")) from None

    class Bounded(yaml.SafeLoader):
        aliases = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                self.aliases += 1
                if self.aliases > MOST_ALIASES:
                    raise yaml.YAMLError(f"more than {MOST_ALIASES} aliases")
            return super().compose_node(parent, index)

    text = head(path, LARGEST_CONFIG + 1)
    if len(text) > LARGEST_CONFIG:
        raise ProfileError(Problem(path, f"a configuration larger than {LARGEST_CONFIG >> 10} KiB"))
    try:
        found = yaml.load(text, Loader=Bounded)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ProfileError(Problem(path, f"not YAML: {str(error).splitlines()[0]}")) from None
    if not isinstance(found, dict):
        raise ProfileError(Problem(path, "a configuration that is no mapping"))
    return {str(name): value for name, value in found.items() if isinstance(value, str | int | float | bool)}
