"""Parts of the page for hosted robots: their lights and sonars, the punctuality of tasks, and touch sensors.

    lights, sonars, board = Lights(client, cast, film), Sonars(client, cast, film), ScheduleBoard(client, film)
    lights.show(12.5)                           # after cast.show(...)
    sonars.show(12.5)
    board.show(12.5)
    TouchPad(server, {"nao-v6-1": ("ChestButton", "Battery", "Charging")}, send)

They are made from channels that only recordings of hosted robots have; other pages do not show them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.view.match_sight import sonar_cone
from nutmeg.view.pages.orders import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import viser
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage.film import Film
    from nutmeg.view.stage.stage import Cast


LAMP_PLACES = {
    "Chest": ("torso", (0.0535, 0.0016, 0.0552), 0.0105),
    "LEye": ("Head", (0.052, 0.0265, 0.0475), 0.0125),
    "REye": ("Head", (0.052, -0.0265, 0.0475), 0.0125),
    "LEar": ("Head", (-0.006, 0.0585, 0.049), 0.012),
    "REar": ("Head", (-0.006, -0.0585, 0.049), 0.012),
    "Skull": ("Head", (-0.002, 0.0, 0.107), 0.012),
    "LFoot": ("l_ankle", (0.075, 0.0, -0.012), 0.009),
    "RFoot": ("r_ankle", (0.075, 0.0, -0.012), 0.009),
}
"""Body, place in its frame [m] and radius [m] of each group's lamp, where the Nao's shell has them."""
LAMP_OFF = (46, 48, 54)  # a lamp that is off (sRGB)


class Lights:
    """The lights of all robots as small lamps on their bodies.

    The channel `<robot>.lights` has LoLA's groups: `Chest0..2`, `LEye0..23` and so on. A lamp shows the mean colour of
    its group.
    """

    def __init__(self, owner: viser.ViserServer | viser.ClientHandle, cast: Cast, film: Film) -> None:
        self._film = film
        self._lamps: dict[str, list[tuple[Any, str, list[int]]]] = {}
        self._shown: dict[str, tuple[int, int, int]] = {}
        for robot in film.robots:
            channel = film.recording.channels.get(f"{robot}.lights")
            if channel is not None:
                self._lamps[robot] = _lamps(owner, cast, robot, channel.labels)

    def show(self, time: float) -> None:
        """Gives the lamps the colours of a time; nothing is sent that did not change."""
        if not self._lamps or not len(self._film.times):
            return
        row = self._film.row_at(time)
        for robot, lamps in self._lamps.items():
            values = self._film.recording.read(f"{robot}.lights", row, row + 1)[0]
            for node, group, columns in lamps:
                colour = lamp_colour(group, values[columns])
                if self._shown.get(node.name) != colour:
                    self._shown[node.name] = colour
                    node.color = colour


def lamp_colour(group: str, values: Floats) -> tuple[int, int, int]:
    """The colour (sRGB) of a group's lamp from the brightness of its lights, 0 to 1."""
    if group in ("LEye", "REye") or len(values) == 3:
        parts = np.asarray(values).reshape(3, -1).mean(axis=1)
    else:
        share = float(np.mean(values))
        parts = np.array([share, share, share] if group == "Skull" else [0.25 * share, 0.45 * share, share])
    red, green, blue = (round(dark + (255 - dark) * float(part)) for dark, part in zip(LAMP_OFF, parts, strict=True))
    return red, green, blue


def _lamps(
    owner: viser.ViserServer | viser.ClientHandle, cast: Cast, robot: str, labels: tuple[str, ...]
) -> list[tuple[Any, str, list[int]]]:
    pieces = {cast.model.body(piece.body).name: piece.path for piece in cast.stage.tree}
    found = []
    for group, (body, place, radius) in LAMP_PLACES.items():
        columns = [k for k, label in enumerate(labels) if label.rstrip("0123456789") == group]
        path = pieces.get(f"{robot}/{body}")
        if columns and path is not None:
            node = owner.scene.add_icosphere(
                f"{path}/light-{group}",
                radius=radius,
                color=LAMP_OFF,
                subdivisions=2,
                position=place,
                cast_shadow=False,
            )
            found.append((node, group, columns))
    return found


_SILENT_COLOUR, _ECHO_COLOUR = (190, 190, 205), (255, 60, 200)
_NOTHING_HEARD = 0.03  # a sonar that says its largest distance but for this hears nothing: its noise is 0.01 [m]


def sonar_nodes(scene: viser.SceneApi, path: str) -> dict[str, Any]:
    """The lines around the cones of sonars that hear nothing, and of those that answer."""
    nothing = np.zeros((1, 2, 3))
    return {
        "silent": scene.add_line_segments(f"{path}/silent", nothing, _SILENT_COLOUR, thickness=0.008),
        "echoes": scene.add_line_segments(f"{path}/echoes", nothing, _ECHO_COLOUR, thickness=0.02),
    }


