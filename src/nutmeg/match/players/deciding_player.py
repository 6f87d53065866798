"""Players of the physical world: a `decide` in the body of the league's robot, and the built-in team.

    player = DecidingPlayer(decide, "reds", 2, PlayerSetup(walk=read_walk("final"), players=4))
    GameLoop(game, {("reds", 2): player}).run()
    player.log, player.belief, player.request

    GameLoop(game, by_number(make_team("final", 4, team="reds"), make_team("holonomic", 4, team="blues"))).run()

Observations come every 20 ms; `decide` is called with every fifth one, and its request holds in between. The built-in
team is the strategy `builtin` (`patient` for walks by parameters; `tactics`), which decides with every observation.
Players know only what the protocol sends them, and are deterministic: the same percepts give the same actions.
Sightings come from the last image, in the frame of the torso; crossings of lines are computed from the lines in it.
There are sonars and camera pictures only where the match has them (`PhysicalSetup.sonar` and `cameras`).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.players.decide import (
    MAX_DECISION_TIME,
    Abilities,
    Memory,
    Mind,
    Seen,
    SeenMark,
    SeenRobot,
    View,
    own_name,
)
from nutmeg.match.players.kicks import kick_ability
from nutmeg.match.players.limbs import LEG_TYPES, Limbs
from nutmeg.match.players.messages import decode, encode, report_of, speaks
from nutmeg.match.players.request import DECISION_INTERVAL, Request
from nutmeg.match.players.tactics.strategies import BUILTIN_NAME, PATIENT_NAME
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.players.tracking.league_sight import head_frame, spot
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules, pitch_of
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import ROBOT, Action
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.motion.dribble import check_dribblings
from nutmeg.motion.keyframes import check_motions
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Decide, MarkKind, Point
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import Heard, Percept, Player, Sight
    from nutmeg.model.ball import BallSettings
    from nutmeg.motion.walk.files import WalkParameters


_DEFAULT_WALK = "final"
DECISION_CYCLES = round(DECISION_INTERVAL / CONTROL_CYCLE)
"""Percepts from one decision to the next."""
LYING_HEAD_HEIGHT = 0.0
"""A robot whose head is lower than this, relative to the own torso, lies on the ground [m]."""
_CROSSING_GAP, _CROSSING_ANGLE = 0.12, math.radians(50.0)
"""Largest gap between two lines that form a junction [m], and least angle between them [rad]."""
_MAX_HEARD_BALL_AGE = 0.5  # the ball of a team-mate's report is ignored if it was seen longer ago than this [s]
POLICY_TYPES = (0, 2, 0, 2, 0, 2, 3, 0, 2, 0, 3)
"""Robot types by number for teams whose walk suits all types. The league allows at most seven robots of one type and
nine of any two, so that eleven need three types; types 0 and 2 get up most reliably (docs/howto/skills.md)."""
_BEAM_CYCLES = 3  # percepts between a request to be beamed and the arrival
_KICK_NEARER = 0.02  # how much nearer than the middle of the kick's area the ball should be [m]
CONTACT_DISTANCE = 0.48
"""Distance between the torsos of two robots within which they may touch, m. Arms and feet touch from 0.3 m on; a walk
needs the rest to stop while both turn about one ball."""
SHOT_TIME = 0.26
"""Time from the beginning of a shot to its hit, s (docs/howto/skills.md)."""


def league_abilities(ball: BallSettings, limbs: Limbs | None = None) -> Abilities:
    """The abilities of the league's robot with a walk and the kicks of its type; by default `final` and type 0."""
    limbs = limbs or Limbs(read_walk(_DEFAULT_WALK))
    pace, (ahead, side, turn, back) = limbs.pace, limbs.max_speed.tolist()
    body, nearer = limbs.kick_type, _KICK_NEARER + limbs.pace.settle
    return Abilities(
        ahead=ahead,
        back=back,
        side=side,
        turn=turn,
        ask=(ahead, back, side, turn),
        run=pace.run,
        push=pace.push,
        kick=kick_ability("straight", body=body, nearer=nearer, own=limbs.motions),
        short_kick=kick_ability("pass", body=body, nearer=nearer, own=limbs.motions),
        shot=kick_ability("shot", body=body, nearer=nearer, own=limbs.motions),
        shot_time=SHOT_TIME,
        can_kick=True,
        kick_time=1.15,
        swing_time=0.75,
        kick_ball_speed=0.5,
        stop_time=pace.stop_time,
        stop_linear=pace.stop[0],
        stop_quadratic=pace.stop[1],
        stop_aside=pace.stop_aside,
        ahead_gain=3.0,
        side_gain=5.0,
        dive_reach=0.75,
        dive_time=0.9,
        contact_distance=CONTACT_DISTANCE,
        wide_view=True,
        ball_slows=0.0,
        ball_damped=ball.rolling_damping,
    )


