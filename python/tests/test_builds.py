"""Builds: every option of the command line, and what it does to the result."""

import re

import numpy as np
import pytest

import pliant as pl

BLOCK = pl.Box((0.2, 0.04, 0.04)).surface


@pytest.fixture(scope="module")
def nodule():
    return pl.make_semi_regular("nodule", 2)


def build_greens(surface, **options):
    return pl.build_greens(surface, **{"fixed": "z < 20 %", "size": 0.1, "material": pl.Material(1e5, 0.3, 1000),
                                       "cache": None, **options})


def test_iterative_solutions_are_as_near_as_their_residual(nodule):
    exact = build_greens(nodule, solver="direct")
    top = int(np.argmax(exact.nodes[:, 2]))
    column = exact.column(top)

    def error(residual):
        found = build_greens(nodule, solver="iterative", residual=residual).column(top)
        return np.abs(found - column).max() / np.abs(column).max()
    fine, coarse = error(1e-6), error(0.1)
    assert fine < 1e-3 and coarse > 10 * fine


def test_wavelet_matrices_are_as_near_as_their_tolerance(nodule):
    exact = build_greens(nodule, solver="direct")
    top = int(np.argmax(exact.nodes[:, 2]))
    column = exact.column(top)

    def error(tolerance):
        found = build_greens(nodule, solver="iterative", residual=1e-5, matrix="wavelet",
                             matrix_tolerance=tolerance).column(top)
        return np.abs(found - column).max() / np.abs(column).max()
    fine, coarse = error(1e-6), error(0.1)
    assert fine < 1e-3 and coarse > 10 * fine
    with pytest.raises(pl.InputError, match="matrix = sparse .expected hierarchical or wavelet"):
        build_greens(nodule, matrix="sparse")


def test_builds_refuse_what_does_not_fit_into_memory(nodule):
    with pytest.raises(pl.InputError, match="130 nodes .* may be used"):
        build_greens(nodule, solver="direct", memory=1e5)


def test_options_that_nothing_would_read_are_refused(nodule):
    def says(text, surface=nodule, **options):
        with pytest.raises(pl.InputError, match=re.escape(text)):
            build_greens(surface, **options)
    says("finest_level goes with coarsest_level", finest_level=1)
    says("matrix = wavelet (expected solver iterative or auto beside it", solver="direct", matrix="wavelet")
    says("matrix_tolerance = 0.01 (expected boundary elements", method="finite", matrix_tolerance=0.01)
    says("resolution = 8 (expected finite elements", resolution=8)
    box = pl.tet_box((2, 2, 2), (0, 0, 0), (0.1, 0.1, 0.1))
    says("size = 0.1 (expected a surface; a volume mesh is taken as it is", box)
    # its method is known: regions need no word for it
    says("readouts lie outside the finite elements", box, size=0, regions=[("x > 50 %", "steel")],
         readouts=[("stress", (1, 1, 1))])


def test_elements_creases_and_readouts(nodule):
    constant = build_greens(nodule, elements="constant")
    assert constant.num_nodes == nodule.mesh.num_triangles
    plain = build_greens(BLOCK, fixed="x < 5 %", size=0)
    creased = build_greens(BLOCK, fixed="x < 5 %", size=0, crease_angle=1.0)
    assert creased.num_nodes > plain.num_nodes
    inside = [("displacement", (0, 0, 0.0)), ("stress", (0.01, 0, 0.0))]
    model = build_greens(nodule, readouts=inside)
    assert [kind for kind, _ in model.readouts] == ["displacement", "stress"]
    assert np.allclose(model.readouts[1][1], (0.01, 0, 0))
    top = int(np.argmax(model.nodes[:, 2]))
    rows = model.readout_column(top)
    # the inside follows less than the node itself
    assert rows.shape == (9, 3) and 0 < rows[2, 2] < model.column(top)[top, 2, 2]
    with pytest.raises(pl.InputError, match=re.escape('readouts = "strain" (expected displacement or stress)')):
        build_greens(nodule, readouts=[("strain", (0, 0, 0))])


