"""Strokes a fish of oriented particles with a proxy that rubs along it, and shows what the hand feels."""

# %%
import numpy as np

import pliant as pl
from example import BLUE, GREY, ORANGE, options, plt, save

chosen = options(__doc__)
fish = pl.build_particles("fish", size=0.3, count=40 if chosen.quick else 137, stiffness=0.6)
low, high = fish.surface.bounds
axis = int(np.argmax(high - low))
print(fish, f"{fish.mass:.2f} kg, {1e2 * (high - low)[axis]:.0f} cm long")

# %% held at the tail, stroked on its back from the head towards it
name = "xyz"[axis]
body = fish.body(held=[f"{name} < 25 %"], damping=2.0)
radius = 0.012
proxy = pl.VirtualProxy([body], radius=radius, stiffness=150.0, static_friction=0.4, dynamic_friction=0.3)
query = pl.SurfaceQuery(body.surface)
centre = (low + high) / 2


def back(s):
    """On the surface above the axis, at a share of its length."""
    origin = centre.copy()
    origin[axis] = low[axis] + s * (high - low)[axis]
    origin[2] = high[2] + 0.1
    hit = query.ray(origin, (0, 0, -1))
    return None if hit is None else origin + np.array([0, 0, -hit[0]])


track = np.array([p for p in (back(s) for s in np.linspace(0.85, 0.38, 40)) if p is not None])
seconds = 1.0 if chosen.quick else 3.0
steps = int(seconds * 1000)
landing = steps // 8
proxy.reset(track[0] + [0, 0, 0.06])
along = np.concatenate([np.zeros(landing), np.linspace(0, len(track) - 1, steps - landing)])
force, place, sliding = np.zeros((steps, 3)), np.zeros((steps, 3)), np.zeros(steps, dtype=bool)
for i in range(steps):
    goal = np.array([np.interp(along[i], np.arange(len(track)), track[:, k]) for k in range(3)])
    height = np.interp(i, [0, landing, steps], [0.06, radius, radius - 0.01])  # lands, then presses more and more
    state = proxy.tick(goal + [0, 0, height])
    proxy.apply_forces()
    body.step(1e-3)
    force[i], place[i], sliding[i] = state.force, state.position, state.is_sliding
print(f"{np.linalg.norm(force, axis=1).max():.2f} N at most, slides in {100 * sliding.mean():.0f} % of the ticks")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), gridspec_kw={"width_ratios": [3, 2]})
time = 1e-3 * np.arange(steps)
left.plot(time, force[:, 2], color=BLUE, label="up")
left.plot(time, force[:, axis], color=ORANGE, label="against the stroke")
left.fill_between(time, 0, force[:, 2].max(), where=sliding, color=GREY, alpha=0.12, label="slides")
left.set(xlabel="time [s]", ylabel="force on the hand [N]")
left.legend()
ball = pl.Sphere(radius).surface.moved(place[-1])
shown = pl.SurfaceMesh(body.positions, body.surface.triangles).joined(ball)
colors = np.full((shown.num_vertices, 3), (0.45, 0.6, 0.75))
colors[body.surface.num_vertices:] = (0.9, 0.45, 0.15)
right.imshow(pl.render(shown, 520, 400, azimuth=60 if axis == 1 else -30, elevation=20, colors=colors))
right.axis("off")
save(figure, chosen, "stroke_a_fish.png")
