"""Pictures as recordings of a camera: a folder of PNG files, and `pictures.toml`, which tells where they were taken.

    format = 1
    robot = "nao-v6"
    camera = "CameraTop"
    field = "spl2025"
    lights = "hall"                     # a lighting's name, a file beside this one, or `field` for the field's own sun
    shadows = true

    [[bystander]]                       # another robot in sight; as many as there are
    robot = "nao-v6"
    pos = [-0.6, 0.42]
    heading = 2.9

    [[view]]                            # one for each place that pictures were taken from
    files = ["view1-1.png", "view1-2.png"]      # of the same; several tell the noise
    pos = [-2.0, 0.0]                   # of the robot [m], and where it faces [rad]
    heading = 0.1
    angles = { HeadYaw = 0.3 }          # joints that are not as in the pose `ready` [rad]
    ball = [-1.1, 0.2]                  # where the ball lies [m]

    told, images = read_pictures(folder)            # images: (pictures, height, width, 3) for each view
    write_pictures(folder, told, images)

What is needed to draw the same place: `reality.photographed` does that, with the numbers of candidates. Pictures that
a camera took with an exposure of its own choice tell it: `exposure` [s] and `gain` of a view.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import FileError
from nutmeg.reality.png import decoded, encoded
from nutmeg.settings import line_of, read

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Bytes

FILE = "pictures.toml"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Bystander:
    """Another robot that may be in sight."""

    robot: str
    """Name of a built-in robot, or path of a user's."""
    pos: tuple[float, float]
    """Where it stands [m]."""
    heading: float = 0.0
    """Where it faces, 0 along x [rad]."""
    pose: str = "ready"
    """One of its poses."""
    team: str = "grey"
    """Colour of its team."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Pictures of the same, and where everything was."""

    files: tuple[str, ...]
    """PNG files beside `pictures.toml`; several of the same tell the noise."""
    pos: tuple[float, float] = (0.0, 0.0)
    """Where the robot stands [m]."""
    heading: float = 0.0
    """Where it faces, 0 along x [rad]."""
    place: tuple[float, float, float, float, float, float, float] | None = None
    """Its whole pose instead, where it does not stand: place [m] and unit quaternion (w, x, y, z) of its root."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Joints that are not as in its pose [rad]."""
    ball: tuple[float, float] | None = None
    """Where the ball lies [m]; without it, in the middle of the field."""
    turn: float = 0.0
    """How fast the robot turned to the left [rad/s], for shutter and blur."""
    exposure: float | None = None
    """How long a row collected light [s], where the camera tells it; else the camera's own number holds."""
    gain: float | None = None
    """The gain, where the camera tells it; else the camera's own number holds."""

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("`files` is empty; a view has at least one picture.")
        for name in ("exposure", "gain"):
            if (told := getattr(self, name)) is not None and not told > 0:
                raise ValueError(f"{name} is {told}; it must be above 0.")

    def __hash__(self) -> int:
        return hash(repr(self))  # the angles are a table


@dataclass(frozen=True, kw_only=True)
class PicturesFile:
    """The contents of a `pictures.toml`."""

    format: int = FORMAT
    """Version of this file format, 1."""
    robot: str
    """Whose camera it was."""
    camera: str
    """Which of its cameras."""
    pose: str = "ready"
    """The pose in which its joints are, but for the `angles` of a view."""
    field: str = "spl2025"
    """Name of a field, or path of a user's."""
    lights: str = "field"
    """A lighting's name, a file beside this one, or `field` for the field's own sun."""
    shadows: bool = False
    """Whether lights cast shadows."""
    bystander: tuple[Bystander, ...] = ()
    view: tuple[View, ...]
    about: str = ""

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"has format {self.format}; this version of Nutmeg reads format {FORMAT}.")
        if not self.view:
            raise ValueError("has no [[view]]; at least one is needed.")


def holds_pictures(path: Path) -> bool:
    """Whether a recording is a folder of pictures."""
    return path.is_dir() and path.suffix != ".nutmeg"


def read_pictures(folder: Path) -> tuple[PicturesFile, list[Bytes]]:
    """What a folder tells of its pictures, and those of each view, (pictures, height, width, 3), all of one size."""
    path = folder / FILE
    if not path.exists():
        raise FileError(folder, f"is a folder without {FILE}, so it is no recording of a camera.")
    told = read(path, PicturesFile)
    images: list[Bytes] = []
    sizes: dict[tuple[int, ...], str] = {}
    for number, view in enumerate(told.view):
        where = f"view[{number}].files"
        found = [_picture(folder, name, line_of(path, where)) for name in view.files]
        sizes |= {one.shape: name for name, one in zip(view.files, found, strict=True)}
        if len(sizes) > 1:
            said = ", ".join(f"{name} has {width} x {height}" for (height, width, _), name in sizes.items())
            raise FileError(path, f"all pictures must have one size; {said}.", line=line_of(path, where))
        images.append(np.stack(found))
    return told, images


def write_pictures(folder: Path, told: PicturesFile, images: Sequence[Bytes]) -> None:
    """Writes a folder that `read_pictures` reads; images are (pictures, height, width, 3) for each view."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for view, pictures in zip(told.view, images, strict=True):
            for name, picture in zip(view.files, pictures, strict=True):
                (folder / name).write_bytes(encoded(picture))
        (folder / FILE).write_text(_text(told), encoding="utf-8")
    except OSError as error:
        raise FileError(folder, f"cannot be written: {error.strerror}.") from None


def _picture(folder: Path, name: str, line: int | None) -> Bytes:
    path = folder / name
    try:
        return decoded(path.read_bytes())
    except FileNotFoundError:
        raise FileError(folder / FILE, f"there is no file {name} in this folder.", line=line) from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise FileError(path, f"is no picture that can be read: {error}.") from None


def _text(told: PicturesFile) -> str:
    """The contents of a `pictures.toml`, a section for each bystander and each view."""
    from nutmeg.recording.toml_text import toml_text, toml_value

    table = _known(told)
    sections = {name: table.pop(name, ()) for name in ("bystander", "view")}
    table |= {name: getattr(told, name) for name in ("format", "field", "lights", "shadows")}
    text = toml_text(table)
    for name, rows in sections.items():
        for row in rows:
            text += f"\n[[{name}]]\n" + "".join(f"{key} = {toml_value(item, key)}\n" for key, item in row.items())
    return text


def _known(settings: Any) -> dict[str, Any]:  # noqa: ANN401 (one of the dataclasses above)
    """The fields of a dataclass that say something else than their defaults."""
    out: dict[str, Any] = {}
    for one in dataclasses.fields(settings):
        value = getattr(settings, one.name)
        empty = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
        if value != empty:
            rows = isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0])
            out[one.name] = [_known(item) for item in value] if rows else value
    return out
