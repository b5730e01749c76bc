"""A cut through the distance field of a shape, with its levels, and the surface at some distance from it."""

# %%
import numpy as np

import pliant as pl
from example import options, plt, save

chosen = options(__doc__)
field = pl.build_field("figure", resolution=128 if chosen.quick else 256)
(x0, y0, z0), (x1, y1, z1) = field.bounds
print(f"{field.cells} cells of {1e3 * field.cell:.2f} mm, {field.memory / 1e6:.1f} MB")

# %% through the middle, seen from the front
middle = (y0 + y1) / 2
pixels = 150 if chosen.quick else 500
cut = field.slice((x0, middle, z0), (x1 - x0, 0, 0), (0, 0, z1 - z0), pixels, pixels)
puffed = field.iso_surface(0.03 * (z1 - z0))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5))
largest = np.abs(cut).max()
shown = left.imshow(cut, extent=(x0, x1, z0, z1), cmap="RdBu", vmin=-largest / 4, vmax=largest / 4)
grid_x, grid_z = np.linspace(x0, x1, pixels), np.linspace(z1, z0, pixels)
left.contour(grid_x, grid_z, cut, levels=np.linspace(-0.2, 0.2, 21) * (z1 - z0), colors="k", linewidths=0.3)
left.contour(grid_x, grid_z, cut, levels=[0], colors="k", linewidths=1.8)
left.set(xlabel="x [m]", ylabel="z [m]", title="signed distance")
left.grid(False)
figure.colorbar(shown, ax=left, label="[m]", shrink=0.8)
right.imshow(pl.render(puffed, 480, 480, azimuth=30, elevation=15))
right.set_title(f"surface {1e3 * 0.03 * (z1 - z0):.0f} mm outside")
right.axis("off")
save(figure, chosen, "field_slice.png")
