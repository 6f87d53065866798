"""Pictures of a simulated camera as those of a real one are kept: what `nutmeg camera --fit-data` writes.

The robot stands at several places near the one of the panels, its neck turned this way and that, with a ball ahead and
an opponent in sight. The folder is one that `nutmeg identify` takes (`reality.pictures`), so that a camera whose
numbers are known can be identified like one whose are not.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.commands.camera import OTHER, OTHER_HEADING, PLACE, SETTLING, chosen_camera, placed_robot

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.commands.camera import Arguments
    from nutmeg.model.scene import Placement
    from nutmeg.model.sensors import CameraSettings
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.logs.pictures import PictureScene, View
    from nutmeg.view.terminal import Terminal

AROUND, FACING, NECK = 0.5, 0.35, 0.2
"""How far the robot's place [m] and heading [rad] differ between views, and its neck as a share of its range."""
BALL_NEAR, BALL_FAR, BALL_SIDE = 0.6, 1.6, 0.35
"""Where the ball lies: how far ahead of the robot, and how far beside that as a share of it [m]."""


def save_pictures(arguments: Arguments, folder: Path, terminal: Terminal) -> dict[str, Any]:
    """Takes pictures of several views and writes them, with what is to be known of them."""
    from nutmeg.model import load_robot
    from nutmeg.model.parameters import adjusted_cameras, parse_target
    from nutmeg.reality.logs.pictures import NOISY_EFFECTS, PICTURES_FILE, take_pictures, write_pictures

    if arguments.views < 1 or arguments.repeats < 1:
        raise UsageError(f"--views is {arguments.views} and --repeats {arguments.repeats}; both are 1 or more.")
    if arguments.effects != "all" or arguments.moments != 1:
        raise UsageError("--fit-data takes pictures with all effects of the camera: leave out --effects and --moments.")
    if (folder / PICTURES_FILE).exists():
        raise UsageError(f"{folder} has pictures already; name another folder for --fit-data.")
    camera = chosen_camera(arguments)
    robot = placed_robot(arguments, camera)
    body = tuple(a for a in robot.adjustments if parse_target(a.target).family == "robot")
    settings = adjusted_cameras(load_robot(arguments.robot), robot.adjustments)[camera]
    place = _place(arguments, robot, camera)
    if settings.auto_target:
        place = _exposed(place, settings, body)
    counts = [len(view.files) for view in place.told.view]
    images = take_pictures(place, settings, body, counts, effects=NOISY_EFFECTS, seed=arguments.seed)
    write_pictures(folder, place.told, images)
    files = sum(counts)
    terminal.say(f"wrote {files} pictures of {len(counts)} views and {PICTURES_FILE} to {folder}.")
    return {"folder": str(folder), "robot": place.told.robot, "camera": camera, "views": len(counts), "pictures": files}


def _place(arguments: Arguments, robot: Placement, camera: str) -> PictureScene:
    """Where the pictures are taken."""
    from pathlib import Path

    from nutmeg.model import SceneSettings, assemble
    from nutmeg.reality.logs.pictures import Bystander, PictureScene, PicturesFile, lights_of
    from nutmeg.reality.twin import TWIN_ROBOT
    from nutmeg.sim.cameras import camera_size

    named = dataclasses.replace(robot, name=TWIN_ROBOT)
    scene = assemble(SceneSettings(field="none", ball="none", robots=(named,)))
    table, rng = scene.robot(TWIN_ROBOT), np.random.default_rng(arguments.seed)
    neck = _neck(scene.model, f"{TWIN_ROBOT}/{camera}", table)
    still = dict(zip(table.joints, scene.start[table.angles], strict=True))
    lights = str(Path(arguments.lights).resolve()) if arguments.lights.endswith(".toml") else arguments.lights
    told = PicturesFile(
        robot=table.settings.name,
        camera=camera,
        field=arguments.field,
        lights=lights,
        shadows=arguments.shadows,
        bystander=(Bystander(robot="nao-v6", pos=OTHER, heading=OTHER_HEADING, team="red"),),
        view=tuple(_view(k, arguments, table, neck, still, rng) for k in range(arguments.views)),
    )
    size = arguments.size if all(arguments.size) else camera_size(scene.model, f"{TWIN_ROBOT}/{camera}")
    return PictureScene(told, arguments.robot, robot.type, lights_of(lights, Path()), size)


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
    arguments: Arguments,
    table: RobotTable,
    neck: list[str],
    still: dict[str, float],
    rng: np.random.Generator,
) -> View:
    """One of the places, with the ball ahead."""
    from nutmeg.reality.logs.pictures import View

    x, y = (float(p + AROUND * rng.uniform(-1, 1)) for p in PLACE)
    heading = float(np.arctan2(OTHER[1] - y, OTHER[0] - x) + FACING * rng.uniform(-1, 1))
    ahead, beside = rng.uniform(BALL_NEAR, BALL_FAR), BALL_SIDE * rng.uniform(-1, 1)
    along, across = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    ball = np.array([x, y]) + ahead * (along + beside * across)
    angles = {}
    for joint in neck:
        low, high = table.limits[table.joints.index(joint)]
        reach = NECK * min(float(high - low), np.pi) / 2
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
    """The place with the exposures and gains that the camera settles at in each view, as a camera tells them."""
    from nutmeg.reality.logs.pictures import NOISELESS_EFFECTS, take_pictures
    from nutmeg.sim.cameras.image_sensor import Exposure, initial_exposure, mean_signal, next_exposure

    count = len(place.told.view)
    exposure: Exposure = initial_exposure(settings, count)
    for _ in range(SETTLING):
        views = tuple(
            dataclasses.replace(view, exposure=float(time), gain=float(gain))
            for view, time, gain in zip(place.told.view, *exposure, strict=True)
        )
        place = dataclasses.replace(place, told=dataclasses.replace(place.told, view=views))
        pictures = np.concatenate(take_pictures(place, settings, body, [1] * count, effects=NOISELESS_EFFECTS))
        exposure = next_exposure(exposure, mean_signal(pictures, settings.gamma), settings)
    return place
