"""Files of any kind."""

import json
import os

from pliant import _core

_LOADERS = {
    ".pliantrec": _core.Recording.load,
    ".json": _core.load_scene,
}
_ARCHIVES = {
    "reduced-model": _core.ReducedModel.load,
    "greens-model": _core.GreensModel.load,
    "particle-model": _core.ParticleModel.load,
    "distance-field": _core.DistanceGrid.load,
    "pointshell": _core.Pointshell.load,
    "point-tree": _core.PointTree.load,
    "volume-mesh": _core.load_volume,
}


def load(path):
    """What a file holds: a model, field, pointshell or mesh (.pliant), a scene (.json), a recording (.pliantrec)
    or a surface."""
    path = os.fspath(path)
    extension = os.path.splitext(path)[1].lower()
    if extension == ".pliant":
        kind = _core.archive_kind(path)
        if kind not in _ARCHIVES:
            raise _core.InputError(f"{path}: is a {kind}; expected {', '.join(sorted(_ARCHIVES))}")
        return _ARCHIVES[kind](path)
    return _LOADERS.get(extension, _core.load_surface)(path)


def scene(description, folder=""):
    """A scene from a dictionary, as a scene file would hold it; relative files are found from the folder."""
    return _core.parse_scene(json.dumps(description), description.get("name", "scene"), folder)
