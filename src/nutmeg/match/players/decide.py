"""A player in twenty lines, for every world: the arguments and the result of `decide`, and what happens if it fails.

    def decide(percept: View, memory: Memory) -> Request:
        ball = percept.belief.ball
        ahead, left = percept.belief.to_body(ball.place)
        if ball.age > 2.0:
            return Request(legs=Walk(turn=0.8))
        return Request(legs=Walk(ahead=0.2, turn=2.0 * math.atan2(left, ahead)), look=Look(yaw=math.atan2(left, ahead)))

    memory = Memory(team="reds", number=2, players=4, rules=rules, body=abilities_of(settings))
    mind = Mind(decide, memory)
    request = mind.act(view)                # never raises
    mind.log, mind.lost_turns

`decide` is called every 0.1 s, in the physical world (`deciding_player`) and in the behavioural one
(`match.behavioural_game`), with the same arguments. Places that are seen are in the body's frame: ahead and to the
left, metres. Everything else is in the frame of the own team, which always attacks +x: beliefs, and names of landmarks,
so that `load_field(...).landmarks()["G1R"]` is the place of the post `G1R`, whichever side the team plays from.

A `decide` that raises, takes too long (`time_limit`) or returns an invalid request loses its turn: the player stands
and keeps the direction of its head. The traceback goes to its log, and the match continues.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
import signal
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nutmeg.base.errors import UsageError
from nutmeg.match.players.belief import Belief
from nutmeg.match.players.request import (
    MAX_TOLD_BYTES,
    Dive,
    Foot,
    GetUp,
    Kick,
    KickKind,
    Look,
    Request,
    Stand,
    Walk,
)
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.hearing import checked_message
from nutmeg.match.worlds.physical.percept import GameView, Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from nutmeg.base.records import Records
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.behavioural.settings import BehaviourSettings


# ----------------------------------------------------------------------------------------------------
# The abilities of a player's body, which the tactics and users' `decide` functions read.
#
# In the behavioural world they come from its settings (`abilities_of`), in the physical one from the league's robot and
# its motions (`deciding_player.league_abilities`).


_KICK_AREA_SHARE = 0.8  # share of the area of a kick within which tactics begin to kick; the rest covers errors
_FOOT_BALL_GAP = 0.005  # least distance between the ball and the tips of the feet [m]
_SHORT_KICK_SHARE = 0.5  # reach of a short kick, as a share of that of a full one


@dataclass(frozen=True, kw_only=True)
class KickAbility:
    """A kick: where the ball has to lie, how exactly, and how far the ball rolls."""

    place: tuple[float, float]
    """Middle of the area in which the left foot hits the ball: ahead and to the left, m."""
    nearer: float = 0.0
    """How much nearer than `place` tactics aim to have the ball, m."""
    slack: tuple[float, float]
    """Largest error of the ball's place at which tactics begin a kick: ahead and to the left, m."""
    tolerance: float
    """Largest error of the ball's place at which a kick still hits the ball, m."""
    reach: float
    """Distance that the ball rolls, m."""
    spread: float = 0.0
    """Standard deviation of the ball's direction, rad; 0 counts every aim within the goal posts as a goal."""


