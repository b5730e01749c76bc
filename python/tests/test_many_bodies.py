"""Contact among bodies that move under it, bodies of zones and characters."""

import re

import numpy as np
import pytest

import pliant as pl

GRAVITY = (0, 0, -9.81)


@pytest.fixture(scope="module")
def ball():
    """Points and solid of a ball of 5 cm."""
    shell = pl.build_pointshell(pl.Sphere(0.05).surface, points=1000, levels=2, resolution=32)
    return pl.PointTree(shell), pl.sphere_field(0.05)


def falling_ball(height, x=0.0, velocity=None):
    body = pl.Sphere(0.05).body(pose=(x, 0, height), density=1000.0, velocity=velocity or pl.Twist())
    body.set_gravity(GRAVITY)
    return body


def test_a_ball_comes_to_rest_on_the_ground(ball):
    tree, field = ball
    body, ground = falling_ball(0.06), pl.Ground().body()
    solver = pl.ContactSolver([pl.ContactBody(body, tree, field), pl.ContactBody(ground, field=pl.plane_field((0, 0, 1)))],
                              stiffness=2e4, friction=0.5)
    del ground  # the solver keeps it
    for _ in range(1500):
        assert solver.act(1e-3) == pl.StepStatus.Ok
        body.step(1e-3)
    assert body.pose.position[2] == pytest.approx(0.05, abs=1e-3)
    assert abs(body.twist.linear[2]) < 0.01  # points are not quite even: it may roll
    found = solver.contacts
    assert solver.num_contacts == len(found["points"]) > 0
    assert (found["shell"] == 0).all() and (found["solid"] == 1).all()
    # contact carries the weight, and the deepest point is the one that says so
    assert found["forces"].sum(axis=0)[2] == pytest.approx(9.81 * body.mass, rel=0.05)
    assert found["depths"].max() == pytest.approx(solver.deepest)
    assert solver.num_pairs == 1 and solver.energy > 0 and solver.iterations > 0


def test_collisions_keep_the_momentum(ball):
    tree, field = ball
    left = pl.Sphere(0.05).body(pose=(-0.06, 0, 0), density=1000.0, velocity=pl.Twist((1, 0, 0)))
    right = pl.Sphere(0.05).body(pose=(0.06, 0.02, 0), density=2000.0)
    solver = pl.ContactSolver([pl.ContactBody(b, tree, field) for b in (left, right)], stiffness=1e4)

    def momentum():
        return left.mass * np.array(left.twist.linear) + right.mass * np.array(right.twist.linear)
    before, met = momentum(), False
    for _ in range(200):
        solver.act(1e-3)
        left.step(1e-3)
        right.step(1e-3)
        met = met or solver.num_contacts > 0
    assert met and solver.num_contacts == 0
    assert np.allclose(momentum(), before, atol=1e-12)
    assert right.twist.linear[0] > 0.1


def test_reduced_bodies_rest_on_solids(beam_model):
    shell = pl.build_pointshell(beam_model.surface, points=500, levels=2, resolution=32)
    beam, rest = beam_model.body(mass_damping=20.0), pl.Box((0.02, 0.1, 0.02)).body(pose=(0.09, 0, -0.0305))
    beam.set_gravity(GRAVITY)
    solver = pl.ContactSolver([pl.ContactBody(beam, pl.PointTree(shell, beam_model)),
                               pl.ContactBody(rest, field=pl.box_field((0.02, 0.1, 0.02)))], stiffness=1e3)
    alone = beam_model.body(mass_damping=20.0)
    alone.set_gravity((0, 0, -9.81))
    end = int(beam_model.surface.vertices[:, 0].argmax())
    for _ in range(800):
        solver.act(1e-3)
        beam.step(1e-3)
        alone.step(1e-3)
    assert beam.position(end)[2] > alone.position(end)[2]


