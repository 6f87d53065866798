"""A player in twenty lines, for every world: what `decide` is told, what it answers, and what happens if it fails.

    def decide(percept: View, memory: Memory) -> Request:
        ball = percept.belief.ball
        ahead, left = percept.belief.to_body(ball.place)
        if ball.age > 2.0:
            return Request(legs=Walk(turn=0.8))
        return Request(legs=Walk(ahead=0.2, turn=2.0 * math.atan2(left, ahead)), look=Look(yaw=math.atan2(left, ahead)))

    mind = Mind(decide, team="reds", number=2, players=4, rules=rules, body=abilities_of(settings))
    request = mind.act(view)                # never raises
    mind.log, mind.lost_turns

`decide` is called every 0.1 s, in the physical world (`deciding_player`) and in the behavioural one
(`match.behavioural_game`), with the same arguments. Places that are seen are in the body's frame: ahead and to the
left, metres. Everything else is as the own team sees the pitch, which always attacks +x: beliefs, and names of
landmarks, so that `load_field(...).landmarks()["G1R"]` is where the post that is called `G1R` stands, whichever side
the team plays from.

A `decide` that raises, takes too long (`time_limit`) or answers nonsense loses its turn: the player stands and keeps
its head where it was. The traceback goes to its log; the match goes on.
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
from functools import cached_property
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
# What a player's body can do, in numbers that tactics decide by and that a `decide` may want to know.
#
# In the behavioural world they come from its settings (`abilities_of`), in the physical one from the league's robot and
# its motions (`deciding_player.league_abilities`).


_KICK_AREA_SHARE = 0.8  # share of a kick's rectangle that is good enough to kick from
_FOOT_BALL_GAP = 0.005  # between the ball and the tips of the feet [m]
_SHORT_KICK_SHARE = 0.5  # reach of a short kick, as a share of that of a full one


@dataclass(frozen=True, kw_only=True)
class KickAbility:
    """A kick: where the ball must lie for it, how exactly, and how far it goes."""

    place: tuple[float, float]
    """Where the ball should lie for the left foot: ahead and to the left, m."""
    nearer: float = 0.0
    """By how much nearer the ball is wanted than there, m."""
    slack: tuple[float, float]
    """How far off a player begins to kick, m."""
    tolerance: float
    """How far off a kick still hits the ball, m."""
    reach: float
    """How far the ball goes, m."""


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a body can do; SI units, angles in radians."""

    ahead: float
    """Fastest ahead, m/s."""
    back: float
    """Fastest backwards, m/s."""
    side: float
    """Fastest to a side, m/s."""
    turn: float
    """Fastest turn, rad/s."""
    ask: tuple[float, float, float, float]
    """What tactics ask for at most: ahead, back, to a side, turn, m/s and rad/s. More than the above where the body
    cuts wishes by itself, since walks differ."""
    run: float
    """How fast it covers ground on the way to the ball, about, m/s."""
    push: float = 1.0
    """How far a ball goes that is walked through, m."""
    kick: KickAbility
    """Its kick of full strength."""
    short_kick: KickAbility
    """Its kick of less strength, for passes."""
    can_kick: bool = True
    """Whether it can kick without falling; else it walks through the ball."""
    kick_time: float
    """From the wish to kick, walking slowly, to the hit, s."""
    swing_time: float = 0.0
    """From the beginning of a kick to its hit, for which the place of the ball is predicted, s."""
    kick_ball_speed: float = 0.25
    """Faster balls are not kicked, m/s."""
    stop_time: float = 0.0
    """How long a walk takes to stop before a kick, s."""
    stop_linear: float = 0.0
    """How far a walk that stops still comes for each m/s, s."""
    stop_quadratic: float = 0.0
    """And for each square of its speed, s^2/m."""
    stop_aside: float = 0.0
    """How far a walk that stops still comes to a side for each m/s, s."""
    ahead_gain: float = 2.0
    """Speed ahead for each metre that the ball is off its place before the foot, 1/s."""
    side_gain: float = 2.0
    """The same to a side, 1/s."""
    get_up_time: float = 4.0
    """How long it takes to get up, about, s."""
    dive_reach: float
    """How far to a side a dive covers the goal, m."""
    dive_time: float
    """A dive is begun when the ball passes so soon, s."""
    contact_distance: float = 0.4
    """Robots that are so near to each other touch, m between their torsos."""
    eyes: float = 0.5
    """Height of the cameras, m."""
    lower_eye: float = math.radians(40.0)
    """How much further down than the upper camera the lower one looks, rad."""
    wide_view: bool = False
    """Whether it has one camera with a wide view instead of two with narrow ones."""
    ball_slows: float
    """Friction of a rolling ball, m/s^2."""
    ball_damped: float
    """What grows with its speed, 1/s."""

    @property
    def kick_place(self) -> tuple[float, float]:
        """Where the ball should lie for a straight kick with the left foot: ahead and to the left, m."""
        return self.kick.place

    @property
    def kick_slack(self) -> tuple[float, float]:
        """How far from there it may lie, m."""
        return self.kick.slack

    @property
    def kick_reach(self) -> float:
        """How far a kick of full strength sends the ball, m."""
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
        ball_slows=ball.deceleration,
        ball_damped=ball.damping,
    )


