"""What calling from Python costs: steps of a reduced body one by one, and the same in a bare loop in C++."""

# %%
import time

import numpy as np

import pliant as pl
from example import options

chosen = options(__doc__)
model = pl.build_reduced("beam", size=0.3, material="rubber", fixed="x < 2 %", resolution=24, num_modes=6, rank=12,
                         cache=None)
body, loaded = model.body(), model.body()
tip = int(np.argmax(model.surface.vertices[:, 0]))
loaded.forces_at([tip])[0] = (0, 0, -0.01)
steps, rounds = (1000, 5) if chosen.quick else (10000, 25)


def one_by_one(which):
    step = which.step
    for _ in range(steps):
        step(1e-3)


def with_force():
    step, force = body.step, body.add_force
    for _ in range(steps):
        force(tip, (0.0, 0.0, -0.01))
        step(1e-3)


def positions():
    for _ in range(steps):
        body.positions


# %% CPU time of the quickest of many rounds, in turns: others may use this machine too
works = {"in C++": lambda: body._bare_steps(steps, 1e-3), "in one call": lambda: body.run(steps, 1e-3), "one by one": lambda: one_by_one(body),
         "with add_force": with_force, "with a force in an array": lambda: one_by_one(loaded),
         f"positions of {model.surface.num_vertices} vertices": positions}
best = dict.fromkeys(works, np.inf)
for _ in range(rounds):
    for name, work in works.items():
        start = time.thread_time()
        work()
        best[name] = min(best[name], (time.thread_time() - start) / steps * 1e6)
for name, microseconds in best.items():
    print(f"{name:28s} {microseconds:6.2f} µs")
TARGET = 1.0  # [µs]
overhead = round(best["one by one"] - best["in C++"], 2)
print(f"a step from Python costs {overhead:.2f} µs more than in C++, its loop included"
      f" (target: at most {TARGET:g} µs, {'ok' if overhead <= TARGET else 'missed'})")
