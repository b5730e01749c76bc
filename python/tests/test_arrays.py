"""Arrays that are views: no copies, owners that stay alive, and words about what does not fit."""

import gc
import re

import numpy as np
import pytest

import pliant as pl


def test_positions_are_one_buffer_that_outlives_the_body(beam_model):
    body = beam_model.body()
    first = body.positions
    assert first.dtype == np.float32 and first.shape == (body.surface.num_vertices, 3)
    assert np.shares_memory(first, body.positions)
    assert not first.flags.writeable
    kept = first.copy()
    del body
    gc.collect()
    np.array([np.zeros(1000) for _ in range(1000)])  # would overwrite freed memory
    assert np.array_equal(first, kept)


def small_greens():
    return pl.build_greens(pl.make_semi_regular("nodule", 1), fixed="z < 20 %", size=0.1, cache=None)


OWNERS = {
    "surface": (lambda: pl.make_shape("heart", resolution=16), ["vertices", "triangles"]),
    "volume": (lambda: pl.build_mesh(pl.Box((1, 1, 1)).surface, resolution=6), ["vertices", "elements", "filled"]),
    "reduced": (lambda: pl.build_reduced(pl.Box((1, 1, 1)).surface, free=True, resolution=4, num_modes=2, rank=2,
                                         cache=None), ["basis"]),
    "pointshell": (lambda: pl.build_pointshell(pl.Sphere(0.05).surface, points=500, levels=2, resolution=32),
                   ["points", "normals"]),
    "greens": (small_greens, ["nodes", "areas"]),
    "samples": (lambda: pl.scene({"pliant": 1, "name": "ball", "bodies": [
        {"name": "ball", "rigid": {"sphere": {"radius": 0.1}, "density": 1000}}]}).advance(0.2),
        ["time", "energy", "hand", "force"]),
}


@pytest.mark.parametrize("owner", OWNERS)
def test_owners_stay_alive_for_their_views(owner):
    make, names = OWNERS[owner]
    thing = make()
    views = [getattr(thing, name) for name in names]
    kept = [view.copy() for view in views]
    for view, name in zip(views, names):
        assert np.shares_memory(view, getattr(thing, name)), f"{name} is a copy"
        assert not view.flags.writeable and view.base is not None
    assert any(view.any() for view in views)
    del thing
    gc.collect()
    # would overwrite freed memory
    rubbish = [np.full(view.size, 7, view.dtype) for view in views for _ in range(50)]
    assert all(np.array_equal(view, copy) for view, copy in zip(views, kept)) and rubbish


def test_positions_follow_the_body(beam, tip):
    before = beam.positions[tip].copy()
    beam.add_force(tip, (0, 0, -0.2))
    for _ in range(20):
        beam.step(1e-3)
    after = beam.positions[tip]
    assert after[2] < before[2]
    assert np.allclose(after, beam.position(tip), atol=1e-6)


def test_forces_written_in_place_act_like_added_ones(beam_model, tip):
    bodies = [beam_model.body() for _ in range(3)]
    everywhere, some = bodies[1].forces, bodies[2].forces_at([tip])
    assert everywhere.flags.writeable and some.shape == (1, 3)
    everywhere[tip] = some[0] = (0, 0.01, -0.2)
    for _ in range(30):
        bodies[0].add_force(tip, (0, 0.01, -0.2))
        for body in bodies:
            body.step(1e-3)
    assert np.array_equal(bodies[0].state, bodies[1].state)
    assert np.array_equal(bodies[0].state, bodies[2].state)
    assert np.abs(bodies[0].q).max() > 0
    assert np.shares_memory(everywhere, bodies[1].forces)
    # gone when the array says so, and after a reset
    bodies[1].reset()
    assert not everywhere.any()


def test_the_same_points_have_one_array_of_forces(beam_model, tip):
    one, other = beam_model.body(), beam_model.body()
    force, inside = (0, 0.01, -0.2), (3, (0.2, 0.3, 0.5))
    kept = one.forces_at([tip, inside])
    kept[:] = force
    for _ in range(30):
        other.forces_at([tip, inside])[:] = force
        one.step(1e-3)
        other.step(1e-3)
    assert np.array_equal(one.state, other.state) and np.abs(one.q).max() > 0
    assert np.shares_memory(kept, one.forces_at((np.int32(tip), inside)))
    # those of other points are other ones, and of none and of all vertices
    others = [one.forces_at(points) for points in ([tip], [inside, tip], [tip, (3, (0.3, 0.2, 0.5))], [])] + [one.forces]
    assert [len(forces) for forces in others] == [1, 2, 2, 0, one.surface.num_vertices]
    assert not any(np.shares_memory(kept, forces) or forces.any() for forces in others)
    assert len(one.forces_at([])) == 0


def test_force_arrays_outlive_the_body(beam_model):
    body = beam_model.body()
    forces = body.forces
    del body
    gc.collect()
    forces[:] = 1
    assert forces.sum() == forces.size


@pytest.mark.parametrize("vertices, triangles, text", [
    (np.zeros((4, 2)), [[0, 1, 2]], "vertices = float64 array of shape (4, 2) (expected numbers of shape (n, 3))"),
    (np.zeros((3, 3), dtype=complex), [[0, 1, 2]],
     "vertices = complex128 array of shape (3, 3) (expected numbers of shape (n, 3))"),
    ("abc", [[0, 1, 2]], "vertices = abc (expected numbers of shape (n, 3))"),
    (np.zeros((3, 3)), [[0.0, 1.0, 2.0]],
     "triangles = float64 array of shape (1, 3) (expected integers of shape (n, 3))"),
    (np.zeros((3, 3)), [[0, 1, 3]], "triangles[0] = 3 (expected 0 … 2)"),
    # 0, 1, 2 in their lower 32 bits
    (np.zeros((3, 3)), [[0, 1, 2**32 + 2]], "triangles = 4294967298 (expected integers of 32 bits)"),
    (np.zeros((3, 3)), np.array([[0, 1, 2**63 + 2]], dtype=np.uint64),
     "triangles = 9223372036854775810 (expected integers of 32 bits)"),
])
def test_wrong_arrays_say_expected_and_got(vertices, triangles, text):
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$") as caught:
        pl.SurfaceMesh(vertices, triangles)
    assert isinstance(caught.value, ValueError)
    assert caught.value.field and caught.value.expected


def test_wrong_vectors_and_points_say_expected_and_got(beam):
    with pytest.raises(pl.InputError, match=re.escape("force = int64 array of shape (2,) (expected numbers of shape (3,))")):
        beam.add_force(0, (1, 2))
    with pytest.raises(pl.InputError, match=re.escape("vertex = 100000 (expected 0 … ")):
        beam.position(100000)
    with pytest.raises(pl.InputError, match=re.escape("state = float64 array of shape (3,) (expected numbers of shape (")):
        beam.state = np.zeros(3)
    with pytest.raises(pl.InputError, match="point = float .expected a vertex, or a triangle|point = 1.5"):
        beam.position(1.5)


def test_integers_lists_and_strided_arrays_are_converted():
    mesh = pl.SurfaceMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.array([[0, 1, 2]], dtype=np.uint8))
    assert mesh.area == pytest.approx(0.5)
    twice = np.zeros((3, 6))
    twice[:, ::2] = mesh.vertices
    assert np.array_equal(pl.SurfaceMesh(twice[:, ::2], mesh.triangles).vertices, mesh.vertices)
