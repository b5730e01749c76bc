"""Deformable objects you can touch. SI units, z up, quaternions (w, x, y, z)."""

import collections.abc
import os
import pathlib
import typing

import numpy
from numpy.typing import ArrayLike

from pliant._core import *
from pliant._core import PointLike as _PointLike
from pliant._core import Body as _Body
from pliant._core import Recording as _Recording
from pliant._core import Scene as _Scene
from pliant._core import Solid as _Solid
from pliant._core import Viewer as _Viewer

__version__: str

class Press:
    """What a press was like, an entry for each tick."""

    time: numpy.ndarray
    depth: numpy.ndarray
    force: numpy.ndarray
    force_vector: numpy.ndarray
    position: numpy.ndarray

def press(body: _Body, at: _PointLike, depth: float, *, tool: typing.Optional[_Solid] = None, speed: float = 0.02,
          direction: typing.Optional[ArrayLike] = None, hold: float = 0.0, rate: float = 1000.0, friction: float = 0.3,
          stiffness: typing.Optional[float] = None) -> Press:
    """Presses a sphere into a body and says how hard it presses back."""

def load(path: typing.Union[str, os.PathLike[str]]) -> typing.Any:
    """What a file holds."""

def scene(description: dict[str, typing.Any], folder: typing.Union[str, os.PathLike[str]] = "") -> _Scene:
    """A scene from a dictionary, as a scene file would hold it."""

def program(*arguments: typing.Any, capture: bool = False) -> typing.Optional[str]:
    """Runs `pliant ARGUMENTS`; returns what it printed if captured."""

def reproduce(what: str, output: typing.Union[str, os.PathLike[str]], *,
              only: typing.Union[str, collections.abc.Iterable[str], None] = None, quick: bool = False) -> pathlib.Path:
    """Runs the published experiments of a module, or `all` of them, and writes HTML pages."""

class show_progress:
    """Give an instance as `progress`: one line per stage on sys.stderr, redrawn in place."""

    def __init__(self, out: typing.Optional[typing.TextIO] = None) -> None: ...
    def __call__(self, stage: str, fraction: float, seconds: typing.Optional[float]) -> None: ...

def view(what: typing.Union[_Body, _Scene, _Recording, collections.abc.Iterable[_Body]], *,
         block: typing.Optional[bool] = None, browser: typing.Optional[bool] = None,
         duration: typing.Optional[float] = None, **options: typing.Any) -> _Viewer:
    """Shows a body, several bodies, a scene or a recording on a page; returns the Viewer."""
