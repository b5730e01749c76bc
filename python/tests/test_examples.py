"""Every example runs with small sizes and leaves its picture."""

import os
import pathlib
import re
import subprocess
import sys

import matplotlib.image
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("example", "step_overhead"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", "--quick", "-o", tmp_path], text=True,
                          capture_output=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    picture = matplotlib.image.imread(tmp_path / f"{name}.png")[..., :3]
    # curves and bodies have colours, which empty axes with their grey words have not
    colour = picture.max(axis=2) - picture.min(axis=2)
    assert (colour > 0.15).mean() > 0.002


def test_overhead_is_measured():
    done = subprocess.run([sys.executable, FOLDER / "step_overhead.py", "--quick"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    # rows of C++ alone and of Python, of which the second costs more; how much is no matter of a busy machine
    rows = dict(re.findall(r"^(\S.*?)\s{2,}(\d+\.\d+) µs$", done.stdout, re.MULTILINE))
    assert float(rows["one by one"]) > float(rows["in C++"]) > 0.1, done.stdout
    # held against its target, which a busy machine may miss
    said = re.search(r"costs (\S+) µs more than in C\+\+.* \(target: at most 1 µs, (ok|missed)\)\n", done.stdout)
    assert said and (said[2] == "ok") == (float(said[1]) <= 1), done.stdout
