"""Builds a reduced model of a bridge, pulls at its deck at 1 kHz and lets go."""

# %%
import numpy as np

import pliant as pl
from example import BLUE, ORANGE, options, plt, save

chosen = options(__doc__)
soft = pl.Material(1e5, 0.35, 1000)
model = pl.build_reduced("bridge", material=soft, fixed="z < 3 %", resolution=48 if chosen.quick else 124,
                         hollow=not chosen.quick, num_modes=4 if chosen.quick else 10, rank=6 if chosen.quick else 15,
                         keep_largest=True, cache=None if chosen.quick else True)
print(model, f"{model.frequencies[0]:.3g} … {model.frequencies[-1]:.3g} Hz")

# %% where the deck gives most to the side, in the middle of the span
body = model.body(mass_damping=0.3, stiffness_damping=0.002)
low, high = model.surface.bounds
length = high[0] - low[0]
in_the_middle = np.flatnonzero(np.abs(model.surface.vertices[:, 0] - low[0] - length / 2) < 0.03 * length)
sideways = [body.compliance(int(v))[1, 1] for v in in_the_middle[::5]]
middle = int(in_the_middle[::5][np.argmax(sideways)])
force = 0.15 * length / max(sideways)

# %% pull for some periods, then let go
dt = 1e-3
steps = int(6 / model.frequencies[0] / dt)
loads = np.zeros((steps, 1, 3))
loads[: steps // 2, 0, 1] = force * np.minimum(1, np.linspace(0, 3, steps // 2))
path = body.run(steps // 2, dt, record=[middle], points=[middle], forces=loads[: steps // 2])
pulled = pl.SurfaceMesh(body.positions, model.surface.triangles)
path = np.vstack([path, body.run(steps - steps // 2, dt, record=[middle])])
print(f"pulled by {force:.3g} N; {body.report['p50_us']:.1f} µs a step")

# %%
figure = plt.figure(figsize=(9, 6))
for place, (mesh, title) in enumerate([(model.surface, "at rest"), (pulled, f"pulled by {force:.2g} N")]):
    axes = figure.add_subplot(2, 2, 1 + place)
    moved = np.linalg.norm(mesh.vertices - model.surface.vertices, axis=1)
    colors = plt.cm.YlOrRd(0.1 + 0.8 * moved / max(moved.max(), 1e-9))[:, :3]
    axes.imshow(pl.render(mesh, 640, 360, azimuth=40, elevation=45, colors=colors))
    axes.set_title(title)
    axes.axis("off")
axes = figure.add_subplot(2, 1, 2)
time = dt * np.arange(1, steps + 1)
axes.plot(time, 1e3 * (path[:, 0, 1] - path[0, 0, 1]), color=BLUE)
axes.axvline(time[steps // 2], color=ORANGE, ls="--", label="let go")
axes.set(xlabel="time [s]", ylabel="way of the deck to the side [mm]")
axes.legend()
save(figure, chosen, "pull_a_bridge.png")
