"""Serve a match of Booster T1 and K1 robots to agents that speak rcssservermj's protocol.

Agents connect to port 60000, monitors and trainers to 60001. The line `ready` on standard output says that both listen.
Robots are built before anybody comes, so that nobody who joins costs the others a cycle. Ends with Ctrl-C, SIGTERM or a
trainer's (killsim); the recording is then closed and named.

example: nutmeg serve mj
         nutmeg serve mj --sync --no-view --no-record --seats 1 --k1-seats 0
         nutmeg serve mj --halves 2 --swap-ends --offside --automatic-kick-off --until-over
"""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Port
from nutmeg.commands.serve import MatchOptions, Prepared, rules_of, serve_match
from nutmeg.commands.serving import ControllerOptions, check_ports

if TYPE_CHECKING:
    from nutmeg.match.base_game import BaseGame
    from nutmeg.match.mj_game import MjGame
    from nutmeg.match.rules.book import Rules
    from nutmeg.net.game_controller import GameController
    from nutmeg.view.terminal import Terminal

FIELDS = {"ssim26": "fifa7vs7", "fifa": "fifa", "humanoid": "hl-adult"}
"""Fields of the rule books."""


@dataclass(frozen=True, kw_only=True)
class Arguments(MatchOptions, ControllerOptions):
    """Options of `nutmeg serve mj`."""

    agent_port: Port = 60000
    """TCP port for agents; 0 takes a free one."""
    monitor_port: Port = 60001
    """TCP port for monitors and trainers; 0 takes a free one."""
    rules: str = "ssim26"
    """The rule book: ssim26 (seven a side), fifa (eleven), humanoid (four), or a TOML file of your own."""
    field: str = ""
    """The pitch: fifa7vs7, fifa, hl-adult, hl-kid or a TOML file; the rule book's own if left out."""
    seats: Annotated[int, Bounds(0, 22)] | None = None
    """T1 robots that can play at once; as many as both teams have if left out. Each costs 16 us a cycle, parked or
    not."""
    k1_seats: Annotated[int, Bounds(0, 22)] | None = None
    """K1 robots that can play at once; as many as both teams have if left out."""
    swap_ends: bool = False
    """Teams change ends at half-time; rcssservermj has no second half (see --halves)."""
    offside: bool = False
    """Call offside, which rcssservermj does not."""
    fouls: bool = False
    """Call touching, charging and crowding, which rcssservermj does not."""
    extra_time: bool = False
    """A draw is followed by two more halves, which rcssservermj does not have."""
    game_controller: bool = False
    """Tell the match as the humanoid league's GameController does, over UDP."""
    shoot_out: bool = False
    """A draw is followed by penalty kicks, which rcssservermj does not have."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Serves until somebody ends it."""
    return serve_match(arguments, terminal, lambda stack: _prepare(arguments, stack))


def _prepare(arguments: Arguments, stack: contextlib.ExitStack) -> Prepared:
    """The match, with a seat for each robot that can play."""
    from nutmeg.match.drawing import DrawingProcess, draw
    from nutmeg.match.mj_game import MjGame, MjSetup, empty_scene
    from nutmeg.net.mj.server import MJ

    rules, field = _rules(arguments)
    check_ports(arguments.host, arguments.ports())
    record = arguments.new_recording("match.nutmeg")
    seats = _seats(arguments, rules)
    make_drawing = draw
    if record is not None:  # early: it works while the rest is built
        make_drawing = stack.enter_context(DrawingProcess(empty_scene(field, seats))).draw
    setup = MjSetup(field=field, make_drawing=make_drawing)
    game = MjGame(rules, seed=arguments.seed, seats=seats, setup=setup, record=record)
    if arguments.game_controller:
        stack.enter_context(_tell(game, arguments))
    return Prepared(stack.enter_context(game), record, lambda: rehearse(rules, field), MJ, {})


def _tell(game: MjGame, arguments: Arguments) -> GameController:
    """A GameController that tells the match."""
    from nutmeg.match.rules.state import PLAYERS_SHAPE
    from nutmeg.net.game_controller import GameController

    controller = GameController(arguments.controller_settings(arguments.host), game.rules)

    def watch(played: BaseGame) -> None:
        present = played.present.reshape(PLAYERS_SHAPE)
        controller.update(played.time, played.state, present, swapped=played.swaps % 2 == 1)

    game.watchers.append(watch)
    return controller


def _seats(arguments: Arguments, rules: Rules) -> dict[str, int]:
    wanted = {"t1": arguments.seats, "k1": arguments.k1_seats}
    seats = {kind: 2 * rules.match.players if count is None else count for kind, count in wanted.items()}
    if not any(seats.values()):
        raise UsageError("--seats 0 and --k1-seats 0 leave no robot to play with; give at least one.")
    return {kind: count for kind, count in seats.items() if count}


def _rules(arguments: Arguments) -> tuple[Rules, str]:
    """The rule book with what was asked for, and the field."""
    from nutmeg.match.rules.book import rules_on

    rules = rules_of(arguments)
    field = arguments.field or FIELDS.get(rules.name, "fifa7vs7")
    rules = rules.on(rules_on(arguments.rules, field).pitch)
    asked = {name: True for name in ("swap_ends", "extra_time") if getattr(arguments, name)}
    rules = rules.with_match(**asked)
    fouls = rules.fouls
    if arguments.fouls:
        switched = {
            name: dataclasses.replace(getattr(fouls, name), on=True) for name in ("touching", "charging", "crowding")
        }
        fouls = dataclasses.replace(fouls, **switched)
    offside = dataclasses.replace(rules.offside, on=rules.offside.on or arguments.offside)
    shoot_out = dataclasses.replace(rules.shoot_out, on=rules.shoot_out.on or arguments.shoot_out)
    return dataclasses.replace(rules, fouls=fouls, offside=offside, shoot_out=shoot_out), field


def rehearse(rules: Rules, field: str) -> None:
    """Lets two robots play for a moment, so that every kernel a match needs is compiled before agents come."""
    from nutmeg.match.mj_game import MjGame, MjSetup
    from nutmeg.match.rules.play_modes import PlayMode
    from nutmeg.net.mj.effectors import read_orders
    from nutmeg.net.mj.percepts import PerceptWriter

    with MjGame(rules, seed=0, setup=MjSetup(field=field), seats={"t1": 1, "k1": 1}) as game:
        writer, robots = PerceptWriter(game.world.marks), ("t1", "k1")
        slots = [game.enter(f"team{kind}", 1, kind) for kind in range(len(robots))]
        game.set_play_mode(PlayMode.PLAY_ON)
        for _ in range(4):
            orders = [read_orders(b"(he1 0 0 20 0.5 0)(SPK say 100 SGk=)(syn)", robot) for robot in robots]
            percepts = game.cycle({slot: order.action for slot, order in zip(slots, orders, strict=True)})
            read_orders(b"(he1 0 0 20 0.5 0)(syn)", robots[0])
            for percept in percepts.values():
                writer.framed(percept)
