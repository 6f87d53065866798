"""Scenes as files that other programs load: MJCF in the subset that other loaders accept, and URDF.

    scene = assemble(SceneSettings(field="none", ball="none", robots=(Placement(robot="nao-v6", name="robot"),)))
    exported = as_mjcf(scene)
    exported.text                  # MJCF that MuJoCo, dm_control.mjcf and mujoco_warp load
    exported.meshes                # {"mesh-trunk-0a1b2c3d4e5f.stl": bytes}: files that the text names
    as_urdf(scene).text            # the robot alone as URDF

`Scene.xml` is what Nutmeg runs. The exported MJCF is the same model with these differences:

- Names have no `/`, which dm_control keeps for itself: a robot that is alone in its scene loses its prefix
  (`robot/LKneePitch` becomes `LKneePitch`), in other names it becomes `_`.
- A position drive is a `dcmotor` with an on-board controller instead of a `pid`, which mujoco_warp 4.0 cannot step.
  This controller compensates the back-EMF, so that the torque is that of the `pid` whatever the resistance and the
  motor constant, which are 1 here. Torque and set-point speed have the same limits.
- Frames, which dm_control does not know, are multiplied into the poses of what is in them.
- Meshes are files, those of rounded boxes included. Which shapes throw a shadow is left out.

A URDF file has links, joints with their limits, shapes, masses and friction. It has no motors, sensors, contact numbers
or free joint: the program that reads it decides whether its root moves.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.angles import rotated
from nutmeg.base.errors import ModelError
from nutmeg.model.actuation.drives import ROTOR_SUFFIX, drive_of_each_joint
from nutmeg.model.build import COLLISION_GROUP, parts_of_type
from nutmeg.model.model_file import mesh_file_name
from nutmeg.model.scene import check_inertia_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.scene import Scene

_PATHS = ("file", "meshdir", "texturedir", "assetdir")  # attributes in which a `/` is no part of a name
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_UNLIMITED = 1000.0
"""Torque [N m] or speed [rad/s] in a URDF file where the robot's files have no limit: the format demands a number."""


@dataclass(frozen=True)
class Exported:
    """A model as text, and the mesh files that belong beside it."""

    text: str
    meshes: Mapping[str, bytes]


def as_mjcf(scene: Scene) -> Exported:
    """The scene as MJCF for other programs; see the head of this module."""
    root = ET.fromstring(scene.xml)  # noqa: S314 (written by MuJoCo a moment ago)
    _take_out_slashes(root, alone=f"{scene.robots[0].name}/" if len(scene.robots) == 1 else "")
    for actuator in root.findall("actuator/general[@dyntype='pid']"):
        as_dcmotor(actuator)
    for world in root.findall("worldbody"):
        _dissolve_frames(world)
    for geom in root.iter("geom"):
        geom.attrib.pop("castshadow", None)  # unknown to dm_control
    meshes = dict(scene.meshes)
    for mesh in root.findall("asset/mesh[@vertex]"):
        vertices = np.array(mesh.attrib.pop("vertex").split(), float).reshape(-1, 3)
        faces = np.array(mesh.attrib.pop("face", "").split(), np.int64).reshape(-1, 3)
        mesh.set("file", _add_mesh(meshes, mesh.get("name", ""), vertices, faces))
    ET.indent(root)
    exported = Exported(ET.tostring(root, encoding="unicode") + "\n", meshes)
    try:
        written = mujoco.MjModel.from_xml_string(exported.text, meshes)
    except ValueError as error:
        raise ModelError(f"MuJoCo cannot build the exported model: {' '.join(str(error).split())}") from None
    check_inertia_kept(scene.model, written)
    return exported


def _take_out_slashes(root: ET.Element, alone: str) -> None:
    """Renames everything that has a `/` in its name; names of the robot that is alone lose their beginning."""
    for element in root.iter():
        for key, text in element.attrib.items():
            if "/" in text and key not in _PATHS:
                # Classes keep a prefix: `robot/main` must not become `main`, which every model has.
                kept = text if key in ("class", "childclass") else text.removeprefix(alone)
                element.set(key, kept.replace("/", "_"))


