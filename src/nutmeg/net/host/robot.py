"""One robot of a host as its protocol sees it: targets of motors in, sensors out, and what people do to it by hand.

robot = host.take("nao-1", period=0.012)
robot.set_targets(robot.motor_index(["HeadYaw"]), np.array([0.3]))  # rad; kept until the next call
robot.motors.stiffness[:] = 1.0
robot.motors.current, robot.motors.temperature                      # (motors,) A and degrees Celsius
robot.read("imu")                                                   # (6,), see `sim.sensing`
robot.poke("ChestButton", 1.0)                                      # pressed by hand, until None lets go
robot.light("Chest", (0.0, 0.0, 1.0))                               # red, green, blue, 0 to 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.sim.power_supply import CONSTANT, NEARLY_ZERO, RESISTANCE, PowerSupply, servos_of, slice_or_list
from nutmeg.sim.sensing import Sensing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.base.arrays import Floats, Indices
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.tables import RobotTable
    from nutmeg.sim.worlds import Worlds


AMBIENT_TEMPERATURE = 30.0
"""Inside a robot's shell [degrees Celsius], assumed."""
MOTOR_THERMAL = (15.0, 40.0)
"""Thermal resistance [K/W] and heat capacity [J/K] of a motor where nothing else is known, assumed."""
BATTERY_CAPACITY = 2.9 * 3600
"""Capacity of the battery [A s]."""
COMPUTER_CURRENT = 1.0
"""Current of everything but the motors [A], assumed."""
CHARGER_CURRENT = 2.0
"""Current of a charger [A], assumed."""
BATTERY_THERMAL = (5.0, 300.0)
"""Thermal resistance [K/W] and heat capacity [J/K] of the battery, assumed."""
_KP, _KD = 1, 2  # places of a position drive's gains in the engine's `actuator_biasprm`


