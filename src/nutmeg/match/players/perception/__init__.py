"""Perception from camera pictures alone: colours, shapes, distances, and where the robot stands.

    senses = CameraSenses(load_field("spl2011"), load_eyes("nao"))
    senses.update(percept)                  # in a `decide`: the pictures, the head and the odometry of a `View`
    senses.seen.ball, senses.pose           # ahead and left, m; place and heading with their spread

From pixels to a pose: `colours` (a table from RGB to seven colours, and blobs), `pictures` (pixels and the ground, and
scans), `objects` (ball, posts, robots), `lines` (points on lines, and crossings), `senses` (all of it, for the tracker
that all players have). The ground truth is never used.
"""

from nutmeg.match.players.perception.pictures import Picture
from nutmeg.match.players.perception.senses import CameraSenses, compile_now

__all__ = ["CameraSenses", "Picture", "compile_now"]
