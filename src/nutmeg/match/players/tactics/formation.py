"""Line-up and formation: where players stand, which of them goes for the ball, and which post each takes.

    line_up_place(ground, number, players, takes, aim)      # x, y and heading before a kick-off
    post_place(player, ball_x, ball_y)                      # the own post in the formation
    goes_for_ball(player)                                   # whether this player goes for the ball

A formation has a post for each player but the keeper and the one that goes for the ball. Posts are filled in the order
of `POSTS`: with four a side, one player waits behind the ball and one ahead of it, for balls that get through; larger
teams add posts that cover the goal and the wings. A post follows the ball by a share of the ball's coordinates, as in
the position tables of 2D teams; the shares were tuned by hand. Then posts are moved to where the rules allow them
(`Room`) and apart from each other.

Each player computes the same assignment from its own belief. Messages in which team-mates report when they could play
the ball make them agree within a few tenths of a second; the player on its way to the ball gets a credit, so that they
do not waver. Posts are assigned so that the sum of the squared distances is least. Straight paths to them then never
collide (Turpin, Michael and Kumar 2014: concurrent assignment and planning of trajectories), and no path is much longer
than the others, as in SCRAM (MacAlpine, Price and Stone 2015), which minimises the longest one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle
from nutmeg.base.kernels import inlined, unchecked
from nutmeg.match.players.tactics.records import LEAGUE_LENGTH, LEAGUE_WIDTH, Phase
from nutmeg.match.players.tactics.walking import clip, is_known, length
from nutmeg.match.rules.play_modes import GOAL_KICKS, PlayMode

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.players.tactics.records import GroundRecord, PlayerContext

POSTS = np.array(
    [
        # follow_x, ahead, follow_y, inward, left
        [0.95, -1.6, 0.8, 1.2, 0.0],  # support
        [0.7, 5.0, 0.4, 1.5, 0.0],  # forward
        [0.55, -6.5, 0.5, 0.0, 0.0],  # cover
        [0.8, 2.2, 0.2, 2.0, 0.0],  # far wing
        [0.8, 2.0, 0.6, -3.0, 0.0],  # near wing
        [0.5, -7.0, 0.3, 0.0, 3.2],  # left back
        [0.5, -7.0, 0.3, 0.0, -3.2],  # right back
        [0.7, -3.5, 0.4, 0.0, 0.0],  # anchor
        [0.6, 6.0, 0.2, 0.0, 0.0],  # striker
    ]
)
"""Posts (9, 5), which follow the ball: a share of the ball's x plus an offset ahead, a share of its y plus an offset
from the ball's side towards the middle of the pitch, and an offset to the team's left; m on the league's pitch.

