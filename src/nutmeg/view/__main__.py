"""The viewer as a process of its own: `python -m nutmeg.view match.nutmeg --port 8080`.

Its first line on standard output is the page's address; with `--drive`, `--pace` or `--pokes`, every further one is an
order from the page.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from nutmeg.base.errors import NutmegError
from nutmeg.view.pages.orders import Drive, Order
from nutmeg.view.pages.server import serve_recording


@dataclass(frozen=True, kw_only=True)
class ViewerSettings:
    """Show a recording in the browser."""

    path: tyro.conf.Positional[Path]
    """The recording."""

    host: str = "127.0.0.1"
    """The address to listen on."""

    port: int = 8080
    """The port to listen on; 0 takes any free one."""

    live: bool = False
    """Start at the newest row and stay there."""

    drive: str = ""
    """What can be driven from the page, as JSON; empty for nothing."""

    pace: float = 0.0
    """How fast the simulation runs, which the page may change; 0 if it may not."""

    pokes: str = ""
    """Sensors that can be touched from the page, by robot, as JSON; empty for none."""

    parent: Annotated[int, tyro.conf.arg(name="parent-process")] = 0
    """Stop when this process is no longer the parent; 0 means never."""


def main() -> int:
    """Run the viewer until Ctrl-C; returns the exit code."""
    settings = tyro.cli(ViewerSettings)
    try:
        serve_recording(
            settings.path,
            host=settings.host,
            port=settings.port,
            live=settings.live,
            on_ready=lambda url: print(url, flush=True),  # noqa: T201 (this is a command)
            keep_going=lambda: not settings.parent or os.getppid() == settings.parent,
            drive=Drive.of(settings.drive) if settings.drive else None,
            send=_tell,
            pace=settings.pace,
            pokes=json.loads(settings.pokes) if settings.pokes else None,
        )
    except NutmegError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    return 0


def _tell(order: Order) -> None:
    """Passes an order on; a simulation that has gone hears nothing."""
    with contextlib.suppress(OSError, ValueError):
        print(order.line(), flush=True)  # noqa: T201 (this is a command)


if __name__ == "__main__":
    sys.exit(main())
