"""Pictures of a model, drawn off screen: with a sun, soft shadows and a sky, or bare and quick.

A camera is named as in videos: `broadcast`, `side`, `follow:<robot>`, `eyes:<robot>`, or a camera of the model.

    image = picture(model, qpos, camera="broadcast", size=(1280, 720))     # (720, 1280, 3) uint8
    with Photographer(model, (320, 240), quality=QUICK) as photographer:   # many pictures
        photographer.pose(qpos)
        image = photographer.shoot(view)

Software rendering is about twelve times faster without shadows, reflections and multisampling (`QUICK`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rich.segment import Segment, Segments
from rich.style import Style

from nutmeg.sim.cameras.renderer import Eye, Quality, SceneRenderer
from nutmeg.view.stage.cameras import CameraOperator, Viewpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bytes, Floats


FINE = Quality(shadows=True, reflections=True, samples=4, facets=(36, 22))
"""Quality of pictures and videos. With fewer facets, round shapes would show shading in steps."""
QUICK = Quality(facets=None)
"""Quality of many small pictures, such as those of robots' cameras."""
NEAR_PLANE = 0.02
"""Distance of the nearest thing that is drawn [m]."""
_HEAD_AMBIENT, _HEAD_DIFFUSE = 0.40, 0.25
"""Light that comes from everywhere and from the camera, beside the sun's."""
_SUN_AMBIENT, _SUN_DIFFUSE = 0.05, 0.50  # light that the sun adds
_SUN_DIRECTION = np.array([-0.30, 0.38, -0.87])  # the direction of the sun's light
_SKY_DISTANCE, _SKY_BANDS = 120.0, 20  # distance of the sky [m], and the number of bands of colour in it
_ZENITH_COLOUR, _HORIZON_COLOUR = np.array([0.62, 0.77, 0.90]), np.array([0.93, 0.955, 0.975])
_GROUND_COLOUR = np.array([0.87, 0.905, 0.93])  # the colour below the horizon


class Photographer(SceneRenderer):
    """Takes pictures of one model, which it does not change, from any viewpoint; holds a renderer until closed.

    A scene without a sky of its own gets one, and a scene without a light a sun.
    """

    def __init__(self, model: mujoco.MjModel, size: tuple[int, int], quality: Quality = FINE) -> None:
        super().__init__(model, size, quality=quality)
        head = self.model.vis.headlight
        head.ambient[:], head.diffuse[:], head.specular[:] = _HEAD_AMBIENT, _HEAD_DIFFUSE, 0.05

    def shoot(self, view: Viewpoint) -> Bytes:
        """A picture (height, width, 3) of the present pose."""
        self.update()
        _add_backdrop(self.model, self.scene, view)
        forward = view.look_at - view.position
        forward = forward / np.linalg.norm(forward)
        up = view.up - (view.up @ forward) * forward
        up = up / np.linalg.norm(up)
        slope = math.tan(view.fov / 2)
        return self.paint(Eye(position=view.position, forward=forward, up=up, slope=slope, near=NEAR_PLANE))


def picture(
    model: mujoco.MjModel,
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


# ---- sky and sun


def _add_backdrop(model: mujoco.MjModel, scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """Add a sky unless the model has a skybox, and a sun unless it has a light."""
    if not np.any(np.asarray(model.tex_type) == mujoco.mjtTexture.mjTEXTURE_SKYBOX):
        _add_sky(scene, view)
    if not model.nlight:
        _add_sun(scene, view)


def _add_sky(scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """Four walls of bands around the camera, pale at the horizon."""
    edges = _SKY_DISTANCE * np.tan(np.linspace(0.0, 1.2, _SKY_BANDS + 1))
    heights = np.linspace(0.0, 1.0, _SKY_BANDS)[:, None] ** 0.7
    colours = _HORIZON_COLOUR + (_ZENITH_COLOUR - _HORIZON_COLOUR) * heights
    bands = list(zip(edges[:-1], edges[1:], colours, strict=True))
    bands.append((-1.5 * _SKY_DISTANCE, 0.0, _GROUND_COLOUR))
    for low, high, colour in bands:
        for side in range(4):
            outward = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]][side], dtype=np.float64)
            # Turned inside out (a negative size), a panel shows its back, which the camera's light does not reach.
            half = np.append(np.where(outward != 0, -0.01, _SKY_DISTANCE), (high - low) / 2)
            centre = np.append(view.position[:2] + outward * _SKY_DISTANCE, (low + high) / 2)
            _add_panel(scene, centre, half, colour, _glow(outward))


def _glow(outward: Floats) -> float:
    """The emission at which a wall that faces `outward` (2,) shows its own colour: one minus the light on it."""
    sunlit = max(0.0, float(-outward @ _SUN_DIRECTION[:2])) / float(np.linalg.norm(_SUN_DIRECTION)) * _SUN_DIFFUSE
    return max(0.0, 1.0 - _HEAD_AMBIENT - _SUN_AMBIENT - sunlit)


