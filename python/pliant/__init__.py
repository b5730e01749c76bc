"""Deformable objects you can touch.

    import pliant as pl
    body = pl.build_reduced("liver.obj", size=0.22, material="tissue", fixed="z < 5 %", rank=30).body()
    rec = pl.press(body, at=body.surface.topmost(), depth=0.01, tool=pl.Sphere(0.005))
    pl.view(body)

SI units, z up, quaternions (w, x, y, z), signed distance negative inside.
"""

from pliant import _core
from pliant._core import *  # noqa: F403
from pliant._core import __version__
from pliant._experiments import Press, press
from pliant._files import load, scene
from pliant._program import program, reproduce
from pliant._progress import show_progress
from pliant._viewing import view

__all__ = [name for name in dir(_core) if not name.startswith("_")]
__all__ += ["Press", "__version__", "load", "press", "program", "reproduce", "scene", "show_progress", "view"]