NO_KICK = KickAbility(place=(0.0, 0.0), slack=(0.0, 0.0), tolerance=0.0, reach=0.0)
"""A kick that a body does not have."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """The abilities of a body; SI units, angles in radians."""

    ahead: float
    """Top speed ahead, m/s."""
    back: float
    """Top speed backwards, m/s."""
    side: float
    """Top speed to a side, m/s."""
    turn: float
    """Top turn rate, rad/s."""
    ask: tuple[float, float, float, float]
    """Highest velocities that tactics command: ahead, back and to a side, m/s, and turn, rad/s. They may exceed the top
    speeds where the body limits commands by itself, since walks differ."""
    run: float
    """Approximate mean speed on the way to the ball, m/s."""
    push: float = 1.0
    """Distance that a dribbled ball rolls, m."""
    push_aside: float = 0.0
    """Distance of a dribbled ball from the middle of the body, to the side of the foot that pushes it, m. Where the
    feet are wide apart, a ball between them is hit by the corner of a foot and does not roll straight."""
    push_spread: float = 0.0
    """Standard deviation of the direction of a dribbled ball, rad."""
    kick: KickAbility
    """The kick of full strength."""
    short_kick: KickAbility
    """The kick of less strength, for passes."""
    shot: KickAbility = NO_KICK
    """The quick kick after which the robot lies on the ground, if it has one."""
    shot_time: float = 0.0
    """Time from the beginning of a shot to its hit, s."""
    can_kick: bool = True
    """Whether it can kick without falling; otherwise it dribbles."""
    kick_time: float
    """Time from the decision to kick, while walking slowly, to the hit, s."""
    swing_time: float = 0.0
    """Time from the beginning of a kick to the hit, for which the place of the ball is predicted, s."""
    kick_ball_speed: float = 0.25
    """Balls faster than this are not kicked, m/s."""
    stop_time: float = 0.0
    """Time that a walk takes to stop before a kick, s."""
    stop_linear: float = 0.0
    """Stopping distance ahead in proportion to the speed, s."""
    stop_quadratic: float = 0.0
    """Stopping distance ahead in proportion to the square of the speed, s^2/m."""
    stop_aside: float = 0.0
    """Stopping distance to a side in proportion to the speed, s."""
    ahead_gain: float = 2.0
    """Speed ahead for each metre of the ball's error before the foot, 1/s."""
    side_gain: float = 2.0
    """Speed to a side for each metre of the ball's error before the foot, 1/s."""
    get_up_time: float = 4.0
    """Approximate time to get up, s."""
    dive_reach: float
    """Distance to a side that a dive covers, m."""
    dive_time: float
    """A dive is begun when the ball will pass within this time, s."""
    contact_distance: float = 0.4
    """Distance between the torsos of two robots that touch each other, m."""
    eyes: float = 0.5
    """Height of the cameras, m."""
    lower_eye: float = math.radians(40.0)
    """Angle by which the lower camera looks further down than the upper one, rad."""
    wide_view: bool = False
    """Whether it has one camera with a wide view instead of two with narrow ones."""
    ball_slows: float
    """Deceleration of a rolling ball by friction, m/s^2."""
    ball_damped: float
    """Damping of a rolling ball, in proportion to its speed, 1/s."""

    @property
    def kick_place(self) -> tuple[float, float]:
        """Place of the ball for a straight kick with the left foot: ahead and to the left, m."""
        return self.kick.place

    @property
    def kick_slack(self) -> tuple[float, float]:
        """Largest error of the ball's place at which to kick: ahead and to the left, m."""
        return self.kick.slack

    @property
    def kick_reach(self) -> float:
        """Distance that the ball rolls after a kick of full strength, m."""
        return self.kick.reach


def abilities_of(settings: BehaviourSettings, *, ball_radius: float = 0.0325) -> Abilities:
    """The abilities of a robot of the behavioural world, whose kicks are as exact as their orders."""
    walk, kick, ball = settings.walk, settings.kick, settings.ball
    near = max(kick.straight_near, settings.body.base_front + ball_radius + _FOOT_BALL_GAP)
    far = max(kick.straight_far, near)
    half = (far - near) / 2, (kick.straight_outer - kick.straight_inner) / 2
    full = KickAbility(
        place=((near + far) / 2, (kick.straight_inner + kick.straight_outer) / 2),
        slack=(_KICK_AREA_SHARE * half[0], _KICK_AREA_SHARE * half[1]),
        tolerance=min(half),
        reach=kick.straight_distance,
    )
    return Abilities(
        ahead=walk.ahead,
        back=walk.back,
        side=walk.side,
        turn=walk.turn,
        ask=(walk.ahead, walk.back, walk.side, walk.turn),
        run=walk.ahead,
        kick=full,
        short_kick=dataclasses.replace(full, reach=_SHORT_KICK_SHARE * full.reach),
        kick_time=kick.wind_up,
        get_up_time=settings.fall.lying + settings.get_up.front,
        dive_reach=settings.dive.reach,
        dive_time=2.0 * settings.dive.time,
        contact_distance=settings.body.torso_ahead + settings.body.torso_aside,
        ball_slows=ball.deceleration,
        ball_damped=ball.damping,
    )


