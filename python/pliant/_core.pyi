"""Types of the compiled part of the module; written by python/make_stubs.py."""

import collections.abc
import os
import pathlib
import typing

import numpy
from numpy.typing import ArrayLike

PathLike = typing.Union[str, os.PathLike[str]]
SurfaceLike = typing.Union["SurfaceMesh", "SemiRegularMesh", str, os.PathLike[str]]
MaterialLike = typing.Union["Material", str]
PointLike = typing.Union[int, tuple[int, ArrayLike]]
PoseLike = typing.Union["Pose", ArrayLike, tuple[ArrayLike, ArrayLike], None]
CacheLike = typing.Union[bool, None, str, os.PathLike[str]]
ProgressLike = typing.Union[bool, None,
                            collections.abc.Callable[[str, float, typing.Optional[float]], typing.Optional[bool]]]

__version__: str

class InputError(ValueError):
    """A file, option or array that cannot be used: what it is and what was expected. Has file, field, value and expected."""
    file: str
    field: str
    value: str
    expected: str

class Cancelled(RuntimeError):
    """A long call that its progress function ended by returning False."""

def set_num_threads(num_threads: int) -> None:
    """Threads of builds and large bodies; 0: all cores. Results never depend on it."""

def num_threads() -> int:
    """Threads in use."""

class StepStatus:
    """What happened inside one step; it never throws."""
    Ok: typing.ClassVar[StepStatus]
    NotConverged: typing.ClassVar[StepStatus]
    StepRejected: typing.ClassVar[StepStatus]
    StateReset: typing.ClassVar[StepStatus]
    InputIgnored: typing.ClassVar[StepStatus]
    CapacityExceeded: typing.ClassVar[StepStatus]
    def __init__(self, value: int) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Pose:
    """Place of a frame in the world: x_world = R x_body + position [m]; rotation is a quaternion (w, x, y, z)."""
    def __init__(self, position: ArrayLike = (0, 0, 0), rotation: ArrayLike = (1, 0, 0, 0)) -> None:
        """position [m]; rotation: quaternion (w, x, y, z), made a unit one."""
    @staticmethod
    def rotated(vector: ArrayLike, position: ArrayLike = (0, 0, 0)) -> Pose:
        """By a rotation vector [rad]."""
    @property
    def position(self) -> numpy.ndarray:
        """[m]"""
    @position.setter
    def position(self, value: ArrayLike) -> None: ...
    @property
    def rotation(self) -> numpy.ndarray:
        """Unit quaternion (w, x, y, z)."""
    @rotation.setter
    def rotation(self, value: ArrayLike) -> None: ...
    @property
    def rotation_vector(self) -> numpy.ndarray:
        """[rad]"""
    def to_world(self, x_body: ArrayLike) -> numpy.ndarray:
        """A point of the body in the world [m]."""
    def to_body(self, x_world: ArrayLike) -> numpy.ndarray:
        """A point of the world in the body [m]."""
    def inverse(self) -> Pose:
        """From the world to the body."""
    def __matmul__(self, other: Pose) -> Pose:
        """First the other, then this."""

class Twist:
    """Velocity of a rigid body in world axes."""
    @typing.overload
    def __init__(self) -> None:
        """At rest. linear [m/s], angular [rad/s]."""
    @typing.overload
    def __init__(self, linear: ArrayLike, angular: ArrayLike = (0, 0, 0)) -> None:
        """At rest. linear [m/s], angular [rad/s]."""
    @property
    def linear(self) -> numpy.ndarray:
        """Of the frame's origin [m/s]."""
    @linear.setter
    def linear(self, value: ArrayLike) -> None: ...
    @property
    def angular(self) -> numpy.ndarray:
        """[rad/s]"""
    @angular.setter
    def angular(self, value: ArrayLike) -> None: ...

class Wrench:
    """Force and torque in world axes."""
    def __init__(self, force: ArrayLike = (0, 0, 0), torque: ArrayLike = (0, 0, 0)) -> None:
        """force [N], torque [N m]."""
    @property
    def force(self) -> numpy.ndarray:
        """[N]"""
    @force.setter
    def force(self, value: ArrayLike) -> None: ...
    @property
    def torque(self) -> numpy.ndarray:
        """[N m]"""
    @torque.setter
    def torque(self, value: ArrayLike) -> None: ...

class SurfaceReport:
    """What is wrong, or right, with a surface."""
    @property
    def num_vertices(self) -> int:
        """Vertices."""
    @property
    def num_triangles(self) -> int:
        """Triangles."""
    @property
    def num_components(self) -> int:
        """Parts that do not hang together."""
    @property
    def euler_number(self) -> int:
        """Vertices less edges plus triangles: 2 for a closed surface without handles."""
    @property
    def inside_out(self) -> bool:
        """Closed and consistent, but of negative volume."""
    @property
    def area(self) -> float:
        """[m²]"""
    @property
    def volume(self) -> float:
        """[m³], only when closed"""
    @property
    def is_closed(self) -> bool:
        """No open or non-manifold edge, consistent orientation."""
    @property
    def is_manifold(self) -> bool:
        """Closed or with a border, every vertex one fan."""
    @property
    def is_clean(self) -> bool:
        """Nothing at all is to be reported."""

class RepairReport:
    """What a repair changed."""
    @property
    def welded_vertices(self) -> int:
        """Vertices that became one with another."""
    @property
    def removed_vertices(self) -> int:
        """Vertices that nothing used."""
    @property
    def removed_degenerate(self) -> int:
        """Triangles with a repeated corner or without area."""
    @property
    def removed_duplicate(self) -> int:
        """Triangles that were there twice."""
    @property
    def removed_invalid(self) -> int:
        """Triangles with corners that do not exist."""
    @property
    def flipped_triangles(self) -> int:
        """Triangles turned over."""
    @property
    def changed(self) -> bool:
        """Whether anything was changed."""

class SurfaceMesh:
    """Indexed triangles, anticlockwise seen from outside. Cannot be changed."""
    def __init__(self, vertices: ArrayLike, triangles: ArrayLike) -> None:
        """vertices: (n, 3) numbers [m]; triangles: (m, 3) integers."""
    @property
    def vertices(self) -> numpy.ndarray:
        """(n, 3) float64 [m], no copy."""
    @property
    def num_vertices(self) -> int:
        """n."""
    @property
    def bounds(self) -> numpy.ndarray:
        """(2, 3): lowest and highest corner [m]."""
    def select(self, selection: str) -> numpy.ndarray:
        """Vertices of a selection, as "z < 5 %" or "sphere 0 0 1 0.1"."""
    @property
    def triangles(self) -> numpy.ndarray:
        """(m, 3) int32, no copy."""
    @property
    def num_triangles(self) -> int:
        """m."""
    @property
    def area(self) -> float:
        """[m²]"""
    @property
    def volume(self) -> float:
        """Of a closed surface [m³]."""
    def face_normals(self) -> numpy.ndarray:
        """(m, 3), unit."""
    def vertex_normals(self) -> numpy.ndarray:
        """(n, 3), unit, weighted by angle."""
    def check(self) -> SurfaceReport:
        """What is wrong with it."""
    def repaired(self, weld_distance: float = 1e-07) -> tuple[SurfaceMesh, RepairReport]:
        """Welded, cleaned and oriented, and what was done; vertices closer than weld_distance times the diagonal of the box become one."""
    def scaled(self, size: float) -> SurfaceMesh:
        """With a longest side of so many metres, about the same centre."""
    def joined(self, other: SurfaceMesh) -> SurfaceMesh:
        """Both as one mesh."""
    def moved(self, pose: PoseLike) -> SurfaceMesh:
        """At a pose."""
    def topmost(self) -> int:
        """The vertex with the largest z."""
    def save(self, path: PathLike, point_data: object = None, cell_data: object = None) -> None:
        """As OBJ, PLY, STL or VTU, by extension. VTU takes named arrays of numbers or vectors."""

def load_surface(path: PathLike) -> SurfaceMesh:
    """From OBJ, PLY, STL, OFF, or the boundary of a volume mesh."""

class SurfaceQuery:
    """Distances and rays; many points at once."""
    def __init__(self, mesh: SurfaceMesh) -> None:
        """Keeps its own copy of the mesh."""
    def signed_distance(self, points: ArrayLike) -> numpy.ndarray:
        """(n,) [m], negative inside."""
    def closest(self, points: ArrayLike) -> tuple:
        """Nearest places (n, 3) [m], their triangles (n,) and weights (n, 3)."""
    def ray(self, origin: ArrayLike, direction: ArrayLike) -> typing.Optional[tuple[float, int, numpy.ndarray]]:
        """First hit: t along the direction, triangle and weights, or None."""

class ShapeInfo:
    """A procedural shape."""
    @property
    def name(self) -> str:
        """For make_shape."""
    @property
    def description(self) -> str:
        """What it is."""
    @property
    def size(self) -> float:
        """Longest side [m]."""
    @property
    def azimuth(self) -> float:
        """To see it from [degrees]."""
    @property
    def elevation(self) -> float:
        """[degrees]"""
    @property
    def is_closed(self) -> bool:
        """Whether it has an inside."""

def shape_list() -> list[ShapeInfo]:
    """All procedural shapes."""

def make_shape(name: str, resolution: int = 0, progress: ProgressLike = None) -> SurfaceMesh:
    """A procedural shape; resolution 0: its default."""

def render(mesh: SurfaceMesh, width: int = 640, height: int = 480, azimuth: float = 35.0, elevation: float = 20.0, wireframe: bool = False, colors: object = None) -> numpy.ndarray:
    """A picture, (height, width, 3) uint8, of 1 to 16384 pixels along each side; angles in degrees; colors of vertices (n, 3) from 0 to 1."""

def archive_kind(path: PathLike) -> str:
    """What a .pliant file holds: "reduced-model", …"""

class VolumeReport:
    """What is wrong, or right, with a volume mesh."""
    @property
    def num_inverted(self) -> int:
        """Elements turned inside out."""
    @property
    def num_orphans(self) -> int:
        """Vertices that no element uses."""
    @property
    def num_invalid(self) -> int:
        """Elements with a vertex out of range or repeated."""
    @property
    def num_non_finite(self) -> int:
        """Vertices with a coordinate that is no number or beyond 1e30."""
    @property
    def first_inverted(self) -> int:
        """Number of the first inverted element; -1: there is none."""
    @property
    def first_orphan(self) -> int:
        """Number of the first vertex that no element uses; -1: there is none."""
    @property
    def first_invalid(self) -> int:
        """Number of the first invalid element; -1: there is none."""
    @property
    def first_non_finite(self) -> int:
        """Number of the first vertex that is not finite; -1: there is none."""
    @property
    def first_weak_joint(self) -> int:
        """Number of the first vertex at a weak joint; -1: there is none."""
    @property
    def num_parts(self) -> int:
        """Connected through faces."""
    @property
    def num_weak_joints(self) -> int:
        """Vertices whose elements are not connected through faces there."""
    @property
    def is_clean(self) -> bool:
        """Nothing at all is to be reported."""

class VolumeMesh:
    """Simulation mesh of tetrahedra or hexahedra. Cannot be changed."""
    def __init__(self, vertices: ArrayLike, elements: ArrayLike) -> None:
        """vertices: (n, 3) numbers [m]; elements: (m, 4) tetrahedra or (m, 8) hexahedra, numbered as in VTK."""
    @property
    def vertices(self) -> numpy.ndarray:
        """(n, 3) float64 [m], no copy."""
    @property
    def num_vertices(self) -> int:
        """n."""
    @property
    def bounds(self) -> numpy.ndarray:
        """(2, 3): lowest and highest corner [m]."""
    def select(self, selection: str) -> numpy.ndarray:
        """Vertices of a selection, as "z < 5 %" or "sphere 0 0 1 0.1"."""
    @property
    def elements(self) -> numpy.ndarray:
        """(m, 4 or 8) int32, no copy."""
    @property
    def regions(self) -> numpy.ndarray:
        """Material region of each element; empty: all 0."""
    @property
    def filled(self) -> numpy.ndarray:
        """Part of each element inside the body; empty: all 1."""
    @property
    def kind(self) -> str:
        """"tet4" or "hex8"."""
    @property
    def num_elements(self) -> int:
        """Elements."""
    @property
    def num_hanging(self) -> int:
        """Vertices between those of coarser neighbours."""
    def volume(self, weighted: bool = False) -> float:
        """[m³]; weighted: of the parts inside the body."""
    def check(self) -> VolumeReport:
        """What is wrong with it."""
    def boundary(self) -> SurfaceMesh:
        """Outer faces as triangles on the same vertices."""
    def save(self, path: PathLike, point_data: object = None, cell_data: object = None) -> None:
        """As Gmsh, Vega, TetGen, Medit, VTU or .pliant, by extension. VTU takes named arrays of numbers or vectors."""