class _HostMotors:
    """The motors of one robot in a single world: stiffness, gains, currents and temperatures.

    With servos (`servo`, `motoflex`) stiffness scales the voltage as `sim.power_supply` says, the battery sags, and the
    current of a motor is its torque at the joint over torque constant and gear losses, i = |T| / (k eta). With ideal
    drives stiffness scales gains and torque limit; there is no motor, so currents are zero and temperatures stay as
    they were.

    **Heat.** A motor is one lump of metal: C dT/dt = R i² - (T - T0) / Rth, with R the winding's resistance. `thermal`
    of the robot's `actuation.toml` gives Rth and C; where it is missing they are assumed (15 K/W and 40 J/K: a coreless
    motor of 22 mm in a plastic shell, with a time constant of ten minutes). The real Nao estimates its motors'
    temperatures from their currents in the same way. The winding's resistance is not made to grow by it (the engine
    does that if `thermal` is set).

    **Battery.** Its charge falls by what all motors draw together (the electrical power of the servos over the
    battery's voltage, `sim.power_supply`) plus what the computers draw, over its capacity (Nao V6: 62.5 Wh at 21.6 V,
    NAO6 datasheet H25600, so 2.9 Ah; computers 1 A, assumed). While `charging`, a charger gives 2 A (assumed) until it
    is full, and all that the robot draws from then on. The current I through its resistance r (`[battery]` of the
    actuation) warms it: C dT/dt = r I² - (T - T0) / Rth, with C = 300 J/K and Rth = 5 K/W (assumed: a third of a
    kilogram of cells in a shell).

    Args:
        worlds: where the robot is; one world.
        robot: its name in the scene.
        period: time between two calls of `sample` [s].
    """

    def __init__(self, worlds: Worlds, robot: str, *, period: float) -> None:
        if worlds.count != 1:
            raise ModelError(f"a host has one world; there are {worlds.count}.")
        self._table, self._period = worlds.robot(robot).table, period
        count = len(self._table.motors)
        actuation = worlds.actuations(robot)[0]
        self.stiffness: Floats = np.ones(count)
        """The stiffness of each motor, 0 to 1, (motors,)."""
        self.p_gain: Floats = np.ones(count)
        """Position gain of each motor relative to the robot's own, 0 or above, (motors,); ideal drives only."""
        self.d_gain: Floats = np.ones(count)
        """Velocity gain of each motor relative to the robot's own, 0 or above, (motors,); ideal drives only."""
        self.current: Floats = np.zeros(count)
        """Magnitude of each motor's current, (motors,) [A]."""
        self.temperature: Floats = np.full(count, AMBIENT_TEMPERATURE)
        """The temperature of each motor, (motors,) [degrees Celsius]."""
        self.voltage = 0.0 if actuation is None else actuation.battery.voltage
        """The voltage of the battery under the present load [V]; 0 where ideal drives need none."""
        self.drawn = COMPUTER_CURRENT
        """Current from the battery [A]."""
        self.charge = 1.0
        """State of charge of the battery, 0 to 1."""
        self.charging = False
        """Whether a charger is plugged in."""
        self.battery_current = -COMPUTER_CURRENT
        """Into the battery [A]; negative while it is drained."""
        self.battery_temperature = AMBIENT_TEMPERATURE
        """Temperature of the battery [degrees Celsius]."""
        self._inside = 0.0 if actuation is None else actuation.battery.resistance
        printed = actuation is not None and actuation.printed
        self._supply = PowerSupply(worlds, robot) if actuation is not None and not printed else None
        self._drives = None if self._supply is not None or printed else _IdealDrives(worlds, self._table)
        if self._supply is not None and actuation is not None:
            self._prepare_servos(worlds, actuation)

    def _prepare_servos(self, worlds: Worlds, actuation: Actuation) -> None:
        table, model = self._table, worlds.scene.model
        servos, numbers = servos_of(actuation, table), table.actuators(model)
        self._numbers = slice_or_list(numbers)
        efficiency = np.array([s.efficiency for s in servos])
        self._torque_constant = model.actuator_gainprm[numbers, CONSTANT] * efficiency
        self._resistance = model.actuator_gainprm[numbers, RESISTANCE] * efficiency
        thermal = np.array([s.thermal or MOTOR_THERMAL for s in servos])
        self._leak, self._capacity = 1.0 / thermal[:, 0], thermal[:, 1]
        self._torque = worlds.batch.bind("actuator_force")

    def sample(self, time: float) -> None:
        """Gives the motors their stiffness and gains; measures currents, temperatures and the battery."""
        np.clip(self.stiffness, 0.0, 1.0, out=self.stiffness)
        if self._supply is not None:
            self._supply.stiffness[0] = self.stiffness
            self._supply.sample(time)
            self._measure(self._supply)
        elif self._drives is not None:
            self._drives.give(self.stiffness, self.p_gain, self.d_gain)
        self._use_battery()

    def _use_battery(self) -> None:
        """Empties, fills and warms the battery for one period."""
        full = self.charging and self.charge >= 1.0  # then the charger feeds the robot, and the battery rests
        self.battery_current = 0.0 if full else CHARGER_CURRENT * self.charging - self.drawn
        charge = self.charge + self.battery_current * self._period / BATTERY_CAPACITY
        self.charge = min(max(charge, 0.0), 1.0)
        leak, capacity = 1 / BATTERY_THERMAL[0], BATTERY_THERMAL[1]
        heating = self._inside * self.battery_current**2 - (self.battery_temperature - AMBIENT_TEMPERATURE) * leak
        self.battery_temperature += heating / capacity * self._period

    def _measure(self, supply: PowerSupply) -> None:
        np.abs(self._torque[0, self._numbers] / self._torque_constant, out=self.current)
        heating = self._resistance * self.current**2 - (self.temperature - AMBIENT_TEMPERATURE) * self._leak
        self.temperature += heating / self._capacity * self._period
        self.voltage = float(supply.voltage[0])
        self.drawn = COMPUTER_CURRENT + float(supply.current[0])