def as_dcmotor(actuator: ET.Element) -> None:
    """Rewrites a position drive (see `model.actuation.drives`) as a DC motor with the same controller.

    The element stays `general`, because dm_control does not know `dcmotor`.
    """
    speed = actuator.get("dynprm", "").split()[1]
    # MuJoCo leaves out zeros at the end: a drive without damping has two numbers.
    stiffness, damping = (-float(number) for number in (*actuator.get("biasprm", "").split(), "0")[1:3])
    del actuator.attrib["biasprm"]
    actuator.attrib.update(dyntype="dcmotor", gaintype="dcmotor", biastype="dcmotor", actdim="1")
    actuator.attrib.update(actlimited="false", actearly="true", forcelimited="true")
    # Resistance, motor constant, two numbers of the heat model, then the gains for angle, integral and speed.
    actuator.set("gainprm", f"1 1 0 0 {stiffness:.9g} 0 {damping:.9g}")
    actuator.set("dynprm", f"0 0 0 0 0 0 0 {speed}")


def _dissolve_frames(parent: ET.Element) -> None:
    """Replaces every frame below an element by what is in it, with poses in the element's own frame."""
    children: list[ET.Element] = []
    for child in list(parent):
        _dissolve_frames(child)
        children += _moved(child) if child.tag == "frame" else [child]
        parent.remove(child)
    parent.extend(children)


def _moved(frame: ET.Element) -> Iterable[ET.Element]:
    """The elements inside a frame, with their poses multiplied by that of the frame."""
    shift, turn = _numbers(frame, "pos", (0, 0, 0)), _numbers(frame, "quat", _IDENTITY)
    for child in frame:
        place, facing = _numbers(child, "pos", (0, 0, 0)), np.zeros(4)
        mujoco.mju_rotVecQuat(place, place.copy(), turn)
        child.set("pos", _text(place + shift))
        if child.tag == "light":
            direction = _numbers(child, "dir", (0, 0, -1))
            mujoco.mju_rotVecQuat(direction, direction.copy(), turn)
            child.set("dir", _text(direction))
        else:
            mujoco.mju_mulQuat(facing, turn, _numbers(child, "quat", _IDENTITY))
            child.set("quat", _text(facing))
        if frame.get("childclass") and child.tag == "body":
            child.attrib.setdefault("childclass", frame.attrib["childclass"])
        elif frame.get("childclass"):
            child.attrib.setdefault("class", frame.attrib["childclass"])
        yield child


def _numbers(element: ET.Element, key: str, usual: tuple[float, ...]) -> Floats:
    return np.array(element.get(key, "").split() or usual, dtype=np.float64)


def _text(numbers: Iterable[float]) -> str:
    return " ".join(f"{number + 0.0:.9g}" for number in numbers)


