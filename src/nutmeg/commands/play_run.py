"""A match that is watched while it is played, and what is written when it is over.

match = MatchRun(new_match, terminal)                   # a `Run` for nutmeg.view.live
watch_run(match, Watching(on_end=aftermath.write), terminal)
aftermath.write()                                       # report, replay, video, camera pictures; once
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import EnvironmentProblem, NutmegError, UsageError
from nutmeg.base.journal import new_folder
from nutmeg.commands.options import check_output, writing
from nutmeg.recording import Recording
from nutmeg.recording.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nutmeg.commands.play import Arguments
    from nutmeg.match.loop import GameLoop
    from nutmeg.match.rules.decisions import Event
    from nutmeg.sim.pace import Clock
    from nutmeg.view.terminal import Terminal

SAID = ("goal", "half")
"""Kinds of events that are told in the terminal."""
REPLAY_FPS, REPLAY_MOMENTS = (5.0, 10.0), 3600
"""Fewest and most moments per second of a replay, and how many it has if these allow it: each takes some 25 ms to make
with four a side."""


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where everything of a match goes."""

    record: Path
    report: Path
    replay: Path | None
    video: Path | None
    cameras: Path
    """Folder for the pictures of robots' cameras, if somebody wants them."""

    @classmethod
    def of(cls, arguments: Arguments) -> Files:
        """As the options say; a new folder is made for what they leave open."""
        from pathlib import Path

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


class MatchRun:
    """A match as something to watch: built when its recording begins, one cycle after the other until it is over.

    Args:
        build: makes the match, given the recording to make.
        terminal: where goals are told.
    """

    def __init__(self, build: Callable[[Path], GameLoop], terminal: Terminal) -> None:
        self._build, self._terminal = build, terminal
        self._driver: GameLoop | None = None
        self._counts: Counter[str] = Counter()

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return self._driver.game.time if self._driver is not None else 0.0

    def begin(self, path: Path) -> None:
        """Lets the teams join and plays the first cycle."""
        with self._terminal.busy("the teams come onto the pitch"):
            self._driver = self._build(path)
            self._cycle(self._driver)

    def advance(self, seconds: float, clock: Clock) -> None:
        """Plays until the match is over, so much time has passed, or the clock ends it."""
        driver = self._driver
        assert driver is not None
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

    def _cycle(self, driver: GameLoop) -> None:
        driver.cycle()
        for event in driver.game.events:
            self._counts[event.kind] += 1
            if event.kind in SAID:
                self._say(driver, event)

    def _say(self, driver: GameLoop, event: Event) -> None:
        from nutmeg.view.match_story import clock_text

        text = event.text
        for side, team in zip(("left", "right"), driver.game.teams, strict=True):
            text = text.replace(f" {side}", f" {team}")
        self._terminal.say(f"{clock_text(event.time):>6}  {text}")


class Aftermath:
    """Report, replay, video and camera pictures of a match that has been recorded; written once.

    Args:
        files: where to.
        command: the command line that plays the same match.
        seed: of the match.
        terminal: told what is written.
        cameras: pictures a second of robots' cameras, and their form; None for none.
    """

    def __init__(
        self,
        files: Files,
        *,
        command: str,
        seed: int,
        terminal: Terminal,
        cameras: tuple[float, str] | None = None,
    ) -> None:
        self._files, self._command, self._seed, self._terminal = files, command, seed, terminal
        self._cameras = cameras
        self._written: dict[str, object] | None = None

    def write(self) -> dict[str, object]:
        """Writes everything, and says where; a second call only returns the names of the files."""
        if self._written is None:
            self._written = {}
            if not (self._files.record / MANIFEST).is_file():
                self._terminal.say("nothing was played, so there is nothing to report.")
                return self._written
            self._written["recording"] = self._files.record
            try:
                self._write_all(self._written)
            except NutmegError:
                self._terminal.say(f"The match itself is safe: nutmeg replay {self._files.record}")
                raise
        return self._written

    def _write_all(self, written: dict[str, object]) -> None:
        self._write_report(written)
        if self._files.replay is not None:
            self._write_replay(self._files.replay, written)
        if self._files.video is not None:
            self._write_video(self._files.video, written)
        if self._cameras is not None:
            self._write_cameras(*self._cameras, written)

    def _write_report(self, written: dict[str, object]) -> None:
        from nutmeg.view.reports.match import write_match_report

        with self._terminal.busy("writing the report"):
            write_match_report(self._files.record, self._files.report, command=self._command, seed=self._seed)
        written["report"] = self._files.report
        self._terminal.say(f"report: {self._files.report}")

    def _write_replay(self, out: Path, written: dict[str, object]) -> None:
        from nutmeg.view.files.replay import replay_html

        fewest, most = REPLAY_FPS
        fps = min(max(REPLAY_MOMENTS / max(Recording.open(self._files.record).duration, 1.0), fewest), most)
        with self._terminal.counting("replay") as on_progress:
            size = replay_html(
                self._files.record,
                out,
                fps=fps,
                on_progress=on_progress,
            )
        written["replay"] = out
        self._terminal.say(f"replay: {out} ({size / 1e6:.1f} MB; open it in any browser)")

    def _write_video(self, out: Path, written: dict[str, object]) -> None:
        from nutmeg.view.files.pictures import QUICK
        from nutmeg.view.files.video import video

        try:
            with self._terminal.counting("video") as on_progress:
                video(
                    self._files.record,
                    out,
                    camera="stand",
                    quality=QUICK,
                    on_progress=on_progress,
                )
        except EnvironmentProblem as problem:
            self._terminal.warn(f"no video: {problem}")
            return
        written["video"] = out
        self._terminal.say(f"video: {out}")

    def _write_cameras(self, rate: float, form: str, written: dict[str, object]) -> None:
        from nutmeg.view.files.camera_frames import write_cameras

        folder = self._files.cameras
        try:
            with self._terminal.counting("camera pictures") as on_progress:
                count = write_cameras(
                    self._files.record,
                    folder,
                    rate=rate,
                    form=form,
                    on_progress=on_progress,
                )
        except EnvironmentProblem as problem:
            self._terminal.warn(f"no camera pictures: {problem}")
            return
        written["cameras"], written["camera_pictures"] = folder, count
        self._terminal.say(f"cameras: {folder} ({count} pictures)")
