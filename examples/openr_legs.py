"""An AIBO marks time: it stands up and lifts its diagonal legs in turn, commanded over OPEN-R's two connections.

    nutmeg serve openr --robot ers7          # in one terminal
    python examples/openr_legs.py                       # in another

Works with the ERS-210 as well. `--port` is that of the robot's sensors, if it is not the first one.
"""

from __future__ import annotations

import argparse
import math

from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.packets import Event

STAND = {
    "LFr:rotor": -0.45,
    "LFr:elvtr": 0.2,
    "LFr:knee": 1.67,
    "LBk:rotor": -0.75,
    "LBk:elvtr": 0.12,
    "LBk:knee": 1.965,
}
"""The crouch of the four-legged league, left side [rad]."""
DIAGONALS = (("LFr", "RBk"), ("RFr", "LBk"))
STEP = 0.4
"""Time of a step [s]."""
FRAMES = 16
"""Of 8 ms, in a command vector."""


def main() -> None:
    """Stands up, marks time, and tells how it stands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=10120)
    parser.add_argument("--commands", type=int, default=0, help="port of the commands; the next one if left out")
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    sensors = (options.host, options.port)
    with OpenrClient(sensors, (options.host, options.commands or options.port + 1)) as robot:
        print(f"{robot.design.design} with {len(robot.design.primitives)} primitives")
        robot.power(on=True)
        robot.set_gains()
        stand = STAND | {name.replace("L", "R", 1): angle for name, angle in STAND.items()}
        robot.move(stand, seconds=1.0)
        lifted = mark_time(robot, stand, options.steps)
        print(f"{lifted} of {2 * options.steps} paws left the ground")
        rest = robot.sensors()
        felt = [next(rest)["acceleration.up"] for _ in range(32)]
        print(f"at rest it feels {sum(felt[16:]) / 16:.2f} m/s2 upward")


def mark_time(robot: OpenrClient, stand: dict[str, float], steps: int) -> int:
    """Lifts diagonal legs in turn; returns how often a paw left the ground."""
    lifted = 0
    for step in range(steps):
        legs = DIAGONALS[step % 2]
        frames = round(STEP / 0.008)
        way = [math.sin(math.pi * (k + 1) / frames) ** 2 for k in range(frames)]
        numbers = []
        for first in range(0, frames, FRAMES):
            lift = way[first : first + FRAMES]
            knees = {f"{leg}:knee": [stand[f"{leg}:knee"] + 0.4 * z for z in lift] for leg in legs}
            numbers.append(robot.command(knees))
        end = robot.wait_for(numbers[0], Event.BEGUN).frame + frames
        down = dict.fromkeys(legs, 1.0)
        for sensors in robot.sensors():  # four frames at a time
            down = {leg: min(down[leg], *sensors.all(f"{leg}Paw")) for leg in legs}
            if sensors.frames.frame >= end:
                break
        lifted += sum(state == 0 for state in down.values())
    return lifted


if __name__ == "__main__":
    main()
