"""Builds: progress, Ctrl-C, other threads meanwhile, and errors with the words of the library."""

import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
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
FILES = tempfile.TemporaryDirectory()


def file(name):
    return pathlib.Path(FILES.name) / name


# what calls begin with, made once
@functools.cache
def levels():
    return pl.make_semi_regular("nodule", 2)


@functools.cache
def greens():
    return pl.build_greens(levels(), fixed="z < 20 %", size=0.1, cache=None)


@functools.cache
def measurement():
    return pl.probe_model(greens())


@functools.cache
def reduced():
    return build()


@functools.cache
def shapes():
    """Two, as of a beam that is bent."""
    mesh = reduced().mesh
    bent = (mesh.vertices[:, 0] - mesh.bounds[0, 0]) ** 2
    bent[reduced().fixed_vertices] = 0
    return np.array([np.outer(bent, axis) for axis in np.eye(3)[1:]])


def statics(cells, **options):
    fem = pl.build_fem(pl.hex_box((cells, cells, cells), (0, 0, 0), (0.1, 0.1, 0.1)))
    return fem.solve_static(fixed="x < 1 %", load=fem.gravity_load((0, 0, -9.81)), **options)


def fem_zone(cells, **options):
    fem = pl.build_fem(pl.tet_box((cells, cells, cells), (0, 0, 0), (0.1, 0.1, 0.1)))
    return functools.partial(pl.FemZone, fem, fem.mesh.select("x < 1 %"), **options)


