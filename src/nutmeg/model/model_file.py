"""Users' robots in MJCF or URDF, brought to the form that the rest of Nutmeg expects.

The first body below the world is the robot; it gets a free joint named `root` (an existing one is renamed) unless the
robot's base is fixed. Floors, lights and cameras of the world are dropped: the scene brings its own. Actuators in an
MJCF file are kept; those without a name are named after their joint. Mesh files stay files: the specification holds
their bytes (`MjSpec.assets`) under names like `mesh-trunk-0a1b2c3d4e5f.stl`, which say what is in them, so that a
recording or an export writes them beside its XML and two robots share them. Formats that the engine does not read
(Collada, STL as text) become binary STL. Textures from files are left out.

Colliding meshes of a URDF file become convex hulls of at most `COLLISION_VERTICES` vertices, because a collision takes
longer the more vertices a hull has; visible meshes stay as they are. `reduce_mesh` does this and says what it costs
(`nutmeg mesh` shows it):

    reduced = reduce_mesh(vertices, 68)             # vertices (n, 3)
    reduced.vertices, reduced.faces, reduced.volume_error

UCHILSIM (Zagal and Ruiz del Solar, RoboCup 2004 and its application paper, section 5) did the same to the legs of an
ERS-7: 178 vertices, 84 in the hull, 68 in the end.
"""

from __future__ import annotations

import hashlib
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.errors import FileError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.model.robot import RobotSettings

MIN_VERTICES = 4
"""Vertices of the simplest body, a tetrahedron."""
ROOT_JOINT = "root"
HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
MESH_PREFIX = "mesh-"
"""Prefix of the names of mesh files in scenes, recordings and exports."""
COLLISION_VERTICES = 68
"""Largest number of vertices of a colliding mesh of a URDF file; UCHILSIM used it for a leg of the ERS-7."""


