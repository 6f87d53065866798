"""Look through a robot's camera, with the effects of its lens and its sensor switched on one by one.

The robot stands on a pitch with a ball and an opponent in sight, and turns while the picture is taken, so that a
rolling shutter and motion blur show. Each effect adds a panel, on top of the effects before it; what the camera does
not have (see its cameras.toml) has none.

With --fit-data it writes a folder of pictures from several views instead, as `nutmeg identify` takes them.

example: nutmeg camera nao-v6 --out camera.png
         nutmeg camera ers7 --effects lens,noise --lights window
         nutmeg camera ers7 --body params.toml --fit-data pictures/monday --views 4
         nutmeg camera my/robot --camera eye --only --out noise.png --effects noise
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tyro

from nutmeg.base.errors import UsageError
from nutmeg.commands.options import check_output, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.lights import Lighting
    from nutmeg.model.scene import Placement, Scene
    from nutmeg.model.sensors import CameraSettings
    from nutmeg.sim.cameras import RobotCamera, SceneRenderer
    from nutmeg.view.terminal import Terminal

ROBOT, TURNS = "seer", 3
PLACE, OTHER, OTHER_HEADING = (-2.0, 0.0), (-0.6, 0.42), 2.9
"""Where the robot and an opponent in sight stand [m], and where the latter faces [rad]."""
SETTLING = 40
"""Pictures that automatic exposure gets before the one that is shown."""


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg camera`."""

    robot: tyro.conf.Positional[str] = "nao-v6"
    """The robot whose camera it is."""
    out: Path = Path("camera.png")
    """The PNG file to write."""
    camera: str = ""
    """Which of its cameras; the one it looks through unless told otherwise."""
    effects: str = "all"
    """Which effects: lens, fringe, vignette, shutter, blur, exposure, auto, noise, filter, balance, gamma, all or
    none."""
    body: Path | None = None
    """An identified body, params.toml of `nutmeg identify`, whose numbers of cameras and limbs count."""
    brightness: float = 0.0
    """The mean signal that automatic exposure aims at, 0 to 1; 0 for the camera's own number, which may be none."""
    only: bool = False
    """Write the camera's picture alone, with all these effects, instead of the panels."""
    lights: str = "hall"
    """hall, window, evening, field (the field's own sun), or a TOML file with lights of your own."""
    shadows: bool = True
    """Whether lights cast shadows."""
    turn: float = 1.2
    """How fast the robot turns to the left [rad/s]."""
    field: str = "spl2025"
    """The pitch."""
    size: tuple[int, int] = (0, 0)
    """Width and height of the camera's picture, pixels; its own if 0."""
    moments: int = 1
    """Moments to draw for shutter and blur; 1 draws one and turns its rays."""
    fit_data: Path | None = None
    """A folder for pictures from several views, for `nutmeg identify`, instead of the PNG file."""
    views: int = 4
    """With --fit-data: from how many places pictures are taken."""
    repeats: int = 4
    """With --fit-data: how many pictures are taken of each view; several tell the noise."""
    seed: int = 0
    """Of the noise, and of the views."""
    json: bool = False
    """Print one JSON object as the last line."""


def _check(arguments: Arguments) -> None:
    """Refuses what cannot be drawn or written, before anything is drawn."""
    if arguments.fit_data is None:
        check_output(arguments.out, ".png")
    if not all(arguments.size) and any(arguments.size):
        raise UsageError(f"--size is {arguments.size[0]} {arguments.size[1]}; give both numbers, or 0 0.")
    if not math.isfinite(arguments.turn):
        raise UsageError(f"--turn is {arguments.turn:g}; needed is a finite number [rad/s].")
    if arguments.moments < 1:
        raise UsageError(f"--moments is {arguments.moments}; allowed is 1 or more.")


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Takes the pictures."""
    _check(arguments)
    if arguments.fit_data is not None:
        from nutmeg.commands.camera_pictures import save_pictures

        return save_pictures(arguments, arguments.fit_data, terminal)
    from PIL import Image

    from nutmeg.model.sensors import checked_effects
    from nutmeg.sim.cameras import Quality, SceneRenderer, camera_size, scene_cameras
    from nutmeg.view.files.pictures import SheetPanel, contact_sheet

    effects = checked_effects(arguments.effects)
    scene, name = _scene(arguments)
    settings = scene_cameras(scene)[name]
    size = arguments.size if all(arguments.size) else camera_size(scene.model, name)
    lighting = _lighting(arguments)
    quality = Quality(shadows=arguments.shadows, samples=4)
    lights = None if lighting is None else lighting.light
    with SceneRenderer(scene.model, size, quality=quality, lights=lights) as renderer:
        qpos, qvel, ball = _state(scene, renderer, name, arguments.turn)
        sight = _Sight(scene, name, size, settings, renderer, arguments, qpos, qvel)
        steps = [(), *(effects[: k + 1] for k in range(len(effects)) if sight.has(effects[k]))]
        drawn: dict[tuple[int, int], _Drawn] = {}
        shots = [sight.shoot(step, drawn) for step in ([effects] if arguments.only else steps)]
    terminal.table(
        f"{arguments.robot}, {name.partition('/')[2]}, {size[0]} x {size[1]}",
        ("picture", "drawing [ms]", "effects [ms]"),
        [(shot["label"], f"{shot['drawing_ms']:.1f}", f"{shot['effects_ms']:.1f}") for shot in shots],
    )
    pictures = [shot.pop("picture") for shot in shots]
    if arguments.only:
        sheet = pictures[0]
    else:
        shown = [SheetPanel(picture=p, label=s["label"], note=s["note"]) for p, s in zip(pictures, shots, strict=True)]
        sheet = contact_sheet(shown, around=ball)
    with writing(arguments.out) as path:
        Image.fromarray(sheet).save(path)
    terminal.say(
        f"wrote {arguments.out}. Numbers of the camera: {settings.source or 'a pinhole with a perfect sensor'}."
    )
    return {
        "file": str(arguments.out),
        "robot": arguments.robot,
        "camera": name.partition("/")[2],
        "width": size[0],
        "height": size[1],
        "lights": arguments.lights,
        "effects": list(effects),
        "pictures": shots,
    }


class _Drawn(NamedTuple):
    """A pinhole's picture."""

    picture: Bytes
    took: float
    """To draw [s]."""


