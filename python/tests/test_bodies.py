"""Every kind of body: built, loaded, pressed; the same numbers as the methods themselves promise."""

import ctypes
import threading
import time

import numpy as np
import pytest

import pliant as pl


def settle(body, point, force, steps=400, dt=1e-3):
    load = body.forces_at([point])
    load[0] = force
    before = np.array(body.position(point))
    body.run(steps, dt)
    return np.array(body.position(point)) - before


def test_steps_return_statuses(beam):
    assert beam.step(1e-3) is pl.StepStatus.Ok
    assert beam.step(float("nan")) == pl.StepStatus.InputIgnored
    assert beam.report["ok"] == 1 and beam.report["input ignored"] == 1


def test_compliance_is_what_a_small_force_does(beam_model, tip):
    beam = beam_model.body(mass_damping=20.0)  # at rest soon
    force = np.array([0, 0, -1e-3])
    expected = beam.compliance(tip) @ force
    assert settle(beam, tip, force, 3000) == pytest.approx(expected, rel=0.02, abs=2e-8)


def test_run_is_the_same_as_steps(beam_model, tip):
    one, other = beam_model.body(), beam_model.body()
    forces = np.random.default_rng(1).normal(scale=0.05, size=(50, 1, 3))
    path = one.run(50, 1e-3, record=[tip, 0], points=[tip], forces=forces)
    assert path.shape == (50, 2, 3)
    for i in range(50):
        other.add_force(tip, forces[i, 0])
        other.step(1e-3)
        assert np.array_equal(path[i, 0], other.position(tip))
    assert np.array_equal(one.state, other.state)


def test_states_are_restored_exactly(beam, tip):
    beam.run(20, 1e-3, points=[tip], forces=np.full((20, 1, 3), 0.05))
    state, q = beam.state, beam.q
    beam.run(20, 1e-3)
    after = beam.state
    beam.state = state
    assert np.array_equal(beam.q, q)
    beam.run(20, 1e-3)
    assert np.array_equal(beam.state, after)


def test_points_on_triangles_lie_between_their_corners(beam):
    weights = np.array([0.2, 0.3, 0.5])
    corners = [np.array(beam.position(int(v))) for v in beam.surface.triangles[3]]
    assert np.allclose(beam.position((3, weights)), weights @ corners, atol=1e-9)
    triangle, found = beam.closest_point(weights @ corners)
    place = beam.position((triangle, found))
    assert np.allclose(place, weights @ corners, atol=1e-6)


def test_held_points_say_their_force(beam, tip):
    goal = np.array(beam.position(tip)) + [0, 0, -0.002]
    assert beam.prescribe(tip, goal)
    beam.run(500, 1e-3)
    assert np.allclose(beam.position(tip), goal, atol=1e-6)
    assert beam.holding_force(0)[2] < 0
    beam.release_all()


def test_parameters_by_name(beam):
    assert beam.parameters["stiffness"].value == 1
    beam.set_parameter("stiffness", 2.0)
    with pytest.raises(pl.InputError, match="stiffness"):
        beam.set_parameter("stifness", 2.0)


def test_models_survive_files(beam_model, tmp_path):
    beam_model.save(tmp_path / "beam.pliant")
    loaded = pl.load(tmp_path / "beam.pliant")
    assert np.array_equal(loaded.basis, beam_model.basis)
    assert np.allclose(loaded.frequencies, beam_model.frequencies)
    assert len(beam_model.frequencies) == 4 and (np.diff(beam_model.frequencies) > -1e-9).all()
    assert list(beam_model.stages)


def test_twice_the_modulus_halves_the_deflection(beam_model, tip):
    soft = beam_model.materials[0]
    stiff = pl.Material(2 * soft.youngs_modulus, soft.poisson_ratio, soft.density)
    force = (0, 0, -1e-3)
    sags = [settle(model.body(mass_damping=50.0), tip, force, 2000)[2]
            for model in (beam_model, beam_model.with_materials([stiff]))]
    assert sags[0] / sags[1] == pytest.approx(2, rel=1e-3)


def ticks_in_the_middle_of(work):
    """How often another thread got its turn in the middle half of what a call took."""
    seen, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            seen.append(time.perf_counter())
            time.sleep(1e-4)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        start = time.perf_counter()
        work()
        end = time.perf_counter()
    finally:
        stop.set()
        thread.join()
    quarter = (end - start) / 4
    assert quarter > 0.02, "too short to say"
    return sum(start + quarter < now < end - quarter for now in seen)


