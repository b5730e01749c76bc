"""What arguments cannot be is refused by name, and ends no interpreter."""

import re
import types

import numpy as np
import pytest

import pliant as pl


@pytest.fixture(scope="module")
def things(beam_model):
    made = types.SimpleNamespace(beam_model=beam_model, beam=beam_model.body(), ball=pl.Sphere(0.05).body(),
                                 ground=pl.Ground().body(), field=pl.sphere_field(0.05), device=pl.SimulatedDevice())
    made.tree = pl.PointTree(pl.build_pointshell(pl.Sphere(0.05).surface, points=50, levels=1, resolution=16))
    made.pair = pl.ContactPair(made.ball, made.tree, made.ground, pl.plane_field((0, 0, 1)))
    made.gains = pl.derive_gains(made.device.capabilities)
    made.spheres = pl.place_spheres(pl.Box((0.04, 0.02, 0.01)).surface, count=4)
    made.fem = pl.build_fem(pl.hex_box((1, 1, 1), (0, 0, 0), (0.1, 0.1, 0.1)))
    made.proxy = pl.VirtualProxy([made.ball])
    made.scene = pl.scene({"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 0.1}}}]})
    return made


NONE = {
    "body of a contact": lambda t: pl.ContactBody(None, t.tree, t.field),
    "shell of a pair": lambda t: pl.ContactPair(None, t.tree, t.ground, t.field),
    "tree of a pair": lambda t: pl.ContactPair(t.ball, None, t.ground, t.field),
    "solid of a pair": lambda t: pl.ContactPair(t.ball, t.tree, None, t.field),
    "field of a pair": lambda t: pl.ContactPair(t.ball, t.tree, t.ground, None),
    "field of a query": lambda t: pl.ContactQuery(t.tree, None),
    "contact bodies": lambda t: pl.ContactSolver([None]),
    "device": lambda t: pl.HapticTool(None, t.ball, [t.pair], t.gains),
    "body of a tool": lambda t: pl.HapticTool(t.device, None, [t.pair], t.gains),
    "shell of a tree": lambda t: pl.PointTree(None),
    "inverted field": lambda t: pl.invert_field(None),
    "offset field": lambda t: pl.offset_field(None, 0.1),
    "moved field": lambda t: pl.move_field(None, (0, 0, 0)),
    "model of a display": lambda t: pl.AdaptiveDisplay(None),
    "model of a zone": lambda t: pl.CharacterZone("a", None),
}


@pytest.mark.parametrize("name", NONE)
def test_none_is_no_thing(name, things):
    with pytest.raises(TypeError, match="None"):
        NONE[name](things)


NONE_IN_LISTS = {
    "proxy": (lambda t: pl.VirtualProxy([t.ball, None]), "bodies[1] = NoneType (expected a Body)"),
    "spheres": (lambda t: pl.SphereTool([None], t.spheres), "bodies[0] = NoneType (expected a Body)"),
    "viewer": (lambda t: pl.view_bodies([None]), "bodies[0] = NoneType (expected a Body)"),
    "obstacles": (lambda t: t.fem.body(obstacles=[None]), "obstacles[0] = NoneType (expected a RigidBody)"),
    "pairs": (lambda t: pl.HapticTool(t.device, t.ball, [None], t.gains),
              "pairs[0] = NoneType (expected a ContactPair)"),
    "union": (lambda t: pl.unite_fields([t.field, None]), "parts[1] = NoneType (expected a DistanceField)"),
    "intersection": (lambda t: pl.intersect_fields([None]), "parts[0] = NoneType (expected a DistanceField)"),
}


@pytest.mark.parametrize("name", NONE_IN_LISTS)
def test_none_in_a_list_is_no_thing(name, things):
    call, text = NONE_IN_LISTS[name]
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
        call(things)


def test_none_is_a_default_where_it_says_so(things):
    solver = pl.ContactSolver([pl.ContactBody(things.ball, things.tree, None),
                               pl.ContactBody(things.ground, None, pl.plane_field((0, 0, 1)))])
    assert solver.act(1e-3) == pl.StepStatus.Ok
    assert pl.ContactQuery(things.tree, things.field).find(None)["status"] == pl.StepStatus.Ok


# by the name of the argument
WRONG_VECTORS = {
    "acceleration": lambda t: t.beam.set_gravity((0, 0)),
    "direction": lambda t: t.beam.set_wind((0, 0), 1.0),
    "x": lambda t: t.beam.closest_point((0, 0)),
    "target": lambda t: t.scene.grab("ball", 0, (0, 0)),
    "goal": lambda t: t.proxy.tick((0, 0)),
    "position": lambda t: t.proxy.reset((0, 0)),
    "low": lambda t: pl.hex_box((1, 1, 1), (0, 0), (1, 1, 1)),
    "high": lambda t: pl.tet_box((1, 1, 1), (0, 0, 0), (1, 1)),
    "normal": lambda t: pl.plane_field((0, 1)),
    "origin": lambda t: t.field.slice((0, 0), (1, 0, 0), (0, 1, 0)),
    "sizes": lambda t: pl.Box((1, 1)),
    "traction": lambda t: t.fem.traction_load([0], (0, 1)),
    "grasp": lambda t: pl.HapticTool(t.device, t.ball, [t.pair], t.gains, grasp=(0, 0)),
    "centre": lambda t: pl.SphereTool([t.ball], t.spheres, centre=(0, 0)),
    "joint": lambda t: pl.Bone("bone", joint=(0, 0)),
    "amplitude": lambda t: pl.ScriptedMotion.oscillation(None, (0, 0), 1.0),
    "x_body": lambda t: pl.Pose().to_world((0, 0)),
    "angular": lambda t: pl.Twist((0, 0, 0), (0, 0)),
    "torque": lambda t: setattr(pl.Wrench(), "torque", (0, 0)),
    "workspace": lambda t: setattr(pl.DeviceCapabilities(), "workspace", (0, 0)),
}


@pytest.mark.parametrize("name", WRONG_VECTORS)
def test_wrong_vectors_have_the_name_of_their_argument(name, things):
    text = f"{name} = int64 array of shape (2,) (expected numbers of shape (3,))"
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
        WRONG_VECTORS[name](things)


BAR = pl.Box((0.2, 0.04, 0.04)).surface
# pybind11 would say that it cannot cast them
WRONG_KINDS = {
    "selection": (lambda t: pl.build_reduced(BAR, fixed="x < 5 %", regions=[(1, "steel")]),
                  "regions = 1 (expected pairs of a selection and a material)"),
    "pair": (lambda t: pl.build_fem(BAR, regions=["x > 0"]),
             "regions = x > 0 (expected pairs of a selection and a material)"),
    "list": (lambda t: pl.build_fem(BAR, regions=3), "regions = 3 (expected pairs of a selection and a material)"),
    "short pair": (lambda t: pl.build_particles(BAR, regions=[("x",)]),
                   "regions = <U1 array of shape (1,) (expected pairs of a selection and a stiffness)"),
    "stiffness": (lambda t: pl.build_particles(BAR, regions=[("x > 0", "stiff")]),
                  "regions = stiff (expected a number)"),
    "ground": (lambda t: pl.build_particles(BAR, count=8).body(ground="low"), "ground = low (expected a number)"),
    "prescribed": (lambda t: t.fem.solve_static(fixed="x < 1 %", prescribed=[1]),
                   "prescribed = int64 array of shape (1,) (expected a dictionary of displacements (3,) [m] by node)"),
    "node": (lambda t: t.fem.solve_static(fixed="x < 1 %", prescribed={"a": (0, 0, 0)}),
             "node of prescribed = a (expected an integer)"),
    "displacement": (lambda t: t.fem.solve_static(fixed="x < 1 %", prescribed={7: (0, 0)}),
                     "prescribed[7] = int64 array of shape (2,) (expected numbers of shape (3,))"),
    "record": (lambda t: t.scene.advance(0, record=3), "record = 3 (expected None or a .pliantrec file)"),
    "tree": (lambda t: pl.ContactBody(t.ball, 3), "tree = 3 (expected None or a PointTree)"),
    "loads": (lambda t: t.beam_model.with_loads(3),
              "loads = 3 (expected lists of pairs of a point and a force (3,) [N])"),
    "data": (lambda t: BAR.save("bar.vtu", point_data=3), "point_data = 3 (expected a dictionary of arrays by name)"),
    "points": (lambda t: t.beam.forces_at(1.5), "points = 1.5 (expected points of the surface in a list)"),
    "weights": (lambda t: t.beam.position((0, (0.5, 0.5, 0.5))),
                "weights = (0.5, 0.5, 0.5) (expected 0 to 1 each, with sum 1)"),
}


@pytest.mark.parametrize("name", WRONG_KINDS)
def test_wrong_kinds_are_input_errors(name, things):
    call, text = WRONG_KINDS[name]
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
        call(things)


@pytest.mark.parametrize("node", [-5, 8, 10**8])
def test_nodes_that_are_not_there_are_refused(node, things):
    calls = {
        "nodes": lambda: things.fem.traction_load([0, node], (0, 0, 1)),
        "fixed": lambda: things.fem.solve_static(fixed=[node]),
        "node of prescribed": lambda: things.fem.solve_static(fixed="x < 1 %", prescribed={node: (0, 0, 0)}),
    }
    for name, call in calls.items():
        with pytest.raises(pl.InputError, match="^" + re.escape(f"{name} = {node} (expected 0 … 7)") + "$"):
            call()


def test_points_may_be_an_array(beam):
    assert beam.forces_at(np.array([1, 2])).shape == (2, 3)
    assert np.array_equal(beam.position(np.array(3)), beam.position(3))
    assert beam.run(2, 1e-3, record=np.array([1, 2])).shape == (2, 2, 3)


@pytest.mark.parametrize("x", [(float("nan"), 0, 0), (0, float("inf"), 0), (0, 0, 1e31)])
def test_nothing_is_nearest_to_a_place_that_is_none(beam, x):
    text = f"x = {x} (expected finite coordinates up to 1e30 m)"
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
        beam.closest_point(x)


def test_integers_beyond_floating_point_are_refused():
    text = "position[1] = int (expected a number up to 1.8e308)"
    for value in (10**400, -(10**400)):
        with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
            pl.Pose((0, value, 0))
    assert np.array_equal(pl.Pose((-1, 2, True)).position, (-1, 2, 1))  # -1 is also what errors return