def test_solver_settings_and_errors(ball):
    tree, field = ball
    body = falling_ball(0.06)
    part = pl.ContactBody(body, tree, field)
    solver = pl.ContactSolver([part], friction=0.3)
    assert solver.friction == 0.3
    solver.friction, solver.stiffness = 0.6, 5e3
    assert (solver.friction, solver.stiffness) == (0.6, 5e3)
    solver.forget()
    with pytest.raises(pl.InputError):
        pl.ContactSolver([part, part])
    with pytest.raises(pl.InputError):
        pl.ContactSolver([pl.ContactBody(body)])
    with pytest.raises(pl.InputError, match="stiffness"):
        pl.ContactSolver([part], stiffness=-1.0)


# a bar of 6 x 2 x 2 cells, held at its left end, whole and in parts
CELL = 0.02
BAR = pl.Material(3e4, 0.3, 1000)


def bar_part(first, last, fixed, **options):
    """Cells first … last - 1 along x, held at a list of x."""
    mesh = pl.tet_box((last - first, 2, 2), (first * CELL, 0, 0), (last * CELL, 2 * CELL, 2 * CELL))
    surface = np.unique(mesh.boundary().triangles)
    held = [i for i, v in enumerate(surface) if any(abs(mesh.vertices[v, 0] - x) < 1e-9 for x in fixed)]
    return pl.build_greens(mesh, fixed="list " + ",".join(map(str, held)), material=BAR, method="finite",
                           fixed_columns=True, cache=None, **options)


@pytest.fixture(scope="module")
def bar():
    return bar_part(0, 6, [0])


@pytest.fixture(scope="module")
def parts():
    return [bar_part(0, 2, [0, 2 * CELL]), bar_part(2, 4, [2 * CELL, 4 * CELL]), bar_part(4, 6, [4 * CELL])]


def tip_of(model):
    return int(np.argmax(model.nodes @ [1, 0, 1]))


def test_bonded_zones_are_the_whole_body(bar, parts):
    zoned = pl.ZonedModel([pl.Zone(f"part{i}", model) for i, model in enumerate(parts)])
    assert zoned.num_zones == 3 and zoned.num_seams == 2
    tip = tip_of(parts[2])
    assert zoned.set_loads(2, [tip], [(0, 0, -50.0)])
    assert zoned.solve() == pl.SeamStatus.Solved
    assert zoned.largest_gap < 1e-9
    moved = zoned.positions(2)[tip] - parts[2].nodes[tip]
    # the same traction on the same node of the whole, from its column
    whole = tip_of(bar)
    scale = bar.length / bar.modulus
    expected = scale * bar.column(whole)[whole] @ [0, 0, -50.0]
    assert moved == pytest.approx(expected, rel=2e-3, abs=1e-3 * np.linalg.norm(expected))
    assert expected[2] < 0
    one = zoned.posed()
    assert one.surface.num_triangles == bar.surface.num_triangles


def test_zones_turn_with_their_poses(parts):
    zoned = pl.ZonedModel([pl.Zone(f"part{i}", model) for i, model in enumerate(parts)])
    turn = pl.Pose.rotated((0, 0, 0.4), (0.1, 0, 0))
    assert zoned.set_poses([turn] * 3) == pl.SeamStatus.Solved
    assert zoned.solve() == pl.SeamStatus.Solved
    # a motion of the whole strains nothing
    for z, model in enumerate(parts):
        assert np.allclose(zoned.positions(z), [turn.to_world(x) for x in model.nodes], atol=1e-9)
        assert np.abs(zoned.seam_displacements(z)).max() < 1e-9
    # bent at a seam, it does
    zoned.set_poses([pl.Pose(), pl.Pose(), pl.Pose.rotated((0, 0.1, 0), (0, 0, 0))])
    assert zoned.solve() == pl.SeamStatus.Solved
    assert np.abs(zoned.seam_displacements(2)).max() > 1e-4
    assert zoned.largest_gap < 1e-9