def test_other_threads_go_on_while_bodies_run(beam_model):
    # none at all while somebody holds the lock
    assert ticks_in_the_middle_of(lambda: ctypes.PyDLL(None).usleep(200_000)) == 0
    assert ticks_in_the_middle_of(lambda: beam_model.body().run(240_000, 1e-3)) > 20
    cube = pl.build_fem(pl.hex_box((12, 12, 12), (0, 0, 0), (0.1, 0.1, 0.1))).body()
    assert ticks_in_the_middle_of(lambda: [cube.step(5e-3) for _ in range(12)]) > 5
    bridge = pl.scene({"pliant": 1, "name": "balls", "bodies": [
        {"name": f"ball {i}", "rigid": {"sphere": {"radius": 0.1}, "density": 1000}} for i in range(4)]})
    bridge.build()
    assert ticks_in_the_middle_of(lambda: bridge.advance(60)) > 20


def test_runs_on_threads_are_those_of_one(beam_model, tip):
    forces = np.full((2000, 1, 3), 0.01)
    alone = beam_model.body().run(2000, 1e-3, record=[tip], points=[tip], forces=forces)
    found = [None, None]

    def work(i):
        found[i] = beam_model.body().run(2000, 1e-3, record=[tip], points=[tip], forces=forces)
    threads = [threading.Thread(target=work, args=[i]) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(found[0], alone) and np.array_equal(found[1], alone)


@pytest.fixture(scope="module")
def fem():
    return pl.build_fem(pl.hex_box((8, 2, 2), (0, 0, 0), (0.2, 0.04, 0.04)), material="rubber")


def test_fem_forces_are_energy_differences(fem):
    u = 1e-3 * np.random.default_rng(1).normal(size=(fem.num_nodes, 3))
    direction = np.random.default_rng(2).normal(size=u.shape)
    h = 1e-6
    slope = (fem.energy(u + h * direction) - fem.energy(u - h * direction)) / (2 * h)
    assert np.sum(fem.internal_force(u) * direction) == pytest.approx(slope, rel=1e-6)


def test_gravity_weighs_the_body(fem):
    mass = pl.Material.preset("rubber").density * fem.mesh.volume()
    assert fem.gravity_load((0, 0, -9.81)).sum(axis=0) == pytest.approx([0, 0, -9.81 * mass], abs=1e-9)


def test_fem_statics_balances_its_load(fem):
    load = fem.traction_load("x > 99 %", (0, 0, -100.0))
    assert load.sum(axis=0)[2] == pytest.approx(-100 * 0.04 * 0.04)
    result = fem.solve_static(fixed="x < 1 %", load=load)
    assert result["converged"]
    free = fem.mesh.vertices[:, 0] > 1e-6
    assert np.abs(fem.internal_force(result["u"]) - load)[free].max() < 1e-6 * np.abs(load).max()
    linear = fem.solve_static(fixed="x < 1 %", load=1e-4 * load, linear=True)["u"]
    assert np.allclose(linear, fem.solve_static(fixed="x < 1 %", load=1e-4 * load)["u"], rtol=1e-2, atol=1e-9)
    data, indices, indptr = fem.tangent()
    assert len(indptr) == 3 * fem.num_nodes + 1 and len(data) == len(indices)
    with pytest.raises(pl.InputError, match="free to move|translation"):
        fem.solve_static(fixed="", load=load)


def test_linear_statics_tells_what_the_other_tells(fem):
    load = fem.traction_load("x > 99 %", (0, 0, -1.0))
    linear, other = (fem.solve_static(fixed="x < 1 %", load=load, linear=is_linear) for is_linear in (True, False))
    assert linear.keys() == other.keys()
    assert linear["converged"] and linear["message"] == "" and linear["load_fraction"] == other["load_fraction"] == 1
    assert linear["iterations"] == 0 < other["iterations"]
    # half of what the load does
    assert linear["energy"] == pytest.approx(np.sum(linear["u"] * load) / 2, rel=1e-6, abs=0)
    assert linear["energy"] == pytest.approx(other["energy"], rel=1e-3, abs=0)
    assert linear["smallest_det_F"] == pytest.approx(other["smallest_det_F"], abs=1e-5)
    # three times as short as it is: inside out
    squeezed = fem.traction_load("x > 99 %", (-3 * pl.Material.preset("rubber").youngs_modulus, 0, 0))
    assert fem.solve_static(fixed="x < 1 %", load=squeezed, linear=True)["smallest_det_F"] < 0


def test_fem_bodies_fall_on_obstacles():
    ground = pl.Ground().body()
    cube = pl.build_fem(pl.hex_box((2, 2, 2), (0, 0, 0.001), (0.1, 0.1, 0.101)), material=pl.Material(1e5, 0.3, 1000))
    body = cube.body(obstacles=[ground], mass_damping=20.0)
    del ground  # the body keeps it
    body.set_gravity((0, 0, -9.81))
    for _ in range(400):
        body.step(1e-3)
    assert body.positions[:, 2].min() > -1e-4
    assert body.obstacle_load(0).force[2] == pytest.approx(-9.81, rel=0.2)


def test_greens_bodies_give_way_where_they_are_pushed(tmp_path):
    model = pl.build_greens(pl.make_semi_regular("nodule", 1), fixed="z < 20 %", size=0.1,
                            material=pl.Material(1e5, 0.3, 1000), cache=None)
    body = model.body()
    top = body.surface.topmost()
    moved = settle(body, top, (0, 0, -0.1))
    assert moved[2] < 0
    assert moved == pytest.approx(body.compliance(top) @ [0, 0, -0.1], rel=0.02, abs=1e-7)
    model.save(tmp_path / "nodule.pliant")
    assert pl.load(tmp_path / "nodule.pliant").num_nodes == model.num_nodes


def test_particle_bodies_fall_to_the_ground():
    model = pl.build_particles(pl.Sphere(0.05).surface, count=20, stiffness=0.8)
    assert model.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.05**3, rel=0.1)
    body = model.body(pose=(0, 0, 0.1), ground=0.0)
    body.set_gravity((0, 0, -9.81))
    body.run(1000, 1e-3)
    assert 0 < body.centres[:, 2].mean() < 0.06


