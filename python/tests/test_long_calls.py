"""Builds: progress, Ctrl-C, other threads meanwhile, and errors with the words of the library."""

import os
import re
import signal
import subprocess
import threading
import time

import pytest

import pliant as pl


def build(progress=None, **options):
    options = {"fixed": "x < 5 %", "resolution": 8, "num_modes": 3, "rank": 4, "cache": None, **options}
    return pl.build_reduced(pl.Box((0.2, 0.04, 0.04)).surface, **options, progress=progress)


def test_progress_names_the_stages():
    told = []
    build(lambda stage, fraction, seconds: told.append((stage, fraction, seconds)))
    assert len({stage for stage, _, _ in told}) >= 3
    assert all(0 <= fraction <= 1 for _, fraction, _ in told)
    assert told[-1][1] == 1


@pytest.mark.parametrize("bar", [True, pl.show_progress()])
def test_progress_bar_goes_to_python(capsys, bar):
    build(bar)
    assert "100 %" in capsys.readouterr().err


def test_progress_is_a_bar_nothing_or_a_function(capsys):
    build(False)
    assert capsys.readouterr().err == ""
    with pytest.raises(pl.InputError, match=re.escape("progress = yes (expected None, True for a bar, or a function of")):
        build("yes")


BALL = pl.Sphere(0.05).surface
# small ones, for what they tell, and large ones that would take seconds to minutes
BUILDS = {
    "reduced": (build, {}, {"resolution": 60, "num_modes": 40, "rank": 200}),
    "greens": (lambda **o: pl.build_greens(pl.make_semi_regular("nodule", o.pop("levels")), fixed="z < 20 %", size=0.1,
                                           cache=None, **o), {"levels": 1}, {"levels": 4}),
    "greens of finite elements": (lambda **o: pl.build_greens(BALL, fixed="z < 20 %", method="finite", cache=None, **o),
                                  {"resolution": 6}, {"resolution": 24}),
    "fem": (lambda **o: pl.build_fem(BALL, mesh="tet", **o), {"resolution": 8}, {"resolution": 120}),
    "particles": (lambda **o: pl.build_particles(BALL, **o), {"count": 20}, None),
    "field": (lambda **o: pl.build_field(BALL, **o), {"resolution": 32}, {"resolution": 512, "storage": "dense"}),
    "pointshell": (lambda **o: pl.build_pointshell(BALL, **o), {"points": 200, "levels": 2, "resolution": 32},
                   {"points": 200_000, "resolution": 512}),
    "mesh": (lambda **o: pl.build_mesh(BALL, kind="tet", **o), {"resolution": 8}, {"resolution": 120}),
    "remesh": (lambda **o: pl.remesh("heart", **o), {"base_vertices": 40, "levels": 1}, None),
    "spheres": (lambda **o: pl.place_spheres("heart", **o), {"count": 5}, None),
    "zwidth": (lambda **o: pl.zwidth_map(**o), {"stiffnesses": [500], "dampings": [1], "duration": 0.2},
               {"duration": 60}),
}


@pytest.mark.parametrize("name", BUILDS)
def test_every_build_tells_its_progress_and_can_be_cancelled(name):
    make, small, _ = BUILDS[name]
    told = []
    make(**small, progress=lambda *what: told.append(what))
    assert told and all(stage and 0 <= fraction <= 1 for stage, fraction, _ in told)
    with pytest.raises(pl.Cancelled):
        make(**small, progress=lambda *_: False)


@pytest.mark.parametrize("name", [name for name, (_, _, large) in BUILDS.items() if large])
def test_an_interrupt_ends_every_build_soon(name):
    make, _, large = BUILDS[name]
    told = []
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        make(**large, progress=lambda *what: told.append(what))
    timer.join()
    assert time.monotonic() - start < 20
    assert told, "the interrupt came before it began"


def test_what_the_callback_throws_comes_through():
    def fail(*_):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        build(fail)


def test_interrupt_ends_many_steps(beam):
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        beam.run(1_000_000_000, 1e-3)
    timer.join()


SPHERES = pl.place_spheres(BALL, count=1)
# one call each: between two of them others would have their turn anyway
LONG_CALLS = {
    "make_shape": lambda _: pl.make_shape("heart"),
    "build_reduced": lambda _: build(resolution=24),
    "sphere_coverage": lambda _: pl.sphere_coverage(SPHERES, "heart"),
    "_bare_steps": lambda beam: beam._bare_steps(200_000, 1e-3),
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_other_threads_run_meanwhile(name, beam):
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.wait(0.001):
            ticks.append(1)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        LONG_CALLS[name](beam)
    finally:
        stop.set()
        thread.join()
    assert len(ticks) > 5


def test_errors_have_text_and_fields():
    with pytest.raises(pl.InputError) as caught:
        pl.Material(1e5, 0.62, 1000)
    error = caught.value
    assert "0.62" in str(error) and error.value == "0.62" and "0.5" in error.expected
    with pytest.raises(pl.InputError, match="missing.obj"):
        pl.load_surface("missing.obj")
    with pytest.raises(pl.InputError, match='did you mean "heart"|heart'):
        pl.make_shape("haert")
    with pytest.raises(pl.InputError, match="selects no vertex"):
        build(fixed="z < -3")


BAD_FILES = {
    "bad.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", pl.load_surface, ["inspect"]),
    "bad.pliant": ("no archive at all", pl.load, ["inspect"]),
    "bad.json": ('{"pliant": 1, "bodis": []}', pl.load_scene, ["run", "--headless", "--duration", "0.1"]),
    "bad.pliantrec": ("no recording", pl.Recording.load, ["replay", "--check"]),
}


@pytest.mark.skipif("PLIANT_PROGRAM" not in os.environ, reason="needs the program")
@pytest.mark.parametrize("name", BAD_FILES)
def test_errors_are_those_of_the_program(name, tmp_path):
    text, load, command = BAD_FILES[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(pl.InputError) as caught:
        load(path)
    said = subprocess.run([os.environ["PLIANT_PROGRAM"], command[0], path, *command[1:]], text=True, check=False,
                          capture_output=True).stderr
    assert said.splitlines()[0] == f"error: {caught.value}"
