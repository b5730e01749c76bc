"""Contact, proxies, devices and couplings."""

import re

import numpy as np
import pytest

import pliant as pl


@pytest.fixture(scope="module")
def ball_tree():
    return pl.PointTree(pl.build_pointshell(pl.Sphere(0.05).surface, points=500, levels=2, resolution=32))


def test_pointshells_are_even_points_on_the_surface():
    shell = pl.build_pointshell(pl.Sphere(0.05).surface, points=500, levels=2, resolution=32)
    radius = np.linalg.norm(shell.points, axis=1)
    assert np.abs(radius - 0.05).max() < 1e-3
    assert np.all(np.einsum("ij,ij->i", shell.points, shell.normals) < 0)
    assert shell.num_levels == 2 and shell.level_start[-1] == shell.num_points


def test_queries_find_all_points_inside(ball_tree):
    query = pl.ContactQuery(ball_tree, pl.plane_field((0, 0, 1)))
    found = query.find((0, 0, 0.04))
    assert len(found["points"]) > 0 and (found["distances"] < 0).all()
    assert found["positions"][:, 2] == pytest.approx(found["distances"], abs=1e-6)
    assert len(query.find((0, 0, 0.06))["points"]) == 0


def test_contact_pairs_push_bodies_apart(ball_tree):
    ball, ground = pl.Sphere(0.05).body(pose=(0, 0, 0.049)), pl.Ground().body()
    pair = pl.ContactPair(ball, ball_tree, ground, pl.plane_field((0, 0, 1)), stiffness=1000)
    assert pair.act(1e-3) == pl.StepStatus.Ok
    assert pair.num_contacts > 0 and pair.deepest == pytest.approx(1e-3, rel=0.3)
    assert pair.on_shell.force[2] > 0
    assert np.allclose(pair.on_shell.force, -np.array(pair.on_solid.force))
    del ball, ground, ball_tree
    assert pair.act(1e-3) == pl.StepStatus.Ok


def test_deformed_fields_follow_the_body(beam_model, beam, tip):
    field = pl.DeformedField(beam_model, resolution=32, proxies=20)
    place = np.array(beam.position(tip))
    assert abs(field.distance(place)) < 0.01
    beam.run(40, 1e-3, points=[tip], forces=np.full((40, 1, 3), [0, 0, -1.0]))
    moved = np.array(beam.position(tip))
    assert field.update(beam.q)
    assert abs(field.distance(moved)) < 0.01
    with pytest.raises(pl.InputError, match="q = .*expected 6 numbers"):
        field.update(np.zeros(5))


def test_deformed_fields_survive_files(beam_model, tip, tmp_path):
    path = tmp_path / "beam.pliant"
    field = pl.DeformedField(beam_model, resolution=16, proxies=8)
    field.save(path)
    loaded = pl.DeformedField.load(path, beam_model)
    points = np.array(beam_model.surface.vertices[tip]) + np.random.default_rng(1).uniform(-0.02, 0.02, size=(50, 3))
    rest = field.distances(points)
    assert np.array_equal(loaded.distances(points), rest)
    q = np.full(field.rank, 1e-3)
    assert field.update(q) and loaded.update(q)
    assert np.array_equal(loaded.distances(points), field.distances(points))
    assert not np.array_equal(loaded.distances(points), rest)
    with pytest.raises(pl.InputError, match=re.escape("rank = 6 (expected 3, that of the reduced model)")):
        pl.DeformedField.load(path, beam_model.truncated(3))
    with pytest.raises(pl.InputError, match="^" + re.escape("model = 3 (expected a ReducedModel)") + "$"):
        pl.DeformedField.load(path, 3)
    with pytest.raises(pl.InputError, match="goes with its model") as caught:
        pl.load(path)
    assert caught.value.file == str(path)


