"""Stubs and docstrings say what the module has."""

import ast
import inspect
import pathlib
import runpy

import pliant as pl
from pliant import _core

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def test_stubs_are_those_of_the_module():
    written = (FOLDER / "pliant" / "_core.pyi").read_text(encoding="utf-8")
    made = runpy.run_path(str(FOLDER / "make_stubs.py"))["stubs"]()
    assert written == made, "run python/make_stubs.py python/pliant/_core.pyi"


def test_stubs_are_python():
    for name in ("_core.pyi", "__init__.pyi"):
        ast.parse((FOLDER / "pliant" / name).read_text(encoding="utf-8"))


def test_the_package_has_a_stub_for_each_of_its_names():
    tree = ast.parse((FOLDER / "pliant" / "__init__.pyi").read_text(encoding="utf-8"))
    stubs = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own = [name for name in pl.__all__ if getattr(getattr(pl, name), "__module__", "").startswith("pliant._")
           and not hasattr(_core, name)]
    assert own and set(own) <= set(stubs)
    for name in own:
        value = getattr(pl, name)
        if inspect.isfunction(value):
            arguments = stubs[name].args
            listed = [a.arg for a in arguments.args + arguments.kwonlyargs]
            plain = [p.name for p in inspect.signature(value).parameters.values()
                     if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
            assert listed == plain, name


def test_everything_is_documented():
    for name in pl.__all__:
        assert (getattr(pl, name).__doc__ or "").strip(), name
