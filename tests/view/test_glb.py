import io
import json
import struct

import numpy as np
import pytest
import trimesh

from nutmeg.view.stage.meshes import Finish, Part, box, cylinder, pack

RED, GLASS = Finish(rgba=(1, 0, 0, 1)), Finish(rgba=(0, 0, 1, 0.4))


def document(data: bytes) -> dict:
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length])


def test_another_reader_finds_the_same_volume_and_size() -> None:
    data = pack([Part(mesh=box(np.array([0.1, 0.2, 0.3])), finish=RED), Part(mesh=cylinder(0.05, 0.5), finish=RED)])
    scene = trimesh.load(io.BytesIO(data), file_type="glb", process=False)
    assert np.allclose(scene.bounds, [[-0.1, -0.2, -0.5], [0.1, 0.2, 0.5]], atol=1e-6)
    expected = 8 * 0.1 * 0.2 * 0.3 + cylinder(0.05, 0.5).volume
    assert sum(g.volume for g in scene.geometry.values()) == pytest.approx(expected, rel=1e-5)


def test_parts_of_one_gloss_share_a_primitive_and_transparent_ones_have_their_own() -> None:
    parts = [Part(mesh=box(np.ones(3)), finish=f) for f in (RED, GLASS, RED)]
    table = document(pack(parts))
    assert len(table["meshes"][0]["primitives"]) == 2
    assert [m["alphaMode"] for m in table["materials"]] == ["OPAQUE", "BLEND"]


def test_the_container_tells_its_own_length() -> None:
    data = pack([Part(mesh=box(np.ones(3)), finish=RED)])
    assert data[:4] == b"glTF"
    assert struct.unpack_from("<I", data, 8)[0] == len(data)
