"""Figures and pages of servos."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nutmeg.sim.servo.bench import FrequencyResponse, HysteresisLoop, ServoMeasurement, StepResponses, TorqueSpeed
from nutmeg.sim.servo.replay import Comparison
from nutmeg.view.reports.report import page, write_page
from nutmeg.view.reports.servo import NUMBER_NAMES, readable, replay_figure, servo_figure, servo_page


def measured(name: str = "motoflex", *, gear: bool = True) -> ServoMeasurement:
    """A made-up servo with round numbers."""
    times = np.arange(0, 1, 0.001)
    rise = np.where(times < 0.1, 0.0, 1 - np.exp(-(times - 0.1) / 0.05))
    sizes = np.array([0.1, 0.2])
    f = np.geomspace(0.5, 20, 20)
    torques = np.linspace(-2, 2, 40)
    sweep = 2 * np.sin(np.linspace(0, 2 * np.pi, 200))
    held = torques / 400 + 0.01 * np.sign(torques)
    loads = np.linspace(0, 2.2, 12)
    return ServoMeasurement(
        actuation=name,
        inertia=0.0123,
        steps=StepResponses(times, sizes, rise[:, None] * sizes),
        frequency=FrequencyResponse(f, 1 / (1 + 1j * f / 6), 0.05),
        loop=HysteresisLoop(sweep / 80, sweep, held if gear else np.zeros(0), torques if gear else np.zeros(0)),
        torque_speed=TorqueSpeed(loads, np.maximum(0, 5 - 2.5 * loads), (2.4, 5.2)),
    )


@pytest.mark.parametrize("gear", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_the_figure_is_a_picture_with_something_in_every_quarter(gear: bool, beside: bool) -> None:
    png = servo_figure("toy elbow", measured(gear=gear), measured("ideal", gear=False) if beside else None)
    picture = np.asarray(Image.open(io.BytesIO(png)).convert("L"), float)
    height, width = picture.shape
    assert width > 1200
    for quarter in (picture[: height // 2, : width // 2], picture[: height // 2, width // 2 :],
                    picture[height // 2 :, : width // 2], picture[height // 2 :, width // 2 :]):  # fmt: skip
        assert (quarter < 150).mean() > 0.005


def test_the_page_carries_its_picture_and_all_numbers() -> None:
    first, ideal = measured(), measured("ideal", gear=False)
    text = page(servo_page("toy <elbow>", first, ideal, {"voltage": "12 V <nominal>"}, ["made up"]))
    assert text.count("<svg role=") == 1
    assert all(f">{name}<" in text for name in ("Step response", "Hysteresis loop", "speed [rad/s]"))
    assert not re.search(r'(src|href)="(?!data:|#)', text), "nothing is fetched from elsewhere"
    assert "toy &lt;elbow&gt;" in text
    assert "12 V &lt;nominal&gt;" in text
    assert "<li>made up</li>" in text
    for name, value in first.numbers().items():
        assert NUMBER_NAMES[name][0] in text
        assert readable(name, value) in text
    assert ">rigid<" in text, "the ideal drive has no gear"


def test_numbers_are_written_as_people_read_them() -> None:
    assert readable("rise_time_s", 0.0312) == "31.2 ms"
    assert readable("play_rad", 0.0244) == "24.4 mrad"
    assert readable("gear_stiffness_Nm_per_rad", math.inf) == "rigid"
    assert readable("bandwidth_Hz", math.inf) == "above the highest tried"
    assert readable("bandwidth_Hz", math.nan) == "below the lowest tried"


@pytest.mark.parametrize("count", [1, 3])
def test_recordings_are_drawn_with_what_was_simulated(count: int) -> None:
    times = np.linspace(0, 2, 200)
    goal = np.sin(3 * times)
    powered = times < 1.2
    one = Comparison("kp1_sine", times, goal, 0.6 * goal, 0.62 * goal, 0.9 * goal, powered)
    assert one.errors()["servo"] == pytest.approx(0.02 * np.abs(goal).mean())
    assert one.errors()["goal"] == pytest.approx(0.4 * np.abs(goal).mean())
    picture = Image.open(io.BytesIO(replay_figure("toy", [one] * count)))
    assert picture.height > 300
    assert (np.asarray(picture.convert("L"), float) < 150).mean() > 0.005


def brightness(colour: str) -> int:
    """Of `rgb(1, 2, 3)`: 6."""
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


@pytest.mark.browser
def test_the_page_shows_in_a_browser(tmp_path: Path, browser_page: Any) -> None:
    file = tmp_path / "servo.html"
    write_page(file, servo_page("toy elbow", measured(), None, {"voltage": "12 V"}))
    browser_page.goto(file.as_uri())
    assert browser_page.evaluate("document.querySelector('svg').clientWidth") > 600
    ink = "getComputedStyle(document.querySelector('svg text')).fill"
    paper = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for scheme in ("light", "dark"):
        browser_page.emulate_media(color_scheme=scheme)
        seen.append([brightness(browser_page.evaluate(what)) for what in (ink, paper)])
    (light_ink, light_paper), (dark_ink, dark_paper) = seen
    assert light_ink + 400 < light_paper
    assert dark_paper + 400 < dark_ink
    assert browser_page.locator("table").count() == 2
    assert browser_page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not browser_page.complaints
