"""A simulated Nao behind LoLA: its sensors in the units and signs of the real one, and its actuators.

    body = LolaBody(robot, number=1)
    body.obey(commands)                 # a client's actuator packet
    body.packet()                       # 896 bytes of sensors, once a cycle

- *Accelerometer* has the sign of the Nao: gravity, not its reaction, so that it is (0, 0, -9.81) when the robot stands.
  In the sources of nao_lola a real robot leaning back by 0.36 rad has (-3.07, -0.39, -9.32). *Gyroscope* is in rad/s, x
  forward, y left, z up; *Angles* are roll and pitch, estimated from both (as in `motion.inertial`).
- *FSR* are in kilograms; a standing Nao's sum is its mass.
- *Battery* is charge (0..1), status, current (negative while it is drained) and temperature, those of `host.robot`
  unless somebody pokes them. The status is a word of 16 bits with a sign, sent as a float: -32724 on battery and -32628
  while charging are what rUNSWift's sources note of real robots (bit 5: discharging, bit 7: charging).
- *Current* and *Temperature* are those of `host.robot`. *Status* says how hot a motor is: 0 fine, 1 hot (from 70
  degrees), 2 very hot (75), 3 too hot (80); the temperatures are assumed, and nothing is switched off.
- *Stiffness* is what the motors have; until a client has set it, they hold the start pose at full stiffness.
- Hands are not simulated: they reach their targets within half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import STANDARD_GRAVITY
from nutmeg.net.host.robot import AMBIENT_TEMPERATURE
from nutmeg.net.lola.packets import FORCES, HANDS, JOINTS, LIGHTS, PERIOD, SONARS, TOUCHES, Commands, SensorPacket

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.net.host.robot import HostedRobot


DISCHARGING, CHARGING = -32724.0, -32628.0
"""Words of the battery's status."""
HOT = (70.0, 75.0, 80.0)
"""Temperatures from which a motor's status is 1, 2 and 3 [degrees Celsius]."""
HAND_SPEED = 2.0
"""Speed of a hand that opens, as a share of its range per second."""
POKES = (*TOUCHES, *SONARS, "Battery", "Charging")
"""What somebody can do to the robot by hand: touch it, hold something before it, change its battery."""


