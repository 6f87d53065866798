"""A recording as one web page that plays from disk, without any server or network.

The page has a time slider, play and pause, speeds from 0.5x to 8x, an orbiting camera, and a switch for the labels;
that of a match has a score board and a list of events to click, and follows the ball.

    replay_html(Path("match.nutmeg"), Path("match.html"))
"""

from __future__ import annotations

import html
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import FileError, UsageError
from nutmeg.view.html import read_text
from nutmeg.view.match_story import MatchStory, is_match
from nutmeg.view.pages.furniture import replay_head
from nutmeg.view.pages.server import open_server
from nutmeg.view.stage.cameras import stand_view, thing_position
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Cast, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nutmeg.base.arrays import Floats

FOLLOW_SMOOTHING = 0.6
"""The view of a match goes after the ball with this time constant, seconds."""


def replay_html(
    path: Path,
    out: Path,
    *,
    fps: float = 25.0,
    max_seconds: float | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the page; returns its size in bytes.

    Args:
        path: the recording.
        out: the HTML file to write.
        fps: moments per second that are kept.
        max_seconds: keep only so much from the start.
        on_progress: called with the moments done and their total.
    """
    if not 1 <= fps <= 120:
        raise UsageError(f"fps is {fps:g}; it must lie between 1 and 120.")
    film = Film.open(path)
    total = film.frame_count(fps, max_seconds)
    with open_server("127.0.0.1", 0) as server:
        stage = Stage(server, film.model, robots=film.robots)
        cast = Cast(stage, server, film.qpos_at(film.start))
        head = read_text("label_switch.html") + _match_head(film, cast, max_seconds)
        followed = None
        if is_match(film.recording):
            stage.aim(stand_view(stage.pitch, stage.pitch.centre))
        serializer = server.get_scene_serializer()
        for done, (_, qpos) in enumerate(film.frames(fps, max_seconds), 1):
            cast.show(qpos)
            if is_match(film.recording):
                followed = _followed(cast, followed, 1 / fps)
                cast.carry(followed)
            serializer.insert_sleep(1 / fps)
            on_progress(done, total)
        page = _titled(serializer.as_html(), film.title, head)
    try:
        unfinished = out.with_name(f".{out.name}.unfinished")
        unfinished.write_text(page, encoding="utf-8")
        unfinished.replace(out)
    except OSError as error:
        raise FileError(out, f"the replay cannot be written: {error.strerror}.") from error
    return out.stat().st_size


def _followed(cast: Cast, before: Floats | None, seconds: float) -> Floats:
    """The point (3,) to look at: it follows the ball smoothly from the point `before`, and stays on the pitch."""
    pitch, ball = cast.stage.pitch, thing_position(cast.model, cast.data, "ball")
    goal = pitch.centre if ball is None else np.clip(ball, pitch.low, pitch.high)
    return goal if before is None else before + (1 - math.exp(-seconds / FOLLOW_SMOOTHING)) * (goal - before)


def _match_head(film: Film, cast: Cast, seconds: float | None) -> str:
    """The head of the page of a match, with score board and events; also names the teams above the robots."""
    if not is_match(film.recording):
        return ""
    story = MatchStory(film.recording)
    for robot in cast.robots:
        cast.name(robot, story.name_of(robot))
    end = film.end if seconds is None else min(film.end, film.start + seconds)
    return replay_head(story, film.start, end)


def _titled(page: str, title: str, head: str) -> str:
    """The page under the recording's name, with what else its head needs."""
    body = page.index("</head>")
    before = re.sub(r"<title>.*?</title>", "", page[:body], flags=re.DOTALL)
    return f"{before}<title>{html.escape(title)} · Nutmeg</title>{head}{page[body:]}"
