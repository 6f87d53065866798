"""Plays halves of two strategies of the built-in team in one process, and counts goals, falls, shots and fouls.

    .venv/bin/python scripts/team_games.py --out games.jsonl --teams builtin patient --seeds 51000 51003
    .venv/bin/python scripts/team_games.py --out games.jsonl --teams builtin builtin:brake_time=0.7,room=0.6 --seeds 1 1
    .venv/bin/python scripts/team_games.py --out games.jsonl --teams builtin builtin:walk=policy-fast --seeds 1 8

A team is a strategy, with parameters after a colon that differ; `walk` is the walk, `policy` if not said. Even seeds
let the first team play from the left, odd ones the second; who plays from the left kicks off. Each half is a line of
JSON, with what each team did in the order of `--teams`. `--summary` prints the table of a file that is there, with 95 %
intervals (Student's t, halves).

A fall is a torso that leans more than 60 degrees for 0.32 s, and counts again after 0.8 s upright. Its cause is what
happened in the second before it leaned: it was put somewhere (`beam`), it dived, another robot was nearer than
`CONTACT_DISTANCE`, or nothing of these (`alone`). A shot is a ball that would roll into the goal within `SHOT_TIME`,
faster than `SHOT_SPEED`. A goal is from open play if no restart was taken in the `OPEN_PLAY_TIME` before. The ball is
stuck while it hardly moves between players of both teams (`STUCK_WAY`). Beliefs are compared with the truth every
0.2 s: the own place, the ball within 3 m, and place and velocity of opponents within 3 m that were seen in the last
0.3 s.

With `--sonar`, robots have sonars, which the league has not, and every player has a second tracker that gets the same
percepts without them. Both are compared with the truth where sonar can help: standing opponents within `NEAR_DISTANCE`
that are not in the player's last image (`hidden`), those of them that are ahead, where the cones are (`ahead`), and
opponents that are believed to be near where nobody is (`ghosts`).

With `--shoot-outs`, they play penalty shoot-outs: five kicks each, a keeper and two kickers a side.

    .venv/bin/python scripts/team_games.py --out kicks.jsonl --shoot-outs --seeds 1 6

With `--duels`, two robots meet again and again instead, which needs a hundredth of the time: a player of the first team
with the ball meets the second team's keeper (`goal`), or two players run for the same ball (`ball`). With `post`, the
ball lies at a goal post between a player and the keeper, and a team-mate of the player stands free 2 to 3 m away.

    .venv/bin/python scripts/team_games.py --out duels.jsonl --duels goal --tries 40 --teams builtin patient --seeds 1 1
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections import Counter, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import POLICY_TYPES, DecidingPlayer, PlayerSetup
from nutmeg.match.players.tactics.strategies import Strategy, strategy
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import LIVE, PlayMode
from nutmeg.match.rules.slots import SLOTS
from nutmeg.model.field import load_field
from nutmeg.motion.walk.files import read_walk
from nutmeg.view.match_story import SHOT_BESIDE, SHOT_SPEED, SHOT_TIME

if TYPE_CHECKING:
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.worlds.physical.percept import Percept

DOWN, FALL_TIME, UPRIGHT_TIME = 0.5, 0.32, 0.8
"""Cosine of the lean of a fallen torso, how long it leans [s], and how long one is upright that can fall again [s]."""
LEANING = 0.8
"""Cosine of the lean at which a fall begins; the second before it tells the cause."""
SHOT_PAUSE = 2.0
"""Two shots at a goal are at least this far apart [s]."""
CONTACT_DISTANCE = 0.5
"""Torsos nearer to each other than this count as a contact [m]."""
JUMP = 0.2
"""A robot that is this far from where it was a cycle before was put there [m]."""
DIVE_TIME = 2.0
"""Who leans so soon after a dive falls by it [s]."""
STUCK_WAY, STUCK_TIME, STUCK_DISTANCE = 0.2, 2.0, 0.6
"""A ball is stuck that moves less than the first [m] in the second [s] with a player of each team so near to it [m]."""
OPEN_PLAY_TIME = 5.0
"""A goal is one from open play if play has gone on for this time without a restart [s]."""
MAX_TRY_TIME, REST_TIME = 12.0, 2.4
"""The longest duel, and the time after it in which robots get up [s]."""
WON_DISTANCE = 3.0
"""A duel for the ball is won by who has brought it this much farther [m]."""
NEAR_DISTANCE = 0.9
"""Distance within which sonars may hear an opponent: their range, and half a robot [m]."""
CONE_EDGE = math.radians(28.5)
"""Direction of the outer edge of a sonar's cone from straight ahead [rad]."""
GHOST_DISTANCE = 0.5
"""A believed opponent with nobody within this distance is a ghost [m]."""
FREE_DISTANCE = 1.0
"""A ball at a post is free when it is this far from where it lay [m]."""
DUEL_NUMBERS = {"goal": ((2,), (1,)), "ball": ((2,), (2,)), "post": ((2, 3), (1,))}
"""Numbers of the players of both teams in each kind of duel."""
CYCLE = 0.02
NAMES = ("first", "second")


