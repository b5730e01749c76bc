"""Scenes in virtual time and in the viewer, recordings as arrays, and the program."""

import base64
import contextlib
import csv
import json
import os
import pathlib
import re
import resource
import signal
import socket
import threading
import time
import urllib.parse
import urllib.request
import webbrowser

import numpy as np
import pytest

import pliant as pl
from pliant import _viewing

@pytest.fixture(scope="module")
def beam_file(tmp_path_factory, beam_model):
    path = tmp_path_factory.mktemp("models") / "beam.pliant"
    beam_model.save(path)
    return path


@pytest.fixture
def hanging(beam_file):
    """Makes the same scene each time."""
    return lambda: pl.scene({"pliant": 1, "name": "hanging", "gravity": [0, 0, -9.81],
                             "bodies": [{"name": "beam", "model": str(beam_file)}]})


@pytest.fixture
def scene(hanging):
    return hanging()


def test_scenes_run_headless_and_again_with_the_same_bits(scene, tip):
    ticks = scene.advance(0.1)
    assert len(ticks) == 100 and ticks.time[-1] == pytest.approx(0.1)
    low = scene.body("beam").position(tip)[2]
    assert scene.time == pytest.approx(0.1)
    first = scene.state_hash
    scene.reset()
    scene.advance(0.1)
    assert scene.state_hash == first
    assert low < scene.body("beam").surface.vertices[tip, 2]


def test_hands_pull_and_forces_are_arrays(scene, tip):
    start = np.array(scene.body("beam").position(tip))
    scene.grab("beam", tip, start + [0, 0, 0.01])
    ticks = scene.advance(0.05)
    assert ticks.force.shape == (50, 3) and np.abs(ticks.force).max() > 0
    assert np.allclose(ticks.hand[-1], start + [0, 0, 0.01])
    assert not ticks.force.flags.owndata  # a view
    scene.drag(start, duration=0.01)
    scene.advance(0.05)
    scene.release()
    with pytest.raises(pl.InputError, match='body = "beem".*expected beam'):
        scene.body("beem")


def test_forces_in_arrays_act_in_scenes(hanging, tip):
    force, scenes = (0, 0.01, -0.2), [hanging() for _ in range(3)]
    bodies = [scene.body("beam") for scene in scenes]
    everywhere, some = bodies[1].forces, bodies[2].forces_at([tip])
    everywhere[tip] = some[0] = force
    for _ in range(50):
        bodies[0].add_force(tip, force)
        scenes[0].advance(1e-3)
    for scene in scenes[1:]:
        scene.advance(0.05)
    assert len({scene.state_hash for scene in scenes}) == 1
    # a reset ends them
    scenes[1].reset()
    assert not everywhere.any()
    scenes[1].advance(0.05)
    assert scenes[1].state_hash != scenes[0].state_hash


def test_forces_in_arrays_act_in_every_tick_of_their_loop():
    ball = {"sphere": {"radius": 0.1}, "density": 1000}
    scene = pl.scene({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "slow", "rate": 250}],
                      "bodies": [{"name": "a", "rigid": ball},
                                 {"name": "b", "rigid": ball, "loop": "slow", "pose": {"position": [1, 0, 0]}}],
                      "script": [{"time": 0.008, "reset": True}]})
    bodies = [scene.body(name) for name in "ab"]
    for body in bodies:
        body.forces[0] = (1, 0, 0)
    scene.advance(0.007)
    scene.advance(0.013)
    # since the script began anew
    for body in bodies:
        assert body.twist.linear[0] == pytest.approx(0.012 / body.mass)


def test_forces_in_arrays_are_refused_where_they_would_not_act(scene, tip, tmp_path):
    scene.body("beam").forces[tip] = (0, 0, 1)
    with pytest.raises(pl.InputError, match='does not hold forces in arrays; set those of "beam" to 0'):
        scene.advance(0.1, record=tmp_path / "pulled.pliantrec")
    with pytest.raises(pl.InputError, match='without forces in arrays; set those of "beam" to 0'):
        pl.view_scene(scene)


