"""Orders: commands of a user at the page to a running simulation, sent from the viewer's process.

Each order is one line of JSON on the viewer's standard output:

    {"order": "hold", "page": 1, "numbers": [1, 0, 0], "fresh": true}       a key went down: full speed ahead
    {"order": "go", "page": 1, "numbers": [0.3, 0, 0]}                      0.3 m/s ahead, until the next order
    {"order": "stop", "page": 1}
    {"order": "pace", "page": 1, "numbers": [2, 0, 0]}                      twice real time; 0 holds the simulation
    {"order": "step", "page": 1}                                            one cycle, then hold

    inbox = Inbox()
    inbox.post(line)                    # in the thread that reads the pipe
    for order in inbox.take(): ...      # in the simulation, once a cycle
    for reason in inbox.refused(): ...  # why lines were ignored

No input can stop the simulation or fill its memory: the inbox keeps the newest orders only, and a line that is not an
order is ignored, with a reason.
"""

from __future__ import annotations

import dataclasses
import json
import math
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import convert

if TYPE_CHECKING:
    from collections.abc import Callable

_ORDER_KINDS = ("hold", "go", "stop", "restart", "set", "pace", "step", "poke", "joint", "pose", "push")
"""`hold` drives for as long as it is repeated, `go` until the next order, `restart` puts a robot back to its start,
`set` changes to another set of parameters, `pace` sets the speed of simulated time, `step` lets a paused simulation do
one cycle, `poke` touches a sensor, `joint` moves one joint, `pose` all joints, `push` pushes a robot."""
MAX_LINE_LENGTH = 1000  # characters of a line; longer ones are refused
MAX_WAITING_ORDERS = 64  # orders, and reasons, that wait at most; older ones are dropped
_MAX_THING_LENGTH = 100  # characters of the name of a sensor, joint or pose
_MAX_SHARE, MAX_SPEED, MAX_PACE, MAX_FORCE = 1.0, 10.0, 1000.0, 1000.0
"""Largest numbers of `hold` (shares of the top speeds), of `go` [m/s, rad/s] and `joint` [rad], of `pace` [s per s] and
of `push` [N]."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """A robot that can be driven from the page."""

    robot: str
    """Its name in the recording."""
    top: tuple[float, float, float]
    """Top speeds ahead, to the side [m/s] and turning [rad/s]."""
    sets: tuple[str, ...] = ()
    """Names of its sets of parameters."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A robot whose joints can be moved from the page."""

    robot: str
    """Its name in the recording."""
    joints: Mapping[str, tuple[float, float]]
    """Lowest and highest angle of each joint that has a motor [rad]; infinite where it turns freely."""
    poses: tuple[str, ...] = ()
    """Names of its poses."""
    force: float = 0.0
    """Its weight [N], the first strength of a push; 0 if it cannot be pushed."""
    overlaps: tuple[str, ...] = ()
    """Shapes that are inside each other at rest, in words."""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The commands that pages may give to the simulation that they show; sent to the viewer as JSON."""

    inbox: Inbox | None = None
    """Inbox of their orders; not sent to the viewer."""
    drive: Drive | None = None
    bench: Bench | None = None
    pace: float = 0.0
    """Simulated seconds per second, which pages may then change; 0 if they may not."""
    pokes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Sensors that can be touched, by robot."""

    def text(self) -> str:
        """Everything but the inbox as a JSON object."""
        table = asdict(dataclasses.replace(self, inbox=None))
        return json.dumps({name: value for name, value in table.items() if value})

    @classmethod
    def of(cls, text: str) -> Controls:
        """The inverse of `text`."""
        return convert(json.loads(text or "{}"), cls, Path("--controls"))


