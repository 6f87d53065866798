"""Lamps on the page have the colours that were recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.net.host.cameras import Picture
from nutmeg.net.host.robot_host import SCHEDULE_LABELS, HostSettings, RobotHost
from nutmeg.net.lola.packets import LIGHTS
from nutmeg.net.lola.port import LIGHT_LABELS
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.sim.trace import TraceWriter
from nutmeg.sim.worlds import Worlds
from nutmeg.view.pages.hosted_robots import (
    LAMP_OFF,
    LAMP_PLACES,
    SCHEDULE_COLUMNS,
    SONAR_OBSTACLE_DISTANCE,
    TAP_TIME,
    Lights,
    ScheduleBoard,
    Sonars,
    TouchPad,
    lamp_colour,
    schedule_text,
)
from nutmeg.view.pages.orders import Inbox, Order, read_order
from nutmeg.view.pages.server import open_server
from nutmeg.view.stage.film import Film
from nutmeg.view.stage.stage import Cast, Stage


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
    with TraceWriter(tmp_path / "a.nutmeg", worlds, senses=[(channel, lambda: brightness)]) as trace:
        trace.sample(0.0)
        brightness[LIGHT_LABELS.index("Chest2")] = 1.0
        trace.sample(1.0)
    film = Film.open(tmp_path / "a.nutmeg")
    with open_server("127.0.0.1", 0) as server:
        lights = Lights(server, Cast(Stage(server, film.model, robots=film.robots), server), film)
        lamps = lights._lamps
        assert set(lamps) == {"nao"}
        chest = next(node for node, group, _ in lamps["nao"] if group == "Chest")
        lights.show(0.5)
        assert tuple(chest.color) == LAMP_OFF
        lights.show(1.0)
        assert tuple(chest.color) == (LAMP_OFF[0], LAMP_OFF[1], 255)


class _Still:
    """A port that only takes its robots."""

    name, period, clients = "still", 0.012, 0

    def open(self, host: RobotHost) -> None:
        for placement in host.settings.robots:
            host.take(placement.name, period=self.period)

    def turn(self, time: float) -> None:
        pass

    def waiting(self) -> Sequence[str]:
        return ()

    def give_up(self, names: Sequence[str]) -> None:
        pass

    def picture(self, picture: Picture) -> None:
        pass

    def close(self) -> None:
        pass


def test_sonars_of_hosted_robots_are_drawn_as_far_as_they_answer(tmp_path: Path) -> None:
    robots = tuple(
        Placement(robot="nao-v6", name=name, pos=pos, heading=heading)
        for name, pos, heading in (("a", (0, 0), 0.0), ("b", (0.5, 0), math.pi), ("alone", (-2, 2), 1.0))
    )
    path = tmp_path / "a.nutmeg"
    settings = HostSettings(robots=robots, field="floor", ball="none", lock_step=True, needed=0, record=path)
    with RobotHost(settings, [_Still()]) as host:
        host.run(0.3)
    film = Film.open(path)
    heard = float(film.recording.read("a.SonarLeft")[-1][0])
    assert 0.3 < heard < 0.5
    with open_server("127.0.0.1", 0) as server:
        cast = Cast(Stage(server, film.model, robots=film.robots), server, film.qpos_at(film.end))
        sonars = Sonars(server, cast, film)
        sonars.show(film.end)
        lengths = {
            name: np.linalg.norm(node.points[:, 0] - node.points[:, 1], axis=1) for name, node in sonars._nodes.items()
        }
        tips = cast.data.site_xpos[[cast.model.site(f"{robot}/SonarLeft").id for robot in ("a", "alone")]]
        starts = [sonars._nodes[name].points[0, 0] for name in ("echoes", "silent")]
    assert lengths["echoes"][0] == pytest.approx(heard, abs=1e-3)
    assert lengths["silent"][0] == pytest.approx(0.8, abs=0.03)
    assert np.array(starts) == pytest.approx(tips, abs=1e-5)
    assert len(lengths["echoes"]) == 2 * len(lengths["silent"])


def test_recordings_without_sonars_draw_none(recorded: Path) -> None:
    film = Film.open(recorded)
    with open_server("127.0.0.1", 0) as server:
        sonars = Sonars(server, Cast(Stage(server, film.model, robots=film.robots), server), film)
        sonars.show(0.0)
        assert not sonars._nodes


EMPTY = "<mujoco><worldbody/></mujoco>"


def test_the_table_shows_the_numbers_of_the_moment(tmp_path: Path) -> None:
    channel = Channel(name="schedule.lola", labels=SCHEDULE_LABELS)
    with RecordingWriter.create(
        tmp_path / "a.nutmeg", Manifest(kind="scene", seed=0, channels=(channel,)), scene_xml=EMPTY
    ) as writer:
        writer.append(0.0, np.zeros(len(SCHEDULE_LABELS)))
        writer.append(1.0, np.arange(1.0, len(SCHEDULE_LABELS) + 1))
    film = Film.open(tmp_path / "a.nutmeg")
    with open_server("127.0.0.1", 0) as server:
        board = ScheduleBoard(server, film)
        board.show(1.0)
        assert "| lola | 1 | 2 | 3 | 7 | 6 |" in board._table.content


def test_every_column_is_one_that_hosts_record() -> None:
    assert set(SCHEDULE_COLUMNS) <= set(SCHEDULE_LABELS)
    assert (
        schedule_text({"sense": np.array([10, 1, 0, 0.51234, 2.0])}).splitlines()[-1]
        == "| sense | 10 | 1 | 0 | 0.5123 | 2 |"
    )


def test_other_recordings_have_no_table(recorded: Path) -> None:
    with open_server("127.0.0.1", 0) as server:
        board = ScheduleBoard(server, Film.open(recorded))
        board.show(0.0)
        assert board._table is None


def test_a_touch_lasts_a_moment_and_a_hold_until_it_is_let_go() -> None:
    sent: list[Order] = []
    with open_server("127.0.0.1", 0) as server:
        pad = TouchPad(server, {"nao": ("ChestButton", "SonarLeft", "Battery", "Charging")}, sent.append)
        pad.touch(TAP_TIME)
        pad.touch(0.0)
        pad.let_go()
        pad._sensor.value = "SonarLeft"
        pad.touch(TAP_TIME)
    assert [order.numbers for order in sent] == [
        (1.0, TAP_TIME, 0.0),
        (1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0),
        (SONAR_OBSTACLE_DISTANCE, TAP_TIME, 0.0),
    ]
    assert [order.thing for order in sent[::3]] == ["nao/ChestButton", "nao/SonarLeft"]


def test_a_poke_is_handed_on_at_once_and_keeps_its_name() -> None:
    inbox, poked = Inbox(), list[Order]()
    inbox.on_poke = poked.append
    order = Order(order="poke", thing="nao/ChestButton", numbers=(1.0, 0.25, 0.0))
    inbox.post(order.line())
    inbox.post('{"order": "poke", "thing": "x", "numbers": [1e9, 0, 0]}')
    assert poked == [order]
    assert inbox.take() == []
    assert "three numbers" in inbox.refused()[0]


def test_a_long_name_is_cut() -> None:
    assert len(read_order(Order(order="poke", thing="x" * 300).line()).thing) == 100
    with pytest.raises(UsageError):
        read_order('{"order": "prod"}')