def test_proxies_stay_outside(beam):
    top = beam.surface.topmost()
    start = np.array(beam.position(top))
    proxy = pl.VirtualProxy([beam], radius=0.01, stiffness=100.0)
    proxy.reset(start + [0, 0, 0.02])
    for i in range(200):
        state = proxy.tick(start + [0, 0, 0.02 - 1e-4 * i])
        proxy.apply_forces()
        beam.step(1e-3)
    assert state.is_touching and state.force[2] > 0
    contact = state.contacts[0]
    assert contact.body == 0 and contact.normal[2] > 0.9
    assert np.linalg.norm(np.array(state.position) - contact.point) >= 0.0099


def test_press_gives_force_against_depth(beam_model):
    body = beam_model.body()
    at = int(np.argmax(body.surface.vertices @ [1, 0, 1]))
    pressed = pl.press(body, at, 0.004, tool=pl.Sphere(0.01), speed=0.005)
    assert pressed.force.shape == pressed.depth.shape == pressed.time.shape
    assert pressed.force.max() > 0 and pressed.force[:5] == pytest.approx(0)
    touched = pressed.force > 0
    # deeper is harder, but for waves
    assert np.corrcoef(pressed.depth[touched], pressed.force[touched])[0, 1] > 0.8


@pytest.mark.parametrize("name, value, text", [
    # they would never end
    ("speed", 0, "speed = 0 (expected finite, above 0 m/s)"),
    ("speed", -0.01, "speed = -0.01 (expected finite, above 0 m/s)"),
    ("speed", "0.01", "speed = 0.01 (expected finite, above 0 m/s)"),
    ("depth", float("nan"), "depth = nan (expected finite, 0 m or more)"),
    ("depth", float("inf"), "depth = inf (expected finite, 0 m or more)"),
    ("hold", -1, "hold = -1 (expected finite, 0 s or more)"),
    ("rate", float("inf"), "rate = inf (expected finite, above 0 Hz)"),
    # they would press with something else
    ("direction", (0, 0, 0), "direction = (0, 0, 0) (expected a vector (3,) of length above 0)"),
    ("direction", (0, -1), "direction = (0, -1) (expected a vector (3,) of length above 0)"),
    ("tool", 0.005, "tool = 0.005 (expected None or a Sphere, as Sphere(0.005))"),
    ("tool", pl.Box((0.01, 0.01, 0.01)),
     "tool = a solid of another kind (expected None or a Sphere, as Sphere(0.005))"),
    ("tool", pl.Capsule(0.005, 0.01), "tool = a solid of another kind (expected None or a Sphere, as Sphere(0.005))"),
    ("tool", pl.Ground(), "tool = a solid of another kind (expected None or a Sphere, as Sphere(0.005))"),
])
def test_presses_that_make_no_sense_are_refused(beam, tip, name, value, text):
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$") as caught:
        pl.press(beam, tip, **{"depth": 0.004, name: value})
    assert caught.value.field == name and caught.value.expected


def test_scripted_and_recorded_devices_say_where_they_are():
    path = pl.ScriptedMotion([0, 1], [[0, 0, 0], [0, 0, 1]])
    device = pl.ScriptedDevice(path)
    states = [device.read(t) for t in np.linspace(0, 1, 11)]
    device.write((1, 2, 3))
    assert np.allclose(device.shown_force, (1, 2, 3))
    assert states[-1].pose.position[2] == pytest.approx(1)
    recorded = pl.RecordedDevice(states)
    for state in states:
        assert np.array_equal(recorded.read(0).pose.position, state.pose.position)
    assert recorded.is_at_end and recorded.read(0).status == pl.DeviceStatus.Disconnected


def test_a_simulated_hand_pushes_against_a_force():
    device = pl.SimulatedDevice(hand=pl.HandModel.firm())
    device.write((0, 0, 1.0))
    for i in range(2000):
        state = device.read(1e-3 * i)
    assert state.pose.position[2] == pytest.approx(1.0 / pl.HandModel.firm().stiffness, rel=0.05)
    device.set_connected(False)
    assert device.read(3.0).status != pl.DeviceStatus.Ok


