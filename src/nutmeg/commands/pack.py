"""Make one file of a recording's folder, to send it; every command reads either.

example: nutmeg pack match.nutmeg match-packed.nutmeg
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.commands.options import JsonOption, check_new

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg pack`."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """The folder of the recording."""
    output: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """The file to write."""
    overwrite: bool = False
    """Replace an older file."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Packs the recording."""
    from nutmeg.recording import Recording, pack

    check_new(arguments.output, overwrite=arguments.overwrite)
    Recording.open(arguments.folder)  # refuses a folder that is no readable recording
    pack(arguments.folder, arguments.output, overwrite=arguments.overwrite)
    size = arguments.output.stat().st_size
    terminal.say(f"wrote {arguments.output}: {size / 1e6:.1f} MB.")
    return {"file": str(arguments.output), "bytes": size}
