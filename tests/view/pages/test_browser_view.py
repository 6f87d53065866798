"""`nutmeg view` in a real browser: joints follow their sliders, a push is felt, sensors are shown."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nutmeg.recording import Recording

from ...conftest import wait_until
from ..conftest import watched_command

until = functools.partial(wait_until, every=0.2)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def viewing(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of the page of a Nao, and its recording."""
    path = tmp_path / "nao.nutmeg"
    with watched_command("view", "nao-v6", "--record", str(path)) as url:
        yield url, path


def angle(path: Path, joint: str) -> float:
    """The present angle of a joint."""
    recording = Recording.open(path)
    values = recording.read("nao-v6-1.angles", len(recording) - 1, len(recording))[0]
    return float(values[recording.channels["nao-v6-1.angles"].labels.index(joint)])


def test_joints_follow_their_sliders_and_poses_and_pushes_are_felt(
    browser_page: Any, viewing: tuple[str, Path]
) -> None:
    page, (url, path) = browser_page, viewing
    page.set_viewport_size({"width": 1100, "height": 800})
    page.goto(url)
    head = page.locator(".mantine-Flex-root", has_text="HeadYaw").first.locator("input").last
    head.wait_for()
    assert page.locator("[data-nutmeg-sensors] tr").count() > 3
    head.fill("0.8")
    until(lambda: angle(path, "HeadYaw") == pytest.approx(0.8, abs=0.1))
    page.get_by_label("Pose", exact=True).first.dispatch_event("click")
    page.get_by_role("option", name="zero", exact=True).dispatch_event("click")
    until(lambda: angle(path, "HeadYaw") == pytest.approx(0.0, abs=0.1))
    page.get_by_text("Push", exact=True).first.dispatch_event("click")
    page.get_by_role("button", name="Push for 0.1 s").dispatch_event("click")
    until(lambda: any(event["kind"] == "push" for event in Recording.open(path).events))
    page.get_by_role("button", name="Put it back").dispatch_event("click")
    until(lambda: Recording.open(path).events[-1]["kind"] == "restart")
    assert page.complaints == []