def test_compression_has_a_kind_bits_and_a_base(nodule):
    sizes = {}
    for name, options in {"32": {}, "16": {"bits": 16}, "base": {"base_threshold": True}}.items():
        model = build_greens(nodule, wavelet="butterfly", wavelet_tolerance=0.1, **options)
        assert model.compression["kind"] == "butterfly" and model.compression["tolerance"] == 0.1
        sizes[name] = model.compression["bytes"]
    assert sizes["16"] < 0.8 * sizes["32"] and sizes["base"] < sizes["32"]
    assert build_greens(nodule, wavelet="linear").compression["tolerance"] == 0.05
    assert build_greens(nodule, wavelet_tolerance=0.2).compression["kind"] == "lifted-linear"
    assert build_greens(nodule).compression is None
    with pytest.raises(pl.InputError, match='add wavelet="lifted-linear"'):
        build_greens(nodule, bits=16)


def test_finite_elements_have_regions():
    options = {"fixed": "x < 5 %", "size": 0, "method": "finite", "mesh": "tet", "resolution": 10}
    steel = pl.Material(1e7, 0.3, 1000)
    soft, stiff = (build_greens(BLOCK, **options, regions=regions) for regions in (None, [("x > 50 %", steel)]))
    end = int(np.argmax(soft.nodes[:, 0]))
    # metres per pascal
    moved = [np.abs(model.column(end)[end]).max() * model.length / model.modulus for model in (soft, stiff)]
    assert moved[1] < 0.9 * moved[0]


def test_particles_have_radii_sheets_and_layouts(tmp_path):
    balls = pl.build_particles(pl.Sphere(0.05).surface, count=30, radius=0.004)
    assert np.allclose(balls.layout.radii, 0.004) and balls.num_particles == 30
    vertices = [[0.05 * i, 0.05 * j, 0] for i in range(4) for j in range(4)]
    corners = [(4 * i + j, 4 * i + j + 4, 4 * i + j + 1) for i in range(3) for j in range(3)]
    corners += [(4 * i + j + 4, 4 * i + j + 5, 4 * i + j + 1) for i in range(3) for j in range(3)]
    cloth = pl.build_particles(pl.SurfaceMesh(vertices, corners), sheet=True, mass=0.08, radius=0.006)
    assert cloth.layout.is_cloth and cloth.num_particles == 16 and cloth.mass == pytest.approx(0.08)
    assert np.allclose(cloth.layout.radii, 0.006)
    balls.layout.save(tmp_path / "balls.json")
    # which is no scene
    for layout in (tmp_path / "balls.json", pl.load(tmp_path / "balls.json"), balls.layout):
        again = pl.build_particles(pl.Sphere(0.05).surface, layout=layout)
        assert np.allclose(again.centres, balls.centres)
        assert np.array_equal(again.layout.links, balls.layout.links)
    with pytest.raises(pl.InputError, match=re.escape("layout = 3 (expected None, a ParticleLayout or a .json file)")):
        pl.build_particles(pl.Sphere(0.05).surface, layout=3)
    with pytest.raises(pl.InputError, match="missing.json"):
        pl.build_particles(pl.Sphere(0.05).surface, layout="missing.json")


def test_reduced_models_have_graded_meshes_and_short_numbers(tmp_path, beam_model):
    options = {"fixed": "x < 5 %", "num_modes": 3, "rank": 4, "cache": None}
    cube = pl.Box((0.1, 0.1, 0.1)).surface
    counts = [pl.build_reduced(cube, mesh="graded", resolution=16, growth=growth, **options).mesh.num_elements
              for growth in (0.5, 2.0)]
    assert counts[1] < 0.9 * counts[0]
    with pytest.raises(pl.InputError, match="levels = 20"):
        pl.build_reduced(cube, mesh="graded", resolution=16, levels=20, **options)
    sizes = []
    for storage in ("float32", "int16"):
        model = pl.build_reduced(pl.Sphere(0.05).surface, resolution=10, storage=storage, **options)
        model.save(tmp_path / "model.pliant")
        sizes.append((tmp_path / "model.pliant").stat().st_size)
    assert sizes[1] < sizes[0]
    assert beam_model.truncated(3).rank == 3
    assert np.array_equal(beam_model.truncated(3).basis, beam_model.basis[:, :3])


