"""The command-line program, for what has no function of its own."""

import os
import pathlib
import shutil
import subprocess

from pliant import _core


def _found_program():
    given = os.environ.get("PLIANT_PROGRAM")
    if given:
        return given
    # beside the module in a build folder, beside its prefix when installed
    for folder in pathlib.Path(__file__).absolute().parents:
        for place in (folder / "pliant", folder / "bin" / "pliant"):
            if place.is_file() and os.access(place, os.X_OK):
                return str(place)
    return shutil.which("pliant")


def program(*arguments, capture=False):
    """Runs `pliant ARGUMENTS`; returns what it printed if captured. Set PLIANT_PROGRAM to choose another one."""
    path = _found_program()
    if path is None:
        raise _core.InputError("the program 'pliant' was not found; build or install it, or set PLIANT_PROGRAM")
    done = subprocess.run([path, *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE if capture else None, stderr=subprocess.PIPE if capture else None)
    if done.returncode != 0:
        raise _core.InputError((done.stderr or "").strip() or f"pliant {' '.join(map(str, arguments))} failed")
    return done.stdout


def reproduce(what, output, *, only=None, quick=False):
    """Runs the published experiments of fem, reduction, contact, haptics, greens, wavelets or proxy, writes an HTML page.

    `all` writes every page and an index into the folder `output`; what is finished there is kept and not run again.
    `only`: one experiment of them, of `all` a module or "module/experiment"; `quick`: small sizes.
    """
    arguments = ["reproduce", what, "-o", output]
    if only:
        arguments += ["--only", only]
    if quick:
        arguments += ["--quick"]
    program(*arguments, capture=True)
    return pathlib.Path(output)
