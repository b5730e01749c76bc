"""Stubs and docstrings say what the module has."""

import ast
import inspect
import pathlib
import runpy

import pytest

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


def names_of(name, known):
    """All names of a stub file by what they mean; imports of the package are known."""
    tree = ast.parse((FOLDER / "pliant" / name).read_text(encoding="utf-8"))
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "pliant._core":
            for one in node.names:
                names.update(known if one.name == "*" else {one.asname or one.name: known[one.name]})
        elif isinstance(node, ast.ClassDef):
            names[node.name] = type(node.name, (), {})
        elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):
            exec(ast.unparse(node), names)  # as the file says
    return tree, names


def unresolved(tree, names):
    """Annotations that say what nobody has defined."""
    for node in ast.walk(tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        text = ast.unparse(annotation) if annotation else "None"
        try:
            eval(text, dict(names))
        except (NameError, AttributeError):
            yield text


def test_names_in_annotations_resolve():
    tree, names = names_of("_core.pyi", {})
    assert not list(unresolved(tree, names))
    assert not list(unresolved(*names_of("__init__.pyi", names)))
    # aliases name classes by words
    words = {part.value for node in tree.body if isinstance(node, ast.Assign) for part in ast.walk(node)
             if isinstance(part, ast.Constant) and part.value is not None}
    assert words and words <= set(names)
    # the test itself would see one
    assert list(unresolved(ast.parse("def f(x: sequence) -> int: ..."), names)) == ["sequence"]


def test_constructors_are_those_that_exist():
    tree = ast.parse((FOLDER / "pliant" / "_core.pyi").read_text(encoding="utf-8"))
    for node in tree.body:
        kind = getattr(_core, getattr(node, "name", ""), None)
        if not inspect.isclass(kind) or issubclass(kind, Exception):
            continue
        is_listed = any(isinstance(child, ast.FunctionDef) and child.name == "__init__" for child in node.body)
        # nothing takes so many
        with pytest.raises(TypeError) as caught:
            kind(*[object()] * 40)
        assert is_listed != ("No constructor defined" in str(caught.value)), node.name


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