def test_rigid_bodies_fall_freely():
    ball = pl.Sphere(0.1).body(pose=(0, 0, 2), density=1000.0)
    ball.set_gravity((0, 0, -9.81))
    ball.run(100, 1e-3)
    assert ball.pose.position[2] == pytest.approx(2 - 0.5 * 9.81 * 0.1**2, rel=1e-6)
    path = pl.ScriptedMotion([0, 1], [[0, 0, 0], [1, 0, 0]])
    driven = pl.Box((0.1, 0.1, 0.1)).body(motion=path)
    driven.run(500, 1e-3)
    assert driven.pose.position[0] == pytest.approx(path.at(0.5).position[0])


def test_rigid_bodies_are_pushed_and_driven():
    ball = pl.Sphere(0.1).body(density=1000.0)
    ball.add_wrench(pl.Wrench((1, 0, 0), (0, 0, 0.5)))
    ball.step(1e-2)
    assert ball.twist.linear == pytest.approx([1e-2 / ball.mass, 0, 0], abs=1e-9)
    # of a ball, but for its triangles
    assert ball.twist.angular[2] == pytest.approx(0.5e-2 / (0.4 * ball.mass * 0.1**2), rel=0.01)
    block = pl.Box((0.1, 0.1, 0.1)).body()
    block.drive_to((0.01, 0, 0))
    block.step(1e-2)
    assert np.allclose(block.pose.position, (0.01, 0, 0)) and np.allclose(block.twist.linear, (1, 0, 0))


def test_free_reduced_bodies_are_pushed():
    model = pl.build_reduced(pl.Box((0.2, 0.04, 0.04)).surface, free=True, resolution=10, num_modes=4, rank=6,
                             cache=None)
    body = model.body()
    for _ in range(10):
        body.add_wrench(pl.Wrench((2, 0, 0)))
        body.step(1e-3)
    mass = model.materials[0].density * model.mesh.volume(weighted=True)
    assert body.velocity(0) == pytest.approx([2 * 10e-3 / mass, 0, 0], abs=1e-9)


def test_solids_know_their_distance():
    capsule = pl.Capsule(0.1, 0.4)
    assert capsule.gap([(0.3, 0, 0.1), (0, 0, 0.5), (0, 0, 0)]) == pytest.approx([0.2, 0.2, -0.1])
    assert capsule.surface.volume == pytest.approx(np.pi * (0.1**2 * 0.4 + 4 / 3 * 0.1**3), rel=0.02)
    box = pl.Box((0.2, 0.1, 0.1)).surface
    assert pl.MeshSolid(box).gap([(0.2, 0, 0), (0, 0, 0)]) == pytest.approx([0.1, -0.05])
    assert np.ptp(pl.MeshSolid(box, size=1.0).surface.vertices[:, 0]) == pytest.approx(1.0)


def test_poses_compose():
    turn = pl.Pose.rotated((0, 0, np.pi / 2), (1, 0, 0))
    assert np.allclose(turn.to_world((1, 0, 0)), (1, 1, 0))
    assert np.allclose((turn @ turn.inverse()).position, 0, atol=1e-12)
    assert np.allclose(turn.rotation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