# ----------------------------------------------------------------------------------------------------
# The time limit of users' functions, and how one that never ends is stopped.
#
# The limit is processor time, so that no player loses a turn on a busy computer. A function that waits instead, in a
# sleep or for an answer, is stopped after `WALL_TIME_FACTOR` times the limit of wall-clock time.
#
# In the main thread the alarm of the process (`signal.setitimer`) interrupts whatever runs, a sleep included. In other
# threads, where Python delivers no signals, a second thread asks the interpreter to raise the exception there: that
# stops a loop written in Python, while a call into compiled code is stopped when it returns. `OutOfTime` is no
# `Exception`, so that a loop around `try: ... except Exception: pass` ends as well; the alarm is repeated until the
# function has been left. A loop that catches *everything* cannot be stopped from within its own process.


WALL_TIME_FACTOR = 10
"""Ratio of the limit of wall-clock time to the limit of processor time."""
_ALARM_INTERVAL = 0.05  # time between repeated alarms [s]


class OutOfTime(BaseException):
    """A function has exceeded its time limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `OutOfTime` in the body of a `with` that computes longer than this, s; 0 sets no limit."""
    if seconds <= 0:
        yield
    elif threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        with _alarm(seconds):
            yield
    else:
        with _other_thread(seconds):
            yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """The limit in the main thread; an alarm that was set before is restored and may go off later than it was set."""
    armed = True
    began, over = time.monotonic(), _limit(seconds, time.thread_time)

    def ring(_number: int, _frame: FrameType | None) -> None:
        if armed and over():
            raise OutOfTime

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _ALARM_INTERVAL)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), _ALARM_INTERVAL), interval)


@contextmanager
def _other_thread(seconds: float) -> Iterator[None]:
    """The limit in a thread that gets no signals: a second thread watches it."""
    me, done, lock = threading.get_ident(), threading.Event(), threading.Lock()
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(me)
        over = _limit(seconds, lambda: time.clock_gettime(clock))
    else:  # Windows and macOS do not provide another thread's processor time: only the wall clock counts
        over = _limit(seconds, lambda: 0.0)

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            with lock:
                if not done.is_set() and over():
                    _raise_in(me, OutOfTime)
            wait = _ALARM_INTERVAL

    watcher = threading.Thread(target=watch, daemon=True, name="time limit")
    watcher.start()
    try:
        yield
    finally:
        with lock:
            done.set()
            _raise_in(me, None)  # withdraws an exception that was requested too late


def _limit(seconds: float, computed: Callable[[], float]) -> Callable[[], bool]:
    """A function that says whether the limit, counted from now, is exceeded; `computed` gives processor time [s]."""
    began, before = time.monotonic(), computed()
    return lambda: computed() - before >= seconds or time.monotonic() - began >= WALL_TIME_FACTOR * seconds


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Requests an exception in a thread; None withdraws the request."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )


Point = tuple[float, float]
Image = NDArray[np.uint8]

MAX_DECISION_TIME = 2.0
"""Limit of the processor time of a decision [s]."""
_MIN_DECISION_TIME = 0.05
"""After each decision that exceeds its limit the limit is halved, down to this, until a decision is in time [s]."""
MAX_LOG_ENTRIES = 20
"""Number of lost turns that a log describes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRobot:
    """Another robot in view."""

    place: Point
    """Ahead and to the left, m."""
    mate: bool | None
    """Whether it wears the own team's colour; None if that was not seen."""
    number: int | None = None
    """Its number, where it can be read."""
    lying: bool = False
    """Whether it appears to lie on the ground."""


