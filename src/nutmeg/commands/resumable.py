"""Commands whose run can be interrupted and gone on with: how they say so, and the command line that does it.

    command = command_line("learn", dataclasses.replace(arguments, output=folder))
    with resumable_run(folder, terminal, saved="finished generation", command=command, ...) as run:
        run.resumed                             # said already

The same command line with the same folder goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from nutmeg.base.journal import open_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from _typeshed import DataclassInstance

    from nutmeg.base.journal import Run
    from nutmeg.view.terminal import Terminal

POSITIONAL = "config"
"""The argument that is written without its name."""


@contextlib.contextmanager
def resumable_run(
    folder: Path,
    terminal: Terminal,
    *,
    saved: str,
    command: Sequence[str],
    seed: int,
    configuration: Mapping[str, object],
    copy: Path | None = None,
) -> Iterator[Run]:
    """`open_run`, which says that it goes on with a run, and, when interrupted, what is `saved` and how to go on."""
    with open_run(folder, command=command, seed=seed, configuration=configuration, copy=copy) as opened:
        if opened.resumed:
            terminal.say(f"going on in {folder}.")
        try:
            yield opened
        except KeyboardInterrupt:
            terminal.say(f"interrupted; every {saved} is saved. To go on:\n  {opened.resume_command}")
            raise


def command_line(name: str, arguments: DataclassInstance) -> list[str]:
    """The command line that these arguments are; options that are as usual are left out."""
    words = ["nutmeg", name]
    for field in dataclasses.fields(arguments):
        value, option = getattr(arguments, field.name), f"--{field.name.replace('_', '-')}"
        if value == field.default:
            continue
        if field.name == POSITIONAL:
            words.append(str(value))
        elif isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-"))
        elif isinstance(value, tuple):
            words += [option, *map(str, value)]
        else:
            words += [option, str(value)]
    return words