class _IdealDrives:
    """Stiffness and gains of drives that have no motor."""

    def __init__(self, worlds: Worlds, table: RobotTable) -> None:
        numbers = table.actuators(worlds.scene.model)
        self._numbers = slice_or_list(numbers)
        self._limits, self._gains = (worlds.batch.expand(f"actuator_{name}") for name in ("forcerange", "biasprm"))
        self._limit, self._gain = self._limits[0, self._numbers].copy(), self._gains[0, self._numbers].copy()
        self._given = np.full((3, len(numbers)), np.nan)

    def give(self, stiffness: Floats, p_gain: Floats, d_gain: Floats) -> None:
        """Passes numbers on where they changed, (motors,) each."""
        wanted = np.stack([stiffness, p_gain, d_gain])
        if np.array_equal(wanted, self._given):
            return
        self._given = wanted
        share = np.maximum(stiffness, NEARLY_ZERO)
        self._limits[0, self._numbers] = self._limit * share[:, None]
        gain = self._gain.copy()
        gain[:, _KP] *= share * np.maximum(p_gain, 0.0)
        gain[:, _KD] *= share * np.maximum(d_gain, 0.0)
        self._gains[0, self._numbers] = gain


class HostedRobot:
    """A robot that is controlled by external software.

    Args:
        worlds: its world, of which there is one.
        name: its name in the scene.
        period: length of its control cycle [s].
        rng: source of its sensors' noise; None switches noise off.
    """

    def __init__(self, worlds: Worlds, name: str, *, period: float, rng: np.random.Generator | None) -> None:
        self.name, self.period = name, period
        self._views = worlds.robot(name)
        self.table = self._views.table
        """Names and order of its joints, motors and sensors."""
        self.senses = Sensing(worlds, name, rng, period=period)
        self.motors = _HostMotors(worlds, name, period=period)
        self.pokes: dict[str, float] = {}
        """Sensor values that are set by hand, by the names of the sensors."""
        self.hands_on: tuple[str, ...] = ()
        """Names for `poke` that a page offers; the robot's port sets them."""
        self._until: dict[str, float] = {}
        self._now = 0.0
        self.lights: dict[str, tuple[float, float, float]] = {}
        """Colours of its lights by name, each part 0 to 1."""
        self._low, self._high = self.table.limits[self.table.motor_joints].T

    @property
    def angles(self) -> Floats:
        """True angles of the joints, (joints,) [rad]; `read` has those that the robot itself knows."""
        return np.asarray(self._views.angles[0])

    @property
    def rates(self) -> Floats:
        """True speeds of the joints, (joints,) [rad/s]."""
        return np.asarray(self._views.rates[0])

    @property
    def pose(self) -> Floats:
        """True place and quaternion of the root, (7,)."""
        return np.asarray(self._views.pose[0])

    @property
    def targets(self) -> Floats:
        """Targets of the motors, (motors,) [rad]; a copy."""
        return np.array(self._views.command[0])

    def motor_index(self, names: Iterable[str]) -> Indices:
        """Places of motors in `targets`, `motors.stiffness` and so on."""
        return self.table.motor_index(list(names))

    def set_targets(self, index: Indices, angles: Floats) -> int:
        """Gives motors new targets [rad]; returns how many were no numbers, whose motors keep their old ones.

        Targets beyond a joint's range are moved to its end, as robots do.
        """
        good = np.isfinite(angles)
        chosen = index[good]
        command = self.targets
        command[chosen] = np.clip(angles[good], self._low[chosen], self._high[chosen])
        self._views.command = command[None]
        return int(len(angles) - np.count_nonzero(good))

    def read(self, sensor: str) -> Floats:
        """The value of a sensor, (width,); values that are set by hand come first."""
        value: Floats = self.senses.read(sensor)[0]
        if sensor in self.pokes:
            return np.full_like(value, self.pokes[sensor])
        return value

    def poke(self, sensor: str, value: float | None, *, seconds: float = math.inf) -> None:
        """Makes a sensor say a value for a while, or until None lets go of it; may be called from any thread.

        Names of a protocol's own, such as `Battery`, count as sensors here.
        """
        if value is None:
            self.pokes.pop(sensor, None)
        else:
            self._until[sensor] = self._now + seconds
            self.pokes[sensor] = float(value)

    def sample(self, time: float) -> None:
        """Samples the sensors, and lets go of those that were poked for long enough; a task of the schedule."""
        self._now = time
        self.senses.sample(time)
        for sensor in [name for name in self.pokes if self._until.get(name, math.inf) <= time]:
            del self.pokes[sensor]

    def light(self, name: str, colour: tuple[float, float, float]) -> None:
        """Sets the colour of a light."""
        self.lights[name] = colour
