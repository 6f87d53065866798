"""Hands on a robot, from the page: buttons that touch its sensors, its battery, something held before its sonar.

    TouchPad(server, {"nao-v6-1": ("ChestButton", "Battery", "Charging")}, send)

A click on a sensor's button touches it for a quarter of a second of simulated time, as a finger would; *Hold* keeps it
pressed until it is let go. What is sent is an order `poke` (see `orders`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.view.orders import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser

TAP = 0.25
"""How long a click touches [s]."""
NEAR = 0.3
"""Distance of what is held before a sonar [m]."""


class TouchPad:
    """The controls, shared by all who watch.

    Args:
        server: the viser server of the page.
        pokes: sensors by robot; `Battery` and `Charging` have controls of their own.
        send: gets the orders.
    """

    def __init__(
        self, server: viser.ViserServer, pokes: Mapping[str, Sequence[str]], send: Callable[[Order], None]
    ) -> None:
        self._send, self._pokes = send, {robot: tuple(names) for robot, names in pokes.items()}
        gui, robots = server.gui, tuple(pokes)
        with gui.add_folder("Hands on", order=20, expand_by_default=False):
            self._robot = gui.add_dropdown("Robot", robots, initial_value=robots[0])
            names = [name for name in self._pokes[robots[0]] if name not in ("Battery", "Charging")]
            self._sensor = gui.add_dropdown("Sensor", tuple(names), initial_value=names[0])
            touch = gui.add_button("Touch", icon="hand-finger")
            touch.on_click(lambda _: self.touch(TAP))
            hold = gui.add_checkbox("Hold", initial_value=False)
            hold.on_update(lambda event: self.touch(0.0) if event.target.value else self.let_go())
            if "Battery" in self._pokes[robots[0]]:
                battery = gui.add_slider("Battery %", min=0, max=100, step=1, initial_value=100)
                battery.on_update(lambda event: self._poke("Battery", float(event.target.value) / 100))
                charger = gui.add_checkbox("Charger", initial_value=False)
                charger.on_update(lambda event: self._poke("Charging", float(event.target.value)))

    def touch(self, seconds: float) -> None:
        """Touches the chosen sensor for so long [s]; 0 until it is let go."""
        name = str(self._sensor.value)
        self._poke(name, NEAR if name.startswith("Sonar") else 1.0, seconds)

    def let_go(self) -> None:
        """Lets go of the chosen sensor."""
        thing = f"{self._robot.value}/{self._sensor.value}"
        self._send(Order(order="poke", thing=thing, numbers=(0.0, 0.0, 1.0)))

    def _poke(self, sensor: str, value: float, seconds: float = 0.0) -> None:
        self._send(Order(order="poke", thing=f"{self._robot.value}/{sensor}", numbers=(value, seconds, 0.0)))