def load_volume(path: PathLike) -> VolumeMesh:
    """From Gmsh, Vega, TetGen, Medit or .pliant."""

def build_mesh(surface: SurfaceLike, kind: str = 'voxel', resolution: int = 64, size: float = 0.0, hollow: bool = False, growth: float = 0.5, levels: int = 4, progress: ProgressLike = None) -> VolumeMesh:
    """Fills a surface with elements: kind voxel, graded, tet or graded-tet, so many cells along the longest side, which is scaled to size [m] unless 0. hollow: only where the surface is (voxel); growth: cell size over depth, and levels of sizes (graded kinds)."""

def hex_box(cells: list[int], low: ArrayLike, high: ArrayLike) -> VolumeMesh:
    """A box between two corners [m] of so many hexahedra along each side."""

def tet_box(cells: list[int], low: ArrayLike, high: ArrayLike) -> VolumeMesh:
    """The same with six tetrahedra in each cell."""

class Embedding:
    """Points carried by a simulation mesh."""
    def __init__(self, mesh: VolumeMesh, points: ArrayLike) -> None:
        """points: (p, 3) [m] at rest."""
    @property
    def num_points(self) -> int:
        """p: points carried."""
    @property
    def num_outside(self) -> int:
        """Points in no element."""
    def transfer(self, u: ArrayLike) -> numpy.ndarray:
        """Displacements [m] of the mesh's vertices (n, 3) to those of points (p, 3)."""
    def transfer_transposed(self, f: ArrayLike) -> numpy.ndarray:
        """Forces [N] on points (p, 3) to forces on the mesh's vertices (n, 3) that do the same work."""

class SemiRegularMesh:
    """A surface on levels, each the one before with triangles in four."""
    @staticmethod
    def load(path: PathLike) -> SemiRegularMesh:
        """From a .pliant file, as pliant mesh --kind semiregular makes it."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file, which pliant build --kind greens takes."""
    @property
    def mesh(self) -> SurfaceMesh:
        """The finest level."""
    @property
    def num_vertices(self) -> list[int]:
        """Of each level."""
    @property
    def num_levels(self) -> int:
        """Rounds of splitting."""

def make_semi_regular(name: str, levels: int = -1) -> SemiRegularMesh:
    """A procedural shape with its levels: nodule, kidney, spatula, rabbit, …"""

def remesh(surface: SurfaceLike, base_vertices: int = 150, levels: int = 3, progress: ProgressLike = None) -> SemiRegularMesh:
    """A closed surface (mesh, file or name of a shape) on levels: base_vertices of the coarsest one, 4 or more, and more where topology needs them; levels: rounds of splitting its triangles in four, 0: none."""

class Energy:
    """Mechanical energy of a body [J]."""
    @property
    def kinetic(self) -> float:
        """[J]"""
    @property
    def elastic(self) -> float:
        """[J]"""
    @property
    def total(self) -> float:
        """[J]"""

class LiveParameter:
    """A number that may change while a body runs."""
    @property
    def name(self) -> str:
        """For set_parameter and parameters."""
    @property
    def unit(self) -> str:
        """Empty: a factor."""
    @property
    def help(self) -> str:
        """What it does."""
    @property
    def value(self) -> float:
        """At the start."""
    @property
    def low(self) -> float:
        """Least value, in its unit."""
    @property
    def high(self) -> float:
        """Largest value, in its unit."""

class Body:
    """Anything simulated. Points of its surface are given as a vertex or as (triangle, weights of its corners); places, velocities and forces are in the world, SI units. One thread at a time."""
    @property
    def kind(self) -> str:
        """rigid, reduced, fem, greens, particles or zones."""
    @property
    def surface(self) -> SurfaceMesh:
        """At rest, in the axes of the body."""
    @property
    def size(self) -> float:
        """Longest side at rest [m]."""
    def step(self, dt: float) -> StepStatus:
        """Advances by dt seconds under the loads given since the last step."""
    def run(self, steps: int, dt: float, record: object = None, points: object = None, forces: object = None) -> numpy.ndarray:
        """Many steps of dt seconds without the interpreter's lock. Returns where the points of record are after each, (steps, points, 3) [m]. forces (steps, points, 3) [N] act on points."""
    def add_force(self, point: PointLike, force: ArrayLike) -> None:
        """Adds to the loads of the next step [N]."""
    @property
    def forces(self) -> numpy.ndarray:
        """(n, 3) float64 [N]: forces on all vertices in every step. Write into it; no copy."""
    def forces_at(self, points: object) -> numpy.ndarray:
        """(k, 3) float64 [N]: forces on these points in every step, until set to 0. Write into it; no copy. The same points in the same order have one array, however often they are asked for; those of other points act beside it."""
    @property
    def positions(self) -> numpy.ndarray:
        """(n, 3) float32 [m]: vertices now. The same array each time, written anew when asked for; copy it to keep it."""
    @property
    def normals(self) -> numpy.ndarray:
        """(n, 3) float32, unit: of the vertices now; as positions."""
    def position(self, point: PointLike, start: bool = False) -> numpy.ndarray:
        """[m]; start: before the last step."""
    def velocity(self, point: PointLike) -> numpy.ndarray:
        """[m/s]"""
    def normal(self, point: PointLike) -> numpy.ndarray:
        """Unit, outwards."""
    def mobility(self, point: PointLike) -> float:
        """Change of velocity by an impulse of 1 N s, at most [1/kg]."""
    def compliance(self, point: PointLike) -> typing.Optional[numpy.ndarray]:
        """(3, 3) [m/N]: static displacement by a force there; None: unknown."""
    def closest_point(self, x: ArrayLike) -> tuple:
        """The place of the surface nearest to x [m] now: (triangle, weights)."""
    def prescribe(self, point: PointLike, position: ArrayLike) -> bool:
        """Holds a point at a place [m] from the next step on; False: this body cannot."""
    def release_all(self) -> None:
        """Lets go of all points held."""
    def holding_force(self, i: int = 0) -> numpy.ndarray:
        """Force that held the i-th point in the last step [N]."""
    def set_gravity(self, acceleration: ArrayLike) -> None:
        """Of every step until changed [m/s²]."""
    def set_wind(self, direction: ArrayLike, pressure: float) -> None:
        """Dynamic pressure [Pa] until changed."""
    @property
    def energy(self) -> Energy:
        """Now [J]."""
    @property
    def parameters(self) -> dict:
        """By name: what may change while it runs."""
    def set_parameter(self, name: str, value: float) -> None:
        """Kept in its range."""
    @property
    def state(self) -> numpy.ndarray:
        """Everything that the future depends on but loads and parameters; a copy."""
    @state.setter
    def state(self, value: ArrayLike) -> None: ...
    @property
    def report(self) -> dict:
        """Counts of what steps said, and percentiles of their CPU time [µs]. How it is now: volume and extent (length) over those at rest, volume nan for sheets; condition: well, collapsed (less than a fifth of its volume), inside out, stretched (ten times as long) or away (10,000 times its size); of full FEM smallest_det_F of an element in the last step."""
    def reset(self) -> None:
        """Back to the start: state, held points, loads, forces written into arrays, report."""
    def view(self, **options: typing.Any) -> Viewer:
        """On a page; see pliant.view."""

class ScriptedMotion:
    """A smooth path through poses."""
    def __init__(self, times: ArrayLike, positions: ArrayLike, rotations: object = None, repeat: bool = False) -> None:
        """times (k,) [s], positions (k, 3) [m], rotations (k, 4) quaternions (w, x, y, z)."""
    @staticmethod
    def oscillation(base: PoseLike, amplitude: ArrayLike, frequency: float, rotation_amplitude: ArrayLike = (0, 0, 0), phase: float = 0.0) -> ScriptedMotion:
        """base + amplitude sin(2π frequency t + phase): amplitude [m] and rotation_amplitude [rad] along world axes, frequency [Hz], phase [rad]."""
    def at(self, time: float) -> Pose:
        """Pose at a time [s]."""

class Solid:
    """A solid that does not deform, in its own axes."""
    @property
    def surface(self) -> SurfaceMesh:
        """Triangles that stand for it; a copy."""
    def gap(self, points: ArrayLike) -> numpy.ndarray:
        """Signed distance (n,) [m], negative inside."""
    def body(self, pose: PoseLike = None, density: float = 0.0, motion: typing.Optional[ScriptedMotion] = None, velocity: Twist = ...) -> RigidBody:
        """A rigid body: static or driven; with a density [kg/m³] moved by forces; with a motion along a path, which says where it begins. pose: of its axes in the world at the start; velocity of their origin at the start, of a body that forces move."""

def Sphere(radius: float) -> Solid:
    """About the origin [m]."""

def Box(sizes: ArrayLike) -> Solid:
    """Of full sides about the origin [m]."""

def Capsule(radius: float, length: float) -> Solid:
    """About z; length of its axis [m]."""

def Ground(size: float = 1.0) -> Solid:
    """All below z = 0; drawn as a square [m]."""

def MeshSolid(surface: SurfaceLike, size: float = 0.0, progress: ProgressLike = None) -> Solid:
    """Inside a closed surface, scaled to a longest side of size [m] unless 0."""

class RigidBody(Body):
    """A body that does not deform."""
    @property
    def pose(self) -> Pose:
        """Now."""
    @property
    def twist(self) -> Twist:
        """Now."""
    @property
    def mass(self) -> float:
        """[kg]; 0: not moved by forces."""
    def drive_to(self, pose: PoseLike) -> None:
        """Where the next step ends; bodies without motion or mass."""
    def add_wrench(self, wrench: Wrench) -> None:
        """Load of the next step about the origin of its frame."""
    @property
    def last_load(self) -> Wrench:
        """All loads on it in the last step about the origin of its frame."""

class Material:
    """An elastic material."""
    def __init__(self, youngs_modulus: float, poisson_ratio: float, density: float, law: str = 'st-venant-kirchhoff') -> None:
        """[Pa], 1, [kg/m³]; law: st-venant-kirchhoff, small-strain, neo-hookean or corotational."""
    @staticmethod
    def preset(name: str, law: str = 'st-venant-kirchhoff') -> Material:
        """See material_names()."""
    @property
    def youngs_modulus(self) -> float:
        """[Pa]"""
    @property
    def poisson_ratio(self) -> float:
        """Without unit."""
    @property
    def density(self) -> float:
        """[kg/m³]"""
    @property
    def law(self) -> str:
        """Of stress and strain."""

def material_names() -> list[str]:
    """Names of materials, softest first."""