@dataclass(frozen=True, kw_only=True)
class PlayerSetup:
    """The body of a player of the physical world, and the match that it plays in."""

    walk: WalkParameters
    """The walk of its body."""
    players: int = MAX_PLAYERS
    """Number of players of its team; in a team of more than one, number 1 keeps the goal."""
    robot_type: int = 0
    """Type of the league's robot, 0 to 4."""
    field: str = "sim3d"
    """Name of the field it plays on."""
    rules: Rules | None = None
    """The rule book; by default that of the league, on this field."""
    seed: int = 0
    """Seed of the random numbers in its memory."""
    longest: float = MAX_DECISION_TIME
    """Limit of the processor time of a decision, s; 0 sets no limit."""
    motions: tuple[Path, ...] = ()
    """Folders with motions that it plays instead of those that come with Nutmeg (`keyframes.own_motions`)."""
    cycles: int = DECISION_CYCLES
    """Percepts from one decision to the next."""


class DecidingPlayer:
    """A player of the physical world.

    Args:
        decide: the function that decides.
        team: name of its team.
        number: its number.
        setup: its body, and the match.
    """

    def __init__(self, decide: Decide, team: str, number: int, setup: PlayerSetup) -> None:
        self.team, self.number, self.robot_type, self._cycles = team, number, setup.robot_type, setup.cycles
        ground = load_field(setup.field)
        ball = load_ball(ground.ball)
        self.limbs = Limbs(setup.walk, setup.robot_type, motions=setup.motions)
        memory = Memory(
            team=team,
            number=number,
            players=setup.players,
            rules=setup.rules or load_rules("sim3d").on(pitch_of(ground, ball)),
            body=league_abilities(ball, self.limbs),
            seed=setup.seed,
        )
        self.mind = Mind(decide, memory, longest=setup.longest)
        self.senses = LeagueTracker(ground, team=team, number=number)
        self.belief: Belief | None = None
        """Its belief; None before its first percept."""
        self.request = Request()
        """Its last request."""
        self._percepts = self._decisions = 0
        self._beamed_at = -_BEAM_CYCLES
        self._moved = np.zeros(3)
        self._seen: tuple[Sight, Floats] | None = None
        self._heard: list[Heard] = []
        self._sonar: tuple[float, float] | None = None
        self._say: str | None = None
        self._reported = False

    @property
    def log(self) -> list[str]:
        """Tracebacks of lost turns."""
        return self.mind.log

    @property
    def lost_turns(self) -> int:
        """Number of lost turns."""
        return self.mind.lost_turns

    def act(self, percept: Percept) -> Action:
        """The action of this cycle, from what is perceived; decisions are made every few cycles."""
        self.number = percept.game.number or self.number
        self._listen(percept)
        limbs, senses = self.limbs, self.senses
        self.belief = senses.update(percept, limbs.odometry, upright=limbs.upright)
        self._go_on(limbs.odometry)
        if percept.sight is not None:
            self._seen = percept.sight, percept.angles
        if percept.sonar is not None:
            self._sonar = percept.sonar
        beam = None
        if self._percepts % self._cycles == 0:
            self.request = request = self.mind.act(self._view(percept, self.belief))
            self._say, beam = request.say or self._say, request.beam
        self._percepts += 1
        speeds = limbs.act(percept, self.request.legs, self.request.look)
        if beam is not None:
            senses.beamed(beam[0], beam[1])
            self._beamed_at = self._percepts
        elif self._percepts - self._beamed_at == _BEAM_CYCLES:
            limbs.put_up()
        wants_pass = self.request.wants_pass
        return Action(speeds=speeds, beam=beam, say=self._speak(percept.time), wants_pass=wants_pass)

    @property
    def _side(self) -> Side:
        return Side.LEFT if self.senses.side is None else self.senses.side

    def _go_on(self, step: tuple[float, float, float]) -> None:
        """Adds a step to the way since the last decision, in the frame of that decision's end."""
        c, s = math.cos(step[2]), math.sin(step[2])
        x, y, turn = self._moved.tolist()
        x, y = x + step[0], y + step[1]
        self._moved[:] = c * x + s * y, c * y - s * x, turn + step[2]

    def _view(self, percept: Percept, belief: Belief) -> View:
        """The view for `decide`; sightings, messages and odometry begin anew after it."""
        yaw, pitch = np.radians(percept.angles[:2]).tolist()
        ahead, left, turn = self._moved.tolist()
        c, s = math.cos(turn), math.sin(turn)
        seen, side = self._seen, self._side

        def see() -> Seen:
            return Seen() if seen is None else _seen_from_torso(*seen, self.team, self.number, side)

        view = View(
            time=percept.time,
            cycle=self._decisions,
            game=percept.game,
            team=self.team,
            number=self.number,
            side=side,
            odometry=(c * ahead - s * left, s * ahead + c * left, turn),
            head=(yaw, pitch),
            upright=self.limbs.upright,
            doing=self.limbs.doing,
            see=see,
            sonar=self._sonar,
            heard=tuple(self._heard),
            believe=lambda: belief,
            belief_record=self.senses.record,
            render=percept.render,
        )
        self._decisions += 1
        self._seen, self._heard = None, []
        self._moved[:] = 0.0
        return view

    # ---- messages

    def _listen(self, percept: Percept) -> None:
        """Uses the reports of team-mates, and keeps all messages for `decide`."""
        for heard in percept.hears:
            if heard.direction is None:
                continue
            self._heard.append(heard)
            report = decode(heard.message, percept.time) if heard.team == self.team else None
            if report is not None and report.number != self.number:
                ball = report.ball if report.ball_age < _MAX_HEARD_BALL_AGE else None
                self.senses.hear_mate(report.number, report.place, ball, max(percept.time - report.time, 0.0))

    def _speak(self, time: float) -> str | None:
        """The message of this cycle if it is the player's turn: in turns what `decide` says, and a report."""
        if not speaks(number=self.number, players=self.mind.memory.players, time=time):
            return None
        if self._say is not None and (self._reported or decode(self._say) is not None):
            said, self._say, self._reported = self._say, None, False
            return said
        self._reported = True
        return encode(report_of(self.number, time, self.senses.record[0]))