@dataclass(frozen=True)
class _Sight:
    """What the camera looks at, and with what."""

    scene: Scene
    name: str
    size: tuple[int, int]
    settings: CameraSettings
    renderer: SceneRenderer
    arguments: Arguments
    qpos: Floats
    qvel: Floats

    def has(self, effect: str) -> bool:
        """Whether this camera has an effect at all: one whose numbers are a perfect camera's has none."""
        return effect in _imperfect(self.settings)

    def shoot(self, effects: tuple[str, ...], drawn: dict[tuple[int, int], _Drawn]) -> dict[str, Any]:
        """A picture with some effects, with its label and how long it took; what was drawn before is used again."""
        camera = self._camera(effects)
        size = camera.effects.drawn_size
        if self.arguments.moments > 1 or size not in drawn:
            start = time.perf_counter()
            picture = camera.draw(self.qpos)
            drawn[size] = _Drawn(picture, time.perf_counter() - start)
        velocity = self.renderer.angular_velocity(camera.number, self.qvel)
        work = partial(camera.develop, drawn[size].picture, velocity)
        if self.arguments.moments > 1:
            work = partial(camera.look, self.qpos, self.qvel)
        for _ in range(SETTLING if camera.exposure is not None else 0):
            work()
        picture, took = _quickest(work)
        label = f"+ {effects[-1]}" if effects else "pinhole"
        return {
            "label": label if not self.arguments.only else ", ".join(effects) or "pinhole",
            "note": _note(self.settings, effects[-1] if effects else "", self.arguments),
            "effects": list(effects),
            "drawing_ms": 1000 * drawn[size].took,
            "effects_ms": 1000 * took,
            "picture": picture,
        }

    def _camera(self, effects: tuple[str, ...]) -> RobotCamera:
        import numpy as np

        from nutmeg.sim.cameras import RobotCamera

        return RobotCamera(
            self.scene.model,
            self.name,
            size=self.size,
            renderer=self.renderer,
            settings=self.settings,
            effects=effects,
            rng=np.random.default_rng(self.arguments.seed),
            moments=self.arguments.moments,
        )


