"""Make the behavioural world like the physical one, or like real robots, from recordings of matches.

Estimates how fast and how steadily robots walk, how far and where they kick, when they fall and how long they take to
get up, and how the ball rolls, each with an interval. Numbers that the recordings do not determine keep the value of
the base, and the report says why. Writes a TOML file for --behaviour of nutmeg play, and a report beside it.

example: nutmeg calibrate behavioural --from runs/match-1/match.nutmeg
         nutmeg calibrate behavioural --from runs/match-1 --from runs/match-2 --output body.toml --json
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import FileError, UsageError, writing
from nutmeg.commands.options import JsonOption, Output, Seed, check_output

if TYPE_CHECKING:
    from nutmeg.match.calibration.calibrate import Calibrated
    from nutmeg.view.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg calibrate`."""

    world: tyro.conf.Positional[Literal["behavioural"]]
    """Which world is made like the recorded one."""
    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from"), tyro.conf.UseAppendAction] = ()
    """A recording of a match, or a folder with recordings; it can be given several times."""
    field: str | None = None
    """The pitch of recordings that do not say it, as those of real robots."""
    base: str = "nao-spark"
    """Settings that give the numbers which the recordings do not determine: a name, or a TOML file."""
    output: Output = Path("body.toml")
    """The file with the numbers; the report is written beside it, as a page of the same name."""
    seed: Seed = 0
    """Seed of the resampling that gives the intervals."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Calibrates, writes file and report, and prints what was found."""
    from nutmeg.match.calibration.calibrate import calibrate
    from nutmeg.match.worlds.behavioural.settings import load_behaviour, write_behaviour
    from nutmeg.model.field import load_field
    from nutmeg.view.reports.calibration import calibration_report
    from nutmeg.view.reports.fit import write_report

    with writing(arguments.output):
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
    check_output(arguments.output, ".toml")
    if arguments.field is not None:
        load_field(arguments.field)  # says which there are
    recordings, base, began = found_recordings(arguments.from_), load_behaviour(arguments.base), time.perf_counter()
    with terminal.busy(f"calibrating from {len(recordings)} recordings"):
        found = calibrate(recordings, base=base, seed=arguments.seed, field=arguments.field)
    report = calibration_report(
        found, recordings, command=command_of(arguments), seconds=time.perf_counter() - began, seed=arguments.seed
    )
    page = arguments.output.with_suffix(".html")
    write_behaviour(found.settings, arguments.output)
    write_report(page, report)
    _show(found, terminal)
    terminal.say(f"numbers: {arguments.output}; report: {page}")
    return {"body": arguments.output, "report": page, **as_json(found)}


def found_recordings(given: tuple[Path, ...]) -> list[Path]:
    """The recordings that are meant: those given, and those in folders that are given."""
    if not given:
        raise UsageError("say what to calibrate from: --from with a recording of a match.")
    found = []
    for path in given:
        if not path.exists():
            raise FileError(path, "is not there; needed is a recording of a match.")
        if path.is_file() or (path / "manifest.toml").exists():
            found.append(path)
        elif inside := sorted(path.glob("*.nutmeg")):
            found += inside
        else:
            raise FileError(path, "has no recordings in it; name one, or the folder that holds them (NAME.nutmeg).")
    return found


def as_json(found: Calibrated) -> dict[str, Any]:
    """All estimates, for programs."""
    return {
        "simulated_s": found.seconds,
        "estimates": {
            name: {
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "samples": one.samples,
                "base": found.base.number(name),
                "note": one.reason,
            }
            for name, one in found.estimates.items()
        },
    }


def command_of(arguments: Arguments) -> str:
    """The command that makes the same file again."""
    words = ["nutmeg", "calibrate", arguments.world]
    for path in arguments.from_:
        words += ["--from", str(path)]
    words += ["--base", arguments.base, "--output", str(arguments.output), "--seed", str(arguments.seed)]
    return shlex.join([*words, *(["--field", arguments.field] if arguments.field else [])])


def _show(found: Calibrated, terminal: Terminal) -> None:
    rows = [
        (
            name,
            f"{found.base.number(name):.4g}",
            f"{one.value:.4g}",
            f"{one.low:.4g} to {one.high:.4g}",
            f"{one.samples}",
        )
        for name, one in found.estimates.items()
        if one.value is not None
    ]
    terminal.table("", ("number", "base", "found", "95 %", "samples"), rows)
    for name, one in found.estimates.items():
        if one.value is None:
            terminal.say(f"{name} stays {found.base.number(name):g}: {one.reason}.")