# ----------------------------------------------------------------------------------------------------
# How long somebody else's function may take, and what stops one that never ends.
#
# What counts is processor time: on a busy computer nobody loses because others compute. A function that waits
# instead, in a sleep or for an answer, is stopped after `WAITS` times as long by the clock on the wall.
#
# In the main thread the alarm clock of the process (`signal.setitimer`) interrupts whatever runs, a sleep included.
# In other threads, where Python delivers no signals, a second thread asks the interpreter to raise the exception
# there: that stops a loop written in Python, while a call into compiled code is stopped when it returns. `OutOfTime`
# is no `Exception`, so that a loop around `try: ... except Exception: pass` ends as well; the alarm rings again and
# again until the function has been left. A loop that catches *everything* cannot be stopped from within its own
# process.


WALL_TIME_FACTOR = 10
"""How many times as long as it may compute a function may take in all."""
_ALARM_INTERVAL = 0.05  # an alarm that was not heeded rings again after so long [s]


class OutOfTime(BaseException):
    """The time is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `OutOfTime` in the body of a `with` that computes longer; 0 lets it take as long as it likes."""
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
    """In the main thread; an alarm that somebody else has set rings later than it would have, but rings."""
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
    """In a thread that gets no signals: another one watches it."""
    me, done, lock = threading.get_ident(), threading.Event(), threading.Lock()
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(me)
        over = _limit(seconds, lambda: time.clock_gettime(clock))
    else:  # Windows and macOS do not tell another thread's processor time: only the clock on the wall counts
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
            _raise_in(me, None)  # what was asked for too late is not raised any more


def _limit(seconds: float, computed: Callable[[], float]) -> Callable[[], bool]:
    """Tells whether the time is over that begins now; `computed` is the thread's own processor time [s]."""
    began, before = time.monotonic(), computed()
    return lambda: computed() - before >= seconds or time.monotonic() - began >= WALL_TIME_FACTOR * seconds


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Asks for an exception in a thread, or takes back what was asked for."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )


Point = tuple[float, float]
Image = NDArray[np.uint8]

MAX_DECISION_TIME = 2.0
"""A decision for which a player computes longer is given up [s]."""
_MIN_DECISION_TIME = 0.05
"""Who takes too long is given half the time from then on, down to this [s], until it has decided in time again."""
MAX_LOG_ENTRIES = 20
"""How many lost turns a log tells of."""


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
    """Whether it seems to lie."""


