"""Users' own objects in a scene: ramps, walls, referees' hands, anything MJCF can say.

    add_object(spec, ObjectSettings(name="ramp", file=Path("ramp.xml"), pos=(1.0, 0.0, 0.0), heading=1.57))

The file is a complete MJCF model; all that lies in its `worldbody` is moved to `pos`, turned by `heading`, and its
names get the prefix `<name>/`. A body with a free joint stays free. Its options (step, gravity) are left out: those
of the scene hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import mujoco

from nutmeg.errors import FileError, ModelError


@dataclass(frozen=True, kw_only=True)
class ObjectSettings:
    """An object and its place."""

    name: str
    """Prefix of all its names; each object of a scene has its own."""
    file: Path
    """MJCF file."""
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the file's origin goes, m."""
    heading: float = 0.0
    """Turn about the vertical, rad, counter-clockwise from above."""
    mass: float | None = None
    """Total mass, kg, to which all its bodies are scaled; None leaves them as in the file."""

    def __post_init__(self) -> None:
        """Refuse names and masses that cannot be."""
        if not self.name or "/" in self.name:
            raise ValueError(f"the object's name is {self.name!r}, but must be a word without '/'.")
        if self.mass is not None and self.mass <= 0:
            raise ValueError(f"mass is {self.mass}, but must be above 0.")


def add_object(spec: mujoco.MjSpec, settings: ObjectSettings) -> None:
    """Attach the object to the world; raises FileError where the file is missing or not a model."""
    prefix = f"{settings.name}/"
    if any(body.name.startswith(prefix) for body in spec.bodies) or any(
        geom.name.startswith(prefix) for geom in spec.geoms
    ):
        raise ModelError(f"the scene already has something called {settings.name!r}. Give each object its own name.")
    child, total = _read(settings.file)
    if settings.mass is not None:
        if total <= 0:
            raise FileError(settings.file, f"has no moving mass, so it cannot be scaled to {settings.mass} kg.")
        _scale_mass(child, settings.mass / total)
    half = settings.heading / 2
    frame = spec.worldbody.add_frame(pos=list(settings.pos), quat=[math.cos(half), 0, 0, math.sin(half)])
    try:
        spec.attach(child, prefix=prefix, frame=frame)
    except ValueError as error:
        raise ModelError(f"{settings.file} cannot be put into the scene: {error}") from None


def _read(path: Path) -> tuple[mujoco.MjSpec, float]:
    """The model in a file, known to compile, and its mass, kg."""
    if not path.is_file():
        raise FileError(path, "there is no such file. An object needs an MJCF file (.xml).")
    try:
        model = mujoco.MjSpec.from_file(str(path)).compile()
        return mujoco.MjSpec.from_file(str(path)), float(model.body_mass.sum())
    except ValueError as error:
        raise FileError(path, f"MuJoCo cannot build this object: {error}") from None


def _scale_mass(child: mujoco.MjSpec, factor: float) -> None:
    """Scale masses and inertias, said or computed from shapes alike."""
    for geom in child.geoms:
        geom.mass *= factor  # nan where the density counts
        geom.density *= factor
    for body in child.bodies:
        if body.explicitinertial:
            body.mass *= factor
            body.inertia = body.inertia * factor
            body.fullinertia = body.fullinertia * factor  # nan where the diagonal counts
