"""The lights of robots on the page: small lamps that have the colour that was recorded.

A recording of hosted robots has a channel `<robot>.lights` for each Nao, with LoLA's groups: `Chest0..2`, `LEye0..23`
and so on (see `net.lola.names`). A lamp shows the mean colour of its group; switched off, it is dark.

    lights = Lights(server, stage, film)        # nothing is added for robots without lights
    lights.show(12.5)                           # after stage.show(...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import viser

    from nutmeg.base.arrays import Floats
    from nutmeg.view.film import Film
    from nutmeg.view.stage import Stage

LAMPS = {
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
DARK = (46, 48, 54)
"""A lamp that is off (sRGB)."""


class Lights:
    """The lamps of all robots of a film."""

    def __init__(self, server: viser.ViserServer, stage: Stage, film: Film) -> None:
        self._film = film
        self._lamps: dict[str, list[tuple[Any, str, list[int]]]] = {}
        self._shown: dict[str, tuple[int, int, int]] = {}
        for robot in film.robots:
            channel = film.recording.channels.get(f"{robot}.lights")
            if channel is not None:
                self._lamps[robot] = _lamps(server, stage, robot, channel.labels)

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
    red, green, blue = (round(dark + (255 - dark) * float(part)) for dark, part in zip(DARK, parts, strict=True))
    return red, green, blue


def _lamps(
    server: viser.ViserServer, stage: Stage, robot: str, labels: tuple[str, ...]
) -> list[tuple[Any, str, list[int]]]:
    pieces = {stage.model.body(piece.body).name: piece.path for piece in stage.tree}
    found = []
    for group, (body, place, radius) in LAMPS.items():
        columns = [k for k, label in enumerate(labels) if label.rstrip("0123456789") == group]
        path = pieces.get(f"{robot}/{body}")
        if columns and path is not None:
            node = server.scene.add_icosphere(
                f"{path}/light-{group}", radius=radius, color=DARK, subdivisions=2, position=place, cast_shadow=False
            )
            found.append((node, group, columns))
    return found
