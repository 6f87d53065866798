"""Chance in the behavioural world, compiled: a number is a hash of what it is for, so that nothing is shared.

A draw depends only on the match's seed, the cycle, the player, the purpose and a count: a match comes out the same
alone or among thousands, in any order and on any thread, and one part that draws more does not change another.

    uniform(seed, cycle, slot, MOTION, 0)              # in [0, 1)
    k = key(seed, cycle, slot, MOTION)                 # cheaper for several draws of one purpose
    a, b = normal_pair(k, 0)                           # two independent standard normals, one hash

The hash is the finaliser of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014),
applied to the seed and cycle, then to the slot and purpose, then to the count. Seeds are `np.uint64`; everything else
is an ordinary whole number. In these functions whole numbers must stay `uint64`: with a signed one numba makes floats.
"""

from __future__ import annotations

import math

import numpy as np

from nutmeg.base.kernels import kernel

MOTION, ODOMETRY, FALL, KICK, GETTING_UP = 1, 2, 3, 4, 5
"""Purposes of the world."""
VISION, SONAR, VOICES = 32, 48, 64
"""First purposes of the senses: each has sixteen."""
STRATEGY = 128
"""First purpose of players; a hundred and twenty-eight."""

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_PURPOSES = np.uint64(256)
_ONE = np.uint64(1)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """A word of 64 bits, of which each depends on all bits of the given one."""
    word = (word ^ (word >> _30)) * _FIRST_FACTOR
    word = (word ^ (word >> _27)) * _SECOND_FACTOR
    return word ^ (word >> _31)


@kernel
def key(seed: np.uint64, cycle: int, slot: int, purpose: int) -> np.uint64:
    """The key of all draws for a purpose (below 256) of a player in a cycle of a match."""
    place = np.uint64(slot) * _PURPOSES + np.uint64(purpose)
    word: np.uint64 = mix(mix(seed + _GOLDEN_GAMMA * (np.uint64(cycle) + _ONE)) + _GOLDEN_GAMMA * (place + _ONE))
    return word


@kernel
def bits(key: np.uint64, draw: int) -> np.uint64:
    """The 64 random bits of a draw."""
    word: np.uint64 = mix(key + _GOLDEN_GAMMA * (np.uint64(draw) + _ONE))
    return word


@kernel
def uniform_of(key: np.uint64, draw: int) -> float:
    """A number in [0, 1), from a key; in steps of 2^-53."""
    return float(bits(key, draw) >> _11) * 2.0**-53


@kernel
def normal_pair(key: np.uint64, draw: int) -> tuple[float, float]:
    """Two independent standard normals from one draw of a key (Box and Muller, 1958); none is beyond 6.8."""
    word = bits(key, draw)
    radius = math.sqrt(-2.0 * math.log((float(word >> _32) + 0.5) * 2.0**-32))
    angle = 2.0 * math.pi * 2.0**-32 * float(word & _LOW)
    return radius * math.cos(angle), radius * math.sin(angle)


@kernel
def normal_of(key: np.uint64, draw: int) -> float:
    """A standard normal, from a key: the first of `normal_pair`."""
    first: float = normal_pair(key, draw)[0]
    return first


@kernel
def uniform(seed: np.uint64, cycle: int, slot: int, purpose: int, draw: int) -> float:
    """A number in [0, 1)."""
    number: float = uniform_of(key(seed, cycle, slot, purpose), draw)
    return number


@kernel
def normal(seed: np.uint64, cycle: int, slot: int, purpose: int, draw: int) -> float:
    """A draw from the standard normal distribution."""
    number: float = normal_of(key(seed, cycle, slot, purpose), draw)
    return number