class FemModel:
    """Nonlinear finite elements. Cannot be changed."""
    @property
    def mesh(self) -> VolumeMesh:
        """Its elements at rest; a copy."""
    @property
    def num_nodes(self) -> int:
        """n: vertices of the mesh."""
    @property
    def stable_step(self) -> float:
        """Longest explicit step [s]."""
    def gravity_load(self, acceleration: ArrayLike) -> numpy.ndarray:
        """Forces (n, 3) [N] of an acceleration [m/s²]."""
    def traction_load(self, nodes: object, traction: ArrayLike) -> numpy.ndarray:
        """Forces (n, 3) [N] of a force per area [Pa] on the outer faces of a selection."""
    def energy(self, u: object) -> float:
        """Elastic energy [J] of displacements (n, 3) [m]."""
    def internal_force(self, u: object) -> numpy.ndarray:
        """Forces (n, 3) [N] that hold the body in a shape."""
    def tangent(self, u: object = None) -> tuple:
        """Stiffness [N/m] as (data, indices, indptr) for scipy.sparse.csc_matrix."""
    def lumped_mass(self) -> numpy.ndarray:
        """(n, 3) [kg]"""
    def solve_static(self, *, fixed: object, load: object = None, prescribed: object = None, linear: bool = False, load_steps: int = 1, progress: ProgressLike = None) -> dict:
        """Equilibrium under dead loads (n, 3) [N] with the nodes fixed held, a selection or their numbers; prescribed: displacements of nodes [m] by node. linear: for small displacements, with the stiffness at rest; otherwise load and prescribed displacements are applied in load_steps equal parts, halved where Newton's method does not converge. A dictionary: displacements u (n, 3) [m]; converged, and message, which says what went wrong; load_fraction: part of the load that u carries, 1 when converged; energy: elastic [J], linear: uᵀ K u / 2; smallest_det_F: least volume of an element over that at rest, at most 0 where one is inverted; iterations of Newton's method in all, 0 when linear."""
    def body(self, fixed: str = '', pose: PoseLike = None, obstacles: list[RigidBody] = [], mass_damping: float = 0.0, stiffness_damping: float = 0.0, friction: float = 0.3, inner_step: float = 0.0) -> FemBody:
        """A body in explicit dynamics, held at a selection of nodes; Rayleigh damping: of mass [1/s], of stiffness [s]; obstacles are rigid bodies that it meets with Coulomb's coefficient friction, to be stepped before it; inner_step: into which steps are cut [s], 0: as long as is stable."""

def build_fem(body: object, *, size: float = 0.0, material: MaterialLike = 'rubber', mesh: str = 'voxel', resolution: int = 16, regions: object = None, hollow: bool = False, growth: float = 0.5, levels: int = 4, elements: str = 'accurate', progress: ProgressLike = None) -> FemModel:
    """Finite elements of a VolumeMesh as it is, or of a surface (mesh, file or name of a shape) scaled to a longest side of size [m], 0: as it is, and filled with elements: mesh, resolution, hollow, growth, levels and elements as in build_reduced. regions: pairs of a selection and a material. Materials given by name have the law neo-hookean."""

class FemBody(Body):
    """A body of full finite elements in explicit dynamics."""
    @property
    def u(self) -> numpy.ndarray:
        """Displacements of nodes (n, 3) [m]; a copy."""
    def inner_steps(self, dt: float) -> int:
        """Into which a step is cut."""
    @property
    def num_contacts(self) -> int:
        """With obstacles, in the last step."""
    def obstacle_load(self, i: int) -> Wrench:
        """Mean load on an obstacle in the last step, about its origin."""

class ReducedModel:
    """A deformable body in a subspace. Cannot be changed."""
    @staticmethod
    def load(path: PathLike) -> ReducedModel:
        """From a .pliant file, which is mapped into memory."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file, as pliant build makes it."""
    def body(self, pose: PoseLike = None, mass_damping: float = 0.0, stiffness_damping: float = 0.002, linear: bool = False, velocity: Twist = ...) -> ReducedBody:
        """A body of this model; Rayleigh damping: of mass [1/s], of stiffness [s]. linear: small displacements; velocity of a free body at the start."""
    @property
    def rank(self) -> int:
        """r: vectors of the basis."""
    @property
    def num_modes(self) -> int:
        """Modes of vibration that the basis began with."""
    @property
    def is_free(self) -> bool:
        """Nothing of it is held."""
    @property
    def frequencies(self) -> numpy.ndarray:
        """Of the modes [Hz]."""
    @property
    def captured(self) -> float:
        """Part of modes and derivatives that the basis holds, 0 to 1."""
    @property
    def suggested_step(self) -> float:
        """For implicit steps [s]."""
    @property
    def expected_reach(self) -> float:
        """Deflection up to which the basis is meant [m]."""
    @property
    def basis(self) -> numpy.ndarray:
        """U, (3n, r): displacement of the mesh is U q; no copy."""
    @property
    def mesh(self) -> VolumeMesh:
        """Simulation mesh."""
    @property
    def surface(self) -> SurfaceMesh:
        """That is shown and touched, at rest."""
    @property
    def fixed_vertices(self) -> numpy.ndarray:
        """Of the simulation mesh."""
    @property
    def materials(self) -> list[Material]:
        """One for each region of the mesh."""
    def with_materials(self, materials: list[Material]) -> ReducedModel:
        """The same subspace with other constants: force and mass are exact."""
    def truncated(self, rank: int) -> ReducedModel:
        """With the first vectors of the basis only."""
    def with_snapshots(self, shapes: ArrayLike, *, rank: int, distance: float = 0.0, progress: ProgressLike = None) -> ReducedModel:
        """The same body in the best subspace of shapes (m, n, 3) of a full simulation: displacements [m] of the n vertices of mesh, as FemBody.u has them, 0 at fixed_vertices. Rigid motion of a free body is taken out. rank: at most m; distance: shapes kept differ by this part of the largest, 0: all."""
    def with_loads(self, loads: object, *, rank: int = 0, max_loads: int = 8, progress: ProgressLike = None) -> ReducedModel:
        """The same held body in a subspace that also has the equilibria under these loads (a sketch), each a list of pairs of a point and a force (3,) [N] in body axes. rank 0: as it is; max_loads: solved at most, those that differ most."""
    @property
    def stages(self) -> dict:
        """Seconds of each stage of the build; empty for a model from a file."""
    @property
    def errors(self) -> dict:
        """How much less the body gives way than the whole mesh, for small loads: 0 exact, 1 rigid; of its weight along each axis, and of presses on a tenth of its size. -1: not known, of a model from a file."""
    def trial(self) -> dict:
        """What its own weight and a hand of 10 N do to it: largest displacement [m], volume over that at rest, smallest det F; and a warning where its weight alone is too much."""

class ReducedBody(Body):
    """A body in a subspace, held or free."""
    @property
    def q(self) -> numpy.ndarray:
        """Reduced coordinates (r,); a copy."""
    @property
    def v(self) -> numpy.ndarray:
        """Their velocities (r,); a copy."""
    @property
    def time(self) -> float:
        """[s]"""
    @property
    def pose(self) -> Pose:
        """Of the rest shape's axes now."""
    def add_reduced_force(self, f: ArrayLike) -> None:
        """Load in reduced coordinates (r,), of the next step."""
    def add_wrench(self, wrench: Wrench) -> None:
        """Load of a free body about its centre of mass, of the next step."""

def build_reduced(surface: SurfaceLike, *, size: float = 0.0, material: MaterialLike = 'rubber', fixed: str = '', free: bool = False, rank: int = 0, num_modes: int = 20, mesh: str = 'voxel', resolution: int = 40, regions: object = None, hollow: bool = False, keep_largest: bool = False, cache: CacheLike = True, growth: float = 0.5, levels: int = 4, storage: str = 'float32', elements: str = 'accurate', progress: ProgressLike = None) -> ReducedModel:
    """From a surface (mesh, file or name of a shape) to a model that deforms at haptic rates. size: longest side [m], 0: as it is; fixed: selection of vertices that are held, as "z < 5 %", or free; rank of the basis, which begins with num_modes modes of vibration, 0: 12 to 30, for errors of 2 % under its weight and presses; mesh: voxel, graded, tet or graded-tet with so many cells along the longest side, hollow: only where the surface is (voxel), growth: cell size over depth, and levels of sizes (graded kinds); keep_largest: of a mesh in several parts, instead of an error; regions: pairs of a selection and a material; storage of the surface's shapes: float32 or int16; elements: accurate, which do not lock, or plain; cache: finished stages are kept."""

class GreensModel:
    """An elastic body with its Green's functions. Cannot be changed."""
    @staticmethod
    def load(path: PathLike) -> GreensModel:
        """From a .pliant file."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file."""
    def body(self, pose: PoseLike = None, mask_radius: float = 0.0, rate: float = 1000.0, constraint_level: int = -1, max_loads: int = 256) -> GreensBody:
        """A body without inertia: always where its loads are in balance. Forces of points are spread over mask_radius [m], 0: 1.5 mean edges, or over the functions of constraint_level; rate of steps [Hz]; max_loads: nodes loaded at once."""
    @property
    def surface(self) -> SurfaceMesh:
        """At rest."""
    @property
    def num_nodes(self) -> int:
        """Boundary nodes."""
    @property
    def num_columns(self) -> int:
        """Nodes with a column."""
    @property
    def num_fixed(self) -> int:
        """Nodes that are held."""
    @property
    def nodes(self) -> numpy.ndarray:
        """(n, 3) float64 [m] at rest, no copy."""
    @property
    def is_fixed(self) -> numpy.ndarray:
        """(n,) bool: nodes that are held."""
    @property
    def areas(self) -> numpy.ndarray:
        """Of nodes (n,) [m²], no copy."""
    def column(self, id: int) -> numpy.ndarray:
        """(n, 3, 3) float32: what a unit known value of a node does to all nodes. Displacements in units of length, tractions in units of modulus. Ids above the nodes are functions of coarser levels."""
    @property
    def readouts(self) -> list:
        """Pairs of a kind and a point [m], in the order of readout_column."""
    def readout_column(self, id: int) -> numpy.ndarray:
        """(v, 3) float32: what a unit known value of a node does to all readouts one below the other: three rows of a displacement in units of length, six (xx yy zz yz zx xy) of a stress in units of modulus."""
    @property
    def length(self) -> float:
        """Unit of displacements in columns [m]."""
    @property
    def modulus(self) -> float:
        """Unit of tractions in columns: the shear modulus [Pa]."""
    @property
    def youngs_modulus(self) -> float:
        """[Pa]"""
    @property
    def poisson_ratio(self) -> float:
        """Without unit."""
    @property
    def density(self) -> float:
        """[kg/m³]"""
    @property
    def asymmetry(self) -> float:
        """Of reciprocity; 0: exact."""
    @property
    def method(self) -> str:
        """How the functions were found."""
    def compressed(self, tolerance: float = 0.05, kind: str = 'lifted-linear', bits: int = 32, progress: ProgressLike = None) -> GreensModel:
        """The model with columns of wavelet coefficients, on a surface with levels: largest error of a column against its largest block; kind linear, lifted-linear, butterfly or lifted-butterfly; 32 or 16 bits of a number."""
    @property
    def compression(self) -> object:
        """Of wavelets: kind, tolerance, compression (all blocks over those kept), relative errors rms and max, bytes; None: columns are dense."""
    def with_coarser_levels(self, coarsest: int, progress: ProgressLike = None) -> GreensModel:
        """The model with columns of the functions of coarser levels as well, from its own, which are dense: bodies may then be touched on any of them (constraint_level)."""
    @property
    def num_levels(self) -> int:
        """Rounds of subdivision of its surface."""

def build_greens(surface: object, *, fixed: str, size: float = 0.0, material: MaterialLike = 'rubber', method: str = 'boundary', contactable: str = '', fixed_columns: bool = False, levels: int = -1, wavelet_tolerance: float = -1.0, coarsest_level: int = -1, mesh: str = 'tet', resolution: int = 24, cache: CacheLike = True, elements: str = 'linear', crease_angle: float = 0.0, solver: str = 'auto', residual: float = 0.0001, matrix: str = 'hierarchical', matrix_tolerance: float = 0.0, memory: float = 0.0, readouts: object = None, wavelet: str = '', base_threshold: bool = False, bits: int = 32, finest_level: int = -1, hollow: bool = False, growth: float = 0.5, keep_largest: bool = False, regions: object = None, progress: ProgressLike = None) -> GreensModel:
    """Green's functions of the body within a closed surface (mesh, file or name of a shape), held at a selection of nodes, by boundary or finite elements; or by those of a VolumeMesh. size: longest side [m], 0: as it is; contactable: selection of nodes that may be touched, empty: all; fixed_columns: supports may move; levels: rounds of subdivision, -1: all. readouts: pairs of "displacement" or "stress" and a point inside [m]. boundary: elements linear or constant, nodes doubled along edges sharper than crease_angle [rad] unless 0; solver auto, direct or iterative, which stops at a relative residual with a hierarchical or wavelet matrix (matrix_tolerance 0: 1e-4 and 0.01); memory that may be used [bytes], 0: what is free. finite: mesh, resolution, hollow, growth, keep_largest and regions as in build_reduced. wavelet: linear, lifted-linear, butterfly or lifted-butterfly compresses on subdivision surfaces within wavelet_tolerance of the largest response (0.05 unless 0 or more; above 0 it compresses by lifted-linear alone), base_threshold: small coefficients of the base go as well, bits of each number: 32 or 16. coarsest_level, finest_level: functions of these levels have columns, -1: nodes alone, and down to them."""

