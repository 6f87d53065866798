"""Plays halves of two strategies of the built-in team in one process, and counts goals, falls, shots and fouls.

    .venv/bin/python scripts/team_games.py --out games.jsonl --teams builtin careful --seeds 51000 51003
    .venv/bin/python scripts/team_games.py --out games.jsonl --teams builtin builtin:brake_time=0.7,room=0.6 --seeds 1 1

A team is a strategy, with parameters after a colon that differ. Even seeds let the first team play from the left, odd
ones the second; who plays from the left kicks off. Each half is a line of JSON, with what each team did in the order of
`--teams`. `--summary` prints the table of a file that is there, with 95 % intervals (Student's t, halves).

A fall is a torso that leans more than 60 degrees for 0.32 s, and counts again after 0.8 s upright. Its cause is what
happened in the second before it leaned: it was put somewhere (`beam`), it dived, another robot was nearer than
`CONTACT_DISTANCE`, or nothing of these (`alone`). A shot is a ball that would roll into the goal within `SHOT_TIME`,
faster than `SHOT_SPEED`. Beliefs are compared with the truth every 0.2 s: the own place, the ball within 3 m, and place
and velocity of opponents within 3 m that were seen in the last 0.3 s.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections import Counter, deque
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import POLICY_TYPES, DecidingPlayer, PlayerSetup
from nutmeg.match.players.tactics.strategies import Strategy, strategy
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.rules.slots import SLOTS
from nutmeg.motion.walk.files import read_walk
from nutmeg.view.match_story import SHOT_BESIDE, SHOT_SPEED, SHOT_TIME

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


def team_of(text: str) -> tuple[str, Strategy]:
    """The name of a team, and its strategy."""
    name, _, changes = text.partition(":")
    base = strategy(name)
    values = {}
    for change in filter(None, changes.split(",")):
        key, _, value = change.partition("=")
        values[key] = type(getattr(base, key))(float(value))
    return text, dataclasses.replace(base, **values)


def cause_of(body: Body, slot: int, now: float, player: DecidingPlayer) -> dict[str, Any]:
    """Why a robot leans that begins to."""
    nearest, who, closing = math.inf, -1, 0.0
    for places, _ in body.past:
        gaps = np.hypot(*(places - places[slot]).T)
        gaps[slot] = np.inf
        k = int(np.nanargmin(gaps))
        if gaps[k] < nearest:
            nearest, who = float(gaps[k]), k
    if who >= 0:  # the highest closing speed of the second, before the collision has taken it away
        closing = max(
            float((velocities[slot] - velocities[who]) @ (places[who] - places[slot]))
            / max(float(np.hypot(*(places[who] - places[slot]))), 1e-6)
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
        "other": who,
        "mate": who // 11 == slot // 11,
        "closing": round(closing, 2),
        "speed": round(max(speeds, default=0.0), 2),
        "intent": player.request.intent,
        "doing": player.limbs.doing,
        "place": [round(float(v), 2) for v in body.past[-1][0][slot]],
    }


class Half:
    """One half, and what is counted in it."""

    def __init__(self, teams: tuple[tuple[str, Strategy], ...], seed: int, players: int, seconds: float) -> None:
        rules = load_rules("sim3d").with_match(
            players=players, half_length=seconds, halves=1, automatic_kick_off=True, wait_before_kick_off=3.0
        )
        self.order = (0, 1) if seed % 2 == 0 else (1, 0)
        self.game = Game(rules, seed=seed, left=NAMES[self.order[0]], right=NAMES[self.order[1]], seats=2 * players)
        walk, everybody = read_walk("policy"), {}
        for k in self.order:
            for n in range(players):
                setup = PlayerSetup(walk=walk, players=players, robot_type=POLICY_TYPES[n], cycles=1, longest=0.0)
                player = DecidingPlayer(strategy_decide(teams[k][1]), NAMES[k], n + 1, setup)
                everybody[NAMES[k], n + 1] = player
        self.loop = GameLoop(self.game, everybody)
        self.seconds, self.bodies = seconds, {slot: Body() for slot in self.loop.players}
        self.falls: list[dict[str, Any]] = []
        self.counts = {name: Counter[str]() for name in NAMES}
        self.before = np.zeros((SLOTS, 3)), np.zeros((SLOTS, 3)), np.zeros(3)
        """Places and velocities of the robots, and the place of the ball, before the last cycle."""
        self.shot_at, self.ball_x, self.cycles = [-math.inf, -math.inf], [], 0
        self.errors: dict[str, list[float]] = {name: [] for name in ("place", "ball", "other", "velocity", "speed")}

    def play(self) -> dict[str, Any]:
        """Plays it to its end."""
        while not self.game.over and self.game.state.time < self.seconds - 1e-6:
            world = self.game.world
            # Beliefs are of the cycle before, which percepts show.
            self.before = world.position.copy(), world.velocity.copy(), world.ball.copy()
            self.loop.cycle()
            self.cycles += 1
            self._note_events()
            self._note_falls()
            if self.game.state.mode == PlayMode.PLAY_ON:
                self._note_shots()
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

    def _note_falls(self) -> None:
        world, now = self.game.world, self.game.time
        data, seats = world.ground.world.data, world.ground.seats["torso"]
        places, velocities = world.position[:, :2].copy(), world.velocity[:, :2].copy()
        places[~world.present] = np.nan
        for slot, player in self.loop.players.items():
            body, lean = self.bodies[slot], float(data.xmat[seats[world.seat_of[slot]]][8])
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
                    self.falls.append({"team": self._team(slot), **body.began})
            else:
                body.down, body.upright = 0.0, body.upright + CYCLE
                body.can_fall |= body.upright >= UPRIGHT_TIME

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

    def _result(self) -> dict[str, Any]:
        left, right = self.game.state.score
        score = (left, right) if self.order[0] == 0 else (right, left)
        return {
            "seconds": round(self.game.state.time, 2),
            "score": list(score),
            "ball_x": round(float(np.mean(self.ball_x)), 2) if self.ball_x else None,
            **{name: dict(sorted(self.counts[name].items())) for name in NAMES},
            "falls": self.falls,
            "errors": {
                name: [len(some), *(round(float(np.quantile(some, q)), 4) for q in (0.5, 0.95))] if some else None
                for name, some in self.errors.items()
            },
        }


def summary(path: Path) -> str:
    """The table of a file: by pairing, halves, seconds, goals, and falls a player-hour with their causes."""
    halves: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        half = json.loads(line)
        halves.setdefault(tuple(half["teams"]), []).append(half)
    lines = []
    for teams, some in halves.items():
        hours = sum(h["seconds"] for h in some) * some[0]["players"] / 3600.0
        goals = np.array([h["score"] for h in some])
        lines.append(f"{teams[0]} : {teams[1]}   {len(some)} halves, {sum(h['seconds'] for h in some):.0f} s")
        lines.append(
            f"  goals {goals[:, 0].sum()} : {goals[:, 1].sum()}; halves with a goal {(goals.sum(1) > 0).sum()}"
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
    return "\n".join(lines)


def _interval(values: Any) -> str:  # noqa: ANN401 (an array of any numbers)
    if len(values) < 2:
        return f"{float(np.mean(values)):.1f}"
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return f"{np.mean(values):.1f} ({np.mean(values) - half:.1f} to {np.mean(values) + half:.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--teams", nargs=2, default=("builtin", "builtin"))
    parser.add_argument("--seeds", nargs=2, type=int, default=(1, 1), help="the first and the last")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--summary", action="store_true")
    given = parser.parse_args()
    if not given.summary:
        pair = tuple(team_of(text) for text in given.teams)
        for seed in range(given.seeds[0], given.seeds[1] + 1):
            found = Half(pair, seed, given.players, given.seconds).play()
            with given.out.open("a") as file:
                whole = {"teams": list(given.teams), "seed": seed, "players": given.players, **found}
                file.write(json.dumps(whole) + "\n")
    sys.stdout.write(summary(given.out) + "\n")
