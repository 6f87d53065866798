"""Lamps on the page have the colours that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.net.lola.packets import LIGHTS
from nutmeg.net.lola.port import LIGHT_LABELS
from nutmeg.recording import Channel
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import Worlds
from nutmeg.view.pages.hosted_robots import LAMP_OFF, LAMP_PLACES, Lights, lamp_colour
from nutmeg.view.pages.server import open_server
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Stage


@pytest.mark.parametrize(
    ("group", "values", "colour"),
    [
        ("Chest", [0, 0, 0], LAMP_OFF),
        ("Chest", [1, 1, 1], (255, 255, 255)),
        ("Chest", [0, 1, 0], (LAMP_OFF[0], 255, LAMP_OFF[2])),
        ("LEye", [1] * 8 + [0] * 16, (255, LAMP_OFF[1], LAMP_OFF[2])),
        ("Skull", [1] * 12, (255, 255, 255)),
        ("Skull", [0] * 12, LAMP_OFF),
        ("LEar", [0] * 10, LAMP_OFF),
    ],
)
def test_a_lamp_has_the_mean_colour_of_its_group(group: str, values: list[float], colour: tuple[int, ...]) -> None:
    assert lamp_colour(group, np.array(values, dtype=float)) == colour


def test_every_group_of_lights_has_a_lamp_on_a_body_of_the_nao() -> None:
    scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v6", name="nao"),)))
    assert set(LAMP_PLACES) == set(LIGHTS)
    for body, _, _ in LAMP_PLACES.values():
        assert scene.model.body(f"nao/{body}").id > 0


def test_lamps_follow_the_recording_and_robots_without_lights_have_none(tmp_path: Path) -> None:
    robots = (Placement(robot="nao-v6", name="nao"), Placement(robot="nao-v6", name="dark", pos=(1, 0)))
    worlds = Worlds(assemble(SceneSettings(field="none", ball="none", robots=robots)))
    brightness = np.zeros(len(LIGHT_LABELS))
    channel = Channel(name="nao.lights", labels=LIGHT_LABELS, resolution=0.01)
    with TraceWriter(tmp_path / "a.nutmeg", worlds, more=[(channel, lambda: brightness)]) as trace:
        trace.sample(0.0)
        brightness[LIGHT_LABELS.index("Chest2")] = 1.0
        trace.sample(1.0)
    film = Film.open(tmp_path / "a.nutmeg")
    with open_server("127.0.0.1", 0) as server:
        lights = Lights(server, Stage(server, film.model, robots=film.robots), film)
        lamps = lights._lamps
        assert set(lamps) == {"nao"}
        chest = next(node for node, group, _ in lamps["nao"] if group == "Chest")
        lights.show(0.5)
        assert tuple(chest.color) == LAMP_OFF
        lights.show(1.0)
        assert tuple(chest.color) == (LAMP_OFF[0], LAMP_OFF[1], 255)
