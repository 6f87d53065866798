"""An AIBO goes to the ball: it finds it in its camera's pictures, keeps its head on it and trots there, over OPEN-R.

    nutmeg serve openr --robot ers7          # in one terminal
    python examples/openr_ball.py                       # in another

Works with the ERS-210 as well, and with a server in lock-step. `--walk learned` takes the learned trot of the ERS-7.
What it sees and decides is in `nutmeg.net.openr.ball_follower`.
"""

from __future__ import annotations

import argparse
import math

from nutmeg.net.openr.ball_follower import BallFollower, follow_ball
from nutmeg.net.openr.client import OpenrClient


def main() -> None:
    """Goes to the ball, and tells where it thinks the ball is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=10120)
    parser.add_argument("--commands", type=int, default=0, help="port of the commands; the next one if left out")
    parser.add_argument("--walk", default="trot", help="trot, learned, or a file of `nutmeg learn --task trot`")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    sensors = (options.host, options.port)
    with OpenrClient(sensors, (options.host, options.commands or options.port + 1)) as robot:
        follower = BallFollower(robot.model, options.walk)
        if follow_ball(robot, follower, seconds=options.seconds):
            print(f"at the ball: {follower.distance:.2f} m ahead of the camera")
        elif math.isfinite(follower.distance):
            degrees = math.degrees(follower.bearing)
            print(f"not there yet: the ball is {follower.distance:.1f} m away, {degrees:.0f} degrees to the left")
        else:
            print("it does not see the ball")


if __name__ == "__main__":
    main()
