"""Pokes a kidney of Green's functions with fingertips of several sizes and plots force against depth."""

# %%
import numpy as np

import pliant as pl
from example import options, plt, save

chosen = options(__doc__)
kidney = pl.make_semi_regular("kidney", 1 if chosen.quick else 3)
model = pl.build_greens(kidney, fixed="z < 15 %", size=0.11, material=pl.Material(2e4, 0.45, 1000),
                        cache=None if chosen.quick else True)
print(model, f"held at {model.num_fixed} nodes")

# %% pressed until it is deep enough, then held, where the lag of the touch ends
hold = 0.3
presses = []
for radius in ([0.01, 0.015] if chosen.quick else [0.006, 0.009, 0.012, 0.018]):
    body = model.body(mask_radius=radius)  # its force is spread as wide as it is
    press = pl.press(body, body.surface.topmost(), 0.006, tool=pl.Sphere(radius), speed=0.01, hold=hold)
    presses.append((radius, press))
    print(f"radius {1e3 * radius:.0f} mm: {press.force[-1]:.3f} N at {1e3 * press.depth[-1]:.2f} mm")
moved = np.linalg.norm(body.positions - body.surface.vertices, axis=1)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2))
for radius, press in presses:
    moving = press.time < press.time[-1] - hold
    left.plot(1e3 * press.depth[moving], press.force[moving], label=f"{1e3 * radius:.0f} mm")
left.set(xlabel="depth [mm]", ylabel="force [N]", xlim=(0, None), ylim=(0, None))
left.legend(title="radius")
shown = pl.SurfaceMesh(body.positions, body.surface.triangles)
right.imshow(pl.render(shown, 560, 420, azimuth=40, elevation=35, colors=plt.cm.YlOrRd(0.15 + 0.8 * moved / moved.max())[:, :3]))
right.set_title("displacement under the largest")
right.axis("off")
save(figure, chosen, "poke_a_kidney.png")
