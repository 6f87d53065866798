"""Perception from camera pictures alone: colours, shapes, distances, and where the robot stands.

    senses = CameraSenses(load_field("spl2011"), load_eyes("nao"), rng=np.random.default_rng(1))
    senses.update(percept)                  # in a `decide`: the pictures, the head and the odometry of a `View`
    senses.seen.ball, senses.pose           # ahead and left, m; place and heading with their spread

From pixels to a pose, a module each: `colours` (a table from RGB to seven colours), `picture` (pixels and the ground),
`blobs` and `scans` (compiled), `ball`, `posts`, `waistbands`, `lines`, `crossings` (what is found), `line_map` and
`particles` (where it was seen from), `senses` (all of it). The truth is never asked.
"""

from nutmeg.match.players.perception.localisation import LocalisationSettings, ParticleFilter
from nutmeg.match.players.perception.pictures import Picture
from nutmeg.match.players.perception.senses import CameraSenses, compile_now

__all__ = ["CameraSenses", "LocalisationSettings", "ParticleFilter", "Picture", "compile_now"]