def test_what_a_device_hands_out_are_copies():
    device = pl.SimulatedDevice(hand=pl.HandModel.firm())
    limit = device.capabilities.max_force
    device.capabilities.max_force = 1e3
    assert device.capabilities.max_force == limit
    start = device.true_pose
    device.write((0, 0, 100.0))
    for i in range(100):
        state = device.read(1e-3 * i)
    # the limit counts, whatever was written into the copy
    assert 0 < np.linalg.norm(device.applied_force) <= limit * (1 + 1e-9)
    assert start.position[2] == 0 and device.true_pose.position[2] > 1e-4
    device.true_pose.position = (1, 0, 0)
    assert device.true_pose.position[0] != 1
    status = state.status
    state.status = pl.DeviceStatus.Stale
    assert status == pl.DeviceStatus.Ok and state.status == pl.DeviceStatus.Stale


def test_another_grip_is_softer():
    device = pl.SimulatedDevice(hand=pl.HandModel.firm())
    device.set_hand(pl.HandModel.loose())
    device.write((0, 0, 0.1))
    for i in range(3000):
        state = device.read(1e-3 * i)
    assert state.pose.position[2] == pytest.approx(0.1 / pl.HandModel.loose().stiffness, rel=0.05)


def test_spectra_have_amplitudes():
    time = np.arange(1024) / 1024
    force = np.outer(2 * np.sin(2 * np.pi * 64 * time), (0, 1, 0))
    frequency, amplitude = pl.force_spectrum(force, 1024.0)
    assert frequency[np.argmax(amplitude)] == 64 and amplitude.max() == pytest.approx(2)
    assert amplitude[np.abs(frequency - 64) > 2].max() < 1e-9


def test_static_coupling_follows_a_free_hand():
    coupling = pl.StaticCoupling(pl.derive_gains(pl.DeviceCapabilities()))
    goal = pl.Pose((0.001, 0, 0))
    for _ in range(200):
        coupling.update(goal, pl.ToolContact(), 1e-3)
    assert np.allclose(coupling.pose.position, goal.position, atol=1e-6)
    assert np.allclose(coupling.rendered(goal).force, 0, atol=1e-3)
    # a spring of the world pushes back
    contact = pl.ToolContact()
    contact.gradient = -100 * np.eye(6)
    with pytest.raises(pl.InputError, match=r"gradient = float64 array of shape \(3, 3\)"):
        contact.gradient = np.eye(3)


@pytest.mark.parametrize("kind", ["StaticCoupling", "DynamicCoupling", "DirectRendering"])
def test_what_couplings_hand_out_are_copies(kind):
    coupling = getattr(pl, kind)(pl.derive_gains(pl.DeviceCapabilities()))
    air = pl.ToolContact()
    air.clearance = 1.0
    path = []
    for i in range(1, 4):
        coupling.update((1e-4 * i, 0, 0), air, 1e-3)
        path.append(coupling.pose)
    x = [pose.position[0] for pose in path]
    assert 0 < x[0] < x[1] < x[2]
    coupling.pose.position = (1, 0, 0)
    assert coupling.pose.position[0] == x[2]
    # numbers come in through the property, which checks them
    gains = coupling.gains
    stiffness = gains.stiffness
    gains.stiffness = coupling.gains.stiffness = -1
    assert coupling.gains.stiffness == stiffness
    gains.stiffness = 0.5 * stiffness
    coupling.gains = gains
    gains.stiffness = -1
    assert coupling.gains.stiffness == 0.5 * stiffness