Forward and far wing come back less far than the ball does, so that they are ahead when the own team wins it. With both
farther back, teams of six were as strong, but equal ones scored 4 instead of 11 goals in ten halves (docs/explanation/
match.md)."""
SMALL_TEAM_POSTS = np.array(
    [
        [0.95, -2.0, 0.9, 0.8, 0.0],  # support
        [0.85, 3.6, 0.5, 1.5, 0.0],  # forward
        [0.55, -6.5, 0.5, 0.0, 0.0],  # cover, while the keeper plays the ball
    ]
)
"""Posts (3, 5) of teams of at most `SMALL_TEAM` players. They stay farther back, because only the keeper covers the
goal: with the first rows of `POSTS`, equal teams of four fell 5.7 instead of 3.5 times a player-hour."""
SMALL_TEAM = 4
"""Largest number of players of a team with these posts."""
POST_SPACING = 1.6
"""Least distance between two posts, m on the league's pitch."""
BALL_DISTANCE = 1.2
"""Distance from the ball that players keep that do not go for it, m on the league's pitch."""
RESTART_MARGIN = 0.4
"""Distance that is added to the one the rules demand when the opponents take a restart, m on the league's pitch."""
LINE_MARGIN = 0.5
"""Least distance of posts from the lines around the pitch, m on the league's pitch."""
AREA_MARGIN = 0.4
"""Least distance of posts from a penalty area that is forbidden, m on the league's pitch."""
MOUTH_DEPTH, MOUTH_MARGIN = 4.0, 1.0
"""Posts ahead of the ball stay out of a rectangle before the opponents' goal, this deep and reaching this far beyond
the goal posts on either side, because players there block their own attacker; m on the league's pitch."""
POSTS_INTERVAL = 0.2
"""Least time between two assignments of the posts, s."""
POST_LOYALTY = 1.0
"""A player keeps its post unless another assignment lowers the sum of squared distances by more than this, m^2."""
PLACE_ANGLES = np.array([sign * step * math.pi / 8 for step in range(9) for sign in (1, -1)])
"""Directions around the ball that are tried for a place, relative to the preferred one, rad."""
RECEIVER_NUMBER, TAKER_NUMBER = 3, 2
"""Numbers of the player that receives a kick-off and of the one that takes it."""
TAKER_DISTANCE = 0.46
"""Distance of the kick-off's taker from the ball before the whistle, m. Nearer players would be moved back by the
league's server, because their limbs reach over the halfway line."""
RECEIVER_PLACE = (-0.5, 1.5, -0.5)
"""Place of the kick-off's receiver: x, y, m on the league's pitch, and heading, rad."""
LINE_UP_PLACES = np.array(
    [
        [-14.4, 0.0],
        [-2.6, 0.0],
        [-2.2, 2.2],
        [-6.5, -0.4],
        [-2.6, -3.2],
        [-5.0, 3.4],
        [-2.4, 5.6],
        [-2.4, -6.2],
        [-9.0, 2.6],
        [-9.0, -2.6],
        [-4.6, 0.4],
    ]
)
"""Places (11, 2) by the player's number at the opponents' kick-off, m on the league's pitch."""
CIRCLING_WAY = 0.3
"""Additional way for each radian that a player has to walk around the ball, m/rad."""
DRIVEN_BALL_SHARE = 0.8
"""Share of its speed that a ball is expected to keep while somebody dribbles it."""
PREDICTION_TIME = 3.0
"""Longest time for which dribbling is predicted, s."""
KICKED_BALL_SPEED_SHARE = 1.5
"""A ball faster than this share of the player's running speed was kicked, and rolls freely."""
GOING_CREDIT = 0.48
"""The player that goes for the ball counts as this much nearer to it, so that players do not alternate, m."""
KEEPER_CREDIT = 3.0
"""A keeper that goes for the ball counts as arriving this much sooner, s; it goes for few balls."""
MAX_REPORT_AGE = 1.5
"""Reports of team-mates about their arrival are ignored after this time, s."""
IS_GOAL_KICK = np.array([mode in GOAL_KICKS for mode in PlayMode])
"""Whether a play mode is a goal kick (modes,)."""


class Room(NamedTuple):
    """Where players may stand that do not go for the ball."""

    ball_x: float
    ball_y: float
    off_ball: float
    """Distance to keep from the ball, m."""
    own_half: bool
    """Whether players have to stay in their own half."""
    off_circle: bool
    """Whether the centre circle is forbidden."""
    off_their_area: bool
    """Whether the opponents' penalty area is forbidden."""


@inlined
def room_of(player: PlayerContext) -> Room:
    """The restrictions of the present play mode."""
    belief, game, ground = player.belief, player.game, player.ground
    kick_off = game.phase == Phase.KICK_OFF
    theirs = game.favour < 0 and (kick_off or game.phase == Phase.RESTART)
    off_ball = BALL_DISTANCE * ground.scale
    if theirs:
        off_ball = ground.restart_distance + RESTART_MARGIN * ground.scale
    x, y = (0.0, 0.0) if kick_off else (belief.ball_x, belief.ball_y)
    return Room(x, y, off_ball, kick_off, kick_off and theirs, theirs and bool(IS_GOAL_KICK[game.mode]))


@unchecked
def allowed_place(ground: GroundRecord, room: Room, x: float, y: float) -> tuple[float, float]:
    """A place near (x, y), m, where a player may stand that does not go for the ball."""
    x, y = _inside(ground, room, x, y)
    if length(x - room.ball_x, y - room.ball_y) < room.off_ball:
        # Places on a circle around the ball are tried from the preferred one on, which is shifted towards the own goal.
        first = math.atan2(y - room.ball_y, x - room.ball_x - 0.5 * room.off_ball)
        for turn in PLACE_ANGLES:
            x = room.ball_x + room.off_ball * math.cos(first + turn)
            y = room.ball_y + room.off_ball * math.sin(first + turn)
            u, v = _inside(ground, room, x, y)
            if abs(u - x) + abs(v - y) < 1e-9:
                break
    return x, y


