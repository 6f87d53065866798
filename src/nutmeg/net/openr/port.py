"""OPEN-R as a port of a robot host: all its AIBOs, in frames of 8 ms.

port = OpenrPort(OpenrSettings())
with RobotHost(host_settings(settings), [port]) as host:
    host.run()
port.rows()                     # for each robot: frames, vectors executed, packets dropped, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.engine.servo_friction import places
from nutmeg.net.openr.models import FRAME, model_named
from nutmeg.net.openr.robot import OpenrRobot
from nutmeg.net.openr.seat import Commander, Seat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.worlds import Worlds
    from nutmeg.net.host_cameras import Picture
    from nutmeg.net.openr.configuration import OpenrSettings
    from nutmeg.net.robot_host import RobotHost

CAMERA = "camera"
"""What an AIBO's camera is called in its robot file."""
PRESSED = ("switch", "touch", "force")
"""What people can press by hand, on the page."""


class OpenrPort:
    """The AIBOs of a host.

    Args:
        settings: which robots, and where they listen.
        report: told what happens to clients.
    """

    name = "openr"
    period = FRAME * 1e-6

    def __init__(self, settings: OpenrSettings, *, report: Callable[[str], None] = lambda _text: None) -> None:
        self.settings = settings
        self.seats: dict[str, Seat] = {}
        """By the robots' names."""
        self._report = report
        self._host: RobotHost | None = None

    @property
    def clients(self) -> int:
        """How many clients command."""
        return sum(len(seat.present) for seat in self.seats.values())

    def open(self, host: RobotHost) -> None:
        """Takes the robots and listens."""
        self._host = host
        robots = zip(self.settings.robot, self.settings.placements, self.settings.addresses, strict=True)
        for chosen, placed, (sensors, commands) in robots:
            hosted = host.take(placed.name, period=self.period)
            model, torque = model_named(chosen.model), torques(host.worlds, placed.name)
            hosted.hands_on = tuple(p.of for p in model.sensors if p.of and p.measures in PRESSED)
            robot: OpenrRobot[Commander] = OpenrRobot(model, hosted, torque, awake=chosen.awake)
            robot.motors.turn()
            self.seats[placed.name] = Seat(
                robot,
                host.sockets,
                sensors=sensors,
                commands=commands,
                pictures=self.settings.pictures,
                lock_step=host.settings.lock_step,
                report=self._tell,
                changed=self._look,
            )

    def turn(self, time: float) -> None:  # noqa: ARG002 (robots count frames)
        """A frame of every robot."""
        for seat in self.seats.values():
            seat.turn()

    def waiting(self) -> Sequence[str]:
        """Clients that have not answered the last sensor vector."""
        return [name for seat in self.seats.values() for name in seat.waiting()]

    def give_up(self, names: Sequence[str]) -> None:
        """Disconnects clients that were silent for too long."""
        for seat in self.seats.values():
            for commander in seat.commanders:
                if commander.connection.name in names:
                    commander.connection.lose("it did not answer in lock-step")

    def picture(self, picture: Picture) -> None:
        """Hands a picture to those who listen to its robot."""
        robot, _, camera = picture.camera.rpartition("/")
        if robot in self.seats and camera == CAMERA:
            self.seats[robot].picture(picture)

    def close(self) -> None:
        """Disconnects everybody."""
        for seat in self.seats.values():
            seat.close()

    def rows(self) -> list[dict[str, object]]:
        """What each robot has done, for people."""
        return [
            {
                "robot": name,
                "frames": seat.robot.frame,
                "vectors": seat.counts["finished"],
                "dropped_vectors": seat.robot.queues.dropped,
                "refused": seat.counts["refused"],
                "dropped_packets": seat.counts["dropped_packets"] + sum(c.dropped for c in seat.listeners),
            }
            for name, seat in self.seats.items()
        ]

    def counts(self) -> dict[str, int]:
        """The same, of all robots together."""
        rows = self.rows()
        return {key: sum(int(str(row[key])) for row in rows) for key in rows[0] if key != "robot"}

    def _look(self) -> None:
        """Has only those cameras drawn that somebody looks through."""
        if self._host is not None and self.settings.pictures:
            seen = [f"{name}/{CAMERA}" for name, seat in self.seats.items() if seat.listeners]
            self._host.want_cameras(self.name, seen)

    def _tell(self, text: str) -> None:
        self._report(text)
        if self._host is not None:
            self._host.event("client", text=text)


def torques(worlds: Worlds, robot: str) -> Callable[[], Floats]:
    """What reads the drives' torques over their limits, (motors,)."""
    table, model = worlds.robot(robot).table, worlds.scene.model
    motors = [model.actuator(f"{table.name}/{name}").id for name in table.motors]
    limits = model.actuator_forcerange[motors, 1].copy()
    limits[limits <= 0] = 1.0
    numbers, force = places(motors), worlds.batch.bind("actuator_force")
    return lambda: force[0, numbers] / limits
