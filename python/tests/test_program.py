"""Files of the program, what it is given, and errors that are said in Python."""

import os
import re

import numpy as np
import pytest

import pliant as pl
from pliant import _files, _program


@pytest.fixture
def stub(tmp_path, monkeypatch):
    """Puts a script in place of the program."""
    def put(text):
        path = tmp_path / "stub"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        monkeypatch.setenv("PLIANT_PROGRAM", str(path))
    return put


def test_experiments_are_named_one_by_one(stub, tmp_path):
    stub(f"printf '%s\\n' \"$@\" > '{tmp_path}/given'")
    two = ["fem", "greens/wavelets"]
    for only, names in [(None, []), ([], []), ("fem", ["fem"]), (two, two), (tuple(two), two)]:
        assert pl.reproduce("all", tmp_path / "pages", only=only) == tmp_path / "pages"
        expected = ["reproduce", "all", "-o", str(tmp_path / "pages")]
        for name in names:
            expected += ["--only", name]
        assert (tmp_path / "given").read_text().splitlines() == expected


def parts(error):
    return error.file, error.field, error.value, error.expected


def test_errors_of_the_program_have_parts(stub, monkeypatch):
    stub("echo 'error: nothing is right' >&2; exit 1")
    for call in (lambda: pl.program("run", capture=True), lambda: pl.reproduce("fem", "fem.html")):
        with pytest.raises(pl.InputError, match="error: nothing is right") as caught:
            call()
        assert parts(caught.value) == ("", "", "", "")
    monkeypatch.setattr(_program, "_found_program", lambda: None)
    with pytest.raises(pl.InputError, match="was not found") as caught:
        pl.program("run")
    assert parts(caught.value) == ("", "", "", "")


def test_files_of_unknown_kinds_are_refused_in_parts(tmp_path, monkeypatch):
    path = tmp_path / "box.pliant"
    pl.hex_box((1, 1, 1), (0, 0, 0), (1, 1, 1)).save(path)
    monkeypatch.delitem(_files._ARCHIVES, "volume-mesh")
    known = "distance-field, greens-model, particle-model, point-tree, pointshell, reduced-model, semi-regular-mesh"
    text = f"{path}: kind = 'volume-mesh' (expected {known})"
    with pytest.raises(pl.InputError, match="^" + re.escape(text) + "$") as caught:
        pl.load(path)
    assert parts(caught.value) == (str(path), "kind", "'volume-mesh'", known)


@pytest.mark.skipif("PLIANT_PROGRAM" not in os.environ, reason="needs the program")
def test_surfaces_on_levels_of_the_program_are_read(tmp_path):
    surface, path = tmp_path / "heart.obj", tmp_path / "heart.pliant"
    pl.make_shape("heart", resolution=16).save(surface)
    pl.program("mesh", surface, "-o", path, "--kind", "semiregular", "--base", 40, "--levels", 1, "--progress", "none",
               capture=True)
    found, own = pl.load(path), pl.remesh(surface, base_vertices=40, levels=1)
    assert found.num_levels == 1 and found.num_vertices == own.num_vertices
    assert np.array_equal(found.mesh.vertices, own.mesh.vertices)
    assert np.array_equal(found.mesh.triangles, own.mesh.triangles)
