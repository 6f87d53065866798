"""Play a match in the browser: score, clock, cameras, what players see, believe and intend.

In the physical world, robots have joints and motors, and a team is a walk with which the built-in team plays. In the
behavioural world, robots have no joints: they walk, kick and fall by a few numbers, see through two cameras and decide
ten times a second, which is much faster to simulate; a team is a strategy. Your own `decide` function plays in both.

At the end there are a report of one page and a replay that plays offline, and on request a video and the pictures of
all robots' cameras. Ctrl-C ends the match; what was played is reported all the same.

example: nutmeg play
         nutmeg play --left holonomic --right final --players 9 --fast
         nutmeg play --players 2 --half 60 --no-view --video match.mp4
         nutmeg play --world behavioural --left roles-pass --right mine.py:decide
"""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import tyro

from nutmeg.base.errors import NutmegError, UnknownNameError, UsageError, writing
from nutmeg.base.interrupts import Closing, Starting, load_physics
from nutmeg.base.settings import Bounds, above
from nutmeg.commands.options import (
    JsonOption,
    OptionalOutput,
    Seconds,
    Seed,
    WatchOptions,
    check_output,
    drawn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nutmeg.match.base_game import BaseGame
    from nutmeg.match.loop import AnyPlayer, GameLoop
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Event
    from nutmeg.match.worlds.physical.percept import Player
    from nutmeg.sim.pace import Clock
    from nutmeg.view.files.camera_frames import FramePlan
    from nutmeg.view.pages.process import MatchPagesProcess
    from nutmeg.view.terminal import Terminal

BEHAVIOURAL = "behavioural"
SHIRTS = ("Blue", "Red")  # titles of default teams, by the colours of their shirts
_DEFAULT_LEFT = {"physical": "policy-fast", BEHAVIOURAL: "roles-pass"}
_DEFAULT_RIGHT = {"physical": "final", BEHAVIOURAL: "attacker-keeper"}
_SUBTITLES = {  # what they are, in words that a stranger understands
    "policy-fast": "runs by a learned network",
    "final": "walks by learned parameters",
    "roles-pass": "roles, a keeper, and passes",
    "attacker-keeper": "one attacker and a keeper",
}
DEFAULT_FIELD = {"physical": "sim3d", BEHAVIOURAL: "spl2011"}
DEFAULT_RULES = {"physical": "sim3d", BEHAVIOURAL: "spl2011"}
ROBOT = "nao-spark"  # the league's robot
_MAX_HALF = 1e5  # the longest half that can be asked for [s]
_KICK_OFF_WAIT = 3.0  # from the first cycle of a half to its kick-off: players take their places [s]
_ANNOUNCED_EVENTS = ("goal", "half")  # kinds of events that are printed in the terminal
_REPLAY_FPS = (5.0, 10.0)  # fewest and most moments per second of a replay
_REPLAY_MOMENTS = 3600  # moments of a replay, as far as the frame rates allow it


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Where the files of a match go."""

    group: ClassVar[str] = "files"
    output: OptionalOutput = None
    """Folder for recording, report and replay; runs/match-N if left out."""
    video: Path | None = None
    """Make a video of the match, too: an MP4 file; needs a renderer (see nutmeg doctor)."""
    record: Path | None = None
    """Keep the recording under this name instead of in the folder."""
    report: Path | None = None
    """Write the report under this name instead of in the folder."""
    replay: Path | None = None
    """Write the replay under this name instead of in the folder."""
    make_replay: bool = True
    """Make a replay: one HTML file that plays in any browser without Nutmeg."""


@dataclass(frozen=True, kw_only=True)
class BehaviouralOptions:
    """Options of matches of the behavioural world only."""

    group: ClassVar[str] = "with --world behavioural"
    behaviour: str = "nao"
    """Abilities of robots and ball: a name, or a TOML file."""
    eyes: str = ""
    """Senses of the robots: a name, or a TOML file; if left out, those that belong to the robots."""


@dataclass(frozen=True, kw_only=True)
class CameraFileOptions:
    """Pictures of all robots' cameras, written at the end; `nutmeg camera frames` does it later, with more choice."""

    group: ClassVar[str] = "pictures of all cameras"
    record_cameras: bool = False
    """Write what the cameras of every robot see into a folder `cameras`, with the truth in frames.csv; needs a
    renderer (see nutmeg doctor)."""
    camera_rate: Annotated[float, above(0, "Hz", up_to=10)] = 2.0
    """Pictures per second, at most 10."""
    camera_format: Literal["png", "mp4"] = "png"
    """Numbered PNG files, or one video for each camera."""
    camera_labels: bool = False
    """Write masks, and boxes of ball, goals, lines and robots in labels.json, for training detectors."""
    camera_robot: str = ""
    """The robot whose cameras the players carry, with its lens and sensor, for instance nao-v6; if left out, their
    own."""


@dataclass(frozen=True, kw_only=True)
class Arguments(FileOptions, CameraFileOptions, BehaviouralOptions, WatchOptions, JsonOption):
    """Options of `nutmeg play`."""

    left: Annotated[str, tyro.conf.arg(metavar="TEAM")] = ""
    """The left team, which also gets this name. In the physical world, a walk (a name or a TOML file) with which the
    built-in team plays; in both worlds, a strategy, `builtin` for the built-in tactics, or `file.py:decide` for your
    own player. [default: policy-fast; in the behavioural world roles-pass]"""
    right: Annotated[str, tyro.conf.arg(metavar="TEAM")] = ""
    """The right team. [default: final; in the behavioural world attacker-keeper]"""
    players: Annotated[int, Bounds(1, 11)] = 4
    """Players of each team, 1 to 11."""
    world: Literal["physical", "behavioural"] = "physical"
    """physical: robots with joints and motors. behavioural: robots that move by a few numbers, for strategies; much
    faster."""
    half: Annotated[float, above(0, "s", up_to=_MAX_HALF)] = 300.0
    """Length of a half in seconds."""
    seconds: Seconds = 0.0
    """End after this simulated time; 0 plays the whole match."""
    fast: bool = False
    """Play as fast as the computer can, instead of in real time."""
    seed: Seed = 1
    """Seed of everything random; the same seed gives the same match."""
    field: str = ""
    """The field. [default: sim3d; in the behavioural world spl2011]"""
    rules: str = ""
    """The rule book: a name, or a TOML file. [default: sim3d; in the behavioural world, on fields with penalty marks,
    spl2011]"""
    swap_ends: bool = False
    """Let the teams change ends at half time."""
    walk: str = "final"
    """In the physical world, the walk of a team that is a strategy or a `decide`."""
    motions: tuple[Path, ...] = ()
    """In the physical world, folders with kicks, dives, get-ups and dribblings of the left team, such as those of
    `nutmeg train kick` or `dribble`, instead of those that come with Nutmeg."""
    images: bool = False
    """Let players ask for the pictures of their cameras (`percept.images`), which takes some milliseconds each; needs
    a renderer (see nutmeg doctor)."""
    sonar: bool = False
    """In the physical world, give all robots two sonars, which the league's have not: in `percept.sonar`, and for the
    tracker. In the behavioural world they have them anyway."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Plays the match, then writes what there is to read and to see of it."""
    with Starting():
        load_physics()
        from nutmeg.match.loop import PlayerError
        from nutmeg.view.live import UNPACED_SPEED, watch_run
        from nutmeg.view.pages.process import check_port

        check(arguments)
    if arguments.view:
        check_port(arguments.host, arguments.port)  # before the teams are called together
    files = Files.of(arguments)
    outputs = _MatchOutputs(arguments, files, terminal)
    match = _MatchRun(arguments, terminal, begun=outputs.begin)

    def finish() -> None:
        match.say_result()
        outputs.write()

    how = arguments.watching(
        "match",
        record=files.record,
        seed=arguments.seed,
        pace=UNPACED_SPEED if arguments.fast else 1.0,
        paced=True,
        longest=10 * arguments.half + 3600.0,
        on_end=finish,
    )
    with files, outputs:
        try:
            watched = watch_run(match, how, terminal)
        except PlayerError:
            finish()
            raise
        finish()  # Ctrl-C ends the match without `on_end`
        return {**match.result(), "url": watched["url"], "simulated_s": watched["simulated_s"], **outputs.write()}


def _teams_of(arguments: Arguments) -> tuple[str, str]:
    """The teams as they were asked for, or those that are meant by nothing."""
    return arguments.left or _DEFAULT_LEFT[arguments.world], arguments.right or _DEFAULT_RIGHT[arguments.world]


def _field_of(arguments: Arguments) -> str:
    """The name of the field."""
    return arguments.field or DEFAULT_FIELD[arguments.world]


def check(arguments: Arguments) -> None:
    """Refuses a match that cannot be played, before any folder is made for it."""
    from nutmeg.model.robot import load_robot

    _rules_of(arguments)
    if arguments.camera_robot:
        load_robot(arguments.camera_robot)
    if arguments.record_cameras:
        _frame_plan(arguments)
    elif arguments.camera_labels or arguments.camera_robot:
        raise UsageError("--camera-labels and --camera-robot go with --record-cameras.")
    if arguments.world == BEHAVIOURAL:
        _check_behavioural(arguments)
    else:
        _check_physical(arguments)


def _frame_plan(arguments: Arguments) -> FramePlan:
    """Which pictures of cameras --record-cameras writes."""
    from nutmeg.view.files.camera_frames import FramePlan

    return FramePlan(
        rate=arguments.camera_rate,
        form=arguments.camera_format,
        seed=arguments.seed,
        labels=arguments.camera_labels,
        robot=arguments.camera_robot,
    )


def _check_physical(arguments: Arguments) -> None:
    from nutmeg.match.players.deciding_player import check_team_motions, usual_types
    from nutmeg.match.players.registry import is_decider, read_decide
    from nutmeg.motion.walk.files import read_walk

    for team in _teams_of(arguments):
        _check_complete(team)
        if is_decider(team):
            read_decide(team)
            read_walk(arguments.walk).for_robot(ROBOT)
        else:
            _check_walk_of(team)
    left = _teams_of(arguments)[0]
    decides = is_decider(left)
    walk = read_walk(arguments.walk if decides else left)
    check_team_motions(arguments.motions, walk, (0,) if decides else usual_types(walk), arguments.players)


def _check_walk_of(team: str) -> None:
    """Refuses a team that is named after no walk; the error also lists the other things that a team may be."""
    from nutmeg.match.players.tactics.strategies import strategy_names
    from nutmeg.motion.walk.files import read_walk

    try:
        read_walk(team).for_robot(ROBOT)
    except UnknownNameError as error:
        strategies = ", ".join(strategy_names())
        raise UsageError(f"{error} A team may also be a strategy ({strategies}) or file.py:decide.") from None


def _check_behavioural(arguments: Arguments) -> None:
    if arguments.motions:
        raise UsageError("--motions works in the physical world, where robots have joints.")
    if arguments.sonar:
        raise UsageError("--sonar is for the physical world; the eyes have sonars in the behavioural one.")
    from nutmeg.match.players.registry import read_decide
    from nutmeg.match.worlds.behavioural.eyes import load_eyes
    from nutmeg.match.worlds.behavioural.settings import load_behaviour

    for team in _teams_of(arguments):
        _check_complete(team)
        read_decide(team)
    load_behaviour(_named(arguments.behaviour))
    if arguments.eyes:
        load_eyes(_named(arguments.eyes))


def _check_complete(team: str) -> None:
    """Refuses the file of a player without the name of the function in it."""
    if team.endswith(".py"):
        raise UsageError(f"{team} is a file; name the function in it that decides, too: {team}:decide.")


def _book_of(arguments: Arguments) -> str:
    """The rule book that was asked for, or that of the world; the 3D simulation league's needs no penalty mark."""
    from nutmeg.model.field import load_field

    if arguments.rules:
        return arguments.rules
    marked = load_field(_field_of(arguments)).penalty_mark_distance > 0
    return DEFAULT_RULES[arguments.world] if marked else DEFAULT_RULES["physical"]


def _rules_of(arguments: Arguments) -> Rules:
    """The rule book on the field."""
    from nutmeg.match.rules.book import rules_on

    return rules_on(_book_of(arguments), _field_of(arguments)).with_match(
        players=arguments.players,
        half_length=arguments.half,
        automatic_kick_off=True,
        wait_before_kick_off=_KICK_OFF_WAIT,
        swap_ends=arguments.swap_ends,
    )


def new_match(arguments: Arguments, path: Path) -> GameLoop:
    """The teams on the pitch, before the first cycle."""
    from nutmeg.match.loop import GameLoop

    build = _behavioural if arguments.world == BEHAVIOURAL else _physical
    game, players = build(arguments, path)
    driver = GameLoop(game, players)
    eyes = {"eyes": str(Path(arguments.eyes).resolve())} if arguments.eyes.endswith(".toml") else {}
    shown = {"command": command_of(arguments), **eyes, **shown_names(arguments)}
    game.record_with(minds=lambda: driver.players, config=shown)
    return driver


def _behavioural(arguments: Arguments, path: Path) -> tuple[BaseGame, dict[tuple[str, int], AnyPlayer]]:
    from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
    from nutmeg.match.players.registry import read_decide

    names, chosen = team_names(*_teams_of(arguments)), _teams_of(arguments)
    game = BehaviourGame(
        _rules_of(arguments),
        seed=arguments.seed,
        setup=BehaviourSetup(
            field=_field_of(arguments),
            settings=_named(arguments.behaviour),
            eyes=_named(arguments.eyes) if arguments.eyes else None,
            cameras=arguments.images,
        ),
        left=names[0],
        right=names[1],
        record=path,
    )
    players: dict[tuple[str, int], AnyPlayer] = {}
    for name, team in zip(names, chosen, strict=True):
        players |= game.team(name, read_decide(team), arguments.players)
    return game, players


def _physical(arguments: Arguments, path: Path) -> tuple[BaseGame, dict[tuple[str, int], AnyPlayer]]:
    from nutmeg.match.game import Game, PhysicalSetup

    rules, (left, right) = _rules_of(arguments), team_names(*_teams_of(arguments))
    game = Game(
        rules,
        seed=arguments.seed,
        left=left,
        right=right,
        record=path,
        seats=2 * arguments.players,
        setup=PhysicalSetup(field=_field_of(arguments), sonar=arguments.sonar, cameras=arguments.images),
    )
    players: dict[tuple[str, int], AnyPlayer] = {}
    for name, team in zip((left, right), _teams_of(arguments), strict=True):
        motions = arguments.motions if name == left else ()
        for number, player in enumerate(_bodies(arguments, name, team, rules, motions), start=1):
            players[name, number] = player
    return game, players


def _bodies(arguments: Arguments, name: str, team: str, rules: Rules, motions: tuple[Path, ...]) -> Iterable[Player]:
    """The players of a team in the physical world: the built-in team with a walk, or a `decide`."""
    from nutmeg.match.players.deciding_player import DecidingPlayer, PlayerSetup, make_team
    from nutmeg.match.players.registry import is_decider, read_decide
    from nutmeg.motion.walk.files import read_walk

    field = _field_of(arguments)
    if not is_decider(team):
        return make_team(team, arguments.players, team=name, field=field, motions=motions)
    walk = read_walk(arguments.walk)
    setup = PlayerSetup(
        walk=walk, players=arguments.players, field=field, rules=rules, seed=arguments.seed, motions=motions
    )
    return [DecidingPlayer(read_decide(team), name, n, setup) for n in range(1, arguments.players + 1)]


def _named(name: str) -> str | Path:
    """A name, or the path of a file."""
    return Path(name) if name.endswith(".toml") else name


def team_names(left: str, right: str) -> tuple[str, str]:
    """Names of two teams by what they are; a team that plays against itself gets a second name."""
    from nutmeg.match.players.registry import is_decider, title_of

    first, second = (title_of(team) if is_decider(team) else Path(team).stem for team in (left, right))
    return first, second if second != first else f"{second}-2"


def shown_names(arguments: Arguments) -> dict[str, list[str]]:
    """Titles and subtitles of the teams on pages and in reports.

    Default teams are named after their shirts, with a description below, because the names of their walks or strategies
    mean nothing to a stranger. A team that was chosen keeps its name.
    """
    shown = [
        ("", "") if chosen else (shirt, _SUBTITLES[team])
        for chosen, shirt, team in zip((arguments.left, arguments.right), SHIRTS, _teams_of(arguments), strict=True)
    ]
    return {"titles": [title for title, _ in shown], "subtitles": [subtitle for _, subtitle in shown]}


def command_of(arguments: Arguments) -> str:
    """The command line that plays the same match."""
    left, right = _teams_of(arguments)
    words = ["nutmeg", "play", *(["--world", BEHAVIOURAL] if arguments.world == BEHAVIOURAL else [])]
    words += ["--left", left, "--right", right]
    usual, texts, numbers = Arguments(), ("field", "rules", "walk", "behaviour", "eyes"), ("players", "half", "seed")
    for name in (*texts, *numbers, "seconds", "images", "sonar", "swap_ends"):
        value, option = getattr(arguments, name), f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif name in numbers or value != getattr(usual, name):
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    words += ["--motions", *map(str, arguments.motions)] if arguments.motions else []
    return shlex.join(words)


@dataclass(frozen=True, kw_only=True)
class Files(Closing):
    """Where everything of a match goes. A folder that is still empty at the end of the `with` block is removed."""

    record: Path
    report: Path
    replay: Path | None
    video: Path | None
    cameras: Path
    """Folder for the pictures of robots' cameras, if requested."""
    folder: Path | None
    """The folder of the match, unless all files have names of their own."""

    def close(self) -> None:
        """Leaves no empty folder of a match that was interrupted before its recording began."""
        if self.folder is not None:
            with contextlib.suppress(OSError):  # it holds something
                self.folder.rmdir()

    @classmethod
    def of(cls, arguments: Arguments) -> Files:
        """The files that the options name; a new folder is made for the others."""
        from nutmeg.base.journal import new_folder

        folder = arguments.output
        if folder is not None:
            if (folder / "match.nutmeg").exists() and arguments.record is None:
                raise UsageError(f"{folder} has a match already; choose another folder with --output.")
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
        elif None in (arguments.record, arguments.report) or (arguments.make_replay and arguments.replay is None):
            folder = new_folder(Path("runs"), "match")
        place = folder or Path()
        record = arguments.record or place / "match.nutmeg"
        replay = (arguments.replay or place / "replay.html") if arguments.make_replay else None
        files = cls(
            record=record,
            report=arguments.report or place / "report.html",
            replay=replay,
            video=arguments.video,
            cameras=(folder if folder is not None else record.parent) / "cameras",
            folder=folder,
        )
        files.check()
        return files

    def check(self) -> None:
        """Refuses what cannot be written, before the match and not after it."""
        check_output(self.report)
        if self.replay is not None:
            check_output(self.replay)
        if self.video is not None:
            check_output(self.video, ".mp4")


class _MatchRun:
    """A match that is watched: built when its recording begins, then played cycle by cycle until it is over.

    `begun` is called after the first cycle, when the page is ready.
    """

    def __init__(self, arguments: Arguments, terminal: Terminal, *, begun: Callable[[], None]) -> None:
        self._arguments, self._terminal, self._begun = arguments, terminal, begun
        self._titles = dict(zip(team_names(*_teams_of(arguments)), shown_names(arguments)["titles"], strict=True))
        self._driver: GameLoop | None = None
        self._counts: Counter[str] = Counter()
        self._result_said = False  # whether the score was printed

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._driver.game.time if self._driver is not None else 0.0

    def begin(self, path: Path) -> None:
        """Lets the teams join and plays the first cycle."""
        with self._terminal.busy("the teams come onto the pitch"):
            self._driver = new_match(self._arguments, path)
            self._cycle(self._driver)

    def advance(self, seconds: float, clock: Clock) -> None:
        """Plays until the match is over, a time has passed, or the clock ends it."""
        driver = self._driver
        assert driver is not None
        self._begun()
        end = driver.game.time + seconds
        clock.start(driver.game.time)
        while not driver.game.over and driver.game.time < end - 1e-6:
            self._cycle(driver)
            if not clock.wait(driver.game.time):
                break

    def close(self) -> None:
        """Finishes the recording."""
        if self._driver is not None:
            self._driver.game.close()

    def result(self) -> dict[str, Any]:
        """Teams, score, what happened how often, and game time."""
        if self._driver is None:
            return {}
        game = self._driver.game
        turned = game.swaps % 2
        teams, score = (game.teams[::-1], game.state.score[::-1]) if turned else (game.teams, game.state.score)
        return {
            "teams": list(teams),
            "score": list(score),
            "game_time_s": round(game.state.time, 2),
            "over": game.over,
            "events": {kind: self._counts[kind] for kind in sorted(self._counts)},
        }

    def say_result(self) -> None:
        """Prints the score, and how long was played; a second call says nothing."""
        if self._driver is not None and not self._result_said:
            self._result_said = True
            played = self.result()
            left, right = (self._titles.get(team) or team for team in played["teams"])
            goals, against = played["score"]
            self._terminal.say(f"{left} {goals} : {against} {right} after {played['game_time_s']:.0f} s")

    def _cycle(self, driver: GameLoop) -> None:
        driver.cycle()
        for event in driver.game.events:
            self._counts[event.kind] += 1
            if event.kind in _ANNOUNCED_EVENTS:
                self._say(driver, event)

    def _say(self, driver: GameLoop, event: Event) -> None:
        from nutmeg.view.match_story import clock_text

        text = event.text
        for side, team in zip(("left", "right"), driver.game.teams, strict=True):
            text = text.replace(f" {side}", f" {self._titles.get(team) or team}")
        self._terminal.say(f"{clock_text(event.time):>6}  {text}")


class _MatchOutputs(Closing):
    """Report, replay, video and camera pictures of a match that has been recorded; written once.

    A process beside the match writes report and replay while it is played; they are there soon after its end.
    """

    def __init__(self, arguments: Arguments, files: Files, terminal: Terminal) -> None:
        self._arguments, self._files, self._terminal = arguments, files, terminal
        self._beside: MatchPagesProcess | None = None
        self._written: dict[str, object] | None = None

    def begin(self) -> None:
        """Starts what is written while the match is played; a replay of a long one has fewer moments a second."""
        from nutmeg.view.pages.process import MatchPagesProcess

        arguments, (fewest, most) = self._arguments, _REPLAY_FPS
        length = max(arguments.seconds or 2 * arguments.half, 1.0)
        self._beside = MatchPagesProcess(
            self._files.record,
            replay=self._files.replay,
            fps=min(max(_REPLAY_MOMENTS / length, fewest), most),
            report=self._files.report,
            command=command_of(arguments),
            seed=arguments.seed,
        )

    def close(self) -> None:
        """Ends what is still written."""
        if self._beside is not None:
            self._beside.close()

    def write(self) -> dict[str, object]:
        """Writes everything, and says where; a second call only returns the names of the files."""
        from nutmeg.recording.manifest import MANIFEST

        if self._written is None:
            self._written = {}
            if not (self._files.record / MANIFEST).is_file():
                self._terminal.say("nothing was played, so there is nothing to report.")
                return self._written
            self._written["recording"] = self._files.record
            try:
                self._finish_pages(self._written)
                self._draw(self._written)
            except NutmegError:
                self._terminal.say(f"The match itself is safe: nutmeg replay {self._files.record}")
                raise
        return self._written

    def _finish_pages(self, written: dict[str, object]) -> None:
        """Wait for report and replay, and say where they are."""
        if self._beside is None:  # a match of one cycle
            self.begin()
        assert self._beside is not None
        files = {"report": self._files.report, "replay": self._files.replay}
        with self._terminal.busy("finishing report and replay"):
            for page, size in self._beside.pages():
                written[page] = files[page]
                note = f" ({size / 1e6:.1f} MB; open it in any browser)" if page == "replay" else ""
                self._terminal.say(f"{page}: {files[page]}{note}")

    def _draw(self, written: dict[str, object]) -> None:
        """Draws the video and the pictures of cameras, if they are requested and there is a renderer."""
        from nutmeg.view.files.camera_frames import write_cameras
        from nutmeg.view.files.pictures import QUICK
        from nutmeg.view.files.video import video

        arguments, files, terminal = self._arguments, self._files, self._terminal
        if files.video is not None:
            film = partial(video, files.record, files.video, camera="stand", quality=QUICK)
            if drawn(terminal, "video", film) is not None:
                written["video"] = files.video
                terminal.say(f"video: {files.video}")
        if arguments.record_cameras:
            plan = _frame_plan(arguments)
            count = drawn(terminal, "camera pictures", partial(write_cameras, files.record, files.cameras, plan))
            if count is not None:
                written["cameras"], written["camera_pictures"] = files.cameras, count
                terminal.say(f"cameras: {files.cameras} ({count} pictures)")