def test_twists_of_couplings_are_copies():
    coupling = pl.DynamicCoupling(pl.derive_gains(pl.DeviceCapabilities()), mass=0.5)
    twists = []
    for i in range(1, 4):
        coupling.update((1e-4 * i, 0, 0), pl.ToolContact(), 1e-3)
        twists.append(coupling.twist)
    speeds = [twist.linear[0] for twist in twists]
    assert 0 < speeds[0] < speeds[1] < speeds[2]
    coupling.twist.linear = (1, 0, 0)
    assert coupling.twist.linear[0] == speeds[2]


def test_a_tool_in_a_hand_is_held_by_the_ground(ball_tree):
    device = pl.SimulatedDevice()
    tool, ground = pl.Sphere(0.05).body(pose=(0, 0, 0.055)), pl.Ground().body()
    pair = pl.ContactPair(tool, ball_tree, ground, pl.plane_field((0, 0, 1)))
    gains = pl.derive_gains(device.capabilities, gyration=0.03, bounding=0.05)
    hand = pl.HapticTool(device, tool, [pair], gains)
    for i in range(1500):
        device.aim((0, 0, -0.02 * min(1, i / 1000)))
        pair.act(1e-3)
        tick = hand.tick(1e-3 * i, 1e-3)
        tool.step(1e-3)
        ground.step(1e-3)
    assert tick.num_contacts > 0 and tick.force[2] > 0.1
    assert tick.depth <= tick.max_depth
    assert tool.pose.position[2] > 0.045
    # what happened cannot be written, not in parts either
    tick.tool.position = tick.manipulandum.position = tick.contact.force = (9, 9, 9)
    tick.device.time = -1
    assert tick.tool.position[0] != 9 and tick.manipulandum.position[0] != 9
    assert tick.contact.force[0] != 9 and tick.device.time > 0


def test_zwidth_needs_damping_of_half_a_period():
    device = pl.DeviceModel()
    device.delay = 0
    device.friction = 0
    found = pl.zwidth_map(device, stiffnesses=[100, 1000], dampings=[0, 0.5], duration=0.5)
    assert found["is_stable"].shape == (2, 2) and found["is_stable"].dtype == bool
    assert found["is_stable"][0].any()


@pytest.fixture(scope="module")
def plate():
    """A tool 4 cm long."""
    return pl.place_spheres(pl.Box((0.04, 0.02, 0.01)).surface, count=12)


def test_spheres_fill_a_surface(plate):
    surface = pl.Box((0.04, 0.02, 0.01)).surface
    assert plate.num_particles == 12 and plate.centres.shape == plate.radii.shape == (12, 3)
    assert np.array_equal(plate.radii[:, 0], plate.radii[:, 2]) and plate.links.shape[1] == 2
    coverage = pl.sphere_coverage(plate, surface)
    assert coverage["largest_overhang"] < 1e-3 and 0 < coverage["mean_gap"] < coverage["largest_gap"] < 0.006
    small = pl.sphere_coverage(pl.place_spheres(surface, count=4), surface)
    assert small["mean_gap"] > coverage["mean_gap"]
    with pytest.raises(pl.InputError, match="count = 0"):
        pl.place_spheres(surface, count=0)