def bent(fem, load):
    return fem.solve_static(fixed="x < 5 %", load=load)["u"]


def reached(model, u):
    """Part of a shape that the subspace does not hold."""
    shape = u.ravel()
    rest = shape - model.basis @ np.linalg.lstsq(model.basis, shape, rcond=None)[0]
    return np.linalg.norm(rest) / np.linalg.norm(shape)


def test_snapshots_make_a_basis_that_holds_them(beam_model):
    fem = pl.build_fem(beam_model.mesh, material="rubber")
    tips = fem.traction_load("x > 99 %", (0, 0, -2000.0)), fem.traction_load("x > 99 %", (0, 2000.0, 500.0))
    shapes = np.array([bent(fem, part * tip) for tip in tips for part in (0.5, 1.0)])
    model = beam_model.with_snapshots(shapes, rank=4)
    assert model.rank == 4 and all(reached(model, u) < 1e-6 for u in shapes)
    assert max(reached(beam_model.truncated(4), u) for u in shapes) > 1e-3
    body = model.body()
    assert body.step(1e-3) is pl.StepStatus.Ok
    with pytest.raises(pl.InputError, match=re.escape("shapes = float64 array of shape (2, 3) (expected numbers of shape (n, ")):
        beam_model.with_snapshots(np.zeros((2, 3)), rank=1)


def test_snapshots_are_checked(beam_model):
    num, held = beam_model.mesh.num_vertices, beam_model.fixed_vertices
    generator = np.random.default_rng(3)
    shapes = 0.01 * generator.standard_normal((4, num, 3))
    shapes[:, held] = 0
    rank = {"rank": 2}

    def changed(place, value):
        other = shapes.copy()
        other[place] = value
        return other
    for wrong, options, message in [
        (shapes[:0], rank, f"shapes = float64 array of shape (0, {num}, 3) (expected one shape or more)"),
        (shapes[:, 1:], rank, f"shapes = float64 array of shape (4, {num - 1}, 3) (expected numbers of shape (n, {num}, 3))"),
        (changed((2, 5), np.nan), rank, "shapes[2] = not finite (expected finite displacements"),
        (changed((3, held[-1], 1), 0.25), rank, f"shapes[3][{held[-1]}] = 0.25 (expected 0 m: it is one of fixed_vertices"),
        (0 * shapes, rank, "shapes = at rest but for rigid motion (expected one or more that deform"),
        (0 * shapes, {"rank": 1, "distance": 0.1}, "shapes = at rest"),
        (shapes, {"rank": 0}, "rank = 0 (expected 1 to 4, the number of shapes, and 1024 at most)"),
        (shapes, {"rank": 5}, "rank = 5 (expected 1 to 4, the number of shapes"),
        (shapes[[0, 1, 0, 1]], {"rank": 3}, "rank = 3 (expected 1 to 2, the shapes that are independent"),
        (shapes[[0, 0, 0, 1]], {"rank": 3, "distance": 0.1}, "rank = 3 (expected 1 to 2, the shapes that differ by distance"),
    ]:
        with pytest.raises(pl.InputError, match="^" + re.escape(message)):
            beam_model.with_snapshots(wrong, **options)
    # what solvers leave where a body is held is no motion
    assert beam_model.with_snapshots(changed((slice(None), held), 1e-13), rank=2).rank == 2


def test_sketched_loads_make_a_basis_that_follows_them(beam_model, tip):
    told = []
    model = beam_model.with_loads([[(tip, (0, 0, -3.0))], [(tip, (0, 0.5, 1.0)), ((0, (1, 0, 0)), (0, 0, 0.1))]], rank=8,
                                  progress=lambda stage, *_: told.append(stage))
    assert model.rank == 8 and told
    assert model.expected_reach >= beam_model.expected_reach
    fem = pl.build_fem(beam_model.mesh, material=pl.Material.preset("rubber", "neo-hookean"))
    pulled = bent(fem, fem.traction_load("x > 99 %", (0, 0, -1000.0)))
    assert reached(model, pulled) < reached(beam_model, pulled)
    with pytest.raises(pl.InputError, match="vertex = 1000000"):
        beam_model.with_loads([[(1000000, (0, 0, 1))]])
