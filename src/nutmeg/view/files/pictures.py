"""Pictures of a model, drawn off screen: with a sun, soft shadows and a sky, or bare and quick.

A camera is named as in videos: `broadcast`, `side`, `follow:<robot>`, `eyes:<robot>`, or a camera of the model.

    image = picture(model, qpos, camera="broadcast", size=(1280, 720))     # (720, 1280, 3) uint8
    with Photographer(model, (320, 240), quality=QUICK) as photographer:   # many pictures
        images = [photographer.shoot(row, view) for row in rows]

Software rendering is about twelve times faster without shadows, reflections and multisampling (`QUICK`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rich.segment import Segment, Segments
from rich.style import Style

from nutmeg.base.interrupts import Closing
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.model.posing import standing
from nutmeg.sim.cameras import renderer
from nutmeg.view.files import backdrop
from nutmeg.view.stage.cameras import CameraOperator, Viewpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bytes, Floats


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What a picture may cost."""

    shadows: bool = True
    """Whether the sun casts shadows."""

    reflections: bool = True
    """Whether shiny floors mirror."""

    samples: int = 4
    """Samples per pixel; 0 leaves edges jagged."""

    sky: bool = True
    """Whether a scene without a sky of its own gets one, and a sun."""


FINE = Quality()
"""For pictures and videos."""

QUICK = Quality(shadows=False, reflections=False, samples=0)
"""For many small pictures, such as what robots see."""

NEAR_PLANE = 0.02
"""Distance of the nearest thing that is drawn [m]."""
SMOOTH_FACETS = (36, 22)
"""Facets of round things, around and along: with few of them, they shade themselves in steps."""


class Photographer(Closing):
    """Takes pictures of one model; holds a renderer until closed.

    Args:
        model: the compiled `mujoco.MjModel`; it is not changed.
        size: width and height, pixels.
        quality: what to spend on a picture.
    """

    def __init__(self, model: Any, size: tuple[int, int], quality: Quality = FINE) -> None:  # noqa: ANN401
        drawn = renderer.Quality(
            shadows=quality.shadows,
            reflections=quality.reflections,
            samples=quality.samples,
            facets=SMOOTH_FACETS if quality.shadows else None,
        )
        self._sky, self._renderer = quality.sky, renderer.SceneRenderer(model, size, quality=drawn)
        self.size, self.model, self.data = size, self._renderer.model, self._renderer.data
        if quality.sky:
            head = self.model.vis.headlight
            head.ambient[:], head.diffuse[:] = backdrop.HEAD_AMBIENT, backdrop.HEAD_DIFFUSE
            head.specular[:] = 0.05

    def pose(self, qpos: Floats) -> None:
        """Put everything where generalised positions (nq,) say."""
        self._renderer.pose(qpos)

    def shoot(self, view: Viewpoint) -> Bytes:
        """A picture (height, width, 3) of the present pose."""
        self._renderer.update()
        if self._sky:
            backdrop.add(self.model, self._renderer.scene, view)
        forward = view.look_at - view.position
        forward = forward / np.linalg.norm(forward)
        up = view.up - (view.up @ forward) * forward
        return self._renderer.paint(
            renderer.Eye(
                position=view.position,
                forward=forward,
                up=up / np.linalg.norm(up),
                slope=math.tan(view.fov / 2),
                near=NEAR_PLANE,
                far=backdrop.FAR_PLANE,
            )
        )

    def close(self) -> None:
        """Gives the renderer back."""
        self._renderer.close()


def picture(
    model: Any,  # noqa: ANN401
    qpos: Floats,
    camera: str | Viewpoint = "broadcast",
    size: tuple[int, int] = (1280, 720),
    quality: Quality = FINE,
) -> Bytes:
    """One picture (height, width, 3) of a model at generalised positions (nq,)."""
    with Photographer(model, size, quality) as photographer:
        photographer.pose(qpos)
        if isinstance(camera, str):
            operator = CameraOperator(photographer.model, camera, aspect=size[0] / size[1])
            camera = operator.view(photographer.data)
        return photographer.shoot(camera)


# ----------------------------------------------------------------------------------------------------
# A picture of one robot, standing on a plain floor, seen from the front and a little from the side.


PORTRAIT_FOV = math.radians(24.0)
"""Vertical field of view: a portrait lens."""


def portrait(
    robot: str, kind: str = "", size: tuple[int, int] = (1200, 900), *, pose: str = "ready", turn: float = 0.45
) -> Bytes:
    """A picture (height, width, 3) of a robot by name or path.

    Args:
        robot: which robot.
        kind: one of its types.
        size: width and height, pixels.
        pose: the pose it stands in.
        turn: how far the camera stands to the robot's left of straight ahead [rad].
    """
    placement = Placement(robot=robot, name="robot", type=kind, pose=pose, team="blue")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
    height = standing(load_robot(robot), pose, kind=kind).top
    reach = max(height, 0.36)
    distance = 0.62 * reach / math.tan(PORTRAIT_FOV / 2)
    tilt = 0.18 if height > 0.35 else 0.45
    aim = np.array([0.0, 0.0, 0.48 * height])
    away = np.array([math.cos(turn) * math.cos(tilt), math.sin(turn) * math.cos(tilt), math.sin(tilt)])
    view = Viewpoint(position=aim + distance * away, look_at=aim, up=np.array([0.0, 0.0, 1.0]), fov=PORTRAIT_FOV)
    return picture(scene.model, scene.start, view, size)