def test_zones_of_other_kinds_bond_as_well(bar, parts):
    mesh = pl.tet_box((2, 2, 2), (4 * CELL, 0, 0), (6 * CELL, 2 * CELL, 2 * CELL))
    fem = pl.build_fem(mesh, material=pl.Material(3e4, 0.3, 1000, law="small-strain"))
    seam = [v for v in range(mesh.num_vertices) if abs(mesh.vertices[v, 0] - 4 * CELL) < 1e-9]
    # the zone before it has a node for each vertex of its own boundary only
    before = {tuple(np.round(x, 6)) for x in parts[1].nodes}
    seam = [v for v in seam if tuple(np.round(mesh.vertices[v], 6)) in before]
    zone = pl.FemZone(fem, seam)
    assert zone.num_seam_nodes == len(seam)
    K = zone.seam_stiffness()
    assert K.shape == (3 * len(seam), 3 * len(seam)) and np.allclose(K, K.T, atol=1e-6 * np.abs(K).max())
    tip = int(np.argmax(mesh.vertices @ [1, 0, 1]))
    zone.set_loads([tip], [(0, 0, -0.01)])
    zoned = pl.ZonedModel([pl.Zone("a", parts[0]), pl.Zone("b", parts[1]), pl.Zone("c", zone)])
    assert zoned.solve() == pl.SeamStatus.Solved
    # what it pulls at arrives in the zone before
    assert zoned.seam_displacements(1)[:, 2].min() < -1e-6
    with pytest.raises(pl.InputError, match="has no Green's functions"):
        zoned.positions(2)


def test_zones_say_what_they_expect(parts):
    with pytest.raises(pl.InputError, match="model = int .*expected a GreensModel, FemZone or ReducedZone|model = 3"):
        pl.Zone("part", 3)
    zoned = pl.ZonedModel([pl.Zone(f"part{i}", model) for i, model in enumerate(parts)])
    with pytest.raises(pl.InputError, match=re.escape("zone = 3 (expected 0 … 2)")):
        zoned.positions(3)
    with pytest.raises(pl.InputError, match=re.escape("values = float64 array of shape (1, 2) (expected numbers of shape (1, 3))")):
        zoned.set_loads(0, [0], [(0.0, 1.0)])
    assert not zoned.set_loads(2, [tip_of(parts[2])], [(np.nan, 0, 0)])


@pytest.fixture(scope="module")
def finger():
    pad = pl.build_greens(pl.pad_surface(levels=1), fixed="z > 60 %", material=pl.Material(5e4, 0.45, 1000),
                          fixed_columns=True, cache=None)
    bones = [pl.Bone(f"bone{i}", i - 1, (0.03 * i, 0, -0.004)) for i in range(2)]
    zones = [pl.CharacterZone(f"pad{i}", pad, i, rest=(0.03 * i, 0, 0)) for i in range(2)]
    return pl.Character(bones, zones, blend=0.012)


def test_characters_bend_at_their_joints(finger):
    bend = [pl.ScriptedMotion([0, 0.1], [[0, 0, 0], [angle, 0, 0]]) for angle in (0.0, 0.5)]
    body = finger.body(flexion=bend)
    assert body.kind == "zones" and body.num_zones == 2
    start = body.positions.copy()
    body.run(100, 1e-3)
    first = body.first_vertex(1)
    moved = np.linalg.norm(body.positions - start, axis=1)
    assert moved[:first].max() < 0.3 * moved[first:].max()
    # the second pad turns with its bone
    end = first + int(np.argmax(start[first:, 0]))
    turned = body.bones[1].to_world(start[end])
    assert np.allclose(body.positions[end], turned, atol=2e-3)
    assert np.linalg.norm(turned - start[end]) > 0.01


def test_characters_give_way_where_they_are_pushed(finger):
    body = finger.body()
    bottom = int(np.argmin(body.surface.vertices[:, 2]))
    before = np.array(body.position(bottom))
    load = body.forces_at([bottom])
    load[0] = (0, 0, 0.05)
    body.run(400, 1e-3)
    assert body.position(bottom)[2] > before[2] + 1e-5
