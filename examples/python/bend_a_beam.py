"""Bends a beam by a growing load at its end: linear and nonlinear statics, and the classical formula."""

# %%
import numpy as np

import pliant as pl
from example import BLUE, GREY, ORANGE, options, plt, save

chosen = options(__doc__)
length, height = 0.5, 0.05
cells = (20, 2, 2) if chosen.quick else (40, 4, 4)
material = pl.Material(1e6, 0.3, 1000)
beam = pl.build_fem(pl.hex_box(cells, (0, 0, 0), (length, height, height)), material=material)
end = beam.mesh.select("x > 99.9 %")

# %% the same load again and again, each time larger
unit = beam.traction_load(end, (0, 0, -1 / height**2))  # 1 N in all
forces = np.linspace(0.5, 6, 4 if chosen.quick else 10)
shapes = [beam.solve_static(fixed="x < 0.1 %", load=force * unit, load_steps=2)["u"] for force in forces]
straight = beam.solve_static(fixed="x < 0.1 %", load=unit, linear=True)["u"]
sag = [-u[end, 2].mean() for u in shapes]
slope = -straight[end, 2].mean()
formula = length**3 / (3 * material.youngs_modulus * height**4 / 12)
print(f"small loads: {1e3 * slope:.2f} mm/N by elements, {1e3 * formula:.2f} mm/N for a slender beam")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
along = np.isclose(beam.mesh.vertices[:, 1], 0) & np.isclose(beam.mesh.vertices[:, 2], height / 2)
order = np.argsort(beam.mesh.vertices[along, 0])
for force, u in zip(forces, shapes):
    x = (beam.mesh.vertices + u)[along][order]
    left.plot(x[:, 0], x[:, 2], color=BLUE, alpha=0.3 + 0.7 * force / forces[-1])
left.set(xlabel="x [m]", ylabel="z [m]", title="middle line", aspect="equal")
right.plot(forces, sag, "o-", color=BLUE, label="nonlinear")
right.plot(forces, slope * forces, "--", color=ORANGE, label="linear")
right.plot(forces, formula * forces, ":", color=GREY, label="F L³ / 3 E I")
right.set(xlabel="force at the end [N]", ylabel="sag of the end [m]")
right.legend()
save(figure, chosen, "bend_a_beam.png")