@inlined
def _inside(ground: GroundRecord, room: Room, x: float, y: float) -> tuple[float, float]:
    """The place moved inside the lines and to where the play mode allows players, whatever the ball."""
    end, side, margin = ground.length / 2, ground.width / 2, LINE_MARGIN * ground.scale
    x, y = clip(x, margin - end, end - margin), clip(y, margin - side, side - margin)
    # Field players in their own penalty area may be illegal defenders.
    area = AREA_MARGIN * ground.scale
    edge, half_width = end - ground.penalty_depth - area, ground.penalty_width / 2 + area
    if abs(y) < half_width and (x < -edge or (room.off_their_area and x > edge)):
        x = math.copysign(edge, x)
    if room.own_half and x > -margin:
        x = -margin
    circle = ground.circle + margin
    if room.off_circle and length(x, y) < circle:
        x = -math.sqrt(circle * circle - y * y) - 1e-6
    return x, y


@inlined
def line_up_place(
    ground: GroundRecord, number: int, players: int, takes: bool, aim: float
) -> tuple[float, float, float]:
    """The place of a player before a kick-off: x, y, m, and heading, rad.

    Args:
        ground: the pitch.
        number: the player's number.
        players: number of players of its team.
        takes: whether its team takes the kick-off.
        aim: direction of the kick-off, rad; 0 plays it ahead, to no receiver.
    """
    if takes and number == (TAKER_NUMBER if players > 1 else 1):
        turn = aim if players >= RECEIVER_NUMBER else 0.0
        return -TAKER_DISTANCE * math.cos(turn), -TAKER_DISTANCE * math.sin(turn), turn
    if takes and number == RECEIVER_NUMBER and aim != 0.0:
        return RECEIVER_PLACE[0] * ground.scale, RECEIVER_PLACE[1] * ground.scale, RECEIVER_PLACE[2]
    row = number - 1 if players > 1 else 1
    x = LINE_UP_PLACES[row, 0] * ground.length / LEAGUE_LENGTH
    y = LINE_UP_PLACES[row, 1] * math.sqrt(ground.width / LEAGUE_WIDTH)
    if row > 0:
        off_ball = BALL_DISTANCE * ground.scale
        room = Room(ball_x=0.0, ball_y=0.0, off_ball=off_ball, own_half=True, off_circle=True, off_their_area=False)
        x, y = allowed_place(ground, room, x, y)
    return x, y, math.atan2(-y, -x)


# ---- posts


@unchecked
def formation(ground: GroundRecord, room: Room, posts: Floats, ball_x: float, ball_y: float, places: Floats) -> None:
    """Writes the first of `posts` into `places` (K, 2), the most important first, for a ball at (ball_x, ball_y), m."""
    outside = 1.0 if ball_y >= 0 else -1.0
    before_goal = max(ground.length / 2 - MOUTH_DEPTH * ground.scale, ball_x)
    beside_goal = ground.goal_width / 2 + MOUTH_MARGIN * ground.scale
    for k in range(len(places)):
        x = posts[k, 0] * ball_x + posts[k, 1] * ground.scale
        y = posts[k, 2] * ball_y + (posts[k, 4] - outside * posts[k, 3]) * ground.scale
        if x > before_goal and abs(y) < beside_goal:
            y = -outside * beside_goal  # at the far post, where balls arrive that the keeper does not hold
        x, y = allowed_place(ground, room, x, y)
        places[k, 0], places[k, 1] = _apart(ground, room, x, y, places[:k])


@unchecked
def _apart(ground: GroundRecord, room: Room, x: float, y: float, others: Floats) -> tuple[float, float]:
    """The first of some places around (x, y), nearest first, that keeps `POST_SPACING` from posts `others` (K, 2)."""
    spacing = POST_SPACING * ground.scale
    for ring in range(4):
        way = spacing * (0.0, 1.0, 1.5, 2.0)[ring]
        for turn in range(0, len(PLACE_ANGLES) if ring else 1, 2):
            angle = PLACE_ANGLES[turn]
            u, v = allowed_place(ground, room, x - way * math.cos(angle), y + way * math.sin(angle))
            free = True
            for k in range(len(others)):
                if length(u - others[k, 0], v - others[k, 1]) < spacing:
                    free = False
                    break
            if free:
                return u, v
    return x, y