class Sonars:
    """The cones of all robots' sonars: those that answer up to the recorded distance, the others up to their range.

    A recording with the channels `<robot>.<sonar>` says in its configuration how wide and how far each listens. The
    drawn sector is the cut through the middle of the cone.
    """

    def __init__(self, owner: viser.ViserServer | viser.ClientHandle, cast: Cast, film: Film) -> None:
        self._film, self._cast = film, cast
        known: Any = film.recording.manifest.config.get("sonars", {})
        self._sonars = {
            channel: (int(cast.model.site(channel.replace(".", "/", 1)).id), float(cone), float(farthest))
            for channel, (cone, farthest) in known.items()
        }
        self._nodes = sonar_nodes(owner.scene, "/sonars") if self._sonars else {}

    def show(self, time: float) -> None:
        """Draws the cones of a time."""
        if not self._nodes or not len(self._film.times):
            return
        row, data = self._film.row_at(time), self._cast.data
        lines: dict[str, list[Floats]] = {name: [] for name in self._nodes}
        for channel, values in self._film.recording.read_several(tuple(self._sonars), row, row + 1).items():
            site, cone, farthest = self._sonars[channel]
            reach = float(values[0][0])
            flat = sonar_cone(cone, reach)
            space = np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=2)
            heard = reach < farthest - _NOTHING_HEARD
            lines["echoes" if heard else "silent"].append(
                space @ data.site_xmat[site].reshape(3, 3).T + data.site_xpos[site]
            )
        for name, found in lines.items():
            self._nodes[name].visible = bool(found)
            if found:
                self._nodes[name].points = np.concatenate(found).astype(np.float32)


_SCHEDULE_PREFIX = "schedule."
_SCHEDULE_PERIOD = 1.0  # seconds between two updates
SCHEDULE_COLUMNS = {
    "turns": "turns",
    "late": "late",
    "overruns": "over",
    "mean_took_ms": "ms",
    "worst_late_ms": "worst",
}
"""The numbers that are shown of each task, and their headings."""


class ScheduleBoard:
    """A table of how punctual the tasks of the host are, from the channels `schedule.<task>`."""

    def __init__(self, owner: viser.ViserServer | viser.ClientHandle, film: Film) -> None:
        self._film = film
        self._tasks = {
            name.removeprefix(_SCHEDULE_PREFIX): [channel.labels.index(label) for label in SCHEDULE_COLUMNS]
            for name, channel in film.recording.channels.items()
            if name.startswith(_SCHEDULE_PREFIX) and set(SCHEDULE_COLUMNS) <= set(channel.labels)
        }
        self._updated = 0.0
        self._table: Any = None
        if self._tasks:
            with owner.gui.add_folder("Schedule", order=25, expand_by_default=False):
                self._table = owner.gui.add_markdown("")

    def show(self, moment: float) -> None:
        """Shows the table of a time of the recording."""
        now = time.monotonic()
        if self._table is None or now - self._updated < _SCHEDULE_PERIOD or not len(self._film.times):
            return
        self._updated = now
        row = self._film.row_at(moment)
        self._table.content = schedule_text(
            {
                task: self._film.recording.read(f"{_SCHEDULE_PREFIX}{task}", row, row + 1)[0][at]
                for task, at in self._tasks.items()
            }
        )


def schedule_text(rows: dict[str, NDArray[Any]]) -> str:
    """The table as Markdown: turns, late ones, overruns, mean time taken and worst lateness of each task."""
    head = f"| task | {' | '.join(SCHEDULE_COLUMNS.values())} |\n|---|{'---|' * len(SCHEDULE_COLUMNS)}\n"
    return head + "\n".join(f"| {task} | {' | '.join(f'{value:.4g}' for value in row)} |" for task, row in rows.items())


TAP_TIME = 0.25  # duration of a touch by a click [s]
SONAR_OBSTACLE_DISTANCE = 0.3  # distance of the obstacle that is held in front of a sonar [m]


class TouchPad:
    """Controls that touch sensors, shared by all browsers; they send orders `poke` (see `orders`).

    A click touches a sensor for a quarter of a second of simulated time, *Hold* until it is released. The sensors
    `Battery` and `Charging` have controls of their own.
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
            touch.on_click(lambda _: self.touch(TAP_TIME))
            hold = gui.add_checkbox("Hold", initial_value=False)
            hold.on_update(lambda event: self.touch(0.0) if event.target.value else self.let_go())
            if "Battery" in self._pokes[robots[0]]:
                battery = gui.add_slider("Battery %", min=0, max=100, step=1, initial_value=100)
                battery.on_update(lambda event: self._poke("Battery", float(event.target.value) / 100))
                charger = gui.add_checkbox("Charger", initial_value=False)
                charger.on_update(lambda event: self._poke("Charging", float(event.target.value)))

    def touch(self, seconds: float) -> None:
        """Touches the chosen sensor for a time [s]; 0 until it is released."""
        name = str(self._sensor.value)
        self._poke(name, SONAR_OBSTACLE_DISTANCE if name.startswith("Sonar") else 1.0, seconds)

    def let_go(self) -> None:
        """Releases the chosen sensor."""
        thing = f"{self._robot.value}/{self._sensor.value}"
        self._send(Order(order="poke", thing=thing, numbers=(0.0, 0.0, 1.0)))

    def _poke(self, sensor: str, value: float, seconds: float = 0.0) -> None:
        self._send(Order(order="poke", thing=f"{self._robot.value}/{sensor}", numbers=(value, seconds, 0.0)))