NAN = float("nan")
# a world would ignore them
BAD_HANDS = {
    "target": (lambda s: s.grab("beam", 0, (0, NAN, 0)), "target[1] = nan (expected a finite number)"),
    "slot": (lambda s: s.grab("beam", 0, (0, 0, 0), slot=99), "slot = 99 (expected 0 … 3)"),
    "duration": (lambda s: s.grab("beam", 0, (0, 0, 0), duration=-1), "duration = -1.0 (expected 0 s or more)"),
    "weights": (lambda s: s.grab("beam", (0, (2, 0, 0)), (0, 0, 0)),
                "weights = (2, 0, 0) (expected 0 to 1 each, with sum 1)"),
    "force": (lambda s: s.poke("beam", 0, -1), "force = -1.0 (expected 0 N or more)"),
    "drag": (lambda s: s.drag((0, 0, 0)), "nothing is held in slot 0; call grab() first"),
    "release": (lambda s: s.release(-1), "slot = -1 (expected 0 … 3)"),
    "tool": (lambda s: s.move_tool((0, 0, 0)), 'the scene "hanging" has no tool; give it one with "tool", or push '
             "vertices with add_force() and grab()"),
    "value": (lambda s: s.set_parameter("gravity", NAN), "value = nan (expected a finite number)"),
}


@pytest.mark.parametrize("name", BAD_HANDS)
def test_hands_that_do_nothing_are_refused(name, scene):
    call, text = BAD_HANDS[name]
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$"):
        call(scene)


def test_pokes_push_inwards():
    ball = pl.scene({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "ball", "rigid": {"sphere": {"radius": 0.1}, "density": 1000}}]})
    body = ball.body("ball")
    ball.poke("ball", body.surface.topmost(), force=2.0)
    ticks = ball.advance(0.1)
    # grows within 50 ms
    assert np.linalg.norm(ticks.force[[24, -1]], axis=1) == pytest.approx([1, 2])
    assert np.linalg.norm(body.twist.linear) == pytest.approx((0.051 + 0.1) / body.mass, rel=1e-3)
    assert body.twist.linear[2] < 0
    with pytest.raises(pl.InputError, match="nothing is held"):
        ball.drag((0, 0, 0))
    ball.release()
    assert not ball.advance(0.001).force.any()


