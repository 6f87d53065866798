"""Lights of a scene as data, which replace the sun of the field.

A lighting is a TOML file with a list of `[[light]]`s; those that come with Nutmeg lie in `data/lights`.

    lights = load_lights("hall").light              # or the path of a file of your own

    [[light]]                                       # a lamp under the ceiling
    kind = "lamp"
    pos = [2.0, 1.5, 4.0]
    direction = [0, 0, -1]
    colour = [0.5, 0.48, 0.42]
    shadow = true

Colours are as MuJoCo takes them: what a white surface that faces the light adds to its pixel, from 0 to 1 for each of
red, green and blue. Where several lights meet, they add. OpenGL lights a surface by eight at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from nutmeg.base.errors import UnknownNameError
from nutmeg.base.settings import Bounds, at_least, check_bounds, read

LIGHTS_FOLDER = Path(__file__).parent / "data" / "lights"
MAX_LIGHTS = 8
"""Lights in a scene: as many as OpenGL has."""

Three = tuple[float, float, float]
Colour = tuple[Annotated[float, at_least(0)], Annotated[float, at_least(0)], Annotated[float, at_least(0)]]


@dataclass(frozen=True, kw_only=True)
class Light:
    """A sun or a lamp."""

    kind: Literal["sun", "lamp"] = "lamp"
    """A sun is equally bright everywhere; a lamp shines into a cone."""
    pos: Three = (0.0, 0.0, 4.0)
    """Position [m]; for a sun, the point from which its shadows are drawn."""
    direction: Three = (0.0, 0.0, -1.0)
    """Direction of its light; need not be normalised."""
    colour: Colour = (0.5, 0.5, 0.5)
    """Red, green, blue."""
    ambient: Colour = (0.0, 0.0, 0.0)
    """Light that it adds to every surface, whatever its orientation."""
    shine: Annotated[float, at_least(0)] = 0.2
    """Share of its colour in highlights on glossy surfaces."""
    opening: Annotated[float, Bounds(0, math.pi, "rad", without_low=True, without_high=True)] = 2.6
    """lamp: full opening angle of its cone [rad], below pi."""
    focus: Annotated[float, at_least(0)] = 0.5
    """lamp: how fast it fades from the middle of its cone: the cosine to this power."""
    shadow: bool = True
    """Whether it casts shadows, where pictures have any."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if not any(self.direction):
            raise ValueError("direction is [0, 0, 0], which is none.")


@dataclass(frozen=True, kw_only=True)
class Lighting:
    """All lights of a scene: the contents of a lighting file."""

    about: str = ""
    light: tuple[Light, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.light) <= MAX_LIGHTS:
            raise ValueError(f"has {len(self.light)} lights; a scene can have 1 to {MAX_LIGHTS}.")


def lighting_names() -> list[str]:
    """The lightings that come with Nutmeg."""
    return sorted(path.stem for path in LIGHTS_FOLDER.glob("*.toml"))


def load_lights(name: str | Path) -> Lighting:
    """A built-in lighting by name, or a user's by the path of its TOML file."""
    if str(name) in lighting_names():
        return read(LIGHTS_FOLDER / f"{name}.toml", Lighting)
    path = Path(name)
    if path.suffix == ".toml":
        return read(path, Lighting)
    raise UnknownNameError("lighting", str(name), lighting_names())