MarkKind = Literal["own post", "their post", "post", "corner", "L", "T", "X", "penalty mark", "centre circle"]
"""Kinds of landmarks: posts of the own goal, of the opponents' goal, or of either where both have the same colour;
corner flags; junctions of lines (a corner, a line that ends at another, a crossing); the penalty mark and the centre
circle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMark:
    """A landmark in view."""

    kind: MarkKind
    place: Point
    """Ahead and to the left, m."""
    name: str | None = None
    """Its name in `FieldSettings.landmarks`, for a team that plays from the left; None if it cannot be identified."""
    turn: float | None = None
    """Orientation of a junction of lines, to the left of ahead, rad: that of the bisector of an L, and of the ending
    line of a T; None where that was not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The latest sightings since the last decision, in the body's frame; what is missing was not seen."""

    ball: Point | None = None
    """Ahead and to the left, m."""
    robots: tuple[SeenRobot, ...] = ()
    marks: tuple[SeenMark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A structured message of a team-mate (`Request.tell`)."""

    number: int
    """Number of the sender."""
    time: float
    """Time of the world at which it was sent, s."""
    content: Mapping[str, Any]
    """A copy of the content."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything that a player perceives when it decides."""

    time: float
    """Time of the world, which continues when the game clock stops [s]."""
    cycle: int
    """Number of earlier decisions."""
    game: GameView
    """Play mode, game time and score; scores are of the left and the right end."""
    team: str
    """Name of the own team."""
    number: int
    """The player's own number."""
    side: Side
    """The end that the own team defends at present, as far as the player knows."""
    odometry: tuple[float, float, float]
    """Estimated motion since the last decision: ahead and left, m, and turn to the left, rad."""
    head: tuple[float, float]
    """Direction of the head: yaw to the left, pitch upwards, rad."""
    upright: bool
    """Whether it is on its feet."""
    doing: str
    """What its body does, such as stand, walk, kick, dive, fall or get up."""
    see: Callable[[], Seen] = field(repr=False)
    """Computes `seen` on demand."""
    sonar: tuple[float, float] | None = None
    """Distances that the left and the right sonar measured last, m; infinite without an echo. None without sonar."""
    heard: tuple[Heard, ...] = ()
    """Messages heard since the last decision."""
    told: tuple[Told, ...] | None = None
    """Structured messages of team-mates; None where the league carries none."""
    believe: Callable[[], Belief] = field(repr=False)
    """Computes `belief` on demand."""
    belief_record: Records[BeliefRecord] | None = field(default=None, repr=False)
    """The belief as a record (1,) for compiled tactics, where the world keeps records."""
    shares_beliefs: bool = False
    """Whether the world shares beliefs between team-mates, so that players need not send reports."""
    render: Callable[[], Mapping[str, Image]] | None = field(default=None, repr=False)
    """Renders `images` on demand; None where there are no cameras."""

    @cached_property
    def seen(self) -> Seen:
        """The latest sightings."""
        return self.see()

    @cached_property
    def belief(self) -> Belief:
        """The estimate of the built-in tracker: pose, ball and other players, with their uncertainty."""
        return self.believe()

    @cached_property
    def images(self) -> Mapping[str, Image] | None:
        """The images of the cameras by their names; None where there are no cameras.

        In the behavioural world these are `top` and `bottom`, (240, 320, 3) each; the league's robot has `Vision`,
        (240, 240, 3).
        """
        return None if self.render is None else self.render()


class Memory(dict[str, Any]):
    """The memory of a player from one decision to the next: a dictionary, empty at first, and constant facts.

    Args:
        team: name of the own team.
        number: the player's own number.
        players: number of players of the own team.
        rules: the rule book, with the dimensions of the pitch.
        body: the abilities of its body.
        seed: seed of its random numbers; together with the seed of the match it makes matches repeatable.
    """

    def __init__(self, *, team: str, number: int, players: int, rules: Rules, body: Abilities, seed: int = 0) -> None:
        super().__init__()
        self.team, self.number, self.players = team, number, players
        self.rules, self.body, self.pitch = rules, body, rules.pitch
        self.rng = np.random.default_rng([seed, number, *team.encode()])
        """Its own random numbers."""


Decide = Callable[[View, Memory], Request]
"""A player: a function from its view and its memory to a request."""


class Mind:
    """One player's `decide` with its memory and its log.

    Args:
        decide: the function that decides.
        memory: the player's memory.
        longest: limit of the processor time of a decision, s; 0 sets no limit.
    """

    def __init__(self, decide: Decide, memory: Memory, *, longest: float = MAX_DECISION_TIME) -> None:
        prepare: Callable[[], None] | None = getattr(decide, "prepare", None)
        if prepare is not None:  # compiles it, which takes longer than a decision may
            prepare()
        self.decide, self.memory, self.longest, self._patience = decide, memory, longest, longest
        self.team, self.number = memory.team, memory.number
        self._view: View | None = None
        self.request: Request | None = None
        """The last request; None before the first decision."""
        self.log: list[str] = []
        """Tracebacks of lost turns, the first `MAX_LOG_ENTRIES` of them."""
        self.lost_turns = 0
        """Number of lost turns."""

    def act(self, view: View) -> Request:
        """The request of the player; never raises."""
        self.memory.number = self.number = view.number
        try:
            with time_limit(self._patience):
                request = _checked_request(self.decide(view, self.memory), tells=view.told is not None)
            self._patience = self.longest
        except KeyboardInterrupt:
            raise
        except OutOfTime:
            request = self._lose_turn(view, f"took longer than {self._patience:g} s")
            self._patience = max(self._patience / 2, min(self.longest, _MIN_DECISION_TIME))
        except BaseException:  # noqa: BLE001 (a player's own failure, whatever it is, must not end the match)
            request = self._lose_turn(view, traceback.format_exc(limit=-6))
        self._view, self.request = view, request
        return request

    @property
    def belief(self) -> Belief | None:
        """Belief at the last decision; None before the first."""
        return None if self._view is None else self._view.belief

    def _lose_turn(self, view: View, why: str) -> Request:
        """The request of a player without a decision: it stands, and its head stays."""
        self.lost_turns += 1
        if len(self.log) < MAX_LOG_ENTRIES:
            self.log.append(f"at {view.time:.2f} s number {view.number} of {view.team!r} lost its turn: {why}")
        look = self.request.look if self.request is not None else Look()
        return Request(legs=Stand(), look=look, intent="lost its turn")


def _checked_request(request: Request, *, tells: bool) -> Request:
    """The request, if it is valid; `tells` says whether the world carries structured messages."""
    if not isinstance(request, Request):
        raise UsageError(f"decide returned {request!r:.80}; it must return a Request.")
    _check_legs(request)
    if not isinstance(request.look, Look):
        raise UsageError(f"look is {request.look!r:.80}; it must be a Look.")
    _check_finite("look", request.look)
    if request.say is not None:
        checked_message(request.say)
    if request.tell is not None:
        if not tells:
            raise UsageError("this league carries no structured messages; `say` 20 characters instead of `tell`.")
        checked_structure(request.tell)
    if request.beam is not None and not (len(request.beam) == 3 and all(map(math.isfinite, request.beam))):
        raise UsageError(f"beam is {request.beam}; it must be three finite numbers.")
    return request


def checked_structure(content: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a structured message, if it is made of plain values and short enough."""
    try:
        text = json.dumps(dict(content), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"`tell` cannot carry {content!r:.80}: {error}. Use a dictionary of numbers, strings and lists."
        ) from None
    if len(text) > MAX_TOLD_BYTES:
        raise UsageError(f"`tell` has {len(text)} bytes as JSON; at most {MAX_TOLD_BYTES} are allowed.")
    copy: dict[str, Any] = json.loads(text)
    return copy


def _check_legs(request: Request) -> None:
    legs = request.legs
    if not isinstance(legs, Stand | Walk | Kick | Dive | GetUp):
        raise UsageError(f"legs are {legs!r:.80}; they can Stand, Walk, Kick, Dive or GetUp.")
    if isinstance(legs, Walk):
        _check_finite("walk", legs)
    elif isinstance(legs, Kick):
        if not (all(map(math.isfinite, (*legs.ball, legs.strength))) and 0.0 <= legs.strength <= 1.0):
            raise UsageError(f"{legs}: the ball's place must be finite, and the strength between 0 and 1.")
        if legs.kind not in get_args(KickKind) or legs.foot not in (None, *get_args(Foot)):
            raise UsageError(f"{legs}: kinds are {get_args(KickKind)}, feet {get_args(Foot)} or None.")
    elif isinstance(legs, Dive) and legs.side not in ("left", "right"):
        raise UsageError(f"{legs}: side must be 'left' or 'right'.")


def _check_finite(what: str, thing: Walk | Look) -> None:
    kind: type = type(thing)
    for name in _names_of_fields(kind):
        value = getattr(thing, name)
        if not isinstance(value, str) and not all(map(math.isfinite, value if isinstance(value, tuple) else (value,))):
            raise UsageError(f"{what}: {name} is {value}; it must be finite.")


@cache
def _names_of_fields(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in dataclasses.fields(kind))


def own_name(mark: str, side: Side) -> str:
    """The name of a landmark in the frame of a team: for the one that defends the right end, `G1L` is `G2R`."""
    if side is Side.LEFT:
        return mark
    return mark.translate(_TURNED)


_TURNED = str.maketrans("12LR", "21RL")
