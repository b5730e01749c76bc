"""The same beam with all its unknowns and in subspaces of growing rank: how far they differ, and what a step costs."""

# %%
import time

import numpy as np

import pliant as pl
from example import BLUE, ORANGE, options, plt, save

chosen = options(__doc__)
surface = pl.Box((0.3, 0.03, 0.03)).surface
ranks = [4, 8, 12] if chosen.quick else [3, 4, 6, 8, 12, 20, 30]
material = pl.Material(1e6, 0.4, 1000)
models = [pl.build_reduced(surface, material=material, fixed="x < 2 %", mesh="tet",
                           resolution=16 if chosen.quick else 30, num_modes=8, rank=rank, cache=None)
          for rank in ranks]

# %% the full body on the mesh of the first: a large load at the end, in balance
mesh = models[0].mesh
full = pl.build_fem(mesh, material=material)
end = mesh.select("x > 99 %")
load = np.zeros((mesh.num_vertices, 3))
load[end, 2] = -0.6 / len(end)
exact = full.solve_static(fixed=models[0].fixed_vertices, load=load, load_steps=4)["u"]
print(f"full: {3 * mesh.num_vertices} unknowns, sag {-1e3 * exact[end, 2].mean():.1f} mm")


# %% the same load in each subspace, until it rests
def cpu_time_of_steps(body, steps):
    """Of one of them [s]; other programs do not count."""
    start = time.thread_time()
    body.run(steps, 1e-3)
    return (time.thread_time() - start) / steps


errors, costs, shapes = [], [], []
for model in models:
    body = model.body(mass_damping=20.0, stiffness_damping=0.01)
    reduced_load = model.basis.T @ load.ravel()
    for _ in range(3000):
        body.add_reduced_force(reduced_load)
        body.step(1e-3)
    u = (model.basis @ body.q).reshape(-1, 3)
    shapes.append(u)
    errors.append(np.linalg.norm(u - exact) / np.linalg.norm(exact))
    costs.append(1e6 * min(cpu_time_of_steps(body, 1000) for _ in range(5)))
    print(f"rank {model.rank:3d}: {100 * errors[-1]:6.2f} % off, {costs[-1]:.1f} µs a step")

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.4), width_ratios=[1.5, 1, 1])
order = np.argsort(mesh.vertices[:, 0])
left.plot((mesh.vertices + exact)[order, 0], (mesh.vertices + exact)[order, 2], ".", ms=2, color=BLUE, label="full")
left.plot((mesh.vertices + shapes[-1])[order, 0], (mesh.vertices + shapes[-1])[order, 2], ".", ms=1, color=ORANGE,
          label=f"rank {ranks[-1]}")
left.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
left.legend(markerscale=5, loc="lower left", bbox_to_anchor=(0, 1.02), ncol=2)
middle.semilogy(ranks, 100 * np.array(errors), "o-", color=BLUE)
middle.set(xlabel="rank", ylabel="difference from the full body [%]")
right.plot(ranks, costs, "o-", color=ORANGE)
right.set(xlabel="rank", ylabel="CPU time of a step [µs]", ylim=(0, None))
save(figure, chosen, "full_and_reduced.png")
