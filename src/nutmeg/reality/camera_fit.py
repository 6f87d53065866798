"""A camera's numbers from its pictures: lens, fall-off, exposure, colours, gamma, and its noise.

Numbers are named as `camera.CAMERA.FIELD`, the fields of `body.cameras.CameraSettings`, in a space like any other:

    space = Space({
        "camera.CameraTop.k1": Dimension(low=-0.3, high=0.1),
        "camera.CameraTop.v2": Dimension(low=-0.5, high=0.0),
    })
    photos = [Photo(image=seen, qpos=where_everything_was)]
    found = fit_camera(scene, "red1/CameraTop", photos, space)
    found.settings, found.numbers, found.error          # for cameras.toml; mean difference of pixels, 0 to 255

Every candidate's camera takes pictures of the same poses, without noise, and the squares of the differences are made
least (`levenberg`). The scene must look as the real place did: lines, ball and robots where they were, and colours
like theirs; exposures, tints and the lights of a scene can stand for one another, so fit only some of them. Noise does
not show in one picture: `photon_transfer` finds it from several pictures of a world at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.cameras import EFFECTS, CameraSettings, with_number
from nutmeg.engine.cameras import Quality, RobotCamera, SceneRenderer, scene_cameras
from nutmeg.errors import ModelError, UnknownNameError, UsageError
from nutmeg.reality.levenberg import levenberg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nutmeg.body.lights import Light
    from nutmeg.body.scene import Scene
    from nutmeg.search.space import Floats, Space

BLOCK = 2
"""Pixels on each side that are compared as one, so that edges answer smoothly."""
WITHOUT_NOISE = tuple(effect for effect in EFFECTS if effect != "noise")


@dataclass(frozen=True, kw_only=True)
class Photo:
    """A picture that the real camera took, and where everything was."""

    image: NDArray[np.uint8]
    """(height, width, 3)."""
    qpos: NDArray[np.float64]
    """Generalised positions (nq,) of the scene."""
    qvel: NDArray[np.float64] | None = None
    """Generalised velocities (nv,), for shutter and blur."""


@dataclass(frozen=True)
class CameraFit:
    """What was found."""

    settings: CameraSettings
    numbers: dict[str, float]
    """By target."""
    error: float
    """Root of the mean squared difference of pixels, 0 to 255."""
    start_error: float
    """The same before."""


def fit_camera(
    scene: Scene,
    camera: str,
    photos: Sequence[Photo],
    space: Space,
    *,
    rounds: int = 6,
    quality: Quality | None = None,
    lights: Sequence[Light] | None = None,
) -> CameraFit:
    """Finds numbers of a camera from its pictures.

    Args:
        scene: like the place where they were taken.
        camera: `<robot>/<camera>`.
        photos: all of one size.
        space: targets `camera.CAMERA.FIELD` with their bounds.
        rounds: of `levenberg`.
        quality: of the drawn pictures.
        lights: of the scene, instead of its own.
    """
    settings = scene_cameras(scene).get(camera)
    if settings is None:
        raise UnknownNameError("camera", camera, scene_cameras(scene))
    _check(photos, space, camera)
    height, width = photos[0].image.shape[:2]
    seen = np.concatenate([_blocks(photo.image) for photo in photos])
    with SceneRenderer(scene.model, (width, height), quality=quality, lights=lights) as renderer:

        def taken(candidate: Floats) -> Floats:
            numbers = space.named(candidate)
            try:
                chosen = _with(settings, numbers)
                eye = RobotCamera(
                    scene.model,
                    camera,
                    size=(width, height),
                    renderer=renderer,
                    settings=chosen,
                    effects=WITHOUT_NOISE,
                )
            except ModelError:  # a lens that cannot be
                return np.full(seen.shape, np.nan)
            looks = [_blocks(eye.look(photo.qpos, photo.qvel)) for photo in photos]
            return np.asarray(np.concatenate(looks) - seen)

        start = space.array({name: getattr(settings, name.rpartition(".")[2]) for name in space.names})
        start = np.clip(start, space.low, space.high)
        found = levenberg(lambda rows: np.stack([taken(row) for row in rows]) / 255, space, start, rounds=rounds)
    numbers = space.named(found.best)
    errors = (255 * float(np.sqrt(value / len(seen))) for value in (found.value, found.start))
    return CameraFit(_with(settings, numbers), numbers, *errors)


def photon_transfer(signal: NDArray[np.floating], *, gain: float) -> tuple[float, float]:
    """Full well and read noise [electrons] from the signals (N, ...), 0 to 1, of N pictures of a world at rest.

    The variance of a pixel grows with its mean along a line: slope gain/F, offset (gain sigma_r/F)² (the photon
    transfer curve). Signals are those before gamma, of pixels that neither a colour filter's guesses nor clipping has
    touched.
    """
    if len(signal) < 2:
        raise UsageError(f"noise shows in several pictures of the same; found {len(signal)}.")
    mean, variance = signal.mean(axis=0).ravel(), signal.var(axis=0, ddof=1).ravel()
    slope, offset = np.polyfit(mean, variance, 1)
    if slope <= 0:
        raise UsageError("the noise of these pictures does not grow with their light: show dark and bright things.")
    full = gain / slope
    return float(full), float(np.sqrt(max(offset, 0.0)) * full / gain)


def _check(photos: Sequence[Photo], space: Space, camera: str) -> None:
    shapes = {photo.image.shape for photo in photos}
    if len(shapes) != 1:
        raise UsageError(f"a fit needs pictures of one size; found {sorted(shapes) or 'none'}.")
    own = f"camera.{camera.partition('/')[2]}."
    for name in space.names:
        if not name.startswith(own):
            raise UsageError(f"target {name!r} is not one of this camera: targets are written {own}FIELD.")
        with_number(CameraSettings(), name, 1.0)  # an unknown field is told


def _with(settings: CameraSettings, numbers: dict[str, float]) -> CameraSettings:
    for target, value in numbers.items():
        settings = with_number(settings, target, value)
    return settings


def _blocks(image: NDArray[np.uint8]) -> Floats:
    """Means of blocks of a picture, flattened."""
    height, width = (length // BLOCK * BLOCK for length in image.shape[:2])
    blocks = image[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3)
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float64).ravel())