class GreensBody(Body):
    """An elastic body without inertia, solved exactly."""
    @property
    def pose(self) -> Pose:
        """Of its axes in the world."""
    @property
    def num_loads(self) -> int:
        """Nodes loaded in the last step."""
    @property
    def constraint_level(self) -> int:
        """On which it is touched now; -1: nodes."""
    @property
    def strain_use(self) -> float:
        """Largest strain, rotation or displacement over what linear theory allows; above 1: exceeded."""

class AdaptiveDisplay:
    """Surfaces of bodies with wavelet Green's functions, fine only where their shape is."""
    def __init__(self, model: GreensModel) -> None:
        """model: one with compression."""
    def surface(self, body: GreensBody, tolerance: float) -> SurfaceMesh:
        """As the last step left the body, in its axes; edges are split where the shape leaves the interpolation by more than a tolerance [m]."""
    @property
    def vertices(self) -> numpy.ndarray:
        """Of the last surface, as vertices of the model."""

class GreensMeasurement:
    """Pushes on a body that stands on its base, and what they moved."""
    def __init__(self, num_vertices: int, noise: float = 0.0) -> None:
        """Of a surface of so many vertices; noise: standard deviation of a coordinate of a displacement [m], 0: unknown."""
    @staticmethod
    def load(path: PathLike) -> GreensMeasurement:
        """From a text file of probes."""
    def save(self, path: PathLike) -> None:
        """To a text file of probes."""
    def add_probe(self, vertex: int, force: ArrayLike, displacements: ArrayLike) -> None:
        """A force (3,) [N] on a vertex and displacements (n, 3) [m] of all vertices; those with nan were not seen."""
    def probe(self, i: int) -> dict:
        """vertex, force [N], displacements (n, 3) [m] with nan: not seen."""
    def __len__(self) -> int:
        ...
    @property
    def num_vertices(self) -> int:
        """n: of the surface."""
    @property
    def noise(self) -> float:
        """[m]; 0: unknown."""

class MeasuredGreensReport:
    """How well columns are known."""
    @property
    def errors(self) -> numpy.ndarray:
        """Of each probed column by noise, relative, RMS."""
    @property
    def vertices(self) -> numpy.ndarray:
        """That were probed, in the order of errors."""
    @property
    def num_inferred(self) -> int:
        """Columns of vertices that were not probed."""
    @property
    def num_filled(self) -> int:
        """Blocks of columns that were not seen."""
    @property
    def noise(self) -> float:
        """As stated or estimated [m]."""
    @property
    def youngs_modulus(self) -> float:
        """[Pa]"""
    @property
    def asymmetry(self) -> float:
        """Of reciprocity; 0: exact."""
    @property
    def notes(self) -> list[str]:
        """What is doubtful about the result."""

def probe_model(model: GreensModel, *, num_probes: int = 4, cone: float = 0.7, force: float = 0.0, noise: float = 0.0, hidden_share: float = 0.0, seed: int = 1) -> GreensMeasurement:
    """What a robot would measure on a GreensModel with levels: so many probes of each vertex of the level before the finest, forces [N] (0: that move it by 2 % of its length) within a cone [rad] around the inward normal; noise [m]; share of vertices hidden."""

def build_measured(surface: SurfaceLike, measurement: GreensMeasurement, *, fixed: str, size: float = 0.0, contactable: str = '', youngs_modulus: float = 0.0, poisson_ratio: float = 0.3, density: float = 1000.0, max_error: float = 0.2, levels: int = -1, progress: ProgressLike = None) -> tuple:
    """A GreensModel from a measurement, and a MeasuredGreensReport. surface: with levels, its vertices are those measured; levels: rounds of its subdivision, -1: all; fixed: selection of the vertices of its base, as "z < 5 %"; size: longest side to which the surface is scaled [m], 0: as it is; contactable: selection of vertices that may be touched, empty: all; youngs_modulus [Pa] is the scale of its units, 0: estimated; density [kg/m³]; max_error: of a column by noise, relative."""

class SeamResponse:
    """What a zone of any kind is to the seams that bond it."""
    @property
    def num_seam_nodes(self) -> int:
        """Nodes that it shares with other zones."""
    def seam_stiffness(self) -> numpy.ndarray:
        """(3 n, 3 n) [N/m] at rest; a copy."""

class FemZone(SeamResponse):
    """Finite elements as a zone, linear about rest."""
    def __init__(self, model: object, seam: ArrayLike, fixed: ArrayLike = (), progress: ProgressLike = None) -> None:
        """model: FemModel; seam and fixed: vertices of its mesh."""
    def set_loads(self, vertices: ArrayLike, forces: ArrayLike, gravity: ArrayLike = (0, 0, 0)) -> None:
        """Forces (k, 3) [N] on vertices (k,) off the seam, and gravity [m/s²]."""

class ReducedZone(SeamResponse):
    """A reduced model as a zone: its deformation may be large."""
    def __init__(self, model: object, seam: ArrayLike, layer: float = 0.01) -> None:
        """model: ReducedModel; seam: vertices of its mesh; layer: compliance of what bonds a seam node over that of the modes at it."""
    @property
    def q(self) -> numpy.ndarray:
        """Coordinates (r,) of the last solution; a copy."""

class Zone:
    """Part of a body of zones."""
    def __init__(self, name: str, model: object, pose: PoseLike = None) -> None:
        """model: GreensModel, FemZone or ReducedZone; pose: of its axes at rest, where seams match."""
    @property
    def name(self) -> str:
        """Of the zone."""
    @property
    def pose(self) -> Pose:
        """At rest; a copy."""

class SeamStatus:
    """How a solution of seams went."""
    Solved: typing.ClassVar[SeamStatus]
    NotConverged: typing.ClassVar[SeamStatus]
    Singular: typing.ClassVar[SeamStatus]
    BadInput: typing.ClassVar[SeamStatus]
    def __init__(self, value: int) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class ZonedModel:
    """A body of zones bonded where their nodes are at the same place at rest; each has axes of its own that may move."""
    def __init__(self, zones: list[Zone], tolerance: float = 1e-06) -> None:
        """tolerance: of places, times the size of the smaller zone."""
    @property
    def num_zones(self) -> int:
        """Zones."""
    @property
    def num_seams(self) -> int:
        """Places where zones hang together."""
    def set_poses(self, poses: list[PoseLike]) -> SeamStatus:
        """Of the axes of all zones in the world."""
    def set_gravity(self, acceleration: ArrayLike) -> None:
        """In the world [m/s²]."""
    def set_loads(self, zone: int, nodes: ArrayLike, values: ArrayLike) -> bool:
        """Of a zone with Green's functions: tractions [Pa] of free nodes, displacements [m] of fixed ones, (k, 3) in its axes. False: not finite, no column, on a seam or too many."""
    def solve(self) -> SeamStatus:
        """For the loads and poses of now. Models that share a zone are solved one after the other."""
    def positions(self, zone: int) -> numpy.ndarray:
        """Nodes of a zone with Green's functions (n, 3) in the world, displaced [m]; a copy."""
    def seam_displacements(self, zone: int) -> numpy.ndarray:
        """(n, 3) in the axes of a zone [m]; a copy."""
    @property
    def largest_gap(self) -> float:
        """Between the two sides of a seam, both displaced [m]."""
    def posed(self) -> GreensModel:
        """All zones with Green's functions as one GreensModel in their poses of now."""

class Bone:
    """Turns about a hinge, with all bones after it."""
    def __init__(self, name: str, parent: int = -1, joint: ArrayLike = (0, 0, 0), axis: ArrayLike = (0, 1, 0)) -> None:
        """parent: place of a bone before it, -1: the body; joint: a point of the hinge [m] at rest."""
    @property
    def name(self) -> str:
        """Of the bone."""
    @property
    def parent(self) -> int:
        """The bone before it that it hangs on; -1: the body itself."""

class CharacterZone:
    """An elastic part, moved by a bone."""
    def __init__(self, name: str, model: GreensModel, bone: int = 0, rest: PoseLike = None, mask_radius: float = 0.0) -> None:
        """model: GreensModel with fixed_columns; rest: of its axes in those of the body; mask_radius of forces of points [m], 0: 1.5 mean edges."""
    @property
    def name(self) -> str:
        """Of the zone."""

class Character:
    """Elastic zones on bones."""
    def __init__(self, bones: list[Bone], zones: list[CharacterZone], blend: float = 0.01, seams: str = 'blended') -> None:
        """blend: over which neighbouring bones share fixed nodes at a joint [m]; seams: blended (every zone by itself) or bonded (forces go from zone to zone)."""
    def body(self, pose: PoseLike = None, motion: typing.Optional[ScriptedMotion] = None, flexion: list[ScriptedMotion] = [], rate: float = 1000.0) -> ZonedBody:
        """A body; motion: ScriptedMotion of the whole; flexion: one for each bone, whose x is the angle of its hinge [rad]; rate of steps [Hz]."""

class ZonedBody(Body):
    """A character of elastic zones on bones."""
    @property
    def pose(self) -> Pose:
        """Of its axes in the world."""
    @property
    def num_zones(self) -> int:
        """Zones."""
    def first_vertex(self, zone: int) -> int:
        """Of a zone in surface."""
    @property
    def bones(self) -> list[Pose]:
        """Where bones have gone from rest, in the axes of the body."""

def pad_surface(length: float = 0.03, width: float = 0.018, height: float = 0.015, levels: int = 2) -> SemiRegularMesh:
    """A soft pad around a bone along x, as of a link of a finger, from (0, -width / 2, -height) to (length, width / 2, 0) [m]; levels: rounds of subdivision of 14 vertices, 0 to 6."""

class ParticleLayout:
    """Particles at rest and the links that hold them together."""
    @staticmethod
    def load(path: PathLike) -> ParticleLayout:
        """From a .json file."""
    def save(self, path: PathLike) -> None:
        """To a .json file, which may be edited by hand."""
    @property
    def num_particles(self) -> int:
        """Particles."""
    @property
    def centres(self) -> numpy.ndarray:
        """(k, 3) [m]"""
    @property
    def radii(self) -> numpy.ndarray:
        """Along the axes of each particle (k, 3) [m]; equal: a sphere."""
    @property
    def links(self) -> numpy.ndarray:
        """Pairs of particles (l, 2)."""
    @property
    def is_cloth(self) -> bool:
        """Links also keep their length."""

def place_spheres(surface: SurfaceLike, *, size: float = 0.0, count: int = 37, links: int = 8, mass: float = 1.0, stiffness: float = 0.6, least_radius: float = 0.0, progress: ProgressLike = None) -> ParticleLayout:
    """Spheres that fill a closed surface (mesh, file or name of a shape) up to its skin, for a SphereTool; size: longest side [m], 0: as it is; each is linked with so many neighbours; mass of all [kg]; stiffness of tools that bend, 0 to 1; no sphere is smaller than least_radius [m]."""

def sphere_coverage(layout: ParticleLayout, surface: SurfaceLike) -> dict:
    """How well spheres stand for a surface: a dictionary with largest_gap and mean_gap of the surface from the nearest sphere [m], gap_place (3,) [m], and largest_overhang of a sphere beyond it [m], below 0: all are inside."""

class ParticleModel:
    """Oriented particles and the surface they carry. Cannot be changed."""
    @staticmethod
    def load(path: PathLike) -> ParticleModel:
        """From a .pliant file."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file."""
    @property
    def layout(self) -> ParticleLayout:
        """Its particles and links; a copy."""
    def body(self, pose: PoseLike = None, held: list[str] = [], iterations: int = 5, damping: float = 0.0, friction: float = 0.3, ground: object = None) -> ParticleBody:
        """A body of it; held: selections of particles that stay where they are; iterations: passes over all groups in a step; damping [1/s]; friction: Coulomb's coefficient; ground: height of a floor [m]."""
    @property
    def surface(self) -> SurfaceMesh:
        """Carried by the particles, at rest."""
    @property
    def num_particles(self) -> int:
        """Particles."""
    @property
    def mass(self) -> float:
        """[kg]"""
    @property
    def centres(self) -> numpy.ndarray:
        """At rest (k, 3) [m]."""

