"""Scenes in virtual time and in the viewer, recordings as arrays, and the program."""

import os
import signal
import threading
import time
import urllib.request

import numpy as np
import pytest

import pliant as pl

@pytest.fixture(scope="module")
def beam_file(tmp_path_factory, beam_model):
    path = tmp_path_factory.mktemp("models") / "beam.pliant"
    beam_model.save(path)
    return path


@pytest.fixture
def scene(beam_file):
    return pl.scene({"pliant": 1, "name": "hanging", "gravity": [0, 0, -9.81],
                     "bodies": [{"name": "beam", "model": str(beam_file)}]})


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


def test_recordings_lead_other_runs(tmp_path):
    held = pl.scene({
        "pliant": 1, "gravity": [0, 0, 0], "bodies": [
            {"name": "ball", "rigid": {"sphere": {"radius": 0.02}, "motion": {"path": {"keyframes": [
                {"time": 0, "position": [0, 0, 0.022]}, {"time": 0.2, "position": [0, 0, 0.016]}]}}},
             "contact": {"pointshell": {"points": 200, "levels": 2, "resolution": 16}}},
            {"name": "floor", "rigid": {"ground": {}}}],
        "contacts": [{"shell": "ball", "field": "floor"}],
        "tool": {"body": "ball"}, "device": {"hand": "loose"}})
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