def _add_mesh(meshes: dict[str, bytes], name: str, vertices: Floats, faces: Ints) -> str:
    """Adds a mesh as a Wavefront file, whose vertices keep their order and digits, and returns the file's name."""
    lines = [f"v {_text(vertex)}" for vertex in vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    data = ("\n".join(lines) + "\n").encode()
    file = mesh_file_name(name, data, ".obj")
    meshes[file] = data
    return file


# ----------------------------------------------------------------------------------------------------
# URDF


def as_urdf(scene: Scene) -> Exported:
    """The one robot of a scene without a field as URDF, with ideal joints."""
    return _Urdf(scene).exported()


class _Urdf:
    """Writes the bodies of a compiled model as links.

    MuJoCo has any number of joints in a body, each with an anchor of its own; URDF has one joint between two links, and
    it lies in the origin of the link behind it. So the frame of a link is that of its body, shifted to the anchor of
    the body's last joint, and joints before the last one get links of their own without shapes.
    """

    def __init__(self, scene: Scene) -> None:
        table = scene.robots[0]
        self.model, self.prefix = scene.model, f"{table.name}/"
        self.root = ET.Element("robot", name=table.settings.name)
        self.meshes: dict[str, bytes] = {}
        self.drives = drive_of_each_joint(parts_of_type(table.settings, table.kind), dict.fromkeys(table.joints))
        self.anchors: dict[int, Floats] = {0: np.zeros(3)}
        """Origin of each body's link in the frame of the body."""
        self.links = {0: "world"}

    def exported(self) -> Exported:
        """All links and joints as text."""
        for body in range(1, self.model.nbody):
            if not self._name(mujoco.mjtObj.mjOBJ_BODY, body).endswith(ROTOR_SUFFIX):
                self._add_body(body)
        ET.indent(self.root)
        return Exported('<?xml version="1.0"?>\n' + ET.tostring(self.root, encoding="unicode") + "\n", self.meshes)

    def _name(self, kind: mujoco.mjtObj, number: int) -> str:
        name = mujoco.mj_id2name(self.model, kind, number) or f"{kind.name[5:].lower()}{number}"
        return str(name).removeprefix(self.prefix).replace("/", "_")

    def _add_body(self, body: int) -> None:
        """Adds the link of a body, and the joints that lead to it."""
        model, parent = self.model, int(self.model.body_parentid[body])
        name = self.links[body] = self._name(mujoco.mjtObj.mjOBJ_BODY, body)
        first = int(model.body_jntadr[body])
        joints = range(first, first + int(model.body_jntnum[body]))
        before, link = self.anchors[parent], self.links[parent]
        place, turn = model.body_pos[body] - before, model.body_quat[body]
        anchor = np.zeros(3)
        free = bool(joints) and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE
        if parent == 0 and not free:
            ET.SubElement(self.root, "link", name="world")
        if not joints:
            self._add_joint(f"{name}_fixed", "fixed", (link, name), (place, turn))
        for joint in () if free else joints:
            place = place + rotated(turn, model.jnt_pos[joint] - anchor)
            anchor = model.jnt_pos[joint]
            following = name if joint == joints[-1] else f"{name}_{joint - first + 1}"
            self._add_moving_joint(joint, (link, following), (place, turn))
            if following != name:
                self._add_link(following, None)
            link, place, turn = following, np.zeros(3), np.array(_IDENTITY)
        self.anchors[body] = anchor
        self._add_link(name, body)

    def _add_joint(self, name: str, kind: str, links: tuple[str, str], pose: tuple[Floats, Floats]) -> ET.Element:
        joint = ET.SubElement(self.root, "joint", name=name, type=kind)
        _add_origin(joint, *pose)
        ET.SubElement(joint, "parent", link=links[0])
        ET.SubElement(joint, "child", link=links[1])
        return joint

    def _add_moving_joint(self, joint: int, links: tuple[str, str], pose: tuple[Floats, Floats]) -> None:
        model, name = self.model, self._name(mujoco.mjtObj.mjOBJ_JOINT, joint)
        hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        if not hinge and model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_SLIDE:
            raise ModelError(f"joint {name!r} is a ball joint, which URDF does not have; export MJCF instead.")
        axis, limited = model.jnt_axis[joint], bool(model.jnt_limited[joint])
        place, turn = pose
        # A joint with a reference angle is at this angle, not at zero, in the pose of the model.
        reference = float(model.qpos0[model.jnt_qposadr[joint]])
        if hinge:
            back, whole = np.zeros(4), np.zeros(4)
            mujoco.mju_axisAngle2Quat(back, axis, -reference)
            mujoco.mju_mulQuat(whole, turn, back)
            turn = whole
        else:
            place = place - rotated(turn, axis * reference)
        kind = ("revolute" if limited else "continuous") if hinge else "prismatic"
        element = self._add_joint(name, kind, links, (place, turn))
        ET.SubElement(element, "axis", xyz=_text(axis))
        torque, speed = self._limits(joint, name)
        limit = ET.SubElement(element, "limit", effort=f"{torque:.9g}", velocity=f"{speed:.9g}")
        if limited or not hinge:
            low, high = model.jnt_range[joint] if limited else (-_UNLIMITED, _UNLIMITED)
            limit.attrib.update(lower=f"{low:.9g}", upper=f"{high:.9g}")
        dof = int(model.jnt_dofadr[joint])
        damping, friction = float(np.ravel(model.dof_damping[dof])[0]), float(model.dof_frictionloss[dof])
        ET.SubElement(element, "dynamics", damping=f"{damping:.9g}", friction=f"{friction:.9g}")
        for equality in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
            leader, (offset, ratio, *bends) = int(model.eq_obj2id[equality]), model.eq_data[equality, :5]
            if int(model.eq_obj1id[equality]) == joint and leader >= 0 and not any(bends):
                offset += reference - ratio * float(model.qpos0[model.jnt_qposadr[leader]])
                mimic = ET.SubElement(element, "mimic", joint=self._name(mujoco.mjtObj.mjOBJ_JOINT, leader))
                mimic.attrib.update(multiplier=f"{ratio:.9g}", offset=f"{offset:.9g}")

    def _limits(self, joint: int, name: str) -> tuple[float, float]:
        """Largest torque and speed of a joint: of its drive, else of its actuator in a user's model file."""
        if name in self.drives:
            return self.drives[name].torque, self.drives[name].speed
        model, torque = self.model, _UNLIMITED
        if model.jnt_actfrclimited[joint]:
            torque = float(model.jnt_actfrcrange[joint, 1])
        of_joint = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == joint)
        for actuator in np.flatnonzero(of_joint & (model.actuator_forcelimited > 0)):
            torque = min(torque, float(model.actuator_forcerange[actuator, 1] * model.actuator_gear[actuator, 0]))
        return torque, _UNLIMITED

    def _add_link(self, name: str, body: int | None) -> None:
        """Adds the link of a body, or a nearly massless one between two joints."""
        link, model = ET.SubElement(self.root, "link", name=name), self.model
        inertial = ET.Element("inertial")
        mass, inertia = 1e-6, np.full(3, 1e-9)
        if body is not None:
            mass, inertia = float(model.body_mass[body]), model.body_inertia[body]
            _add_origin(inertial, model.body_ipos[body] - self.anchors[body], model.body_iquat[body])
        ET.SubElement(inertial, "mass", value=f"{mass:.9g}")
        moments = dict(zip(("ixx", "iyy", "izz"), (f"{moment:.9g}" for moment in inertia), strict=True))
        ET.SubElement(inertial, "inertia", moments | {"ixy": "0", "ixz": "0", "iyz": "0"})
        if mass > 0:
            link.append(inertial)
        for geom in np.flatnonzero(model.geom_bodyid == body) if body is not None else ():
            if model.geom_group[geom] < COLLISION_GROUP:
                self._add_shapes(link, "visual", int(geom))
            if model.geom_contype[geom] or model.geom_conaffinity[geom]:
                self._add_shapes(link, "collision", int(geom))

    def _add_shapes(self, link: ET.Element, role: str, geom: int) -> None:
        """Adds a geom; a capsule becomes a cylinder and two spheres."""
        model, shape = self.model, mujoco.mjtGeom(self.model.geom_type[geom])
        size, turn = model.geom_size[geom], model.geom_quat[geom]
        place = model.geom_pos[geom] - self.anchors[int(model.geom_bodyid[geom])]
        cylinder = ("cylinder", {"radius": f"{size[0]:.9g}", "length": f"{2 * size[1]:.9g}"})
        sphere = ("sphere", {"radius": f"{size[0]:.9g}"})
        up = rotated(turn, np.array([0.0, 0.0, size[1]]))
        pieces: list[tuple[Floats, tuple[str, dict[str, str]]]]
        if shape == mujoco.mjtGeom.mjGEOM_BOX:
            pieces = [(place, ("box", {"size": _text(2 * size)}))]
        elif shape == mujoco.mjtGeom.mjGEOM_SPHERE:
            pieces = [(place, sphere)]
        elif shape == mujoco.mjtGeom.mjGEOM_CYLINDER:
            pieces = [(place, cylinder)]
        elif shape == mujoco.mjtGeom.mjGEOM_CAPSULE:
            pieces = [(place, cylinder), (place + up, sphere), (place - up, sphere)]
        elif shape in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_ELLIPSOID):
            pieces = [(place, ("mesh", {"filename": self._mesh_file(geom)}))]
        else:
            return  # planes and height fields belong to the ground, not to a robot
        material = int(model.geom_matid[geom])
        colour = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
        for where, (kind, attributes) in pieces:
            element = ET.SubElement(link, role)
            _add_origin(element, where, turn)
            ET.SubElement(ET.SubElement(element, "geometry"), kind, attributes)
            if role == "visual":
                paint = ET.SubElement(element, "material", name="colour_" + "_".join(f"{255 * c:.0f}" for c in colour))
                ET.SubElement(paint, "color", rgba=_text(colour))

    def _mesh_file(self, geom: int) -> str:
        """The file of a mesh or of an ellipsoid's surface, with the coordinates of the compiled geom."""
        model, mesh = self.model, int(self.model.geom_dataid[geom])
        if mesh < 0:
            import trimesh

            ball = trimesh.creation.icosphere(subdivisions=3)
            return _add_mesh(self.meshes, "ellipsoid", ball.vertices * model.geom_size[geom], ball.faces)
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        name = self._name(mujoco.mjtObj.mjOBJ_MESH, mesh)
        vertices = model.mesh_vert[first : first + count]
        return _add_mesh(self.meshes, name, vertices, model.mesh_face[face : face + faces])


def _add_origin(element: ET.Element, place: Floats, turn: Floats) -> None:
    """Position and fixed-axis roll, pitch, yaw, as URDF has them."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(turn, float))
    m = matrix.reshape(3, 3)
    pitch = np.arctan2(-m[2, 0], np.hypot(m[0, 0], m[1, 0]))
    if abs(m[2, 0]) < 1 - 1e-12:
        roll, yaw = np.arctan2(m[2, 1], m[2, 2]), np.arctan2(m[1, 0], m[0, 0])
    else:  # roll and yaw turn about the same axis: one of them is enough
        roll, yaw = 0.0, np.arctan2(-m[0, 1], m[1, 1])
    ET.SubElement(element, "origin", xyz=_text(place), rpy=_text((roll, pitch, yaw)))