def build_particles(surface: SurfaceLike, *, size: float = 0.0, count: int = 137, links: int = 8, density: float = 1000.0, stiffness: float = 0.6, spheres: bool = False, regions: object = None, radius: float = 0.0, sheet: bool = False, mass: float = 0.2, layout: object = None, progress: ProgressLike = None) -> ParticleModel:
    """Particles spread through a closed surface (mesh, file or name of a shape); size: longest side [m], 0: as it is; count of them, each linked with so many neighbours; density [kg/m³]; stiffness 0 (sand) to 1 (rigid), and pairs of a selection and a stiffness in regions; spheres instead of ellipsoids, of a radius [m] unless 0. sheet: cloth, one particle for each vertex, of a mass in all [kg] and a radius (0.01 m unless given). layout: a ParticleLayout, or a .json file of one made by hand, in place of all this."""

class ParticleBody(Body):
    """A body of oriented particles."""
    @property
    def centres(self) -> numpy.ndarray:
        """Of the particles now (k, 3) [m]; a copy."""

class DistanceField:
    """Signed distance from a solid [m], negative inside."""
    def distances(self, points: ArrayLike) -> numpy.ndarray:
        """(n,) float32 [m] at points (n, 3)."""
    def samples(self, points: ArrayLike) -> tuple:
        """Distances (n,) [m] and gradients (n, 3), float32, at points (n, 3)."""
    def distance(self, x: ArrayLike) -> float:
        """At one point [m]."""
    @property
    def bounds(self) -> numpy.ndarray:
        """(2, 3): where values are more than bounds [m]."""
    @property
    def resolution(self) -> float:
        """Length below which it knows no detail [m]."""
    def slice(self, origin: ArrayLike, across: ArrayLike, up: ArrayLike, width: int = 400, height: int = 400) -> numpy.ndarray:
        """Values of a plane cut, (height, width) float32 [m], rows from the top (largest up): a picture with its lower left corner at origin [m], its lower side across [m] and its left side up [m], of 1 to 16384 pixels along each."""
    def iso_surface(self, level: float = 0.0, resolution: int = 128, progress: ProgressLike = None) -> SurfaceMesh:
        """Where it has this value [m]; resolution is of fields that are no grid."""

class DistanceGrid(DistanceField):
    """Distances on a grid, trilinear between them."""
    @staticmethod
    def load(path: PathLike) -> DistanceGrid:
        """From a .pliant file."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file."""
    @property
    def memory(self) -> int:
        """[bytes]"""
    @property
    def cells(self) -> list[int]:
        """Along each axis."""
    @property
    def cell(self) -> float:
        """[m]"""

class DeformedField(DistanceField):
    """The field of a reduced body as it deforms, in its own axes."""
    def __init__(self, model: object, resolution: int = 64, proxies: int = 40, neighbours: int = 5, domains: int = 1, kind: str = 'signed', progress: ProgressLike = None) -> None:
        """Of a ReducedModel: its field at rest, of a kind and resolution as in build_field, and so many proxies on the surface, of which each place asks its nearest neighbours how the body is deformed there; domains: parts of the surface with proxies of their own."""
    def update(self, q: ArrayLike) -> bool:
        """Takes the shape q (r,); False: it is not finite."""
    @staticmethod
    def load(path: PathLike, model: object) -> DeformedField:
        """From a .pliant file, of the ReducedModel that it was built for; at rest."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file: all but its present shape."""
    @property
    def rank(self) -> int:
        """r: size of q."""

def build_field(surface: SurfaceLike, *, size: float = 0.0, kind: str = 'signed', resolution: int = 128, expansion: float = 1.5, offset_cells: float = 1.4, storage: str = 'sparse', band_cells: float = 4.0, progress: ProgressLike = None) -> DistanceGrid:
    """Distances from a surface (mesh, file or name of a shape): kind signed for closed ones, offset for soups, sheets and wires, offset_cells outside of them; size: longest side [m], 0: as it is; resolution: cells along the longest side of a box of expansion times the surface's, a power of two; storage sparse, exact within band_cells of the surface and a bound beyond, or dense."""

def sphere_field(radius: float) -> DistanceField:
    """About the origin [m]."""

def box_field(sizes: ArrayLike) -> DistanceField:
    """Of full sides about the origin [m]."""

def capsule_field(radius: float, length: float) -> DistanceField:
    """About z; length of its axis [m]."""

def plane_field(normal: ArrayLike, offset: float = 0.0) -> DistanceField:
    """All with normal · x ≤ offset [m]; normal is made a unit vector."""

def unite_fields(parts: list[DistanceField]) -> DistanceField:
    """Of points in any of the solids."""

def intersect_fields(parts: list[DistanceField]) -> DistanceField:
    """Of points in all of the solids; a bound of the distance outside."""

def invert_field(field: DistanceField) -> DistanceField:
    """Inside and outside exchanged."""

def offset_field(field: DistanceField, by: float) -> DistanceField:
    """Grown by metres."""

def move_field(field: DistanceField, pose: PoseLike) -> DistanceField:
    """Put to a pose [m]."""

class Pointshell:
    """Points on a surface, coarse to fine."""
    @staticmethod
    def load(path: PathLike) -> Pointshell:
        """From a .pliant file."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file."""
    @property
    def points(self) -> numpy.ndarray:
        """(n, 3) float32 [m], no copy."""
    @property
    def normals(self) -> numpy.ndarray:
        """(n, 3) float32, unit, inwards, no copy."""
    @property
    def level_start(self) -> list[int]:
        """First point of each level."""
    @property
    def spacing(self) -> float:
        """Of the finest level [m]."""
    @property
    def offset(self) -> float:
        """From the surface that it stands for [m]."""
    @property
    def num_points(self) -> int:
        """Of all levels."""
    @property
    def num_levels(self) -> int:
        """Coarse to fine."""

def build_pointshell(surface: SurfaceLike, *, size: float = 0.0, points: int = 64000, levels: int = 4, resolution: int = 256, kind: str = 'signed', expansion: float = 1.5, offset_cells: float = 1.4, progress: ProgressLike = None) -> Pointshell:
    """About so many even points in all levels on a surface (mesh, file or name of a shape); size: longest side [m], 0: as it is. They lie on a field with the kind, resolution, expansion and offset_cells of build_field."""

class PointTree:
    """A pointshell as a tree of spheres."""
    def __init__(self, shell: Pointshell, model: object = None) -> None:
        """Rigid, or following the deformation of a ReducedModel."""
    @staticmethod
    def load(path: PathLike) -> PointTree:
        """From a .pliant file."""
    def save(self, path: PathLike) -> None:
        """To a .pliant file."""
    @property
    def rank(self) -> int:
        """r of the model that it follows; 0: rigid."""
    @property
    def num_points(self) -> int:
        """Of all levels."""
    @property
    def num_levels(self) -> int:
        """Coarse to fine."""

class ContactQuery:
    """Which points of a tree are inside a field."""
    def __init__(self, tree: PointTree, field: DistanceField, budget: int = 0) -> None:
        """budget: nodes that may be visited, 0: all."""
    def find(self, pose: PoseLike, q: object = None) -> dict:
        """With the tree at a pose in the axes of the field and the shape q (r,): a dictionary of points, their positions (n, 3) there [m] and distances (n,) [m], below 0."""

class ContactPair:
    """Contact of the points of one body with the field of another, rigid or reduced."""
    def __init__(self, shell: Body, tree: PointTree, solid: Body, field: DistanceField, *, stiffness: float = 1000.0, friction: float = 0.0, budget: int = 0, scaling_count: float = 10.0, cap_depth: float = 0.0) -> None:
        """shell: body with the points of tree; solid: body with field, of a reduced body a DeformedField. stiffness of one point [N/m]; friction: Coulomb's coefficient; budget: nodes of the tree visited in a step, 0: all. Where more than scaling_count points push one way they share the stiffness of so many; beyond cap_depth [m], unless 0, a point pushes back by twice its stiffness more."""
    def act(self, dt: float) -> StepStatus:
        """Contact as the bodies are, into their loads of the next step of dt seconds."""
    @property
    def on_shell(self) -> Wrench:
        """Load on the shell body about its centre, world axes."""
    @property
    def on_solid(self) -> Wrench:
        """Load on the other body about its centre, world axes."""
    @property
    def num_contacts(self) -> int:
        """Points inside."""
    @property
    def deepest(self) -> float:
        """Depth of the deepest point [m]."""
    @property
    def energy(self) -> float:
        """Stored in contacts [J]."""
    def forget(self) -> None:
        """Forgets friction: after resets."""

class ContactBody:
    """A body that meets others: by points on its surface, as a solid, or both."""
    def __init__(self, body: Body, tree: object = None, field: DistanceField = None) -> None:
        """body: rigid or reduced; tree: PointTree of its points; field: its solid, of a reduced body a DeformedField. Bodies of one shape may share tree and field."""

class ContactSolver:
    """Contact among bodies that move under it, with equal and opposite forces that follow the velocities they bring about. It keeps its bodies alive."""
    def __init__(self, bodies: list[ContactBody], *, stiffness: float = 10000.0, friction: float = 0.0, friction_stiffness: float = 1.0, damping_steps: float = 2.0, scaling_count: float = 10.0, max_iterations: int = 12, tolerance: float = 1e-07, max_pairs: int = 8192, max_contacts: int = 16384) -> None:
        """bodies: ContactBody objects; stiffness of one point [N/m]; friction: coefficient of all bodies; friction_stiffness: tangential stiffness over normal stiffness; damping_steps: of contacts, in steps; scaling_count: where more points push one way they share the stiffness of so many; max_iterations: sweeps over all contacts at most; tolerance that ends them: largest change of a sweep over the largest force; max_pairs of bodies near each other and max_contacts of all pairs: what there is room for, from the start."""
    def act(self, dt: float) -> StepStatus:
        """Contact as the bodies are, into their loads of the next step of dt seconds; after all other loads. CapacityExceeded: raise max_pairs or max_contacts. Releases the interpreter's lock."""
    @property
    def contacts(self) -> dict:
        """Of the last act(): arrays shell, solid (n,) of bodies, points (n,) of the shell, positions (n, 3) [m] and forces (n, 3) on the shell [N] in the world, depths (n,) [m]; copies."""
    @property
    def num_pairs(self) -> int:
        """Of bodies near each other."""
    @property
    def num_contacts(self) -> int:
        """Points inside a solid."""
    @property
    def num_sliding(self) -> int:
        """Contacts that slide, of those with friction."""
    @property
    def iterations(self) -> int:
        """Sweeps of the last act()."""
    @property
    def deepest(self) -> float:
        """Depth of the deepest point [m]."""
    @property
    def energy(self) -> float:
        """Stored in contacts [J]."""
    @property
    def stiffness(self) -> float:
        """Of one point [N/m]; kept in range."""
    @stiffness.setter
    def stiffness(self, value: float) -> None: ...
    @property
    def friction(self) -> float:
        """Coefficient of all bodies; kept in range."""
    @friction.setter
    def friction(self, value: float) -> None: ...
    def forget(self) -> None:
        """Forgets friction and forces: after resets and restored states."""

