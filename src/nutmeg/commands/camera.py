"""Look through a robot's camera, with the effects of its lens and its sensor switched on one by one.

The robot stands on a pitch with a ball and an opponent in sight, and turns while the picture is taken, so that a
rolling shutter and motion blur show. Each effect adds a panel, on top of the effects before it; what the camera does
not have (see its cameras.toml) has none.

example: nutmeg camera nao-v6 -o camera.png
         nutmeg camera ers7 --effects lens,noise --lights window
         nutmeg camera fit-data ers7 --body params.toml -o pictures/monday --views 4
         nutmeg camera frames match.nutmeg -o frames --moments 500 --labels --robot nao-v6
         nutmeg camera my/robot --camera eye --only -o noise.png --effects noise
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import UsageError, counted, writing
from nutmeg.base.settings import Bounds, above, at_least
from nutmeg.commands.options import Count, JsonOption, Output, Seed, check_output

if TYPE_CHECKING:
    from collections.abc import Callable

    import mujoco
    import numpy as np

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.scene import Placement, Scene
    from nutmeg.model.sensors import CameraSettings
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.logs.pictures import PictureScene, View
    from nutmeg.sim.cameras import SceneRenderer
    from nutmeg.view.terminal import Terminal

ROBOT, _TURNS = "seer", 3
_PLACE, _BYSTANDER_PLACE, _BYSTANDER_HEADING = (-2.0, 0.0), (-0.6, 0.42), 2.9
"""Where the robot and an opponent in sight stand [m], and where the latter faces [rad]."""
_SETTLING = 40  # pictures that automatic exposure gets before the one that is shown


_VIEW_SPREAD = 0.5  # how far the robot's place differs between the views of `fit-data` [m]
_HEADING_SPREAD = 0.35  # how far its heading differs between them [rad]
_NECK_SHARE = 0.2  # how far its neck turns between them, as a share of the joints' range
_BALL_AHEAD = (0.6, 1.6)  # how far ahead of the robot the ball lies [m]
_BALL_ASIDE = 0.35  # how far beside that it lies, as a share of the distance ahead


@dataclass(frozen=True, kw_only=True)
class CameraOptions(JsonOption):
    """Which camera, and what it looks at."""

    robot: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[ROBOT]")] = "nao-v6"
    """The robot whose camera it is."""
    camera: str = ""
    """Which of its cameras; the one it looks through if left out."""
    body: Path | None = None
    """An identified body, params.toml of `nutmeg identify`, whose numbers of cameras and limbs count."""
    brightness: float = 0.0
    """The mean signal that automatic exposure aims at, 0 to 1; 0 for the camera's own number, which may be none."""
    lights: str = "hall"
    """hall, window, evening, field (the field's own sun), or a TOML file with lights of your own."""
    shadows: bool = True
    """Whether lights cast shadows."""
    turn: Annotated[float, Bounds(-100, 100, "rad/s")] = 1.2
    """How fast the robot turns to the left [rad/s]."""
    field: str = "spl2025"
    """The field on which the robot stands."""
    size: tuple[int, int] = (0, 0)
    """Width and height of the camera's picture, pixels; its own if 0."""
    seed: Seed = 0
    """Seed of the noise, and of the views."""


@dataclass(frozen=True, kw_only=True)
class Arguments(CameraOptions):
    """Options of `nutmeg camera show`."""

    output: Output = Path("camera.png")
    """The PNG file to write."""
    effects: str = "all"
    """Which effects: lens, fringe, vignette, shutter, blur, exposure, auto, noise, filter, balance, gamma, all or
    none."""
    only: bool = False
    """Write the camera's picture alone, with all these effects, instead of the panels."""
    moments: Count = 1
    """Moments to draw for shutter and blur; 1 draws one and turns its rays."""


@dataclass(frozen=True, kw_only=True)
class FitDataArguments(CameraOptions):
    """Write a folder of a camera's pictures from several views, with all its effects, as `nutmeg identify` takes them.

    The robot stands at several places, its neck turned this way and that, with a ball ahead and an opponent in sight,
    so that a camera whose numbers are known can be identified like a real one.

    example: nutmeg camera fit-data ers7 --body params.toml -o pictures/monday --views 4
    """

    output: Output
    """The folder to write."""
    views: Count = 4
    """Number of places from which pictures are taken."""
    repeats: Count = 4
    """Number of pictures of each view; several are needed to estimate the noise."""