def _add_panel(scene: Any, centre: Any, half: Any, colour: Any, glow: float) -> None:  # noqa: ANN401
    if scene.ngeom >= scene.maxgeom:
        return
    panel = scene.geoms[scene.ngeom]
    rgba = np.append(colour, 1.0).astype(np.float32)
    mujoco.mjv_initGeom(panel, mujoco.mjtGeom.mjGEOM_BOX, half, centre, np.eye(3).ravel(), rgba)
    panel.category = mujoco.mjtCatBit.mjCAT_DECOR
    panel.emission, panel.specular, panel.shininess, panel.reflectance = glow, 0.0, 0.0, 0.0
    scene.ngeom += 1


def _add_sun(scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """One distant light over the middle of the picture."""
    sun = scene.lights[scene.nlight]
    sun.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    sun.dir = _SUN_DIRECTION / np.linalg.norm(_SUN_DIRECTION)
    sun.pos = view.look_at - 8.0 * np.asarray(sun.dir)
    sun.ambient, sun.diffuse = np.full(3, _SUN_AMBIENT), np.full(3, _SUN_DIFFUSE)
    sun.specular = np.full(3, 0.2)
    sun.attenuation = [1.0, 0.0, 0.0]
    sun.cutoff, sun.exponent = 180.0, 0.0
    sun.castshadow, sun.headlight = 1, 0
    sun.id, sun.texid = -1, -1
    scene.nlight += 1


# ---- portraits of robots

_PORTRAIT_FOV = math.radians(24.0)  # vertical field of view: a portrait lens


def portrait(
    robot: str, kind: str = "", size: tuple[int, int] = (1200, 900), *, pose: str = "ready", turn: float = 0.45
) -> Bytes:
    """A picture (height, width, 3) of a robot by name or path, on a plain floor, from the front and a little aside.

    Args:
        robot: name or path of the robot.
        kind: one of its types.
        size: width and height, pixels.
        pose: the pose it stands in.
        turn: angle of the camera to the robot's left of straight ahead [rad].
    """
    from nutmeg.model import Placement, SceneSettings, assemble, load_robot
    from nutmeg.model.posing import standing

    placement = Placement(robot=robot, name="robot", type=kind, pose=pose, team="blue")
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,)))
    height = standing(load_robot(robot), pose, kind=kind).top
    reach = max(height, 0.36)
    distance = 0.62 * reach / math.tan(_PORTRAIT_FOV / 2)
    tilt = 0.18 if height > 0.35 else 0.45
    aim = np.array([0.0, 0.0, 0.48 * height])
    away = np.array([math.cos(turn) * math.cos(tilt), math.sin(turn) * math.cos(tilt), math.sin(tilt)])
    view = Viewpoint(position=aim + distance * away, look_at=aim, up=np.array([0.0, 0.0, 1.0]), fov=_PORTRAIT_FOV)
    return picture(scene.model, scene.start, view, size)


# ---- pictures in a terminal


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


# ---- pictures side by side

PANEL_WIDTH, _PANEL_GAP, LABEL_HEIGHT = 320, 6, 20
"""Width of a panel, distance between panels, and height of a label, pixels."""
_SHEET_COLUMNS = 4
_ENLARGED_TIMES, _ENLARGED_SHARE = 5, 0.36
"""Magnification of the enlarged piece, and its share of the width of the panel."""
_PAPER, _INK, _FRAME = (250, 250, 250), (30, 30, 30), (255, 210, 0)


@dataclass(frozen=True, kw_only=True)
class SheetPanel:
    """One picture of the sheet."""

    picture: Bytes
    """(height, width, 3)."""
    label: str
    note: str = ""
    """A remark in grey behind the label."""


def contact_sheet(shown: Sequence[SheetPanel], *, around: tuple[float, float], columns: int = _SHEET_COLUMNS) -> Bytes:
    """Labelled pictures of one size side by side, each with a piece of it enlarged: (height, width, 3).

    Args:
        shown: from left to right, row by row.
        around: the middle of the piece that is enlarged, in widths and heights of a picture from its upper left.
        columns: panels in a row.
    """
    height = round(PANEL_WIDTH * shown[0].picture.shape[0] / shown[0].picture.shape[1])
    columns = min(columns, len(shown))
    rows = math.ceil(len(shown) / columns)
    cell = (PANEL_WIDTH + _PANEL_GAP, height + LABEL_HEIGHT + _PANEL_GAP)
    sheet = Image.new("RGB", (columns * cell[0] + _PANEL_GAP, rows * cell[1] + _PANEL_GAP), _PAPER)
    write = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(13)
    for number, panel in enumerate(shown):
        left, top = _PANEL_GAP + number % columns * cell[0], _PANEL_GAP + number // columns * cell[1]
        write.text((left + 2, top + 2), panel.label, fill=_INK, font=font)
        if panel.note:
            write.text((left + PANEL_WIDTH - 2, top + 2), panel.note, fill=(120, 120, 120), font=font, anchor="ra")
        sheet.paste(_with_piece(panel.picture, (PANEL_WIDTH, height), around), (left, top + LABEL_HEIGHT))
    return np.asarray(sheet)


def _with_piece(picture: Bytes, size: tuple[int, int], around: tuple[float, float]) -> Image.Image:
    """A picture at a size, with a piece of it enlarged in its upper right corner."""
    image = Image.fromarray(picture)
    small = image.resize(size, Image.Resampling.LANCZOS)
    wide = round(size[0] * _ENLARGED_SHARE)
    scale = _ENLARGED_TIMES * size[0] / image.width
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