def parse_model(path: Path) -> mujoco.MjSpec:
    """The specification in an MJCF or URDF file; the engine's complaint becomes a FileError."""
    if not path.is_file():
        raise FileError(path, "there is no such file. Check the path.")
    try:
        is_urdf = path.suffix.lower() == ".urdf"
        spec = mujoco.MjSpec.from_string(_urdf_text(path)) if is_urdf else mujoco.MjSpec.from_file(str(path))
        _gather_meshes(spec, path)
        if is_urdf:
            _reduce_collision_meshes(spec)
            _hide_collision_shapes(spec)
        spec.compiler.fusestatic = False
        # The file as it stands is compiled: a copy silently loses actuators and sensors that name what does not exist.
        _write_down_inertia(spec, spec.compile())
    except (ValueError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise FileError(path, f"MuJoCo cannot build this model: {message}") from None
    _check_ranges(spec, path)
    return spec


def _check_ranges(spec: mujoco.MjSpec, path: Path) -> None:
    """Refuses a joint whose range is reversed: MuJoCo takes it for a joint without limits, and says nothing."""
    for joint in spec.joints:
        low, high = (float(limit) for limit in joint.range)
        if low > high and joint.limited != mujoco.mjtLimited.mjLIMITED_FALSE:
            raise FileError(
                path, f"the range of joint {joint.name!r} begins at {low:g} and ends at {high:g}; swap them."
            )


@dataclass(frozen=True)
class ModelFacts:
    """Facts of a model file that `robot.toml` would otherwise state: root, base, actuators and home pose."""

    root: str
    """Name of the first body below the world."""
    free: bool
    """Whether the root has a free joint."""
    hinges: tuple[str, ...]
    actuated: bool
    """Whether the file has actuators."""
    home: Mapping[str, float]
    """Angles [rad] and slides [m] of the joints in the keyframe `home`, else in the first one; empty without any."""


def read_facts(path: Path) -> ModelFacts:
    """Reads root, base, actuators and home pose of a robot from its model file."""
    spec = parse_model(path)
    _name_joints(spec)
    free = [j for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    hinges = tuple(j.name for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_HINGE)
    model = spec.compile()
    data = mujoco.MjData(model)
    if model.nkey:
        named = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
        mujoco.mj_resetDataKeyframe(model, data, max(named, 0))
    one_number = [j for j in range(model.njnt) if model.jnt_type[j] in (HINGE, SLIDE)]
    home = {model.joint(j).name: round(float(data.qpos[model.jnt_qposadr[j]]), 6) for j in one_number}
    root = model.body(1).name if model.nbody > 1 else ""
    return ModelFacts(root, bool(free), hinges, bool(spec.actuators), home if model.nkey else {})


def read_model_file(robot: RobotSettings) -> mujoco.MjSpec:
    """The specification of a robot whose bodies are in an MJCF or URDF file."""
    path = robot.model.mjcf or robot.model.urdf
    assert path is not None
    spec = parse_model(path)
    _forget_options(spec)
    for unwanted in [*spec.worldbody.geoms, *spec.worldbody.lights, *spec.worldbody.cameras, *spec.keys]:
        spec.delete(unwanted)
    if not robot.model.actuators:
        of_actuators = [s for s in spec.sensors if s.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR]
        for unwanted in [*of_actuators, *spec.actuators]:
            spec.delete(unwanted)
    roots = list(spec.worldbody.bodies)
    if len(roots) != 1:
        names = ", ".join(repr(b.name) for b in roots) or "none"
        raise FileError(path, f"a robot has one body below the world, this file has {len(roots)} ({names}).")
    free = [j for j in roots[0].joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    if free:
        free[0].name = ROOT_JOINT
    elif robot.base == "free":
        roots[0].add_freejoint(name=ROOT_JOINT)
    _name_joints(spec)
    for index, body in enumerate(spec.bodies):
        body.name = body.name or f"body{index}"
    for index, actuator in enumerate(spec.actuators):
        actuator.name = actuator.name or (actuator.target if spec.joint(actuator.target) else f"motor{index}")
    return spec


def _name_joints(spec: mujoco.MjSpec) -> None:
    """Gives every joint without a name one by its place in the file: `joint0`, `joint1` and so on."""
    for index, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint{index}"


def _urdf_text(path: Path) -> str:
    """The text of a URDF file with MuJoCo options that keep visual geoms and the full names of mesh files."""
    try:
        tree = ET.parse(path)  # noqa: S314 (the user's own file, on the user's own machine)
    except ET.ParseError as error:
        raise FileError(path, f"is not XML: {error}.", line=error.position[0]) from None
    root = tree.getroot()
    extension = root.find("mujoco")
    if extension is None:
        extension = ET.SubElement(root, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ET.SubElement(extension, "compiler")
    compiler.set("discardvisual", "false")
    compiler.set("strippath", "false")
    return ET.tostring(root, encoding="unicode")


def _forget_options(spec: mujoco.MjSpec) -> None:
    """Resets gravity, timestep, lighting and the like, which belong to the scene."""
    usual = mujoco.MjSpec()
    for name in ("option", "visual", "stat", "memory", "nuserdata", "nconmax", "njmax", "nstack"):
        setattr(spec, name, getattr(usual, name))


def _write_down_inertia(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Gives every body the mass and inertia that the engine has computed from its shapes.

    MuJoCo loses what a class of defaults says about the mass of shapes when it writes a model (a scene would refuse
    that: `scene.check_inertia_kept`), and a colliding mesh that became a hull has another volume.
    """
    for body, known in zip(spec.bodies, range(model.nbody), strict=True):
        if known and not body.explicitinertial and model.body_mass[known] > 0:
            body.explicitinertial, body.mass = True, float(model.body_mass[known])
            body.ipos, body.iquat = model.body_ipos[known], model.body_iquat[known]
            body.inertia = model.body_inertia[known]
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO


def _gather_meshes(spec: mujoco.MjSpec, path: Path) -> None:
    """Reads mesh files into the specification's assets and forgets textures that are files."""
    assets: dict[str, bytes] = {}
    for mesh in spec.meshes:
        if mesh.file:
            source = _find_mesh(path, spec.meshdir, mesh.file)
            mesh.name = mesh.name or Path(mesh.file).stem
            data, suffix = _mesh_bytes(source, path)
            mesh.file = mesh_file_name(source.stem, data, suffix)
            mesh.content_type = ""
            assets[mesh.file] = data
    spec.meshdir = ""
    spec.assets = assets
    pictures = {t.name for t in spec.textures if t.file or any(t.cubefiles)}
    for texture in [t for t in spec.textures if t.name in pictures]:
        spec.delete(texture)
    for material in spec.materials:
        material.textures = ["" if name in pictures else name for name in material.textures]


def _mesh_bytes(source: Path, model: Path) -> tuple[bytes, str]:
    """The bytes of a mesh file in a format that the engine reads, and the ending of such a file's name."""
    try:
        data = source.read_bytes()
    except OSError as error:
        raise FileError(model, f"the mesh file {source} cannot be read: {error.strerror}.") from None
    suffix = source.suffix.lower()
    if suffix in (".obj", ".msh") or (suffix == ".stl" and _is_binary_stl(data)):
        return data, suffix
    import trimesh  # takes a second to load, and few robots need it

    try:
        solid = trimesh.load_mesh(source, process=False)
        # Trimesh reads the unit of a Collada file, but leaves its numbers as they are.
        unit = (solid.units or "").partition(" * ")[0] if suffix == ".dae" else ""
        if unit and unit != "meters":
            solid.apply_scale(float(unit))
        return bytes(trimesh.exchange.stl.export_stl(solid)), ".stl"
    except ImportError:
        purpose = f"{model}: the mesh {source.name}"
        raise MissingExtraError(purpose, "pycollada", "collada") from None
    except (OSError, ValueError, AttributeError, NotImplementedError) as error:
        raise FileError(model, f"the mesh file {source} cannot be read: {error}") from None


def _is_binary_stl(data: bytes) -> bool:
    """Whether an STL file is of the binary kind: 80 bytes, the number of triangles, 50 bytes for each."""
    return len(data) >= 84 and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little")


def mesh_file_name(name: str, data: bytes, suffix: str) -> str:
    """The name of a mesh file in scenes, recordings and exports; the same content has the same name."""
    return f"{MESH_PREFIX}{re.sub(r'[^A-Za-z0-9_-]+', '-', name)}-{hashlib.sha256(data).hexdigest()[:12]}{suffix}"


def _mesh_vertices(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh) -> Floats:
    """The vertices of a mesh before its scale is applied, (n, 3)."""
    if not mesh.file:
        return np.array(mesh.uservert, float).reshape(-1, 3)
    import trimesh

    data = io.BytesIO(spec.assets[mesh.file])
    return np.asarray(trimesh.load_mesh(data, file_type=Path(mesh.file).suffix[1:], process=False).vertices, float)


def _reduce_collision_meshes(spec: mujoco.MjSpec) -> None:
    """Gives colliding geoms with large meshes simple ones instead; flat meshes have no hull and stay."""
    for geom in [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_MESH and (g.contype or g.conaffinity)]:
        mesh = spec.mesh(geom.meshname)
        name = f"{mesh.name}_hull"
        if spec.mesh(name) is None:
            vertices = _mesh_vertices(spec, mesh)
            if len(vertices) <= COLLISION_VERTICES:
                continue
            try:
                reduced = reduce_mesh(vertices, COLLISION_VERTICES)
            except ModelError:
                continue
            simple = spec.add_mesh(name=name, scale=mesh.scale, refpos=mesh.refpos, refquat=mesh.refquat)
            simple.uservert = reduced.vertices.ravel()
            simple.userface = reduced.faces.astype(np.int32).ravel()
        geom.meshname = name


def _hide_collision_shapes(spec: mujoco.MjSpec) -> None:
    """Hides colliding shapes of links that have visual shapes, as MuJoCo's viewers do with group 3."""
    for body in spec.bodies:
        colliding = [geom for geom in body.geoms if geom.contype or geom.conaffinity]
        if len(colliding) < len(body.geoms):
            for geom in colliding:
                geom.group = 3


def _find_mesh(model: Path, folder: str, name: str) -> Path:
    """Finds a mesh file where the model says, else by its file name anywhere below the model's folder, in any case.

    Makers' files come from systems for which `arm.STL` and `arm.stl` are the same.
    """
    plain = name.removeprefix("package://").removeprefix("file://")
    home = model.resolve().parent
    said = [home / folder / plain, home / plain, *(parent / plain for parent in home.parents)]
    found = next((p for p in said if p.is_file()), None) or next(home.rglob(Path(plain).name), None)
    if found is None:
        beside = (p for place in dict.fromkeys(p.parent for p in said) if place.is_dir() for p in place.iterdir())
        wanted = Path(plain).name.lower()
        found = next((p for p in (*beside, *sorted(home.rglob("*"))) if p.name.lower() == wanted and p.is_file()), None)
    if found is None:
        raise FileError(model, f"the mesh file {name!r} is nowhere in or below {home}. Copy the meshes there.")
    return found


# ----------------------------------------------------------------------------------------------------
# Convex hulls of few vertices


@dataclass(frozen=True)
class ReducedMesh:
    """A convex mesh with fewer vertices, and its errors."""

    vertices: Floats
    """(n, 3), in the units of the original."""
    faces: Ints
    """Triangles (m, 3), anticlockwise from outside."""
    original_vertices: int
    """Number of different vertices of the original."""
    hull_vertices: int
    hull_volume: float
    volume: float
    gap: float
    """Largest distance of a vertex of the hull beyond a face of the reduced mesh."""

    @property
    def volume_error(self) -> float:
        """Share of the hull's volume that was lost."""
        return 1 - self.volume / self.hull_volume


def reduce_mesh(points: Floats, vertices: int) -> ReducedMesh:
    """The convex hull of points (n, 3) with no more than a number of vertices, all of them points of the hull."""
    if vertices < MIN_VERTICES:
        raise ModelError(f"{vertices} vertices were asked for; a body has at least {MIN_VERTICES}.")
    points = np.unique(np.asarray(points, np.float64).reshape(-1, 3), axis=0)
    hull, hull_faces = convex_hull(points)
    kept, faces = convex_hull(points, vertices)
    a, b, c = (kept[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return ReducedMesh(
        vertices=kept,
        faces=faces,
        original_vertices=len(points),
        hull_vertices=len(hull),
        hull_volume=_volume(hull, hull_faces),
        volume=_volume(kept, faces),
        gap=float(max(0.0, (hull @ normal.T - (normal * a).sum(axis=1)).max())),
    )


def convex_hull(points: Floats, vertices: int = -1) -> tuple[Floats, Ints]:
    """Vertices (n, 3) and triangles (m, 3) of the convex hull of points; flat points have none.

    MuJoCo has Qhull inside, which adds the point that is farthest outside until there are enough `vertices`.
    """
    middle, size = points.mean(axis=0), max(float(np.ptp(points, axis=0).max(initial=0.0)), 1e-300)
    spec = mujoco.MjSpec()
    convex = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    mesh = spec.add_mesh(name="hull", inertia=convex, maxhullvert=vertices)
    mesh.uservert = ((points - middle) / size).ravel()  # without faces, it gets those of its hull
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="hull")
    try:
        faces = np.array(spec.compile().mesh_face, np.int64)
    except (ValueError, mujoco.FatalError):
        raise ModelError(f"{len(points)} points have no convex hull: they lie in a plane, or are too few.") from None
    used, numbered = np.unique(faces, return_inverse=True)
    return points[used], numbered.reshape(faces.shape)


def _volume(vertices: Floats, faces: Ints) -> float:
    """The volume inside triangles (m, 3) of vertices (n, 3)."""
    a, b, c = ((vertices - vertices.mean(axis=0))[faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)