def _quickest(work: Callable[[], Bytes]) -> tuple[Bytes, float]:
    """What a piece of work gives the first time, and how long it takes at best [s]."""
    start = time.perf_counter()
    first = work()
    times = [time.perf_counter() - start]
    for _ in range(TURNS - 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return first, min(times)


def _state(scene: Scene, renderer: SceneRenderer, name: str, turn: float) -> tuple[Floats, Floats, tuple[float, float]]:
    """Positions with the ball in sight, velocities of a robot that turns, and where the picture has the ball."""
    import numpy as np

    qpos, qvel = scene.start.copy(), np.zeros(scene.model.nv)
    renderer.pose(qpos)
    place = _put_ball(scene, renderer, name, qpos)
    if scene.robot(ROBOT).root >= 0:
        qvel[int(scene.model.joint(f"{ROBOT}/root").dofadr[0]) + 5] = turn
    return qpos, qvel, place


def _scene(arguments: Arguments) -> tuple[Scene, str]:
    """The pitch with the robot, an opponent and a ball, and the name of the camera in it."""
    from nutmeg.model import Placement, SceneSettings, assemble

    camera = chosen_camera(arguments)
    robots = (
        placed_robot(arguments, camera),
        Placement(robot="nao-v6", name="other", pos=OTHER, heading=OTHER_HEADING, team="red"),
    )
    return assemble(SceneSettings(field=arguments.field, robots=robots)), f"{ROBOT}/{camera}"


def chosen_camera(arguments: Arguments) -> str:
    """The camera that is meant, by its sensor's name."""
    from nutmeg.base.errors import UnknownNameError
    from nutmeg.model import load_robot

    robot = load_robot(arguments.robot)
    known = [sensor.name for sensor in robot.sensor if sensor.type == "camera"]
    if not known:
        raise UsageError(f"{arguments.robot} has no camera: give it a [[sensor]] of type camera in its robot.toml.")
    camera = arguments.camera or robot.eyes or known[0]
    if camera not in known:
        raise UnknownNameError(f"camera of {arguments.robot}", camera, known)
    return camera


def placed_robot(arguments: Arguments, camera: str) -> Placement:
    """The robot at its place, with its identified body if there is one, and with automatic exposure if asked for."""
    from nutmeg.model import Placement
    from nutmeg.model.identified import placed_with_body
    from nutmeg.model.parameters import Adjustment

    wanted = Adjustment(target=f"camera.{camera}.auto_target", value=arguments.brightness)
    robot = placed_with_body(Placement(robot=arguments.robot, name=ROBOT, pos=PLACE), arguments.body)
    return replace(robot, adjustments=(*robot.adjustments, wanted)) if arguments.brightness else robot


def _put_ball(scene: Scene, renderer: SceneRenderer, name: str, qpos: Floats) -> tuple[float, float]:
    """Puts the ball where the camera sees it, to the right below the middle; returns where, in shares of the picture.

    A camera that looks at the sky gets it ahead.
    """
    import numpy as np

    if not scene.has_ball:
        return 0.5, 0.5
    number = scene.model.camera(name).id
    axes, eye = renderer.data.cam_xmat[number].reshape(3, 3), renderer.data.cam_xpos[number]
    slope = np.tan(np.deg2rad(scene.model.cam_fovy[number]) / 2)
    ray = axes @ [0.35 * slope, -0.6 * slope, -1.0]
    reach = -eye[2] / ray[2] if ray[2] < -0.05 else 1.5 / np.linalg.norm(ray[:2])
    root = int(scene.model.joint("ball/root").qposadr[0])
    qpos[root : root + 2] = (eye + ray * reach)[:2]
    return 0.63, 0.76


def _lighting(arguments: Arguments) -> Lighting | None:
    from nutmeg.base.errors import UnknownNameError
    from nutmeg.model.lights import lighting_names, load_lights

    if arguments.lights == "field":
        return None
    if arguments.lights not in lighting_names() and not arguments.lights.endswith(".toml"):
        raise UnknownNameError("lighting", arguments.lights, [*lighting_names(), "field"])
    return load_lights(arguments.lights)


def _imperfect(settings: CameraSettings) -> set[str]:
    """The effects that a camera has."""
    s = settings
    numbers: dict[str, bool] = {
        "lens": any((s.k1, s.k2, s.k3, s.p1, s.p2, s.centre_x, s.centre_y)),
        "fringe": bool(s.fringe_red or s.fringe_blue),
        "vignette": any((s.cos4, s.v2, s.v4)),
        "shutter": s.readout > 0,
        "blur": s.exposure > 0,
        "exposure": s.exposure != s.white_exposure or s.gain != 1,
        "auto": s.auto_target > 0,
        "noise": True,
        "filter": s.filter != "none",
        "balance": (s.light_red, s.light_blue, s.balance_red, s.balance_blue) != (1, 1, 1, 1),
        "gamma": s.gamma != 2.2,
    }
    return {name for name, there in numbers.items() if there}


def _note(settings: CameraSettings, effect: str, arguments: Arguments) -> str:
    """The numbers behind a panel."""
    s = settings
    notes = {
        "": f"{arguments.lights} lights" + (", shadows" if arguments.shadows else ""),
        "lens": f"k1 {s.k1:g}, k2 {s.k2:g}",
        "fringe": f"red {1 + s.fringe_red:g}, blue {1 + s.fringe_blue:g}",
        "vignette": f"cos4 {s.cos4:g}, v2 {s.v2:g}",
        "shutter": f"{1000 * s.readout:g} ms, {arguments.turn:g} rad/s",
        "blur": f"{1000 * s.exposure:g} ms",
        "exposure": f"{s.exposure / s.white_exposure:.3g} full, gain {s.gain:g}",
        "auto": f"mean {s.auto_target:g}, to {1000 * s.auto_longest:g} ms, x{s.auto_gain:g}",
        "noise": f"{s.full_well:g} e-, read {s.read_noise:g}",
        "filter": s.filter,
        "balance": f"red {s.light_red * s.balance_red:.2f}, blue {s.light_blue * s.balance_blue:.2f}",
        "gamma": f"{s.gamma:g}",
    }
    return notes[effect]
