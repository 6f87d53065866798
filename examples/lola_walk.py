"""A Nao stands up, waves and walks, over LoLA: start a robot first, then this.

    nutmeg serve lola --robot nao-v6 --socket /tmp/robocup
    python examples/lola_walk.py /tmp/robocup

The walk is that of `nutmeg.motion`: joint angles, gyro and accelerometer go in, targets of the joints come out, once in
every cycle of 12 ms. Nothing here knows that the robot is simulated. It prints how long a cycle took on average,
and whether it still stands.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.motion.bodies import ReportedRobot
from nutmeg.motion.walk.files import read_walk
from nutmeg.motion.walk.walker import Walker
from nutmeg.net.lola.client import LolaClient, Senses
from nutmeg.net.lola.packets import HANDS, JOINTS, PERIOD

GREEN, BLUE = (0.0, 1.0, 0.0), (0.0, 0.2, 1.0)
ROBOT = "nao-v6"
FALLEN = 0.9
"""A torso that leans more than this lies [rad]."""


class ReportedNao(ReportedRobot):
    """One Nao of which nothing is known but its sensors."""

    def __init__(self) -> None:
        super().__init__(ROBOT)
        joints = [name for name in JOINTS if name not in HANDS]
        self._places = np.array([JOINTS.index(name) for name in joints])
        self._addresses = self.table.angles[[self.table.joints.index(name) for name in joints]]
        self._follower = self.table.angles[self.table.joints.index("RHipYawPitch")]

    def observe(self, senses: Senses) -> None:
        """Takes in a packet."""
        self.qpos[0, self._addresses] = senses.position[self._places]
        self.qpos[0, self._follower] = senses.position[JOINTS.index("LHipYawPitch")]
        self.gyro[0], self.acceleration[0] = senses.gyroscope, -senses.accelerometer


class WalkingNao:
    """A Nao that stands up straight and walks.

    Args:
        client: a connection to it.
        walk: name or file of a walk for nao-v6.
    """

    def __init__(self, client: LolaClient, walk: str = ROBOT) -> None:
        self._client, self._body = client, ReportedNao()
        settings = read_walk(walk).for_robot(ROBOT).walk
        self._body.observe(client.sense())
        client.send()
        self._walker = Walker(self._body, self._body.name, [settings], period=PERIOD)
        self.wanted: Floats = self._walker.wanted[0]
        """Wanted velocity, (3,) [m/s, m/s, rad/s], live."""

    def stand(self, seconds: float) -> Senses:
        """Goes from where the joints are to where the walk begins; returns what is sensed there."""
        start: dict[str, float] = {}
        goal = self._goal(self._walker.targets())
        count = max(1, round(seconds / PERIOD))
        for cycle, senses in enumerate(self._client.cycles(count)):
            start = start or {name: float(senses.position[JOINTS.index(name)]) for name in goal}
            share = (1 - math.cos(math.pi * (cycle + 1) / count)) / 2
            self._client.move({n: start[n] + share * (goal[n] - start[n]) for n in goal}, stiffness=1.0)
        self._body.observe(senses)
        self._walker.reset()
        return senses

    def walk(self, seconds: float) -> Iterator[Senses]:
        """Walks as `wanted` says for so long, or until the robot has fallen."""
        for cycle, senses in enumerate(self._client.cycles(round(seconds / PERIOD))):
            self._body.observe(senses)
            self._walker.sample(cycle * PERIOD)
            self._client.move(self._goal(self._body.command), stiffness=1.0)
            yield senses
            if np.abs(senses.angles).max() > FALLEN:
                return

    def _goal(self, targets: Floats) -> dict[str, float]:
        return dict(zip(self._body.table.motors, targets[0].tolist(), strict=True))


def wave(client: LolaClient, seconds: float) -> None:
    """Waves with the right arm, and lowers it again."""
    count = round(seconds / 0.012)
    for cycle, _ in enumerate(client.cycles(count)):
        lift = math.sin(math.pi * cycle / count) ** 0.5
        swing = 0.5 + 0.4 * math.sin(2 * math.pi * cycle * 0.012 / 0.8)
        arm = {
            "RShoulderPitch": 1.45 - 2.3 * lift,
            "RShoulderRoll": -0.15 - 0.35 * lift,
            "RElbowRoll": 0.5 + swing * lift,
        }
        client.move(arm, stiffness=0.8)
        client.light("REye", [0.0] * 8 + [float(cycle // 10 % 2)] * 8 + [1.0] * 8)


def main(path: str) -> None:
    """Everything in turn."""
    with LolaClient.connect(path) as client:
        client.sense()
        client.send()
        print("waves")
        client.light("Chest", BLUE)
        wave(client, 4.0)
        nao = WalkingNao(client)
        nao.stand(1.5)
        print("walks")
        client.light("Chest", GREEN)
        began, before = time.monotonic(), client.packets
        for wanted, seconds in (((0.08, 0.0, 0.0), 8.0), ((0.0, 0.0, 0.3), 4.0), ((0.0, 0.0, 0.0), 1.5)):
            nao.wanted[:] = wanted
            *_, senses = nao.walk(seconds)
        cycle = (time.monotonic() - began) / max(1, client.packets - before)
        print(f"{client.packets - before} cycles of {1e3 * cycle:.2f} ms")
        roll, pitch = senses.angles
        print("still stands" if max(abs(roll), abs(pitch)) < 0.5 else f"fell (roll {roll:.2f}, pitch {pitch:.2f} rad)")


if __name__ == "__main__":
    main(sys.argv[1])