@dataclass(frozen=True, kw_only=True)
class Order:
    """One order of a page to the simulation."""

    order: str
    """One of `_ORDER_KINDS`."""
    page: int = 0
    """The number of the page it comes from."""
    numbers: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Ahead, to the left, turning left: shares of the top speeds of `hold`, m/s and rad/s of `go`. The first one of
    `pace` is simulated seconds per second, that of `joint` an angle [rad]; `push` has a force in the world [N]."""
    fresh: bool = True
    """Whether a hold is new or changed; False repeats it."""
    index: int = 0
    """The number of a set of parameters."""
    thing: str = ""
    """The joint that is moved, the name of a pose, or the sensor that is poked, `<robot>/<sensor>`; `numbers` of a poke
    are its value, for how many seconds (0: for good), and whether it is released instead."""

    def line(self) -> str:
        """The order as a line of JSON."""
        return json.dumps(asdict(self))


def read_order(line: str) -> Order:
    """An order from a line; a `UsageError` says why a line is not an order."""
    if len(line) > MAX_LINE_LENGTH:
        raise UsageError(f"an order of {len(line)} characters; allowed are {MAX_LINE_LENGTH}.")
    try:
        table = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{line.strip()[:60]!r} is not an order: it is no JSON.") from None
    if not isinstance(table, dict) or table.get("order") not in _ORDER_KINDS:
        raise UsageError(f"{line.strip()[:60]!r} is not an order; allowed are {', '.join(_ORDER_KINDS)}.")
    kind = table["order"]
    return Order(
        order=kind,
        page=whole_number(table.get("page", 0), "page"),
        numbers=numbers_of(
            table.get("numbers", [0.0, 0.0, 0.0]),
            {"hold": _MAX_SHARE, "pace": MAX_PACE, "push": MAX_FORCE}.get(kind, MAX_SPEED),
        ),
        fresh=table.get("fresh", True) is not False,
        index=whole_number(table.get("index", 0), "index"),
        thing=str(table.get("thing", ""))[:_MAX_THING_LENGTH],
    )


def numbers_of(values: Any, most: float) -> tuple[float, float, float]:  # noqa: ANN401
    """Three finite numbers between -`most` and `most`."""
    if not isinstance(values, list) or len(values) != 3 or not all(_number(value, most) for value in values):
        raise UsageError(f"{str(values)[:60]} are not speeds; needed are three numbers from {-most:g} to {most:g}.")
    return float(values[0]), float(values[1]), float(values[2])


def _number(value: object, most: float) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) <= most
    )


def whole_number(value: object, name: str) -> int:
    """A whole number from 0, called `name` in the error."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise UsageError(f"{name} is {str(value)[:20]!r}; needed is a whole number from 0.")
    return value


class Inbox:
    """Queue of orders, and of reasons why lines were refused; safe between threads."""

    def __init__(self) -> None:
        self.on_pace: Callable[[float], None] | None = None
        """Called at once with each new pace, in the thread that posts: a paused simulation takes no orders."""
        self.on_step: Callable[[], None] | None = None
        """Called at once with each step, in the thread that posts."""
        self.on_poke: Callable[[Order], None] | None = None
        """Called at once with each poke, in the thread that posts."""
        self._lock = threading.Lock()
        self._orders: deque[Order] = deque(maxlen=MAX_WAITING_ORDERS)
        self._refused: deque[str] = deque(maxlen=MAX_WAITING_ORDERS)

    def post(self, line: str) -> None:
        """Accept a line, or note why it was refused."""
        try:
            order = read_order(line)
        except UsageError as error:
            with self._lock:
                self._refused.append(str(error))
            return
        if order.order == "pace":
            if self.on_pace is not None:
                self.on_pace(order.numbers[0])
            return
        if order.order == "step":
            if self.on_step is not None:
                self.on_step()
            return
        if order.order == "poke" and self.on_poke is not None:
            self.on_poke(order)
            return
        with self._lock:
            self._orders.append(order)

    def take(self) -> list[Order]:
        """The orders that have come since the last call, the oldest first."""
        with self._lock:
            orders = list(self._orders)
            self._orders.clear()
        return orders

    def refused(self) -> list[str]:
        """The reasons why lines were ignored since the last call."""
        with self._lock:
            reasons = list(self._refused)
            self._refused.clear()
        return reasons
