#!/usr/bin/python3
"""Writes the type stubs of the compiled part of the module from its docstrings: make_stubs.py [FILE]

Run with PYTHONPATH on the module; a test checks that the file in the repository is what this writes.
"""

import inspect
import os
import re
import sys
import types

# the folder of this file has a package without its compiled part
sys.path = [path for path in sys.path if os.path.realpath(path or ".") != os.path.dirname(os.path.realpath(__file__))]
import pliant._core as core  # noqa: E402

HEADER = '''"""Types of the compiled part of the module; written by python/make_stubs.py."""

import collections.abc
import os
import pathlib
import typing

import numpy
from numpy.typing import ArrayLike

PathLike = typing.Union[str, os.PathLike[str]]
SurfaceLike = typing.Union["SurfaceMesh", "SemiRegularMesh", str, os.PathLike[str]]
MaterialLike = typing.Union["Material", str]
PointLike = typing.Union[int, tuple[int, ArrayLike]]
PoseLike = typing.Union["Pose", ArrayLike, tuple[ArrayLike, ArrayLike], None]
CacheLike = typing.Union[bool, None, str, os.PathLike[str]]
ProgressLike = typing.Union[bool, None,
                            collections.abc.Callable[[str, float, typing.Optional[float]], typing.Optional[bool]]]

__version__: str
'''
# what C++ returns as something more general
RETURNS = {
    "Body.step": "StepStatus", "Body.compliance": "typing.Optional[numpy.ndarray]",
    "ReducedModel.body": "ReducedBody", "FemModel.body": "FemBody", "GreensModel.body": "GreensBody",
    "ParticleModel.body": "ParticleBody", "Solid.body": "RigidBody", "Character.body": "ZonedBody",
    "Viewer.__enter__": "Viewer",
    "SurfaceQuery.ray": "typing.Optional[tuple[float, int, numpy.ndarray]]",
}


def tidy(signature):
    """As Python writes it: short names of types, defaults that can be read."""
    signature = signature.replace("pliant._core.", "")
    signature = re.sub(r"numpy\.ndarray\[[^\[\]]*\]", "numpy.ndarray", signature)
    signature = re.sub(r"Callable\b", "collections.abc.Callable", signature)
    signature = re.sub(r"\b(List|Dict|Tuple|Set)\[", lambda m: m.group(1).lower() + "[", signature)
    signature = re.sub(r"\bUnion\[", "typing.Union[", signature)
    signature = re.sub(r"\bOptional\[", "typing.Optional[", signature)
    signature = re.sub(r"os\.PathLike\b", "PathLike", signature)
    # fixed sizes are not a type
    signature = re.sub(r"list\[([A-Za-z.]+)\[\d+\]\]", r"list[\1]", signature)
    signature = re.sub(r"= <[^>]*>", "= ...", signature)
    signature = re.sub(r"= array\([^)]*\)", "= ...", signature)
    # an array that goes out is one that NumPy knows
    head, arrow, back = signature.rpartition(" -> ")
    if arrow and back == "ArrayLike":
        back = "numpy.ndarray"
    signature = head + arrow + back
    # pybind11 knows "self" by its type, and classes by their name alone
    signature = re.sub(r"\(self: [A-Za-z0-9_]+", "(self", signature)
    signature = re.sub(r"\(arg0: object\)", "(self)", signature)
    return signature


def split(doc, name):
    """Signatures and what is said about them."""
    lines = (doc or "").strip().splitlines()
    pattern = re.compile(r"^(?:\d+\. )?" + re.escape(name) + r"(\(.*)$")
    signatures = [m.group(1) for m in map(pattern.match, lines) if m]
    if lines and lines[0].endswith("(*args, **kwargs)"):
        signatures = signatures[1:]
    text = " ".join(line.strip() for line in lines if line.strip() and not pattern.match(line)
                    and line.strip() != "Overloaded function.")
    return [tidy(s) for s in signatures], text


def put_doc(out, indent, text):
    if text:
        out.append(f'{indent}"""{text}"""')


def put_function(out, indent, name, function, owner=None, is_static=False):
    signatures, text = split(function.__doc__, name)
    better = RETURNS.get(f"{owner}.{name}")
    if better:
        signatures = [signature.rpartition(" -> ")[0] + " -> " + better for signature in signatures]
    if not signatures:
        signatures = ["(self, *args: typing.Any) -> typing.Any"]
    for signature in signatures:
        if len(signatures) > 1:
            out.append(f"{indent}@typing.overload")
        if is_static:
            out.append(f"{indent}@staticmethod")
        out.append(f"{indent}def {name}{signature}:")
        if text:
            put_doc(out, indent + "    ", text)
        else:
            out.append(f"{indent}    ...")


def put_property(out, name, value):
    doc = value.fget.__doc__ or ""
    result = re.search(r"-> (.*)$", doc.splitlines()[0] if doc else "")
    kind = tidy("() -> " + result.group(1))[len("() -> "):] if result else "typing.Any"
    text = (value.__doc__ or "").strip()
    if "->" in text.splitlines()[0] if text else False:
        text = " ".join(text.splitlines()[1:]).strip()
    out.append("    @property")
    out.append(f"    def {name}(self) -> {kind}:")
    if text:
        put_doc(out, "        ", text)
    else:
        out.append("        ...")
    if value.fset:
        match = re.search(r"arg1: (.*)\) -> None", (value.fset.__doc__ or "").splitlines()[0])
        out.append(f"    @{name}.setter")
        out.append(f"    def {name}(self, value: {tidy(match.group(1)) if match else 'typing.Any'}) -> None: ...")


def put_class(out, name, kind):
    base = kind.__bases__[0]
    if issubclass(kind, Exception):
        out.append(f"class {name}({base.__name__}):")
        put_doc(out, "    ", kind.__doc__)
        if name == "InputError":
            out.extend(f"    {field}: str" for field in ("file", "field", "value", "expected"))
        return
    parent = f"({base.__name__})" if base.__module__ == core.__name__ else ""
    out.append(f"class {name}{parent}:")
    if hasattr(kind, "__members__"):
        put_doc(out, "    ", (kind.__doc__ or "").split("\n")[0])
        out.extend(f"    {member}: typing.ClassVar[{name}]" for member in kind.__members__)
        out.append("    def __init__(self, value: int) -> None: ...")
        out.append("    @property\n    def name(self) -> str: ...")
        out.append("    @property\n    def value(self) -> int: ...")
        return
    put_doc(out, "    ", kind.__doc__)
    before = len(out)
    for key, value in kind.__dict__.items():
        # added by the package, which has stubs of its own; what Python gives a class without a constructor
        if inspect.isfunction(value) or isinstance(value, types.WrapperDescriptorType):
            continue
        if isinstance(value, property):
            put_property(out, key, value)
        elif isinstance(value, staticmethod):
            put_function(out, "    ", key, value.__func__, name, True)
        elif callable(value) and (not key.startswith("_") or key in (
                "__init__", "__len__", "__matmul__", "__enter__", "__exit__")):
            put_function(out, "    ", key, value, name)
    if len(out) == before:
        out.append("    ...")


def stubs():
    out = [HEADER.rstrip()]
    for name, value in vars(core).items():
        if name.startswith("_"):
            continue
        out.append("")
        if inspect.isclass(value):
            put_class(out, name, value)
            if name in ("Scene", "Body", "Recording"):
                out.append("    def view(self, **options: typing.Any) -> Viewer:")
                put_doc(out, "        ", "On a page; see pliant.view.")
        else:
            put_function(out, "", name, value)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(stubs())
    else:
        sys.stdout.write(stubs())
