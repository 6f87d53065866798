"""Plays a trial of Back-to-Reality on a Nao over LoLA or an AIBO over OPEN-R: the program of a reality `command`.

    [reality]
    kind = "command"
    program = ["python", "examples/btr_robots/play.py", "lola:/tmp/robocup"]         # or "openr:127.0.0.1:10120"

`nutmeg btr` adds the file with the commands and the folder for the results. The robot goes to the first row within two
seconds, plays the rows, and its joint angles at the times of the rows become the log. Neither interface knows where the
robot is, so a fitness of the way it came is measured by hand: with `--ask` the program asks for it and notes it.

    nutmeg serve lola --lock-step --no-view --no-record &                               # a simulated Nao to try it with
    nutmeg btr examples/btr_robots/btr.toml
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.net.lola.client import LolaClient
from nutmeg.net.lola.packets import JOINTS, PERIOD
from nutmeg.net.openr.client import OpenrClient

GO_SECONDS = 2.0
"""Time in which the robot goes to the first row of a trial [s]."""
FRAME_SECONDS, VECTOR_FRAMES = 0.008, 4
"""Length of a frame of OPEN-R, and how many of them a command vector gets here."""


def main() -> None:
    """Reads the commands, plays them, and writes the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", help="lola:SOCKET or openr:HOST:PORT")
    parser.add_argument("commands", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--ask", action="store_true", help="ask for the fitness")
    options = parser.parse_args()
    motors, times, commands = read_commands(options.commands)
    protocol, _, place = options.robot.partition(":")
    if protocol not in ("lola", "openr"):
        sys.exit(f"{options.robot} is no robot: it must begin with lola: or openr:")
    played, seen = (play_lola if protocol == "lola" else play_openr)(place, motors, times, commands)
    name = options.commands.stem
    if options.ask:
        (options.results / f"{name}.toml").write_text(f"fitness = {float(input('fitness: '))}\n", encoding="utf-8")
    with (options.results / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"angles.{motor}" for motor in played)])
        writer.writerows([round(t, 6), *row] for t, row in zip(times.tolist(), seen.tolist(), strict=True))


def read_commands(path: Path) -> tuple[list[str], Floats, Floats]:
    """The motors, times (T,) [s] and commands (T, motors) [rad] of a trial."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    numbers = np.array(rows, float)
    return head[1:], numbers[:, 0], numbers[:, 1:]


def play_lola(socket: str, motors: list[str], times: Floats, commands: Floats) -> tuple[list[str], Floats]:
    """The motors that the robot has there, and their angles at the times of the rows, (T, motors) [rad]."""
    places = [JOINTS.index(motor) for motor in motors]
    seen, when = [], []
    with LolaClient.connect(socket) as nao:
        begin = nao.sense().position[places]
        nao.send()
        going = round(GO_SECONDS / PERIOD)
        for cycle, senses in enumerate(nao.cycles(going + int(times[-1] / PERIOD) + 2)):
            now = (cycle - going) * PERIOD
            share = min((cycle + 1) / going, 1.0)
            row = commands[max(int(np.searchsorted(times, now + 1e-9, side="right")) - 1, 0)]
            nao.move(dict(zip(motors, (begin + share * (row - begin)).tolist(), strict=True)), stiffness=1.0)
            seen.append(senses.position[places])
            when.append(now)
    return motors, at_times(times, np.array(when), np.array(seen))


def play_openr(place: str, motors: list[str], times: Floats, commands: Floats) -> tuple[list[str], Floats]:
    """The motors that the robot has there, and their angles at the times of the rows, (T, motors) [rad]."""
    host, _, port = place.partition(":")
    frames = np.arange(FRAME_SECONDS, times[-1] + FRAME_SECONDS, FRAME_SECONDS)
    rows = commands[np.searchsorted(times, frames - FRAME_SECONDS + 1e-9, side="right") - 1]
    seen, when = [], []
    with OpenrClient((host or "127.0.0.1", int(port or 10120))) as aibo:
        known = {joint.of for joint in aibo.model.joints.values()}  # ears are none
        kept = [number for number, motor in enumerate(motors) if motor in known]
        motors, rows = [motors[number] for number in kept], rows[:, kept]
        aibo.power(on=True)
        aibo.set_gains()
        aibo.move(dict(zip(motors, rows[0].tolist(), strict=True)), seconds=GO_SECONDS)
        begin = next(aibo.sensors()).time
        for first in range(0, len(rows), VECTOR_FRAMES):
            piece = rows[first : first + VECTOR_FRAMES]
            aibo.command(dict(zip(motors, piece.T.tolist(), strict=True)))
            sensors = next(aibo.sensors())
            when.append(sensors.time - begin)
            seen.append([sensors[motor] for motor in motors])
    return motors, at_times(times, np.array(when), np.array(seen))


def at_times(times: Floats, when: Floats, seen: Floats) -> Floats:
    """What was seen at some times, (n, motors), at those of the rows, (T, motors)."""
    return np.stack([np.interp(times, when, column) for column in seen.T], axis=1)


if __name__ == "__main__":
    main()
