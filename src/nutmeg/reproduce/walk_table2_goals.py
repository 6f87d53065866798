"""The goals that learned walks are held to, and whether they are met: compared and shown without rounding in favour.

    goal = Goal(what="DynamicRewards, forward", found=0.54999, limit=0.55, unit=" m/s")
    goal.met, goal.sentence()       # False, "MISSED: DynamicRewards, forward 0.5499 m/s, wanted at least 0.55 m/s"

What was not measured is neither met nor missed. Falls are allowed in one of twenty starts. The paper's ordering
(section 6 of MacAlpine and others, 2012): with weights that do not change, forward gets fast at the expense of
sideways; a walk learned while facing its targets is the fastest ahead and hardly goes sideways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.learning.course import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Agents = Mapping[str, Mapping[str, Any]]

SPEED, EVENNESS, AHEAD, RATIO = 0.55, 1.15, 0.80, 3.0
"""Every direction of DynamicRewards, its fastest over its slowest, FaceForward ahead [m/s], fitness over Initial's."""
FALLS = 1 / 20
"""Share of the starts that may end in a fall."""
SHORTEST = 0.08
"""The least phi_length with which steps are slow enough for a real motor."""
UNABLE = 0.1
"""A walk slower than this does not go in a direction [m/s]; the untrained one is faster in all."""
DIGITS = 4
METRES = " m/s"


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A number beside what is wanted of it."""

    what: str
    found: float | None
    """None if it was not measured."""
    limit: float
    most: bool = False
    """Whether the limit is the most that is allowed, not the least."""
    unit: str = ""
    """Put behind numbers."""

    @property
    def met(self) -> bool | None:
        """None if it was not measured; a number that is none misses."""
        if self.found is None:
            return None
        return self.found <= self.limit if self.most else self.found >= self.limit

    def shown(self) -> str:
        """What was found, cut to some digits on the side that does not flatter."""
        if self.found is None or not math.isfinite(self.found):
            return "-" if self.found is None else str(self.found)
        scale = 10**DIGITS
        exact = self.found * scale
        near = round(exact)
        cut = near if abs(exact - near) < 1e-6 else math.ceil(exact) if self.most else math.floor(exact)
        return f"{cut / scale:.{DIGITS}f}"

    def sentence(self) -> str:
        """For the terminal."""
        word = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        side = "at most" if self.most else "at least"
        return f"{word}: {self.what} {self.shown()}{self.unit}, wanted {side} {self.limit:g}{self.unit}"

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        found = self.found if self.found is None or math.isfinite(self.found) else None
        side = "at most" if self.most else "at least"
        return {
            "what": self.what,
            "found": found,
            "goal": self.limit,
            "side": side,
            "unit": self.unit.strip(),
            "met": self.met,
        }


def goals(agents: Agents) -> list[Goal]:
    """All goals for agents as `walk_table2` measured them; those that are missing give goals without a number."""
    return [*_holonomic(agents), *_ahead(agents), *_course(agents), *_ordering(agents)]


def evenness(speeds: Mapping[str, Mapping[str, Any]]) -> float:
    """The fastest over the slowest of forward, backward and sideways; infinite if one of them does not go."""
    three = [float(speeds[way]["mean"]) for way in DIRECTIONS]
    return _quotient(max(three), min(three))


def _holonomic(agents: Agents) -> Iterator[Goal]:
    name = "DynamicRewards"
    for way in DIRECTIONS:
        yield Goal(what=f"{name}, {way}", found=_speed(agents, name, way), limit=SPEED, unit=METRES)
    found = evenness(agents[name]["speeds"]) if name in agents else None
    yield Goal(what=f"{name}, fastest over slowest direction", found=found, limit=EVENNESS, most=True)
    falls = [_falls(agents, name, way) for way in DIRECTIONS]
    worst = None if None in falls else max(one for one in falls if one is not None)
    yield Goal(what=f"{name}, share of falls in the worst direction", found=worst, limit=FALLS, most=True)
    yield _changes(agents, name)


def _ahead(agents: Agents) -> Iterator[Goal]:
    name = "FaceForward"
    yield Goal(what=f"{name}, forward", found=_speed(agents, name, "forward"), limit=AHEAD, unit=METRES)
    found = _falls(agents, name, "forward")
    yield Goal(what=f"{name}, share of falls forward", found=found, limit=FALLS, most=True)
    yield _changes(agents, name)
    taken = f" (a step takes {agents[name]['step_time']:.3f} s)" if name in agents else ""
    yield Goal(what=f"{name}, phi_length{taken}", found=_of(agents, name, "phi_length"), limit=SHORTEST)


def _course(agents: Agents) -> Iterator[Goal]:
    found = _of(agents, "GoToTarget", "fitness_ratio")
    yield Goal(what="GoToTarget, fitness on the course over Initial's", found=found, limit=RATIO)


def _ordering(agents: Agents) -> Iterator[Goal]:
    static, dynamic = (_forward_over_sideways(agents, name) for name in ("StaticRewards", "DynamicRewards"))
    yield Goal(what="ordering: StaticRewards, forward over sideways", found=static, limit=1.0)
    more = None if static is None or dynamic is None else _quotient(static, dynamic)
    yield Goal(what="ordering: StaticRewards, the same over DynamicRewards' own", found=more, limit=1.0)
    found = _speed(agents, "FaceForward", "sideways")
    yield Goal(what="ordering: FaceForward, sideways", found=found, limit=UNABLE, most=True, unit=METRES)
    ahead = _speed(agents, "FaceForward", "forward")
    others = [_speed(agents, name, "forward") for name in agents if name != "FaceForward"]
    known = [one for one in others if one is not None]
    ratio = None if ahead is None or not known else _quotient(ahead, max(known))
    yield Goal(what="ordering: FaceForward, forward over the fastest other agent's", found=ratio, limit=1.0)


def _changes(agents: Agents, name: str) -> Goal:
    changes = _of(agents, name, "changes")
    found = None if changes is None else changes["falls"] / changes["trials"]
    return Goal(what=f"{name}, share of falls with a change every 3 s", found=found, limit=FALLS, most=True)


def _of(agents: Agents, name: str, key: str) -> Any:  # noqa: ANN401
    return agents[name][key] if name in agents else None


def _speed(agents: Agents, name: str, way: str) -> float | None:
    return float(agents[name]["speeds"][way]["mean"]) if name in agents else None


def _falls(agents: Agents, name: str, way: str) -> float | None:
    if name not in agents:
        return None
    one = agents[name]["speeds"][way]
    return float(one["falls"] / one["trials"])


def _forward_over_sideways(agents: Agents, name: str) -> float | None:
    ahead, aside = _speed(agents, name, "forward"), _speed(agents, name, "sideways")
    return None if ahead is None or aside is None else _quotient(ahead, aside)


def _quotient(a: float, b: float) -> float:
    return a / b if b > 0 else math.inf