def _seen_from_torso(sight: Sight, angles: Floats, team: str, number: int, side: Side) -> Seen:
    """The sightings of an image in the torso's frame, for joints at these angles [degrees]."""
    camera = head_frame(*np.radians(angles[:2]).tolist())

    def place(polar: Floats) -> Point:
        x, y, _ = spot(polar, camera).tolist()
        return x, y

    spots = {label: place(polar) for label, polar in zip(sight.labels, sight.marks, strict=True)}
    ball = spots.pop("B", None)
    robots = []
    for whose, who, parts in zip(sight.teams, sight.numbers, sight.parts, strict=True):
        if (whose, who) == (team, number):
            continue
        known = parts[np.isfinite(parts[:, 0])]
        if not len(known):
            continue
        points = np.array([spot(polar, camera) for polar in known])
        lying = bool(np.isfinite(parts[0, 0])) and float(points[0, 2]) < LYING_HEAD_HEIGHT
        x, y = points[:, :2].mean(axis=0).tolist()
        robots.append(SeenRobot(place=(x, y), mate=whose == team, number=who, lying=lying))
    lines = [(place(start), place(end)) for start, end in sight.lines]
    return Seen(
        ball=ball,
        robots=tuple(robots),
        marks=(*(_mark(own_name(label, side), where) for label, where in spots.items()), *crossings(lines)),
    )


def _mark(name: str, place: Point) -> SeenMark:
    """A landmark of the league by its name in the own team's frame."""
    posts: dict[str, MarkKind] = {"L": "own post", "R": "their post"}
    return SeenMark(kind=posts[name[-1]] if name.startswith("G") else "corner", place=place, name=name)


def crossings(lines: Sequence[tuple[Point, Point]]) -> tuple[SeenMark, ...]:
    """The junctions of straight lines, each given by its two ends."""
    found = []
    for i, (a, b) in enumerate(lines):
        for c, d in lines[i + 1 :]:
            crossing = _crossing(a, b, c, d)
            if crossing is not None:
                found.append(crossing)
    return tuple(found)


