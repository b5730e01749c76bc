"""Nothing is silent: warnings of scenes, bodies beyond use, meshes that are filled anew."""

import warnings

import pytest

import pliant as pl

TISSUE = {"pliant": 1, "name": "tissue", "bodies": [
    {"name": "floor", "rigid": {"ground": {}}},
    {"name": "soft", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
             "material": {"preset": "tissue", "law": "st-venant-kirchhoff"}},
     "pose": {"position": [0, 0, 0.1]}}]}


def test_bodies_that_pass_through_each_other_are_warned_of_when_the_scene_is_built():
    cube = {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}}
    scene = pl.scene({"pliant": 1, "bodies": [
        {"name": "low", "fem": {**cube, "fixed": "z < 5 %"}},
        {"name": "up", "fem": cube, "pose": {"position": [0, 0, 0.3]}}]})
    with pytest.warns(UserWarning, match='"low" and "up" pass through each other: a full FEM body and a full FEM'):
        scene.build()
    assert len(scene.warnings) == 1 and "ignore_contact" in scene.warnings[0]


def test_a_body_beyond_use_is_in_the_reports_of_scene_and_body():
    scene = pl.scene(TISSUE)
    assert scene.troubles == [] and scene.warnings == []
    body = scene.body("soft")
    assert body.report["condition"] == "well" and abs(body.report["volume"] - 1) < 1e-6
    with pytest.warns(UserWarning, match='"soft" was slowed in .*kept its elements from turning inside out'):
        scene.advance(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        scene.advance(0.5)
    found = {trouble["what"]: trouble for trouble in scene.troubles}
    assert {"kept from turning inside out", "past the limit of its law"} <= set(found)
    caught = found["kept from turning inside out"]
    assert caught["body"] == "soft" and 0 < caught["value"] < 0.2
    assert 0 < caught["since"] < caught["until"] <= 1.5001
    assert body.report["ok"] == 1500, "which says nothing"
    scene.reset()
    assert scene.troubles == []


def test_a_reduced_body_that_its_weight_turned_inside_out_says_so():
    scene = pl.scene({"pliant": 1, "bodies": [{"name": "soft", "reduced": {
        "shape": "beam", "size": 0.3, "fixed": "x < 5 %", "modes": 4, "rank": 8,
        "mesh": {"kind": "voxel", "resolution": 12},
        "material": {"youngs_modulus": 50, "poisson_ratio": 0.3, "density": 1000}}}]})
    with pytest.warns(UserWarning, match='"soft" is inside out: it has -.* % of its volume'):
        scene.advance(2)
    found = {trouble["what"]: trouble for trouble in scene.troubles}
    assert found["inside out"]["body"] == "soft" and found["inside out"]["value"] < 0


def test_a_body_of_its_own_that_flies_away_says_so():
    ball = pl.Sphere(0.001).body(density=1000)
    assert ball.report["condition"] == "well" and abs(ball.report["extent"] - 1) < 1e-6
    ball.set_gravity((0, 0, -9.81))
    ball.run(3000, 1e-3)
    assert ball.report["condition"] == "away"


def test_a_scene_says_where_its_bodies_were():
    scene = pl.parse_scene('{"pliant": 1, "bodies": [{"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "density": 1000}}]}')
    scene.advance(0.5)
    ball = scene.sights["ball"]
    assert ball["highest"] == pytest.approx(0.05, abs=1e-3)
    assert ball["lowest"] == pytest.approx(-0.05 - 0.5 * 9.81 * 0.25, abs=0.01)
    assert ball["speed"] == pytest.approx(9.81 * 0.5, abs=0.02)
    assert ball["least_volume"] == pytest.approx(1, abs=1e-3)


def test_a_body_that_its_own_weight_crushes_is_warned_of_when_it_is_built():
    cube = pl.Box((0.1, 0.1, 0.1)).surface
    options = dict(free=True, resolution=6, num_modes=8, cache=None)
    with pytest.warns(UserWarning, match="own weight"):
        soft = pl.build_reduced(cube, material=pl.Material(1e3, 0.3, 1000), **options)
    assert not soft.trial()["usable"]
    firm = pl.build_reduced(cube, material=pl.Material(1e6, 0.3, 1000), **options)
    assert firm.trial()["usable"] and firm.trial()["warning"] == ""
    assert firm.trial()["weight"]["least_det_F"] > 0.9
    assert 0 <= firm.errors["weight"] < 0.05


def test_an_own_volume_mesh_that_is_filled_anew_is_warned_of(tmp_path):
    own = pl.tet_box((1, 1, 1), (0, 0, 0), (0.1, 0.1, 0.1))
    own.save(tmp_path / "own.msh")
    with pytest.warns(UserWarning, match=f"own.msh: its own {own.num_elements} tetrahedra are not used"):
        pl.build_fem(tmp_path / "own.msh", resolution=4)
    with pytest.warns(UserWarning, match="filled anew with 64 hexahedra"):
        pl.build_reduced(tmp_path / "own.msh", resolution=4, fixed="z < 5 %", num_modes=2, rank=2, cache=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.build_fem(pl.load_volume(tmp_path / "own.msh"))
