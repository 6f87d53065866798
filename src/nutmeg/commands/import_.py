"""Turn a CSV log of a real robot (or of another simulator) into a recording.

A column map, a TOML file, says which columns become which channels, and scales them:

  [time]
  column = "time_s"
  [[channels]]
  name = "servo.position"
  columns = ["position_deg"]
  scale = 0.017453292519943295
  unit = "rad"

Without one, the file needs a column `time` [s], and columns named CHANNEL.LABEL, such as servo.position.knee.

example: nutmeg import servo.csv --columns servo.toml -o servo.nutmeg
         nutmeg import log.csv -o log.nutmeg
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from nutmeg.commands.options import JsonOption, Output, check_new

if TYPE_CHECKING:
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg import`."""

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="LOG.csv")]
    """The CSV file; may be compressed (.gz)."""
    columns: Path | None = None
    """The column map, a TOML file; if left out, columns are named as in a recording."""
    output: Output
    """The recording to write."""
    overwrite: bool = False
    """Replace an older recording."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Reads the log and writes the recording."""
    from nutmeg.base.settings import read
    from nutmeg.recording import CsvMap, import_csv
    from nutmeg.recording.log import plain_map

    check_new(arguments.output, overwrite=arguments.overwrite)
    mapping = plain_map(arguments.file) if arguments.columns is None else read(arguments.columns, CsvMap)
    recording = import_csv(arguments.file, arguments.output, mapping, overwrite=arguments.overwrite)
    rows = [(c.name, len(c.labels), c.unit, " ".join(c.labels)) for c in recording.channels.values()]
    terminal.table(f"{arguments.output}", ("channel", "numbers", "unit", "labels"), rows)
    terminal.say(f"{len(recording)} rows, {recording.duration:.2f} s, {len(recording.events)} events.")
    terminal.say(f"look at it:  nutmeg replay {arguments.output}")
    return {"file": str(arguments.output), "rows": len(recording), "duration_s": recording.duration}
