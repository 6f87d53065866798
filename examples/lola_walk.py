"""A Nao stands up, waves and walks, over LoLA: start a robot first, then this.

    nutmeg serve lola --robot nao-v6 --socket /tmp/robocup
    python examples/lola_walk.py /tmp/robocup

Nothing here knows that the robot is simulated. It prints how long a cycle took on average, and whether it still stands.
"""

from __future__ import annotations

import math
import sys
import time

from nutmeg.net.lola.client import LolaClient
from nutmeg.net.lola.walking import WalkingNao

GREEN, BLUE = (0.0, 1.0, 0.0), (0.0, 0.2, 1.0)


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
