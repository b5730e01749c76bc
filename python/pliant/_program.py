"""The command-line program, for what has no function of its own."""

import collections
import os
import pathlib
import shutil
import subprocess
import sys

from pliant._errors import failed


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


def _command(arguments):
    path = _found_program()
    if path is None:
        raise failed("the program 'pliant' was not found; build or install it, or set PLIANT_PROGRAM")
    return [path, *map(str, arguments)]


def program(*arguments, capture=False):
    """Runs `pliant ARGUMENTS`; returns what it printed if captured. Set PLIANT_PROGRAM to choose another one."""
    done = subprocess.run(_command(arguments), text=True, check=False,
                          stdout=subprocess.PIPE if capture else None, stderr=subprocess.PIPE if capture else None)
    if done.returncode != 0:
        raise failed((done.stderr or "").strip() or f"pliant {' '.join(map(str, arguments))} failed")
    return done.stdout


def _streamed(*arguments):
    """Runs the program and writes its progress to sys.stderr, also in notebooks, as it comes."""
    told = collections.deque(maxlen=20)
    with subprocess.Popen(_command(arguments), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            for line in process.stderr:
                told.append(line)
                sys.stderr.write(line)
                sys.stderr.flush()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        errors = [line.strip() for line in told if line.startswith("error: ")]
        raise failed("\n".join(errors) or "".join(told).strip() or f"pliant {arguments[0]} failed")


def reproduce(what, output, *, only=None, quick=False):
    """Runs the published experiments of fem, reduction, contact, haptics, greens, wavelets or proxy, writes an HTML page.

    `all` writes every page and an index into the folder `output`; what is finished there is kept and not run again.
    `only`: one experiment of them or a list of some, of `all` modules or "module/experiment"; `quick`: small sizes.
    Minutes, `all` about an hour: progress goes to sys.stderr as it comes.
    """
    arguments = ["reproduce", what, "-o", output]
    for name in [only] if only and isinstance(only, str) else only or []:
        arguments += ["--only", name]
    if quick:
        arguments += ["--quick"]
    _streamed(*arguments)
    return pathlib.Path(output)