MarkKind = Literal["own post", "their post", "post", "corner", "L", "T", "X", "penalty mark", "centre circle"]
"""What a landmark looks like: posts of the goal that the own team defends, of the one it attacks, or of either where
they have the same colour; corner flags; where lines meet (a corner, one that ends at another, two that go on)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMark:
    """A landmark in view."""

    kind: MarkKind
    place: Point
    """Ahead and to the left, m."""
    name: str | None = None
    """Which one it is, where it can be told: as in `FieldSettings.landmarks`, for a team that plays from the left."""
    turn: float | None = None
    """Where a crossing of lines points, to the left of ahead, rad: an L between its lines, a T along the one that ends;
    None where that was not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the eyes showed last since the decision before, in the body's frame; what is not there was not seen."""

    ball: Point | None = None
    """Ahead and to the left, m."""
    robots: tuple[SeenRobot, ...] = ()
    marks: tuple[SeenMark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A structure that a team-mate told (`Request.tell`)."""

    number: int
    """Who told it."""
    time: float
    """Time of the world at which it was told, s."""
    content: Mapping[str, Any]
    """A copy of what was told."""


@dataclass(frozen=True, kw_only=True)
class View:
    """All that a player is told when it decides."""

    time: float
    """Time of the world, which runs on when the game clock stops [s]."""
    cycle: int
    """How many decisions came before."""
    game: GameView
    """Play mode, game time and score; scores are of the left and the right end."""
    team: str
    """Name of the own team."""
    number: int
    """The player's own number."""
    side: Side
    """The end that the own team defends at present, as far as the player knows."""
    odometry: tuple[float, float, float]
    """How far it believes to have gone since the last decision: ahead, left, m, and turned left, rad."""
    head: tuple[float, float]
    """Where it looks: yaw to the left, pitch upwards, rad."""
    upright: bool
    """Whether it is on its feet."""
    doing: str
    """What its body does: stand, walk, kick, dive, fall, get up, ..."""
    see: Callable[[], Seen] = field(repr=False)
    """Makes what `seen` gives, when it is asked for."""
    sonar: tuple[float, float] | None = None
    """How far away something is ahead to the left and to the right, m; infinite if nothing is. None without sonar."""
    heard: tuple[Heard, ...] = ()
    """What others said since the last decision."""
    told: tuple[Told, ...] | None = None
    """Structures that team-mates told; None where the league carries none."""
    believe: Callable[[], Belief] = field(repr=False)
    """Makes what `belief` gives, when it is asked for."""
    belief_record: Records[BeliefRecord] | None = field(default=None, repr=False)
    """(1,) the belief as a record for compiled tactics, where the world keeps records."""
    shares_beliefs: bool = False
    """Whether the world tells players what their team-mates believe, so that they need not say it."""
    render: Callable[[], Mapping[str, Image]] | None = field(default=None, repr=False)
    """Gives `images`; None where there are no cameras."""

    @cached_property
    def seen(self) -> Seen:
        """What is in view."""
        return self.see()

    @cached_property
    def belief(self) -> Belief:
        """What the built-in tracker makes of all this: pose, ball and others with their uncertainty."""
        return self.believe()

    @cached_property
    def images(self) -> Mapping[str, Image] | None:
        """The pictures of the cameras `top` and `bottom`, (240, 320, 3) each; None where there are no cameras."""
        return None if self.render is None else self.render()


class Memory(dict[str, Any]):
    """What a player keeps in mind from one decision to the next: a dictionary, empty at first, and what it knows.

    Args:
        team: name of the own team.
        number: own number.
        players: how many the own team has.
        rules: the rule book, with the measures of the pitch.
        body: what its body can do.
        seed: of its random numbers; with a seed of the match, the same match every time.
    """

    def __init__(self, *, team: str, number: int, players: int, rules: Rules, body: Abilities, seed: int = 0) -> None:
        super().__init__()
        self.team, self.number, self.players = team, number, players
        self.rules, self.body, self.pitch = rules, body, rules.pitch
        self.rng = np.random.default_rng([seed, number, *team.encode()])
        """Its own random numbers."""


Decide = Callable[[View, Memory], Request]
"""A player: what it is told and remembers to what it wants."""


class Mind:
    """One player's `decide` with its memory and its log.

    Args:
        decide: who decides.
        team: name of the team.
        number: of the player.
        players: how many the team has.
        rules: the rule book, with the measures of the pitch.
        body: what its body can do.
        seed: of the player's random numbers.
        longest: a decision for which it computes longer is given up, s; 0 for never.
    """

    def __init__(
        self,
        decide: Decide,
        *,
        team: str,
        number: int,
        players: int,
        rules: Rules,
        body: Abilities,
        seed: int = 0,
        longest: float = MAX_DECISION_TIME,
    ) -> None:
        self.decide, self.longest, self._patience = decide, longest, longest
        self.memory = Memory(team=team, number=number, players=players, rules=rules, body=body, seed=seed)
        self.team, self.number = team, number
        self.belief: Belief | None = None
        """What it believed at its last decision; None before the first."""
        self.request: Request | None = None
        """What it wants; None before its first decision."""
        self.log: list[str] = []
        """Tracebacks of lost turns, the first `LOG` of them."""
        self.lost_turns = 0
        """How many turns were lost, in all."""

    def act(self, view: View) -> Request:
        """What the player wants; never raises."""
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
        self.belief, self.request = view.belief, request
        return request

    def _lose_turn(self, view: View, why: str) -> Request:
        """Stands, and keeps looking where it did."""
        self.lost_turns += 1
        if len(self.log) < MAX_LOG_ENTRIES:
            self.log.append(f"at {view.time:.2f} s number {view.number} of {view.team!r} lost its turn: {why}")
        look = self.request.look if self.request is not None else Look()
        return Request(legs=Stand(), look=look, intent="lost its turn")


def _checked_request(request: Request, *, tells: bool) -> Request:
    """A request, if a body can do something with it; `tells` says whether the world carries structures."""
    if not isinstance(request, Request):
        raise UsageError(f"decide answered {request!r:.80}; it must answer a Request.")
    _check_legs(request)
    if not isinstance(request.look, Look):
        raise UsageError(f"look is {request.look!r:.80}; it must be a Look.")
    _check_finite("look", request.look)
    if request.say is not None:
        checked_message(request.say)
    if request.tell is not None:
        if not tells:
            raise UsageError("the league carries no structures: `say` 20 characters instead of `tell`.")
        checked_structure(request.tell)
    if request.beam is not None and not (len(request.beam) == 3 and all(map(math.isfinite, request.beam))):
        raise UsageError(f"beam is {request.beam}; it must be three finite numbers.")
    return request


def checked_structure(content: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of what a player tells, if it is made of plain values and short enough."""
    try:
        text = json.dumps(dict(content), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{content!r:.80} cannot be told: {error}. Tell plain numbers, texts and lists.") from None
    if len(text) > MAX_TOLD_BYTES:
        raise UsageError(f"{len(text)} bytes cannot be told at once; at most {MAX_TOLD_BYTES} are carried.")
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
        raise UsageError(f"{legs}: one dives to the left or to the right.")


def _check_finite(what: str, thing: Walk | Look) -> None:
    for one in dataclasses.fields(thing):
        value = getattr(thing, one.name)
        if not isinstance(value, str) and not math.isfinite(value):
            raise UsageError(f"{what}: {one.name} is {value}; it must be finite.")


def own_name(mark: str, side: Side) -> str:
    """The name of a landmark as a team sees the pitch: from the right end, `G1L` is `G2R`."""
    if side is Side.LEFT:
        return mark
    return mark.translate(_TURNED)


_TURNED = str.maketrans("12LR", "21RL")