@dataclass(frozen=True, kw_only=True)
class FramesArguments(JsonOption):
    """Write what robots' cameras saw in a recorded match, with boxes and masks for training detectors.

    example: nutmeg camera frames match.nutmeg -o frames --moments 500 --seed 1 --labels --robot nao-v6 --lights hall
             nutmeg camera frames match.nutmeg -o frames --rate 2
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORDING")]
    """The recording of a match, of either world."""
    output: Output
    """The folder to write."""
    moments: Annotated[int, at_least(0)] = 0
    """Number of moments, each of one robot, that are chosen at random; 0 takes all robots --rate times a second."""
    rate: Annotated[float, above(0, "Hz", up_to=50)] = 2.0
    """Pictures of each camera per second, without --moments."""
    seed: Seed = 0
    """Seed of the choice of moments and of the noise."""
    format: Literal["png", "mp4"] = "png"
    """Numbered PNG files, or one video for each camera."""
    labels: bool = False
    """Write masks, and boxes of ball, goals, lines and robots in labels.json (COCO's format)."""
    robot: str = ""
    """The robot whose cameras the players carry, with its lens and sensor, for instance nao-v6; if left out, their
    own. A match of the behavioural world is drawn with detailed robots then."""
    effects: str = "all"
    """Which effects of lens and sensor to apply, as in `nutmeg camera show`."""
    lights: str = "field"
    """hall, window, evening, field (the field's own sun), or a TOML file with lights of your own."""
    shadows: bool = False
    """Let lights cast shadows, which takes several times as long."""


def run(arguments: Arguments | FitDataArguments | FramesArguments, terminal: Terminal) -> dict[str, Any]:
    """Takes the pictures."""
    if isinstance(arguments, FramesArguments):
        return _write_frames(arguments, terminal)
    if not all(arguments.size) and any(arguments.size):
        raise UsageError(f"--size is {arguments.size[0]} {arguments.size[1]}; give both numbers, or 0 0.")
    return (
        _save_pictures(arguments, terminal) if isinstance(arguments, FitDataArguments) else _show(arguments, terminal)
    )


def _write_frames(arguments: FramesArguments, terminal: Terminal) -> dict[str, Any]:
    """Pictures of a recording."""
    from nutmeg.model.sensors import checked_effects
    from nutmeg.view.files.camera_frames import FramePlan, write_cameras

    plan = FramePlan(
        moments=arguments.moments,
        rate=arguments.rate,
        seed=arguments.seed,
        form=arguments.format,
        labels=arguments.labels,
        robot=arguments.robot,
        effects=checked_effects(arguments.effects),
        lights=arguments.lights,
        shadows=arguments.shadows,
    )
    with terminal.counting("drawing") as on_progress:
        count = write_cameras(arguments.file, arguments.output, plan, on_progress=on_progress)
    terminal.say(f"wrote {counted(count, 'picture')} to {arguments.output}; README.txt there says what is what.")
    return {"folder": str(arguments.output), "pictures": count}


def _show(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """One picture, or a panel for each effect."""
    check_output(arguments.output, ".png")
    from PIL import Image

    from nutmeg.model.field import lights_on, load_field
    from nutmeg.model.sensors import checked_effects
    from nutmeg.sim.cameras import Quality, SceneRenderer, camera_size, scene_cameras
    from nutmeg.view.files.pictures import SheetPanel, contact_sheet

    effects = checked_effects(arguments.effects)
    scene, name = _scene(arguments)
    settings = scene_cameras(scene)[name]
    size = arguments.size if all(arguments.size) else camera_size(scene.model, name)
    quality = Quality(shadows=arguments.shadows, samples=4)
    lights = lights_on(load_field(arguments.field), arguments.lights)
    with SceneRenderer(scene.model, size, quality=quality, lights=lights) as renderer:
        qpos, qvel, ball = _state(scene, renderer, name, arguments.turn)
        sight = _Sight(scene.model, name, size, settings, renderer, arguments, qpos, qvel)
        notes = _effect_notes(settings, arguments)
        steps = [(), *(effects[: k + 1] for k in range(len(effects)) if effects[k] in notes)]
        light = f"{arguments.lights} lights" + (", shadows" if arguments.shadows else "")
        drawn: dict[tuple[int, int], tuple[Bytes, float]] = {}
        shots = []
        for step in [effects] if arguments.only else steps:
            name_of = ", ".join(step) if arguments.only else f"+ {step[-1]}" if step else ""
            note = notes.get(step[-1], "") if step else light
            shots.append({"label": name_of or "pinhole", "note": note, **sight.shoot(step, drawn)})
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
    with writing(arguments.output) as path:
        Image.fromarray(sheet).save(path)
    terminal.say(
        f"wrote {arguments.output}. Numbers of the camera: {settings.source or 'a pinhole with a perfect sensor'}."
    )
    return {
        "file": str(arguments.output),
        "robot": arguments.robot,
        "camera": name.partition("/")[2],
        "width": size[0],
        "height": size[1],
        "lights": arguments.lights,
        "effects": list(effects),
        "pictures": shots,
    }


@dataclass(frozen=True)
class _Sight:
    """The view of the camera, and the renderer."""

    model: mujoco.MjModel
    name: str
    size: tuple[int, int]
    settings: CameraSettings
    renderer: SceneRenderer
    arguments: Arguments
    qpos: Floats
    qvel: Floats

    def shoot(self, effects: tuple[str, ...], drawn: dict[tuple[int, int], tuple[Bytes, float]]) -> dict[str, Any]:
        """A picture with some effects, and how long it took; what was drawn before, by size, is used again."""
        import numpy as np

        from nutmeg.sim.cameras import RobotCamera

        camera = RobotCamera(
            self.model,
            self.name,
            size=self.size,
            renderer=self.renderer,
            settings=self.settings,
            effects=effects,
            rng=np.random.default_rng(self.arguments.seed),
        )
        size = camera.effects.drawn_size
        if self.arguments.moments > 1 or size not in drawn:
            start = time.perf_counter()
            drawn[size] = camera.draw(self.qpos), time.perf_counter() - start
        velocity = self.renderer.angular_velocity(camera.number, self.qvel)
        work = partial(camera.develop, drawn[size][0], velocity)
        if self.arguments.moments > 1:
            work = partial(camera.look, self.qpos, self.qvel, self.arguments.moments)
        for _ in range(_SETTLING if camera.exposure is not None else 0):
            work()
        picture, took = _quickest(work)
        return {
            "effects": list(effects),
            "drawing_ms": 1000 * drawn[size][1],
            "effects_ms": 1000 * took,
            "picture": picture,
        }


def _quickest(work: Callable[[], Bytes]) -> tuple[Bytes, float]:
    """The result of a piece of work, and its shortest time [s]."""
    start = time.perf_counter()
    first = work()
    times = [time.perf_counter() - start]
    for _ in range(_TURNS - 1):
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


def _scene(arguments: CameraOptions) -> tuple[Scene, str]:
    """The pitch with the robot, an opponent and a ball, and the name of the camera in it."""
    from nutmeg.model import Placement, SceneSettings, assemble

    camera = _chosen_camera(arguments)
    robots = (
        _placed_robot(arguments, camera),
        Placement(robot="nao-v6", name="other", pos=_BYSTANDER_PLACE, heading=_BYSTANDER_HEADING, team="red"),
    )
    return assemble(SceneSettings(field=arguments.field, robots=robots)), f"{ROBOT}/{camera}"


def _chosen_camera(arguments: CameraOptions) -> str:
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


def _placed_robot(arguments: CameraOptions, camera: str) -> Placement:
    """The robot at its place, with its identified body if there is one, and with automatic exposure if asked for."""
    from nutmeg.model import Placement
    from nutmeg.model.identified import placed_with_body
    from nutmeg.model.parameters import Adjustment

    wanted = Adjustment(target=f"camera.{camera}.auto_target", value=arguments.brightness)
    robot = placed_with_body(Placement(robot=arguments.robot, name=ROBOT, pos=_PLACE), arguments.body)
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


def _effect_notes(settings: CameraSettings, arguments: Arguments) -> dict[str, str]:
    """The numbers behind each effect that the camera has; an effect with a perfect camera's numbers is left out."""
    s = settings
    tints = (s.light_red, s.light_blue, s.balance_red, s.balance_blue)
    known: dict[str, tuple[object, str]] = {
        "lens": (any((s.k1, s.k2, s.k3, s.p1, s.p2, s.centre_x, s.centre_y)), f"k1 {s.k1:g}, k2 {s.k2:g}"),
        "fringe": (s.fringe_red or s.fringe_blue, f"red {1 + s.fringe_red:g}, blue {1 + s.fringe_blue:g}"),
        "vignette": (any((s.cos4, s.v2, s.v4)), f"cos4 {s.cos4:g}, v2 {s.v2:g}"),
        "shutter": (s.readout > 0, f"{1000 * s.readout:g} ms, {arguments.turn:g} rad/s"),
        "blur": (s.exposure > 0, f"{1000 * s.exposure:g} ms"),
        "exposure": (
            s.exposure != s.white_exposure or s.gain != 1,
            f"{s.exposure / s.white_exposure:.3g} full, gain {s.gain:g}",
        ),
        "auto": (
            s.auto_target > 0,
            f"mean {s.auto_target:g}, to {1000 * s.auto_longest:g} ms, x{s.auto_gain:g}",
        ),
        "noise": (True, f"{s.full_well:g} e-, read {s.read_noise:g}"),
        "filter": (s.filter != "none", s.filter),
        "balance": (
            tints != (1, 1, 1, 1),
            f"red {s.light_red * s.balance_red:.2f}, blue {s.light_blue * s.balance_blue:.2f}",
        ),
        "gamma": (s.gamma != 2.2, f"{s.gamma:g}"),
    }
    return {name: words for name, (there, words) in known.items() if there}


def _save_pictures(arguments: FitDataArguments, terminal: Terminal) -> dict[str, Any]:
    """Takes pictures of several views and writes them, with what is to be known of them."""
    from nutmeg.model import load_robot
    from nutmeg.model.parameters import adjusted_cameras, parse_target
    from nutmeg.reality.logs.pictures import NOISY_EFFECTS, PICTURES_FILE, take_pictures, write_pictures

    folder = arguments.output
    if (folder / PICTURES_FILE).exists():
        raise UsageError(f"{folder} has pictures already; name another folder with --output.")
    camera = _chosen_camera(arguments)
    robot = _placed_robot(arguments, camera)
    body = tuple(a for a in robot.adjustments if parse_target(a.target).family == "robot")
    settings = adjusted_cameras(load_robot(arguments.robot), robot.adjustments)[camera]
    place = _picture_scene(arguments, robot, camera)
    if settings.auto_target:
        place = _exposed(place, settings, body)
    counts = [len(view.files) for view in place.description.view]
    images = take_pictures(place, settings, body, counts, effects=NOISY_EFFECTS, seed=arguments.seed)
    write_pictures(folder, place.description, images)
    files = sum(counts)
    terminal.say(f"wrote {files} pictures of {len(counts)} views and {PICTURES_FILE} to {folder}.")
    return {
        "folder": str(folder),
        "robot": place.description.robot,
        "camera": camera,
        "views": len(counts),
        "pictures": files,
    }


def _picture_scene(arguments: FitDataArguments, robot: Placement, camera: str) -> PictureScene:
    """Where the pictures are taken."""
    import numpy as np

    from nutmeg.model import SceneSettings, assemble
    from nutmeg.model.field import lights_on, load_field
    from nutmeg.reality.logs.pictures import Bystander, PictureScene, PicturesFile
    from nutmeg.reality.twin import TWIN_ROBOT
    from nutmeg.sim.cameras import camera_size

    named = replace(robot, name=TWIN_ROBOT)
    scene = assemble(SceneSettings(field="none", ball="none", robots=(named,)))
    table, rng = scene.robot(TWIN_ROBOT), np.random.default_rng(arguments.seed)
    neck = _neck(scene.model, f"{TWIN_ROBOT}/{camera}", table)
    still = dict(zip(table.joints, scene.start[table.angles], strict=True))
    lights = str(Path(arguments.lights).resolve()) if arguments.lights.endswith(".toml") else arguments.lights
    description = PicturesFile(
        robot=table.settings.name,
        camera=camera,
        field=arguments.field,
        lights=lights,
        shadows=arguments.shadows,
        bystander=(Bystander(robot="nao-v6", pos=_BYSTANDER_PLACE, heading=_BYSTANDER_HEADING, team="red"),),
        view=tuple(_view(k, arguments, table, neck, still, rng) for k in range(arguments.views)),
    )
    size = arguments.size if all(arguments.size) else camera_size(scene.model, f"{TWIN_ROBOT}/{camera}")
    return PictureScene(description, arguments.robot, robot.type, lights_on(load_field(arguments.field), lights), size)


def _neck(model: Any, camera: str, table: RobotTable) -> list[str]:  # noqa: ANN401 (the compiled scene)
    """The joints that move the camera but not the robot's root."""
    body, found = int(model.cam_bodyid[model.camera(camera).id]), []
    while body != table.body and body:
        first = int(model.body_jntadr[body])
        names = [model.joint(first + k).name for k in range(int(model.body_jntnum[body]))]
        found += [name.partition("/")[2] for name in names]
        body = int(model.body_parentid[body])
    return [name for name in table.joints if name in found]


def _view(
    number: int,
    arguments: FitDataArguments,
    table: RobotTable,
    neck: list[str],
    still: dict[str, float],
    rng: np.random.Generator,
) -> View:
    """One of the places, with the ball ahead."""
    import numpy as np

    from nutmeg.reality.logs.pictures import View

    x, y = (float(p + _VIEW_SPREAD * rng.uniform(-1, 1)) for p in _PLACE)
    heading = float(np.arctan2(_BYSTANDER_PLACE[1] - y, _BYSTANDER_PLACE[0] - x) + _HEADING_SPREAD * rng.uniform(-1, 1))
    ahead, beside = rng.uniform(*_BALL_AHEAD), _BALL_ASIDE * rng.uniform(-1, 1)
    along, across = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    ball = np.array([x, y]) + ahead * (along + beside * across)
    angles = {}
    for joint in neck:
        low, high = table.limits[table.joints.index(joint)]
        reach = _NECK_SHARE * min(float(high - low), np.pi) / 2
        angles[joint] = round(float(np.clip(still[joint] + reach * rng.uniform(-1, 1), low, high)), 4)
    return View(
        files=tuple(f"view{number + 1}-{k + 1}.png" for k in range(arguments.repeats)),
        pos=(round(x, 4), round(y, 4)),
        heading=round(heading, 4),
        angles=angles,
        ball=(round(float(ball[0]), 4), round(float(ball[1]), 4)),
        turn=arguments.turn,
    )


def _exposed(place: PictureScene, settings: CameraSettings, body: tuple[Any, ...]) -> PictureScene:
    """The place with the exposures and gains at which the camera settles in each view."""
    import numpy as np

    from nutmeg.reality.logs.pictures import NOISELESS_EFFECTS, take_pictures
    from nutmeg.sim.cameras.image_sensor import Exposure, initial_exposure, mean_signal, next_exposure

    count = len(place.description.view)
    exposure: Exposure = initial_exposure(settings, count)
    for _ in range(_SETTLING):
        views = tuple(
            replace(view, exposure=float(time), gain=float(gain))
            for view, time, gain in zip(place.description.view, *exposure, strict=True)
        )
        place = replace(place, description=replace(place.description, view=views))
        pictures = np.concatenate(take_pictures(place, settings, body, [1] * count, effects=NOISELESS_EFFECTS))
        exposure = next_exposure(exposure, mean_signal(pictures, settings.gamma), settings)
    return place
