"""Real pictures of the players' two cameras: 320 x 240 RGB through MuJoCo's renderer, many robots in one go.

    with Cameras(load_eyes("nao"), load_field("spl2011"), load_ball("spl-orange")) as cameras:
        pictures = cameras.draw(state, match=0, slots=[0, 3, 12])       # (3, 2, 240, 320, 3): top and bottom
        quick = cameras.draw(state, match=0, slots=[3], which=("bottom",), shrink=2)      # (1, 1, 120, 160, 3)

Places and openings are those of `camera_geometry` (and of the symbolic `vision`), which also has the matrices that
perception needs; a picture that is shrunk shows the same with fewer pixels. Nobody sees its own body, as in symbolic
vision; who lies, gets up or dives sees black. One renderer serves all matches: the scene is built once, moved once for
each match and cycle, and drawn from each camera. Shadows, reflections and smoothing are off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from nutmeg.base.arrays import Floats
from nutmeg.closing import Closing
from nutmeg.engine.canvas import Canvas
from nutmeg.errors import UsageError
from nutmeg.match.behaviour.camera_geometry import WHICH, Which, camera_pose
from nutmeg.match.behaviour.camera_scene import CameraScene
from nutmeg.match.behaviour.state import Posture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.body.ball import BallSettings
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.behaviour.eyes import EyesSettings
    from nutmeg.match.behaviour.state import MatchesState

Pictures = NDArray[np.uint8]

MOST_GEOMS = 2000
HIDDEN_GROUP = 3
"""Geoms of this group and above are felt and not seen."""
NEAR, FAR = 0.02, 40.0
"""What is nearer or farther is not drawn, m."""
OFF = (
    mujoco.mjtRndFlag.mjRND_SHADOW,
    mujoco.mjtRndFlag.mjRND_REFLECTION,
    mujoco.mjtRndFlag.mjRND_SKYBOX,
    mujoco.mjtRndFlag.mjRND_HAZE,
    mujoco.mjtRndFlag.mjRND_FOG,
)


class Cameras(Closing):
    """Draws what players' cameras see; holds a renderer until closed.

    Args:
        eyes: settings.
        field: the pitch.
        ball: the ball.
    """

    def __init__(self, eyes: EyesSettings, field: FieldSettings, ball: BallSettings) -> None:
        self._settings = eyes.cameras
        size = eyes.cameras.width, eyes.cameras.height
        self._stage = CameraScene(field, ball, neck=eyes.cameras.neck, size=size)
        model = self._stage.model
        self._scene: Any = mujoco.MjvScene(model, MOST_GEOMS)
        for flag in OFF:
            self._scene.flags[flag] = False
        self._options: Any = mujoco.MjvOption()
        self._options.geomgroup[:] = [group < HIDDEN_GROUP for group in range(len(self._options.geomgroup))]
        self._camera: Any = mujoco.MjvCamera()
        self._canvas = Canvas(model, size)

    def draw(
        self,
        state: MatchesState,
        match: int,
        slots: Sequence[int],
        *,
        which: Sequence[Which] = WHICH,
        shrink: int = 1,
    ) -> Pictures:
        """What some players of a match see, (players, cameras, height, width, 3).

        Args:
            state: where everything is.
            match: the row.
            slots: whose cameras.
            which: which of their cameras.
            shrink: 2 for half the width and height, and so on.
        """
        width, height = self._settings.width, self._settings.height
        if shrink < 1 or width % shrink or height % shrink:
            raise UsageError(f"shrink is {shrink}; {width} x {height} pixels must be divisible by it.")
        width, height = width // shrink, height // shrink
        pictures = np.zeros((len(slots), len(which), height, width, 3), np.uint8)
        self._stage.show(state, match)
        for row, slot in enumerate(slots):
            if state.posture[match, slot] > Posture.KICKING or not state.present[match, slot]:
                continue
            self._set_up(slot)
            for column, camera in enumerate(which):
                self._aim(camera, state.pose[match, slot], state.head[match, slot])
                pictures[row, column] = self._canvas.paint(self._scene, (width, height))
        return pictures

    def _set_up(self, slot: int) -> None:
        """Makes the scene ready for the cameras of a robot, which do not see the robot itself."""
        stage, everything = self._stage, mujoco.mjtCatBit.mjCAT_ALL.value
        stage.hide(slot, hidden=True)
        mujoco.mjv_updateScene(stage.model, stage.data, self._options, None, self._camera, everything, self._scene)
        stage.hide(slot, hidden=False)

    def _aim(self, which: Which, pose: Floats, head: Floats) -> None:
        """Points both of the renderer's eyes as a robot's camera does."""
        place, axes = camera_pose(self._settings, which, pose=pose, head=head)
        across, up = self._settings.slopes
        for camera in self._scene.camera:
            camera.pos, camera.forward, camera.up = place, axes[:, 2], -axes[:, 1]
            camera.orthographic, camera.frustum_center, camera.frustum_width = 0, 0.0, NEAR * across
            camera.frustum_near, camera.frustum_far = NEAR, FAR
            camera.frustum_bottom, camera.frustum_top = -NEAR * up, NEAR * up

    def close(self) -> None:
        """Gives the renderer back."""
        self._canvas.close()
