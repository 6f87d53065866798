"""What is drawn over the robots: forces by inverse dynamics against closed forms, and support polygons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.sim import Worlds
from nutmeg.sim.trace import TraceWriter
from nutmeg.view.pages.layers import contact_forces, support_polygon
from nutmeg.view.stage.bodies import body_tree, collision_glbs, inertia_glbs
from nutmeg.view.stage.film import Film


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """A recording of an ant that stands still."""
    path = tmp_path_factory.mktemp("layers") / "ant.nutmeg"
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(Placement(robot="ant", name="ant"),))))
    worlds.advance(2.0)
    with TraceWriter(path, worlds) as trace:
        for row in range(20):
            trace.sample(0.02 * row)
            worlds.advance(0.02)
    return Film.open(path)


def test_the_contact_forces_of_a_robot_that_stands_carry_its_weight(standing: Film) -> None:
    forces = contact_forces(standing.model, standing, 0.2)
    weight = float(standing.model.body_subtreemass[0]) * 9.81
    assert len(forces) >= 3
    total = np.sum([one.force for one in forces], axis=0)
    assert total[2] == pytest.approx(weight, rel=0.2)
    assert np.hypot(*total[:2]) < 0.1 * weight
    assert all(any(name.startswith("ant/") for name in one.bodies) for one in forces)


def test_a_ball_in_the_air_has_no_contact_forces(recorded: Path) -> None:
    film = Film.open(recorded)
    assert all(
        "ball" not in " ".join(one.bodies) or one.place[2] < 0.01 for one in contact_forces(film.model, film, 1.0)
    )


def test_a_support_polygon_has_only_the_outer_points_in_order() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    found = support_polygon(np.concatenate([square, [[0.5, 0.5], [0.2, 0.7]]]))
    assert sorted(map(tuple, found)) == sorted(map(tuple, square))
    edges = np.linalg.norm(found - np.roll(found, -1, axis=0), axis=1)
    assert edges == pytest.approx(1.0)


@pytest.mark.parametrize("places", [np.empty((0, 2)), np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])])
def test_too_few_contacts_or_contacts_in_a_line_are_their_own_polygon(places: np.ndarray) -> None:
    assert len(support_polygon(places)) == len(places)


def test_collision_shapes_and_inertias_are_drawn_for_the_bodies_that_have_them(standing: Film) -> None:
    tree = body_tree(standing.model)
    shapes, boxes = (dict(make(standing.model, tree, "ant", (1, 2, 3))) for make in (collision_glbs, inertia_glbs))
    assert set(shapes) <= {piece.path for piece in tree if piece.thing == "ant"}
    assert len(shapes) >= 1
    assert len(boxes) >= len(shapes) - 1
    assert all(glb[:4] == b"glTF" for glb in (*shapes.values(), *boxes.values()))
    assert dict(collision_glbs(standing.model, tree, "nobody", (1, 2, 3))) == {}


def test_a_ghost_has_what_moves_and_nothing_else(standing: Film) -> None:
    ghost, whole = body_tree(standing.model, ghost=True), body_tree(standing.model)
    assert ghost[0].glb is None
    assert {piece.path.replace("/beside", "/world") for piece in ghost} <= {piece.path for piece in whole}
    assert sum(piece.glb is not None for piece in ghost) == sum(
        piece.thing == "ant" and piece.glb is not None for piece in whole
    )
