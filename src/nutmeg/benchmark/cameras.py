"""How many pictures a second a robot's camera takes: drawn in software or on a card, with each effect and with all.

A row's pictures are drawn and then changed by its effect; the peer is drawing alone. Times are processor time of all
threads, so that a busy machine changes little: with a renderer in software, they are pictures a second on one core; a
graphics card's own work is not in them. The scene is a pitch with two robots and a ball; the camera turns as fast as a
head does, so that shutter and blur have something to do.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.benchmark.row import Row
from nutmeg.body import Placement, Scene, SceneSettings, assemble
from nutmeg.body.cameras import EFFECTS, CameraSettings
from nutmeg.engine.cameras import Quality, RobotCamera, SceneRenderer
from nutmeg.engine.renderers import working_renderer

if TYPE_CHECKING:
    from collections.abc import Callable

CAMERA = "seer/CameraTop"
SETTINGS = CameraSettings(
    k1=-0.147, k2=0.385, p1=-0.0035, fringe_red=0.002, fringe_blue=-0.003, cos4=1.0, v2=-0.2, readout=0.03,
    exposure=0.01, white_exposure=0.04, gain=4.0, full_well=17200, read_noise=3.4, filter="bggr", light_red=0.75,
    light_blue=0.6, balance_red=1.38, balance_blue=1.58, gamma=2.0,
)  # fmt: skip
"""A camera that has every effect: the ERS-7's lens before the Nao V6's sensor."""
TURNING = 1.5
"""Speed of the head [rad/s]."""


def frames(size: tuple[int, int], seconds: float) -> list[Row]:
    """Pictures a second at a size (width, height): plain, with each effect, with all, and with shadows."""
    scene, label = _scene(), f"cameras, {size[0]}x{size[1]}"
    velocity = np.array([0.0, TURNING, 0.0])
    with SceneRenderer(scene.model, size) as renderer:
        pinhole = _camera(scene, size, renderer, ())
        plain = _best(partial(pinhole.draw, scene.start), 2 * seconds)
        rows = [_row(f"{label}: drawn ({working_renderer()})", plain, None)]
        for effects in (*((effect,) for effect in EFFECTS), EFFECTS):
            camera = _camera(scene, size, renderer, effects)
            drawn = camera.draw(scene.start)
            larger = camera.effects.drawn_size != size
            drawing = _best(partial(camera.draw, scene.start), seconds) if larger else plain
            effect = _best(partial(camera.develop, drawn, velocity), seconds / 2)
            name = "all effects" if effects == EFFECTS else effects[0]
            rows.append(_row(f"{label}: {name}", max(plain, drawing) + effect, plain))
    with SceneRenderer(scene.model, size, quality=Quality(shadows=True)) as renderer:
        shadowed = _camera(scene, size, renderer, ())
        period = _best(partial(shadowed.draw, scene.start), seconds)
    rows.append(_row(f"{label}: drawn with shadows", period, plain))
    return rows


def _row(name: str, period: float, plain: float | None) -> Row:
    peer = "" if plain is None else f"drawn alone {1 / plain:,.0f}"
    ratio = None if plain is None else plain / period
    return Row(name=name, value=1 / period, unit="frames/s of a core", peer=peer, ratio=ratio)


def _scene() -> Scene:
    robots = (
        Placement(robot="nao-v6", name="seer", pos=(-2.0, 0.0)),
        Placement(robot="nao-v6", name="other", pos=(-0.6, 0.42), heading=2.9, team="red"),
    )
    return assemble(SceneSettings(field="spl2025", robots=robots, ball_pos=(-1.2, 0.0)))


def _camera(scene: Scene, size: tuple[int, int], renderer: SceneRenderer, effects: tuple[str, ...]) -> RobotCamera:
    return RobotCamera(
        scene.model,
        CAMERA,
        size=size,
        renderer=renderer,
        settings=SETTINGS,
        effects=effects,
        rng=np.random.default_rng(0),
    )


def _best(work: Callable[[], object], seconds: float) -> float:
    """The least processor time that a piece of work takes [s]."""
    work()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
