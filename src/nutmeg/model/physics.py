"""Physics profiles: named settings of the physics engine, each measured for its use.

- `standard`: 4 ms steps; measured best for a Nao-size robot with position drives. Friction cones are elliptic:
  they cost the same here as pyramidal ones, which bend the path of a rolling ball (see `model.ball`).
- `league`: one 20 ms step a cycle, as the 3D simulation league's own server does it (see `sim.ode_step`).
- `league-native`: as near to it as MuJoCo alone comes, for models that are stepped without Nutmeg or on a GPU. Its
  contact numbers follow from the server's ODE settings (ERP 0.4, CFM 1e-4, slip 5e-3, unlimited friction).
- `fine`: the league's robot in 5 ms steps, with contacts as other robots have them.
- `ssim`: 5 ms steps, four a cycle, as rcssservermj 0.2.1 has them: air is a fluid, all else is MuJoCo's default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco

from nutmeg.base.errors import UnknownNameError

_INTEGRATORS = {"euler": mujoco.mjtIntegrator.mjINT_EULER, "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST}
_JACOBIANS = {
    "auto": mujoco.mjtJacobian.mjJAC_AUTO,
    "dense": mujoco.mjtJacobian.mjJAC_DENSE,
    "sparse": mujoco.mjtJacobian.mjJAC_SPARSE,
}
_SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}
_CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}


@dataclass(frozen=True, kw_only=True)
class Contact:
    """Contact numbers that a profile sets for all robots in place of their own."""

    solref: tuple[float, float]
    """MuJoCo's contact reference: time constant and damping ratio, or negated stiffness and damping."""
    solimp: float
    """Constraint impedance, 0..1; the nearer to 1 the harder."""
    friction: float
    """Sliding friction."""


@dataclass(frozen=True, kw_only=True)
class Physics:
    """Settings of the engine for a whole world."""

    timestep: float = 0.004
    """Length of a step [s]."""
    integrator: Literal["euler", "implicitfast"] = "implicitfast"
    cone: Literal["pyramidal", "elliptic"] = "elliptic"
    """Shape of the friction cone."""
    impratio: float = 1.0
    """Hardness of friction relative to that of the contact's normal."""
    contact: Contact | None = None
    """Contact numbers that replace those of the robots; None keeps the robots' own."""
    ode: bool = False
    """Whether to step as the league's engine does (see `sim.ode_step`), with its contacts, friction and drives."""
    jacobian: Literal["auto", "dense", "sparse"] = "auto"
    """Storage of constraint Jacobians; auto is sparse from 60 degrees of freedom on. It only affects speed, except that
    steps of the league's engine need sparse ones."""
    solver: Literal["newton", "cg"] = "newton"
    """Newton's method needs fewer iterations. With sparse constraints, that of MuJoCo 4.0.0 goes wrong where parts of
    one robot touch each other: an arm at the trunk throws a T1 into the air, while its dense form, conjugate gradients
    and MuJoCo 3.5 agree."""
    air_density: float = 0.0
    """Density of the air [kg/m³]; 0 for no drag."""
    air_viscosity: float = 0.0
    """Viscosity of the air [Pa s]."""

    def apply(self, spec: mujoco.MjSpec) -> None:
        """Writes the settings into a specification."""
        spec.option.timestep = self.timestep
        spec.option.integrator = _INTEGRATORS[self.integrator]
        spec.option.cone = _CONES[self.cone]
        spec.option.impratio = self.impratio
        spec.option.jacobian = _JACOBIANS[self.jacobian]
        spec.option.solver = _SOLVERS[self.solver]
        spec.option.density, spec.option.viscosity = self.air_density, self.air_viscosity
        if self.ode:
            # Rows differ by seven orders of magnitude in hardness: the search along a line needs more steps. It need
            # not be more exact than the solver itself: with a tolerance of 1e-6 rounding kept it from ending, in half
            # to nine tenths of all its steps, and a state after a step differed by less than 1e-15.
            spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
            spec.option.ls_iterations, spec.option.ls_tolerance = 200, 1.0
            spec.option.tolerance = 1e-10


PROFILES: dict[str, Physics] = {
    "standard": Physics(),
    "league": Physics(timestep=0.02, integrator="euler", ode=True, jacobian="sparse"),
    "league-native": Physics(
        timestep=0.02,
        integrator="euler",
        impratio=0.02,
        contact=Contact(solref=(-1000.0, -50.0), solimp=0.998, friction=100.0),
        jacobian="sparse",
    ),
    "fine": Physics(
        timestep=0.005,
        integrator="euler",
        contact=Contact(solref=(0.02, 1.0), solimp=0.95, friction=10.0),
        jacobian="sparse",
    ),
    "ssim": Physics(
        timestep=0.005, integrator="euler", cone="pyramidal", solver="cg", air_density=1.2, air_viscosity=2e-5
    ),
}


def native_profile(name: str) -> str:
    """The most similar profile that plain MuJoCo can step, for exported models and for GPUs."""
    return "league-native" if physics_profile(name).ode else name


def profile_for_servos(name: str) -> str:
    """A robot's own profile, or `standard` where its integrator is none that servos can be stepped with."""
    return name if physics_profile(name).integrator == "implicitfast" else "standard"


def physics_profile(name: str) -> Physics:
    """A named profile; a misspelt name is an error that suggests the nearest."""
    if name not in PROFILES:
        raise UnknownNameError("physics profile", name, PROFILES)
    return PROFILES[name]
