"""Meshes, meshing and fields against what is known of simple solids."""

import re

import numpy as np
import pytest

import pliant as pl


@pytest.fixture(scope="module")
def box():
    return pl.Box((0.2, 0.1, 0.1)).surface


def test_surface_knows_its_measures(box):
    assert box.volume == pytest.approx(0.002)
    assert box.area == pytest.approx(2 * (0.02 + 0.02 + 0.01))
    assert np.allclose(box.bounds, [[-0.1, -0.05, -0.05], [0.1, 0.05, 0.05]])
    assert box.check().is_closed
    assert box.scaled(1.0).volume == pytest.approx(0.25)
    assert box.vertices[box.topmost(), 2] == pytest.approx(0.05)
    assert len(box.select("x > 50 %")) > 0


def test_repair_says_what_it_did(box):
    doubled = pl.SurfaceMesh(box.vertices, np.vstack([box.triangles, box.triangles[:1]]))
    assert not doubled.check().is_clean
    repaired, report = doubled.repaired()
    assert report.removed_duplicate == 1 and report.changed
    assert repaired.check().is_clean


@pytest.mark.parametrize("extension", ["obj", "ply", "stl"])
def test_surfaces_survive_files(box, tmp_path, extension):
    box.save(tmp_path / f"box.{extension}")
    assert pl.load_surface(tmp_path / f"box.{extension}").volume == pytest.approx(box.volume, rel=1e-5)
    assert pl.load(str(tmp_path / f"box.{extension}")).area == pytest.approx(box.area, rel=1e-5)


@pytest.mark.parametrize("kind", ["voxel", "graded", "tet", "graded-tet"])
def test_meshers_fill_the_box(box, kind):
    mesh = pl.build_mesh(box, kind=kind, resolution=16)
    assert mesh.check().num_inverted == 0
    assert mesh.volume(weighted=True) == pytest.approx(box.volume, rel=0.15)
    assert mesh.kind == ("tet4" if "tet" in kind else "hex8")
    assert mesh.boundary().check().is_closed


def test_volume_reports_count_and_name_the_first():
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [2, 2, 2]]
    upright, inverted, invalid = [0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 1, 3]
    report = pl.VolumeMesh(np.array(corners, float), np.array([upright, inverted, invalid])).check()
    assert (report.num_inverted, report.first_inverted) == (1, 1)
    assert (report.num_invalid, report.first_invalid) == (1, 2)
    assert (report.num_orphans, report.first_orphan) == (1, 5)
    assert (report.num_non_finite, report.first_non_finite) == (0, -1)
    assert not report.is_clean
    hinge = np.array(corners[:4] + [[-1, 0, 0], [0, -1, 0], [0, 0, -1]], float)
    report = pl.VolumeMesh(hinge, np.array([upright, [0, 5, 4, 6]])).check()
    assert (report.num_weak_joints, report.first_weak_joint, report.num_parts) == (1, 0, 2)


def test_embedding_carries_linear_fields_and_its_adjoint(box):
    mesh = pl.build_mesh(box, kind="tet", resolution=10)
    embedding = pl.Embedding(mesh, box.vertices * 0.5)
    turn = np.array([[0.1, 0.2, 0], [0, -0.3, 0.1], [0.4, 0, 0.2]])
    assert np.allclose(embedding.transfer(mesh.vertices @ turn), box.vertices * 0.5 @ turn, atol=1e-12)
    forces = np.random.default_rng(1).normal(size=(box.num_vertices, 3))
    u = np.random.default_rng(2).normal(size=(mesh.num_vertices, 3))
    assert np.sum(embedding.transfer(u) * forces) == pytest.approx(np.sum(u * embedding.transfer_transposed(forces)))


def test_volume_meshes_survive_files(tmp_path):
    mesh = pl.hex_box((2, 3, 4), (0, 0, 0), (1, 1, 1))
    assert mesh.volume() == pytest.approx(1)
    mesh.save(tmp_path / "box.pliant")
    assert np.array_equal(pl.load(tmp_path / "box.pliant").elements, mesh.elements)
    mesh.save(tmp_path / "box.vtu", point_data={"x": mesh.vertices[:, 0], "u": mesh.vertices})
    assert "box" in (tmp_path / "box.vtu").name
    with pytest.raises(pl.InputError, match=r'point_data\["x"\] = float64 array of shape \(3,\)'):
        mesh.save(tmp_path / "box.vtu", point_data={"x": np.zeros(3)})


@pytest.mark.parametrize("extension", ["msh", "mesh", "node", "veg", "pliant"])
def test_volumes_are_loaded_from_every_format(tmp_path, extension):
    mesh = pl.tet_box((1, 2, 1), (0, 0, 0), (1, 1, 1))
    mesh.save(tmp_path / f"box.{extension}")
    loaded = pl.load_volume(tmp_path / f"box.{extension}")
    assert np.array_equal(loaded.elements, mesh.elements) and np.allclose(loaded.vertices, mesh.vertices)


