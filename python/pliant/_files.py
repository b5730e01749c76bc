"""Files of any kind."""

import json
import os

from pliant import _core
from pliant._errors import failed, wrong


def _load_json(path):
    """Layouts of particles have a format, scenes have none."""
    try:
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
    except (OSError, ValueError):
        held = None  # load_scene says what is wrong
    is_layout = isinstance(held, dict) and "format" in held
    return _core.ParticleLayout.load(path) if is_layout else _core.load_scene(path)


_LOADERS = {
    ".pliantrec": _core.Recording.load,
    ".json": _load_json,
}
_ARCHIVES = {
    "reduced-model": _core.ReducedModel.load,
    "greens-model": _core.GreensModel.load,
    "particle-model": _core.ParticleModel.load,
    "distance-field": _core.DistanceGrid.load,
    "pointshell": _core.Pointshell.load,
    "point-tree": _core.PointTree.load,
    "semi-regular-mesh": _core.SemiRegularMesh.load,
    "volume-mesh": _core.load_volume,
}


def load(path):
    """What a file holds: a model, field, pointshell, mesh or surface on levels (.pliant), a scene or a layout of
    particles (.json), a recording (.pliantrec) or a surface."""
    path = os.fspath(path)
    extension = os.path.splitext(path)[1].lower()
    if extension == ".pliant":
        kind = _core.archive_kind(path)
        if kind == "deformed-field":
            raise failed("a deformed field goes with its model: DeformedField.load(path, model)", path)
        if kind not in _ARCHIVES:
            raise wrong("kind", f"'{kind}'", ", ".join(sorted(_ARCHIVES)), path)
        return _ARCHIVES[kind](path)
    return _LOADERS.get(extension, _core.load_surface)(path)


def scene(description, folder=""):
    """A scene from a dictionary, as a scene file would hold it; relative files are found from the folder."""
    return _core.parse_scene(json.dumps(description), description.get("name", "scene"), folder)
