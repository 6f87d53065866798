"""The ball follower in C++, `clients/openr/examples/ball_follower`: built, and run against a robot.

    script = build_example(Path("runs/openr-ball/cpp"))     # its `run`; EnvironmentProblem says what is missing
    program = ExampleProgram(script, seat.addresses)
    program.start()                                         # a thread that listens to what it says
    program.arrived                                         # whether it has said that it is at the ball

The example is no part of the installed package: it comes with Nutmeg's sources.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.errors import EnvironmentProblem

if TYPE_CHECKING:
    from nutmeg.net.openr.seat import Address

CLIENTS = Path(__file__).parents[3] / "clients" / "openr"
"""Where the runtime and its examples are in the project's sources."""
EXAMPLE = "ball_follower"
THERE = "at the ball"
"""What the example says when it has arrived."""
TOOLS = ("g++", "make")
END = 20.0
"""How long the example may take to end [s]."""
LAST_WORDS = 5


def build_example(into: Path) -> Path:
    """Builds the example; returns the script that runs it."""
    if not (CLIENTS / "openr_build.py").is_file():
        raise EnvironmentProblem(
            f"there is no folder {CLIENTS}: the C++ client comes with Nutmeg's sources, not with the installed "
            "package. Run this in a copy of the repository, or with --client python."
        )
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise EnvironmentProblem(
            f"the C++ client is compiled here, but {' and '.join(missing)} cannot be found. Install a C++ compiler "
            "(on Debian: apt-get install g++ make), or use --client python."
        )
    examples = CLIENTS / "examples"
    command = [sys.executable, str(CLIENTS / "openr_build.py"), str(examples / EXAMPLE), "-o", str(into)]
    command += ["--std", "gnu++17", "--strict", "-I", str(examples / "include")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own script)
    if done.returncode != 0:
        raise EnvironmentProblem(f"the C++ client could not be built:\n{done.stderr.strip()}")
    return into.resolve() / "run"


class ExampleProgram(threading.Thread):
    """The example as a process, and a thread that listens to it.

    Args:
        script: what `build_example` made.
        addresses: of the robot's sensors and commands.
    """

    def __init__(self, script: Path, addresses: tuple[Address, Address]) -> None:
        super().__init__(name="ball follower in C++", daemon=True)
        (host, sensors), (_, commands) = addresses
        self._command = [str(script), "--host", host, "--sensor-port", str(sensors), "--command-port", str(commands)]
        self._process: subprocess.Popen[str] | None = None
        self._ending = False
        self.arrived, self.problem = False, ""

    def run(self) -> None:
        """Runs it until it ends, which it does when the robot is gone."""
        last: deque[str] = deque(maxlen=LAST_WORDS)
        pipe = subprocess.PIPE
        with subprocess.Popen(self._command, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
            self._process = process
            for line in process.stdout or ():
                last.append(line.strip())
                self.arrived = self.arrived or THERE in line
        if not self._ending:
            self.problem = f"it ended with status {process.returncode}: {' / '.join(last)}"

    def robot_goes(self) -> None:
        """Says that the robot is about to go: what the program says of that is no problem."""
        self._ending = True

    def finish(self) -> None:
        """Waits for its end; one that does not end is killed."""
        self.join(END)
        if self.is_alive() and self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
            self.join()