@unchecked
def post_place(player: PlayerContext, ball_x: float, ball_y: float) -> tuple[float, float]:
    """The own post in the formation, m; posts are assigned anew every `POSTS_INTERVAL`."""
    belief, game, ground, memory = player.belief, player.game, player.ground, player.memory
    goer, own, alone = _goer_of(player), game.number - 1, game.players == 1 or not player.traits.keeper
    first = 0 if alone else 1  # the keeper has no post
    count, row = 0, -1
    who = np.empty(game.players, np.int64)
    for k in range(first, game.players):
        if k != goer and (k == own or is_known(belief, k, own)):
            if k == own:
                row = count
            who[count] = k
            count += 1
    posts = SMALL_TEAM_POSTS if game.players <= SMALL_TEAM else POSTS
    places = np.empty((min(max(count, 1), len(posts)), 2))
    formation(ground, room_of(player), posts, ball_x, ball_y, places)
    if game.time - memory.posts_at > POSTS_INTERVAL or memory.post >= len(places):
        memory.posts_at = game.time
        memory.post = min(memory.post, len(places) - 1)
        if row >= 0 and count == len(places):
            memory.post = _assigned(player, who[:count], places, row)
    return places[memory.post, 0], places[memory.post, 1]


@unchecked
def _assigned(player: PlayerContext, who: Ints, places: Floats, row: int) -> int:
    """The index of the post that the assignment gives to player `row`.

    Args:
        player: the player that decides.
        who: rows of the belief of the players that share the posts (P,).
        places: the posts (P, 2).
        row: index of the player in `who`.
    """
    belief, memory, own = player.belief, player.memory, player.game.number - 1
    cost = np.empty((len(who), len(who)))
    for i in range(len(who)):
        k = who[i]
        x, y = (belief.x, belief.y) if k == own else (belief.others[k].x, belief.others[k].y)
        for j in range(len(who)):
            cost[i, j] = (x - places[j, 0]) ** 2 + (y - places[j, 1]) ** 2
        kept = memory.post if k == own else memory.reports[k].post if memory.reports[k].time > -math.inf else len(who)
        if kept < len(who):
            cost[i, kept] -= POST_LOYALTY
    return int(assign(cost)[row])