class DeviceStatus:
    """What a device says of itself."""
    Ok: typing.ClassVar[DeviceStatus]
    Disabled: typing.ClassVar[DeviceStatus]
    Stale: typing.ClassVar[DeviceStatus]
    Disconnected: typing.ClassVar[DeviceStatus]
    Uncalibrated: typing.ClassVar[DeviceStatus]
    NoRotation: typing.ClassVar[DeviceStatus]
    def __init__(self, value: int) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class DeviceCapabilities:
    """What a device is and can do."""
    def __init__(self) -> None:
        """Of a desktop device; set what is otherwise."""
    @property
    def name(self) -> str:
        """For people."""
    @name.setter
    def name(self, value: typing.Any) -> None: ...
    @property
    def workspace(self) -> numpy.ndarray:
        """Half sides [m]."""
    @workspace.setter
    def workspace(self, value: ArrayLike) -> None: ...
    @property
    def max_force(self) -> float:
        """[N]"""
    @max_force.setter
    def max_force(self, value: typing.Any) -> None: ...
    @property
    def max_torque(self) -> float:
        """[N m]"""
    @max_torque.setter
    def max_torque(self, value: typing.Any) -> None: ...
    @property
    def continuous_force(self) -> float:
        """[N]"""
    @continuous_force.setter
    def continuous_force(self, value: typing.Any) -> None: ...
    @property
    def max_stiffness(self) -> float:
        """[N/m]"""
    @max_stiffness.setter
    def max_stiffness(self, value: typing.Any) -> None: ...
    @property
    def max_angular_stiffness(self) -> float:
        """[N m/rad]"""
    @max_angular_stiffness.setter
    def max_angular_stiffness(self, value: typing.Any) -> None: ...
    @property
    def damping(self) -> float:
        """[N s/m]"""
    @damping.setter
    def damping(self, value: typing.Any) -> None: ...
    @property
    def angular_damping(self) -> float:
        """[N m s/rad]"""
    @angular_damping.setter
    def angular_damping(self, value: typing.Any) -> None: ...
    @property
    def delay(self) -> float:
        """Samples from a command to its force."""
    @delay.setter
    def delay(self, value: typing.Any) -> None: ...
    @property
    def position_step(self) -> float:
        """Of encoders [m]."""
    @position_step.setter
    def position_step(self, value: typing.Any) -> None: ...
    @property
    def angle_step(self) -> float:
        """[rad]"""
    @angle_step.setter
    def angle_step(self, value: typing.Any) -> None: ...

class DeviceState:
    """One reading of a device, axes of the device."""
    def __init__(self, time: float = 0.0, pose: PoseLike = None, twist: Twist = ..., buttons: int = 0) -> None:
        """time of the reading [s]; pose and twist of the handle; bit i of buttons: button i is down."""
    @property
    def time(self) -> float:
        """[s]"""
    @time.setter
    def time(self, value: typing.Any) -> None: ...
    @property
    def pose(self) -> Pose:
        """Of the handle."""
    @pose.setter
    def pose(self, value: typing.Any) -> None: ...
    @property
    def twist(self) -> Twist:
        """Of the handle; zero where the device does not say."""
    @twist.setter
    def twist(self, value: typing.Any) -> None: ...
    @property
    def gripper(self) -> float:
        """Opening, 0 to 1."""
    @gripper.setter
    def gripper(self, value: typing.Any) -> None: ...
    @property
    def buttons(self) -> int:
        """Bit i: button i is down."""
    @buttons.setter
    def buttons(self, value: typing.Any) -> None: ...
    @property
    def status(self) -> DeviceStatus:
        """Whether the reading counts."""
    @status.setter
    def status(self, value: typing.Any) -> None: ...
    @property
    def clock(self) -> float:
        """When it was measured by the device's own clock, of which differences count [s]; 0: it does not say."""
    @clock.setter
    def clock(self, value: typing.Any) -> None: ...

class HandModel:
    """A hand that holds a simulated device."""
    def __init__(self) -> None:
        """Between loose and firm."""
    @staticmethod
    def loose() -> HandModel:
        """Soft springs: two fingers."""
    @staticmethod
    def firm() -> HandModel:
        """Stiff springs: a fist."""
    @staticmethod
    def absent() -> HandModel:
        """Nobody holds it."""
    @property
    def stiffness(self) -> float:
        """[N/m]"""
    @stiffness.setter
    def stiffness(self, value: typing.Any) -> None: ...
    @property
    def damping(self) -> float:
        """[N s/m]"""
    @damping.setter
    def damping(self, value: typing.Any) -> None: ...
    @property
    def angular_stiffness(self) -> float:
        """[N m/rad]"""
    @angular_stiffness.setter
    def angular_stiffness(self, value: typing.Any) -> None: ...
    @property
    def angular_damping(self) -> float:
        """[N m s/rad]"""
    @angular_damping.setter
    def angular_damping(self, value: typing.Any) -> None: ...
    @property
    def mass(self) -> float:
        """Of the fingers [kg]."""
    @mass.setter
    def mass(self, value: typing.Any) -> None: ...
    @property
    def tremor(self) -> float:
        """Amplitude of 8–12 Hz [m]."""
    @tremor.setter
    def tremor(self, value: typing.Any) -> None: ...

class DeviceModel:
    """Mechanics and electronics of a simulated device."""
    def __init__(self) -> None:
        """A light desktop device at 1 kHz."""
    @property
    def capabilities(self) -> DeviceCapabilities:
        """Limits, encoder steps and axes."""
    @capabilities.setter
    def capabilities(self, value: typing.Any) -> None: ...
    @property
    def mass(self) -> float:
        """Felt at the handle [kg]."""
    @mass.setter
    def mass(self, value: typing.Any) -> None: ...
    @property
    def inertia(self) -> float:
        """[kg m²]"""
    @inertia.setter
    def inertia(self, value: typing.Any) -> None: ...
    @property
    def damping(self) -> float:
        """[N s/m]"""
    @damping.setter
    def damping(self, value: typing.Any) -> None: ...
    @property
    def angular_damping(self) -> float:
        """[N m s/rad]"""
    @angular_damping.setter
    def angular_damping(self, value: typing.Any) -> None: ...
    @property
    def friction(self) -> float:
        """Dry [N]."""
    @friction.setter
    def friction(self, value: typing.Any) -> None: ...
    @property
    def motor_bandwidth(self) -> float:
        """[Hz]; 0: at once."""
    @motor_bandwidth.setter
    def motor_bandwidth(self, value: typing.Any) -> None: ...
    @property
    def rate(self) -> float:
        """[Hz]"""
    @rate.setter
    def rate(self, value: typing.Any) -> None: ...
    @property
    def delay(self) -> int:
        """Whole samples."""
    @delay.setter
    def delay(self, value: typing.Any) -> None: ...
    @property
    def seed(self) -> int:
        """Of the tremor."""
    @seed.setter
    def seed(self, value: typing.Any) -> None: ...

class HapticDevice:
    """A source of poses and a sink of forces."""
    @property
    def capabilities(self) -> DeviceCapabilities:
        """What it is and can do; a copy."""
    def read(self, now: float) -> DeviceState:
        """The newest state at a time [s]."""
    def write(self, force: ArrayLike, torque: ArrayLike = (0, 0, 0)) -> None:
        """On the hand until the next write: [N], [N m]."""

class ScriptedDevice(HapticDevice):
    """A handle that follows a path whatever force it is shown."""
    def __init__(self, motion: ScriptedMotion, capabilities: DeviceCapabilities = ...) -> None:
        """motion: poses of the handle over time [s], axes of the device."""
    @property
    def shown_force(self) -> numpy.ndarray:
        """The last force written [N]."""
    def set_buttons(self, buttons: int) -> None:
        """Bit i: button i is down from now on."""

class RecordedDevice(HapticDevice):
    """Readings of another time, one per call."""
    def __init__(self, states: list[DeviceState], capabilities: DeviceCapabilities = ...) -> None:
        """states: readings in their order; after the last it stays there."""
    @property
    def shown_force(self) -> numpy.ndarray:
        """The last force written [N]."""
    def seek(self, tick: int) -> None:
        """The reading that comes next."""
    @property
    def is_at_end(self) -> bool:
        """All readings were given."""

class SimulatedDevice(HapticDevice):
    """A device in a hand, in virtual time."""
    def __init__(self, model: DeviceModel = ..., hand: HandModel = ...) -> None:
        """At the origin, in a hand that wants to stay there; read() advances it."""
    def aim(self, target: PoseLike) -> None:
        """Where the hand wants the handle to be."""
    def place(self, pose: PoseLike) -> None:
        """Puts handle and hand there."""
    def reset(self, pose: PoseLike = None) -> None:
        """As new, at rest at a pose; its clock begins at 0 s."""
    def set_hand(self, hand: HandModel) -> None:
        """Another grip from now on."""
    def set_connected(self, is_connected: bool) -> None:
        """Pulls the plug, or puts it back."""
    @property
    def true_pose(self) -> Pose:
        """Of the handle now, which no encoder sees; a copy."""
    @property
    def applied_force(self) -> numpy.ndarray:
        """By the motors now [N]."""
    @property
    def hand_force(self) -> numpy.ndarray:
        """Of the hand on the handle [N]."""
    @property
    def stored_energy(self) -> float:
        """Of motion and of the hand's springs [J]."""
    @property
    def motor_work(self) -> float:
        """Of the motors on the handle since place() [J]."""

def zwidth_map(device: DeviceModel = ..., hand: HandModel = ..., stiffnesses: object = None, dampings: object = None, duration: float = 4.0, progress: ProgressLike = None) -> dict:
    """Which virtual walls a device can show without oscillating. hand that holds it, by default none; stiffnesses of walls [N/m], None: 12 from 50 to 10,000; dampings [N s/m], None: 0 and up to the unstable; duration of one trial, or four periods if that is more [s]. A dictionary with stiffnesses, dampings, is_stable and growth (stiffnesses, dampings), the last amplitude over the first, and needed_damping (stiffnesses,) [N s/m]."""

def force_spectrum(force: ArrayLike, rate: float) -> tuple:
    """Frequencies [Hz] and amplitudes [N] of forces (n, 3) at a rate [Hz]."""

class CouplingGains:
    """Numbers of the virtual coupling, scene units."""
    def __init__(self) -> None:
        """All 0, which no coupling takes: begin with derive_gains."""
    @property
    def stiffness(self) -> float:
        """Of the spring between hand and tool [N/m]."""
    @stiffness.setter
    def stiffness(self, value: typing.Any) -> None: ...
    @property
    def angular_stiffness(self) -> float:
        """The same of rotations [N m/rad]."""
    @angular_stiffness.setter
    def angular_stiffness(self, value: typing.Any) -> None: ...
    @property
    def max_depth(self) -> float:
        """That contacts may reach [m]."""
    @max_depth.setter
    def max_depth(self, value: typing.Any) -> None: ...
    @property
    def max_force(self) -> float:
        """Plateau of the spring [N]."""
    @max_force.setter
    def max_force(self, value: typing.Any) -> None: ...
    @property
    def contact_stiffness(self) -> float:
        """Of one point [N/m]."""
    @contact_stiffness.setter
    def contact_stiffness(self, value: typing.Any) -> None: ...
    @property
    def max_torque(self) -> float:
        """Plateau of the torque without contact [N m]."""
    @max_torque.setter
    def max_torque(self, value: typing.Any) -> None: ...
    @property
    def least_lever(self) -> float:
        """Least lever of forces that turn the tool [m]."""
    @least_lever.setter
    def least_lever(self, value: typing.Any) -> None: ...
    @property
    def largest_lever(self) -> float:
        """Largest lever of forces that turn the tool [m]."""
    @largest_lever.setter
    def largest_lever(self, value: typing.Any) -> None: ...
    @property
    def length(self) -> float:
        """Radius of gyration of the tool: makes rotations comparable to shifts [m]."""
    @length.setter
    def length(self, value: typing.Any) -> None: ...
    @property
    def reach(self) -> float:
        """No point of the tool is farther from the grasp point [m]."""
    @reach.setter
    def reach(self, value: typing.Any) -> None: ...
    @property
    def threshold(self) -> float:
        """Singular values below this part of the largest count as 0."""
    @threshold.setter
    def threshold(self, value: typing.Any) -> None: ...
    @property
    def static_damping(self) -> float:
        """Part of a Newton step that is made, above 0 to 1."""
    @static_damping.setter
    def static_damping(self, value: typing.Any) -> None: ...
    @property
    def max_shift(self) -> float:
        """Of a tick [m]."""
    @max_shift.setter
    def max_shift(self, value: typing.Any) -> None: ...
    @property
    def max_turn(self) -> float:
        """Of a tick [rad]."""
    @max_turn.setter
    def max_turn(self, value: typing.Any) -> None: ...
    @property
    def injection(self) -> float:
        """Damping added in contact, device units [N s/m]."""
    @injection.setter
    def injection(self, value: typing.Any) -> None: ...
    @property
    def rendered_force(self) -> float:
        """Largest force shown [N]."""
    @rendered_force.setter
    def rendered_force(self, value: typing.Any) -> None: ...
    @property
    def rendered_torque(self) -> float:
        """Largest torque shown, scene units [N m]."""
    @rendered_torque.setter
    def rendered_torque(self, value: typing.Any) -> None: ...

