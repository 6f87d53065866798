"""Speech in this league: loudness falls with distance, and beside three loud voices others get lost.

    hearing = Hearing(rng)
    hearing.say(slot, loudness=1.0, message=b"hello")
    heard = hearing.deliver(order, microphones, turns, speakers)

Rules of rcssservermj 0.2.1: a voice loses 6 dB with every doubling of its distance beyond 1 m. Messages of more than
ten bytes are not heard, nor is the own voice. The three loudest are always heard; of the others, one that has v of the
loudness of the third is heard with the probability ln(1 + (e - 1) v). A listener gets the direction of each voice in
whole degrees to the left of its head, cut towards zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.mj.percept import MAX_HEARD_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats

LOUDNESS_PER_DOUBLING = 10.0 ** (-6.0 / 20.0)
"""Share of a voice's loudness that is left at twice the distance: -6 dB."""
ALWAYS_HEARD = 3
"""Number of voices of which none is ever lost."""

Heard = tuple[tuple[int, bytes], ...]


class Hearing:
    """Messages of one cycle.

    Args:
        rng: decides which quiet voices are lost.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._said: dict[int, tuple[float, bytes]] = {}

    @property
    def busy(self) -> bool:
        """Whether a player has spoken since the last delivery."""
        return bool(self._said)

    def say(self, slot: int, *, loudness: float, message: bytes) -> None:
        """A player speaks; loudness is 0 to 1, and the last message of a cycle counts."""
        if message and loudness > 0:
            self._said[slot] = (min(loudness, 1.0), message)

    def forget(self, slot: int) -> None:
        """A player has gone."""
        self._said.pop(slot, None)

    def swap_ends(self) -> None:
        """Messages follow their players to the other end."""
        self._said = {(slot + SLOTS // 2) % SLOTS: said for slot, said in self._said.items()}

    def deliver(self, order: Sequence[int], microphones: Floats, turns: Floats, speakers: Floats) -> dict[int, Heard]:
        """What each player hears, and silence afterwards.

        Args:
            order: (P,) slots of the players, as they joined: voices are delivered in this order.
            microphones: (P, 3) their places [m].
            turns: (P, 3, 3) attitudes of the heads.
            speakers: (P, 3) places of the voices [m].
        """
        speaking = [(row, slot, *self._said[slot]) for row, slot in enumerate(order) if slot in self._said]
        self._said = {}
        if not speaking:
            return {}
        rows = [row for row, _, _, _ in speaking]
        loudness = np.array([loud for _, _, loud, _ in speaking])
        valid = np.array([len(message) <= MAX_HEARD_BYTES for *_, message in speaking])
        heard: dict[int, Heard] = {}
        for row, slot in enumerate(order):
            local = (speakers[rows] - microphones[row]) @ turns[row]
            distance = np.linalg.norm(local, axis=1)
            volumes = loudness * LOUDNESS_PER_DOUBLING ** np.log2(np.maximum(distance, 1.0))
            told = valid & self._not_lost(volumes, valid)
            heard[slot] = tuple(
                (int(math.degrees(math.atan2(local[k, 1], local[k, 0]))), message)
                for k, (_, speaker, _, message) in enumerate(speaking)
                if told[k] and speaker != slot
            )
        return heard

    def _not_lost(self, volumes: Floats, valid: Bools) -> Bools:
        """(K,) which voices are loud enough, or lucky."""
        counted = np.sort(volumes[valid])
        if len(counted) <= ALWAYS_HEARD:
            return np.ones(len(volumes), bool)
        chances = np.log(volumes * (math.e - 1) / counted[-ALWAYS_HEARD] + 1)
        return np.asarray(self._rng.random(len(volumes)) < chances)