@functools.cache
def recording():
    ball = pl.scene({"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 0.1}, "density": 1000}}]})
    ball.advance(0.2, record=file("ball.pliantrec"))
    return pl.load(file("ball.pliantrec"))


def build_scene(**options):
    pl.scene({"pliant": 1, "bodies": [{"name": "floor", "rigid": {"ground": {}}}]}).build(**options)


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
    "measured": (lambda **o: pl.build_measured(levels(), measurement(), fixed="z < 20 %", size=0.1, **o), {}, None),
    "compressed": (lambda **o: greens().compressed(**o), {}, None),
    "coarser levels": (lambda **o: greens().with_coarser_levels(0, **o), {}, None),
    "snapshots": (lambda **o: reduced().with_snapshots(shapes(), rank=2, **o), {}, None),
    "loads": (lambda **o: reduced().with_loads([[(reduced().surface.topmost(), (0, 0, -3.0))]], **o), {}, None),
    "statics": (statics, {"cells": 3}, {"cells": 16, "load_steps": 20}),
    "linear statics": (functools.partial(statics, linear=True), {"cells": 3}, None),
    "deformed field": (lambda **o: pl.DeformedField(reduced(), **o), {"resolution": 16, "proxies": 8},
                       {"resolution": 512}),
    "iso-surface": (lambda **o: pl.sphere_field(0.05).iso_surface(**o), {"resolution": 16}, None),
    "fem of a volume mesh": (lambda **o: pl.build_fem(pl.hex_box((2, 2, 2), (0, 0, 0), (1, 1, 1)), **o), {}, None),
    "fem zone": (lambda **o: fem_zone(2, **o)(), {}, None),
    "solid": (lambda **o: pl.MeshSolid(BALL, **o), {}, None),
    "scene": (build_scene, {}, None),
    "frames": (lambda **o: recording().save_frames(file("frames"), **o), {}, {"frames_per_second": 1e6}),
    "check": (lambda **o: recording().check(**o), {}, None),
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


@functools.cache
def large_surface():
    return pl.make_semi_regular("nodule", 7).mesh


@functools.cache
def large_volume():
    return pl.tet_box((40, 40, 40), (0, 0, 0), (0.1, 0.1, 0.1))


def large_fem(cells):
    return pl.build_fem(pl.hex_box((cells, cells, cells), (0, 0, 0), (0.1, 0.1, 0.1)))


def places(count):
    return np.random.default_rng(1).uniform(0, 0.1, size=(count, 3))


@functools.cache
def large_layout():
    """A chain of particles, in a file."""
    count = 60_000
    particles = [{"position": [0.01 * i, 0, 0], "radius": 0.01, "mass": 1, "stiffness": 0.5} for i in range(count)]
    file("chain.json").write_text(json.dumps({"format": "pliant-particles-1", "particles": particles,
                                              "links": [[i, i + 1] for i in range(count - 1)]}))
    return file("chain.json")


@functools.cache
def large_files():
    """Of one surface: as it is, and carried by particles."""
    surface = large_surface()
    surface.save(file("large.obj"))
    model = pl.build_particles(surface, count=20)
    model.save(file("large.pliant"))
    return model


def load_surface():
    large_files()
    return functools.partial(pl.load_surface, file("large.obj"))


def load_model():
    large_files()
    return functools.partial(pl.ParticleModel.load, file("large.pliant"))


def point_tree():
    shell = pl.build_pointshell(reduced().surface, points=20_000, levels=3, resolution=64)
    return functools.partial(pl.PointTree, shell, reduced())


# each makes ready, and gives one call: between two of them others would have their turn anyway
LONG_CALLS = {
    "make_shape": lambda: functools.partial(pl.make_shape, "heart"),
    "make_semi_regular": lambda: functools.partial(pl.make_semi_regular, "nodule", 7),
    "build_reduced": lambda: functools.partial(build, resolution=24),
    "sphere_coverage": lambda: functools.partial(pl.sphere_coverage, pl.place_spheres(BALL, count=1), "heart"),
    "FemZone": lambda: fem_zone(8),
    "MeshSolid": lambda: functools.partial(pl.MeshSolid, "heart"),
    "PointTree": point_tree,
    "ParticleModel.save": lambda: functools.partial(large_files().save, file("again.pliant")),
    "ParticleModel.load": load_model,
    "load_surface": load_surface,
    "SurfaceQuery": lambda: functools.partial(pl.SurfaceQuery, large_surface()),
    "SurfaceMesh.check": lambda: large_surface().check,
    "SurfaceMesh.repaired": lambda: large_surface().repaired,
    "SurfaceMesh.save": lambda: functools.partial(large_surface().save, file("again.obj")),
    "VolumeMesh.check": lambda: large_volume().check,
    "VolumeMesh.save": lambda: functools.partial(large_volume().save, file("again.msh")),
    "Embedding": lambda: functools.partial(pl.Embedding, large_volume(), places(200_000)),
    "FemModel.energy": lambda: functools.partial(large_fem(64).energy, None),
    "FemModel.tangent": lambda: large_fem(24).tangent,
    "FemModel.body": lambda: large_fem(32).body,
    "Solid.gap": lambda: functools.partial(pl.MeshSolid("heart").gap, places(50_000)),
    "ParticleLayout.load": lambda: functools.partial(pl.ParticleLayout.load, large_layout()),
    "ParticleLayout.save": lambda: functools.partial(pl.ParticleLayout.load(large_layout()).save, file("again.json")),
    "_bare_steps": lambda: functools.partial(reduced().body()._bare_steps, 200_000, 1e-3),
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_other_threads_run_meanwhile(name):
    call, turns, stop = LONG_CALLS[name](), [0], False

    def take_turns():
        while not stop:
            turns[0] += 1
            time.sleep(0)  # gives the lock away
    thread = threading.Thread(target=take_turns)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(60)  # nobody loses the lock who does not give it away
    thread.start()
    try:
        before = turns[0]
        end = time.monotonic() + 30
        # a short call on a busy machine may be over before the other thread is woken
        while turns[0] == before and time.monotonic() < end:
            call()
        taken = turns[0] - before
    finally:
        stop = True
        thread.join()
        sys.setswitchinterval(usual)
    assert taken > 0


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
