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


# what Python itself says enough about
OBVIOUS = {"__len__", "__matmul__", "__enter__", "__exit__"}


def without_words(tree):
    """Functions, constructors and properties of a stub that say nothing beside their signature."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not ast.get_docstring(node):
            yield node.name
        if not isinstance(node, ast.ClassDef):
            continue
        is_enum = any(isinstance(child, ast.AnnAssign) and "ClassVar" in ast.unparse(child.annotation)
                      for child in node.body)
        is_error = any(ast.unparse(base) in ("ValueError", "RuntimeError") for base in node.bases)
        if not ast.get_docstring(node):
            yield node.name
        for child in node.body:
            if not isinstance(child, ast.FunctionDef) or is_enum or is_error:
                continue
            is_setter = any(ast.unparse(d).endswith(".setter") for d in child.decorator_list)
            if not is_setter and child.name not in OBVIOUS and not ast.get_docstring(child):
                yield f"{node.name}.{child.name}"


def test_every_member_and_constructor_is_documented():
    tree = ast.parse((FOLDER / "pliant" / "_core.pyi").read_text(encoding="utf-8"))
    assert not list(without_words(tree))
    # the test itself would see one
    assert list(without_words(ast.parse("class A:\n    \'\'\'A.\'\'\'\n    def b(self): ..."))) == ["A.b"]