def test_tools_follow_the_hand():
    scene = pl.scene({"pliant": 1, "gravity": [0, 0, 0], "tool": {"radius": 0.02, "start": [0.3, 0, 0]},
                      "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 0.1}}}]})
    scene.move_tool((0.4, 0, 0), duration=0.1)
    ticks = scene.advance(1.0)
    assert ticks.hand[49] == pytest.approx([0.35, 0, 0]) and ticks.hand[99] == pytest.approx([0.4, 0, 0])
    assert ticks.point[-1] == pytest.approx([0.4, 0, 0], abs=1e-6)
    with pytest.raises(pl.InputError, match=re.escape("position[0] = nan (expected a finite number)")):
        scene.move_tool((NAN, 0, 0))


def test_parameters_of_scenes(scene):
    assert scene.parameters["beam.stiffness"] == 1
    scene.set_parameter("beam.stiffness", 2)
    assert scene.parameters["beam.stiffness"] == 2
    with pytest.raises(pl.InputError, match="beam.stiffness"):
        scene.set_parameter("beam.stifness", 2)


def test_recordings_are_arrays_and_replay(scene, tmp_path, tip):
    scene.grab("beam", tip, (0, 0, 0.1))
    with pytest.raises(pl.InputError, match="script of the scene"):
        scene.advance(0.2, record=tmp_path / "hanging.pliantrec")
    scene.reset()
    ticks = scene.advance(0.2, record=tmp_path / "hanging.pliantrec")
    recording = pl.load(tmp_path / "hanging.pliantrec")
    assert recording.is_complete and recording.duration == pytest.approx(0.2)
    samples = recording.samples()
    assert np.allclose(samples.time, ticks.time, atol=1e-12)
    # recordings keep single precision
    assert np.array_equal(samples.energy, np.float32(ticks.energy))
    times, states = recording.states("beam")
    assert states.shape[1] == scene.body("beam").state.size and len(times) == len(states) >= 10
    assert recording.check()[1] == 0
    recording.save_csv(tmp_path / "hanging.csv")
    assert (tmp_path / "hanging.csv").read_text().startswith("tick,")
    assert recording.save_frames(tmp_path / "frames", "obj", 10) >= 2
    del recording
    assert np.isfinite(samples.force).all()


@pytest.fixture
def held():
    """A ball in a hand, led onto a floor and turned."""
    return pl.scene({
        "pliant": 1, "gravity": [0, 0, 0], "bodies": [
            {"name": "ball", "rigid": {"sphere": {"radius": 0.02}, "motion": {"path": {"keyframes": [
                {"time": 0, "position": [0, 0, 0.022]},
                {"time": 0.2, "position": [0, 0, 0.016], "rotation": {"axis": [0, 0, 1], "degrees": 10}}]}}},
             "contact": {"pointshell": {"points": 200, "levels": 2, "resolution": 16}}},
            {"name": "floor", "rigid": {"ground": {}}}],
        "contacts": [{"shell": "ball", "field": "floor"}],
        "tool": {"body": "ball"}, "device": {"hand": "loose"}})


def test_recordings_hold_what_a_tool_did(held, tmp_path):
    made = held.advance(0.3, record=tmp_path / "hand.pliantrec")
    recording = pl.load(tmp_path / "hand.pliantrec")
    assert recording.loops == {"haptic": 1000} and recording.body_names == ["ball", "floor"]
    tool = recording.tool()
    assert np.allclose(tool["tool"], made.point) and np.allclose(tool["manipulandum"], made.hand)
    assert np.linalg.norm(tool["force"], axis=1) == pytest.approx(made.device_force, rel=1e-6)
    touching = tool["num_contacts"] > 0
    assert not touching[0] and touching[-1] and np.array_equal(touching, tool["depth"] > 0)
    with pytest.raises(pl.InputError, match=re.escape("loop = 1 (expected 0 … 0)")):
        recording.tool(1)


def test_samples_of_recordings_hold_what_the_device_showed(held, tmp_path):
    made = held.advance(0.3, record=tmp_path / "hand.pliantrec")
    samples = pl.load(tmp_path / "hand.pliantrec").samples()
    assert made.device_force.max() > 0 and made.port_energy.max() > 0 and made.stored_energy.max() > 0
    for name in ("tick", "device_force", "port_energy", "stored_energy"):
        assert np.array_equal(getattr(samples, name), getattr(made, name)), name
    assert samples.tick[0] == 1 and not samples.late_us.any()


def columns_of(recording):
    """Arrays by the names that a table has for them."""
    samples, tool = recording.samples(), recording.tool()
    columns = {"tick": samples.tick, "time_s": samples.time, "energy_J": np.float32(samples.energy),
               "work_us": samples.work_us, "late_us": samples.late_us}

    def put(name, unit, vectors):
        columns.update({f"{name}_{axis}{unit}": vectors[:, i] for i, axis in enumerate("xyz")})
    for name, unit in (("hand", "_m"), ("point", "_m"), ("force", "_N")):
        put(name, unit, np.float32(getattr(samples, name)))
    for name, key in (("handle", "device"), ("manipulandum", "manipulandum"), ("tool", "tool")):
        put(name, "_m", tool[key])
        rotation = tool[key + "_rotation"]
        columns[name + "_qw"] = rotation[:, 0]
        put(name + "_q", "", rotation[:, 1:])
    for name, key in (("device", ""), ("contact", "contact_"), ("coupling", "coupling_")):
        put(name + "_force", "_N", tool[key + "force"])
        put(name + "_torque", "_Nm", tool[key + "torque"])
    for name, key in (("depth_m", "depth"), ("max_depth_m", "max_depth"), ("worst_depth_m", "worst_depth"),
                      ("contacts", "num_contacts"), ("port_energy_J", "port_energy"),
                      ("stored_energy_J", "stored_energy"), ("oscillation_N", "oscillation")):
        columns[name] = tool[key]
    for name in ("violations", "gain_scale", "step_scale", "buttons", "device_status", "status"):
        columns[name] = tool[name]
    return columns


def test_every_column_of_a_table_is_an_array(held, tmp_path):
    held.advance(0.3, record=tmp_path / "hand.pliantrec")
    recording = pl.load(tmp_path / "hand.pliantrec")
    recording.save_csv(tmp_path / "hand.csv")
    names, *rows = csv.reader((tmp_path / "hand.csv").read_text().splitlines())
    table, arrays = dict(zip(names, zip(*rows))), columns_of(recording)
    # names of states in words
    for name, kind in (("device_status", pl.DeviceStatus), ("status", pl.StepStatus)):
        table[name] = [getattr(kind, text.title().replace(" ", "")).value for text in table[name]]
    assert set(table) == set(arrays) and len(rows) == 300
    for name, values in table.items():
        assert np.array_equal(np.array(values, dtype=arrays[name].dtype), arrays[name]), name
    # something happened in them
    for name in ("tool_q_z", "handle_q_z", "contact_force_z_N", "coupling_force_z_N", "worst_depth_m", "max_depth_m"):
        assert arrays[name].max() > 0, name


def test_recordings_hold_parameters_of_their_start(scene, tmp_path):
    scene.set_parameter("beam.stiffness", 2)
    scene.advance(0.01, record=tmp_path / "stiff.pliantrec")
    recording = pl.load(tmp_path / "stiff.pliantrec")
    assert recording.parameters == pytest.approx(scene.parameters) and recording.parameters["beam.stiffness"] == 2
    assert recording.commands() == []
    with pytest.raises(pl.InputError, match=re.escape("loop = 1 (expected 0 … 0)")):
        recording.commands(1)


def test_tools_in_hands_are_moved(held, tmp_path):
    held.advance(0.01, record=tmp_path / "hand.pliantrec")
    held.move_tool(((0.005, 0, 0.05), (1, 0, 0, 0)))
    held.advance(2.0)
    assert held.body("ball").pose.position == pytest.approx([0.005, 0, 0.05], abs=1e-4)
    played = held.with_device("recorded", recording=tmp_path / "hand.pliantrec")
    with pytest.raises(pl.InputError, match="the tool follows a recorded device"):
        played.move_tool((0, 0, 0))


def test_the_device_in_a_hand_is_limited(held, tmp_path):
    weak = held.with_device(max_force=0.05, max_torque=0)
    assert 0 < np.abs(weak.advance(0.5).device_force).max() <= 0.05 * (1 + 1e-6)
    assert held.with_device().advance(0.5).device_force.max() > 0.06
    with pytest.raises(pl.InputError, match="max_force = 0"):
        held.with_device(max_force=0)
    # no file says which code runs; a program may
    with pytest.raises(pl.InputError, match="no scene says which code runs"):
        pl.scene({"pliant": 1, "bodies": [], "device": {"library": "./evil.so"}})
    with pytest.raises(pl.InputError, match="not a simulated one"):
        held.with_device(library="libdhd.so")
    named = held.with_device("force-dimension", library=(tmp_path / "libdhd.so").as_posix())
    with pytest.raises(pl.InputError, match="no force-dimension device can take part"):
        named.advance(0.1)


def test_recordings_lead_other_runs(held, tmp_path):
    file = tmp_path / "hand.pliantrec"
    made = held.advance(0.3, record=file)
    assert np.abs(made.force[-1]).max() > 0
    played = held.with_device("recorded", recording=file).advance(0.3)
    assert np.array_equal(played.hand, made.hand) and np.array_equal(played.force, made.force)
    led = held.with_device(hand="firm", recording=str(file)).advance(0.3)
    assert not np.array_equal(led.hand, made.hand)
    assert np.allclose(led.hand, made.hand, atol=5e-3)
    with pytest.raises(pl.InputError, match="gone.pliantrec"):
        held.with_device("recorded", recording="gone.pliantrec").advance(0.1)


def test_scenes_are_loaded_from_files(scene, tmp_path):
    (tmp_path / "hanging.json").write_text(scene.text, encoding="utf-8")
    assert pl.load(tmp_path / "hanging.json").name == "hanging"
    for name, text in {"gone.json": None, "broken.json": "{"}.items():
        if text:
            (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(pl.InputError, match=name):
            pl.load(tmp_path / name)


def test_scene_errors_name_the_place():
    with pytest.raises(pl.InputError, match='bodies') as caught:
        pl.scene({"pliant": 1, "bodies": [{"name": "a", "rigid": {"spere": {"radius": 1}}}]})
    assert "sphere" in str(caught.value)
    with pytest.raises(pl.InputError, match="bridge"):
        pl.demo("brige")
    assert "bridge" in pl.demo_names()


def get(url):
    with urllib.request.urlopen(url, timeout=10) as reply:
        return reply.status, reply.read()


needs_page = pytest.mark.skipif(os.environ.get("PLIANT_PAGE") == "OFF", reason="built without the page")


@needs_page
def test_bodies_are_shown_on_a_page(beam, tip):
    beam.run(30, 1e-3, points=[tip], forces=np.full((30, 1, 3), 0.1))
    before = beam.state
    with pl.view_bodies([beam, pl.Sphere(0.01).body(pose=(0, 0, 0.1))]) as viewer:
        status, page = get(viewer.url)
        assert status == 200 and b"<html" in page.lower()
        assert "Hz" in viewer.status or viewer.status
    assert np.array_equal(beam.state, before)
    assert not viewer.is_open
    with pytest.raises(pl.InputError, match="closed"):
        viewer.url


@needs_page
def test_scenes_are_shown_until_ctrl_c(scene, capsys):
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    start = time.monotonic()
    viewer = scene.view(block=True, browser=False)
    assert time.monotonic() - start < 20
    assert not viewer.is_open and "http://127.0.0.1" in capsys.readouterr().out


@needs_page
def test_a_browser_is_started_without_the_token_in_its_words(scene, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with scene.view(block=False, browser=True) as viewer:
        parts = urllib.parse.urlsplit(opened[0])
        assert parts.scheme == "file" and not parts.query
        page = pathlib.Path(parts.path)
        assert viewer.url in page.read_text() and page.stat().st_mode & 0o777 == 0o600
        assert viewer.network_urls == []
    assert not page.exists()


@needs_page
def test_a_browser_that_does_not_come_is_said_without_blocking(scene, monkeypatch, capsys):
    monkeypatch.setattr(webbrowser, "open", lambda page: True)
    monkeypatch.setattr(_viewing, "_BROWSER_PATIENCE", 0.2)
    said = ""
    with scene.view(block=False, browser=True):
        end = time.monotonic() + 20
        while "did not come" not in said and time.monotonic() < end:
            time.sleep(0.05)
            said += capsys.readouterr().err
    assert said.count("The browser did not come; open the address above.") == 1
    scene.view(block=False, browser=True).close()
    time.sleep(0.5)
    assert capsys.readouterr().err == "", "nobody waits for a page that is closed"


@needs_page
def test_a_page_that_is_open_to_the_network_says_so(scene):
    with pl.view_scene(scene, address="0.0.0.0") as viewer:
        urls = viewer.network_urls
        assert not any("127.0.0.1" in url for url in urls) and all("?t=" in url for url in urls)
    with contextlib.nullcontext() if not urls else pytest.warns(UserWarning, match="open to other machines"):
        scene.view(block=False, browser=False, address="0.0.0.0").close()


@needs_page
def test_recordings_are_shown_on_a_page(scene, tmp_path):
    scene.advance(0.1, record=tmp_path / "hanging.pliantrec")
    recording = pl.load(tmp_path / "hanging.pliantrec")
    for viewer in (pl.view_recording(recording), recording.view(block=False, browser=False)):
        with viewer:
            assert get(viewer.url)[0] == 200
        assert not viewer.is_open


def socket_of(url):
    """Of a page, after its handshake."""
    parts = urllib.parse.urlsplit(url)
    page = socket.create_connection((parts.hostname, parts.port), timeout=10)
    page.sendall((f"GET /ws?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
    reply = b""
    while b"\r\n\r\n" not in reply:
        more = page.recv(4096)
        assert more, reply
        reply += more
    assert reply.startswith(b"HTTP/1.1 101")
    return page


def say(page, **message):
    text = json.dumps(message, separators=(",", ":")).encode()
    assert len(text) < 126  # longer ones have another head
    page.sendall(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text)  # masked by zeros


@needs_page
def test_recordings_hold_what_hands_did(scene, tmp_path):
    commands = []
    with pl.view_scene(scene, recordings=tmp_path) as viewer, socket_of(viewer.url) as page:
        say(page, type="record", on=True)
        say(page, type="grab", slot=1, body=0, triangle=3, barycentric=[0.5, 0.25, 0.25], target=[0, 0, 0.1])
        say(page, type="set", parameter="beam.stiffness", value=2)
        # the file grows once a second
        end = time.monotonic() + 30
        while len(commands) < 2 and time.monotonic() < end:
            time.sleep(0.05)
            for file in tmp_path.glob("*.pliantrec"):
                with contextlib.suppress(pl.InputError):
                    recording = pl.load(file)
                    commands = recording.commands()
    grab, change = commands[:2]
    assert (grab.kind, grab.slot, grab.body, grab.triangle, grab.vertex) == ("grab", 1, 0, 3, -1)
    assert np.allclose(grab.weights, (0.5, 0.25, 0.25)) and np.allclose(grab.target, (0, 0, 0.1))
    assert grab.parameter == "" and np.array_equal(grab.rotation, (1, 0, 0, 0)) and grab.time == grab.tick / 1000
    assert (change.kind, change.parameter, change.value) == ("set_parameter", "beam.stiffness", 2)
    assert change.tick >= grab.tick and recording.parameters["beam.stiffness"] == 1


def test_a_recording_that_does_not_fit_is_said(scene, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))  # as on a full disk
    try:
        with pytest.raises(pl.InputError, match="writing failed: .*what was recorded before stays readable"):
            scene.advance(20, record=tmp_path / "cut.pliantrec")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    recording = pl.load(tmp_path / "cut.pliantrec")
    assert not recording.is_complete and recording.duration > 0.1


@needs_page
def test_a_recording_of_the_page_that_is_lost_is_said(scene, tmp_path):
    viewer = pl.view_scene(scene, recordings=tmp_path)
    with socket_of(viewer.url) as page:
        say(page, type="record", on=True)
        end = time.monotonic() + 30
        while not (files := list(tmp_path.glob("*.pliantrec"))) and time.monotonic() < end:
            time.sleep(0.05)
        files[0].unlink()
        with pytest.raises(pl.InputError, match="the file was removed while it was being recorded"):
            viewer.close()
    assert not viewer.is_open
    viewer.close()


@needs_page
def test_bodies_of_scenes_are_not_copied(scene):
    with pytest.raises(pl.InputError, match="view the scene instead"):
        pl.view_bodies([scene.body("beam")])


def test_the_program_runs():
    assert pl.__version__ in pl.program("--version", capture=True)
    with pytest.raises(pl.InputError, match="module"):
        pl.reproduce("nothing", "nothing.html")


def test_all_experiments_have_an_index(tmp_path, capsys):
    folder = pl.reproduce("all", tmp_path / "pages", only="fem/compression", quick=True)
    # an hour without a word would look like a hang
    assert "compression" in capsys.readouterr().err
    assert "fem.html#compression" in (folder / "index.html").read_text()
    with pytest.raises(pl.InputError, match="did you mean fem/compression"):
        pl.reproduce("all", folder, only="fem/compresion")