@unchecked
def assign(cost: Floats) -> Ints:
    """The column of each row, (N,), that makes the sum of costs (N, N) least: the Hungarian method, row by row.

    scipy's `linear_sum_assignment` cannot be called from compiled code. Each row is added by a shortest augmenting path
    over reduced costs (Jonker and Volgenant, 1987).
    """
    size = len(cost)
    of_row, of_column = np.zeros(size + 1), np.zeros(size + 1)
    match, back = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for row in range(1, size + 1):
        least, done = np.full(size + 1, np.inf), np.zeros(size + 1, np.bool_)
        match[0], column = row, 0
        while match[column] != 0:  # column 0 stands for "not assigned yet"
            done[column] = True
            here, step, following = match[column], np.inf, 0
            for j in range(1, size + 1):
                if done[j]:
                    continue
                reduced = cost[here - 1, j - 1] - of_row[here] - of_column[j]
                if reduced < least[j]:
                    least[j], back[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(size + 1):
                if done[j]:
                    of_row[match[j]] += step
                    of_column[j] -= step
                else:
                    least[j] -= step
            column = following
        while column != 0:
            match[column] = match[back[column]]
            column = back[column]
    found = np.zeros(size, np.int64)
    for j in range(1, size + 1):
        found[match[j] - 1] = j - 1
    return found


# ---- going for the ball


@inlined
def rolled(player: PlayerContext, seconds: float) -> float:
    """How far the ball rolls in a time, divided by its speed, s; it slows down by damping or by rolling friction."""
    belief, body = player.belief, player.ground.body
    if body.ball_damped > 0.0:
        return (1.0 - math.exp(-body.ball_damped * seconds)) / body.ball_damped
    if body.ball_slows > 0.0:
        speed = length(belief.ball_vx, belief.ball_vy)
        rolls = min(seconds, speed / body.ball_slows)
        return rolls - 0.5 * body.ball_slows * rolls * rolls / max(speed, 1e-9)
    return seconds


@inlined
def rolling_time(player: PlayerContext, way: float, speed: float) -> float:
    """The time that a ball of an initial speed needs for a distance, s; inf if it stops before."""
    body = player.ground.body
    if body.ball_damped > 0.0:
        share = body.ball_damped * way / speed
        return -math.log(1.0 - share) / body.ball_damped if share < 1.0 else math.inf
    if body.ball_slows > 0.0:
        left = speed * speed - 2.0 * body.ball_slows * way
        return (speed - math.sqrt(left)) / body.ball_slows if left > 0.0 else math.inf
    return way / speed


@inlined
def speed_for(player: PlayerContext, reach: float) -> float:
    """The initial speed of a ball that comes to rest after a distance, m/s; inf where nothing slows it down."""
    body = player.ground.body
    if body.ball_damped > 0.0:
        return body.ball_damped * reach
    return math.sqrt(2.0 * body.ball_slows * reach) if body.ball_slows > 0.0 else math.inf


@inlined
def ball_after(player: PlayerContext, seconds: float) -> tuple[float, float]:
    """The predicted place of the ball if nobody touches it, m."""
    belief, share = player.belief, rolled(player, seconds)
    return belief.ball_x + share * belief.ball_vx, belief.ball_y + share * belief.ball_vy


@inlined
def arrival_time(player: PlayerContext, aim: float) -> float:
    """The time from now until the player could play the ball in a direction, s; slow balls count as being dribbled."""
    belief, run = player.belief, player.ground.body.run
    vx, vy = belief.ball_vx, belief.ball_vy
    dx, dy = belief.ball_x - belief.x, belief.ball_y - belief.y
    kicked = length(vx, vy) > KICKED_BALL_SPEED_SHARE * run
    time = length(dx, dy) / run
    for _ in range(2):
        lead = rolled(player, time) if kicked else DRIVEN_BALL_SHARE * min(time, PREDICTION_TIME)
        dx, dy = belief.ball_x + lead * vx - belief.x, belief.ball_y + lead * vy - belief.y
        time = length(dx, dy) / run
    bearing = math.atan2(dy, dx)
    turn = abs(wrap_angle(bearing - belief.heading))
    return time + CIRCLING_WAY * abs(wrap_angle(bearing - aim)) / run + max(turn - 0.5, 0.0) / player.ground.body.turn


@inlined
def _seeming_arrival(player: PlayerContext, x: float, y: float) -> float:
    """The time until a player at a place could play the ball, from its place alone, s.

    A player between the ball and the opponents' goal has to walk around the ball first.
    """
    dx, dy = player.belief.ball_x - x, player.belief.ball_y - y
    return (length(dx, dy) + CIRCLING_WAY * abs(math.atan2(dy, dx))) / player.ground.body.run


@inlined
def _mates_lead(player: PlayerContext, k: int) -> float:
    """How much sooner team-mate k (a row of the belief) could play the ball than the player, s.

    A recent report of the team-mate is used if there is one. Otherwise both are judged by their places alone, so that
    both players come to the same result.
    """
    belief, game, memory, body = player.belief, player.game, player.memory, player.ground.body
    report, credit = memory.reports[k], GOING_CREDIT / body.run
    mine = credit if memory.goes else 0.0
    if game.time - report.time < MAX_REPORT_AGE:
        theirs = report.arrival
        if report.goes:
            theirs -= game.time - report.time + (KEEPER_CREDIT if k == 0 else credit)
        return memory.arrival - mine - theirs
    mate = belief.others[k]
    if k == 0 and player.traits.keeper:
        return -math.inf
    lies = body.get_up_time if mate.lies else 0.0
    return _seeming_arrival(player, belief.x, belief.y) - mine - _seeming_arrival(player, mate.x, mate.y) - lies


@inlined
def goes_for_ball(player: PlayerContext) -> bool:
    """Whether the player is among the first of its team at the ball, as many as the strategy sends."""
    belief, own, sooner = player.belief, player.game.number - 1, 0
    for k in range(player.game.players):
        if is_known(belief, k, own):
            lead = _mates_lead(player, k)
            if lead > 0.0 or (lead == 0.0 and k < own):
                sooner += 1
    return bool(sooner < player.traits.chasers)


@inlined
def _goer_of(player: PlayerContext) -> int:
    """The row of the team's player that goes for the ball, as far as this player knows."""
    belief, own, best, most = player.belief, player.game.number - 1, -1, -math.inf
    if player.memory.goes:
        return own
    for k in range(player.game.players):
        if is_known(belief, k, own):
            lead = _mates_lead(player, k)
            if best < 0 or lead > most:
                best, most = k, lead
    return own if best < 0 else best


@inlined
def takes_kick_off(player: PlayerContext) -> bool:
    """Whether the player takes its team's kick-off: number 2 or, without it, the field player of the lowest number."""
    belief, own = player.belief, player.game.number - 1
    if is_known(belief, TAKER_NUMBER - 1, own):
        return False
    if own == TAKER_NUMBER - 1:
        return True
    first = True
    for k in range(1, own if own > 0 else player.game.players):
        first = first and not is_known(belief, k, own)
    return first


@inlined
def may_go(player: PlayerContext) -> bool:
    """Whether the rules let the own team play the ball now."""
    phase = player.game.phase
    found: bool = phase == Phase.PLAY or (phase in (Phase.KICK_OFF, Phase.RESTART) and player.game.favour > 0)
    return found
