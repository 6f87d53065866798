"""Measure speed and memory beside bare MuJoCo, in the same run on the same model.

Speeds are physics steps per second of processor time of one thread, control cycle of 20 ms included; the peer is a
loop over mj_step with the same commands. Ours and the peer take turns, and the best turn of each counts.

example: nutmeg bench
         nutmeg bench --only nao-v6 --json
         nutmeg bench --server --seconds 10
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.errors import UnknownNameError
from nutmeg.commands.options import JsonOption

if TYPE_CHECKING:
    from nutmeg.bench.row import Row
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg bench`."""

    only: str = ""
    """Run only the benchmarks whose name contains this."""
    server: bool = False
    """Run only the benchmarks of the match servers."""
    seconds: float = 1.0
    """How long each turn of a speed measurement lasts."""
    device: Literal["cpu", "gpu"] = "cpu"
    """Whose promises are measured: this processor's, or those of a CUDA device (`pip install 'nutmeg-sim[gpu]'`)."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Runs the benchmarks one after another."""
    from nutmeg.bench import benchmarks, device_benchmarks

    known = benchmarks(arguments.seconds) if arguments.device == "cpu" else device_benchmarks(arguments.seconds)
    wanted = [arguments.only, "server"] if arguments.server else [arguments.only]
    chosen = {name: measure for name, measure in known.items() if all(part in name for part in wanted)}
    if not chosen:
        raise UnknownNameError("benchmark", arguments.only, known)
    rows: list[Row] = []
    for name, measure in chosen.items():
        with terminal.busy(name):
            measured = measure()
        for row in measured:
            terminal.say(row.sentence())
        rows += measured
    columns = ("benchmark", "value", "unit", "beside", "ratio", "target", "met")
    terminal.table("", columns, [row.cells() for row in rows])
    return {"rows": [row.as_json() for row in rows]}