class LolaBody:
    """The body of a Nao behind a LoLA socket.

    Args:
        robot: the hosted robot.
        number: makes its serial numbers its own.
    """

    def __init__(self, robot: HostedRobot, *, number: int) -> None:
        self.robot = robot
        self._packet = SensorPacket(body=f"P0000073A07S94N{number:05d}", head=f"P0000074A07S94N{number:05d}")
        self._joints = np.array([i for i, name in enumerate(JOINTS) if name not in HANDS])
        """Places in LoLA's lists of the joints that there are."""
        self._motors = robot.motor_index(JOINTS[i] for i in self._joints)
        self._hands = np.array([JOINTS.index(name) for name in HANDS])
        self._hand_targets, self._hand_stiffness, self._hand_places = np.zeros(2), np.ones(2), np.zeros(2)
        self._encoders = self._encoder_places()
        self._sonar, self._sonar_on = np.zeros(len(SONARS)), np.ones(len(SONARS), dtype=bool)
        self._tilt: Floats = np.zeros((1, 2))
        self._lights = {name: np.zeros(count) for name, count in LIGHTS.items()}
        self._stand()
        self._lean(np.zeros((1, 3)), np.zeros((1, 3)))  # now, as it takes long the first time

    @property
    def lights(self) -> Floats:
        """Brightness of all lights, 0 to 1, in the order of `names.LIGHTS`, (89,)."""
        return np.concatenate(list(self._lights.values()))

    def obey(self, commands: Commands) -> int:
        """Does what a client said; returns how many numbers were none (NaN, infinite)."""
        wrong = 0
        for name, numbers in commands.numbers.items():
            good = np.isfinite(numbers)
            wrong += int(len(numbers) - np.count_nonzero(good))
            if name == "Position":
                self.robot.set_targets(self._motors, numbers[self._joints])
                self._keep(self._hand_targets, numbers[self._hands])
            elif name == "Stiffness":
                self._stiffen(numbers, good)
            elif name == "Sonar":
                self._sonar_on = np.where(good, numbers > 0, self._sonar_on)
            else:
                self._keep(self._lights[name], numbers)
                self._shine(name)
        return wrong

    def packet(self) -> bytes:
        """What the robot senses now; once a cycle."""
        robot, packet = self.robot, self._packet
        imu = robot.read("imu")
        gyro, felt = imu[None, :3].copy(), imu[None, 3:].copy()
        self._lean(gyro, felt)
        packet["Accelerometer"], packet["Gyroscope"], packet["Angles"] = -felt[0], gyro[0], self._tilt[0]
        packet["Battery"] = self._battery()
        packet["FSR"] = [robot.read(name)[0] / STANDARD_GRAVITY for name in FORCES]
        packet["Touch"] = [robot.read(name)[0] for name in TOUCHES]
        self._sonar = np.where(self._sonar_on, [robot.read(name)[0] for name in SONARS], self._sonar)
        packet["Sonar"] = self._sonar
        self._put_joints(packet)
        return packet.bytes()

    def _put_joints(self, packet: SensorPacket) -> None:
        robot, motors = self.robot, self.robot.motors
        step = HAND_SPEED * PERIOD * (self._hand_stiffness > 0)
        self._hand_places += np.clip(self._hand_targets - self._hand_places, -step, step)
        packet["Position"] = self._all(robot.read("encoders")[self._encoders], self._hand_places)
        packet["Stiffness"] = self._all(motors.stiffness[self._motors], self._hand_stiffness)
        packet["Current"] = self._all(motors.current[self._motors], 0.0)
        packet["Temperature"] = self._all(motors.temperature[self._motors], AMBIENT_TEMPERATURE)
        packet["Status"] = self._all(np.digitize(motors.temperature[self._motors], HOT).astype(float), 0.0)

    def _all(self, joints: Floats, hands: Floats | float) -> Floats:
        """Numbers of all 25 joints, from those that there are and those of the hands."""
        out = np.empty(len(JOINTS))
        out[self._joints], out[self._hands] = joints, hands
        return out

    def _stiffen(self, numbers: Floats, good: Bools) -> None:
        stiffness = np.clip(np.where(good, numbers, 0.0), 0.0, 1.0)
        mine = good[self._joints]
        self.robot.motors.stiffness[self._motors[mine]] = stiffness[self._joints[mine]]
        self._keep(self._hand_stiffness, np.where(good, stiffness, np.nan)[self._hands])

    def _battery(self) -> tuple[float, float, float, float]:
        pokes, motors = self.robot.pokes, self.robot.motors
        motors.charging = pokes.get("Charging", 0.0) > 0
        charge = min(max(pokes.get("Battery", motors.charge), 0.0), 1.0)
        status = CHARGING if motors.charging else DISCHARGING
        return charge, status, motors.battery_current, motors.battery_temperature

    def _lean(self, gyro: Floats, felt: Floats) -> None:
        from nutmeg.motion.inertial_kernels import estimate_tilt  # here: the compiler takes its time to load

        estimate_tilt(gyro, felt, PERIOD, self._tilt)

    def _stand(self) -> None:
        """Takes the tilt at the start from gravity, at rest."""
        up = self.robot.read("imu")[3:]
        norm = float(np.linalg.norm(up))
        if norm > 0:
            self._tilt[0] = np.arctan2(up[1], up[2]), np.arcsin(np.clip(-up[0] / norm, -1.0, 1.0))

    def _encoder_places(self) -> Indices:
        joints = self.robot.table.joints
        return np.array([joints.index(JOINTS[i]) for i in self._joints], dtype=np.intp)

    def _shine(self, name: str) -> None:
        """Tells the robot the mean colour of a group of lights."""
        values = self._lights[name]
        if name in ("LEye", "REye"):
            red, green, blue = (float(part.mean()) for part in values.reshape(3, -1))
        elif len(values) == 3:
            red, green, blue = (float(value) for value in values)
        else:
            blue = float(values.mean())
            red = green = blue if name == "Skull" else 0.0
        self.robot.light(name, (red, green, blue))

    @staticmethod
    def _keep(old: Floats, new: Floats) -> None:
        """Takes numbers from 0 to 1 over in place, but those that are none."""
        good = np.isfinite(new)
        old[good] = np.clip(new[good], 0.0, 1.0)
