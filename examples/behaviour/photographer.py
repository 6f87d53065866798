"""A player of the built-in team that keeps a picture of each of its cameras every five seconds, in both worlds.

The match has to give players pictures (`--images`); they go to the folder `photographs`.
"""

from pathlib import Path

from PIL import Image

from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Request
from nutmeg.match.players.tactics.tactician import strategy_decide

FOLDER = Path("photographs")
DECISIONS = 50
"""Decisions from one picture to the next, ten a second."""
play = strategy_decide("builtin")


def decide(percept: View, memory: Memory) -> Request:
    """Plays on, and now and then takes pictures."""
    if percept.cycle % DECISIONS == DECISIONS - 1 and percept.images is not None:
        FOLDER.mkdir(exist_ok=True)
        for camera, picture in percept.images.items():
            name = f"{percept.team}{percept.number}-{camera}-{percept.cycle:05d}.png"
            Image.fromarray(picture).save(FOLDER / name)
    return play(percept, memory)