def test_surfaces_on_levels_survive_files(tmp_path):
    path, levels = tmp_path / "nodule.pliant", pl.make_semi_regular("nodule", 2)
    levels.save(path)
    loaded = pl.load(path)
    assert loaded.num_levels == 2 and loaded.num_vertices == levels.num_vertices
    assert np.array_equal(loaded.mesh.vertices, levels.mesh.vertices)
    assert np.array_equal(loaded.mesh.triangles, levels.mesh.triangles)
    # the file is one of a surface, too
    for taken in (-1, 1):
        model = pl.build_greens(path, levels=taken, fixed="z < 20 %", size=0.1, cache=None)
        assert model.num_levels == (2 if taken < 0 else taken)
        assert model.surface.num_vertices == levels.num_vertices[taken]
    assert np.array_equal(pl.build_mesh(path, resolution=8).elements, pl.build_mesh(levels, resolution=8).elements)
    pl.hex_box((1, 1, 1), (0, 0, 0), (1, 1, 1)).save(tmp_path / "box.pliant")
    with pytest.raises(pl.InputError, match=re.escape("kind = 'volume-mesh' (expected 'semi-regular-mesh')")):
        pl.SemiRegularMesh.load(tmp_path / "box.pliant")


def test_queries_agree_with_the_sphere():
    sphere = pl.make_shape("heart", resolution=16)
    query = pl.SurfaceQuery(sphere)
    points = np.random.default_rng(1).uniform(*sphere.bounds, size=(50, 3))
    nearest, triangles, weights = query.closest(points)
    distance = np.linalg.norm(nearest - points, axis=1)
    assert np.allclose(distance, np.abs(query.signed_distance(points)))
    corners = sphere.vertices[sphere.triangles[triangles]]
    assert np.allclose(np.einsum("ij,ijk->ik", weights, corners), nearest)


def test_fields_agree_with_formulas():
    rng = np.random.default_rng(1)
    points = rng.uniform(-1.2, 1.2, size=(500, 3))
    exact = np.linalg.norm(points, axis=1) - 1
    assert np.allclose(pl.sphere_field(1.0).distances(points), exact, atol=1e-6)
    distance, gradient = pl.sphere_field(1.0).samples(points)
    assert np.allclose(gradient, points / np.linalg.norm(points, axis=1)[:, None], atol=1e-5)
    grid = pl.build_field(pl.Sphere(1.0).surface, resolution=32, storage="dense")
    inside = np.abs(exact) < 0.3
    assert np.abs(grid.distances(points) - exact)[inside].max() < 0.02
    assert grid.iso_surface().volume == pytest.approx(4 / 3 * np.pi, rel=0.03)
    hollow = pl.intersect_fields([pl.sphere_field(1.0), pl.invert_field(pl.sphere_field(0.5))])
    assert hollow.distance((0, 0, 0)) == pytest.approx(0.5)
    apart = pl.unite_fields([pl.sphere_field(1.0), pl.move_field(pl.sphere_field(1.0), (3, 0, 0))])
    assert [apart.distance((x, 0, 0)) for x in (-1.5, 1.5, 3)] == pytest.approx([0.5, 0.5, -1])
    assert pl.offset_field(pl.sphere_field(1.0), 0.25).distance((2, 0, 0)) == pytest.approx(0.75)
    capsule = pl.capsule_field(0.5, 2.0)
    assert [capsule.distance(x) for x in ((2, 0, 0.7), (0, 0, 2), (0, 0, 0))] == pytest.approx([1.5, 0.5, -0.5])
    cut = grid.slice((-1, -1, 0), (2, 0, 0), (0, 2, 0), 20, 10)
    assert cut.shape == (10, 20) and -1 < cut.min() < -0.85


def test_fields_survive_files(tmp_path):
    grid = pl.build_field(pl.Box((1, 1, 1)).surface, resolution=16)
    grid.save(tmp_path / "box.pliant")
    loaded = pl.load(tmp_path / "box.pliant")
    points = np.random.default_rng(1).uniform(-0.6, 0.6, size=(20, 3))
    assert np.array_equal(loaded.distances(points), grid.distances(points))


def test_pictures_show_the_mesh(box):
    picture = pl.render(box, width=64, height=48, colors=np.full((box.num_vertices, 3), [1.0, 0, 0]))
    assert picture.shape == (48, 64, 3) and picture.dtype == np.uint8
    middle = picture[24, 32].astype(int)
    assert middle[0] > middle[2] + 50


@pytest.mark.parametrize("name", ["width", "height"])
@pytest.mark.parametrize("size", [0, -1, 16385, 2**31 - 1])
def test_pictures_have_sizes_that_can_be(box, name, size):
    with pytest.raises(pl.InputError, match=re.escape(f"{name} = {size} (expected 1 to 16384 pixels)")) as caught:
        pl.render(box, **{name: size})
    assert caught.value.field == name
    with pytest.raises(pl.InputError, match="height = 16384 .expected at most 4096 pixels for 16384 of width"):
        pl.render(box, 16384, 16384)