def derive_gains(device: DeviceCapabilities, rate: float = 1000.0, scale: float = 1.0, cell: float = 0.001, gyration: float = 0.05, bounding: float = 0.1) -> CouplingGains:
    """By rule: rate of the loop [Hz], handle travel over travel in the scene, cell of the field [m], radius of gyration and radius of the tool [m]."""

class ToolContact:
    """Contact of a tool as the coupling sees it."""
    def __init__(self) -> None:
        """No contact."""
    @property
    def load(self) -> Wrench:
        """On the tool, about the grasp point [N], [N m]."""
    @load.setter
    def load(self, value: typing.Any) -> None: ...
    @property
    def gradient(self) -> numpy.ndarray:
        """(6, 6): of force [N] and torque [N m] by shift [m] and rotation vector [rad] of the tool about the grasp point."""
    @gradient.setter
    def gradient(self, value: ArrayLike) -> None: ...
    @property
    def normals(self) -> numpy.ndarray:
        """(6, 6): Σ w Jᵀ J of the contacts with any weights w, J = (n, r × n): normal [1] and its moment about the grasp point [m]."""
    @normals.setter
    def normals(self, value: ArrayLike) -> None: ...
    @property
    def num_contacts(self) -> int:
        """Points that touch."""
    @num_contacts.setter
    def num_contacts(self, value: typing.Any) -> None: ...
    @property
    def clearance(self) -> float:
        """No point is nearer; 0 in contact [m]."""
    @clearance.setter
    def clearance(self, value: typing.Any) -> None: ...

class StaticCoupling:
    """The tool follows the hand by one Newton step per cycle."""
    def __init__(self, gains: CouplingGains) -> None:
        """At the origin; place() puts it elsewhere."""
    def update(self, manipulandum: PoseLike, contact: ToolContact, dt: float) -> StepStatus:
        """Towards zero net load; poses of a frame at the grasp point."""
    @property
    def pose(self) -> Pose:
        """Of the tool; a copy."""
    def place(self, pose: PoseLike) -> None:
        """Puts the tool there [m], at rest."""
    def rendered(self, manipulandum: PoseLike) -> Wrench:
        """Load on the hand."""
    @property
    def gains(self) -> CouplingGains:
        """In use; a copy."""
    @gains.setter
    def gains(self, value: CouplingGains) -> None: ...

class DynamicCoupling:
    """The tool has a mass and hangs on springs and dampers: a baseline for StaticCoupling."""
    def __init__(self, gains: CouplingGains, *, mass: float = 0.05, damping_ratio: float = 1.0, steps: int = 10, velocity_filter: float = 0.3, max_speed: float = 10.0, silent_in_free_space: bool = False) -> None:
        """mass of the tool [kg]; damping_ratio of its springs; steps of explicit Euler in a cycle; velocity_filter: one pole per sample, of the hand's velocity, 0 to 1; max_speed of the tool [m/s]; silent_in_free_space: shows nothing without contact."""
    def update(self, manipulandum: PoseLike, contact: ToolContact, dt: float) -> StepStatus:
        """One cycle of dt seconds; poses of a frame at the grasp point. Gradients do not count."""
    @property
    def pose(self) -> Pose:
        """Of the tool; a copy."""
    @property
    def twist(self) -> Twist:
        """Of the tool; a copy."""
    def place(self, pose: PoseLike) -> None:
        """Puts the tool there [m], at rest."""
    def rendered(self, manipulandum: PoseLike) -> Wrench:
        """Load on the hand, clamped [N], [N m]."""
    def stored_energy(self, manipulandum: PoseLike) -> float:
        """In springs and motion [J]."""
    @property
    def gains(self) -> CouplingGains:
        """In use; a copy."""
    @gains.setter
    def gains(self, value: CouplingGains) -> None: ...

class DirectRendering:
    """The tool is where the hand is, which feels the contact: a baseline for StaticCoupling."""
    def __init__(self, gains: CouplingGains) -> None:
        """At the origin."""
    def update(self, manipulandum: PoseLike, contact: ToolContact, dt: float) -> StepStatus:
        """One cycle of dt seconds; poses of a frame at the grasp point."""
    @property
    def pose(self) -> Pose:
        """Of the tool; a copy."""
    def place(self, pose: PoseLike) -> None:
        """Puts the tool there [m]."""
    def rendered(self, manipulandum: PoseLike) -> Wrench:
        """Load on the hand, clamped [N], [N m]."""
    @property
    def gains(self) -> CouplingGains:
        """In use; a copy."""
    @gains.setter
    def gains(self, value: CouplingGains) -> None: ...

class HapticTick:
    """What a tick of a tool did."""
    @property
    def device(self) -> DeviceState:
        """What was read of the device."""
    @property
    def force(self) -> numpy.ndarray:
        """Shown [N]."""
    @property
    def torque(self) -> numpy.ndarray:
        """Shown [N m]."""
    @property
    def manipulandum(self) -> Pose:
        """Where the hand is, as a pose of the tool in the world."""
    @property
    def tool(self) -> Pose:
        """Pose of the tool in the world."""
    @property
    def contact(self) -> Wrench:
        """On the tool about the grasp point [N], [N m]."""
    @property
    def depth(self) -> float:
        """Of the deepest contact [m]."""
    @property
    def max_depth(self) -> float:
        """Its bound [m]; 0: none."""
    @property
    def num_contacts(self) -> int:
        """Points that touch."""
    @property
    def port_energy(self) -> float:
        """That the hand put in, less what it got back [J]."""
    @property
    def stored_energy(self) -> float:
        """In coupling and contacts [J]."""
    @property
    def oscillation(self) -> float:
        """Of the force in the last window [N]."""
    @property
    def status(self) -> StepStatus:
        """Of the tick."""

class HapticTool:
    """A rigid tool in the hand, among contact pairs."""
    def __init__(self, device: HapticDevice, body: RigidBody, pairs: list[ContactPair], gains: CouplingGains, *, coupling: str = 'static', grasp: ArrayLike = (0, 0, 0), rate: float = 1000.0, scale: float = 1.0, centre: ArrayLike = (0, 0, 0)) -> None:
        """body: a driven rigid body; coupling: static, dynamic or direct; grasp in its axes [m]; rate of ticks [Hz]; scale: handle travel over travel in the scene; centre: where the middle of the device's workspace is in the world [m]."""
    def tick(self, now: float, dt: float) -> HapticTick:
        """After the pairs acted: drives the tool and writes the force. Then step all bodies."""
    @property
    def last(self) -> HapticTick:
        """What the last tick did."""
    @property
    def gains(self) -> CouplingGains:
        """In use; a copy."""
    @gains.setter
    def gains(self, value: CouplingGains) -> None: ...
    def reset(self) -> None:
        """Begins anew where the tool body is; counts and energies are 0."""

class ProxyContact:
    """Where a proxy touches."""
    @property
    def body(self) -> int:
        """Place in the list of bodies."""
    @property
    def triangle(self) -> int:
        """Of the body's surface."""
    @property
    def weights(self) -> numpy.ndarray:
        """Of its corners (3,), sum 1."""
    @property
    def point(self) -> numpy.ndarray:
        """Nearest on the surface [m]."""
    @property
    def normal(self) -> numpy.ndarray:
        """Unit, from the surface to the proxy."""
    @property
    def multiplier(self) -> float:
        """How far it holds the proxy back [m]; 0: touched, but does not hold."""

class ProxyState:
    """A proxy after a tick."""
    @property
    def position(self) -> numpy.ndarray:
        """Of its centre [m]."""
    @property
    def goal(self) -> numpy.ndarray:
        """Where the hand wants it [m]."""
    @property
    def force(self) -> numpy.ndarray:
        """On the hand [N]."""
    @property
    def num_contacts(self) -> int:
        """Triangles that it touches."""
    @property
    def contacts(self) -> list[ProxyContact]:
        """Nearest first."""
    @property
    def is_touching(self) -> bool:
        """Some contact holds it."""
    @property
    def is_sliding(self) -> bool:
        """Friction did not hold it in the last tick."""
    @property
    def is_squeezed(self) -> bool:
        """No room for its radius: the last safe position is kept."""
    @property
    def has_arrived(self) -> bool:
        """False: passes ran out on the way to the goal."""
    @property
    def passes(self) -> int:
        """Of the iteration in the last tick."""
    @property
    def status(self) -> StepStatus:
        """Of the last tick."""

class VirtualProxy:
    """A sphere that follows a goal and stays outside bodies that move."""
    def __init__(self, bodies: list[Body], *, radius: float = 0.005, stiffness: float = 500.0, static_friction: float = 0.0, dynamic_friction: float = 0.0, mask: str = 'barycentric', body_force: float = 1.0, force_shading: bool = False) -> None:
        """radius [m]; stiffness of the spring between proxy and goal [N/m]; Coulomb's coefficients while it sticks and slides; mask: barycentric, inverse-distance or smooth, how the force is shared among vertices; body_force: force on bodies per force on the hand; force_shading: along normals interpolated between vertices."""
    def reset(self, position: ArrayLike) -> None:
        """Somewhere in front of all surfaces [m]."""
    def tick(self, goal: ArrayLike) -> ProxyState:
        """Surfaces push it, then it follows the goal [m]."""
    def apply_forces(self) -> None:
        """Gives the force of the last tick to the bodies, for their next step."""
    @property
    def state(self) -> ProxyState:
        """After the last tick; a copy."""

class SphereToolState:
    """A tool of spheres after a tick."""
    @property
    def hand(self) -> Pose:
        """The last pose that was taken."""
    @property
    def wrench(self) -> Wrench:
        """On the hand, about its position [N], [N m]."""
    @property
    def fit(self) -> Pose:
        """Of the tool as one piece, about where the hand holds it."""
    @property
    def num_touching(self) -> int:
        """Spheres that touch."""
    @property
    def num_squeezed(self) -> int:
        """Spheres without room."""
    @property
    def largest_offset(self) -> float:
        """Of a sphere from where the hand wants it [m]."""
    @property
    def is_hand_ignored(self) -> bool:
        """The pose was not finite: no force."""
    @property
    def passes(self) -> int:
        """Of all spheres in the last tick."""
    @property
    def status(self) -> StepStatus:
        """Of the last tick."""

class SphereTool:
    """A tool of many spheres in a hand with six degrees of freedom. Each stays outside bodies that move, the shape at rest holds them together; no inertia, no force in free motion."""
    def __init__(self, bodies: list[Body], spheres: ParticleLayout, *, rigid: bool = False, iterations: int = 4, translation_stiffness: float = 500.0, rotation_stiffness: float = 500.0, share: str = 'total', centre: ArrayLike = (0, 0, 0), static_friction: float = 0.0, dynamic_friction: float = 0.0, body_force: float = 1.0) -> None:
        """spheres: a layout, as of place_spheres; rigid: one piece, otherwise it bends in so many iterations; stiffness of springs to the hand [N/m], shared by all spheres (total) or those in contact (contacts); centre: where the hand holds it, axes of the layout [m]; Coulomb's coefficients while spheres stick and slide; body_force: force on bodies per force on the hand."""
    def reset(self, hand: PoseLike) -> None:
        """Puts all spheres where the hand is, in front of all surfaces."""
    def tick(self, hand: PoseLike) -> SphereToolState:
        """Surfaces push the spheres, which then follow the hand."""
    def apply_forces(self) -> None:
        """Gives the force of the last tick to the bodies, for their next step."""
    @property
    def state(self) -> SphereToolState:
        """After the last tick; a copy."""
    @property
    def num_spheres(self) -> int:
        """k."""
    @property
    def positions(self) -> numpy.ndarray:
        """Centres of the spheres now (k, 3) [m]."""
    @property
    def forces(self) -> numpy.ndarray:
        """Of each sphere on the hand (k, 3) [N]."""
    @property
    def offsets(self) -> numpy.ndarray:
        """Of the spheres from the hand at rest (k, 3) [m]."""
    @property
    def radii(self) -> numpy.ndarray:
        """(k,) [m]"""
    def sphere(self, i: int) -> ProxyState:
        """One sphere as a proxy: contacts, goal, force."""

