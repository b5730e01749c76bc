"""Green's functions that were measured, and those of several levels."""

import re

import numpy as np
import pytest

import pliant as pl


@pytest.fixture(scope="module")
def levels():
    return pl.make_semi_regular("nodule", 2)


@pytest.fixture(scope="module")
def model(levels):
    return pl.build_greens(levels, fixed="z < 20 %", size=0.1, material=pl.Material(1e5, 0.3, 1000), cache=None)


def pressed(model, force=(0, 0, -0.5), **options):
    """A body after a press on its top, and how far that went."""
    body = model.body(**options)
    top = body.surface.topmost()
    before = np.array(body.position(top))
    body.forces_at([top])[0] = force
    body.run(600, 1e-3)
    return body, np.array(body.position(top)) - before


def test_columns_are_what_a_traction_does(model):
    top = int(np.argmax(model.nodes[:, 2]))
    column = model.column(top)
    assert column.shape == (model.num_nodes, 3, 3) and column.dtype == np.float32
    assert model.is_fixed.sum() == model.num_fixed and not model.is_fixed[top]
    # reciprocity between free nodes: area times displacement per traction
    other = int(np.argmax(np.where(model.is_fixed, -1, model.nodes[:, 0])))
    a, b = model.areas[other] * column[other], model.areas[top] * model.column(other)[top].T
    assert np.allclose(a, b, rtol=0.1, atol=0.05 * np.abs(a).max())
    assert not model.nodes.flags.writeable and not model.areas.flags.writeable
    with pytest.raises(pl.InputError, match=re.escape("column = 100000 (expected a node or function with a column)")):
        model.column(100000)


def test_probes_find_the_model_again(model, levels, tmp_path):
    measurement = pl.probe_model(model)
    assert measurement.num_vertices == model.surface.num_vertices and len(measurement) > 20
    probe = measurement.probe(0)
    assert probe["displacements"].shape == (measurement.num_vertices, 3)
    measurement.save(tmp_path / "probes.txt")
    again = pl.GreensMeasurement.load(tmp_path / "probes.txt")
    assert len(again) == len(measurement)
    assert np.allclose(again.probe(3)["displacements"], measurement.probe(3)["displacements"], atol=1e-9, equal_nan=True)
    measured, report = pl.build_measured(levels, again, fixed="z < 20 %", size=0.1)
    assert measured.method == "measurement" and report.num_inferred > 0
    assert report.youngs_modulus == pytest.approx(1e5, rel=0.5)
    # tips push with the function of a coarser level: so does the press here
    _, exact = pressed(model, mask_radius=0.03)
    _, found = pressed(measured, mask_radius=0.03)
    assert found[2] == pytest.approx(exact[2], rel=0.15)


def test_probes_may_be_given_as_arrays(model, levels):
    truth = pl.probe_model(model)
    own = pl.GreensMeasurement(truth.num_vertices)
    for i in range(len(truth)):
        probe = truth.probe(i)
        own.add_probe(probe["vertex"], probe["force"], probe["displacements"])
    a, _ = pl.build_measured(levels, truth, fixed="z < 20 %", size=0.1)
    b, _ = pl.build_measured(levels, own, fixed="z < 20 %", size=0.1)
    top = int(np.argmax(a.nodes[:, 2]))
    assert np.array_equal(a.column(top), b.column(top))
    with pytest.raises(pl.InputError, match=re.escape(
            f"displacements = float64 array of shape (2, 3) (expected numbers of shape ({own.num_vertices}, 3))")):
        own.add_probe(0, (0, 0, 1), np.zeros((2, 3)))
    with pytest.raises(pl.InputError, match="vertex = -1"):
        own.add_probe(-1, (0, 0, 1), np.zeros((own.num_vertices, 3)))
    with pytest.raises(IndexError):
        own.probe(len(own))


def test_noise_is_told_and_too_much_of_it_refused(model, levels):
    noisy = pl.probe_model(model, noise=2e-5)
    _, report = pl.build_measured(levels, noisy, fixed="z < 20 %", size=0.1)
    assert report.noise == pytest.approx(2e-5, rel=0.3)
    assert len(report.errors) == len(report.vertices) and (report.errors > 0).all()
    with pytest.raises(pl.InputError):
        pl.build_measured(levels, pl.probe_model(model, noise=5e-3), fixed="z < 20 %", size=0.1)


def test_wavelets_compress_within_their_tolerance(model):
    assert model.compression is None
    small = model.compressed(0.1)
    told = small.compression
    assert told["compression"] > 1.5 and told["max"] <= 0.2 and told["kind"] == "lifted-linear"
    _, exact = pressed(model)
    _, found = pressed(small)
    assert found == pytest.approx(exact, rel=0.15, abs=0.1 * np.linalg.norm(exact))
    with pytest.raises(pl.InputError, match="compressed already"):
        small.compressed()
    with pytest.raises(pl.InputError, match="lifted-butterfly"):
        model.compressed(kind="haar")


def test_bodies_are_touched_on_coarser_levels(model):
    coarse = model.with_coarser_levels(0)
    assert coarse.num_levels == 2
    body, on_coarse = pressed(coarse, constraint_level=0)
    assert body.constraint_level == 0
    _, on_nodes = pressed(coarse)
    # the same force over a larger piece of the surface makes a shallower dent
    assert on_nodes[2] < on_coarse[2] < 0
    built = pl.build_greens(pl.make_semi_regular("nodule", 2), fixed="z < 20 %", size=0.1,
                            material=pl.Material(1e5, 0.3, 1000), coarsest_level=0, cache=None)
    _, directly = pressed(built, constraint_level=0)
    assert directly == pytest.approx(on_coarse, rel=0.05, abs=1e-6)
    with pytest.raises(pl.InputError, match="constraint level"):
        model.with_coarser_levels(2)


def test_adaptive_surfaces_are_fine_where_the_shape_is(model):
    small = model.compressed(0.02)
    display = pl.AdaptiveDisplay(small)
    body, _ = pressed(small, force=(0, 0, -2.0))
    everything = display.surface(body, 0)
    assert np.array_equal(display.vertices, np.arange(model.surface.num_vertices))
    assert np.allclose(everything.vertices, body.positions, atol=2e-5)
    some = display.surface(body, 1e-2)
    assert some.num_vertices < everything.num_vertices
    assert some.check().is_closed
    with pytest.raises(pl.InputError, match="wavelet"):
        pl.AdaptiveDisplay(model)
    with pytest.raises(pl.InputError, match="another model"):
        display.surface(model.body(), 0)
