"""Sky and sun for scenes that bring none: bands of colour far away, and one light that casts shadows.

backdrop.add(model, scene, view)     # after mjv_updateScene, before mjr_render
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.view.stage.cameras import Viewpoint

FAR_PLANE = 400.0
"""How far a picture reaches, metres."""
HEAD_AMBIENT, HEAD_DIFFUSE = 0.40, 0.25
"""Light that comes from everywhere and from the camera, where a backdrop is drawn."""
SUN_AMBIENT, SUN_DIFFUSE = 0.05, 0.50
"""Light that the sun adds."""
_DISTANCE = 120.0
_BANDS = 20
_ZENITH, _HORIZON = np.array([0.62, 0.77, 0.90]), np.array([0.93, 0.955, 0.975])
_GROUND = np.array([0.87, 0.905, 0.93])
_SUN = np.array([-0.30, 0.38, -0.87])


def add(model: Any, scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """Add a sky unless the model has a skybox, and a sun unless it has a light."""
    if not np.any(np.asarray(model.tex_type) == mujoco.mjtTexture.mjTEXTURE_SKYBOX):
        _add_sky(scene, view)
    if not model.nlight:
        _add_sun(scene, view)


def _add_sky(scene: Any, view: Viewpoint) -> None:  # noqa: ANN401
    """Four walls of bands around the camera, pale at the horizon."""
    edges = _DISTANCE * np.tan(np.linspace(0.0, 1.2, _BANDS + 1))
    colours = [_HORIZON + (_ZENITH - _HORIZON) * (k / (_BANDS - 1)) ** 0.7 for k in range(_BANDS)]
    bands = list(zip(edges[:-1], edges[1:], colours, strict=True))
    bands.append((-1.5 * _DISTANCE, 0.0, _GROUND))
    for low, high, colour in bands:
        for side in range(4):
            outward = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]][side], dtype=np.float64)
            # Turned inside out (a negative size), a panel shows its back, which the camera's light does not reach.
            half = np.append(np.where(outward != 0, -0.01, _DISTANCE), (high - low) / 2)
            centre = np.append(view.position[:2] + outward * _DISTANCE, (low + high) / 2)
            _add_panel(scene, centre, half, colour, _glow(outward))


def _glow(outward: Floats) -> float:
    """The emission at which a wall that looks `outward` (2,) shows its own colour: what the lights leave to one."""
    sunlit = max(0.0, float(-outward @ _SUN[:2])) / float(np.linalg.norm(_SUN)) * SUN_DIFFUSE
    return max(0.0, 1.0 - HEAD_AMBIENT - SUN_AMBIENT - sunlit)


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
    sun.dir = _SUN / np.linalg.norm(_SUN)
    sun.pos = view.look_at - 8.0 * np.asarray(sun.dir)
    sun.ambient, sun.diffuse = np.full(3, SUN_AMBIENT), np.full(3, SUN_DIFFUSE)
    sun.specular = np.full(3, 0.2)
    sun.attenuation = [1.0, 0.0, 0.0]
    sun.cutoff, sun.exponent = 180.0, 0.0
    sun.castshadow, sun.headlight = 1, 0
    sun.id, sun.texid = -1, -1
    scene.nlight += 1