@dataclasses.dataclass
class Body:
    """What a player's torso did lately, and its falls."""

    down: float = 0.0
    upright: float = 1.0
    can_fall: bool = True
    began: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What was noted when it began to lean."""
    leans: bool = False
    dived: float = -math.inf
    past: deque[tuple[Any, Any]] = dataclasses.field(default_factory=lambda: deque(maxlen=50))
    """Places and velocities of all robots (22, 2) in the last second."""


class Team(NamedTuple):
    """A team."""

    name: str
    strategy: Strategy
    walk: str = "policy"


def team_of(text: str) -> Team:
    """A team from its strategy, and what differs."""
    name, _, changes = text.partition(":")
    try:
        base = strategy(name)
    except UnknownNameError as error:
        raise SystemExit(str(error)) from None
    values, walk = {}, "policy"
    for change in filter(None, changes.split(",")):
        key, _, value = change.partition("=")
        if key == "walk":
            walk = value
            continue
        allowed = sorted(field.name for field in dataclasses.fields(base))
        if key not in allowed:
            raise SystemExit(f"{text}: a strategy has no parameter {key!r}; it has {', '.join(allowed)}, and walk.")
        try:
            values[key] = type(getattr(base, key))(float(value))
        except ValueError:
            raise SystemExit(f"{text}: {key}={value!r} is no number; write for instance {key}=0.5.") from None
    return Team(text, dataclasses.replace(base, **values), walk)


def cause_of(body: Body, slot: int, now: float, player: DecidingPlayer) -> dict[str, Any]:
    """Why a robot leans that begins to."""
    nearest, other, closing = math.inf, -1, 0.0
    for places, _ in body.past:
        gaps = np.hypot(*(places - places[slot]).T)
        gaps[slot] = np.inf
        k = int(np.nanargmin(gaps))
        if gaps[k] < nearest:
            nearest, other = float(gaps[k]), k
    if other >= 0:  # the highest closing speed of the second, before the collision has taken it away
        closing = max(
            float((velocities[slot] - velocities[other]) @ (places[other] - places[slot]))
            / max(float(np.hypot(*(places[other] - places[slot]))), 1e-6)
            for places, velocities in body.past
        )
    speeds = [float(np.hypot(*velocities[slot])) for _, velocities in body.past]
    way = np.array([places[slot] for places, _ in body.past])
    put = len(way) > 1 and float(np.hypot(*np.diff(way, axis=0).T).max()) > JUMP
    dived = now - body.dived < DIVE_TIME
    cause = "beam" if put else "dive" if dived else "contact" if nearest < CONTACT_DISTANCE else "alone"
    return {
        "time": round(now, 2),
        "slot": slot,
        "cause": cause,
        "nearest": round(nearest, 2),
        "other": other,
        "mate": other // 11 == slot // 11,
        "closing": round(closing, 2),
        "speed": round(max(speeds, default=0.0), 2),
        "intent": player.request.intent,
        "doing": player.limbs.doing,
        "place": [round(float(v), 2) for v in body.past[-1][0][slot]],
    }


class FallWatch:
    """Counts the falls of the robots of a game.

    Args:
        loop: the game and its players.
    """

    def __init__(self, loop: GameLoop) -> None:
        self._loop, self._bodies = loop, {slot: Body() for slot in loop.players}
        self.falls: list[dict[str, Any]] = []
        """All falls, with their causes."""

    def note(self) -> None:
        """Takes up a cycle."""
        game = self._loop.game
        world, now = game.world, game.time
        data, seats = world.ground.world.data, world.ground.seats["torso"]
        places, velocities = world.position[:, :2].copy(), world.velocity[:, :2].copy()
        places[~world.present] = np.nan
        for slot, player in self._loop.players.items():
            body, lean = self._bodies[slot], float(data.xmat[seats[world.seat_of[slot]]][8])
            body.past.append((places, velocities))
            if player.limbs.doing == "dive":
                body.dived = now
            if lean < LEANING and not body.leans:
                body.began = cause_of(body, slot, now, player)
            body.leans = lean < LEANING
            if lean < DOWN:
                body.down, body.upright = body.down + CYCLE, 0.0
                if body.down >= FALL_TIME and body.can_fall:
                    body.can_fall = False
                    self.falls.append(body.began)
            else:
                body.down, body.upright = 0.0, body.upright + CYCLE
                body.can_fall |= body.upright >= UPRIGHT_TIME


def player_of(which: Team, team: str, number: int, players: int) -> DecidingPlayer:
    """A player of a team."""
    setup = PlayerSetup(
        walk=read_walk(which.walk), players=players, robot_type=POLICY_TYPES[number - 1], cycles=1, longest=0.0
    )
    return DecidingPlayer(strategy_decide(which.strategy), team, number, setup)


class BothTrackers:
    """The tracker of a player that hears its sonars, and a second one that does not; both get everything else."""

    def __init__(self, senses: LeagueTracker, deaf: LeagueTracker) -> None:
        self.hearing, self.deaf, self.image = senses, deaf, frozenset[tuple[str, int]]()
        """`image` has the robots (team and number) in the last image."""

    def update(self, percept: Percept, odometry: tuple[float, float, float], *, upright: bool) -> Belief:
        """Takes a percept; the player acts by the belief of the tracker that hears."""
        if percept.sight is not None:
            self.image = frozenset(zip(percept.sight.teams, percept.sight.numbers, strict=True))
        self.deaf.update(percept._replace(sonar=None), odometry, upright=upright)
        return self.hearing.update(percept, odometry, upright=upright)

    def hear_mate(self, *report: Any) -> None:  # noqa: ANN401 (as of `LeagueTracker`)
        """Takes the report of a team-mate."""
        self.deaf.hear_mate(*report)
        self.hearing.hear_mate(*report)

    def beamed(self, x: float, y: float) -> None:
        """The player asks to be beamed."""
        self.deaf.beamed(x, y)
        self.hearing.beamed(x, y)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.hearing, name)


class Half:
    """One half, and what is counted in it."""

    def __init__(
        self, teams: tuple[Team, ...], seed: int, players: int, seconds: float, *, sonar: bool = False
    ) -> None:
        rules = load_rules("sim3d").with_match(
            players=players, half_length=seconds, halves=1, automatic_kick_off=True, wait_before_kick_off=3.0
        )
        self.order = (0, 1) if seed % 2 == 0 else (1, 0)
        self.game = Game(
            rules,
            seed=seed,
            setup=PhysicalSetup(sonar=sonar),
            left=NAMES[self.order[0]],
            right=NAMES[self.order[1]],
            seats=2 * players,
        )
        self.loop = GameLoop(
            self.game,
            {
                (NAMES[k], n): player_of(teams[k], NAMES[k], n, players)
                for k in self.order
                for n in range(1, players + 1)
            },
        )
        for player in self.loop.players.values() if sonar else ():
            deaf = LeagueTracker(load_field("sim3d"), team=player.team, number=player.number)
            player.senses = BothTrackers(player.senses, deaf)
        self.sonar = {
            name: {kind: [] for kind in ("hidden", "ahead", "ghosts", "near")} for name in ("with", "without")
        }
        self.seconds, self.watch = seconds, FallWatch(self.loop)
        self.counts = {name: Counter[str]() for name in NAMES}
        self.before = np.zeros((SLOTS, 3)), np.zeros((SLOTS, 3)), np.zeros(3)
        """Places and velocities of the robots, and the place of the ball, before the last cycle."""
        self.shot_at, self.ball_x, self.cycles = [-math.inf, -math.inf], [], 0
        self.restart, self.goals = ("", 0.0), list[dict[str, Any]]()
        """The mode from which play went on last, with the time, and all goals."""
        self.ball_past: deque[Any] = deque(maxlen=round(STUCK_TIME / CYCLE))
        """Places of the ball (2,) in play."""
        self.stuck = 0.0
        self.errors: dict[str, list[float]] = {name: [] for name in ("place", "ball", "other", "velocity", "speed")}

    def play(self) -> dict[str, Any]:
        """Plays it to its end."""
        while not self.game.over and self.game.state.time < self.seconds - 1e-6:
            world, mode = self.game.world, self.game.state.mode
            # Beliefs are of the cycle before, which percepts show.
            self.before = world.position.copy(), world.velocity.copy(), world.ball.copy()
            self.loop.cycle()
            self.cycles += 1
            if self.game.state.mode in LIVE and mode not in LIVE:
                self.restart = mode.wire_name, self.game.state.time
            self._note_events()
            self.watch.note()
            if self.game.state.mode == PlayMode.PLAY_ON:
                self._note_shots()
                self._note_stuck()
            else:
                self.ball_past.clear()
            if self.cycles % 10 == 0:
                self._compare()
        self.game.close()
        return self._result()

    def _team(self, slot: int) -> str:
        return NAMES[self.order[slot // 11]]

    def _note_events(self) -> None:
        for event in self.game.events:
            side = event.side
            team = "" if side is None else NAMES[self.order[int(side)]]
            if team:
                self.counts[team][event.kind] += 1
                if event.kind == "goal":
                    time, (after, since) = self.game.state.time, self.restart
                    self.goals.append(
                        {"team": team, "time": round(time, 1), "after": after, "played": round(time - since, 1)}
                    )

    def _note_stuck(self) -> None:
        world = self.game.world
        ball = world.ball[:2].copy()
        if len(self.ball_past) == self.ball_past.maxlen and np.hypot(*(ball - self.ball_past[0])) < STUCK_WAY:
            near = world.present & (np.hypot(*(world.position[:, :2] - ball).T) < STUCK_DISTANCE)
            if near[:11].any() and near[11:].any():
                self.stuck += CYCLE
        self.ball_past.append(ball)

    def _note_shots(self) -> None:
        world, pitch = self.game.world, self.game.rules.pitch
        (x, y), (u, v) = world.ball[:2].tolist(), world.ball_velocity[:2].tolist()
        self.ball_x.append(x if self.order[0] == 0 else -x)
        if abs(u) < SHOT_SPEED:
            return
        side = 0 if u > 0 else 1  # the side that shoots
        time = (math.copysign(pitch.length / 2, u) - x) / u
        if 0.0 < time < SHOT_TIME and abs(y + time * v) < pitch.goal_width / 2 + SHOT_BESIDE:
            if self.game.time - self.shot_at[side] > SHOT_PAUSE:
                self.counts[NAMES[self.order[side]]]["shots"] += 1
            self.shot_at[side] = self.game.time

    def _compare(self) -> None:
        """Compares what players believe with what is."""
        world, (position, velocity, true_ball) = self.game.world, self.before
        for slot, player in self.loop.players.items():
            belief, sign = player.senses.record[0], 1.0 if slot < 11 else -1.0
            if not belief.upright or not player.senses.known:
                continue
            at = sign * position[slot, :2]
            self.errors["place"].append(math.hypot(belief.x - at[0], belief.y - at[1]))
            ball = sign * true_ball[:2]
            if belief.seen_ago < 0.1 and np.hypot(*(ball - at)) < 3.0:
                self.errors["ball"].append(math.hypot(belief.ball_x - ball[0], belief.ball_y - ball[1]))
            for k in range(11):
                other, row = belief.others[11 + k], (11 if slot < 11 else 0) + k
                if not world.present[row] or not other.age < 0.3:
                    continue
                there, moves = sign * position[row, :2], sign * velocity[row, :2]
                if np.hypot(*(there - at)) > 3.0 or position[row, 2] < 0.25:
                    continue
                self.errors["other"].append(math.hypot(other.x - there[0], other.y - there[1]))
                self.errors["velocity"].append(math.hypot(other.vx - moves[0], other.vy - moves[1]))
                self.errors["speed"].append(math.hypot(*moves))

            if isinstance(player.senses, BothTrackers):
                self._compare_sonar(slot, player, sign)

    def _compare_sonar(self, slot: int, player: DecidingPlayer, sign: float) -> None:
        """Compares beliefs with and without sonar about opponents that are near."""
        world, (position, _, _) = self.game.world, self.before
        at, first, team = position[slot, :2], 11 if slot < 11 else 0, self.game.teams[1 if slot < 11 else 0]
        turn = world.ground.world.data.xmat[world.ground.seats["torso"][world.seat_of[slot]]]
        standing = world.present & (position[:, 2] > 0.25)
        others = np.flatnonzero(world.present & (np.arange(SLOTS) != slot))
        for name, senses in (("with", player.senses.hearing), ("without", player.senses.deaf)):
            believed, found = senses.record[0].others[11:], self.sonar[name]
            for k in range(11):
                place = sign * np.array([believed[k].x, believed[k].y])
                row, known = first + k, bool(believed[k].age < 5.0)
                if known and believed[k].age < 1.0 and np.hypot(*(place - at)) < NEAR_DISTANCE:
                    gaps = np.hypot(*(position[others, :2] - place).T)
                    found["ghosts"].append(float(gaps.min() > GHOST_DISTANCE))
                if not standing[row] or np.hypot(*(position[row, :2] - at)) > NEAR_DISTANCE:
                    continue
                error = float(np.hypot(*(place - position[row, :2]))) if known else math.inf
                if (team, k + 1) in player.senses.image:
                    found["near"].append(error)
                    continue
                found["hidden"].append(error)
                x, y = (position[row, :2] - at).tolist()
                if abs(math.atan2(turn[0] * y - turn[3] * x, turn[0] * x + turn[3] * y)) < CONE_EDGE:
                    found["ahead"].append(error)

    def _result(self) -> dict[str, Any]:
        left, right = self.game.state.score
        score = (left, right) if self.order[0] == 0 else (right, left)
        return {
            "seconds": round(self.game.state.time, 2),
            "score": list(score),
            "goals": self.goals,
            "stuck": round(self.stuck, 1),
            "ball_x": round(float(np.mean(self.ball_x)), 2) if self.ball_x else None,
            **{name: dict(sorted(self.counts[name].items())) for name in NAMES},
            "falls": [{"team": self._team(fall["slot"]), **fall} for fall in self.watch.falls],
            "sonar": self.sonar,
            "errors": {
                name: [len(some), *(round(float(np.quantile(some, q)), 4) for q in (0.5, 0.95))] if some else None
                for name, some in self.errors.items()
            },
        }


class Duels:
    """Tries in which a player of the first team meets one of the second, each until somebody has won or time is over.

    Args:
        teams: the teams.
        seed: of places and noise.
        kind: `goal`: a player with the ball, 2 to 6 m before a goal, meets the keeper. `ball`: two players are equally
            far from a ball in the middle of the pitch. `post`: a player and the keeper stand on both sides of a ball at
            a goal post, and a team-mate of the player 2 to 3 m before the goal line.
    """

    def __init__(self, teams: tuple[Team, ...], seed: int, kind: str) -> None:
        self.kind, self.rng = kind, np.random.default_rng(seed)
        numbers = DUEL_NUMBERS[kind]
        self.game = Game(
            load_rules("sim3d"), seed=seed, left=NAMES[0], right=NAMES[1], seats=sum(len(some) for some in numbers)
        )
        self.loop = GameLoop(
            self.game,
            {
                (NAMES[k], n): player_of(teams[k], NAMES[k], n, max(2, *numbers[k]))
                for k in range(2)
                for n in numbers[k]
            },
        )
        self.watch, self.seconds, self.won = FallWatch(self.loop), 0.0, [0, 0]
        self.freed: list[float] = []
        """How long it took until the ball at a post was free or in the goal [s]."""

    def play(self, tries: int) -> dict[str, Any]:
        """Plays a number of tries."""
        for _ in range(tries):
            self._try(*{"goal": self._before_goal, "ball": self._at_ball, "post": self._at_post}[self.kind]())
        self.game.close()
        # Robots are put somewhere before each try; a keeper falls by its dives.
        falls = [fall for fall in self.watch.falls if fall["cause"] in ("contact", "alone")]
        counts = [sum(fall["slot"] // 11 == k for fall in falls) for k in range(2)]
        told = {"tries": tries, "seconds": round(self.seconds, 1), "won": self.won, "fell": counts, "falls": falls}
        if self.kind == "post":
            told["freed"] = [len(self.freed), round(sum(self.freed) + MAX_TRY_TIME * (tries - len(self.freed)), 1)]
        return told

    def _before_goal(self) -> tuple[Any, Any, Any]:
        """Places of the ball (2,), and of both players (3,) with their headings, rad."""
        rng, end = self.rng, self.game.rules.pitch.length / 2
        away, aside = rng.uniform(2.0, 6.0), rng.uniform(-2.5, 2.5)
        aim = math.atan2(-0.8 * aside, away) + rng.uniform(-0.5, 0.5)
        ball = np.array([end - away, aside])
        return ball, (*(ball - 0.5 * np.array([math.cos(aim), math.sin(aim)])), aim), (end - 0.7, 0.12 * aside, math.pi)

    def _at_ball(self) -> tuple[Any, Any, Any]:
        """Likewise: the players stand 1 to 2 m from the ball, at most 0.2 m apart in their distance."""
        rng, ball = self.rng, self.rng.uniform(-1.0, 1.0, 2)
        far, way = rng.uniform(1.0, 2.0), rng.uniform(-0.8, 0.8, 2)
        gaps = far + rng.uniform(-0.1, 0.1, 2)
        first = ball - gaps[0] * np.array([math.cos(way[0]), math.sin(way[0])])
        second = ball + gaps[1] * np.array([math.cos(way[1]), math.sin(way[1])])
        return ball, (*first, way[0]), (*second, way[1] + math.pi)

    def _at_post(self) -> tuple[Any, Any, Any, Any]:
        """Likewise: the ball lies at a post, the keeper 0.4 m from it towards the goal, and the player opposite."""
        rng, pitch = self.rng, self.game.rules.pitch
        side = rng.choice((-1.0, 1.0))
        ball = np.array(
            [pitch.length / 2 - rng.uniform(0.35, 0.7), side * (pitch.goal_width / 2 - rng.uniform(-0.1, 0.4))]
        )
        aim = -side * rng.uniform(0.3, 1.1)  # from the player over the ball to the keeper
        unit = np.array([math.cos(aim), math.sin(aim)])
        back = math.pi - side * rng.uniform(-0.3, 0.6)
        mate = ball + rng.uniform(2.0, 3.0) * np.array([math.cos(back), -abs(math.sin(back)) * side])
        return (
            ball,
            (*(ball - 0.4 * unit), aim),
            (*mate, math.atan2(*(ball - mate)[::-1])),
            (*(ball + 0.4 * unit), aim + math.pi),
        )

    def _try(self, ball: Any, *poses: Any) -> None:  # noqa: ANN401 (arrays of any numbers)
        game, score = self.game, self.game.state.score
        # Before a kick-off, as after a goal, players would beam themselves to where they line up.
        game.place_ball((*ball.tolist(), game.world.ball_radius), (0.0, 0.0, 0.0))
        game.set_play_mode(PlayMode.PLAY_ON)
        for _ in range(2):  # players see where they are before it begins
            for slot, (x, y, heading) in zip(self.loop.players, poses, strict=True):
                game.place_player(slot, (float(x), float(y), 0.38), math.degrees(heading))
            for _ in range(15):
                self._cycle()
        game.set_play_mode(PlayMode.PLAY_ON)
        game.place_ball((*ball.tolist(), game.world.ball_radius), (0.0, 0.0, 0.0))
        free = False
        for k in range(round(MAX_TRY_TIME / CYCLE)):
            self._cycle()
            self.seconds += CYCLE
            way = game.world.ball[0] - ball[0]
            over = abs(way) > WON_DISTANCE if self.kind == "ball" else way < -WON_DISTANCE
            over = over or game.state.score != score or game.state.mode != PlayMode.PLAY_ON
            if not free and (over or np.hypot(*(game.world.ball[:2] - ball)) > FREE_DISTANCE):
                free = True
                self.freed.append((k + 1) * CYCLE)
            if over:
                break
        if self.kind != "ball":
            self.won[0] += game.state.score != score
        elif abs(way) > WON_DISTANCE:
            self.won[0 if way > 0.0 else 1] += 1
        for _ in range(round(REST_TIME / CYCLE)):
            self._cycle()

    def _cycle(self) -> None:
        self.loop.cycle()
        self.watch.note()


def shoot_out(teams: tuple[Team, ...], seed: int) -> dict[str, Any]:
    """A penalty shoot-out: goals of both teams, and how each kick ended, with the highest speed of its ball."""
    rules = load_rules("sim3d").with_match(
        players=3, half_length=0.5, halves=1, automatic_kick_off=True, wait_before_kick_off=0.1
    )
    rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=True, most_rounds=5))
    order = (0, 1) if seed % 2 == 0 else (1, 0)
    game = Game(rules, seed=seed, left=NAMES[order[0]], right=NAMES[order[1]], seats=6)
    loop = GameLoop(game, {(NAMES[k], n): player_of(teams[k], NAMES[k], n, 3) for k in order for n in (1, 2, 3)})
    kicks: list[dict[str, Any]] = []
    speed = began = 0.0
    while not game.over:
        loop.cycle()
        speed = max(speed, float(np.hypot(*game.world.ball_velocity[:2])))
        for event in game.events:
            if event.kind == "play_mode" and event.text.startswith("KickOff"):
                began = game.time
            elif event.kind == "goal" or (event.kind == "shoot_out" and event.text.startswith("no goal")):
                team = NAMES[order[int(event.side)]]
                how = "goal" if event.kind == "goal" else event.text.split(": ", 1)[1]
                took = round(game.time - began, 1)
                kicks.append({"team": team, "end": how, "speed": round(speed, 1), "seconds": took})
                speed = 0.0
    game.close()
    return {"goals": [sum(k["end"] == "goal" and k["team"] == name for k in kicks) for name in NAMES], "kicks": kicks}


def summary(path: Path) -> str:
    """The table of a file: by pairing, halves, seconds, goals, and falls a player-hour with their causes."""
    halves: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        half = json.loads(line)
        if "score" not in half:
            continue
        halves.setdefault(tuple(half["teams"]), []).append(half)
    lines = []
    for teams, some in halves.items():
        hours = sum(h["seconds"] for h in some) * some[0]["players"] / 3600.0
        goals = np.array([h["score"] for h in some])
        lines.append(f"{teams[0]} : {teams[1]}   {len(some)} halves, {sum(h['seconds'] for h in some):.0f} s")
        open_play = [sum(goal["played"] > OPEN_PLAY_TIME for goal in h["goals"]) for h in some]
        lines.append(
            f"  goals {goals[:, 0].sum()} : {goals[:, 1].sum()}; halves with a goal {(goals.sum(1) > 0).sum()}; "
            f"from open play {sum(open_play)}, in {sum(n > 0 for n in open_play)} halves; "
            f"ball stuck for {sum(h['stuck'] for h in some):.0f} s"
        )
        lines.append(f"  goals a half, second less first: {_interval(goals[:, 1] - goals[:, 0])}")
        per = np.array([[sum(f["team"] == n for f in h["falls"]) for n in NAMES] for h in some])
        each = np.array([h["seconds"] * h["players"] / 3600.0 for h in some])[:, None]
        for k, name in enumerate(NAMES):
            causes = Counter(f["cause"] for h in some for f in h["falls"] if f["team"] == name)
            shots, fouls = (sum(h[name].get(key, 0) for h in some) for key in ("shots", "foul"))
            lines.append(
                f"  {teams[k]}: falls a player-hour {per[:, k].sum() / hours:.1f} ({per[:, k].sum()}: {dict(causes)}; "
                f"{_interval(per[:, k] / each[:, 0])}), shots {shots}, fouls {fouls}"
            )
        both = per.sum(1) / each[:, 0] / 2
        lines.append(f"  both: {per.sum() / hours / 2:.1f} falls a player-hour; {_interval(both)}")
        lines.append(f"  falls a player-hour, second less first: {_interval((per[:, 1] - per[:, 0]) / each[:, 0])}")
        lines += _sonar_lines([h["sonar"] for h in some if any(h.get("sonar", {}).get("with", {}).values())])
    return "\n".join(lines)


def _sonar_lines(halves: list[dict[str, Any]]) -> list[str]:
    """Errors [m] of beliefs with and without sonar, and the difference of their means over halves."""
    lines = []
    for kind in ("near", "hidden", "ahead", "ghosts") if halves else ():
        known = [[np.array([v for v in h[how][kind] if v < math.inf]) for how in ("with", "without")] for h in halves]
        both = [np.concatenate(some) for some in zip(*known, strict=True)]
        less = np.array([a.mean() - b.mean() for a, b in known if len(a) and len(b)])
        quantiles = ", ".join(f"{np.mean(v):.4f} ({np.median(v):.4f}, {np.quantile(v, 0.95):.3f})" for v in both)
        counts = [sum(len(h[how][kind]) for h in halves) for how in ("with", "without")]
        lines.append(
            f"  {kind}: {counts[0]} and {counts[1]}, known {len(both[0])} and {len(both[1])}; mean (median, 95 %) with "
            f"and without sonar {quantiles}; with less without, {len(less)} halves: {_interval(less, 4)}"
        )
    return lines


def _interval(values: Any, digits: int = 1) -> str:  # noqa: ANN401 (an array of any numbers)
    if len(values) < 2:
        return f"{float(np.mean(values)):.{digits}f}"
    middle, half = np.mean(values), stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return f"{middle:.{digits}f} ({middle - half:.{digits}f} to {middle + half:.{digits}f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--teams", nargs=2, default=("builtin", "builtin"))
    parser.add_argument("--seeds", nargs=2, type=int, default=(1, 1), help="the first and the last")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--sonar", action="store_true", help="give robots sonars, and compare beliefs with and without")
    parser.add_argument("--duels", choices=tuple(DUEL_NUMBERS), help="play duels of robots instead of halves")
    parser.add_argument("--shoot-outs", action="store_true", help="play penalty shoot-outs instead of halves")
    parser.add_argument("--tries", type=int, default=40, help="how many duels")
    parser.add_argument("--summary", action="store_true")
    given = parser.parse_args()
    pair = tuple(team_of(text) for text in given.teams)
    if given.duels:
        told = Duels(pair, given.seeds[0], given.duels).play(given.tries)
        told = {"teams": list(given.teams), "seed": given.seeds[0], "duels": given.duels, **told}
        with given.out.open("a") as file:
            file.write(json.dumps(told) + "\n")
        sys.stdout.write(f"{ {name: value for name, value in told.items() if name != 'falls'} }\n")
        sys.exit()
    if given.shoot_outs:
        for seed in range(given.seeds[0], given.seeds[1] + 1):
            told = {"teams": list(given.teams), "seed": seed, **shoot_out(pair, seed)}
            with given.out.open("a") as file:
                file.write(json.dumps(told) + "\n")
            ends = Counter(kick["end"] for kick in told["kicks"])
            sys.stdout.write(f"seed {seed}: goals {told['goals'][0]} : {told['goals'][1]}, {dict(ends)}\n")
            sys.stdout.flush()
        sys.exit()
    if not given.summary:
        for seed in range(given.seeds[0], given.seeds[1] + 1):
            found = Half(pair, seed, given.players, given.seconds, sonar=given.sonar).play()
            with given.out.open("a") as file:
                whole = {"teams": list(given.teams), "seed": seed, "players": given.players, **found}
                file.write(json.dumps(whole) + "\n")
    sys.stdout.write(summary(given.out) + "\n")