# ----------------------------------------------------------------------------------------------------
# A picture in a terminal: two pixels to a character cell, upper and lower half.


def half_blocks(image: Bytes, *, columns: int) -> Segments:
    """The picture (height, width, 3), scaled to `columns` characters, for a Rich console."""
    rows = round(columns * image.shape[0] / image.shape[1] / 2) * 2
    small = np.asarray(Image.fromarray(image).resize((columns, rows), Image.Resampling.LANCZOS))
    segments = []
    for top, bottom in zip(small[0::2], small[1::2], strict=True):
        for upper, lower in zip(top, bottom, strict=True):
            style = Style(color=_hex(upper), bgcolor=_hex(lower))
            segments.append(Segment("▀", style))
        segments.append(Segment.line())
    return Segments(segments)


def _hex(pixel: Bytes) -> str:
    return f"#{pixel[0]:02x}{pixel[1]:02x}{pixel[2]:02x}"


# ----------------------------------------------------------------------------------------------------
# Pictures of a camera side by side, each with a label and a piece of it enlarged.


PANEL_WIDTH = 320
"""Of a panel, pixels."""
SHEET_COLUMNS = 4
PANEL_GAP = 6
LABEL_HEIGHT = 20
"""Height of a label, pixels."""
ENLARGED_TIMES, ENLARGED_SHARE = 5, 0.36
"""How many times larger the enlarged piece is, and which share of the panel's width it takes."""
_PAPER, _INK, _FRAME = (250, 250, 250), (30, 30, 30), (255, 210, 0)


@dataclass(frozen=True, kw_only=True)
class SheetPanel:
    """One picture of the sheet."""

    picture: Bytes
    """(height, width, 3)."""
    label: str
    note: str = ""
    """Said in grey behind the label."""


def contact_sheet(shown: Sequence[SheetPanel], *, around: tuple[float, float], columns: int = SHEET_COLUMNS) -> Bytes:
    """A sheet (height, width, 3) of pictures of one size.

    Args:
        shown: from left to right, row by row.
        around: the middle of the piece that is enlarged, in widths and heights of a picture from its upper left.
        columns: panels in a row.
    """
    height = round(PANEL_WIDTH * shown[0].picture.shape[0] / shown[0].picture.shape[1])
    columns = min(columns, len(shown))
    rows = math.ceil(len(shown) / columns)
    cell = (PANEL_WIDTH + PANEL_GAP, height + LABEL_HEIGHT + PANEL_GAP)
    sheet = Image.new("RGB", (columns * cell[0] + PANEL_GAP, rows * cell[1] + PANEL_GAP), _PAPER)
    write = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(13)
    for number, panel in enumerate(shown):
        left, top = PANEL_GAP + number % columns * cell[0], PANEL_GAP + number // columns * cell[1]
        write.text((left + 2, top + 2), panel.label, fill=_INK, font=font)
        if panel.note:
            write.text((left + PANEL_WIDTH - 2, top + 2), panel.note, fill=(120, 120, 120), font=font, anchor="ra")
        sheet.paste(_with_piece(panel.picture, (PANEL_WIDTH, height), around), (left, top + LABEL_HEIGHT))
    return np.asarray(sheet)


def _with_piece(picture: Bytes, size: tuple[int, int], around: tuple[float, float]) -> Image.Image:
    """A picture at a size, with a piece of it enlarged in its upper right corner."""
    image = Image.fromarray(picture)
    small = image.resize(size, Image.Resampling.LANCZOS)
    wide = round(size[0] * ENLARGED_SHARE)
    scale = ENLARGED_TIMES * size[0] / image.width
    piece_width = max(4, round(wide / scale))
    piece_height = max(3, round(piece_width * 0.75))
    left = min(max(0, round(around[0] * image.width) - piece_width // 2), image.width - piece_width)
    top = min(max(0, round(around[1] * image.height) - piece_height // 2), image.height - piece_height)
    box = (left, top, left + piece_width, top + piece_height)
    piece = image.crop(box).resize((wide, round(wide * 0.75)), Image.Resampling.NEAREST)
    place = (size[0] - piece.width - 3, 3)
    small.paste(piece, place)
    draw = ImageDraw.Draw(small)
    draw.rectangle((place[0] - 1, place[1] - 1, place[0] + piece.width, place[1] + piece.height), outline=_FRAME)
    shrink = size[0] / image.width
    draw.rectangle(tuple(round(edge * shrink) for edge in box), outline=_FRAME)
    return small