class Samples:
    """Ticks of a loop as arrays; no copies."""
    def __len__(self) -> int:
        ...
    @property
    def tick(self) -> numpy.ndarray:
        """Numbers of the ticks, 1 for the first (n,)."""
    @property
    def time(self) -> numpy.ndarray:
        """Simulated, at the end of the tick (n,) [s]."""
    @property
    def hand(self) -> numpy.ndarray:
        """Where the hand wants to be (n, 3) [m]."""
    @property
    def point(self) -> numpy.ndarray:
        """What it holds: a point of a surface, or the tool (n, 3) [m]."""
    @property
    def force(self) -> numpy.ndarray:
        """On the hand (n, 3) [N]."""
    @property
    def energy(self) -> numpy.ndarray:
        """Of all bodies, each as at most 16 ticks ago (n,) [J]."""
    @property
    def work_us(self) -> numpy.ndarray:
        """CPU time of the ticks (n,) [µs]."""
    @property
    def late_us(self) -> numpy.ndarray:
        """How late they began (n,) [µs]; 0 in virtual time."""
    @property
    def device_force(self) -> numpy.ndarray:
        """Shown by the device of a tool in a hand (n,) [N]; −1: none."""
    @property
    def port_energy(self) -> numpy.ndarray:
        """That the hand of a tool put in, less what it got back (n,) [J]; 0: no tool in a hand."""
    @property
    def stored_energy(self) -> numpy.ndarray:
        """In coupling and contacts of a tool in a hand (n,) [J]; 0: none."""

class Scene:
    """Bodies, tools and devices together; here in virtual time."""
    @property
    def name(self) -> str:
        """Of the scene."""
    @property
    def description(self) -> str:
        """What it shows."""
    @property
    def text(self) -> str:
        """JSON."""
    @property
    def rate(self) -> float:
        """Of the haptic loop [Hz]."""
    def build(self, progress: ProgressLike = None) -> None:
        """Builds or loads all models; otherwise done when they are needed."""
    @property
    def body_names(self) -> list[str]:
        """For body(name)."""
    def body(self, name: str) -> Body:
        """Stepped by the scene: only look and load. What stands in its arrays of forces acts in every tick of its loop."""
    @property
    def time(self) -> float:
        """[s]"""
    @property
    def warnings(self) -> list[str]:
        """What it will not do as it may seem, one sentence each: bodies that pass through each other, loops that will not keep their rate, meshes made anew. Python's warnings say them as well when the scene is built."""
    @property
    def troubles(self) -> list:
        """Of bodies that are not well, or whose steps were not ok, since the start: dicts of body, what (collapsed, inside out, stretched, away, element inside out, or the status), since, until [s], steps, value (volume or length over that at rest, distance [m], det F) and text. advance() says new ones by Python's warnings."""
    @property
    def sights(self) -> dict:
        """Of each body by its name, since the start: lowest and highest z of its drawn surface [m] and least_volume over that at rest, by looks ten times a simulated second, and speed of its fastest vertex now [m/s]."""
    def advance(self, seconds: float, record: object = None) -> Samples:
        """Goes on in virtual time, without the interpreter's lock, and returns the ticks of the haptic loop. record: a .pliantrec file, from the start of the scene."""
    def grab(self, body: str, point: PointLike, target: ArrayLike, slot: int = 0, duration: float = 0.0) -> None:
        """Pulls a point with a spring towards a place [m], which moves there from the point evenly over a duration [s], 0: at once. slot: which of four hands."""
    def poke(self, body: str, point: PointLike, force: float = 0.0, slot: int = 0) -> None:
        """Pushes a point inwards [N]; 0: the scene's force."""
    def drag(self, target: ArrayLike, slot: int = 0, duration: float = 0.0) -> None:
        """Moves the place that a grab pulls to [m], evenly over a duration [s]."""
    def release(self, slot: int = 0) -> None:
        """Lets go of what grab or poke of a slot holds."""
    def move_tool(self, pose: PoseLike, duration: float = 0.0, buttons: int = 0) -> None:
        """Where the hand wants the tool to be: a pose in the world [m], reached evenly over a duration [s], 0: at once; bit i of buttons: button i is down."""
    @property
    def parameters(self) -> dict:
        """Present values by name."""
    def set_parameter(self, name: str, value: float) -> None:
        """Kept in its range."""
    def reset(self) -> None:
        """Back to the start; forces written into arrays end."""
    @property
    def state_hash(self) -> int:
        """Of all states: equal for equal histories."""
    def with_device(self, kind: str = '', hand: str = '', recording: PathLike = '', profile: PathLike = '', max_force: typing.Optional[float] = None, max_torque: typing.Optional[float] = None, library: str = '', address: str = '') -> Scene:
        """With another device or grip (loose, normal, firm) in the hand of its tool. recording: a .pliantrec file whose readings the kind "recorded" plays, or whose hand a simulated one follows. profile: of a device, as pliant haptics check writes it. max_force [N], max_torque [N m]: limits on top of those of scene, profile and device. library: of a maker; address: where a network device listens, or the URL of a haply service: no scene file can name a library or another computer."""
    def view(self, **options: typing.Any) -> Viewer:
        """On a page; see pliant.view."""

def load_scene(path: PathLike) -> Scene:
    """A scene file, or a scene of the body in a .pliant file."""

def parse_scene(text: str, name: str = 'scene', folder: PathLike = '') -> Scene:
    """From JSON; relative files are found from the folder."""

def demo(name: str) -> Scene:
    """A scene that comes with the library; see demo_names()."""

def demo_names() -> list[str]:
    """Of the scenes that come with the library."""

class RecordedCommand:
    """What a hand did between two ticks of a loop."""
    @property
    def tick(self) -> int:
        """Ticks of the loop before it."""
    @property
    def time(self) -> float:
        """When it came, since the recording began [s]."""
    @property
    def kind(self) -> str:
        """grab, poke, drag, release, move_tool, set_parameter or reset, as methods of a scene; exchange: in real time the loop had seen a tick of the other one of its tool."""
    @property
    def slot(self) -> int:
        """Of grab, poke, drag and release: which of four hands."""
    @property
    def body(self) -> int:
        """Of grab and poke: place in the scene's body_names; −1: none."""
    @property
    def triangle(self) -> int:
        """Of the body's surface, where the point is; −1: none."""
    @property
    def weights(self) -> numpy.ndarray:
        """Of the triangle's corners (3,)."""
    @property
    def vertex(self) -> int:
        """Of the body's surface, where the point is one; −1: none."""
    @property
    def target(self) -> numpy.ndarray:
        """Of grab, drag and move_tool: a place in the world (3,) [m]."""
    @property
    def rotation(self) -> numpy.ndarray:
        """Of move_tool: quaternion (w, x, y, z)."""
    @property
    def duration(self) -> float:
        """In which the target is reached evenly [s]; 0: at once."""
    @property
    def buttons(self) -> int:
        """Of move_tool: bit i: button i is down."""
    @property
    def parameter(self) -> str:
        """Of set_parameter: its name; empty: none."""
    @property
    def value(self) -> float:
        """Of poke the force [N], 0: the scene's; of set_parameter the value, of exchange the tick."""

class Recording:
    """What happened in a scene."""
    @staticmethod
    def load(path: PathLike) -> Recording:
        """A .pliantrec file."""
    @property
    def duration(self) -> float:
        """[s]"""
    @property
    def is_complete(self) -> bool:
        """False: the file ends early; all before is there."""
    @property
    def problem(self) -> str:
        """What is wrong with the file; empty: nothing."""
    @property
    def scene(self) -> Scene:
        """That was recorded, at its start."""
    @property
    def loops(self) -> dict:
        """Rates by name [Hz]."""
    @property
    def body_names(self) -> list[str]:
        """Whose states it has."""
    @property
    def parameters(self) -> dict:
        """Values by name when the recording began."""
    def samples(self, loop: int = 0) -> Samples:
        """Ticks of a loop; recordings keep single precision."""
    def commands(self, loop: int = 0) -> list[RecordedCommand]:
        """What hands and sliders of the viewer did to a loop, in order; what the script of the scene does is in its text."""
    def tool(self, loop: int = 0) -> dict:
        """What a tool in a hand did in each tick of a loop, a dictionary of arrays; empty ones: it has none. Positions (n, 3) [m] and rotations (n, 4), quaternions (w, x, y, z): device, device_rotation of the handle in axes of the device, tool, tool_rotation and manipulandum, manipulandum_rotation in the world. Loads (n, 3) [N], [N m]: force, torque by the device in its axes; contact_force, contact_torque on the tool about the grasp point; coupling_force, coupling_torque on the hand, scene units. Numbers (n,): depth of the deepest contact, max_depth, its bound, 0: none, worst_depth since the reset [m]; violations: ticks deeper than the bound since the reset; num_contacts: points that touch; port_energy, that the hand put in, stored_energy [J]; oscillation of the force in the last window [N]; gain_scale, step_scale: what back-off made of gains and steps, 1: nothing; buttons: bit i: button i is down; device_status, status: values of DeviceStatus, StepStatus."""
    def states(self, body: str) -> tuple:
        """Times (k,) [s] and states (k, size) of a body, as Body.state has them."""
    def save_csv(self, path: PathLike, loop: int = 0) -> None:
        """Ticks of a loop as a table, units in its head."""
    def save_frames(self, folder: PathLike, extension: str = 'vtu', frames_per_second: float = 30.0, progress: ProgressLike = None) -> int:
        """Surfaces of the recorded bodies, a file per frame (extension obj or vtu) into the folder, frames_per_second of simulated time from the states nearest [1/s]; returns their number."""
    def check(self, progress: ProgressLike = None) -> tuple:
        """Runs it again: numbers of states compared and of those that differ in any bit, and the first difference."""
    def view(self, **options: typing.Any) -> Viewer:
        """On a page; see pliant.view."""

class Viewer:
    """A page in the browser, until it is closed."""
    @property
    def url(self) -> str:
        """Of the page, for a browser on this machine."""
    @property
    def network_urls(self) -> list[str]:
        """Of the page, for other machines: where address is not that of this machine alone."""
    @property
    def leading_page(self) -> str:
        """A file that leads a browser to the page: everybody on the machine can read what a browser was started with, and only this user the file. Empty: there was no place for it."""
    @property
    def status(self) -> str:
        """One line: ticks, percentiles, viewers."""
    @property
    def is_open(self) -> bool:
        """Until close()."""
    def close(self) -> None:
        """Ends the page and its loops. Raises InputError where a recording was lost."""
    def __enter__(self) -> Viewer:
        ...
    def __exit__(self, *args) -> None:
        ...

def view_scene(scene: Scene, port: int = 0, address: str = '127.0.0.1', speed: float = 1.0, recordings: PathLike = '.', progress: ProgressLike = None) -> Viewer:
    """The scene from its start in real time, on a page; port 0: any free one; speed: simulated seconds per second, 0.01 to 1; recordings: folder of those made on the page."""

def view_bodies(bodies: list[Body], rate: float = 1000.0, gravity: ArrayLike = (0, 0, 0), port: int = 0, address: str = '127.0.0.1', speed: float = 1.0, recordings: PathLike = '.') -> Viewer:
    """Copies of bodies as they are now, running on a page. rate of steps [Hz]; gravity [m/s²]; port 0: any free one; speed: simulated seconds per second, 0.01 to 1; recordings: folder of those made on the page."""

def view_recording(recording: Recording, port: int = 0, address: str = '127.0.0.1', progress: ProgressLike = None) -> Viewer:
    """A recording, played and searched on a page; port 0: any free one."""
