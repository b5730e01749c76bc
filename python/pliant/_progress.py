"""Progress of long calls on a terminal or in a notebook."""

import sys


class show_progress:
    """Give an instance, or True for one, as `progress`: one line per stage on sys.stderr, redrawn in place.

    pl.build_reduced("heart", fixed="z < 10 %", progress=True)
    """

    def __init__(self, out=None):
        self._out = out
        self._stage = None

    def __call__(self, stage, fraction, seconds):
        out = self._out or sys.stderr
        if self._stage is not None and stage != self._stage:
            out.write("\n")
        self._stage = stage
        cells = int(30 * fraction)
        left = "" if seconds is None or fraction >= 1 else f"  {seconds:.0f} s left"
        out.write(f"\r{stage:24s} {'█' * cells}{'░' * (30 - cells)} {100 * fraction:3.0f} %{left:14s}")
        out.flush()
