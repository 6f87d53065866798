"""Lamps on the page have the colours that were recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.engine.trace import TraceWriter
from nutmeg.engine.worlds import Worlds
from nutmeg.net.lola.names import LIGHTS
from nutmeg.net.lola.port import LIGHT_LABELS
from nutmeg.recording import Channel
from nutmeg.view.film import Film
from nutmeg.view.lights import DARK, LAMPS, Lights, lamp_colour
from nutmeg.view.server import open_server
from nutmeg.view.stage import Stage


@pytest.mark.parametrize(
    ("group", "values", "colour"),
    [
        ("Chest", [0, 0, 0], DARK),
        ("Chest", [1, 1, 1], (255, 255, 255)),
        ("Chest", [0, 1, 0], (DARK[0], 255, DARK[2])),
        ("LEye", [1] * 8 + [0] * 16, (255, DARK[1], DARK[2])),
        ("Skull", [1] * 12, (255, 255, 255)),
        ("Skull", [0] * 12, DARK),
        ("LEar", [0] * 10, DARK),
    ],
)
def test_a_lamp_has_the_mean_colour_of_its_group(group: str, values: list[float], colour: tuple[int, ...]) -> None:
    assert lamp_colour(group, np.array(values, dtype=float)) == colour


def test_every_group_of_lights_has_a_lamp_on_a_body_of_the_nao() -> None:
    scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v6", name="nao"),)))
    assert set(LAMPS) == set(LIGHTS)
    for body, _, _ in LAMPS.values():
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
        assert tuple(chest.color) == DARK
        lights.show(1.0)
        assert tuple(chest.color) == (DARK[0], DARK[1], 255)
