#!/usr/bin/env python3
"""Builds our OPEN-R examples and runs them, each for some seconds, against a robot that it starts and ends itself.

`make -C clients/openr example` does all of them; this does one, for longer, or on a robot that already runs::

    ./run_examples.py ball_follower --seconds 30
    ./run_examples.py moving_head --robot ers210
    ./run_examples.py sensor_observer --sensor-port 10120      # of `nutmeg serve openr`
"""

import argparse
import contextlib
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE / "examples"
SECONDS = {
    "moving_legs": 13.0,
    "moving_head": 4.0,
    "pid_gains": 7.0,
    "sensor_observer": 1.5,
    "ball_follower": 15.0,
}
"""The examples, and how long each runs unless told otherwise [s]."""
PORTS = re.compile(r"sensors on .*port (\d+); commands on port (\d+)")
END = 20.0
"""How long a server or a program may take to end [s]."""


class ExampleError(Exception):
    """An example that could not be built or run."""


def find_nutmeg() -> str:
    """The command `nutmeg`: of the project's own environment, or on the path."""
    own = HERE.parents[1] / ".venv" / "bin" / "nutmeg"
    found = str(own) if own.is_file() else shutil.which("nutmeg")
    if found is None:
        raise ExampleError("there is no command nutmeg; run `make` in the project's folder, or use --sensor-port")
    return found


@contextlib.contextmanager
def served_robot(robot: str, *, pictures: bool) -> Iterator[tuple[int, int]]:
    """A robot on free ports, for as long as the context lasts; yields those of its sensors and commands."""
    command = [find_nutmeg(), "serve", "openr", "--robot", robot, "--first-port", "0"]
    command += ["--no-view", "--no-record", *([] if pictures else ["--no-graphics"])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
    try:
        yield _ports_of(server)
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.communicate(timeout=END)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()


def _ports_of(server: subprocess.Popen[str]) -> tuple[int, int]:
    """Reads the server's lines until it is ready."""
    said: list[str] = []
    ports = None
    for line in server.stdout or ():
        said.append(line)
        if match := PORTS.search(line):
            ports = int(match[1]), int(match[2])
        if line.strip() == "ready" and ports:
            return ports
    raise ExampleError(f"the server did not start:\n{''.join(said)}")


def build_example(name: str, into: Path) -> Path:
    """The script that runs an example, newly built."""
    command = [sys.executable, str(HERE / "openr_build.py"), str(EXAMPLES / name), "-o", str(into)]
    command += ["--std", "gnu++17", "--strict", "-I", str(EXAMPLES / "include")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise ExampleError(f"{name} could not be built:\n{done.stderr}")
    return into / "run"


def run_example(script: Path, ports: tuple[int, int], seconds: float, host: str) -> None:
    """Runs a program against a robot; its output goes where ours goes."""
    command = [str(script), "--host", host, "--sensor-port", str(ports[0]), "--command-port", str(ports[1])]
    command += ["--seconds", str(seconds)]
    done = subprocess.run(command, check=False, timeout=seconds + END)  # noqa: S603
    if done.returncode != 0:
        raise ExampleError(f"{script.parent.name} ended with status {done.returncode}")


def run_all(arguments: argparse.Namespace) -> None:
    """Builds and runs the examples asked for, one after the other."""
    for name in arguments.names or SECONDS:
        sys.stdout.write(f"== {name}\n")
        sys.stdout.flush()
        script = build_example(name, HERE / "build" / "examples" / name)
        seconds = arguments.seconds or SECONDS[name]
        if arguments.sensor_port is not None:
            ports = arguments.sensor_port, arguments.command_port or arguments.sensor_port + 1
            run_example(script, ports, seconds, arguments.host)
            continue
        with served_robot(arguments.robot, pictures=name == "ball_follower") as ports:
            run_example(script, ports, seconds, "127.0.0.1")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Builds and runs our OPEN-R examples.")
    parser.add_argument("names", nargs="*", choices=[[], *SECONDS], metavar="NAME", help=", ".join(SECONDS))
    parser.add_argument("--robot", default="ers7", choices=["ers7", "ers210"], help="which robot to start")
    parser.add_argument("--seconds", type=float, default=0.0, help="how long each example runs")
    parser.add_argument("--host", default="127.0.0.1", help="where a robot already runs")
    parser.add_argument("--sensor-port", type=int, help="port of a robot that already runs; none is started then")
    parser.add_argument("--command-port", type=int, help="its port for commands; the next one if left out")
    try:
        run_all(parser.parse_args())
    except (ExampleError, OSError, subprocess.TimeoutExpired) as problem:
        sys.stderr.write(f"run_examples: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