def _crossing(a: Point, b: Point, c: Point, d: Point) -> SeenMark | None:
    first, second = math.dist(a, b), math.dist(c, d)
    if min(first, second) < 2 * _CROSSING_GAP:
        return None
    ux, uy, vx, vy = (b[0] - a[0]) / first, (b[1] - a[1]) / first, (d[0] - c[0]) / second, (d[1] - c[1]) / second
    sine = ux * vy - uy * vx
    if abs(sine) < math.sin(_CROSSING_ANGLE):
        return None
    dx, dy = c[0] - a[0], c[1] - a[1]
    along_first, along_second = (dx * vy - dy * vx) / sine, (dx * uy - dy * ux) / sine
    if not (
        -_CROSSING_GAP <= along_first <= first + _CROSSING_GAP
        and -_CROSSING_GAP <= along_second <= second + _CROSSING_GAP
    ):
        return None
    through = sum(
        _CROSSING_GAP < along < length - _CROSSING_GAP
        for along, length in ((along_first, first), (along_second, second))
    )
    kinds: tuple[MarkKind, ...] = ("L", "T", "X")
    return SeenMark(place=(a[0] + along_first * ux, a[1] + along_first * uy), kind=kinds[through])


# ----------------------------------------------------------------------------------------------------
# The built-in team: its players by the name of a walk. Teams are not bound to a side.


def team_player(team: str, number: int, setup: PlayerSetup, strategy: str = "") -> DecidingPlayer:
    """A player of the built-in team; it decides with every percept, without a time limit.

    Without a strategy, walks by parameters play `patient`, because with `builtin` they fall twice as often.
    """
    decide = strategy_decide(strategy or (PATIENT_NAME if setup.walk.policy is None else BUILTIN_NAME))
    return DecidingPlayer(decide, team, number, dataclasses.replace(setup, cycles=1, longest=0.0))


def make_team(
    walk: str,
    players: int,
    *,
    team: str = "",
    types: Sequence[int] | None = None,
    field: str = "sim3d",
    strategy: str = "",
    motions: tuple[Path, ...] = (),
) -> list[DecidingPlayer]:
    """The players of a built-in team, number 1 first.

    Args:
        walk: name or file of their walk.
        players: number of players, 1 to 11; in a team of more than one, number 1 keeps the goal.
        team: name of the team, as the game knows it; the name of the walk if empty.
        types: types of their robots, in turn; by default `usual_types`.
        field: the name of the field they play on.
        strategy: the name of their strategy; by default that of their kind of walk, see `team_player`.
        motions: folders with motions that they play instead of those that come with Nutmeg.
    """
    if not 1 <= players <= MAX_PLAYERS:
        raise UsageError(f"a team of {players} cannot play; allowed are 1 to {MAX_PLAYERS} players.")
    setup = PlayerSetup(walk=read_walk(walk), players=players, field=field, motions=motions)
    types = usual_types(setup.walk) if types is None else types
    if not types:
        raise UsageError("a team needs at least one robot type.")
    check_team_motions(motions, setup.walk, types, players)
    return [
        team_player(team or walk, n + 1, dataclasses.replace(setup, robot_type=types[n % len(types)]), strategy)
        for n in range(players)
    ]


def usual_types(walk: WalkParameters) -> Sequence[int]:
    """Types of the robots of a built-in team, in turn: with walks by parameters other types than 0 fall."""
    return (0,) if walk.policy is None else POLICY_TYPES


def check_team_motions(motions: Sequence[Path], walk: WalkParameters, types: Sequence[int], players: int) -> None:
    """Refuses motions that a team with a walk and robots of these types, in turn, cannot play."""
    kinds = [LEG_TYPES[types[n % len(types)]] for n in range(players)]
    check_motions(motions, ROBOT, kinds)
    check_dribblings(motions, ROBOT, walk.name, kinds)


def by_number(left: Sequence[DecidingPlayer], right: Sequence[DecidingPlayer]) -> dict[tuple[str, int], Player]:
    """The players of two teams by team and number, as `GameLoop` takes them; the left team first."""
    names = {player.team for player in left}, {player.team for player in right}
    if names[0] & names[1]:
        raise UsageError(f"both teams are called {min(names[0] & names[1])!r}; two names are needed.")
    return {(player.team, player.number): player for player in (*left, *right)}
