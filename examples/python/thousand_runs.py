"""A thousand runs of one model with other stiffness and load, on all cores: threads suffice, runs release the lock."""

# %%
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pliant as pl
from example import options, plt, save

chosen = options(__doc__)
model = pl.build_reduced(pl.Box((0.3, 0.03, 0.02)).surface, material="rubber", fixed="x < 2 %",
                         resolution=12 if chosen.quick else 24, num_modes=6, rank=12, cache=None)
tip = int(np.argmax(model.surface.vertices[:, 0]))
side = 6 if chosen.quick else 32
factors = np.geomspace(0.3, 3, side)  # of the stiffness
frequencies = model.frequencies[0] * np.linspace(0.3, 2.2, side)  # of a shaking load
dt, steps = 1e-3, 300 if chosen.quick else 1500


def largest_swing(case):
    factor, frequency = case
    body = model.body(stiffness_damping=5e-4)
    body.set_parameter("stiffness", factor)
    forces = np.zeros((steps, 1, 3))
    forces[:, 0, 2] = 0.01 * np.sin(2 * np.pi * frequency * dt * np.arange(steps))
    heights = body.run(steps, dt, record=[tip], points=[tip], forces=forces)[:, 0, 2]
    return np.ptp(heights[steps // 2:]) / 2


# %%
cases = [(factor, frequency) for factor in factors for frequency in frequencies]
start = time.perf_counter()
alone = [largest_swing(case) for case in cases[: len(cases) // 8]]
one = (time.perf_counter() - start) / len(alone)
start = time.perf_counter()
with ThreadPoolExecutor(os.cpu_count()) as pool:
    swings = np.array(list(pool.map(largest_swing, cases))).reshape(side, side)
seconds = time.perf_counter() - start
assert np.array_equal(alone, swings.ravel()[: len(alone)])
print(f"{len(cases)} runs of {steps} steps in {seconds:.1f} s on {os.cpu_count()} cores; {one * len(cases):.1f} s on one")

# %%
figure, axes = plt.subplots(figsize=(6, 4.2))
axes.grid(False)
shown = axes.pcolormesh(frequencies, factors, 1e3 * swings, shading="nearest", cmap="magma")
axes.plot(model.frequencies[0] * np.sqrt(factors), factors, "w--", lw=1, label="first mode")
axes.set(yscale="log", xlabel="frequency of the load [Hz]", ylabel="factor of the stiffness", xlim=(frequencies[0],
                                                                                                   frequencies[-1]))
ticks = [0.3, 0.5, 1, 2, 3]
axes.set_yticks(ticks, [str(tick) for tick in ticks])
axes.set_yticks([], minor=True)
axes.legend(labelcolor="w")
figure.colorbar(shown, label="swing of the end [mm]")
save(figure, chosen, "thousand_runs.png")