@pytest.mark.parametrize("rigid", [True, False])
def test_sphere_tools_press_and_turn(plate, rigid):
    block = pl.Box((0.1, 0.1, 0.1)).body(pose=(0, 0, -0.05), density=1000.0)
    tool = pl.SphereTool([block], plate, rigid=rigid, translation_stiffness=400.0)
    tool.reset((0, 0, 0.03))
    # exactly nothing in the air
    state = tool.tick(pl.Pose.rotated((0.1, 0.2, 0.3), (0.01, 0, 0.03)))
    assert state.num_touching == 0 and not np.any(state.wrench.force) and not np.any(state.wrench.torque)
    assert np.allclose(tool.positions, [state.hand.to_world(offset) for offset in tool.offsets])
    for height in np.linspace(0.03, 0.003, 30):
        state = tool.tick((0, 0, height))
    low = (tool.positions[:, 2] - tool.radii).min()
    assert state.num_touching > 3 and low > -1e-4 and state.status == pl.StepStatus.Ok
    assert state.wrench.force[2] > 0.1
    # a state is of its tick: nothing is written into it
    state.wrench.force = state.hand.position = state.fit.position = (9, 9, 9)
    assert state.wrench.force[0] != 9 and state.hand.position[0] != 9 and state.fit.position[0] != 9
    assert np.allclose(tool.forces.sum(axis=0), state.wrench.force, atol=1e-6)
    # leaning to one side: the block turns it back
    state = tool.tick(pl.Pose.rotated((0, 0.2, 0), (0, 0, 0.003)))
    assert state.wrench.torque[1] < -1e-4
    tool.apply_forces()
    block.step(1e-3)
    assert block.last_load.force[2] < -0.1
    assert tool.sphere(0).position == pytest.approx(tool.positions[0])
    with pytest.raises(pl.InputError, match="i = 12"):
        tool.sphere(12)
    del block
    assert tool.tick((0, 0, 0.003)).num_touching > 0
    assert tool.tick((float("nan"), 0, 0)).is_hand_ignored


def test_soft_sphere_tools_hang_over_edges():
    block = pl.Box((0.1, 0.1, 0.1)).body(pose=(-0.05, 0, -0.05))

    def droop(stiffness, rigid=False):
        """How far the end in the air is below the other."""
        spheres = pl.place_spheres(pl.Box((0.06, 0.02, 0.01)).surface, count=40, stiffness=stiffness)
        tool = pl.SphereTool([block], spheres, rigid=rigid)
        tool.reset((0, 0, 0.03))
        for height in np.linspace(0.03, -0.008, 60):
            tool.tick((0, 0, height))
        x, z = tool.offsets[:, 0], tool.positions[:, 2]
        return z[x < -0.01].mean() - z[x > 0.01].mean()
    assert droop(0.1) > droop(0.9) + 3e-4
    assert droop(0.1, rigid=True) == droop(0.9, rigid=True) != droop(0.9)


def test_dynamic_couplings_have_inertia():
    gains = pl.derive_gains(pl.DeviceCapabilities())
    dynamic, static, direct = pl.DynamicCoupling(gains, mass=0.5), pl.StaticCoupling(gains), pl.DirectRendering(gains)
    for coupling in (dynamic, static, direct):
        coupling.place((0, 0, 0))
    air = pl.ToolContact()
    air.clearance = 1.0
    # a hand that goes away: the heavy tool lags behind and is felt, the others are there at once
    for i in range(1, 11):
        hand = (1e-4 * i, 0, 0)
        for coupling in (dynamic, static, direct):
            assert coupling.update(hand, air, 1e-3) == pl.StepStatus.Ok
    assert np.array(direct.pose.position) == pytest.approx((1e-3, 0, 0))
    assert 0 < dynamic.pose.position[0] < 0.9e-3 and dynamic.twist.linear[0] > 0
    assert dynamic.rendered(hand).force[0] < -1e-3 and dynamic.stored_energy(hand) > 0
    assert np.linalg.norm(static.rendered(hand).force) < 0.1 * np.linalg.norm(dynamic.rendered(hand).force)
    silent = pl.DynamicCoupling(gains, mass=0.5, silent_in_free_space=True)
    silent.place((0, 0, 0))
    silent.update(hand, air, 1e-3)
    assert not np.any(silent.rendered(hand).force)
    # contact alone is what direct rendering shows
    touch = pl.ToolContact()
    touch.load = pl.Wrench((0, 0, 0.5))
    touch.num_contacts = 1
    direct.update(hand, touch, 1e-3)
    assert direct.rendered(hand).force[2] == pytest.approx(0.5)
    with pytest.raises(pl.InputError, match="mass"):
        pl.DynamicCoupling(gains, mass=-1.0)
