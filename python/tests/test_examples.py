"""Every example runs with small sizes and leaves its picture."""

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("example", "step_overhead"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", "--quick", "-o", tmp_path], text=True,
                          capture_output=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_overhead_is_measured():
    done = subprocess.run([sys.executable, FOLDER / "step_overhead.py", "--quick"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0 and "µs more" in done.stdout, done.stderr
